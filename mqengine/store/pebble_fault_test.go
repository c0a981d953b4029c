package store_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/store/storetest"
)

const smallTable = 64 << 10

// faulty is a file system whose chosen operation fails.
type faulty struct {
	mem   *vfs.MemFS
	fs    vfs.FS
	count atomic.Int64
	at    atomic.Int64 // the operation that fails, counted from 1; 0 for none
	kind  errorfs.OpReadWrite
	hit   atomic.Bool
}

func newFaulty(kind errorfs.OpReadWrite) *faulty {
	f := &faulty{mem: crashableFS(), kind: kind}
	f.fs = errorfs.Wrap(f.mem, errorfs.InjectorFunc(f.inject))
	return f
}

func (f *faulty) inject(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != f.kind || op.Kind == errorfs.OpFileClose {
		return nil
	}
	if n := f.count.Add(1); n == f.at.Load() {
		f.hit.Store(true)
		return syscall.EIO
	}
	return nil
}

// history is what a run asked of a store.
type history struct {
	states []storetest.Model // after each unit, the one that failed included
	synced int               // all up to here was acknowledged as durable
}

// run opens the store and applies random units until the end or the first error.
func run(fs vfs.FS, seed uint64, units int) (h history, err error) {
	h.states = []storetest.Model{storetest.NewModel()}
	s, err := store.OpenPebble("qm", store.Options{FS: fs}.WithMemTable(smallTable))
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	last, err := s.Load(storetest.NewContents())
	if err != nil {
		return h, err
	}
	script := storetest.NewScript(rand.New(rand.NewPCG(seed, 2)), last)
	for i := range units {
		u := script.Unit()
		next := h.states[i].Clone()
		next.Apply(u)
		h.states = append(h.states, next)
		if err := s.Apply(u); err != nil {
			return h, err
		}
		if u.Sync {
			h.synced = i + 1
		}
	}
	return h, nil
}

// check opens the store without faults and compares.
func (h history) check(t *testing.T, what string, fs vfs.FS) {
	t.Helper()
	s, err := store.OpenPebble("qm", store.Options{FS: fs}.WithMemTable(smallTable))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	c := storetest.NewContents()
	if _, err := s.Load(c); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := storetest.MatchPrefix(h.states, h.synced, c, s); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// Every write, sync, create or rename of a run fails once, from the creation of
// the store to its end. What was acknowledged is there afterwards, whole, for the
// process that goes on and after a power failure at that moment.
func TestPebble_AnyOperationFails_NothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]errorfs.OpReadWrite{"write": errorfs.OpIsWrite, "read": errorfs.OpIsRead} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const units = 150
			whole := newFaulty(kind)
			h, err := run(whole.fs, 1, units)
			if err != nil {
				t.Fatal(err)
			}
			h.check(t, "without a fault", whole.mem)
			total := whole.count.Load()
			if total < 40 {
				t.Fatalf("only %d operations: the run reaches too little", total)
			}
			step := int64(3)
			if *soak > 3 {
				step = 1
			}
			failed := 0
			for n := int64(1); n <= total; n += step {
				if oneFault(t, kind, n, units) {
					failed++
				}
			}
			t.Logf("%d operations, %d runs failed", total, failed)
			if kind == errorfs.OpIsWrite && failed < int(total/step)/2 {
				t.Errorf("of %d faults only %d were seen", total/step, failed)
			}
		})
	}
}

func oneFault(t *testing.T, kind errorfs.OpReadWrite, n int64, units int) (failed bool) {
	t.Helper()
	f := newFaulty(kind)
	f.at.Store(n)
	h, err := run(f.fs, uint64(n), units)
	cut := f.mem.CrashClone(vfs.CrashCloneCfg{})
	f.at.Store(0)
	if err != nil && !errors.Is(err, syscall.EIO) {
		t.Errorf("operation %d: %v, want EIO in it", n, err)
	}
	h.check(t, "opened again", f.fs)
	h.check(t, "opened after a power failure", cut)
	return err != nil
}

var soak = flag.Int("store.soak", 3, "runs of the power failure test; more than 3 also makes every single operation fail")

