package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// deliver puts a message that came in over a channel to where it goes: targetQ
// and targetQMgr say it. A message that is not fixed is resolved again, so that
// a queue that was put-inhibited meanwhile sends it on to another instance. On
// failure nothing has happened and the reason says why; deadLetter is next.
func (m *Machine) deliver(now time.Time, fx *Effects, msg *message) mqi.Reason {
	to, reason := m.resolveArrival(resolving{now: now, fx: fx, last: true}, msg)
	if reason != mqi.MQRC_NONE {
		return reason
	}
	before := [3]string{msg.targetQ, msg.targetQMgr, msg.channel}
	q := to.Queue
	if to.Status == routeTransmit {
		q = to.XmitQ
		msg.address(&to, msg.bind)
	} else {
		msg.targetQ, msg.targetQMgr, msg.channel = "", "", ""
	}
	if reason = m.putMessage(now, fx, nil, q, msg); reason != mqi.MQRC_NONE {
		msg.targetQ, msg.targetQMgr, msg.channel = before[0], before[1], before[2]
	}
	return reason
}

// resolveArrival finds where an arrived message goes.
func (m *Machine) resolveArrival(r resolving, msg *message) (routeResult, mqi.Reason) {
	qmgr, xmitQ := msg.targetQMgr, ""
	if alias := m.qmgrAlias(qmgr); alias != nil {
		if !alias.attr.put {
			return routeResult{}, mqi.MQRC_PUT_INHIBITED
		}
		qmgr, xmitQ = alias.attr.rqmname, alias.attr.xmitq
	}
	if qmgr != "" && qmgr != m.name {
		d, reason := m.resolveRemote(r, destination{name: msg.targetQ, qmgr: qmgr}, xmitQ)
		return d.decided(m.name), reason
	}
	fixed := qmgr == m.name
	q := m.catalog.queues[msg.targetQ]
	switch {
	case q == nil:
	case !fixed && q.attr.clustered() && q.def.Kind() != object.QRemote:
	case q.def.Kind() == object.QLocal:
		return routeResult{Status: routeLocal, Queue: q}, mqi.MQRC_NONE
	default:
		return m.resolveThrough(r, msg, q)
	}
	if fixed {
		return routeResult{}, mqi.MQRC_UNKNOWN_OBJECT_NAME
	}
	return m.routeArrival(r, msg.targetQ, msg.fromCluster)
}

// resolveThrough resolves an arrived message through an alias or a definition of a remote queue.
func (m *Machine) resolveThrough(r resolving, msg *message, q *queue) (routeResult, mqi.Reason) {
	d := destination{name: q.name, qmgr: msg.targetQMgr, bind: bindNotFixed}
	var reason mqi.Reason
	switch q.def.Kind() {
	case object.QAlias:
		d, reason = m.resolveAlias(r, d, q)
	case object.QRemote:
		d.qmgr = ""
		d, reason = m.resolveDefinition(r, d, q)
	default:
		return routeResult{}, mqi.MQRC_Q_TYPE_ERROR
	}
	if reason != mqi.MQRC_NONE {
		return routeResult{}, reason
	}
	for _, q := range d.path {
		if q != nil && !q.attr.put {
			return routeResult{}, mqi.MQRC_PUT_INHIBITED
		}
	}
	if d.routed {
		return m.routeArrival(r, d.name, msg.fromCluster)
	}
	return d.decided(m.name), mqi.MQRC_NONE
}

func (m *Machine) routeArrival(r resolving, name string, fromCluster bool) (routeResult, mqi.Reason) {
	res := m.route(r.now, r.fx, routeRequest{Name: name, Bind: bindNotFixed, FromCluster: fromCluster, Deadline: true, Choice: r.choice})
	switch res.Status {
	case routeFailed:
		return res, res.Reason
	case routeWait:
		return res, mqi.MQRC_CLUSTER_RESOLUTION_ERROR
	default:
		return res, mqi.MQRC_NONE
	}
}

// decided is the destination as a route, if nothing is left to choose.
func (d *destination) decided(own string) routeResult {
	if d.local != nil {
		return routeResult{Status: routeLocal, Queue: d.local, TargetQ: d.local.name, TargetQMgr: own}
	}
	return d.fixed
}

// deadLetter puts an undeliverable message to the dead-letter queue with its
// MQDLH. A failure means that there is none that takes it; the message is
// unchanged then.
func (m *Machine) deadLetter(now time.Time, fx *Effects, msg *message, why mqi.Reason) mqi.Reason {
	if m.limits.deadQ == "" {
		return mqi.MQRC_UNKNOWN_OBJECT_NAME
	}
	q := m.localBase(m.limits.deadQ)
	switch {
	case q == nil:
		return mqi.MQRC_UNKNOWN_OBJECT_NAME
	case q.attr.xmit:
		return mqi.MQRC_Q_TYPE_ERROR
	}
	dead := *msg
	dead.dead = &deadLetter{reason: why, destQ: msg.targetQ, destQMgr: msg.targetQMgr, putBy: m.name, at: now.UnixMilli()}
	if dead.dead.destQMgr == "" {
		dead.dead.destQMgr = m.name
	}
	dead.targetQ, dead.targetQMgr, dead.channel = "", "", ""
	return m.putMessage(now, fx, nil, q, &dead)
}

// internalMessage is a command of the cluster as a message without a body. Who
// makes it sets where it goes.
func (m *Machine) internalMessage(now time.Time, payload []byte) *message {
	msg := &message{md: mqi.NewMD(), payload: payload, bind: bindOnOpen, addressed: true, origin: m.qmid}
	msg.md.MsgId = m.ids.next()
	msg.md.Format = "MQADMIN"
	msg.md.Priority, msg.md.Persistence = 0, mqi.MQPER_PERSISTENT
	msg.md.PutApplType, msg.md.PutApplName, msg.md.PutDateTime = applTypeUnix, m.name, now.UnixMilli()
	return msg
}
