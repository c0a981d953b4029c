package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// Object types (MQOT_*) that can be opened.
const (
	typeQueue int32 = 1
	typeQMgr  int32 = 5
)

const (
	bindOptions  = mqi.MQOO_BIND_ON_OPEN | mqi.MQOO_BIND_NOT_FIXED | mqi.MQOO_BIND_ON_GROUP
	localOptions = mqi.MQOO_INPUT | mqi.MQOO_BROWSE
	openOptions  = localOptions | mqi.MQOO_OUTPUT | mqi.MQOO_INQUIRE | mqi.MQOO_SET | bindOptions |
		mqi.MQOO_SAVE_ALL_CONTEXT | mqi.MQOO_PASS_IDENTITY_CONTEXT | mqi.MQOO_PASS_ALL_CONTEXT |
		mqi.MQOO_SET_IDENTITY_CONTEXT | mqi.MQOO_SET_ALL_CONTEXT | mqi.MQOO_FAIL_IF_QUIESCING
)

// open is MQOPEN. It may have to wait for the repository.
func (m *Machine) open(now time.Time, fx *Effects, c *conn, tag uint64, req *OpenReq, last bool) {
	h := &handle{conn: c, name: req.OD.ObjectName, options: req.Options}
	reason := m.checkOpen(c, req)
	if reason == mqi.MQRC_NONE && req.Selection != "" {
		h.selection, reason = selectionOf(req.Selection)
	}
	if reason == mqi.MQRC_NONE && req.OD.ObjectType != typeQMgr {
		reason = m.openQueue(now, fx, h, &req.OD, last)
	}
	if reason != mqi.MQRC_NONE && h.made != nil {
		m.deleteQueue(now, fx, h.made)
	}
	switch reason {
	case reasonWait:
		m.park(now, c, tag, *req, m.awaited(&h.dest))
		return
	case mqi.MQRC_NONE:
	default:
		c.fail(fx, tag, reason)
		return
	}
	h.number = c.newHandle(h)
	m.attach(fx, h)
	if h.input != 0 && h.queue.inputs == 1 {
		m.triggerPending(now, fx, h.queue)
	}
	c.ok(fx, tag, h.opened(m.name))
}

// opened is what MQOPEN tells of how the names resolved; blank where that is decided at each put.
func (h *handle) opened(own string) OpenResult {
	r := OpenResult{Handle: h.number}
	switch {
	case h.dest.routed:
		r.ResolvedQName = h.dest.name
	case h.dest.fixed.XmitQ != nil:
		r.ResolvedQName, r.ResolvedQMgrName = h.dest.fixed.TargetQ, h.dest.fixed.TargetQMgr
	case h.queue != nil:
		r.ResolvedQName, r.ResolvedQMgrName = h.queue.name, own
	case h.object != nil:
		r.ResolvedQName, r.ResolvedQMgrName = h.object.name, own
	default:
		r.ResolvedQMgrName = own
	}
	return r
}

func (m *Machine) checkOpen(c *conn, req *OpenReq) mqi.Reason {
	o := req.Options
	input, bind := o&mqi.MQOO_INPUT, o&bindOptions
	access := o & (localOptions | mqi.MQOO_OUTPUT | mqi.MQOO_INQUIRE | mqi.MQOO_SET)
	switch {
	case c.openHandles() >= m.limits.maxHandles:
		return mqi.MQRC_HANDLE_NOT_AVAILABLE
	case o&^openOptions != 0, input&(input-1) != 0, bind&(bind-1) != 0, access == 0:
		return mqi.MQRC_OPTIONS_ERROR
	case req.Selection != "" && o&localOptions == 0:
		return mqi.MQRC_SELECTION_STRING_ERROR
	case req.OD.ObjectType != 0 && req.OD.ObjectType != typeQueue && req.OD.ObjectType != typeQMgr:
		return mqi.MQRC_OBJECT_TYPE_ERROR
	case req.OD.ObjectType == typeQMgr && access&^(mqi.MQOO_INQUIRE|mqi.MQOO_SET) != 0:
		return mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	}
	return mqi.MQRC_NONE
}

