package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// handshakeRecord is the first byte of a TLS connection. A preface begins with a letter.
const handshakeRecord = 0x16

// secure is the accepting end of TLS, if the caller begins with it: which of the
// two a caller speaks is for the protocol above to judge, that knows who it is.
func (c *conn) secure(deadline time.Time) error {
	if c.opt.TLS == nil {
		return nil
	}
	if err := c.nc.SetReadDeadline(deadline); err != nil {
		return err
	}
	first, err := c.r.Peek(1)
	if err != nil || first[0] != handshakeRecord {
		return err
	}
	conf, err := c.opt.TLS()
	if err != nil {
		// The alert tells the caller at least that it is not at fault.
		failure := err
		conf = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, failure }}
	}
	if err := c.nc.SetDeadline(deadline); err != nil {
		return err
	}
	tc := tls.Server(&peeked{c.nc, c.r}, conf)
	if err := tc.Handshake(); err != nil {
		return handshakeError(err)
	}
	if err := tc.SetDeadline(time.Time{}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return ErrClosed
	}
	// No frame goes past TLS.
	c.nc, c.raw, c.tls, c.r = tc, nil, tc, bufio.NewReaderSize(tc, readBuffer)
	return nil
}

// peeked is a connection of which the first bytes are in a reader.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

// handshakeError tells a failed handshake from a broken connection.
func handshakeError(err error) error {
	if alert(err) {
		return fmt.Errorf("%w: the other end says: %w", ErrHandshake, cause(err))
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the other end closed the connection", ErrHandshake)
	}
	return fmt.Errorf("%w: %w", ErrHandshake, cause(err))
}

// alert reports whether the other end ended TLS with a reason: package tls says so in this way only.
func alert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// refusedCertificate turns the alert of a server that did not like our
// certificate into a failed handshake: with TLS 1.3 it comes after our half of it.
func refusedCertificate(err error) error {
	if alert(err) {
		return handshakeError(err)
	}
	return err
}

// overTLS is a way to connect that goes on with the calling end of TLS.
func overTLS(conf *tls.Config, connect func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		nc, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		tc := tls.Client(nc, conf)
		if err := tc.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(handshakeError(err), nc.Close())
		}
		return tc, nil
	}
}

// TLS is what was agreed with the other end; nil on a link without TLS. On an
// accepted link it is known after the first Receive.
func (c *conn) TLS() *tls.ConnectionState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tls == nil {
		return nil
	}
	state := c.tls.ConnectionState()
	return &state
}

// closeBounded closes a connection. The farewell of TLS waits for a caller that
// does not read; not longer than frames do.
func (c *conn) closeBounded() error {
	c.mu.Lock()
	nc, secure := c.nc, c.tls
	c.mu.Unlock()
	if secure != nil {
		raw := secure.NetConn()
		timer := time.AfterFunc(closeGrace, func() { _ = raw.Close() })
		defer timer.Stop()
	}
	return nc.Close()
}
