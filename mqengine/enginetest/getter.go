package enginetest

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// getter reads a queue of its own queue manager, alone or in units of work. Its
// handle makes the queue a served one, sometimes for a while only.
type getter struct {
	queue  string
	drains bool // goes on when the cluster is calm, without pauses
	handle uint32
	unit   []*message
	commit bool     // MQCMIT is open
	made   []string // bodies that the dead queue manager had handed out without a syncpoint
	done   bool     // it had carried out the open MQCMIT
	lost   bool     // the queue was deleted under the handle
}

func (g *getter) connected(a *app) {
	g.unit, g.commit, g.done, g.lost = nil, false, false, false
	a.open(g.queue, mqi.MQOO_INPUT_SHARED, func(h uint32) {
		g.handle = h
		g.next(a)
	})
}

func (g *getter) next(a *app) {
	if g.drains != a.s.calm {
		if g.drains {
			a.later(time.Second, func() { g.next(a) })
		} else { // make room for those that drain
			a.call(qmgr.CloseReq{Handle: g.handle}, func(answer) {})
		}
		return
	}
	size := 0
	if a.s.chance(a.s.cfg.syncpoint) {
		size = 1 + a.s.rng.IntN(6)
	}
	g.get(a, size)
}

// get gets one message; left is how many more the unit takes, 0 for no syncpoint.
func (g *getter) get(a *app, left int) {
	gmo := mqi.GMO{Options: mqi.MQGMO_WAIT | mqi.MQGMO_NO_SYNCPOINT, WaitInterval: 700, MaxLength: -1}
	if left > 0 {
		gmo.Options = mqi.MQGMO_WAIT | mqi.MQGMO_SYNCPOINT
	}
	a.call(qmgr.GetReq{Handle: g.handle, GMO: gmo}, func(ans answer) { g.got(a, left, ans) })
}

// deadHeader is the length of the MQDLH in front of a dead letter.
const deadHeader = 172

// undeliverable are the reasons for which something may be on a dead-letter queue in a run.
var undeliverable = []mqi.Reason{
	mqi.MQRC_PUT_INHIBITED, mqi.MQRC_CLUSTER_PUT_INHIBITED, mqi.MQRC_Q_FULL, mqi.MQRC_Q_SPACE_NOT_AVAILABLE, mqi.MQRC_UNKNOWN_OBJECT_NAME,
	mqi.MQRC_NO_DESTINATIONS_AVAILABLE, mqi.MQRC_CLUSTER_RESOLUTION_ERROR, mqi.MQFB_BIND_OPEN_CLUSRCVR_DEL,
}

// checkDeadLetter: it says where the message should have gone, and a reason that occurs.
func (a *app) checkDeadLetter(body []byte) {
	m := a.s.ledger.messages[string(body[deadHeader:])]
	if m == nil {
		return // handed tells
	}
	why, queue := mqi.Reason(binary.LittleEndian.Uint32(body[8:])), strings.TrimSpace(string(body[12:60]))
	if queue != m.queue || !slices.Contains(undeliverable, why) {
		a.s.fail("%s at %s got the dead letter %s, which says %v for %s and was put to %s", a.name, a.n.name, m.text, why, queue, m.queue)
	}
}

func (g *getter) got(a *app, left int, ans answer) {
	if ans.CompCode == mqi.MQCC_FAILED {
		switch ans.Reason {
		case mqi.MQRC_NO_MSG_AVAILABLE:
		case mqi.MQRC_Q_DELETED, mqi.MQRC_OBJECT_CHANGED:
			g.lost = true
		default:
			a.s.fail("%s at %s: get: %v", a.name, a.n.name, ans.Reason)
		}
		g.finish(a)
		return
	}
	a.s.counts.Gets++
	a.s.printf("%s at %s got %s, syncpoint %v", a.name, a.n.name, ans.body, left > 0)
	dead := strings.HasPrefix(g.queue, "SYSTEM.DEAD")
	if dead {
		a.checkDeadLetter(ans.body)
		ans.body = ans.body[deadHeader:]
	}
	m := a.s.ledger.handed(a, g.queue, ans, dead)
	if m == nil {
		return
	}
	if left > 0 {
		m.holder = a
		m.held++
		g.unit = append(g.unit, m)
	} else {
		m.read++
	}
	if left > 1 {
		g.get(a, left-1)
		return
	}
	g.finish(a)
}

// finish commits the unit, mostly.
func (g *getter) finish(a *app) {
	if len(g.unit) == 0 {
		g.pause(a)
		return
	}
	choice := a.s.rng.IntN(10)
	switch {
	case choice == 0 && !a.s.calm:
		a.s.counts.Backouts++
		// From the call on the next getter may have them.
		unit := g.unit
		g.unit = nil
		for _, m := range unit {
			m.holder = nil
		}
		a.call(qmgr.BackReq{}, func(answer) { g.pause(a) })
	case choice == 1 && !a.s.calm:
		a.s.counts.Backouts++
		g.let(0)
		a.leave(true)
		a.later(a.s.between(0, a.s.cfg.thinkMax), a.connect)
	default:
		g.commit, g.done = true, false
		a.s.printf("%s at %s commits %d gets", a.name, a.n.name, len(g.unit))
		a.call(qmgr.CommitReq{}, func(answer) {
			g.commit = false
			for _, m := range g.unit {
				m.holder = nil
				m.read++
			}
			g.unit = nil
			g.pause(a)
		})
	}
}

// let gives the messages of the unit back; maybe is 1 if they may be gone.
func (g *getter) let(maybe int) {
	for _, m := range g.unit {
		m.holder = nil
		m.maybe += maybe
	}
	g.unit = nil
}

// pause goes on after a while, sometimes after a long one without a handle.
func (g *getter) pause(a *app) {
	switch {
	case g.lost:
		a.leave(false)
		a.later(time.Second, a.connect)
	case a.s.calm:
		g.next(a)
	case a.s.rng.IntN(30) == 0:
		a.s.counts.Visits++
		a.leave(false)
		a.later(a.s.between(time.Second, 10*time.Second), a.connect)
	default:
		a.later(a.s.between(0, a.s.cfg.thinkMax), func() { g.next(a) })
	}
}

func (g *getter) unsent(a *app, ans answer) {
	if g.commit {
		g.done = true
		return
	}
	res, ok := ans.Result.(*qmgr.GetResult)
	if !ok || res == nil || len(g.unit) > 0 {
		return
	}
	if strings.HasPrefix(g.queue, "SYSTEM.DEAD") {
		ans.body = ans.body[deadHeader:]
	}
	g.made = append(g.made, string(ans.body))
}

// died: with the connection goes the unit, unless its commit was carried out.
func (g *getter) died(a *app) {
	for _, text := range g.made {
		// A get under syncpoint only counts too much here: it is backed out.
		if m := a.s.ledger.messages[text]; m != nil {
			m.maybe++
			a.s.counts.UnknownGets++
		}
	}
	g.made = nil
	if g.commit && g.done {
		a.s.counts.UnknownGets += len(g.unit)
		a.s.ledger.gets = append(a.s.ledger.gets, g.unit)
		g.let(1)
		return
	}
	g.let(0)
}
