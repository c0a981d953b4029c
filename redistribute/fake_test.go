package redistribute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// message is one message of the fake cluster.
type message struct {
	id        int
	seq       uint64
	addressed bool
	bound     bool
	poison    bool
	group     int  // it belongs to that group; 0: to none
	taken     bool // an application has it in a unit of work
	expired   bool
}

func keyOf(id int) Key {
	var k Key
	copy(k.MsgID[:], fmt.Sprintf("M%08d", id))
	k.PutDateTime = int64(id)
	return k
}

// fakeQueue is a queue on QM2 with another instance on QM3 that may send
// messages back, with faults. It counts what a real queue would do wrong.
type fakeQueue struct {
	mu       sync.Mutex
	here     []*message
	there    []int
	seq      uint64
	readers  int
	ready    int
	unknown  bool
	useQ     string
	defBind  string
	shown    bool
	inFlight int
	scan     int // how many messages a unit looks at; 0: all
	gone     int // messages that expired
	getOff   bool
	blind    bool   // it tells no horizon before the first unit
	stopped  string // why units end early

	units, flying, mostFlying int
	moves                     map[int]int // by message
	// backTo sends what moved back at once, as an instance without a reader whose
	// own daemon redistributes does.
	backTo bool
	// before is called at the start of each unit, with its number, under the lock.
	before func(n int)
	// fault gives the error of unit n: nothing moved, or (after true) all of it did.
	fault func(n int) (err error, after bool)
	dry   int
}

func newFakeQueue(n int) *fakeQueue {
	q := &fakeQueue{ready: 1, useQ: "ANY", defBind: "NOTFIXED", shown: true, inFlight: 1, moves: map[int]int{}}
	for i := range n {
		q.put(i)
	}
	return q
}

func (q *fakeQueue) put(id int) *message {
	q.seq++
	m := &message{id: id, seq: q.seq}
	q.here = append(q.here, m)
	return m
}

func (q *fakeQueue) InFlight() int { return q.inFlight }

func (q *fakeQueue) Look(context.Context) (State, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := State{
		Readers: q.readers, Ready: q.ready, ReadyKnown: !q.unknown, UseQ: q.useQ,
		DefBind: q.defBind, BindShown: q.shown, Horizon: q.seq, Arrived: q.seq, Expired: uint64(q.gone),
	}
	s.GetDisabled = q.getOff
	if q.blind {
		s.Horizon = 0
	}
	for _, m := range q.here {
		if m.taken {
			s.Uncommitted++
		} else {
			s.Depth++
		}
	}
	return s, nil
}

func (q *fakeQueue) MoveUnit(_ context.Context, u Unit) (Result, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.units++
	n := q.units
	q.flying++
	q.mostFlying = max(q.mostFlying, q.flying)
	defer func() { q.flying-- }()
	if q.before != nil {
		q.before(n)
	}
	var fault error
	after := false
	if q.fault != nil {
		fault, after = q.fault(n)
	}
	if fault != nil && !after {
		return Result{}, fault
	}
	res := q.unit(u)
	if u.DryRun {
		q.dry++
		return res, nil
	}
	q.commit(res)
	if fault != nil {
		return Result{}, fault // in doubt: it moved, and nobody was told
	}
	return res, nil
}

// unit chooses what a unit takes.
func (q *fakeQueue) unit(u Unit) Result {
	res := Result{Horizon: q.seq, Next: u.After, Stopped: q.stopped}
	if q.stopped != "" {
		return res
	}
	if u.Until != 0 {
		res.Horizon = u.Until
	}
	skip := map[Key]bool{}
	for _, k := range u.Skip {
		skip[k] = true
	}
	looked := 0
	going := map[*message]bool{} // with a group that was met before
	for _, m := range slices.Clone(q.here) {
		if m.seq <= u.After.Seq || m.seq > res.Horizon {
			continue
		}
		if looked++; q.scan > 0 && looked > q.scan {
			res.More = true
			break
		}
		if m.taken || m.expired || going[m] {
			res.Next = Cursor{Seq: m.seq, Valid: true}
			if m.expired && !u.DryRun {
				q.here = slices.DeleteFunc(q.here, func(x *message) bool { return x == m })
				q.gone++
			}
			continue
		}
		if len(res.Moved) >= u.Max {
			res.More = true
			break
		}
		var whole []*message
		if why := staysFor(m, u, skip, &res.Skipped); why != nil {
			*why++
		} else if whole = q.together(m, u, skip, res.Horizon); whole == nil {
			res.Skipped.Grouped++
		}
		if len(res.Moved) > 0 && len(res.Moved)+len(whole) > u.Max {
			res.More = true // the group goes with the next unit
			break
		}
		res.Next = Cursor{Seq: m.seq, Valid: true}
		for _, m := range whole {
			going[m] = true
			res.Moved = append(res.Moved, Sent{Key: keyOf(m.id), QMgr: "QM3"})
		}
	}
	return res
}

// staysFor is the counter of why a message must stay; nil if it may move.
func staysFor(m *message, u Unit, skip map[Key]bool, n *Skipped) *int {
	switch {
	case skip[keyOf(m.id)]:
		return &n.Returned
	case m.addressed:
		return &n.Addressed
	case m.bound && !u.EvenIfBound:
		return &n.Bound
	case m.poison:
		return &n.Poison
	}
	return nil
}

// together is a message and its whole group, wherever its messages stand; nil if
// one must stay, or if there are too many. It is empty if a dry run listed them before.
func (q *fakeQueue) together(met *message, u Unit, skip map[Key]bool, horizon uint64) []*message {
	if met.group == 0 {
		return []*message{met}
	}
	var list []*message
	for _, m := range q.here {
		if m.group != met.group {
			continue
		}
		if m.taken || m.expired || m.seq > horizon || staysFor(m, u, skip, &Skipped{}) != nil {
			return nil
		}
		list = append(list, m)
	}
	switch {
	case len(list) > max(u.Max, u.Group):
		return nil
	case list[0].seq <= u.After.Seq:
		return []*message{}
	}
	return list
}

func (q *fakeQueue) commit(res Result) {
	gone := map[Key]bool{}
	for _, m := range res.Moved {
		gone[m.Key] = true
	}
	var stay []*message
	var back []int
	for _, m := range q.here {
		if !gone[keyOf(m.id)] {
			stay = append(stay, m)
			continue
		}
		q.moves[m.id]++
		if q.backTo {
			back = append(back, m.id)
		} else {
			q.there = append(q.there, m.id)
		}
	}
	q.here = stay
	for _, id := range back {
		q.put(id)
	}
}

// total is every message there is, on both sides.
func (q *fakeQueue) total() int { return len(q.here) + len(q.there) }

// fakeStore is a ledger store that survives the Ledger.
type fakeStore struct {
	entries map[string][]LedgerEntry
	fail    error
}

var errDown = errors.New("MQRC 2009: connection broken")
