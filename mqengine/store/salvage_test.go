package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/store/storetest"
)

// keeper is a Rescuer that keeps everything.
type keeper struct {
	storetest.Model
	refuse error
}

func newKeeper() *keeper { return &keeper{Model: storetest.NewModel()} }

func (k *keeper) Record(key string, value []byte) error {
	k.Records[key] = string(value)
	return k.refuse
}

func (k *keeper) BodyOf(header []byte) (store.BodyID, error) {
	if len(header) < 8 {
		return 0, errors.New("header too short")
	}
	return store.BodyID(binary.BigEndian.Uint64(header)), nil
}

func (k *keeper) Message(queue uint32, seq uint64, header []byte, id store.BodyID, body []byte) error {
	k.Messages[[2]uint64{uint64(queue), seq}] = string(header)
	if id != 0 {
		k.Bodies[id] = string(body)
	}
	return nil
}

// aged makes a store with files of every kind: tables, blobs and a log. The
// states are those that it went through; the last is what it holds.
func aged(t *testing.T, seed uint64, orderly bool) (fs *vfs.MemFS, states []storetest.Model) {
	t.Helper()
	fs = crashableFS()
	s, err := store.OpenPebble("qm", store.Options{FS: fs}.WithMemTable(smallTable))
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Load(storetest.NewContents())
	if err != nil {
		t.Fatal(err)
	}
	states = []storetest.Model{storetest.NewModel()}
	script := storetest.NewScript(rand.New(rand.NewPCG(seed, 9)), last)
	for i := range 250 {
		u := script.Unit()
		u.Sync = true
		next := states[i].Clone()
		next.Apply(u)
		states = append(states, next)
		if err := s.Apply(u); err != nil {
			t.Fatal(err)
		}
	}
	if !orderly {
		cut := fs.CrashClone(vfs.CrashCloneCfg{})
		_ = s.Close() // it goes on in the old file system
		return cut, states
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return fs, states
}

// harm is one way to damage a file.
type harm struct {
	name string
	do   func(content []byte, rng *rand.Rand) []byte // nil: delete it
}

func harms() []harm {
	return []harm{
		{"deleted", func([]byte, *rand.Rand) []byte { return nil }},
		{"emptied", func([]byte, *rand.Rand) []byte { return []byte{} }},
		{"cut in half", func(b []byte, _ *rand.Rand) []byte { return b[:len(b)/2] }},
		{"cut by one", func(b []byte, _ *rand.Rand) []byte { return b[:max(len(b)-1, 0)] }},
		{"flipped", func(b []byte, r *rand.Rand) []byte { return flip(b, r, 1) }},
		{"flipped early", func(b []byte, _ *rand.Rand) []byte { return flipAt(b, min(20, len(b)-1)) }},
		{"flipped late", func(b []byte, _ *rand.Rand) []byte { return flipAt(b, len(b)-1) }},
		{"flipped often", func(b []byte, r *rand.Rand) []byte { return flip(b, r, 5) }},
		{"zeroed", func(b []byte, _ *rand.Rand) []byte { return make([]byte, len(b)) }},
	}
}

func flip(b []byte, r *rand.Rand, n int) []byte {
	for range n {
		if len(b) > 0 {
			b = flipAt(b, r.IntN(len(b)))
		}
	}
	return b
}

func flipAt(b []byte, i int) []byte {
	if i >= 0 && i < len(b) {
		b[i] ^= 0x5a
	}
	return b
}

// chosen are the files that are harmed: in the short form one or two of each kind.
func chosen(names []string) (list []string) {
	slices.Sort(names)
	kinds := map[string]int{}
	for _, name := range names {
		kind := name
		if i := strings.LastIndexByte(name, '.'); i >= 0 && name[0] == '0' {
			kind = name[i:]
		}
		if kinds[kind]++; *soak > 3 || kinds[kind] <= 2 && !strings.HasPrefix(name, "OPTIONS") && name != "LOCK" {
			list = append(list, name)
		}
	}
	return list
}

func contentOf(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, fs vfs.FS, path string, b []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// copyOf is the folder in a file system of its own.
func copyOf(t *testing.T, from vfs.FS) *vfs.MemFS {
	t.Helper()
	to := vfs.NewMem()
	to.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 30})
	if ok, err := vfs.Clone(from, to, "qm", "qm"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return to
}

// readWhole opens a store and reads everything in it.
func readWhole(fs vfs.FS, dir string) (*storetest.Contents, *keeper, error) {
	s, err := store.OpenPebble(dir, store.Options{FS: fs, MustExist: true}.WithMemTable(smallTable))
	if err != nil {
		return nil, nil, err
	}
	c, k := storetest.NewContents(), newKeeper()
	if _, err = s.Load(c); err == nil {
		for id := range c.Named {
			var body []byte
			if body, err = s.Body(id); err != nil {
				break
			}
			k.Bodies[id] = string(body)
		}
	}
	k.Records, k.Messages = c.Records, c.Messages
	return c, k, errors.Join(err, s.Close())
}

// like reports whether two models hold the same, bodies of messages only.
func like(a, b storetest.Model) bool {
	if len(a.Records) != len(b.Records) || len(a.Messages) != len(b.Messages) {
		return false
	}
	return within(a, b)
}

// within reports whether everything in a is in b, as it is there.
func within(a, b storetest.Model) bool {
	for key, value := range a.Records {
		if v, ok := b.Records[key]; !ok || v != value {
			return false
		}
	}
	for key, header := range a.Messages {
		if h, ok := b.Messages[key]; !ok || h != header {
			return false
		}
	}
	for id, body := range a.Bodies {
		if b.Bodies[id] != body {
			return false
		}
	}
	return true
}

// Whatever happens to the files of a store, the next start has everything, or
// says that the store is damaged; and what Salvage takes out of it is true.
func TestSalvage_AnyFileDamaged_ReportedAndTheRestIsKept(t *testing.T) {
	t.Parallel()
	for _, orderly := range []bool{true, false} {
		t.Run(fmt.Sprint("orderly=", orderly), func(t *testing.T) {
			t.Parallel()
			fs, states := aged(t, 5, orderly)
			names, err := fs.List("qm")
			if err != nil {
				t.Fatal(err)
			}
			names = chosen(names)
			seen := map[string]int{}
			for _, name := range names {
				for i, h := range harms() {
					d := &damageCase{name: name + " " + h.name, orderly: orderly, states: states, fs: copyOf(t, fs)}
					d.log = strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "MANIFEST") || strings.HasPrefix(name, "marker")
					b := h.do(contentOf(t, d.fs, "qm/"+name), rand.New(rand.NewPCG(uint64(i), 4)))
					if b == nil {
						if err := d.fs.Remove("qm/" + name); err != nil {
							t.Fatal(err)
						}
					} else {
						writeFile(t, d.fs, "qm/"+name, b)
					}
					seen[d.check(t)]++
				}
			}
			t.Logf("%d files: %v", len(names), seen)
			if seen["damaged"]+seen["partly kept"] < len(names) || seen["partly kept"] == 0 {
				t.Errorf("the harm does too little: %v", seen)
			}
		})
	}
}

