package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// reasonWait is no reason code: the full repositories have been asked and the
// call must be kept until they answer.
const reasonWait mqi.Reason = -1

// sharedTransmitQ is the transmission queue that all cluster senders share.
const sharedTransmitQ = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"

// destination is where puts to an opened name go.
type destination struct {
	bind      bindType
	addressed bool   // the application named a queue manager
	name      string // as the cluster is asked for it
	qmgr      string
	local     *queue      // decided: this local queue
	fixed     routeResult // decided: a transmission queue, if XmitQ is set
	routed    bool        // chosen for each put, or for each group
	byDefault bool        // found through DEFXMITQ
	path      [2]*queue   // definitions passed on the way; their PUT counts too
	// What AS_Q_DEF means: of the first definition on the path, or of the instance found at open.
	defPersist  bool
	defPriority int32
	defSet      bool
	// The choice for the present group (bind on group).
	groupID    mqi.MsgId
	groupRoute routeResult
}

// resolving is one resolution under way.
type resolving struct {
	now  time.Time
	fx   *Effects
	last bool // no more waiting for the repository
	// choice, if set: nothing will be put, and how the instance was chosen is to be told.
	choice *choice
	// through: what is resolved is what a definition of our own stands for.
	through bool
}

// wait is what becomes of a call that would have to wait for the repository.
func (r *resolving) wait() mqi.Reason {
	if r.last {
		return mqi.MQRC_CLUSTER_RESOLUTION_ERROR
	}
	return reasonWait
}

func (d *destination) passes(q *queue) {
	if d.path[0] == nil {
		d.path[0] = q
	} else {
		d.path[1] = q
	}
	d.defaults(q.attr.defPersist, q.attr.defPriority)
}

func (d *destination) defaults(persist bool, priority int32) {
	if !d.defSet {
		d.defPersist, d.defPriority, d.defSet = persist, priority, true
	}
}

// bindOption is the binding that open options ask for.
func bindOption(options int32) bindType {
	switch {
	case options&mqi.MQOO_BIND_ON_OPEN != 0:
		return bindOnOpen
	case options&mqi.MQOO_BIND_NOT_FIXED != 0:
		return bindNotFixed
	case options&mqi.MQOO_BIND_ON_GROUP != 0:
		return bindOnGroup
	}
	return bindAsQDef
}

// awaited is what the repository is asked for while a call waits: the queue
// manager if one is named, else the queue.
func (m *Machine) awaited(d *destination) string {
	if d.qmgr != "" && d.qmgr != m.name {
		return d.qmgr
	}
	return d.name
}

// resolveOutput resolves names for putting. On reasonWait awaited says what is waited for.
func (m *Machine) resolveOutput(r resolving, name, qmgr string, bind bindType) (destination, mqi.Reason) {
	d := destination{name: name, qmgr: qmgr, bind: bind, addressed: qmgr != ""}
	xmitQ := ""
	if alias := m.qmgrAlias(qmgr); alias != nil {
		d.passes(alias)
		d.qmgr, xmitQ = alias.attr.rqmname, alias.attr.xmitq
		d.addressed = d.qmgr != ""
	}
	if d.qmgr != "" && d.qmgr != m.name {
		return m.resolveRemote(r, d, xmitQ)
	}
	q := m.catalog.queues[name]
	if q == nil {
		if d.qmgr != "" {
			return d, mqi.MQRC_UNKNOWN_OBJECT_NAME
		}
		return m.resolveCluster(r, d)
	}
	switch q.def.Kind() {
	case object.QLocal:
		return m.resolveLocal(r, d, q)
	case object.QAlias:
		return m.resolveAlias(r, d, q)
	case object.QRemote:
		return m.resolveDefinition(r, d, q)
	default:
		return d, mqi.MQRC_Q_TYPE_ERROR
	}
}

// qmgrAlias is the queue-manager alias of that name: a QREMOTE without RNAME.
func (m *Machine) qmgrAlias(name string) *queue {
	if name == "" || name == m.name {
		return nil
	}
	if q := m.catalog.queues[name]; q != nil && q.def.Kind() == object.QRemote && q.attr.rname == "" {
		return q
	}
	return nil
}

// resolveLocal: a queue of our own, which may be one instance of several.
func (m *Machine) resolveLocal(r resolving, d destination, q *queue) (destination, mqi.Reason) {
	d.defaults(q.attr.defPersist, q.attr.defPriority)
	if d.qmgr == "" && q.attr.clustered() {
		d.name = q.name
		return m.resolveCluster(r, d)
	}
	d.local = q
	if d.bind == bindAsQDef {
		// Nothing was chosen, so nothing is bound.
		d.bind = bindNotFixed
	}
	return d, mqi.MQRC_NONE
}

func (m *Machine) resolveAlias(r resolving, d destination, alias *queue) (destination, mqi.Reason) {
	d.passes(alias)
	if d.qmgr == "" && alias.attr.clustered() {
		return m.resolveCluster(r, d)
	}
	base := m.catalog.queues[alias.attr.target]
	if base == nil {
		if d.qmgr != "" || alias.attr.target == "" {
			return d, mqi.MQRC_UNKNOWN_ALIAS_BASE_Q
		}
		d.name = alias.attr.target
		d, reason := m.resolveCluster(r, d)
		if reason == mqi.MQRC_UNKNOWN_OBJECT_NAME {
			reason = mqi.MQRC_UNKNOWN_ALIAS_BASE_Q
		}
		return d, reason
	}
	switch base.def.Kind() {
	case object.QLocal:
		return m.resolveLocal(r, d, base)
	case object.QRemote:
		return m.resolveDefinition(r, d, base)
	default:
		return d, mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR
	}
}

