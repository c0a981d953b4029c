package enginetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// putState is what a putter knows of a message.
type putState int

const (
	putCalled  putState = iota // no answer yet
	putInUnit                  // answered, under a syncpoint that is not committed
	putSending                 // the commit was called
	putDone                    // answered or committed with success
	putFailed                  // refused, backed out, or lost with its unit: must never be seen
	putUnknown                 // the queue manager died before it answered
)

var putStates = [...]string{"called", "in a unit", "being committed", "put", "refused or backed out", "unknown"}

func (p putState) String() string { return putStates[p] }

// message is what the checkers know of one message, by its body.
type message struct {
	text       string
	putter     string // with priority and persistence: what keeps its order together
	queue      string
	number     int
	priority   int32
	persistent bool
	bound      bool // on open or by name: nothing may send it elsewhere
	addressed  bool // by name
	state      putState
	at         *node // where it was put
	life       int   // of that queue manager
	called     time.Time
	done       time.Time // when the answer was made after which it is there
	expires    time.Time // zero: never
	to         string    // the queue manager that the put was resolved to
	group      *group
	moved      bool

	holder *app // has got it under syncpoint and not yet ended the unit
	held   int  // how often that was
	read   int  // gets that were acknowledged for good
	maybe  int  // gets that the dying queue manager may have made good
	readAt *node
	dead   bool // it was read from a dead-letter queue
}

// group is what was put with bind on group: all of it goes the same way.
type group struct{ messages []*message }

// ledger knows every message of a run.
type ledger struct {
	s        *sim
	messages map[string]*message
	byID     map[mqi.MsgId]*message
	order    map[orderKey]int // the highest number that was handed over
	puts     [][]*message     // units of which nobody knows whether they were committed
	gets     [][]*message
	waiting  map[place]map[*message]bool // those whose priority counts, see checkPriority
}

// place is a queue at a queue manager.
type place struct {
	node  *node
	queue string
}

// orderKey is a path on which MQ keeps messages in order: one putter, one
// priority and persistence, one queue.
type orderKey struct {
	place
	putter string
}

func (l *ledger) init(s *sim) {
	l.s, l.messages, l.byID, l.order = s, map[string]*message{}, map[mqi.MsgId]*message{}, map[orderKey]int{}
	l.waiting = map[place]map[*message]bool{}
}

func (l *ledger) add(m *message) { l.messages[m.text] = m }

// settled notes what became of a put.
func (l *ledger) settled(m *message, state putState, made time.Time) {
	m.state, m.done = state, made
	// A get that waited may have its answer before the commit has its own.
	if state == putDone && m.readAt == nil && m.to == m.at.name && m.expires.IsZero() && (m.bound || l.s.cfg.moveEvery == 0) {
		k := place{m.at, m.queue}
		if l.waiting[k] == nil {
			l.waiting[k] = map[*message]bool{}
		}
		l.waiting[k][m] = true
	}
}

// crashed: what was got and not committed comes again in its place.
func (l *ledger) crashed(n *node) {
	maps.DeleteFunc(l.order, func(k orderKey, _ int) bool { return k.node == n })
	maps.DeleteFunc(l.waiting, func(k place, _ map[*message]bool) bool { return k.node == n })
}

// handed checks a message that a get gave to an application.
func (l *ledger) handed(a *app, queue string, ans answer, dead bool) *message {
	m, md := l.messages[string(ans.body)], &ans.Result.(*qmgr.GetResult).MD
	if m == nil {
		l.s.fail("%s at %s got %q, which nobody put", a.name, a.n.name, ans.body)
		return nil
	}
	switch {
	case m.state == putFailed || m.state == putInUnit:
		l.s.fail("%s at %s got %s, whose put is %s", a.name, a.n.name, m.text, m.state)
	case m.holder != nil:
		l.s.fail("%s at %s got %s while %s has it in its unit of work", a.name, a.n.name, m.text, m.holder.name)
	case m.read > 0:
		l.s.fail("%s at %s got %s, which was read before", a.name, a.n.name, m.text)
	case m.persistent != (md.Persistence == mqi.MQPER_PERSISTENT):
		l.s.fail("%s at %s got %s with persistence %d", a.name, a.n.name, m.text, md.Persistence)
	case m.priority != md.Priority:
		l.s.fail("%s at %s got %s with priority %d, not %d", a.name, a.n.name, m.text, md.Priority, m.priority)
	case !dead && m.queue != queue:
		l.s.fail("%s at %s got %s from %s, and it was put to %s", a.name, a.n.name, m.text, queue, m.queue)
	case !dead && m.bound && m.to != "" && m.to != a.n.name:
		l.s.fail("%s at %s got %s, which was bound to %s", a.name, a.n.name, m.text, m.to)
	}
	switch {
	case dead:
		l.s.counts.DeadLettered++
	case m.to != "" && m.to != a.n.name && !m.moved:
		l.s.counts.Reallocations++
	}
	l.checkExpiry(a, m, ans.made)
	if !dead {
		l.checkPriority(a, m, ans.made)
		if m.bound && md.BackoutCount == 0 {
			l.checkOrder(a, m)
		}
	}
	delete(l.waiting[place{m.at, m.queue}], m)
	m.readAt, m.dead = a.n, dead
	return m
}

