package transport

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// closeGrace is how long Close lets queued frames go out.
const closeGrace = time.Second

// writeAtOnce is the most that a sender writes itself.
const writeAtOnce = 32 << 10

// keepBuffer is the largest send buffer that an idle link keeps.
const keepBuffer = 256 << 10

// readBuffer is what a link reads ahead.
const readBuffer = 16 << 10

// conn is a Link over any stream. One goroutine writes what Send and Offer
// queued, all that waits in one write, so that frames of one turn share a system
// call. Send spares it the waking where the stream takes a short frame at once.
type conn struct {
	nc     net.Conn        // changed once, by the first Receive of an accepted link that speaks TLS
	tls    *tls.Conn       // nc, if it is one
	raw    syscall.RawConn // nil: the stream is no descriptor, or speaks TLS
	opt    Options
	name   string
	peer   Peer
	known  bool // peer is
	r      *bufio.Reader
	server bool // the preface has yet to be checked by the first Receive
	greets bool // the frame of the first Receive has yet to come
	writer sync.WaitGroup
	done   chan struct{} // closed by Close

	mu      sync.Mutex
	work    sync.Cond // the writer waits: something is queued, or the link ends
	room    sync.Cond // senders wait: bytes left the queue, or the link ended
	queue   []byte
	spare   []byte
	writing int  // bytes of the write in progress
	met     bool // the other side's preface was seen
	held    bool
	closing bool
	lease   int   // share of the budget that the last frame has
	err     error // why nothing can be sent any more
}

// newConn makes a link of a connection. The writer of an accepted one starts
// only after the other side's preface was seen: a foreign caller gets no byte of ours.
func newConn(nc net.Conn, opt Options, name string, server bool) *conn {
	if server && opt.AcceptQueue > 0 {
		opt.SendQueue = opt.AcceptQueue
	}
	c := &conn{nc: nc, opt: opt, name: name, r: bufio.NewReaderSize(nc, readBuffer), server: server, held: server, greets: true, done: make(chan struct{})}
	c.tls, _ = nc.(*tls.Conn) // nil is another answer
	c.work.L, c.room.L = &c.mu, &c.mu
	if sc, ok := nc.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			c.raw = raw
		}
	}
	c.queue = appendPreface(nil, opt.Protocol)
	c.writer.Go(c.write)
	return c
}

// greet checks the other side's preface.
func (c *conn) greet(deadline time.Time) error {
	if err := c.nc.SetReadDeadline(deadline); err != nil {
		return err
	}
	if err := readPreface(c.r, c.opt.Protocol); err != nil {
		return err
	}
	c.mu.Lock()
	c.met = true
	err := c.err
	c.mu.Unlock()
	if err != nil {
		return err // our preface did not go out
	}
	return c.nc.SetReadDeadline(time.Time{})
}

// welcome checks the caller's preface and answers it.
func (c *conn) welcome() error {
	deadline := time.Now().Add(c.opt.DialTimeout)
	if err := c.secure(deadline); err != nil {
		return err
	}
	if err := c.greet(deadline); err != nil {
		return err
	}
	c.mu.Lock()
	c.held = false
	c.mu.Unlock()
	c.work.Signal()
	return nil
}

func (c *conn) Receive() ([]byte, error) {
	if c.server {
		if err := c.welcome(); err != nil {
			return nil, c.broken("preface", err)
		}
		c.server = false
	}
	frame, err := c.frame()
	if errors.Is(err, io.EOF) && !c.closed() {
		return nil, io.EOF
	}
	if err != nil {
		return nil, c.broken("receive", err)
	}
	return frame, nil
}

// frame reads one frame. The share that the one before it had goes back: whoever
// asks for the next has dealt with the last.
func (c *conn) frame() ([]byte, error) {
	c.giveBack()
	limit := c.opt.MaxFrame
	if c.greets && c.opt.FirstFrame > 0 {
		limit = min(limit, c.opt.FirstFrame)
	}
	n, err := readLength(c.r, limit)
	if err != nil {
		return nil, err
	}
	c.greets = false
	if n <= c.r.Buffered() {
		return readBody(c.r, n, nil)
	}
	c.hurry(n)
	frame, err := readBody(c.r, n, c.reserve)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrStalled
	}
	if err != nil {
		return nil, err
	}
	c.deadline(time.Time{})
	return frame, nil
}

// deadline bounds reading. A connection that takes none has ended: the next read
// says so, and how, after it gave what had come before.
func (c *conn) deadline(at time.Time) { _ = c.nc.SetReadDeadline(at) }

// hurry sets the time by which a frame that has begun must have come: what is
// half there costs memory.
func (c *conn) hurry(bytes int) {
	c.deadline(time.Now().Add(c.opt.SendTimeout + time.Duration(bytes/leastRate)*time.Second))
}