// openQueue resolves what is opened; nothing is counted yet.
func (m *Machine) openQueue(now time.Time, fx *Effects, h *handle, od *mqi.OD, last bool) mqi.Reason {
	q := m.catalog.queues[od.ObjectName]
	own := od.ObjectQMgrName == "" || od.ObjectQMgrName == m.name
	if q != nil && own && q.def.Kind() == object.QModel {
		made, reason := m.makeDynamic(now, fx, q, dynamicName(od.DynamicQName))
		if reason != mqi.MQRC_NONE {
			return reason
		}
		q, h.made = made, made
	}
	if h.has(localOptions) {
		return m.openLocal(h, q, od)
	}
	if !h.has(mqi.MQOO_OUTPUT) {
		return m.openDefinition(h, q, own)
	}
	h.object = q
	name := od.ObjectName
	if h.made != nil {
		name = h.made.name
	}
	d, reason := m.resolveOutput(resolving{now: now, fx: fx, last: last}, name, od.ObjectQMgrName, bindOption(h.options))
	h.dest = d
	switch {
	case reason != mqi.MQRC_NONE:
	case d.local != nil:
		h.queue = d.local
	case d.fixed.XmitQ != nil:
		h.queue = d.fixed.XmitQ
	default:
		h.queue = m.localBase(d.name)
	}
	return reason
}

// openLocal opens for input or browse: only a queue of our own will do. Puts
// through such a handle go there too.
func (m *Machine) openLocal(h *handle, q *queue, od *mqi.OD) mqi.Reason {
	switch {
	case od.ObjectQMgrName != "" && od.ObjectQMgrName != m.name:
		return mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	case q == nil:
		return mqi.MQRC_UNKNOWN_OBJECT_NAME
	}
	h.object, h.queue = q, q
	switch q.def.Kind() {
	case object.QRemote:
		return mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	case object.QAlias:
		base := m.catalog.queues[q.attr.target]
		switch {
		case base == nil:
			return mqi.MQRC_UNKNOWN_ALIAS_BASE_Q
		case base.def.Kind() != object.QLocal:
			return mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR
		}
		h.queue = base
	default: // a local queue
	}
	if h.has(mqi.MQOO_OUTPUT) {
		h.dest = destination{name: q.name, bind: bindOption(h.options), addressed: od.ObjectQMgrName != "", local: h.queue}
		h.dest.passes(q)
		if h.dest.bind == bindAsQDef {
			h.dest.bind = q.attr.defBind
		}
		if !q.attr.clustered() && h.options&bindOptions == 0 {
			h.dest.bind = bindNotFixed
		}
	}
	return h.queue.share(h)
}

// share decides whether the queue can be opened for input the way h wants it.
func (q *queue) share(h *handle) mqi.Reason {
	switch h.options & mqi.MQOO_INPUT {
	case 0:
		return mqi.MQRC_NONE
	case mqi.MQOO_INPUT_AS_Q_DEF:
		h.input = mqi.MQOO_INPUT_SHARED
		if q.attr.defExcl {
			h.input = mqi.MQOO_INPUT_EXCLUSIVE
		}
	default:
		h.input = h.options & mqi.MQOO_INPUT
	}
	if q.inputs > 0 && (q.exclusive || !q.attr.share || h.input == mqi.MQOO_INPUT_EXCLUSIVE) {
		return mqi.MQRC_OBJECT_IN_USE
	}
	return mqi.MQRC_NONE
}

// openDefinition opens only to inquire or set.
func (m *Machine) openDefinition(h *handle, q *queue, own bool) mqi.Reason {
	if q == nil || !own {
		return mqi.MQRC_UNKNOWN_OBJECT_NAME
	}
	h.object = q
	if q.def.Kind() == object.QLocal {
		h.queue = q
	}
	return mqi.MQRC_NONE
}

// localBase is the local queue of that name, or behind the alias of that name; nil if there is none.
func (m *Machine) localBase(name string) *queue {
	q := m.catalog.queues[name]
	if q != nil && q.def.Kind() == object.QAlias {
		q = m.catalog.queues[q.attr.target]
	}
	if q != nil && q.def.Kind() == object.QLocal {
		return q
	}
	return nil
}
