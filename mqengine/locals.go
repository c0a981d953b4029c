package mqengine

import (
	"errors"
	"sync"
	"time"

	"github.com/situationd/situationd/mqengine/transport"
)

// localsMax is how many local applications may be connected.
const localsMax = 4096

// locals is the socket of local applications: a listener and a goroutine per connection.
type locals struct {
	listener transport.Listener // nil: no socket
	patience time.Duration      // with a connection that says nothing
	wg       sync.WaitGroup
	silent   strangers

	mu     sync.Mutex
	open   map[transport.Link]struct{}
	closed bool
}

func newLocals(listener transport.Listener) *locals {
	return &locals{listener: listener, open: make(map[transport.Link]struct{})}
}

func (l *locals) start(q *QueueManager) {
	if l.listener != nil {
		l.wg.Go(func() { l.accept(q) })
	}
}

func (l *locals) accept(q *QueueManager) {
	for {
		link, err := l.listener.Accept()
		if err != nil {
			if !errors.Is(err, transport.ErrClosed) {
				q.say("AMQ9208E", "The socket of local applications has ended: %v", err)
			}
			return
		}
		if !l.add(link) {
			l.drop(link)
			continue
		}
		if old := l.silent.enter(link); old != nil {
			q.say("AMQ9513E", "Too many local connections say nothing; one was closed.")
			l.drop(old)
		}
		l.wg.Go(func() {
			defer l.remove(link)
			q.serve(link)
		})
	}
}

// drop closes a stranger's link: nothing is lost with it.
func (l *locals) drop(link transport.Link) { l.wg.Go(func() { _ = link.Close() }) }

// crowded reports whether more applications are connected than may be, strangers aside.
func (l *locals) crowded() bool {
	silent := l.silent.count()
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)-silent > localsMax
}

func (l *locals) add(link transport.Link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.open[link] = struct{}{}
	return true
}

func (l *locals) remove(link transport.Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, link)
}

// close ends the listener and all connections, and waits for their goroutines.
func (l *locals) close() error {
	l.mu.Lock()
	l.closed = true
	all := make([]transport.Link, 0, len(l.open))
	for link := range l.open {
		all = append(all, link)
	}
	l.mu.Unlock()
	var err error
	if l.listener != nil {
		err = l.listener.Close()
	}
	for _, link := range all {
		l.wg.Go(func() { _ = link.Close() }) // its own goroutine reports
	}
	l.wg.Wait()
	return err
}
