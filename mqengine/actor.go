package mqengine

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// idleWait is how long the actor sleeps when the machine has no deadline.
const idleWait = time.Hour

// actor owns the machine: it drains the mailbox, lets the machine step, and hands
// each turn to the committer. A turn is released, in order, once it and all
// before it are durable.
type actor struct {
	machine   *qmgr.Machine
	mailbox   *mailbox
	clock     *clock
	bodies    *bodyTable
	committer *store.Committer
	// release does what a turn wants done outside; with an error its callers get that.
	release func(*turn, error)
	// failed is told why no further turn can be made durable.
	failed func(error)
	space  *spaceGauge

	free     chan *turn
	inFlight atomic.Int64   // turns that the committer has
	applied  *atomic.Uint64 // number of the last turn that the committer finished
	turns    uint64
	items    []item
	armed    time.Time // what the timer is set to
	over     bool      // the machine is broken
}

func newActor(m *qmgr.Machine, box *mailbox, reader bodyReader, budget int) *actor {
	a := &actor{machine: m, mailbox: box, clock: newClock(time.Now()), space: newSpaceGauge(), free: make(chan *turn, turnsMax), applied: new(atomic.Uint64)}
	a.bodies = newBodyTable(reader, budget, a.applied)
	for range turnsMax {
		t := new(turn)
		t.done = func(err error) { a.committed(t, err) }
		a.free <- t
	}
	return a
}

// start lets the machine begin, as the first turn. It runs before run.
func (a *actor) start(now time.Time) {
	a.clock = newClock(now)
	a.take(<-a.free, func(fx *qmgr.Effects) { a.machine.Start(now, fx) })
}

// run is the actor's goroutine. It ends when the mailbox is closed and empty, or
// when the machine is broken.
func (a *actor) run() {
	timer := time.NewTimer(idleWait)
	defer timer.Stop()
	ticked := false
	for !a.over {
		a.arm(timer, ticked)
		ticked = false
		select {
		case <-a.mailbox.wake:
		case <-timer.C:
			ticked, a.armed = true, time.Time{}
			a.take(<-a.free, func(fx *qmgr.Effects) { a.machine.Step(a.clock.now(), qmgr.Tick{}, fx) })
			continue
		}
		// Turns are few: events gather here while the disk works.
		t := <-a.free
		a.items = a.mailbox.take(a.items)
		if len(a.items) == 0 {
			a.free <- t
			if a.mailbox.finished() {
				return
			}
			continue
		}
		a.take(t, a.step)
		clear(a.items)
		a.items = a.items[:0]
	}
}

// arm sets the timer to the machine's next deadline. Right after a tick it waits
// a moment at least, so that a deadline that does not move cannot spin.
func (a *actor) arm(timer *time.Timer, ticked bool) {
	at := a.machine.NextDeadline()
	if at.Equal(a.armed) {
		return
	}
	a.armed = at
	wait := idleWait
	if !at.IsZero() {
		wait = min(max(a.clock.until(at), 0), idleWait)
	}
	if ticked {
		wait = max(wait, time.Millisecond)
	}
	timer.Reset(wait)
}

func (a *actor) step(fx *qmgr.Effects) {
	now := a.clock.now()
	a.space.tell(now, a.machine, fx)
	for i := range a.items {
		it := &a.items[i]
		if it.body.id != 0 {
			a.bodies.add(it.body)
		}
		for _, b := range it.bodies {
			a.bodies.add(b)
		}
		if it.event != nil {
			a.machine.Step(now, it.event, fx)
		}
	}
}

// take does one turn: the work, its effects made independent, the commit.
func (a *actor) take(t *turn, work func(*qmgr.Effects)) {
	a.turns++
	t.number = a.turns
	for i := range a.items {
		if f := a.items[i].after; f != nil {
			t.after = append(t.after, f)
		}
	}
	if t.fault = a.try(t, work); t.fault != nil {
		t.fx.Unit.Reset() // half a turn must not become durable
		a.over = true
	}
	// A turn that writes nothing need not go through the committer unless it would overtake another.
	if t.fx.Unit.Empty() && a.inFlight.Load() == 0 {
		a.finish(t, nil)
		return
	}
	a.inFlight.Add(1)
	a.committer.Submit(&t.fx.Unit, t.done)
}

// fault is a panic of the machine. The stack is for the error log; everybody else is told in one line.
type fault struct {
	what  any
	stack []byte
}

func (f *fault) Error() string { return fmt.Sprintf("fault in the queue manager: %v", f.what) }

// try turns a panic of the machine into the end of this queue manager: other
// work of the process must not die of a fault in here.
func (a *actor) try(t *turn, work func(*qmgr.Effects)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &fault{r, debug.Stack()}
		}
	}()
	work(&t.fx)
	return t.finish(a.machine, a.bodies)
}

// committed runs in the committer's goroutine, in the order of the turns.
func (a *actor) committed(t *turn, err error) {
	a.applied.Store(t.number)
	a.space.wrote(t.written)
	a.finish(t, err)
	a.inFlight.Add(-1) // last: from here on the actor may finish turns itself
}

// finish releases a turn and gives it back. One finish runs at a time: the
// actor's own only while the committer has nothing.
func (a *actor) finish(t *turn, err error) {
	if err == nil {
		err = t.fault
	}
	if err != nil {
		a.failed(err)
	}
	a.release(t, err)
	t.reset()
	a.free <- t
}
