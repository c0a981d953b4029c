package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// routeOwn is a queue of our own, or what an alias or a definition of our own stands for.
func (m *Machine) routeOwn(now time.Time, fx *Effects, rq routeRequest, q *queue) routeResult {
	base := q
	if q.def.Kind() == object.QAlias {
		base = m.catalog.queues[q.attr.target]
	}
	var res routeResult
	switch {
	case base != nil && base.def.Kind() == object.QLocal:
		res = routeResult{Status: routeLocal, Queue: base, TargetQ: q.name, TargetQMgr: m.name}
	case base == nil && (rq.Through || m.cluster.repo == nil):
		return routeResult{Reason: mqi.MQRC_UNKNOWN_ALIAS_BASE_Q}
	case base == nil:
		res = m.routeBase(now, fx, rq, q)
	case base.def.Kind() == object.QRemote && !rq.Through:
		res = m.routeDefinition(now, fx, rq, base)
	default:
		return routeResult{Reason: mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR}
	}
	res.DefBind, res.DefPersist, res.DefPriority = q.attr.defBind, q.attr.defPersist, q.attr.defPriority
	return res
}

// routeBase routes to the cluster queue that an alias of our own stands for.
func (m *Machine) routeBase(now time.Time, fx *Effects, rq routeRequest, alias *queue) routeResult {
	rq.Name, rq.QMgr, rq.Through = alias.attr.target, "", true
	res := m.route(now, fx, rq)
	if res.Status == routeFailed && res.Reason == mqi.MQRC_UNKNOWN_OBJECT_NAME {
		res.Reason = mqi.MQRC_UNKNOWN_ALIAS_BASE_Q
	}
	return res
}

// routeDefinition routes to what a definition of a remote queue of our own names.
func (m *Machine) routeDefinition(now time.Time, fx *Effects, rq routeRequest, q *queue) routeResult {
	r := resolving{now: now, fx: fx, last: rq.Deadline, choice: rq.Choice, through: true}
	if rq.Peek && r.choice == nil {
		r.choice = &choice{} // so that nothing counts
	}
	d, reason := m.resolveDefinition(r, destination{bind: rq.Bind}, q)
	switch {
	case reason == reasonWait:
		return routeResult{Status: routeWait}
	case reason != mqi.MQRC_NONE:
		return routeResult{Reason: reason}
	case !rq.Open && !q.attr.put:
		return routeResult{Reason: mqi.MQRC_PUT_INHIBITED}
	case d.routed:
		rq.Name, rq.QMgr, rq.Through = d.name, "", true
		return m.route(now, fx, rq)
	}
	return d.decided(m.name)
}

// elsewhere reports whether a queue is an alias whose base is not here.
func (m *Machine) elsewhere(q *queue) bool {
	return q.def.Kind() == object.QAlias && m.catalog.queues[q.attr.target] == nil
}

// baseless reports whether a queue is an alias whose base is nowhere. What
// arrives for it goes to another instance.
func (m *Machine) baseless(now time.Time, q *queue) bool {
	return m.elsewhere(q) && len(m.cluster.repo.Instances(now, q.attr.target)) == 0
}
