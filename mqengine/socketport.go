package mqengine

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/transport"
)

// socketPort is a connection to a queue manager of another process. One
// goroutine reads its answers.
type socketPort struct {
	link   transport.Link
	name   string
	qmid   string
	calls  *calls
	reader sync.WaitGroup
	bufs   sync.Pool
	once   sync.Once
	left   atomic.Bool // we disconnected, so the end of the connection is no loss

	hub     *watchHub // this connection's watchers, fed by the reader
	streams sync.WaitGroup
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	watchMu sync.Mutex
	watches bool // the queue manager sends events

	sampleMu sync.Mutex
	sampled  uint64 // revision of which attrs is complete; 0: it is not
	attrs    map[string]*qmgr.QueueAttributes
}

var _ port = (*socketPort)(nil)

// Dial connects to the queue manager that serves the socket in folder (see
// Folder). Of appl only Tag and Owner are sent: the kernel says the rest. A blank
// name takes whichever queue manager answers. 2058: there is none; 2059: it does not run.
func Dial(ctx context.Context, folder, name string, appl qmgr.Appl) (Conn, error) {
	p, err := dialSocket(ctx, folder, name, appl)
	if err != nil {
		return nil, err
	}
	return newClient(p), nil
}

func dialSocket(ctx context.Context, folder, name string, appl qmgr.Appl) (*socketPort, error) {
	if there, err := exists(folder); err != nil {
		return nil, dialError(name, err)
	} else if !there {
		return nil, mqi.Errorf("MQCONN", name, mqi.MQRC_Q_MGR_NAME_ERROR, "there is no folder %s", folder)
	}
	link, err := transport.Unix(localLinks()).Dial(ctx, SocketPath(folder))
	if err != nil {
		return nil, dialError(name, err)
	}
	p, err := greetServer(link, name, appl)
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	return p, nil
}

func dialError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return mqi.Errorf("MQCONN", name, mqi.MQRC_Q_MGR_NOT_AVAILABLE, "the queue manager does not run")
	case errors.Is(err, fs.ErrPermission):
		return mqi.Errorf("MQCONN", name, mqi.MQRC_NOT_AUTHORIZED, "%v", err)
	}
	return mqi.Errorf("MQCONN", name, mqi.MQRC_Q_MGR_NOT_AVAILABLE, "%v", err)
}

// greetServer says hello and begins to read.
func greetServer(link transport.Link, name string, appl qmgr.Appl) (*socketPort, error) {
	h := hello{Version: ProtocolVersion, QMgr: name, Tag: appl.Tag, Owner: appl.Owner}
	err := link.Send(h.encode())
	var frame []byte
	if err == nil {
		frame, err = link.Receive()
	}
	if err != nil {
		return nil, mqi.Errorf("MQCONN", name, mqi.MQRC_Q_MGR_NOT_AVAILABLE, "%v", err)
	}
	w, err := decodeWelcome(frame)
	if err != nil {
		var refused *mqi.Error
		if errors.As(err, &refused) {
			refused.Object = name
			return nil, refused
		}
		return nil, mqi.Errorf("MQCONN", name, mqi.MQRC_Q_MGR_NOT_AVAILABLE, "%v", err)
	}
	p := &socketPort{link: link, name: w.QMgr, qmid: w.QMID, calls: newCalls(), hub: newWatchHub()}
	p.bufs.New = func() any { return new([]byte) }
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.reader.Go(p.read)
	return p, nil
}

// read is the reader's goroutine: it gives answers to their calls.
func (p *socketPort) read() {
	names := make(interner)
	for {
		frame, err := p.link.Receive()
		if err != nil {
			p.lose(connectionBroken("the queue manager ended the connection"))
			return
		}
		rep, list, err := decodeAnswer(frame, names)
		switch {
		case err != nil:
			p.lose(connectionBroken("an answer of the queue manager is not valid: " + err.Error()))
			return
		case list != nil:
			p.hub.tell(list)
		case !p.calls.finish(rep):
			p.calls.late()
		}
	}
}

// lose ends everything that waits. The reader does it, and the disconnect.
func (p *socketPort) lose(err error) {
	if p.left.Load() {
		err = errDisconnected
	}
	p.calls.fail(err)
	p.hub.close()
	p.cancel()
}

func (p *socketPort) roundTrip(ctx context.Context, req qmgr.Request, body []byte) (reply, error) {
	c, tag, err := p.calls.begin(ctx)
	if err != nil {
		return reply{}, err
	}
	if err := p.send(tag, req, body); err != nil {
		if !p.calls.abandon(tag) {
			p.calls.late()
			return reply{}, err
		}
		<-c.done
		return p.calls.end(c)
	}
	var cancel func() error
	if mayWait(req) {
		cancel = func() error { return p.send(0, qmgr.CancelReq{Tag: tag}, nil) }
	}
	return p.calls.wait(ctx, c, tag, cancel)
}

