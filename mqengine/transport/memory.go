package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
)

// Errors of a memory network.
var (
	errRefused = errors.New("connection refused")
	errCut     = errors.New("connection reset: the link was cut")
	errInUse   = errors.New("address already in use")
)

// Memory is a network inside the process, with the framing of the real ones and
// links that can be cut. Addresses are any names. It is for tests: it works in a
// testing/synctest bubble.
type Memory struct {
	opt Options
	*memoryState
}

// memoryState is what the parties of a network share.
type memoryState struct {
	mu        sync.Mutex
	listeners map[string]*memoryListener
	cut       map[string]bool
	streams   map[*memoryStream]struct{}
}

// NewMemory makes an empty network.
func NewMemory(opt Options) *Memory {
	return &Memory{opt.withDefaults(), &memoryState{
		listeners: map[string]*memoryListener{}, cut: map[string]bool{}, streams: map[*memoryStream]struct{}{},
	}}
}

// Speaking is the same network for parties that speak another protocol.
func (m *Memory) Speaking(p Protocol) *Memory {
	other := &Memory{m.opt, m.memoryState}
	other.opt.Protocol = p
	return other
}

// Dial connects to a name that is listened on and not cut.
func (m *Memory) Dial(ctx context.Context, addr string) (Link, error) {
	return dial(ctx, m.opt, addr, m.connect(addr))
}

// DialTLS is Dial with TLS.
func (m *Memory) DialTLS(ctx context.Context, addr string, conf *tls.Config) (Link, error) {
	return dial(ctx, m.opt, addr, overTLS(conf, m.connect(addr)))
}

func (m *Memory) connect(addr string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		m.mu.Lock()
		l := m.listeners[addr]
		if l == nil || m.cut[addr] {
			m.mu.Unlock()
			return nil, errRefused
		}
		near, far := net.Pipe()
		ours, theirs := &memoryStream{Conn: near, net: m.memoryState, addr: addr}, &memoryStream{Conn: far, net: m.memoryState, addr: addr}
		ours.other, theirs.other = theirs, ours
		m.streams[ours] = struct{}{}
		m.mu.Unlock()
		select {
		case l.backlog <- theirs:
			return ours, nil
		case <-l.done:
			return nil, errors.Join(errRefused, ours.Close(), theirs.Close())
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), ours.Close(), theirs.Close())
		}
	}
}

// Listen takes a name.
func (m *Memory) Listen(addr string) (Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listeners[addr] != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, errInUse)
	}
	ml := &memoryListener{net: m.memoryState, addr: addr, backlog: make(chan *memoryStream), done: make(chan struct{})}
	m.listeners[addr] = ml
	return newListener(ml, m.opt, addr), nil
}

// Cut breaks every link to the address and refuses new ones until Heal.
func (m *Memory) Cut(addr string) {
	m.mu.Lock()
	m.cut[addr] = true
	var broken []*memoryStream
	for s := range m.streams {
		if s.addr == addr {
			broken = append(broken, s)
		}
	}
	m.mu.Unlock()
	for _, s := range broken {
		s.reset()
	}
}

// Heal lets the address be dialled again.
func (m *Memory) Heal(addr string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.cut, addr)
}

func (m *memoryState) forget(s *memoryStream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.streams, s)
	delete(m.streams, s.other)
}

// memoryStream is one end of a pipe.
type memoryStream struct {
	net.Conn
	net   *memoryState
	addr  string
	other *memoryStream

	mu    sync.Mutex
	broke bool
}

func (s *memoryStream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	return n, s.explain(err)
}

func (s *memoryStream) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	return n, s.explain(err)
}

// explain turns what the pipe says after a cut into the error of a reset.
func (s *memoryStream) explain(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.broke {
		return errCut
	}
	return err
}

// reset breaks both ends, as a lost connection does.
func (s *memoryStream) reset() {
	for _, end := range []*memoryStream{s, s.other} {
		end.mu.Lock()
		end.broke = true
		end.mu.Unlock()
	}
	// The ends of a pipe close without error.
	_ = s.Close()
	_ = s.other.Close()
}

func (s *memoryStream) Close() error {
	s.net.forget(s)
	return s.Conn.Close()
}

func (s *memoryStream) RemoteAddr() net.Addr { return memoryAddr(s.addr) }

// memoryListener is the net.Listener of a name.
type memoryListener struct {
	net     *memoryState
	addr    string
	backlog chan *memoryStream
	done    chan struct{}
	once    sync.Once
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case s := <-l.backlog:
		return s, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.net.mu.Lock()
		delete(l.net.listeners, l.addr)
		l.net.mu.Unlock()
	})
	return nil
}

func (l *memoryListener) Addr() net.Addr { return memoryAddr(l.addr) }

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }
