package mqengine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-hclog"
	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// bodyMap is a store's bodies.
type bodyMap map[store.BodyID]string

func (m bodyMap) Body(id store.BodyID) ([]byte, error) {
	b, ok := m[id]
	if !ok {
		return nil, store.ErrNoBody
	}
	return []byte(b), nil
}

func (m bodyMap) Bodies(id store.BodyID, next, size int) ([]store.Body, error) {
	var list []store.Body
	for n := id; n <= id+store.BodyID(next); n++ {
		b, ok := m[n]
		if !ok && n == id {
			return nil, store.ErrNoBody
		}
		if size -= len(b); ok && (n == id || size >= 0) {
			list = append(list, store.Body{ID: n, Data: []byte(b)})
		}
	}
	return list, nil
}

// order is one in which bodies may be asked for.
func order(t *rapid.T, bodies map[store.BodyID]string) []store.BodyID {
	ids := slices.Sorted(maps.Keys(bodies))
	if rapid.Bool().Draw(t, "in order") {
		return ids
	}
	return rapid.Permutation(ids).Draw(t, "order")
}

// countedBodies is a store of one-byte bodies that counts.
type countedBodies struct{ one, many, read int }

func (c *countedBodies) Body(store.BodyID) ([]byte, error) {
	c.one++
	return []byte{0}, nil
}

func (c *countedBodies) Bodies(id store.BodyID, next, _ int) ([]store.Body, error) {
	c.many++
	var list []store.Body
	for n := range store.BodyID(next) + 1 {
		list = append(list, store.Body{ID: id + n, Data: []byte{0}})
	}
	c.read += len(list)
	return list, nil
}

// Who reads body after body finds them read ahead; who reads every hundredth, or here
// and there, does not have those between read.
func TestBodiesAreReadAhead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		id          func(i int) store.BodyID
		calls, read int // at most, of 10,000
	}{
		{"one after the other", func(i int) store.BodyID { return store.BodyID(1 + i) }, 90, 10_200},
		{"three readers", func(i int) store.BodyID { return store.BodyID(1 + i/3 + i%3*1_000_000) }, 280, 10_700},
		{"every third", func(i int) store.BodyID { return store.BodyID(1 + 3*i) }, 4_500, 25_000},
		{"every hundredth", func(i int) store.BodyID { return store.BodyID(1 + 100*i) }, 10_000, 30_000},
		{"backwards", func(i int) store.BodyID { return store.BodyID(10_000 - i) }, 10_000, 0},
		{"here and there", func(i int) store.BodyID { return store.BodyID(1 + i*7919%1_000_003) }, 10_000, 0},
	} {
		var a aheads
		var disk countedBodies
		for i := range 10_000 {
			if _, err := a.read(&disk, c.id(i)); err != nil {
				t.Fatal(err)
			}
		}
		if calls := disk.one + disk.many; calls > c.calls || disk.read > c.read {
			t.Errorf("%s: %d calls read %d bodies, want at most %d and %d", c.name, calls, disk.read, c.calls, c.read)
		}
	}
}

// However long the bodies are that are read in order, what is kept of them is bounded.
func TestBodiesReadAheadAreBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		disk := bodyMap{}
		for id := range store.BodyID(rapid.IntRange(1, 40).Draw(t, "bodies")) {
			disk[id+1] = strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 1000, aheadSize / 2, aheadSize, aheadSize + 1, 3 * aheadSize}).Draw(t, "length"))
		}
		var a aheads
		for _, id := range order(t, disk) {
			if b, err := a.read(disk, id); err != nil || string(b) != disk[id] {
				t.Fatalf("body %d has %d bytes, %v, want %d", id, len(b), err, len(disk[id]))
			}
			kept := 0
			for i := range a.runs {
				for _, b := range a.runs[i].bodies {
					kept += len(b)
				}
			}
			if kept > aheadRuns*aheadSize {
				t.Fatalf("%d bytes are kept, at most %d may be", kept, aheadRuns*aheadSize)
			}
		}
	})
}

