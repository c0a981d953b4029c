package mqengine

import (
	"errors"
	"fmt"

	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/transport"
)

// start begins to accept on the listener that the process was started with.
func (l *links) start(own transport.Listener) {
	if own != nil && l.listening(qmgr.OwnListener, own) {
		l.wg.Go(func() { l.accept(qmgr.OwnListener, own) })
	}
}

// listen binds what START LISTENER asks for and accepts on it, in a goroutine: an
// address may have to be looked up.
func (l *links) listen(s qmgr.Listen) {
	l.wg.Go(func() {
		listener, err := l.network.Listen(s.Addr)
		if err != nil {
			l.mailbox.post(item{event: qmgr.ListenerDown{Name: s.Name, Reason: err.Error()}})
			return
		}
		if !l.listening(s.Name, listener) {
			err = listener.Close()
		} else if l.mailbox.post(item{event: qmgr.ListenerUp{Name: s.Name, Addr: listener.Addr()}}) {
			// Told before the first link is, so that the machine knows where that comes from.
			l.accept(s.Name, listener)
			return
		} else {
			err = l.stopListening([]string{s.Name})
		}
		if err != nil {
			l.log("AMQ9206W", "Error closing listener %s: %v", s.Name, err)
		}
	})
}

// listening notes a bound listener; false if everything is being closed.
func (l *links) listening(name string, listener transport.Listener) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.listeners[name] = listener
	}
	return !l.closed
}

// stopListening closes listeners. Their goroutines end soon; the ports are free at once.
func (l *links) stopListening(names []string) error {
	var failed error
	for _, name := range names {
		l.mu.Lock()
		listener := l.listeners[name]
		delete(l.listeners, name)
		l.mu.Unlock()
		if listener == nil {
			continue
		}
		if err := listener.Close(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("close listener %s: %w", name, err))
		}
	}
	return failed
}
