package httpapi

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// maxConns is how many connections a server has.
const maxConns = 128

// crowd bounds the connections of a listener. When there are too many, the one
// that has been without a request for longest has to go, so that callers who say
// nothing, or say it slowly, keep nobody out. Requests in work are left alone.
type crowd struct {
	net.Listener

	mu      sync.Mutex
	waiting []*guest // by age: no request of theirs is in work
	serving int
}

// guest is one connection.
type guest struct {
	net.Conn
	crowd    *crowd
	requests int // in work; several with HTTP/2
	closed   bool
}

func newCrowd(l net.Listener) *crowd { return &crowd{Listener: l} }

func (c *crowd) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err // as it is: its server goes on after one that passes, and does not look inside of others
	}
	g := &guest{Conn: conn, crowd: c}
	if old := c.enter(g); old != nil {
		_ = old.Conn.Close() // its server notices
	}
	return g, nil
}

// enter takes a connection in, and gives one that has to go for it, or nil.
func (c *crowd) enter(g *guest) (old *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, g)
	if len(c.waiting)+c.serving <= maxConns {
		return nil
	}
	old = c.waiting[0]
	c.waiting = append(c.waiting[:0], c.waiting[1:]...)
	return old
}

// remove takes a connection out of those that wait; false if it had to go before.
func (c *crowd) remove(g *guest) bool {
	for i := range c.waiting {
		if c.waiting[i] == g {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			return true
		}
	}
	return false
}

func (g *guest) Close() error {
	g.crowd.mu.Lock()
	g.closed = true
	g.crowd.remove(g)
	g.crowd.mu.Unlock()
	return g.Conn.Close()
}

type guestKey struct{}

// withGuest lets the handler know the connection.
func withGuest(ctx context.Context, conn net.Conn) context.Context {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	return context.WithValue(ctx, guestKey{}, conn)
}

// serving marks the connections whose requests are in work.
func serving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g, ok := r.Context().Value(guestKey{}).(*guest)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		if !g.begin() {
			return // the connection is closed
		}
		defer g.end()
		next.ServeHTTP(w, r)
	})
}

func (g *guest) begin() bool {
	g.crowd.mu.Lock()
	defer g.crowd.mu.Unlock()
	if g.requests == 0 {
		if !g.crowd.remove(g) {
			return false
		}
		g.crowd.serving++
	}
	g.requests++
	return true
}

func (g *guest) end() {
	g.crowd.mu.Lock()
	defer g.crowd.mu.Unlock()
	if g.requests--; g.requests > 0 {
		return
	}
	g.crowd.serving--
	if !g.closed { // HTTP/2 closes under its requests
		g.crowd.waiting = append(g.crowd.waiting, g)
	}
}
