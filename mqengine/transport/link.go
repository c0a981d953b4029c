package transport

import (
	"context"
	"crypto/tls"
	"errors"
)

// Link is one connection that carries frames both ways. Send and Offer are safe
// for concurrent use; Receive belongs to one goroutine; Close may be called by any
// and unblocks the others.
type Link interface {
	// Send queues a frame, given in one or several parts. It copies them and blocks while the
	// send queue is full, at most Options.SendTimeout; after that the link is broken.
	Send(frame ...[]byte) error
	// Offer is Send that never blocks: ErrFull when the queue has no room, and
	// the link stays as it was.
	Offer(frame ...[]byte) error
	// Receive gives the next frame, which is the caller's to keep. io.EOF tells of an
	// orderly end by the other side. On an accepted link the first Receive also checks the preface.
	Receive() ([]byte, error)
	// Close sends what is queued (at most for a second), and ends the link.
	Close() error
	// RemoteAddr names the other end for logs and CONNAME.
	RemoteAddr() string
	// LocalAddr is our end's address.
	LocalAddr() string
	// TLS is what was agreed with the other end; nil without TLS. On an accepted
	// link it is known after the first Receive.
	TLS() *tls.ConnectionState
	// Peer is the process at the other end, where the system can tell (Unix sockets).
	Peer() (Peer, bool)
}

// Peer is the process at the other end of a Unix socket, by the kernel's word.
type Peer struct {
	PID, UID, GID int
}

// Listener accepts links.
type Listener interface {
	// Accept gives the next link; the preface is checked by its first Receive, so
	// that a silent caller does not hold up others. ErrClosed after Close.
	Accept() (Link, error)
	// Addr is the bound address, with the port that was chosen.
	Addr() string
	Close() error
}

// Network dials and listens: TCP, Unix or a Memory.
type Network interface {
	// Dial connects and waits for the other side's preface. ctx bounds the attempt besides Options.DialTimeout.
	Dial(ctx context.Context, addr string) (Link, error)
	// DialTLS is Dial with TLS around all that is said. What certificates have to say is the configuration's business.
	DialTLS(ctx context.Context, addr string, conf *tls.Config) (Link, error)
	Listen(addr string) (Listener, error)
}

// Errors of links. They come wrapped with the operation and the address.
var (
	// ErrForeign: the other side does not speak this protocol.
	ErrForeign = errors.New("not a situationd link")
	// ErrVersion: the other side speaks another version of the framing.
	ErrVersion = errors.New("other version of the link protocol")
	// ErrHandshake: the two ends did not agree on TLS, or on a certificate.
	ErrHandshake = errors.New("TLS handshake failed")
	// ErrTooLong: a frame is longer than MaxFrame.
	ErrTooLong = errors.New("frame too long")
	// ErrFull: the send queue has no room.
	ErrFull = errors.New("send queue full")
	// ErrSlow: the other side did not read for SendTimeout.
	ErrSlow = errors.New("other side does not read")
	// ErrStalled: the other side began a frame and did not go on with it.
	ErrStalled = errors.New("other side does not finish a frame")
	// ErrClosed: the link or listener was closed on this side.
	ErrClosed = errors.New("link closed")
)
