package mqengine

import (
	"errors"
	"fmt"
	"io"
	"os/user"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/transport"
)

// session is the queue manager's side of one local application's socket. Its
// goroutine reads, decodes and posts; answers come from the release.
type session struct {
	qm   *QueueManager
	link transport.Link
	id   qmgr.ConnID
	// outstanding calls; a client that has more than it may is not one of ours.
	outstanding atomic.Int64
	cancelWatch func()
	watching    sync.WaitGroup
	buf         []byte // the releasing goroutine's
	broken      atomic.Bool
}

var _ sink = (*session)(nil)

// localLinks are the options of qm.sock.
func localLinks() transport.Options {
	return transport.Options{Protocol: transport.ProtocolLocal, MaxFrame: maxFrame, SendQueue: maxUnread, FirstFrame: firstFrameMax}
}

// servedLinks are those of the queue manager's side.
func servedLinks(sendWait time.Duration) transport.Options {
	o := localLinks()
	o.SendTimeout = sendWait
	o.Budget = transport.NewBudget(receiveBudget)
	return o
}

// serve is a session's goroutine: from the hello to the end of the connection.
func (q *QueueManager) serve(link transport.Link) {
	s := &session{qm: q, link: link}
	err := s.greet()
	if err == nil {
		err = s.run()
		s.part()
	}
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, transport.ErrClosed):
	case errors.Is(err, transport.ErrSlow):
		s.sayUnread()
	default:
		q.say("AMQ9207E", "A local application's connection was ended: %v", err)
	}
	if err := link.Close(); err != nil {
		q.say("AMQ9206W", "Error closing a local application's connection: %v", err)
	}
}

// greet reads the hello and answers it. The machine knows the connection from here on.
func (s *session) greet() error {
	frame, err := firstFrame(s.link, s.qm.locals.patience)
	if !s.qm.locals.silent.leave(s.link) {
		return transport.ErrClosed // it had to go, which was said then
	}
	if err != nil {
		return err
	}
	h, err := decodeHello(frame)
	if err != nil {
		return err
	}
	refuse := func(r mqi.Reason, format string, args ...any) error {
		f := refusal{Reason: r, Text: fmt.Sprintf(format, args...)}
		return errors.Join(io.EOF, s.link.Send(f.encode()))
	}
	if h.Version != ProtocolVersion {
		return refuse(mqi.MQRC_Q_MGR_NOT_AVAILABLE, "the queue manager speaks version %d of the local protocol, the application version %d", ProtocolVersion, h.Version)
	}
	if h.QMgr != "" && h.QMgr != s.qm.name {
		return refuse(mqi.MQRC_Q_MGR_NAME_ERROR, "this is the queue manager %s", s.qm.name)
	}
	// A command that ends the queue manager may come in a controlled end, which waits; its calls are refused.
	if s.qm.quiescing() && h.Tag != endTag {
		return refuse(mqi.MQRC_Q_MGR_QUIESCING, "the queue manager is ending")
	}
	if s.qm.locals.crowded() {
		s.qm.say("AMQ9513E", "Maximum number of local applications reached; one was refused.")
		return refuse(mqi.MQRC_MAX_CONNS_LIMIT_REACHED, "the queue manager has as many connections as it takes")
	}
	if s.id, err = s.qm.sinks.add(s); err != nil {
		return refuse(mqi.ReasonOf(err), "the queue manager takes no more connections")
	}
	w := welcome{Version: ProtocolVersion, QMgr: s.qm.name, QMID: s.qm.qmid}
	if err := s.link.Send(w.encode()); err != nil {
		s.qm.sinks.remove(s.id)
		return err
	}
	s.qm.mailbox.post(item{event: qmgr.Connect{Conn: s.id, Appl: s.appl(h)}})
	return nil
}

// appl is who is connected: what the application says of itself, and what the kernel says of it.
func (s *session) appl(h hello) qmgr.Appl {
	a := qmgr.Appl{Tag: h.Tag, Owner: h.Owner}
	if peer, ok := s.link.Peer(); ok {
		a.PID, a.UserID = peer.PID, userName(peer.UID)
	}
	return a
}

// userName is the user's name, or the number if it has none here.
func userName(uid int) string {
	n := strconv.Itoa(uid)
	if u, err := user.LookupId(n); err == nil {
		return u.Username
	}
	return n
}

// run reads calls until the connection ends.
func (s *session) run() error {
	for {
		frame, err := s.link.Receive()
		if err != nil {
			return err
		}
		c, err := decodeRequest(frame)
		if err != nil {
			return fmt.Errorf("frame of %d bytes from process %s: %w", len(frame), s.who(), err)
		}
		if c.kind == kindDisconnect {
			return s.disconnect(c.tag)
		}
		if err := s.handle(&c); err != nil {
			return err
		}
	}
}

