package samples

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
)

// tombstonesMax is how many deleted queues a sample can name; whoever asks since
// an older revision gets everything.
const tombstonesMax = 4096

// Row is the published state of one queue. Immutable once it is published.
type Row struct {
	qmgr.QueueStatus      // only its number if the queue is gone
	Gone             bool // the queue was deleted
	rev              uint64
	attrRev          uint64 // when the attributes last changed
}

// AppendTouched makes a row of each queue whose status changed in a turn.
func AppendTouched(rows []*Row, m *qmgr.Machine, touched []uint32) []*Row {
	for i, number := range touched {
		if repeated(touched[:i], number) {
			continue
		}
		status, there := m.Status(number)
		status.Number = number
		rows = append(rows, &Row{QueueStatus: status, Gone: !there})
	}
	return rows
}

// repeated looks at a few neighbours only: a turn touches few queues many times,
// and a row too many costs little.
func repeated(seen []uint32, number uint32) bool {
	for i := len(seen) - 1; i >= 0 && i >= len(seen)-8; i-- {
		if seen[i] == number {
			return true
		}
	}
	return false
}

// Sample is what changed after a revision.
type Sample struct {
	Revision uint64
	Started  int64 // when the queue manager started, Unix milliseconds
	Full     bool  // every queue is in it
	Rows     []*Row
	Deleted  []string
	since    uint64
}

// Known says of a row of the sample that its attributes are those of the revision.
func (s *Sample) Known(r *Row) bool { return r.attrRev <= s.since }

// Table holds the state of every queue as far as it is durable, readable
// without the actor. One goroutine publishes; any may sample, and neither waits
// for the other: a sample of 50,000 queues must not hold up a put.
type Table struct {
	started  int64
	revision atomic.Uint64
	slots    atomic.Pointer[[]*atomic.Pointer[Row]]

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

// NewTable begins its revisions at a value of this start, so that a
// revision from an earlier start is older than everything.
func NewTable(started time.Time) *Table {
	t := &Table{started: started.UnixMilli(), index: make(map[uint32]int)}
	base := uint64(t.started) << 20
	t.revision.Store(base)
	t.forgotten = base
	t.slots.Store(new([]*atomic.Pointer[Row]))
	return t
}

// Publish makes rows visible and gives what they replaced, nil where there was
// none, in old, which has the length of rows.
func (t *Table) Publish(rows []*Row, old []*Row) {
	if len(rows) == 0 {
		return
	}
	rev := t.revision.Load() + 1
	for i, r := range rows {
		old[i] = t.publishOne(r, rev)
	}
	t.revision.Store(rev)
}

func (t *Table) publishOne(r *Row, rev uint64) (old *Row) {
	slots := *t.slots.Load()
	at, ok := t.index[r.Number]
	if ok {
		old = slots[at].Load()
	}
	if r.Gone {
		if ok {
			delete(t.index, r.Number)
			t.free = append(t.free, at)
			t.bury(old.Name, rev)
			slots[at].Store(nil)
		}
		return old
	}
	r.rev, r.attrRev = rev, rev
	if old != nil && old.Attributes == r.Attributes && old.Name == r.Name {
		r.attrRev = old.attrRev
	}
	if !ok {
		at = t.newSlot(slots)
		t.index[r.Number] = at
		slots = *t.slots.Load()
	}
	slots[at].Store(r)
	return old
}

// newSlot takes a free slot, or adds some: readers keep the slice that they have.
func (t *Table) newSlot(slots []*atomic.Pointer[Row]) int {
	if n := len(t.free); n > 0 {
		at := t.free[n-1]
		t.free = t.free[:n-1]
		return at
	}
	grown := append(slots, new(atomic.Pointer[Row]))
	t.slots.Store(&grown)
	return len(grown) - 1
}

func (t *Table) bury(name string, rev uint64) {
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
func (t *Table) deletedSince(since uint64) ([]string, bool) {
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

// Since gives the rows that changed after a revision, 0 for all.
func (t *Table) Since(since uint64) *Sample {
	s := new(Sample)
	// The revision first: what is published meanwhile comes again next time.
	s.Revision, s.Started = t.revision.Load(), t.started
	deleted, ok := t.deletedSince(since)
	if s.Full = !ok || since > s.Revision; s.Full {
		since = 0
	} else {
		s.Deleted = deleted
	}
	s.since = since
	slots := *t.slots.Load()
	if s.Full {
		s.Rows = make([]*Row, 0, len(slots))
	}
	for _, slot := range slots {
		if r := slot.Load(); r != nil && r.rev > since {
			s.Rows = append(s.Rows, r)
		}
	}
	return s
}
