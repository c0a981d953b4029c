package enginetest

import (
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/internal/samples"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/workload"
)

// turnsMax is how many turns are in flight. The shell has more; with three,
// events wait for the disk more often.
const turnsMax = 3

// node is one queue manager with its shell: what mqengine does with goroutines
// and files is done here by events.
type node struct {
	s      *sim
	number int
	name   string
	addr   string
	skew   time.Duration
	admin  *app

	slowDisk bool

	m    *qmgr.Machine
	up   bool
	life int
	disk *store.Memory

	bodies   map[store.BodyID][]byte
	lastBody store.BodyID

	fx       qmgr.Effects // of the turn that is being made
	steps    int          // in it
	flushing bool         // its end is planned
	turns    []*turn      // in flight, oldest first
	lastDone time.Time    // when the newest of them is done
	applied  int          // units given to the disk in this life
	synced   int          // of them durable
	ticking  time.Time    // the tick that is planned, zero for none
	held     []store.Op   // see sabotage

	conns    map[qmgr.ConnID]client
	lastConn qmgr.ConnID
	lastLink qmgr.LinkID
	shown    *samples.Table // what can be sampled; nil where nobody samples
}

// client is whoever has a connection.
type client interface {
	answered(ans answer)
	// unsent is an answer that was made and not sent before the queue manager died.
	unsent(ans answer)
	// died: the connection is gone with its queue manager.
	died()
	// order is the same for the same client in every run of a seed.
	order() int
}

// turn is what leaves the process once its unit is on disk.
type turn struct {
	sync    bool
	upTo    int // units of this life, this one included
	replies []answer
	frames  []outFrame
	dials   []qmgr.Dial
	closes  []qmgr.LinkID
	shown   []*samples.Row
	cluster bool // instances changed somewhere
}

type outFrame struct {
	link  qmgr.LinkID
	data  []byte
	frame *channel.Frame // kind and numbers only
}

// answer is a reply with the body that goes with it.
type answer struct {
	qmgr.Reply
	body []byte
	made time.Time
}

func (s *sim) addNode(name, addr string) *node {
	n := &node{s: s, number: len(s.nodes), name: name, addr: addr, disk: store.NewMemory(), skew: s.between(-s.cfg.skew, s.cfg.skew)}
	s.nodes = append(s.nodes, n)
	var fx qmgr.Effects
	if err := qmgr.Create(n.now(), name, object.QMID(name, n.now()), &fx); err != nil {
		s.fail("create %s: %v", name, err)
		return n
	}
	if err := n.disk.Apply(&fx.Unit); err != nil {
		s.fail("create %s: %v", name, err)
	}
	n.disk = n.disk.Crash(0)
	n.start()
	return n
}

// now is what the node's clock says.
func (n *node) now() time.Time { return n.s.now.Add(n.skew) }

// start gives the queue manager a life from what is on its disk.
func (n *node) start() {
	order := workload.Modern
	if !n.s.cfg.modern {
		order = workload.V6
	}
	n.life++
	n.up, n.steps, n.flushing, n.turns, n.applied, n.synced = true, 0, false, nil, 0, 0
	n.lastDone, n.ticking, n.held = n.s.now, time.Time{}, nil
	n.bodies, n.conns = map[store.BodyID][]byte{}, map[qmgr.ConnID]client{}
	n.fx.Reset()
	if n.s.sampled {
		n.shown = samples.NewTable(n.now())
	}
	n.m = qmgr.New(qmgr.Config{Name: n.name, Order: order, StartTime: n.now(), IDSeed: uint64(n.life) << 32, Listen: n.addr, NewBody: func() store.BodyID {
		n.lastBody++
		return n.lastBody
	}})
	last, err := n.disk.Load(n.m.Visitor())
	if err != nil {
		n.s.fail("%s does not start: %v", n.name, err)
		n.up = false
		return
	}
	n.lastBody = last
	n.s.note(n, "start", uint64(n.life))
	n.s.printf("%s starts, life %d", n.name, n.life)
	n.m.Start(n.now(), &n.fx)
	n.stepped()
}

