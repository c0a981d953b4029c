package simtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/enginetest"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// line is a daemon's connection to its queue manager. What it asks takes a moment
// to get there and its answer a moment to come back, in order; a daemon or a queue
// manager that dies meanwhile leaves a call of which nobody knows what became of it.
type line struct {
	d      *daemon
	sess   *enginetest.Session // the driver's
	qmid   string
	broken chan struct{}
	once   sync.Once
	change chan mqengine.Change
	ending chan struct{} // closed by Disconnect
	gone   sync.Once

	arrive, answer time.Time // of the last call, the driver's
}

var _ mqengine.Conn = (*line)(nil)

var errUnused = errors.New("a daemon does not do this")

func broken(what string) error {
	return mqi.Errorf(what, "", mqi.MQRC_CONNECTION_BROKEN, "the connection is gone")
}

// dial connects, or says that the queue manager is down.
func (d *daemon) dial(ctx context.Context, appl qmgr.Appl) (mqengine.Conn, error) {
	l := &line{d: d, broken: make(chan struct{}), ending: make(chan struct{}), change: make(chan mqengine.Change, 1)}
	done := make(chan error, 1)
	d.ask("connect", func() {
		l.sess = d.h.m.Connect(appl, func() { l.breakOff() })
		if l.sess == nil {
			done <- mqi.Errorf("MQCONN", d.h.name, mqi.MQRC_Q_MGR_NOT_AVAILABLE, "it does not run")
		} else {
			l.qmid = l.sess.QMID()
			d.lines = append(d.lines, l)
			l.sess.Watch(l.told)
			done <- nil
		}
		d.h.w.touched = true
	})
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return l, nil
	case <-d.dead:
		return nil, broken("MQCONN")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask has the driver do something for a daemon that lives.
func (d *daemon) ask(key string, do func()) {
	d.h.w.ask(d.h.number, key, func() {
		if d.alive.Load() {
			do()
		}
	})
}

// breakOff tells everybody who waits that the queue manager is gone.
func (l *line) breakOff() {
	l.once.Do(func() { close(l.broken) })
	l.told()
	l.d.h.w.touched = true
}

// told says that something changed; who has not looked yet need not be told again.
func (l *line) told() {
	select {
	case l.change <- mqengine.Change{}:
		l.d.h.w.touched = true
	default:
	}
}

// later plans something of this connection, after what was planned before it.
func (l *line) later(last *time.Time, do func()) {
	w := l.d.h.w
	now := w.cluster.Now()
	at := now.Add(w.between(0, w.shape.lag))
	if at.Before(*last) {
		at = *last
	}
	*last = at
	w.cluster.After(at.Sub(now), do)
}

// call makes one call: do is what the driver does when it arrives, and then gets the answer on its way.
func (l *line) call(ctx context.Context, what string, do func(then func(any, error))) (any, error) {
	type result struct {
		value any
		err   error
	}
	done := make(chan result, 1)
	l.d.ask(what, func() {
		l.later(&l.arrive, func() {
			if !l.d.alive.Load() {
				return
			}
			do(func(value any, err error) {
				l.later(&l.answer, func() {
					done <- result{value, err}
					l.d.h.w.touched = true
				})
			})
		})
	})
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.broken:
	case <-l.d.dead:
	case <-l.ending:
	}
	return nil, broken(what)
}

// request makes a call to the machine.
func (l *line) request(ctx context.Context, what, object string, req qmgr.Request) (any, error) {
	return l.call(ctx, what+object, func(then func(any, error)) {
		l.d.h.asked(req)
		l.sess.Call(req, func(ans enginetest.Answer) {
			l.d.h.answered(l.d, req, &ans)
			then(ans.Result, ans.Err(what, object))
		})
		l.d.h.asks(l.d, req)
	})
}

func (l *line) Command(ctx context.Context, cmd *mqsc.Command) (mqsc.Result, error) {
	res, err := l.request(ctx, "MQSC", cmd.Name, qmgr.CommandReq{Command: cmd})
	result, _ := res.(mqsc.Result)
	return result, err
}

func (l *line) Move(ctx context.Context, req qmgr.MoveReq) (*qmgr.MoveResult, error) {
	l.d.moves.asks(&req)
	res, err := l.request(ctx, "MOVE", req.From, req)
	result, _ := res.(*qmgr.MoveResult)
	l.d.moves.got(&req, result, err)
	return result, err
}

func (l *line) Instances(ctx context.Context, req qmgr.InstancesReq) (*qmgr.InstancesResult, error) {
	res, err := l.request(ctx, "INSTANCES", "", req)
	if err != nil {
		return nil, err
	}
	result, ok := res.(*qmgr.InstancesResult)
	if !ok {
		return nil, errUnused
	}
	return result, nil
}

func (l *line) Sample(ctx context.Context, since uint64) (*mqengine.Sample, error) {
	res, err := l.call(ctx, "SAMPLE", func(then func(any, error)) {
		s := l.sess.Sample(since)
		l.d.h.sampled(s)
		then(s, nil)
	})
	sample, _ := res.(*mqengine.Sample)
	return sample, err
}

func (l *line) Watch(context.Context) (<-chan mqengine.Change, error) {
	out := make(chan mqengine.Change)
	l.d.h.w.ending.Go(func() {
		defer close(out)
		for {
			select {
			case c := <-l.change:
				select {
				case out <- c:
				case <-l.broken:
					return
				case <-l.d.dead:
					return
				case <-l.ending:
					return
				}
			case <-l.broken:
				return
			case <-l.d.dead:
				return
			case <-l.ending:
				return
			}
		}
	})
	return out, nil
}

func (l *line) QMgr() (name, qmid string) { return l.d.h.name, l.qmid }

func (l *line) Disconnect(context.Context) error {
	l.gone.Do(func() {
		close(l.ending)
		l.d.ask("disconnect", func() { l.sess.Close(false) })
	})
	return nil
}

func (l *line) Open(context.Context, mqi.OD, int32) (mqengine.Handle, qmgr.OpenResult, error) {
	return 0, qmgr.OpenResult{}, errUnused
}
func (l *line) Close(context.Context, mqengine.Handle, int32) error { return errUnused }
func (l *line) Put(context.Context, mqengine.Handle, *mqengine.Message, mqi.PMO) (qmgr.PutResult, error) {
	return qmgr.PutResult{}, errUnused
}
func (l *line) Put1(context.Context, mqi.OD, *mqengine.Message, mqi.PMO) (qmgr.PutResult, error) {
	return qmgr.PutResult{}, errUnused
}
func (l *line) Get(context.Context, mqengine.Handle, mqi.MD, mqi.GMO) (*mqengine.Message, error) {
	return nil, errUnused
}
func (l *line) Commit(context.Context) error { return errUnused }
func (l *line) Back(context.Context) error   { return errUnused }
func (l *line) Explain(context.Context, qmgr.ExplainReq) (*qmgr.Explanation, error) {
	return nil, errUnused
}
