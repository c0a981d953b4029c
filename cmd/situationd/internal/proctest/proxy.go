package proctest

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy is a port of its own through which a queue manager is reached: its
// address stays while the one behind it changes, and its links can be cut.
type Proxy struct {
	listener net.Listener
	wg       sync.WaitGroup

	mu      sync.Mutex
	target  string
	blocked bool
	links   map[*proxyLink]struct{}
}

// proxyLink is a link and its continuation.
type proxyLink struct{ outer, inner net.Conn }

// NewProxy listens. Nothing gets through before Point.
func NewProxy(tb testing.TB) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: l, links: make(map[*proxyLink]struct{})}
	p.wg.Go(p.accept)
	tb.Cleanup(func() {
		_ = l.Close()
		p.Block()
		p.wg.Wait()
	})
	return p
}

// ConnName is the proxy's address as CONNAME has it.
func (p *Proxy) ConnName() string {
	host, port, _ := net.SplitHostPort(p.listener.Addr().String()) // a listener's address has both
	return host + "(" + port + ")"
}

// Point sets where new links lead.
func (p *Proxy) Point(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Block cuts every link and refuses new ones until Open. It tells how many were cut.
func (p *Proxy) Block() int {
	p.mu.Lock()
	p.blocked = true
	p.mu.Unlock()
	return p.Cut()
}

// Open lets new links through again.
func (p *Proxy) Open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocked = false
}

// Cut resets every link: what is under way in either direction is lost.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.reset()
	}
	return len(p.links)
}

func (l *proxyLink) reset() {
	for _, c := range []net.Conn{l.outer, l.inner} {
		if tcp, ok := c.(*net.TCPConn); ok && tcp != nil {
			_ = tcp.SetLinger(0) // a reset: what is buffered is thrown away
			_ = tcp.Close()
		}
	}
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.wg.Go(func() { p.carry(c) })
		}
	}
}

// carry copies both ways until an end closes or the link is cut.
func (p *Proxy) carry(outer net.Conn) {
	defer outer.Close()
	p.mu.Lock()
	target, blocked := p.target, p.blocked
	p.mu.Unlock()
	if blocked || target == "" {
		return
	}
	inner, err := net.Dial("tcp", target)
	if err != nil {
		return // nobody is there: whoever dialled sees the link end
	}
	defer inner.Close()
	l := &proxyLink{outer, inner}
	p.mu.Lock()
	if blocked = p.blocked; !blocked {
		p.links[l] = struct{}{}
	}
	p.mu.Unlock()
	if blocked {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { pipe(outer, inner) })
	pipe(inner, outer)
	back.Wait()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// pipe copies one direction and ends the link with it, as a broken connection would.
func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from) // the ends of the link are what the test is about
	_ = to.Close()
	_ = from.Close()
}
