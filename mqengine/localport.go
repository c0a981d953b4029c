package mqengine

import (
	"context"
	"slices"
	"sync"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// localPort is a connection of this process: calls go straight into the mailbox.
type localPort struct {
	qm     *QueueManager
	id     qmgr.ConnID
	calls  *calls
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	wg     sync.WaitGroup
	once   sync.Once
}

var (
	_ port = (*localPort)(nil)
	_ sink = (*localPort)(nil)
)

// Connect is MQCONN of a program in this process. The connection must be
// disconnected; it ends with the queue manager at the latest.
func (q *QueueManager) Connect(_ context.Context, appl qmgr.Appl) (Conn, error) {
	if q.quiescing() {
		return nil, mqi.Errorf("MQCONN", q.name, mqi.MQRC_Q_MGR_QUIESCING, "the queue manager is ending")
	}
	p := &localPort{qm: q, calls: newCalls()}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	var err error
	if p.id, err = q.sinks.add(p); err == nil && !q.mailbox.post(item{event: qmgr.Connect{Conn: p.id, Appl: appl}}) {
		err = connectionBroken("the queue manager has ended")
	}
	if err != nil {
		p.cancel()
		return nil, callError("MQCONN", q.name, &reply{}, err)
	}
	return newClient(p), nil
}

func (p *localPort) roundTrip(ctx context.Context, req qmgr.Request, body []byte) (reply, error) {
	c, tag, err := p.calls.begin(ctx)
	if err != nil {
		return reply{}, err
	}
	it := item{}
	switch r := req.(type) {
	case *qmgr.PutReq:
		put := *r
		put.Body.Len = len(body)
		if len(body) > 0 {
			// Copied: the caller may use its buffer again once the call returned.
			it.body = numberedBody{id: p.qm.numbers.next(), data: slices.Clone(body)}
			put.Body.ID = it.body.id
		}
		req = put
	case *qmgr.GetReq:
		req = *r
	}
	it.event = qmgr.Call{Conn: p.id, Tag: tag, Request: req}
	if !p.qm.mailbox.post(it) {
		p.calls.fail(connectionBroken("the queue manager has ended"))
	}
	rep, err := p.calls.wait(ctx, c, tag, p.canceller(req, tag))
	rep.body = slices.Clone(rep.body) // a browsed message, or one that is backed out, stays ours
	return rep, err
}

// canceller asks the machine to end a call that may wait; nil for calls that do not.
func (p *localPort) canceller(req qmgr.Request, tag uint64) func() error {
	if !mayWait(req) {
		return nil
	}
	return func() error {
		if !p.qm.mailbox.post(item{event: qmgr.Call{Conn: p.id, Request: qmgr.CancelReq{Tag: tag}}}) {
			return connectionBroken("the queue manager has ended")
		}
		return nil
	}
}

// mayWait reports whether the machine can hold the answer back for longer than a sync.
func mayWait(req qmgr.Request) bool {
	switch req.(type) {
	case qmgr.GetReq, *qmgr.GetReq, qmgr.OpenReq, qmgr.PutReq, *qmgr.PutReq, qmgr.ExplainReq:
		return true
	}
	return false
}

func (p *localPort) sample(_ context.Context, since uint64) (*Sample, error) {
	if p.ctx.Err() != nil {
		return nil, connectionBroken("the connection has ended")
	}
	return &sampleSince(p.qm.samples, since).Sample, nil
}

func (p *localPort) watch(ctx context.Context) (<-chan Change, error) {
	w := p.qm.watches.subscribe()
	if w == nil || p.ctx.Err() != nil {
		if w != nil {
			w.cancel()
		}
		return nil, connectionBroken("the connection has ended")
	}
	out := make(chan Change)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, cancel)
	p.wg.Go(func() {
		defer cancel()
		defer stop()
		w.stream(ctx, out)
	})
	return out, nil
}

func (p *localPort) names() (name, qmid string) { return p.qm.name, p.qm.qmid }

func (p *localPort) disconnect(ctx context.Context) error {
	var err error
	p.once.Do(func() {
		p.qm.sinks.remove(p.id)
		p.calls.fail(errDisconnected)
		p.cancel()
		p.wg.Wait()
		gone := make(chan struct{})
		if !p.qm.mailbox.post(item{event: qmgr.Disconnect{Conn: p.id}, after: func() { close(gone) }}) {
			return // it ended with the queue manager
		}
		select {
		case <-gone:
		case <-ctx.Done():
			err = ctx.Err()
		}
	})
	return err
}

func (p *localPort) deliver(rep reply) {
	if rep.tag != 0 && !p.calls.finish(rep) {
		p.calls.late()
	}
}

func (p *localPort) lost(err error) {
	p.calls.fail(err)
	p.cancel()
}