// damageCase is one damaged store.
type damageCase struct {
	name    string
	fs      *vfs.MemFS
	states  []storetest.Model
	orderly bool
	log     bool // what is lost is the end of a history, not a part of the last state
}

func (d *damageCase) check(t *testing.T) string {
	t.Helper()
	last := d.states[len(d.states)-1]
	before := copyOf(t, d.fs)
	_, k, err := readWhole(d.fs, "qm")
	switch {
	case errors.Is(err, store.ErrFormat), errors.Is(err, store.ErrMissing):
		return "refused"
	case err == nil && like(k.Model, last):
		return "whole"
	case err == nil && !d.orderly && d.log && d.past(k.Model):
		return "shorter" // as after a power failure: nobody can tell the difference
	case err == nil:
		t.Errorf("%s: opened in silence with %d records and %d messages of %d and %d", d.name,
			len(k.Records), len(k.Messages), len(last.Records), len(last.Messages))
		return "silent"
	case !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrNoBody):
		t.Errorf("%s: %v, want ErrDamaged", d.name, err)
		return "other error"
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("%s: more than one line: %v", d.name, err)
	}
	found, err := store.Salvage("qm", "new", store.Options{FS: before}.WithMemTable(smallTable), newKeeper(), func(*store.Unit) {})
	if err != nil {
		t.Errorf("%s: salvage: %v", d.name, err)
		return "not salvaged"
	}
	_, k, err = readWhole(before, "new")
	if err != nil {
		t.Errorf("%s: the new store: %v", d.name, err)
		return "not salvaged"
	}
	if len(k.Messages) != found.Messages || len(k.Records) != found.Records {
		t.Errorf("%s: the new store has %d records and %d messages, found were %d and %d", d.name,
			len(k.Records), len(k.Messages), found.Records, found.Messages)
	}
	if !within(k.Model, last) && !(d.log && d.partOfPast(k.Model)) {
		t.Errorf("%s: the new store holds what the old one never did at one time", d.name)
	}
	if found.Whole() {
		if !like(k.Model, last) {
			t.Errorf("%s: the salvage found nothing wrong", d.name)
		}
		return "nothing lost" // what is damaged was not needed any more
	}
	if !found.Nothing && len(k.Messages) > 0 {
		return "partly kept"
	}
	return "damaged"
}

// past reports whether the store once held exactly this.
func (d *damageCase) past(m storetest.Model) bool {
	return slices.ContainsFunc(d.states, func(s storetest.Model) bool { return like(m, s) })
}

func (d *damageCase) partOfPast(m storetest.Model) bool {
	// With a hole in the history each message was there at some time, but not all at one.
	all := storetest.NewModel()
	maps.Copy(all.Records, m.Records)
	for _, s := range d.states {
		maps.Copy(all.Bodies, s.Bodies)
		for key, header := range s.Messages {
			if m.Messages[key] == header {
				all.Messages[key] = header
			}
		}
	}
	return within(m, all)
}
