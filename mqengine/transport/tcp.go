package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// tcp is the network of message channels.
type tcp struct{ opt Options }

// TCP is the network of host:port addresses.
func TCP(opt Options) Network { return &tcp{opt.withDefaults()} }

func (t *tcp) Dial(ctx context.Context, addr string) (Link, error) {
	return dial(ctx, t.opt, addr, t.connect(addr))
}

func (t *tcp) DialTLS(ctx context.Context, addr string, conf *tls.Config) (Link, error) {
	return dial(ctx, t.opt, addr, overTLS(conf, t.connect(addr)))
}

func (t *tcp) connect(addr string) func(context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: t.opt.DialTimeout, KeepAlive: t.opt.KeepAlive}
	return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) }
}

func (t *tcp) Listen(addr string) (Listener, error) {
	lc := net.ListenConfig{KeepAlive: t.opt.KeepAlive}
	l, err := lc.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, cause(err))
	}
	return newListener(l, t.opt, l.Addr().String()), nil
}

// dial connects and waits for the other side's preface; both together take at
// most DialTimeout.
func dial(ctx context.Context, opt Options, name string, connect func(context.Context) (net.Conn, error)) (Link, error) {
	deadline := time.Now().Add(opt.DialTimeout)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	nc, err := connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", name, cause(err))
	}
	c := newConn(nc, opt, name, false)
	// A cancelled context ends the wait for the preface as well.
	stop := context.AfterFunc(ctx, func() { _ = nc.SetReadDeadline(time.Unix(1, 0)) })
	if err = c.greet(deadline); errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: it closed the connection at once", ErrForeign)
	}
	err = refusedCertificate(err)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = ctx.Err()
		}
		return nil, errors.Join(fmt.Errorf("connect to %s: %w", name, cause(err)), c.Close())
	}
	return c, nil
}

// cause strips what net adds: the operation and the address are in our own words already.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// unreachable: the other side reset or left the connection before our last words.
func unreachable(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrDeadlineExceeded)
}
