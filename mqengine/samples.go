package mqengine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
)

// tombstonesMax is how many deleted queues a sample can name; whoever asks since
// an older revision gets everything.
const tombstonesMax = 4096

// row is the published state of one queue. Immutable.
type row struct {
	number  uint32
	gone    bool // the queue was deleted
	rev     uint64
	attrRev uint64 // when the attributes last changed
	status  QueueStatus
}

// sampleTable holds the state of every queue as far as it is durable, readable
// without the actor. One goroutine publishes; any may sample, and neither waits
// for the other: a sample of 50,000 queues must not hold up a put.
type sampleTable struct {
	started  int64
	revision atomic.Uint64
	slots    atomic.Pointer[[]*atomic.Pointer[row]]

	// The publisher's own.
	index map[uint32]int // queue number to slot
	free  []int

	mu         sync.Mutex
	tombstones []tombstone
	forgotten  uint64 // highest revision of a tombstone that was forgotten
}

type tombstone struct {
	rev  uint64
	name string
}

// newSampleTable begins its revisions at a value of this start, so that a
// revision from an earlier start is older than everything.
func newSampleTable(started time.Time) *sampleTable {
	t := &sampleTable{started: started.UnixMilli(), index: make(map[uint32]int)}
	base := uint64(t.started) << 20
	t.revision.Store(base)
	t.forgotten = base
	t.slots.Store(new([]*atomic.Pointer[row]))
	return t
}

// publish makes rows visible and gives what they replaced, nil where there was
// none, in old, which has the length of rows.
func (t *sampleTable) publish(rows []*row, old []*row) {
	if len(rows) == 0 {
		return
	}
	rev := t.revision.Load() + 1
	for i, r := range rows {
		old[i] = t.publishOne(r, rev)
	}
	t.revision.Store(rev)
}

func (t *sampleTable) publishOne(r *row, rev uint64) (old *row) {
	slots := *t.slots.Load()
	at, ok := t.index[r.number]
	if ok {
		old = slots[at].Load()
	}
	if r.gone {
		if ok {
			delete(t.index, r.number)
			t.free = append(t.free, at)
			t.bury(old.status.Name, rev)
			slots[at].Store(nil)
		}
		return old
	}
	r.rev, r.attrRev = rev, rev
	if old != nil && old.status.Attributes == r.status.Attributes && old.status.Name == r.status.Name {
		r.attrRev = old.attrRev
	}
	if !ok {
		at = t.newSlot(slots)
		t.index[r.number] = at
		slots = *t.slots.Load()
	}
	slots[at].Store(r)
	return old
}

// newSlot takes a free slot, or adds some: readers keep the slice that they have.
func (t *sampleTable) newSlot(slots []*atomic.Pointer[row]) int {
	if n := len(t.free); n > 0 {
		at := t.free[n-1]
		t.free = t.free[:n-1]
		return at
	}
	grown := append(slots, new(atomic.Pointer[row]))
	t.slots.Store(&grown)
	return len(grown) - 1
}

func (t *sampleTable) bury(name string, rev uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.tombstones) >= tombstonesMax {
		half := tombstonesMax / 2
		t.forgotten = t.tombstones[half-1].rev
		t.tombstones = append(t.tombstones[:0], t.tombstones[half:]...)
	}
	t.tombstones = append(t.tombstones, tombstone{rev, name})
}

// deletedSince names what was deleted; false if that is not known any more.
func (t *sampleTable) deletedSince(since uint64) ([]string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if since < t.forgotten {
		return nil, false
	}
	var names []string
	for _, d := range t.tombstones {
		if d.rev > since {
			names = append(names, d.name)
		}
	}
	return names, true
}

// sample gives the rows that changed after since. With attributes every row has
// its attributes; without, known marks rows whose attributes are older than since.
func (t *sampleTable) sample(since uint64) *sampleRows {
	s := new(sampleRows)
	// The revision first: what is published meanwhile comes again next time.
	s.Revision, s.Started = t.revision.Load(), t.started
	deleted, ok := t.deletedSince(since)
	if s.Full = !ok || since > s.Revision; s.Full {
		since = 0
	} else {
		s.Deleted = deleted
	}
	slots := *t.slots.Load()
	if s.Full {
		s.Queues, s.known = make([]QueueStatus, 0, len(slots)), make([]bool, 0, len(slots))
	}
	for _, slot := range slots {
		r := slot.Load()
		if r == nil || r.rev <= since {
			continue
		}
		s.Queues = append(s.Queues, r.status)
		s.known = append(s.known, r.attrRev <= since)
	}
	return s
}

// changeOf compares two published states of a queue.
func changeOf(old, now *row) ChangeKind {
	if old == nil || now.gone {
		return ReadersChanged | AttributesChanged
	}
	var kind ChangeKind
	a, b := &old.status, &now.status
	if !sameReaders(a.Readers, b.Readers) {
		kind |= ReadersChanged
	}
	if a.Attributes != b.Attributes {
		kind |= AttributesChanged
	}
	if b.Attributes != nil {
		high := b.Attributes.MaxDepth * b.Attributes.QDepthHi / 100
		low := b.Attributes.MaxDepth * b.Attributes.QDepthLo / 100
		full := b.Attributes.MaxDepth
		if a.CurDepth < high && b.CurDepth >= high || a.CurDepth < full && b.CurDepth >= full {
			kind |= DepthHigh
		}
		if a.CurDepth > low && b.CurDepth <= low {
			kind |= DepthLow
		}
	}
	return kind
}

func sameReaders(a, b []qmgr.Reader) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
