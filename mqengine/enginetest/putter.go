package enginetest

import (
	"fmt"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// putter puts messages with bodies of their own, alone or in units of work, to
// one queue after the other.
type putter struct {
	left   int
	count  int
	handle uint32
	to     route

	group *group
	unit  []*message // put under the syncpoint that is open
	one   *message   // whose put is not answered
	end   putState   // what becomes of the unit if the open MQCMIT or MQBACK works
	made  bool       // the dead queue manager had carried the open call out
}

// route is what a handle was opened for.
type route struct {
	queue string
	qmgr  string // named by the application
	bind  int32
	fixed string // the queue manager that a handle bound on open goes to
}

func (p *putter) connected(a *app) {
	p.unit, p.one, p.made, p.end, p.group = nil, nil, false, putFailed, nil
	p.open(a)
}

// drawRoute decides where the next handle leads.
func (s *sim) drawRoute() route {
	q := pick(s.rng, s.queues...)
	to := route{queue: q.name, bind: pick(s.rng, mqi.MQOO_BIND_NOT_FIXED, mqi.MQOO_BIND_NOT_FIXED, mqi.MQOO_BIND_AS_Q_DEF)}
	switch {
	case s.chance(s.cfg.onOpen):
		to.bind = mqi.MQOO_BIND_ON_OPEN
	case s.chance(s.cfg.addressed):
		to.qmgr = pick(s.rng, q.hosts...).name
	case s.chance(s.cfg.grouped):
		to.bind = mqi.MQOO_BIND_ON_GROUP
	}
	return to
}

// open opens a queue, another one if that fails.
func (p *putter) open(a *app) {
	to := a.s.drawRoute()
	check := to.bind == mqi.MQOO_BIND_ON_OPEN && a.s.chance(a.s.cfg.oracle)
	var may permitted
	if check {
		may = a.n.permit(to.queue)
	}
	a.call(qmgr.OpenReq{OD: mqi.OD{ObjectName: to.queue, ObjectQMgrName: to.qmgr}, Options: mqi.MQOO_OUTPUT | to.bind}, func(ans answer) {
		if ans.CompCode == mqi.MQCC_FAILED {
			a.s.printf("%s: open %s: %v", a.name, to.queue, ans.Reason)
			p.refused(a, ans.Reason)
			a.later(a.s.between(100*time.Millisecond, time.Second), func() { p.open(a) })
			return
		}
		res := ans.Result.(qmgr.OpenResult)
		p.handle, p.to = res.Handle, to
		if to.bind == mqi.MQOO_BIND_ON_OPEN {
			p.to.fixed = res.ResolvedQMgrName
		}
		p.next(a)
	})
	if check && a.decided() {
		a.checkChoice(to.queue, may)
	}
}

// next begins a unit of work, or puts one message without.
func (p *putter) next(a *app) {
	if p.left <= 0 || a.s.calm {
		return
	}
	size := 0 // no syncpoint
	if p.to.bind == mqi.MQOO_BIND_ON_GROUP || a.s.chance(a.s.cfg.syncpoint) {
		size = 1 + a.s.rng.IntN(8)
	}
	a.later(a.s.between(0, a.s.cfg.thinkMax), func() {
		p.group = nil
		if p.to.bind == mqi.MQOO_BIND_ON_GROUP {
			p.group = &group{}
		}
		p.put(a, size)
	})
}

// descriptor draws a message.
func (p *putter) descriptor(a *app, left int) mqi.MD {
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_NOT_PERSISTENT
	if a.s.chance(a.s.cfg.persistent) {
		md.Persistence = mqi.MQPER_PERSISTENT
	}
	md.Priority = int32(a.s.rng.IntN(3) * 4)
	switch {
	case p.group != nil: // of one kind, and it does not expire in parts
		md.Persistence, md.Priority, md.MsgFlags = mqi.MQPER_PERSISTENT, 4, mqi.MQMF_MSG_IN_GROUP
		if left <= 1 {
			md.MsgFlags = mqi.MQMF_LAST_MSG_IN_GROUP
		}
	case a.s.chance(a.s.cfg.expiring):
		md.Expiry = pick(a.s.rng, int32(1), 20, 300, 400*86400*10)
	}
	return md
}

// put puts one message; left is how many more the unit takes, 0 for none at all.
func (p *putter) put(a *app, left int) {
	p.left--
	p.count++
	md := p.descriptor(a, left)
	m := p.message(a, &md)
	pmo := mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT}
	if left > 0 {
		pmo.Options = mqi.MQPMO_SYNCPOINT
	}
	if p.group != nil {
		pmo.Options |= mqi.MQPMO_LOGICAL_ORDER
		p.group.messages = append(p.group.messages, m)
	}
	p.one, p.made = m, false
	a.s.printf("%s puts %s to %s %s, syncpoint %v, persistent %v", a.name, m.text, p.to.queue, p.to.qmgr, left > 0, m.persistent)
	check := p.to.bind == mqi.MQOO_BIND_NOT_FIXED && p.to.qmgr == "" && a.s.chance(a.s.cfg.oracle)
	var may permitted
	if check {
		may = a.n.permit(p.to.queue)
	}
	a.call(qmgr.PutReq{Handle: p.handle, MD: md, PMO: pmo, Body: a.n.newBody([]byte(m.text))}, func(ans answer) {
		p.one = nil
		p.answered(a, m, left, ans)
	})
	if check && a.decided() {
		a.checkChoice(m.queue, may)
	}
}

