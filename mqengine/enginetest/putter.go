package enginetest

import (
	"fmt"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// theQueue is the cluster queue of every run.
const theQueue = "DCQ1"

// putter puts messages with bodies of their own, alone or in units of work.
type putter struct {
	onOpen bool
	left   int
	count  int
	handle uint32

	unit []*message // put under the syncpoint that is open
	one  *message   // whose put is not answered
	end  putState   // what becomes of the unit if the open MQCMIT or MQBACK works
	made bool       // the dead queue manager had carried the open call out
}

func (p *putter) options() int32 {
	if p.onOpen {
		return mqi.MQOO_OUTPUT | mqi.MQOO_BIND_ON_OPEN
	}
	return mqi.MQOO_OUTPUT | mqi.MQOO_BIND_NOT_FIXED
}

func (p *putter) connected(a *app) {
	p.unit, p.one, p.made, p.end = nil, nil, false, putFailed
	a.open(theQueue, p.options(), func(h uint32) {
		p.handle = h
		p.next(a)
	})
}

// next begins a unit of work, or puts one message without.
func (p *putter) next(a *app) {
	if p.left <= 0 || a.s.calm {
		return
	}
	size := 0 // no syncpoint
	if a.s.chance(a.s.cfg.syncpoint) {
		size = 1 + a.s.rng.IntN(8)
	}
	a.later(a.s.between(0, a.s.cfg.thinkMax), func() { p.put(a, size) })
}

// put puts one message; left is how many more the unit takes, 0 for none at all.
func (p *putter) put(a *app, left int) {
	p.left--
	p.count++
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_NOT_PERSISTENT
	if a.s.chance(a.s.cfg.persistent) {
		md.Persistence = mqi.MQPER_PERSISTENT
	} else {
		a.s.counts.Nonpersistent++
	}
	md.Priority = int32(a.s.rng.IntN(2) * 5)
	m := &message{
		text: fmt.Sprintf("%s-%d", a.name, p.count), number: p.count, at: a.n, onOpen: p.onOpen,
		persistent: md.Persistence == mqi.MQPER_PERSISTENT,
		putter:     fmt.Sprintf("%s/%d/%d", a.name, md.Priority, md.Persistence),
	}
	a.s.ledger.add(m)
	a.s.counts.Puts++
	pmo := mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT}
	if left > 0 {
		pmo.Options = mqi.MQPMO_SYNCPOINT
	}
	p.one, p.made = m, false
	a.s.printf("%s puts %s, syncpoint %v, persistent %v", a.name, m.text, left > 0, m.persistent)
	a.call(qmgr.PutReq{Handle: p.handle, MD: md, PMO: pmo, Body: a.n.newBody([]byte(m.text))}, func(ans answer) {
		p.one = nil
		p.answered(a, m, left, ans)
	})
}

func (p *putter) answered(a *app, m *message, left int, ans answer) {
	if res, ok := ans.Result.(qmgr.PutResult); ok {
		m.to = res.ResolvedQMgrName
	}
	switch {
	case ans.CompCode == mqi.MQCC_FAILED:
		a.s.printf("%s: put %s: %v", a.name, m.text, ans.Reason)
		m.state = putFailed
		p.refused(a, ans.Reason)
	case left > 0:
		m.state = putInUnit
		p.unit = append(p.unit, m)
	default:
		m.state = putDone
	}
	switch {
	case left > 1 && p.left > 0:
		p.put(a, left-1)
	case left > 0:
		p.finish(a)
	default:
		p.again(a)
	}
}

// refused counts what MQ refuses for good reasons, and fails for all others.
func (p *putter) refused(a *app, r mqi.Reason) {
	switch r {
	case mqi.MQRC_CLUSTER_PUT_INHIBITED, mqi.MQRC_PUT_INHIBITED:
		a.s.counts.Inhibits++
	case mqi.MQRC_Q_SPACE_NOT_AVAILABLE:
		a.s.counts.DiskFull++
	case mqi.MQRC_Q_FULL, mqi.MQRC_UNKNOWN_OBJECT_NAME, mqi.MQRC_CLUSTER_RESOLUTION_ERROR,
		mqi.MQRC_NO_DESTINATIONS_AVAILABLE:
	default:
		a.s.fail("%s at %s: put: %v", a.name, a.n.name, r)
	}
}

// finish commits the unit, mostly.
func (p *putter) finish(a *app) {
	p.made = false
	switch a.s.rng.IntN(12) {
	case 0:
		p.end = putFailed
		a.call(qmgr.BackReq{}, func(answer) { p.ended(a, putFailed) })
	case 1: // the program is killed: its unit is backed out
		p.settle(putFailed)
		a.leave(true)
		a.later(a.s.between(0, a.s.cfg.thinkMax), a.connect)
	default:
		p.end = putDone
		for _, m := range p.unit {
			m.state = putSending
		}
		a.s.printf("%s commits %d puts", a.name, len(p.unit))
		a.call(qmgr.CommitReq{}, func(answer) { p.ended(a, putDone) })
	}
}

func (p *putter) ended(a *app, state putState) {
	p.settle(state)
	p.again(a)
}

func (p *putter) settle(state putState) {
	for _, m := range p.unit {
		m.state = state
	}
	p.unit = nil
}

// again goes on, sometimes with a new handle: bind on open chooses again.
func (p *putter) again(a *app) {
	if a.s.rng.IntN(20) != 0 {
		p.next(a)
		return
	}
	a.call(qmgr.CloseReq{Handle: p.handle}, func(answer) {
		a.open(theQueue, p.options(), func(h uint32) {
			p.handle = h
			p.next(a)
		})
	})
}

func (p *putter) unsent(*app, answer) { p.made = true }

// died: an answer that was made may have become true. Without one nothing did.
func (p *putter) died(a *app) {
	after := putFailed
	if p.made && p.end == putDone {
		after = putUnknown
	}
	if p.one != nil {
		p.one.state = putFailed
		if p.made && len(p.unit) == 0 {
			p.one.state = putUnknown
			a.s.counts.UnknownPuts++
		}
		after = putFailed // a put was open, not the commit
	}
	if after == putUnknown {
		a.s.counts.UnknownPuts += len(p.unit)
	}
	p.settle(after)
	p.one, p.made = nil, false
}