// step gives the machine one event. The turn's end is a matter of the shell.
func (n *node) step(ev qmgr.Event) {
	if !n.up {
		return
	}
	n.s.noteEvent(n, ev)
	n.m.Step(n.now(), ev, &n.fx)
	n.stepped()
	n.s.maybeCrash(n, n.s.cfg.crash)
}

func (n *node) stepped() {
	n.steps++
	n.planTick()
	if !n.flushing && len(n.turns) < turnsMax {
		n.flushing = true
		n.later(n.s.between(0, n.s.cfg.turnDelay), n.flush)
	}
}

// setClock lets the node's clock jump. Plans that were made with the old one are void.
func (n *node) setClock(by time.Duration) {
	n.s.note(n, "clock", uint64(by))
	n.s.printf("%s sets its clock by %v", n.name, by)
	n.skew += by
	n.ticking = time.Time{}
	if n.up {
		n.planTick()
	}
}

// later plans something of this life.
func (n *node) later(d time.Duration, do func()) { n.atLife(n.s.now.Add(d), do) }

func (n *node) atLife(when time.Time, do func()) {
	life := n.life
	n.s.at(when, func() {
		if n.up && n.life == life {
			do()
		}
	})
}

// planTick keeps one tick planned, at the machine's next deadline or before.
func (n *node) planTick() {
	deadline := n.m.NextDeadline()
	if deadline.IsZero() {
		return
	}
	at := deadline.Add(-n.skew)
	if at.Before(n.s.now) {
		at = n.s.now
	}
	if !n.ticking.IsZero() && !n.ticking.After(at) {
		return
	}
	n.ticking = at
	n.atLife(at, func() {
		if !n.ticking.Equal(at) {
			return // an earlier one took its place
		}
		n.ticking = time.Time{}
		n.step(qmgr.Tick{})
	})
}

// flush ends the turn: everything in it becomes bytes, its unit goes to the disk.
func (n *node) flush() {
	n.flushing = false
	if n.steps == 0 {
		return
	}
	n.steps = 0
	n.s.counts.Turns++
	t := &turn{sync: n.fx.Unit.Sync, dials: slices.Clone(n.fx.Dials), closes: slices.Clone(n.fx.Closes)}
	for _, c := range n.fx.Copies {
		n.bodies[c.To] = slices.Clone(n.body(qmgr.BodyRef{ID: c.From})[c.Offset : c.Offset+c.Len])
	}
	for i := range n.fx.Unit.Ops {
		if op := &n.fx.Unit.Ops[i]; op.Kind == store.OpSetBody {
			op.Value = n.body(qmgr.BodyRef{ID: op.Body})
		}
	}
	for _, r := range n.fx.Replies {
		a := answer{Reply: r, made: n.s.now}
		if got, ok := r.Result.(*qmgr.GetResult); ok && got != nil {
			var err error
			if a.body, err = got.Whole(func(ref qmgr.BodyRef) ([]byte, error) { return n.body(ref), nil }); err != nil {
				n.s.fail("%s: %v", n.name, err)
			}
		}
		t.replies = append(t.replies, a)
	}
	for _, f := range n.fx.Frames {
		t.frames = append(t.frames, outFrame{f.Link, channel.AppendFrame(nil, f.Frame, n.body), f.Frame})
	}
	for _, id := range n.fx.Drop {
		delete(n.bodies, id)
	}
	n.show(t)
	n.s.noteEffects(n, &n.fx)
	n.s.records.wrote(n, n.fx.Unit.Ops)
	n.write(t)
	n.fx.Reset()
}

// write gives the unit to the disk, which is done with it later, in order.
func (n *node) write(t *turn) {
	if !n.fx.Unit.Empty() {
		// The disk decides itself when this is durable.
		var unit store.Unit
		unit.Ops, n.held = n.s.broken.unit(n.fx.Unit.Ops, n.held)
		if err := n.disk.Apply(&unit); err != nil {
			n.s.fail("%s: %v", n.name, err)
			return
		}
		n.applied++
	}
	t.upTo = n.applied
	done := n.s.now
	if n.s.broken.answersEarly {
		// The disk takes its time nevertheless.
		early := *t
		early.sync = false
		n.turns = append(n.turns, t)
		n.later(0, func() { n.release(&early) })
		t.replies, t.frames, t.dials, t.closes = nil, nil, nil, nil
		n.atLife(done.Add(n.diskTime()), func() { n.durable(t) })
		return
	}
	if !n.fx.Unit.Empty() || t.sync {
		done = done.Add(n.diskTime())
	}
	if done.Before(n.lastDone) {
		done = n.lastDone
	}
	n.lastDone = done
	n.turns = append(n.turns, t)
	n.atLife(done, func() { n.durable(t) })
}