// message makes the entry of what is about to be put.
func (p *putter) message(a *app, md *mqi.MD) *message {
	m := &message{
		text: fmt.Sprintf("%s-%d", a.name, p.count), number: p.count, queue: p.to.queue, at: a.n, life: a.n.life, called: a.s.now,
		bound: p.to.bind == mqi.MQOO_BIND_ON_OPEN || p.to.qmgr != "", addressed: p.to.qmgr != "", group: p.group, priority: md.Priority,
		persistent: md.Persistence == mqi.MQPER_PERSISTENT,
		putter:     fmt.Sprintf("%s/%d/%d", a.name, md.Priority, md.Persistence),
	}
	const long = 86400 * 10 // such a life does not end in a run
	if md.Expiry > 0 && md.Expiry < long {
		m.expires = a.s.now.Add(time.Duration(md.Expiry) * 100 * time.Millisecond)
	}
	a.s.ledger.add(m)
	a.s.counts.Puts++
	if !m.persistent {
		a.s.counts.Nonpersistent++
	}
	switch {
	case p.to.qmgr != "":
		a.s.counts.Addressed++
	case m.bound:
		a.s.counts.Bound++
	}
	return m
}

func (p *putter) answered(a *app, m *message, left int, ans answer) {
	if res, ok := ans.Result.(qmgr.PutResult); ok {
		m.to = res.ResolvedQMgrName
		a.s.ledger.byID[res.MsgId] = m
	}
	failed := ans.CompCode == mqi.MQCC_FAILED
	switch {
	case failed:
		a.s.printf("%s: put %s: %v", a.name, m.text, ans.Reason)
		m.state = putFailed
		p.refused(a, ans.Reason)
	case left > 0:
		m.state = putInUnit
		p.unit = append(p.unit, m)
	default:
		a.s.ledger.settled(m, putDone, ans.made)
	}
	switch {
	case failed && p.group != nil: // half a group is of no use to anybody
		p.back(a)
	case left > 1 && (p.left > 0 || p.group != nil):
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
	case mqi.MQRC_Q_FULL, mqi.MQRC_UNKNOWN_OBJECT_NAME, mqi.MQRC_CLUSTER_RESOLUTION_ERROR, mqi.MQRC_NO_DESTINATIONS_AVAILABLE,
		mqi.MQRC_UNKNOWN_REMOTE_Q_MGR, mqi.MQRC_Q_DELETED, mqi.MQRC_OBJECT_CHANGED:
	default:
		a.s.fail("%s at %s: put: %v", a.name, a.n.name, r)
	}
}

// finish commits the unit, mostly.
func (p *putter) finish(a *app) {
	p.made = false
	a.s.counts.Units++
	switch a.s.rng.IntN(12) {
	case 0:
		p.back(a)
	case 1: // the program is killed: its unit is backed out
		p.settle(a, putFailed, answer{})
		a.leave(true)
		a.later(a.s.between(0, a.s.cfg.thinkMax), a.connect)
	default:
		p.end = putDone
		for _, m := range p.unit {
			m.state = putSending
		}
		a.s.printf("%s commits %d puts", a.name, len(p.unit))
		a.call(qmgr.CommitReq{}, func(ans answer) { p.ended(a, putDone, ans) })
	}
}

func (p *putter) back(a *app) {
	p.end, p.made = putFailed, false
	a.call(qmgr.BackReq{}, func(ans answer) { p.ended(a, putFailed, ans) })
}

func (p *putter) ended(a *app, state putState, ans answer) {
	p.settle(a, state, ans)
	p.again(a)
}

func (p *putter) settle(a *app, state putState, ans answer) {
	for _, m := range p.unit {
		a.s.ledger.settled(m, state, ans.made)
	}
	p.unit = nil
}

// again goes on, sometimes with a new handle, sometimes after a long pause.
func (p *putter) again(a *app) {
	switch a.s.rng.IntN(60) {
	case 0:
		a.s.counts.Visits++
		a.leave(false)
		a.later(a.s.between(time.Second, 10*time.Second), a.connect)
	case 1, 2, 3, 4:
		a.call(qmgr.CloseReq{Handle: p.handle}, func(answer) { p.open(a) })
	default:
		p.next(a)
	}
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
		a.s.ledger.puts = append(a.s.ledger.puts, p.unit)
	}
	p.settle(a, after, answer{})
	p.one, p.made = nil, false
}
