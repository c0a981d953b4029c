package mqengine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/transport"
)

// Bounds of the network.
const (
	// linksMax is how many links may be open; inbound ones beyond it are refused.
	linksMax = 1000
	// dialTimeout bounds one attempt to reach a queue manager.
	dialTimeout = 10 * time.Second
	// linkQueue is what may wait to be sent on one link: the window of four batches is less.
	linkQueue = 160 << 20
	// answerQueue is the same for accepted links: a receiver only confirms.
	answerQueue = 1 << 20
)

// links are the network links of a queue manager's channels: a goroutine each
// reads, decodes and posts; what is to be sent comes from the release.
type links struct {
	network  transport.Network
	keys     *keyRepository
	mailbox  *mailbox
	numbers  *bodyNumbers
	log      func(id, format string, args ...any)
	patience time.Duration // with a link that says nothing
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	silent   strangers

	mu        sync.Mutex
	open      map[qmgr.LinkID]netLink
	listeners map[string]transport.Listener // by the name of the listener object
	last      qmgr.LinkID
	closed    bool
}

// netLink is an open link, or one that is being dialled.
type netLink struct {
	link   transport.Link // nil: being dialled
	cancel context.CancelFunc
}

// channelLinks are the options of links between queue managers.
func channelLinks() transport.Options {
	return transport.Options{
		Protocol: transport.ProtocolChannel, MaxFrame: channel.DefaultLimits().MaxFrame,
		SendQueue: linkQueue, DialTimeout: dialTimeout, FirstFrame: firstFrameMax,
		Budget: transport.NewBudget(receiveBudget), AcceptQueue: answerQueue,
	}
}

func newLinks(network transport.Network, box *mailbox, numbers *bodyNumbers) *links {
	l := &links{
		network: network, mailbox: box, numbers: numbers,
		open: make(map[qmgr.LinkID]netLink), listeners: make(map[string]transport.Listener),
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// accept takes the links of one listener until that ends. Accepted links are
// numbered downwards from the top, since the machine numbers those that it dials.
func (l *links) accept(name string, listener transport.Listener) {
	for {
		link, err := listener.Accept()
		if err != nil {
			if !errors.Is(err, transport.ErrClosed) {
				err = errors.Join(err, l.stopListening([]string{name}))
				l.mailbox.post(item{event: qmgr.ListenerDown{Name: name, Reason: err.Error()}})
			}
			return
		}
		id, ok := l.accepted(link)
		if !ok {
			l.closeLink(link)
			continue
		}
		if old := l.silent.enter(link); old != nil {
			l.log("AMQ9513E", "Too many connections say nothing; that of %s was closed.", old.RemoteAddr())
			l.closeSoon(old)
		}
		l.wg.Go(func() {
			if frame, ok := l.greet(link); ok && l.mailbox.post(item{event: qmgr.LinkAccepted{Link: id, Remote: link.RemoteAddr(), Local: link.LocalAddr(), Security: security(link)}}) {
				l.read(id, link, frame)
				return
			}
			l.forget(id)
			l.closeLink(link)
		})
	}
}

// greet waits for a link's first frame. A stranger is refused here, before the
// machine hears of it.
func (l *links) greet(link transport.Link) (frame []byte, ok bool) {
	frame, err := firstFrame(link, l.patience)
	switch {
	case !l.silent.leave(link): // it was said when it had to go
	case err == nil && l.crowded():
		l.log("AMQ9513E", "Maximum number of channels reached; %s was refused.", link.RemoteAddr())
	case err == nil:
		return frame, true
	case linkFault(err) != "":
		l.log(linkFault(err), "A channel cannot use TLS: %v", err)
	case !errors.Is(err, io.EOF) && !errors.Is(err, transport.ErrClosed):
		l.log("AMQ9207E", "The data received from %s is not valid: %v", link.RemoteAddr(), err)
	}
	return nil, false
}

// crowded reports whether more links are open than may be, strangers aside.
func (l *links) crowded() bool {
	silent := l.silent.count()
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)-silent > linksMax
}

// firstFrame is Receive with a limit to the wait: a link that says nothing is closed.
func firstFrame(link transport.Link, patience time.Duration) ([]byte, error) {
	closed := make(chan error, 1)
	timer := time.AfterFunc(patience, func() { closed <- link.Close() })
	frame, err := link.Receive()
	if !timer.Stop() {
		return nil, errors.Join(fmt.Errorf("nothing was said for %v", patience), <-closed)
	}
	return frame, err
}

func (l *links) accepted(link transport.Link) (qmgr.LinkID, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, false
	}
	l.last++
	id := ^qmgr.LinkID(0) - l.last
	l.open[id] = netLink{link: link}
	return id, true
}

