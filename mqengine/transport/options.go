package transport

import (
	"crypto/tls"
	"time"
)

// Options bounds a link. Zero values give the defaults.
type Options struct {
	// Protocol is what is spoken on the link; both sides must name the same.
	Protocol Protocol
	// MaxFrame is the longest frame in bytes, both ways. Default 64 MiB.
	MaxFrame int
	// FirstFrame is the longest first frame, from those of whom nothing is known yet. Default MaxFrame.
	FirstFrame int
	// Budget bounds the long frames of all links that share it. Default no bound.
	Budget *Budget
	// AcceptQueue is SendQueue of accepted links, where little is sent. Default SendQueue.
	AcceptQueue int
	// SendQueue is how many bytes may wait to be sent; one frame always fits. Default 8 MiB.
	SendQueue int
	// DialTimeout bounds connecting and the preface; also the wait for an
	// accepted link's preface. Default 10 s.
	DialTimeout time.Duration
	// SendTimeout breaks a link whose other side does not read, or which does not
	// go on with a frame that it began. Default 60 s.
	SendTimeout time.Duration
	// TLS gives what a listener answers callers with who speak TLS. Without it there are none.
	TLS func() (*tls.Config, error)
	// KeepAlive is TCP's probe interval. Default 30 s.
	KeepAlive time.Duration
}

// Protocol says what is spoken on a link.
type Protocol byte

// The protocols of the project.
const (
	ProtocolChannel Protocol = 'C' // message channels between queue managers
	ProtocolLocal   Protocol = 'L' // local applications on qm.sock
)

func (o Options) withDefaults() Options {
	if o.MaxFrame <= 0 {
		o.MaxFrame = 64 << 20
	}
	if o.SendQueue <= 0 {
		o.SendQueue = 8 << 20
	}
	if o.DialTimeout <= 0 {
		o.DialTimeout = 10 * time.Second
	}
	if o.SendTimeout <= 0 {
		o.SendTimeout = 60 * time.Second
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 30 * time.Second
	}
	return o
}
