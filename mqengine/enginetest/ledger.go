package enginetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/situationd/situationd/mqengine/mqi"
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
	number     int
	persistent bool
	onOpen     bool
	state      putState
	at         *node  // where it was put
	to         string // the queue manager that the put was resolved to

	holder *app // has got it under syncpoint and not yet ended the unit
	read   int  // gets that were acknowledged for good
	maybe  int  // gets that the dying queue manager may have made good
}

// ledger knows every message of a run.
type ledger struct {
	s        *sim
	messages map[string]*message
	order    map[orderKey]int // the highest number that was handed over
}

// orderKey is a path on which MQ keeps messages in order: one putter, one
// priority and persistence, one queue.
type orderKey struct {
	node   *node
	putter string
}

func (l *ledger) init(s *sim) {
	l.s, l.messages, l.order = s, map[string]*message{}, map[orderKey]int{}
}

func (l *ledger) add(m *message) { l.messages[m.text] = m }

// crashed: what was got and not committed comes again in its place.
func (l *ledger) crashed(n *node) {
	maps.DeleteFunc(l.order, func(k orderKey, _ int) bool { return k.node == n })
}

// handed checks a message that a get gave to an application.
func (l *ledger) handed(a *app, body []byte, md *mqi.MD, dead bool) *message {
	m := l.messages[string(body)]
	if m == nil {
		l.s.fail("%s at %s got %q, which nobody put", a.name, a.n.name, body)
		return nil
	}
	switch {
	case m.state == putFailed || m.state == putInUnit:
		l.s.fail("%s at %s got %s, whose put is %s", a.name, a.n.name, m.text, m.state)
	case m.holder != nil:
		l.s.fail("%s at %s got %s while %s has it in its unit of work", a.name, a.n.name, m.text, m.holder.name)
	case m.read > 0:
		l.s.fail("%s at %s got %s, which was read before", a.name, a.n.name, m.text)
	}
	if m.persistent != (md.Persistence == mqi.MQPER_PERSISTENT) {
		l.s.fail("%s at %s got %s with persistence %d", a.name, a.n.name, m.text, md.Persistence)
	}
	switch {
	case dead:
		l.s.counts.DeadLettered++
	case m.to != "" && m.to != a.n.name:
		l.s.counts.Reallocations++
	}
	if m.onOpen && !dead && md.BackoutCount == 0 {
		l.checkOrder(a, m)
	}
	return m
}

// checkOrder: messages of one putter that are bound to one destination arrive in order.
func (l *ledger) checkOrder(a *app, m *message) {
	key := orderKey{a.n, m.putter}
	if m.number < l.order[key] {
		l.s.fail("%s at %s got %s after number %d of the same putter, priority and path", a.name, a.n.name, m.text, l.order[key])
	}
	l.order[key] = m.number
	l.s.counts.OrderChecked++
}

// missing are the persistent messages that were acknowledged and not read.
func (l *ledger) missing() []*message {
	var out []*message
	for _, m := range l.messages {
		if m.persistent && m.state == putDone && m.read == 0 && m.maybe == 0 {
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
	for _, key := range slices.Sorted(maps.Keys(l.messages)) {
		m := l.messages[key]
		if m.read > 1 {
			l.s.fail("%s was read %d times", m.text, m.read)
		}
		if m.holder != nil {
			l.s.fail("%s is still in a unit of work of %s", m.text, m.holder.name)
		}
		if !m.persistent && m.state == putDone && m.read == 0 && m.maybe == 0 {
			l.s.counts.LostNonpersistent++
		}
	}
}

// whereabouts says on which disks a body is, for whoever looks for the fault.
func (l *ledger) whereabouts(text string) string {
	var at []string
	for _, n := range l.s.nodes {
		for _, id := range n.disk.Bodies() {
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