// reserve waits for a share of the budget.
func (c *conn) reserve(bytes int) error {
	if !c.opt.Budget.take(bytes, c.done) {
		return ErrClosed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing { // Close has given back what there was before
		c.opt.Budget.give(bytes)
		return ErrClosed
	}
	c.lease = bytes
	c.hurry(bytes) // the wait was not the other side's fault
	return nil
}

func (c *conn) giveBack() {
	c.mu.Lock()
	lease := c.lease
	c.lease = 0
	c.mu.Unlock()
	c.opt.Budget.give(lease)
}

func (c *conn) Send(frame ...[]byte) error  { return c.enqueue(frame, true) }
func (c *conn) Offer(frame ...[]byte) error { return c.enqueue(frame, false) }

func (c *conn) enqueue(frame [][]byte, wait bool) error {
	size := frameSize(frame)
	if size > c.opt.MaxFrame {
		return fmt.Errorf("send to %s: %w: %d bytes, the limit is %d", c.name, ErrTooLong, size, c.opt.MaxFrame)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && !c.closing && !c.fits(size+frameHeader) {
		if !wait {
			return fmt.Errorf("send to %s: %w", c.name, ErrFull)
		}
		c.room.Wait()
	}
	if c.err != nil {
		return c.err
	}
	if c.closing {
		return fmt.Errorf("send to %s: %w", c.name, ErrClosed)
	}
	c.queue = appendFrame(c.queue, size, frame)
	if wait {
		c.writeNow()
	}
	if len(c.queue) > 0 {
		c.work.Signal()
	}
	return nil
}

// writeNow writes what is queued as far as the stream takes it without waiting.
// Whatever goes wrong is left to the writer, which finds it again and says so.
func (c *conn) writeNow() {
	if c.raw == nil || c.writing > 0 || c.held || len(c.queue) > writeAtOnce {
		return
	}
	n := 0
	if err := c.raw.Write(func(fd uintptr) bool {
		n, _ = unix.Write(int(fd), c.queue)
		return true
	}); err != nil || n <= 0 {
		return
	}
	rest := copy(c.queue, c.queue[n:])
	c.queue = c.queue[:rest]
	c.room.Broadcast()
}

// fits: an empty queue takes any frame, so that SendQueue may be smaller than MaxFrame.
func (c *conn) fits(n int) bool {
	waiting := len(c.queue) + c.writing
	return waiting == 0 || waiting+n <= c.opt.SendQueue
}

// write is the writer's goroutine.
func (c *conn) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for c.err == nil && !c.closing && (c.held || len(c.queue) == 0) {
			c.work.Wait()
		}
		if c.err != nil || len(c.queue) == 0 || c.held {
			return
		}
		c.writeOnce()
	}
}

// writeOnce writes everything that is queued. The lock is free meanwhile.
func (c *conn) writeOnce() {
	out := c.queue
	c.queue, c.spare, c.writing = c.spare, nil, len(out)
	limit := c.opt.SendTimeout
	switch {
	case c.closing:
		limit = closeGrace
	case !c.met:
		limit = max(limit, c.opt.DialTimeout) // a greeting has a time of its own
	}
	nc := c.nc
	err := nc.SetWriteDeadline(time.Now().Add(limit))
	c.mu.Unlock()
	if err == nil {
		_, err = nc.Write(out)
	}
	c.mu.Lock()
	c.writing = 0
	if cap(out) <= keepBuffer {
		c.spare = out[:0]
	}
	if err != nil && c.err == nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = ErrSlow
			if c.met {
				_ = nc.Close() // who waits in Receive has to know, too; greet looks itself
			}
		}
		c.err = fmt.Errorf("send to %s: %w", c.name, err)
	}
	c.room.Broadcast()
}

// Close ends the link. A second Close waits for the first.
func (c *conn) Close() error {
	c.mu.Lock()
	if !c.closing {
		c.closing = true
		close(c.done)
		if c.writing > 0 {
			// The writer set a longer deadline before it knew.
			_ = c.nc.SetWriteDeadline(time.Now().Add(closeGrace))
		}
	}
	c.mu.Unlock()
	c.work.Signal()
	c.room.Broadcast()
	c.giveBack()
	c.writer.Wait()
	// A peer that has gone needs no farewell.
	if err := c.closeBounded(); !errors.Is(err, net.ErrClosed) && (c.tls == nil || !unreachable(err)) {
		return err
	}
	return nil
}

func (c *conn) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// broken notes that the link cannot go on, so that senders learn of it too.
func (c *conn) broken(op string, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
		err = ErrClosed
	case errors.Is(c.err, ErrSlow):
		err = ErrSlow
	}
	err = fmt.Errorf("%s from %s: %w", op, c.name, err)
	if c.err == nil {
		c.err = err
	}
	c.work.Signal()
	c.room.Broadcast()
	return err
}

func (c *conn) RemoteAddr() string { return c.name }

func (c *conn) LocalAddr() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nc.LocalAddr().String()
}

func (c *conn) Peer() (Peer, bool) { return c.peer, c.known }
