package transport

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// acceptRetryMax bounds the pause after a failed accept, for example when the
// process has no file descriptors left.
const acceptRetryMax = time.Second

// listener makes links of accepted connections.
type listener struct {
	l     net.Listener
	opt   Options
	addr  string
	after func(error) error // runs once, after the listener closed
	once  sync.Once
	done  chan struct{}
	err   error
}

func newListener(l net.Listener, opt Options, addr string) *listener {
	return &listener{l: l, opt: opt, addr: addr, done: make(chan struct{})}
}

func (l *listener) Accept() (Link, error) {
	pause := 5 * time.Millisecond
	for {
		nc, err := l.l.Accept()
		if err == nil {
			c := newConn(nc, l.opt, remoteName(nc), true)
			c.peer, c.known = peerOf(nc)
			return c, nil
		}
		select {
		case <-l.done:
			return nil, fmt.Errorf("accept on %s: %w", l.addr, ErrClosed)
		default:
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, fmt.Errorf("accept on %s: %w", l.addr, cause(err))
		}
		// Everything else passes: an aborted connection, or a limit that is reached.
		select {
		case <-l.done:
		case <-time.After(pause):
		}
		pause = min(2*pause, acceptRetryMax)
	}
}

func (l *listener) Addr() string { return l.addr }

func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.err = l.l.Close()
		if l.after != nil {
			l.err = l.after(l.err)
		}
	})
	return l.err
}

// remoteName is what logs and CONNAME show; Unix sockets have no name at the other end.
func remoteName(nc net.Conn) string {
	if s := nc.RemoteAddr().String(); s != "" && s != "@" {
		return s
	}
	return nc.LocalAddr().String()
}