func (n *node) diskTime() time.Duration {
	d := n.s.between(n.s.cfg.diskMin, n.s.cfg.diskMax)
	if n.slowDisk {
		d *= slowFactor
	}
	return d
}

// durable releases the oldest turn: replies, then frames, then the rest.
func (n *node) durable(t *turn) {
	if t.sync && t.upTo > n.synced {
		n.disk.SyncFirst(t.upTo - n.synced)
		n.synced = t.upTo
	}
	n.s.note(n, "durable", uint64(t.upTo))
	if n.s.maybeCrash(n, n.s.cfg.crashInRelease) {
		return
	}
	n.release(t)
	if !n.up {
		return
	}
	n.turns = n.turns[1:]
	if n.steps > 0 && !n.flushing {
		n.flushing = true
		n.later(0, n.flush)
	}
}

// release lets a turn out, effect by effect; the process may die in between.
// What is left then stays in t for the checkers.
func (n *node) release(t *turn) {
	n.showTurn(t)
	for len(t.replies) > 0 {
		a := t.replies[0]
		t.replies = t.replies[1:]
		if c := n.conns[a.Conn]; c != nil {
			c.answered(a)
		}
		if n.s.maybeCrash(n, n.s.cfg.crashInRelease) {
			n.s.counts.CrashesInRelease++
			return
		}
	}
	for _, f := range t.frames {
		n.s.net.send(n, f)
		if n.s.maybeCrash(n, n.s.cfg.crashInRelease) {
			n.s.counts.CrashesInRelease++
			return
		}
	}
	for _, d := range t.dials {
		n.s.net.dial(n, d)
	}
	for _, id := range t.closes {
		n.s.net.close(n, id)
	}
}

// crash ends the process: what was not synced is lost, from some unit on.
func (n *node) crash() {
	n.s.counts.Crashes++
	keep := n.s.rng.IntN(n.disk.Unsynced() + 1)
	n.s.counts.UnitsLost += n.disk.Unsynced() - keep
	n.s.note(n, "crash", uint64(keep))
	n.s.printf("%s crashes, %d of %d unsynced units survive", n.name, keep, n.disk.Unsynced())
	n.up = false
	for _, t := range n.turns {
		for _, a := range t.replies {
			if c := n.conns[a.Conn]; c != nil {
				c.unsent(a)
			}
		}
	}
	n.turns = nil
	n.disk = n.s.broken.crash(n.disk, keep)
	n.s.net.crashed(n)
	n.s.ledger.crashed(n)
	conns := make([]client, 0, len(n.conns))
	for _, c := range n.conns {
		conns = append(conns, c)
	}
	slices.SortFunc(conns, func(a, b client) int { return a.order() - b.order() })
	for _, c := range conns {
		c.died()
	}
}

// body gives bytes from memory or disk.
func (n *node) body(ref qmgr.BodyRef) []byte {
	if ref.ID == 0 {
		return nil
	}
	if b, ok := n.bodies[ref.ID]; ok {
		return b
	}
	b, err := n.disk.Body(ref.ID)
	if err != nil {
		n.s.fail("%s: the machine names a body that is gone: %v", n.name, err)
	}
	return b
}

func (n *node) newBody(b []byte) qmgr.BodyRef {
	if len(b) == 0 {
		return qmgr.BodyRef{}
	}
	n.lastBody++
	n.bodies[n.lastBody] = slices.Clone(b)
	return qmgr.BodyRef{ID: n.lastBody, Len: len(b)}
}

// conname is host(port) of host:port.
func conname(addr string) string {
	host, port, _ := strings.Cut(addr, ":")
	return host + "(" + port + ")"
}