func (p *socketPort) send(tag uint64, req qmgr.Request, body []byte) error {
	buf := p.bufs.Get().(*[]byte)
	defer p.bufs.Put(buf)
	b, err := appendRequest((*buf)[:0], tag, req)
	if err != nil {
		return err
	}
	*buf = b
	return p.transmit(b, body)
}

// transmit sends a frame. A link that takes nothing any more is a lost queue manager.
func (p *socketPort) transmit(parts ...[]byte) error {
	err := p.link.Send(parts...)
	if err == nil || errors.Is(err, transport.ErrTooLong) {
		return err
	}
	lost := connectionBroken(err.Error())
	p.calls.fail(lost)
	return lost
}

// ask sends a frame of the port's own and waits for its answer.
func (p *socketPort) ask(ctx context.Context, frame func(b []byte, tag uint64) []byte) (reply, error) {
	c, tag, err := p.calls.begin(ctx)
	if err != nil {
		return reply{}, err
	}
	if err := p.transmit(frame(nil, tag)); err != nil {
		<-c.done // transmit failed every call
		_, _ = p.calls.end(c)
		return reply{}, err
	}
	return p.calls.wait(ctx, c, tag, nil)
}

// sample asks for attributes only when it has none of that revision: they
// hardly ever change, and a sample of many queues comes every second.
func (p *socketPort) sample(ctx context.Context, since uint64) (*Sample, error) {
	p.sampleMu.Lock()
	defer p.sampleMu.Unlock()
	whole := since == 0 || since != p.sampled
	rep, err := p.ask(ctx, func(b []byte, tag uint64) []byte {
		b = wire.AppendUint(appendHead(b, kindSample, tag), since)
		return wire.AppendBool(b, whole)
	})
	if err != nil {
		return nil, err
	}
	rows, ok := rep.result.(*sampleRows)
	if !ok {
		return nil, noResult("SAMPLE", "")
	}
	p.remember(rows, whole)
	return &rows.Sample, nil
}

// remember fills in the attributes that did not travel, and keeps those that did.
func (p *socketPort) remember(rows *sampleRows, whole bool) {
	if whole && !rows.Full {
		return // a part of a history that is not ours
	}
	if rows.Full {
		p.attrs = make(map[string]*qmgr.QueueAttributes, len(rows.Queues))
	}
	for _, name := range rows.Deleted {
		delete(p.attrs, name)
	}
	for i := range rows.Queues {
		q := &rows.Queues[i]
		if rows.known[i] {
			q.Attributes = p.attrs[q.Name]
		} else {
			p.attrs[q.Name] = q.Attributes
		}
	}
	p.sampled = rows.Revision
}

// watch asks for events once; further watches of the connection share them.
func (p *socketPort) watch(ctx context.Context) (<-chan Change, error) {
	p.watchMu.Lock()
	defer p.watchMu.Unlock()
	w := p.hub.subscribe()
	if w == nil {
		return nil, connectionBroken("the connection has ended")
	}
	if !p.watches {
		if _, err := p.ask(ctx, func(b []byte, tag uint64) []byte { return appendHead(b, kindWatch, tag) }); err != nil {
			w.cancel()
			return nil, err
		}
		p.watches = true
	}
	out := make(chan Change)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, cancel)
	p.streams.Go(func() {
		defer cancel()
		defer stop()
		w.stream(ctx, out)
	})
	return out, nil
}

// disconnect is MQDISC. A queue manager that is gone already is no error: what
// was not committed is backed out.
func (p *socketPort) disconnect(ctx context.Context) error {
	var err error
	p.once.Do(func() {
		p.left.Store(true)
		_, err = p.ask(ctx, func(b []byte, tag uint64) []byte { return appendHead(b, kindDisconnect, tag) })
		if r := mqi.ReasonOf(err); r == mqi.MQRC_CONNECTION_BROKEN || r == mqi.MQRC_HCONN_ERROR {
			err = nil
		}
		err = errors.Join(err, p.close())
	})
	return err
}

// end asks the queue manager to end.
func (p *socketPort) end(ctx context.Context, mode EndMode) error {
	_, err := p.ask(ctx, func(b []byte, tag uint64) []byte {
		return mode.append(appendHead(b, kindEnd, tag))
	})
	return err
}

// close drops the connection and waits for its goroutines.
func (p *socketPort) close() error {
	p.left.Store(true)
	p.lose(errDisconnected)
	err := p.link.Close()
	p.reader.Wait()
	p.streams.Wait()
	return err
}

func (p *socketPort) names() (name, qmid string) { return p.name, p.qmid }