// The power fails again and again while tables are flushed and compacted.
func TestPebble_PowerFailsAtAnyTime_PrefixSurvives(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*soak) {
		rng := rand.New(rand.NewPCG(seed, 3))
		fs := crashableFS()
		s, err := store.OpenPebble("qm", store.Options{FS: fs}.WithMemTable(smallTable))
		if err != nil {
			t.Fatal(err)
		}
		last, err := s.Load(storetest.NewContents())
		if err != nil {
			t.Fatal(err)
		}
		h := history{states: []storetest.Model{storetest.NewModel()}}
		script := storetest.NewScript(rng, last)
		for i := range 400 {
			u := script.Unit()
			next := h.states[len(h.states)-1].Clone()
			next.Apply(u)
			h.states = append(h.states, next)
			if err := s.Apply(u); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if u.Sync { // older states are of no interest any more
				h.states, h.synced = h.states[len(h.states)-1:], 0
			}
			if rng.IntN(25) == 0 {
				cut := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				h.check(t, fmt.Sprintf("seed %d, unit %d", seed, i), cut)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		h.check(t, fmt.Sprintf("seed %d, at the end", seed), fs)
	}
}

// A store is opened on a disk that is full: what the log holds cannot be flushed.
// Opening fails with the disk's reason and does not wait for better times.
func TestPebble_OpenedOnAFullDisk_FailsAndLosesNothing(t *testing.T) {
	t.Parallel()
	mem := crashableFS()
	h, err := run(mem, 7, 60)
	if err != nil {
		t.Fatal(err)
	}
	cut := mem.CrashClone(vfs.CrashCloneCfg{}) // closing does not flush: everything is in the log
	for _, kind := range []errorfs.OpKind{errorfs.OpFileWrite, errorfs.OpCreate, errorfs.OpFileSync} {
		full := errorfs.Wrap(cut, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == kind && !strings.HasSuffix(op.Path, "LOCK") {
				return syscall.ENOSPC
			}
			return nil
		}))
		s, err := store.OpenPebble("qm", store.Options{FS: full}.WithMemTable(smallTable))
		if err == nil {
			t.Fatalf("operation %d: opened: %v", kind, s.Close())
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("operation %d: %v, want the disk's reason", kind, err)
		}
	}
	h.check(t, "opened with room again", cut)
}

// A failed store says so once and for all, and its folder can be opened again in this process.
func TestPebble_SyncFails_StoreFailsAndLetsGo(t *testing.T) {
	t.Parallel()
	f := newFaulty(errorfs.OpIsWrite)
	var lines []string
	var mu sync.Mutex
	s, err := store.OpenPebble("qm", store.Options{FS: f.fs, Log: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(storetest.NewContents()); err != nil {
		t.Fatal(err)
	}
	var u store.Unit
	u.SetRecord("k", []byte("v"))
	u.Sync = true
	f.at.Store(f.count.Load() + 2) // the write of the log works, its sync does not
	err = s.Apply(&u)
	if !errors.Is(err, store.ErrFailed) || !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "sync qm/") {
		t.Errorf("apply: %v, want ErrFailed with the operation and EIO", err)
	}
	select {
	case <-s.Failed():
	default:
		t.Error("Failed is not closed")
	}
	if again := s.Apply(&u); again == nil || again.Error() != err.Error() {
		t.Errorf("second apply: %v, want the first error", again)
	}
	if _, err := s.Body(1); !errors.Is(err, store.ErrNoBody) {
		t.Errorf("body: %v: reading goes on", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	mu.Lock()
	if len(lines) == 0 {
		t.Error("nothing was logged")
	}
	mu.Unlock()
	s, err = store.OpenPebble("qm", store.Options{FS: f.fs})
	if err != nil {
		t.Fatalf("open again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// slowFS holds flushes back until it is told to go on, or to fail.
type slowFS struct {
	fs   vfs.FS
	mem  *vfs.MemFS
	gate chan error // closed: go on
}

func newSlowFS() *slowFS {
	s := &slowFS{mem: crashableFS(), gate: make(chan error)}
	s.fs = errorfs.Wrap(s.mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && (strings.HasSuffix(op.Path, ".sst") || strings.HasSuffix(op.Path, ".blob")) {
			return <-s.gate
		}
		return nil
	}))
	return s
}

// fill applies units until told to stop or an error.
func fill(s store.Store, stop <-chan struct{}, done *atomic.Int64) error {
	var u store.Unit
	for i := uint64(0); ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		u.Reset()
		u.SetRecord("k", make([]byte, 4<<10))
		if err := s.Apply(&u); err != nil {
			return err
		}
		done.Add(1)
	}
}

// stalled starts a writer and waits until it is held back.
func stalled(t *testing.T, slow *slowFS) (*store.Pebble, chan struct{}, chan error, *atomic.Int64) {
	t.Helper()
	s, err := store.OpenPebble("qm", store.Options{FS: slow.fs}.WithMemTable(smallTable))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(storetest.NewContents()); err != nil {
		t.Fatal(err)
	}
	stop, ended, done := make(chan struct{}), make(chan error, 1), &atomic.Int64{}
	go func() { ended <- fill(s, stop, done) }()
	waitFor(t, "the writer is held back", s.Stalled)
	return s, stop, ended, done
}

func TestPebble_FlushesAreSlow_ApplyWaitsAndGoesOn(t *testing.T) {
	t.Parallel()
	slow := newSlowFS()
	s, stop, ended, done := stalled(t, slow)
	held := done.Load()
	if limit := int64(2 * store.Unflushed * smallTable / (4 << 10)); held > limit {
		t.Errorf("%d units were taken while nothing reached the disk, want at most %d", held, limit)
	}
	close(slow.gate)
	waitFor(t, "the writer goes on", func() bool { return done.Load() > held+100 })
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestPebble_FlushFailsWhileApplyWaits_ApplyReturns(t *testing.T) {
	t.Parallel()
	slow := newSlowFS()
	s, _, ended, _ := stalled(t, slow)
	slow.gate <- syscall.ENOSPC
	if err := <-ended; !errors.Is(err, store.ErrFailed) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("apply: %v, want ErrFailed and ENOSPC", err)
	}
	close(slow.gate)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