func (s *session) who() string {
	if peer, ok := s.link.Peer(); ok {
		return strconv.Itoa(peer.PID)
	}
	return s.link.RemoteAddr()
}

func (s *session) handle(c *clientCall) error {
	switch c.kind {
	case kindCancel:
		s.qm.mailbox.post(item{event: qmgr.Call{Conn: s.id, Request: c.req}})
		return nil
	case kindSample:
		return s.sample(c)
	case kindWatch:
		return s.watch(c.tag)
	case kindEnd:
		err := s.answer(reply{tag: c.tag})
		if c.end.Controlled {
			s.qm.quiesce(c.end.Within)
		} else {
			s.qm.end(nil)
		}
		return err
	default: // the machine's
		return s.call(c)
	}
}

// call posts what the machine answers.
func (s *session) call(c *clientCall) error {
	if s.outstanding.Add(1) > maxOutstanding {
		return fmt.Errorf("process %s has more than %d calls outstanding", s.who(), maxOutstanding)
	}
	it := item{weight: len(c.body)}
	if c.put != nil {
		if len(c.body) > 0 {
			it.body = numberedBody{id: s.qm.numbers.next(), data: c.body}
		}
		c.put.Body = qmgr.BodyRef{ID: it.body.id, Len: len(c.body)}
		c.req = *c.put
	}
	it.event = qmgr.Call{Conn: s.id, Tag: c.tag, Request: c.req}
	s.qm.mailbox.post(it)
	return nil
}

// sample answers without the actor.
func (s *session) sample(c *clientCall) error {
	rows := sampleSince(s.qm.samples, c.since)
	if c.attributes {
		rows.known = nil
	}
	return s.answer(reply{tag: c.tag, result: rows})
}

// answer sends an answer of the session's own. It may wait: only this application waits with it.
func (s *session) answer(rep reply) error {
	b, err := appendReply(nil, &rep)
	if err != nil {
		return err
	}
	return s.link.Send(b)
}

// watch starts the events; an earlier watch of the session ends.
func (s *session) watch(tag uint64) error {
	s.unwatch()
	w := s.qm.watches.subscribe()
	if w == nil {
		return transport.ErrClosed
	}
	if err := s.answer(reply{tag: tag}); err != nil {
		w.cancel()
		return err
	}
	s.cancelWatch = w.cancel
	s.watching.Go(func() {
		var list []Change
		for range w.wake {
			var open bool
			if list, open = w.take(list[:0]); len(list) > 0 {
				if err := s.link.Send(appendChanges(nil, tag, list)); err != nil {
					return // the reader sees the broken link too
				}
			}
			if !open {
				return
			}
		}
	})
	return nil
}

func (s *session) unwatch() {
	if s.cancelWatch != nil {
		s.cancelWatch()
		s.cancelWatch = nil
	}
	s.watching.Wait()
}

// disconnect is MQDISC: the answer goes out when the commit is durable.
func (s *session) disconnect(tag uint64) error {
	s.qm.sinks.remove(s.id)
	gone := make(chan struct{})
	if s.qm.mailbox.post(item{event: qmgr.Disconnect{Conn: s.id}, after: func() { close(gone) }}) {
		<-gone
	}
	s.id = 0
	return errors.Join(io.EOF, s.answer(reply{tag: tag}))
}

// part tells the machine that the application is gone, unless it said so itself.
func (s *session) part() {
	s.unwatch()
	if s.id != 0 {
		s.qm.sinks.remove(s.id)
		s.qm.mailbox.post(item{event: qmgr.Disconnect{Conn: s.id, Abrupt: true}})
	}
}

// deliver sends an answer of the machine.
func (s *session) deliver(rep reply) {
	if rep.tag == 0 || s.broken.Load() {
		return
	}
	s.outstanding.Add(-1)
	var err error
	if s.buf, err = appendReply(s.buf[:0], &rep); err == nil {
		err = s.link.Offer(s.buf, rep.body)
	}
	if err != nil {
		s.breakOff(err)
	}
}

func (s *session) sayUnread() {
	s.qm.say("AMQ9206E", "Process %s does not read its answers; its connection was ended.", s.who())
}

func (s *session) lost(error) { s.breakOff(nil) }

// breakOff ends the connection from the releasing goroutine, which must not
// wait for the bytes that are still queued.
func (s *session) breakOff(err error) {
	if s.broken.Swap(true) {
		return
	}
	if errors.Is(err, transport.ErrFull) {
		s.sayUnread()
	}
	s.qm.locals.wg.Go(func() {
		if err := s.link.Close(); err != nil {
			s.qm.say("AMQ9206W", "Error closing a local application's connection: %v", err)
		}
	})
}