// Whatever is added, written, evicted and dropped: a body that is referred to
// can be had, stored bytes stay within the budget once their turns are applied,
// and nothing stays of what was dropped.
func TestBodyTable_Model(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var applied atomic.Uint64
		disk := bodyMap{}
		const budget = 100
		table := newBodyTable(disk, budget, &applied)
		live := map[store.BodyID]string{}
		unapplied := map[store.BodyID]string{}
		var turn, last uint64
		pick := func() store.BodyID {
			if len(live) == 0 {
				return 0
			}
			return rapid.SampledFrom(slices.Sorted(maps.Keys(live))).Draw(t, "body")
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				last++
				body := rapid.StringN(0, 40, 40).Draw(t, "body")
				table.add(numberedBody{store.BodyID(last), []byte(body)})
				live[store.BodyID(last)] = body
			},
			"write": func(t *rapid.T) {
				id := pick()
				_, onDisk := disk[id]
				_, onWay := unapplied[id]
				if id != 0 && !onDisk && !onWay {
					turn++
					if b, err := table.write(id, turn); err != nil || string(b) != live[id] {
						t.Fatalf("write gives %q, %v", b, err)
					}
					unapplied[id] = live[id]
					table.trim()
				}
			},
			"apply": func(*rapid.T) {
				for id, b := range unapplied {
					if _, ok := live[id]; ok {
						disk[id] = b
					}
				}
				clear(unapplied)
				applied.Store(turn)
				table.trim()
				if table.stored > budget {
					t.Fatalf("%d bytes stay, the budget is %d", table.stored, budget)
				}
			},
			"drop": func(*rapid.T) {
				if id := pick(); id != 0 {
					table.drop(id)
					delete(live, id)
					delete(disk, id)
					delete(unapplied, id)
				}
			},
			"": func(t *rapid.T) {
				for _, id := range order(t, live) {
					want := live[id]
					if got, err := table.bytes(id); err != nil || string(got) != want {
						t.Fatalf("body %d is %q, %v; want %q", id, got, err, want)
					}
				}
				if len(table.entries) > len(live) {
					t.Fatalf("%d entries for %d bodies", len(table.entries), len(live))
				}
			},
		})
	})
}

func TestBodyTable_Missing_Error(t *testing.T) {
	t.Parallel()
	table := newBodyTable(bodyMap{}, 10, new(atomic.Uint64))
	if _, err := table.bytes(5); !errors.Is(err, store.ErrNoBody) {
		t.Errorf("bytes gives %v", err)
	}
	if _, err := table.write(5, 1); err == nil {
		t.Error("a body that is not there was written")
	}
	if b, err := table.bytes(0); b != nil || err != nil {
		t.Errorf("no body is %q, %v", b, err)
	}
}

// A close that comes while the token of a post is not taken yet still wakes the actor.
func TestMailbox_CloseIsNeverMissed(t *testing.T) {
	t.Parallel()
	m := newMailbox()
	if !m.post(item{event: qmgr.Tick{}}) {
		t.Fatal("an open mailbox refused an event")
	}
	m.close()
	<-m.wake
	if got := m.take(nil); len(got) != 1 {
		t.Fatalf("took %d events, want 1", len(got))
	}
	select {
	case <-m.wake:
	default:
		t.Error("nothing wakes the actor after the last event: it would never see the close")
	}
	if !m.finished() {
		t.Error("a closed and empty mailbox is not finished")
	}
}

// A full mailbox makes posters wait.
func TestMailbox_Full_PostersWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailbox()
		var posted atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 3 * mailboxMax {
				if !m.post(item{event: qmgr.Tick{}}) {
					return
				}
				posted.Add(1)
			}
		})
		synctest.Wait()
		if n := posted.Load(); n != mailboxMax {
			t.Errorf("%d events were taken in, the box holds %d", n, mailboxMax)
		}
		n := len(m.take(nil))
		synctest.Wait()
		if now := posted.Load(); now != mailboxMax+int64(n) {
			t.Errorf("%d events were taken in after %d made room", now, n)
		}
		m.close()
		wg.Wait()
	})
}

// A turn takes a bounded part of the mailbox, in order.
func TestMailbox_Full_TurnsAreBounded(t *testing.T) {
	t.Parallel()
	m := newMailbox()
	const posts = mailboxMax + 100
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range posts {
			if !m.post(item{event: qmgr.Connect{Conn: qmgr.ConnID(i)}}) {
				t.Error("the mailbox closed")
			}
		}
	})
	next := 0
	for next < posts {
		<-m.wake
		items := m.take(nil)
		if len(items) > turnEvents {
			t.Fatalf("a turn of %d events", len(items))
		}
		for _, it := range items {
			if id := it.event.(qmgr.Connect).Conn; id != qmgr.ConnID(next) {
				t.Fatalf("event %d came in place %d", id, next)
			}
			next++
		}
	}
	wg.Wait()
	m.post(item{bodies: []numberedBody{{1, make([]byte, turnBytes)}}})
	m.post(item{})
	if n := len(m.take(nil)); n != 1 {
		t.Errorf("a turn took %d events with more bytes than it may", n)
	}
	m.close()
	if m.post(item{}) || m.finished() {
		t.Error("a closed mailbox takes events, or lost one")
	}
	if m.take(nil); !m.finished() {
		t.Error("a closed and empty mailbox is not finished")
	}
}