// checkOrder: messages of one putter that are bound to one destination arrive in order.
// A queue manager that is named may be reached over the channel of either cluster.
func (l *ledger) checkOrder(a *app, m *message) {
	if m.addressed && l.s.cfg.overlap {
		return
	}
	key := orderKey{place{a.n, m.queue}, m.putter}
	if m.number < l.order[key] {
		l.s.fail("%s at %s got %s after number %d of the same putter, priority and path", a.name, a.n.name, m.text, l.order[key])
	}
	l.order[key] = m.number
	l.s.counts.OrderChecked++
}

// checkPriority: a message of a higher priority that certainly waited on the
// queue comes first. Certain is what was put here, is bound to here or cannot be
// moved, and was never in anybody's unit.
func (l *ledger) checkPriority(a *app, m *message, made time.Time) {
	for other := range l.waiting[place{a.n, m.queue}] {
		if other.priority > m.priority && other.done.Before(made.Add(-l.s.cfg.turnDelay)) && other.held == 0 && other.maybe == 0 && other.state == putDone && other.life == a.n.life {
			l.s.fail("%s at %s got %s of priority %d while %s of priority %d waited", a.name, a.n.name, m.text, m.priority, other.text, other.priority)
			return
		}
	}
	l.s.counts.PriorityChecked++
}

// checkExpiry: what is expired is not handed out. The time that a message is on
// a wire does not count, and each way may round it up.
func (l *ledger) checkExpiry(a *app, m *message, made time.Time) {
	if m.expires.IsZero() {
		return
	}
	slack := l.s.cfg.turnDelay + 20*time.Millisecond
	if m.to != a.n.name || m.at != a.n || l.s.cfg.moveEvery > 0 {
		// Nor does the time that a receiving channel tries again (MRRTY, MRTMR), with all that waits behind.
		slack += 10*(time.Second+l.s.net.longest) + 5*time.Minute
	}
	if late := made.Sub(m.expires); late > slack {
		l.s.fail("%s at %s got %s, which expired %v ago", a.name, a.n.name, m.text, late)
	}
}

// moved notes what went elsewhere because somebody asked for it.
func (l *ledger) moved(all []qmgr.Moved) {
	for i := range all {
		if m := l.byID[all[i].Key.MsgId]; m != nil {
			m.moved = true
			delete(l.waiting[place{m.at, m.queue}], m)
		}
	}
}

// missing are the persistent messages that were acknowledged and not read.
func (l *ledger) missing() []*message {
	var out []*message
	for _, m := range l.messages {
		if m.persistent && m.expires.IsZero() && m.state == putDone && m.read == 0 && m.maybe == 0 {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *message) int { return cmp.Compare(a.text, b.text) })
	return out
}

// check is the last word on every message.
func (l *ledger) check() {
	for _, m := range l.missing() {
		l.s.fail("%s was put at %s for %q and acknowledged, and is lost; it is %s", m.text, m.at.name, m.to, l.whereabouts(m.text))
	}
	groups := map[*group]bool{}
	for _, key := range slices.Sorted(maps.Keys(l.messages)) {
		m := l.messages[key]
		if m.read > 1 {
			l.s.fail("%s was read %d times", m.text, m.read)
		}
		if m.holder != nil {
			l.s.fail("%s is still in a unit of work of %s", m.text, m.holder.name)
		}
		switch gone := m.state == putDone && m.read == 0 && m.maybe == 0; {
		case gone && !m.expires.IsZero():
			l.s.counts.Expired++
		case gone && !m.persistent:
			l.s.counts.LostNonpersistent++
		}
		if m.group != nil && !groups[m.group] {
			groups[m.group] = true
			l.checkGroup(m.group)
		}
	}
	l.checkUnits("put", l.puts, func(m *message) bool { return m.read+m.maybe > 0 })
	l.checkUnits("got", l.gets, func(m *message) bool { return m.read == 0 })
}

// checkGroup: a group that is bound as one is read at one queue manager, as far
// as it was not given up.
func (l *ledger) checkGroup(g *group) {
	var first *message
	for _, m := range g.messages {
		switch {
		case m.read == 0 || m.dead:
		case first == nil:
			first = m
		case m.readAt != first.readAt:
			l.s.fail("the group of %s was read at %s and at %s", m.text, first.readAt.name, m.readAt.name)
		}
	}
	l.s.counts.Groups++
}

// checkUnits: of a unit whose commit was not answered everything happened or nothing.
func (l *ledger) checkUnits(verb string, units [][]*message, happened func(*message) bool) {
	for _, unit := range units {
		var yes, no *message
		for _, m := range unit {
			switch {
			case !m.persistent || !m.expires.IsZero() || verb == "put" && m.maybe > 0:
			case happened(m):
				yes = m
			default:
				no = m
			}
		}
		if yes != nil && no != nil {
			l.s.fail("half a unit: %s was %s and %s, of the same unit, was not", yes.text, verb, no.text)
		}
		l.s.counts.UnitsUnknown++
	}
}

// whereabouts says on which disks a body is, for whoever looks for the fault.
func (l *ledger) whereabouts(text string) string {
	var at []string
	for _, n := range l.s.nodes {
		for _, id := range n.disk.Numbers() {
			if b, err := n.disk.Body(id); err == nil && string(b) == text {
				at = append(at, fmt.Sprintf("body %d of %s", id, n.name))
			}
		}
	}
	if at == nil {
		return "nowhere"
	}
	return strings.Join(at, ", ")
}
