package adapt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/redistribute"
)

// Foresee says what an order would do that was given now.
func (m *Mover) Foresee(ctx context.Context, o actions.Order) (redistribute.Forecast, error) {
	q := m.queue(o)
	job := m.job(o, q)
	return job.Foresee(ctx, q.Routes)
}

// Prevented says what keeps an order from beginning now, nil if nothing does.
func (m *Mover) Prevented(ctx context.Context, o actions.Order) (*redistribute.End, error) {
	q := m.queue(o)
	state, err := q.Look(ctx)
	if err != nil {
		return nil, err
	}
	routes, err := q.Routes(ctx)
	if err != nil {
		return nil, err
	}
	return redistribute.Prevented(rulesOf(o), state, routes), nil
}

// queue is the queue of an order.
func (m *Mover) queue(o actions.Order) *movingQueue { return &movingQueue{link: m.link, order: o} }

// job is the run of an order on its queue.
func (m *Mover) job(o actions.Order, q *movingQueue) redistribute.Job {
	return redistribute.Job{Name: o.Queue, Queue: q, Ledger: m.ledger, Rules: rulesOf(o)}
}

// Routes asks the queue manager where a message would go that is put here now.
func (q *movingQueue) Routes(ctx context.Context) (redistribute.Routes, error) {
	conn, _, err := q.link.Conn()
	if err != nil {
		return redistribute.Routes{}, err
	}
	here, _ := conn.QMgr()
	routes := redistribute.Routes{Here: here, Remedy: fmt.Sprintf("take this instance out of the balancing first: ALTER %s(%s) PUT(DISABLED)", q.order.Type, q.order.Queue)}
	x, err := conn.Explain(ctx, qmgr.ExplainReq{Queue: q.order.Queue, Moving: true})
	if err == nil {
		routes.Share, routes.Reason = x.Share, x.Reason
		return routes, nil
	}
	var failed *mqi.Error
	if broken(err) || !errors.As(err, &failed) {
		return routes, unavailable(q.link, conn, err)
	}
	routes.Reason = failed.Reason.Error()
	if failed.Detail != "" {
		routes.Reason += ": " + failed.Detail
	}
	return routes, nil
}

// Ask has the queue manager subscribe to a cluster queue, and waits until the
// full repositories have answered or ctx ends: before that nothing is known of
// its other instances, and no message moves.
func (l *Link) Ask(ctx context.Context, queue string) error {
	const again = 50 * time.Millisecond
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		conn, _, err := l.Conn()
		if err != nil {
			return err
		}
		known, err := asked(ctx, conn, queue)
		if err != nil {
			return unavailable(l, conn, err)
		}
		if known {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func asked(ctx context.Context, conn mqengine.Conn, queue string) (bool, error) {
	result, err := conn.Instances(ctx, qmgr.InstancesReq{Queues: []string{queue}, Subscribe: true})
	return err == nil && len(result.Known) > 0 && result.Known[0], err
}
