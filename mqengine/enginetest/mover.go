package enginetest

import (
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// mover moves messages away while its instance is put-inhibited, as the daemon does.
type mover struct{}

func (v *mover) connected(a *app) { v.next(a) }
func (*mover) died(*app)          {}
func (*mover) unsent(*app, answer) {
}

func (v *mover) next(a *app) {
	if a.s.calm {
		return
	}
	a.later(a.s.between(0, 2*a.s.cfg.moveEvery), func() { v.look(a) })
}

// look moves only if the queue is put-inhibited here.
func (v *mover) look(a *app) {
	queue := pick(a.s.rng, a.s.queues...).name
	a.call(qmgr.InstancesReq{Queues: []string{queue}}, func(ans answer) {
		res := ans.Result.(*qmgr.InstancesResult)
		for _, in := range res.Instances {
			if in.Local && !in.Put {
				v.move(a, qmgr.MoveReq{From: queue, To: queue, Max: 1 + a.s.rng.IntN(50), Group: a.s.rng.IntN(100)})
				return
			}
		}
		v.next(a)
	})
}

func (v *mover) move(a *app, req qmgr.MoveReq) {
	a.call(req, func(ans answer) {
		res, ok := ans.Result.(*qmgr.MoveResult)
		if ans.CompCode == mqi.MQCC_FAILED || !ok {
			a.s.printf("%s at %s: move: %v", a.name, a.n.name, ans.Reason)
			v.next(a)
			return
		}
		a.s.counts.Moves += len(res.Moved)
		a.s.ledger.moved(res.Moved)
		a.s.printf("%s at %s moved %d, stopped %q %v", a.name, a.n.name, len(res.Moved), res.Stopped, res.Reason)
		if !res.More || res.Stopped != "" || a.s.calm {
			v.next(a)
			return
		}
		req.After, req.Until = res.Next, res.Horizon
		v.move(a, req)
	})
}
