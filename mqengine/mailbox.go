package mqengine

import (
	"sync"

	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// Bounds of the mailbox and of a turn.
const (
	// mailboxMax is how many events may wait; posters beyond it wait too.
	mailboxMax = 8192
	// mailboxBytes is how much of other people's words may wait: a poster that
	// finds so much there waits, whatever it brings itself.
	mailboxBytes = 64 << 20
	// turnEvents and turnBytes end a turn, so that one unit does not grow without limit.
	turnEvents = 1024
	turnBytes  = 4 << 20
)

// item is one event on its way to the actor, with the bodies that it brings.
type item struct {
	event  qmgr.Event
	body   numberedBody   // of a put
	bodies []numberedBody // of a batch
	// weight is how many bytes the event keeps in memory while it waits.
	weight int
	// after runs when everything that the event brought about is durable and released.
	after func()
}

func (it *item) size() int {
	n := len(it.body.data)
	for i := range it.bodies {
		n += len(it.bodies[i].data)
	}
	return n
}

// numberedBody is a message body that got its number.
type numberedBody struct {
	id   store.BodyID
	data []byte
}

// mailbox is the actor's bounded queue of events.
type mailbox struct {
	wake chan struct{} // one token: something waits, or the box closed

	mu     sync.Mutex
	room   sync.Cond
	items  []item
	weight int // of all items
	closed bool
}

func newMailbox() *mailbox {
	m := &mailbox{wake: make(chan struct{}, 1)}
	m.room.L = &m.mu
	return m
}

// post adds an event; it waits while the box is full. False: the box is closed and nothing was added.
func (m *mailbox) post(it item) bool {
	m.mu.Lock()
	for (len(m.items) >= mailboxMax || m.weight >= mailboxBytes) && !m.closed {
		m.room.Wait()
	}
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.items = append(m.items, it)
	m.weight += it.weight
	first := len(m.items) == 1
	m.mu.Unlock()
	if first {
		m.signal()
	}
	return true
}

func (m *mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take swaps what waits, as far as it fits a turn, for the empty slice into. The
// rest stays and keeps the wake token.
func (m *mailbox) take(into []item) []item {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, size := 0, 0
	for n < len(m.items) && n < turnEvents && size < turnBytes {
		size += m.items[n].size()
		m.weight -= m.items[n].weight
		n++
	}
	if n == len(m.items) {
		into, m.items = m.items, into[:0]
	} else {
		into = append(into[:0], m.items[:n]...)
		rest := copy(m.items, m.items[n:])
		clear(m.items[rest:])
		m.items = m.items[:rest]
		m.signal()
	}
	if m.closed {
		m.signal() // the token of the close may have been the one that led here
	}
	m.room.Broadcast()
	return into
}

// finished reports whether the box is closed and empty.
func (m *mailbox) finished() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed && len(m.items) == 0
}

// close refuses later events. What waits is still taken.
func (m *mailbox) close() {
	m.mu.Lock()
	m.closed = true
	m.room.Broadcast()
	m.mu.Unlock()
	m.signal()
}