// read posts a link's frames until it ends; first is the one that was read already, or nil.
func (l *links) read(id qmgr.LinkID, link transport.Link, first []byte) {
	err := l.readFrames(id, link, first)
	l.forget(id)
	l.closeLink(link)
	reason := "the other side closed the connection"
	switch {
	case errors.Is(err, channel.ErrFrame):
		l.log("AMQ9207E", "The data received from %s is not valid: %v", link.RemoteAddr(), err)
		reason = err.Error()
	case !errors.Is(err, io.EOF):
		reason = err.Error()
	}
	l.mailbox.post(item{event: qmgr.LinkDown{Link: id, Reason: reason}})
}

func (l *links) readFrames(id qmgr.LinkID, link transport.Link, data []byte) error {
	limits := channel.DefaultLimits()
	var err error
	for {
		if data == nil {
			if data, err = link.Receive(); err != nil {
				return err
			}
		}
		var bodies []numberedBody
		frame, err := channel.DecodeFrame(data, limits, func(b []byte) channel.BodyRef {
			// Copied: one message that stays must not keep its whole batch in memory.
			body := numberedBody{id: l.numbers.next(), data: append([]byte(nil), b...)}
			bodies = append(bodies, body)
			return channel.BodyRef{ID: body.id, Len: len(b)}
		})
		if err != nil {
			return err
		}
		weight := len(data)
		data = nil
		if !l.mailbox.post(item{event: qmgr.LinkFrame{Link: id, Frame: frame}, bodies: bodies, weight: weight}) {
			return transport.ErrClosed
		}
	}
}

// carryOut sends a turn's frames, dials and closes. It does not block.
func (l *links) carryOut(t *turn) {
	for i := range t.frames {
		f := &t.frames[i]
		link := l.get(f.link)
		if link == nil {
			continue // it ended; the machine learns of that from LinkDown
		}
		if err := link.Offer(f.data); err != nil {
			// The reader sees the closed link and tells the machine.
			l.log("AMQ9206E", "Error sending data to %s: %v", link.RemoteAddr(), err)
			l.closeSoon(link)
		}
	}
	for i := range t.fx.Keys {
		l.changeKeys(t.fx.Keys[i])
	}
	for _, d := range t.fx.Dials {
		l.dial(d)
	}
	for _, s := range t.fx.Listens {
		l.listen(s)
	}
	for _, id := range t.fx.Closes {
		l.mu.Lock()
		n := l.open[id]
		l.mu.Unlock()
		switch {
		case n.link != nil:
			l.closeSoon(n.link)
		case n.cancel != nil:
			n.cancel()
		}
	}
}

func (l *links) dial(d qmgr.Dial) {
	ctx, cancel := context.WithTimeout(l.ctx, dialTimeout)
	l.mu.Lock()
	l.open[d.Link] = netLink{cancel: cancel}
	l.mu.Unlock()
	l.wg.Go(func() {
		defer cancel()
		link, err := l.connect(ctx, d)
		if err != nil {
			l.forget(d.Link)
			l.mailbox.post(item{event: qmgr.LinkDown{Link: d.Link, Reason: err.Error(), ID: linkFault(err)}})
			return
		}
		if !l.dialled(d.Link, link) || !l.mailbox.post(item{event: qmgr.LinkUp{Link: d.Link, Local: link.LocalAddr(), Security: security(link)}}) {
			l.closeLink(link)
			return
		}
		l.read(d.Link, link, nil)
	})
}

// connect dials as the channel wants it.
func (l *links) connect(ctx context.Context, d qmgr.Dial) (transport.Link, error) {
	if d.CipherSpec == "" {
		return l.network.Dial(ctx, d.Addr)
	}
	conf, err := l.keys.calling(d.CipherSpec)
	if err != nil {
		return nil, err
	}
	return l.network.DialTLS(ctx, d.Addr, conf)
}

// dialled notes the link of a dial; false if everything is being closed.
func (l *links) dialled(id qmgr.LinkID, link transport.Link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.open[id] = netLink{link: link}
	return true
}

func (l *links) get(id qmgr.LinkID) transport.Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[id].link
}

func (l *links) forget(id qmgr.LinkID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
}

// closeSoon closes a link without waiting for what is queued on it.
func (l *links) closeSoon(link transport.Link) { l.wg.Go(func() { l.closeLink(link) }) }

func (l *links) closeLink(link transport.Link) {
	if err := link.Close(); err != nil {
		l.log("AMQ9206W", "Error closing the connection to %s: %v", link.RemoteAddr(), err)
	}
}

// close ends the listeners and every link, and waits for their goroutines.
func (l *links) close() error {
	l.mu.Lock()
	l.closed = true
	all := make([]transport.Link, 0, len(l.open))
	for _, n := range l.open {
		if n.link != nil {
			all = append(all, n.link)
		}
	}
	names := slices.Collect(maps.Keys(l.listeners))
	l.mu.Unlock()
	l.cancel()
	err := l.stopListening(names)
	for _, link := range all {
		l.wg.Go(func() { l.closeLink(link) })
	}
	l.wg.Wait()
	return err
}