// A reader that does not keep up sees changes merged per queue and misses none.
func TestWatcher_Slow_Merged(t *testing.T) {
	t.Parallel()
	hub := newWatchHub()
	w := hub.subscribe()
	for range 1000 {
		hub.tell([]Change{{Queue: "A", Kind: ReadersChanged}, {Queue: "B", Kind: DepthHigh}})
	}
	hub.tell([]Change{{Queue: "A", Kind: AttributesChanged}})
	list, open := w.take(nil)
	if !open || len(list) != 2 || list[0] != (Change{Queue: "A", Kind: ReadersChanged | AttributesChanged}) {
		t.Errorf("took %v, %v", list, open)
	}
	out := make(chan Change)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { w.stream(ctx, out) })
	for i := range watchBatch + 5 {
		hub.tell([]Change{{Queue: fmt.Sprint(i), Kind: ReadersChanged}})
	}
	for range watchBatch + 5 {
		<-out
	}
	hub.close()
	for range out { //nolint:revive // it closes
	}
	wg.Wait()
	if hub.subscribe() != nil {
		t.Error("a closed hub takes watchers")
	}
}

// The error log is three files of a bounded size, and one line per entry whatever is in it.
func TestErrorLog_Rotated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openErrorLog(dir+"/errors", hclog.NewNullLogger())
	text := "line\nbreak \x1b " + strings.Repeat("x", 2*errorLineMax)
	for i := range 4 * errorLogMax / errorLineMax {
		log.write([]qmgr.LogEntry{{ID: fmt.Sprintf("AMQ%04dE", i/quotaLines), Text: text}})
	}
	log.close()
	names, err := os.ReadDir(dir + "/errors")
	if err != nil || len(names) != errorLogFiles {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for n := 1; n <= errorLogFiles; n++ {
		b, err := os.ReadFile(errorLogName(dir+"/errors", n))
		if err != nil || len(b) > errorLogMax || len(b) == 0 {
			t.Errorf("file %d has %d bytes, %v", n, len(b), err)
		}
		for line := range strings.Lines(string(b)) {
			if !strings.Contains(line, "E: line break   xxx") {
				t.Fatalf("line %q", line)
			}
		}
	}
}

func TestDataDir(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		asked string
		env   string
		uid   int
		want  string
	}{
		{"/x", "SITUATIOND_DATA=/y", 0, "/x"},
		{"", "SITUATIOND_DATA=/y", 0, "/y"},
		{"", "", 0, "/var/lib/situationd"},
		{"", "XDG_STATE_HOME=/s", 1000, "/s/situationd"},
		{"", "HOME=/h", 1000, "/h/.local/state/situationd"},
		{"", "", 1000, ""},
	} {
		got, err := DataDir(tt.asked, func(name string) string {
			if k, v, _ := strings.Cut(tt.env, "="); k == name {
				return v
			}
			return ""
		}, tt.uid)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%+v gives %q, %v", tt, got, err)
		}
	}
}

func TestFolderName_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9._%/]{1,48}`).Draw(t, "name")
		folder, err := FolderName(name)
		if name == "." || name == ".." {
			if err == nil {
				t.Fatal("accepted")
			}
			return
		}
		if err != nil || strings.ContainsAny(folder, "/%") {
			t.Fatalf("%q gives %q, %v", name, folder, err)
		}
		if back, ok := qmgrOfFolder(folder); !ok || back != name {
			t.Fatalf("%q comes back as %q, %v", name, back, ok)
		}
	})
	for _, name := range []string{"", "A B", "A&B", "Ä", strings.Repeat("x", 49)} {
		if folder, err := FolderName(name); err == nil {
			t.Errorf("%q gives %q", name, folder)
		}
	}
	if _, ok := qmgrOfFolder(workPrefix + "new-123"); ok {
		t.Error("a work folder is taken for a queue manager")
	}
}