// resolveDefinition: a local definition of a remote queue.
func (m *Machine) resolveDefinition(r resolving, d destination, q *queue) (destination, mqi.Reason) {
	if q.attr.rname == "" { // a queue-manager alias is no queue
		return d, mqi.MQRC_REMOTE_Q_NAME_ERROR
	}
	d.passes(q)
	d.name, d.qmgr = q.attr.rname, q.attr.rqmname
	switch {
	case d.qmgr == m.name:
		local := m.localQueue(d.name)
		if local == nil {
			return d, mqi.MQRC_UNKNOWN_OBJECT_NAME
		}
		return m.resolveLocal(r, d, local)
	case d.qmgr != "" || q.attr.xmitq != "":
		d.addressed = true
		return m.resolveRemote(r, d, q.attr.xmitq)
	}
	return m.resolveCluster(r, d)
}

// resolveRemote: another queue manager, over an ordinary transmission queue or through the cluster.
// What is opened not fixed and reaches its queue manager through aliases at
// gateways is routed with each put.
func (m *Machine) resolveRemote(r resolving, d destination, xmitQ string) (destination, mqi.Reason) {
	asked := d.bind
	d.bind = bindOnOpen
	if xmitQ != "" {
		q, reason := m.transmissionQueue(xmitQ, mqi.MQRC_UNKNOWN_XMIT_Q, mqi.MQRC_XMIT_Q_USAGE_ERROR)
		return d.transmit(q), reason
	}
	if q := m.localQueue(d.qmgr); q != nil && q.attr.xmit {
		return d.transmit(q), mqi.MQRC_NONE
	}
	res := m.route(r.now, r.fx, routeRequest{Name: d.name, QMgr: d.qmgr, Bind: asked, Open: true, Deadline: r.last, Through: r.through, Choice: r.choice})
	switch res.Status {
	case routeWait:
		return d, r.wait()
	case routeTransmit, routeLocal:
		if res.Gateway && (asked == bindNotFixed || asked == bindAsQDef && res.DefBind == bindNotFixed) {
			d.bind, d.routed = bindNotFixed, true
		}
		return d.fix(res), mqi.MQRC_NONE
	case routeFailed:
	}
	if m.limits.defXmitQ == "" {
		return d, res.Reason
	}
	q, reason := m.transmissionQueue(m.limits.defXmitQ, mqi.MQRC_UNKNOWN_DEF_XMIT_Q, mqi.MQRC_DEF_XMIT_Q_USAGE_ERROR)
	if q != nil && q.name == sharedTransmitQ {
		reason = mqi.MQRC_DEF_XMIT_Q_USAGE_ERROR
	}
	d.byDefault = true
	return d.transmit(q), reason
}

func (m *Machine) transmissionQueue(name string, unknown, usage mqi.Reason) (*queue, mqi.Reason) {
	q := m.localQueue(name)
	switch {
	case q == nil:
		return nil, unknown
	case !q.attr.xmit:
		return nil, usage
	}
	return q, mqi.MQRC_NONE
}

func (d destination) transmit(xmitQ *queue) destination {
	d.fixed = routeResult{Status: routeTransmit, XmitQ: xmitQ, TargetQ: d.name, TargetQMgr: d.qmgr}
	return d
}

func (d destination) fix(res routeResult) destination {
	if res.Status == routeLocal {
		d.local = res.Queue
	} else {
		d.fixed = res
	}
	return d
}

// resolveCluster asks the cluster for d.name: at open for the instance if it is
// bound, else only whether there is one.
func (m *Machine) resolveCluster(r resolving, d destination) (destination, mqi.Reason) {
	res := m.route(r.now, r.fx, routeRequest{Name: d.name, QMgr: d.qmgr, Bind: d.bind, Open: true, Deadline: r.last, Through: r.through, Choice: r.choice})
	switch res.Status {
	case routeWait:
		return d, r.wait()
	case routeFailed:
		return d, res.Reason
	default:
	}
	if d.bind == bindAsQDef {
		d.bind = res.DefBind
	}
	d.defaults(res.DefPersist, res.DefPriority)
	if d.bind == bindOnOpen {
		return d.fix(res), mqi.MQRC_NONE
	}
	d.routed = true
	return d, mqi.MQRC_NONE
}

// target is where one message goes now.
func (m *Machine) target(r resolving, d *destination, md *mqi.MD) (routeResult, mqi.Reason) {
	for _, q := range d.path {
		if q != nil && !q.attr.put {
			return routeResult{}, mqi.MQRC_PUT_INHIBITED
		}
	}
	switch {
	case d.local != nil:
		return routeResult{Status: routeLocal, Queue: d.local, TargetQ: d.local.name, TargetQMgr: m.name}, mqi.MQRC_NONE
	case !d.routed:
		return d.fixed, mqi.MQRC_NONE
	}
	inGroup := d.bind == bindOnGroup && md.MsgFlags&groupFlags != 0
	if inGroup && d.groupRoute.Status != routeFailed && d.groupID == md.GroupId {
		return d.groupRoute, mqi.MQRC_NONE
	}
	res := m.route(r.now, r.fx, routeRequest{Name: d.name, QMgr: d.qmgr, Bind: d.bind, Through: r.through, Choice: r.choice})
	switch res.Status {
	case routeFailed:
		return res, res.Reason
	case routeWait:
		return res, mqi.MQRC_CLUSTER_RESOLUTION_ERROR
	default:
	}
	if inGroup {
		d.groupID, d.groupRoute = md.GroupId, res
	}
	return res, mqi.MQRC_NONE
}
