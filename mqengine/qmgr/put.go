package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

const knownPutOptions = mqi.MQPMO_SYNCPOINT | mqi.MQPMO_NO_SYNCPOINT | contextOptions | mqi.MQPMO_NEW_MSG_ID |
	mqi.MQPMO_NEW_CORREL_ID | mqi.MQPMO_FAIL_IF_QUIESCING | mqi.MQPMO_LOGICAL_ORDER

const groupFlags = mqi.MQMF_MSG_IN_GROUP | mqi.MQMF_LAST_MSG_IN_GROUP

// put is MQPUT, or without a handle MQPUT1, which may have to wait for the repository.
func (m *Machine) put(now time.Time, fx *Effects, c *conn, tag uint64, req *PutReq, last bool) {
	if req.Handle == 0 {
		m.put1(now, fx, c, tag, req, last)
		return
	}
	h, reason := c.handleOf(req.Handle)
	switch {
	case reason != mqi.MQRC_NONE:
	case !h.has(mqi.MQOO_OUTPUT):
		reason = mqi.MQRC_NOT_OPEN_FOR_OUTPUT
	default:
		reason = m.putOpen(now, fx, c, tag, req, h)
	}
	if reason != mqi.MQRC_NONE {
		m.refusePut(fx, c, tag, req, reason)
	}
}

// refusePut fails a put and lets go of its body.
func (m *Machine) refusePut(fx *Effects, c *conn, tag uint64, req *PutReq, reason mqi.Reason) {
	discard(fx, *req)
	c.fail(fx, tag, reason)
}

// put1 opens, puts and closes; PASS and SET context need no open option.
func (m *Machine) put1(now time.Time, fx *Effects, c *conn, tag uint64, req *PutReq, last bool) {
	const asOpened = mqi.MQOO_PASS_ALL_CONTEXT | mqi.MQOO_SET_ALL_CONTEXT
	switch {
	case req.OD.ObjectType != 0 && req.OD.ObjectType != typeQueue:
		m.refusePut(fx, c, tag, req, mqi.MQRC_OBJECT_TYPE_ERROR)
		return
	case req.PMO.Options&mqi.MQPMO_LOGICAL_ORDER != 0: // there is no handle to be in a group with
		m.refusePut(fx, c, tag, req, mqi.MQRC_OPTIONS_ERROR)
		return
	}
	d, reason := m.resolveOutput(resolving{now: now, fx: fx, last: last}, req.OD.ObjectName, req.OD.ObjectQMgrName, bindAsQDef)
	switch reason {
	case mqi.MQRC_NONE:
		if reason = m.putTo(now, fx, c, tag, req, &d, asOpened, mqi.MQRC_NONE); reason != mqi.MQRC_NONE {
			m.refusePut(fx, c, tag, req, reason)
		}
	case reasonWait:
		m.park(now, c, tag, *req, m.awaited(&d))
	default:
		m.refusePut(fx, c, tag, req, reason)
	}
}

// putOpen puts with an open handle, which may be in a group.
func (m *Machine) putOpen(now time.Time, fx *Effects, c *conn, tag uint64, req *PutReq, h *handle) mqi.Reason {
	impliedFlags(&req.MD)
	next, warning, reason := m.inOrder(h, req)
	if reason != mqi.MQRC_NONE {
		return reason
	}
	if reason = m.putTo(now, fx, c, tag, req, &h.dest, h.options, warning); reason != mqi.MQRC_NONE {
		return reason
	}
	if h.putting != next {
		if req.PMO.Options&mqi.MQPMO_SYNCPOINT != 0 {
			c.unit.remember(&h.putting)
		}
		h.putting = next
	}
	return mqi.MQRC_NONE
}

// putTo puts one message to a resolved destination and answers, unless it fails:
// then nothing happened. warning is what there is to say if nothing worse comes.
func (m *Machine) putTo(
	now time.Time, fx *Effects, c *conn, tag uint64, req *PutReq, d *destination, opened int32, warning mqi.Reason,
) mqi.Reason {
	reason := m.checkPut(req)
	if reason == mqi.MQRC_NONE {
		if w := m.complete(&req.MD, d, req.PMO.Options); w != mqi.MQRC_NONE {
			warning = w
		}
		reason = m.setContext(&req.MD, c, opened, &req.PMO, now.UnixMilli())
	}
	if reason != mqi.MQRC_NONE {
		return reason
	}
	to, reason := m.target(resolving{now: now, fx: fx}, d, &req.MD)
	if reason == mqi.MQRC_NONE {
		reason = m.putAt(now, fx, c, req, d, &to)
	}
	if reason == mqi.MQRC_PUT_INHIBITED {
		m.inhibited(now, d, c, &to)
	}
	if reason != mqi.MQRC_NONE {
		return reason
	}
	md := &req.MD
	c.reply(fx, tag, warning, PutResult{
		MsgId: md.MsgId, CorrelId: md.CorrelId, PutDateTime: md.PutDateTime, Priority: md.Priority, Persistence: md.Persistence,
		ResolvedQName: to.TargetQ, ResolvedQMgrName: to.TargetQMgr,
		GroupId: md.GroupId, MsgSeqNumber: md.MsgSeqNumber, Offset: md.Offset, MsgFlags: md.MsgFlags,
	})
	return mqi.MQRC_NONE
}

// putAt makes the message and puts it on the queue that was found for it, in
// segments if it is too long and may be cut.
func (m *Machine) putAt(now time.Time, fx *Effects, c *conn, req *PutReq, d *destination, to *routeResult) mqi.Reason {
	msg := &message{
		md: req.MD, props: req.Props, body: req.Body, bind: d.bind, addressed: d.addressed, origin: m.qmid,
	}
	if e := req.MD.Expiry; e != mqi.MQEI_UNLIMITED {
		msg.expiresAt = now.UnixMilli() + int64(e)*100
	}
	for _, passed := range d.path {
		if passed != nil {
			msg.capExpiry(now, passed.attr.capExpiry)
		}
	}
	q := to.Queue
	if to.Status == routeTransmit {
		q = to.XmitQ
		msg.address(to, d.bind)
	}
	var unit *unitOfWork
	if req.PMO.Options&mqi.MQPMO_SYNCPOINT != 0 {
		unit = &c.unit
	}
	if msg.md.MsgFlags&mqi.MQMF_SEGMENTATION_ALLOWED != 0 && msg.body.Len > q.attr.maxMsgL && m.cfg.NewBody != nil {
		return m.putSegments(now, fx, unit, q, msg)
	}
	return m.putMessage(now, fx, unit, q, msg)
}

// address writes the transmission header. A message that is not fixed names no
// queue manager at its destination: the receiver resolves it again.
func (msg *message) address(to *routeResult, bind bindType) {
	msg.channel, msg.targetQ, msg.targetQMgr = to.Channel, to.TargetQ, to.TargetQMgr
	if bind == bindNotFixed && to.Channel != "" && !msg.addressed {
		msg.targetQMgr = ""
	}
}

// checkPut checks what does not depend on where the message goes.
func (m *Machine) checkPut(req *PutReq) mqi.Reason {
	o, md := req.PMO.Options, &req.MD
	switch {
	case o&^knownPutOptions != 0, o&mqi.MQPMO_SYNCPOINT != 0 && o&mqi.MQPMO_NO_SYNCPOINT != 0:
		return mqi.MQRC_OPTIONS_ERROR
	case md.Expiry != mqi.MQEI_UNLIMITED && md.Expiry <= 0:
		return mqi.MQRC_EXPIRY_ERROR
	case md.Priority < mqi.MQPRI_PRIORITY_AS_Q_DEF:
		return mqi.MQRC_PRIORITY_ERROR
	case md.Persistence < mqi.MQPER_NOT_PERSISTENT || md.Persistence > mqi.MQPER_PERSISTENCE_AS_Q_DEF:
		return mqi.MQRC_PERSISTENCE_ERROR
	case md.Report&mqi.MQRO_REJECT_UNSUP_MASK != 0:
		return mqi.MQRC_REPORT_OPTIONS_ERROR
	case (md.MsgType == mqi.MQMT_REQUEST || md.Report&reportOptions != 0) && md.ReplyToQ == "":
		return mqi.MQRC_MISSING_REPLY_TO_Q
	case !knownType(md.MsgType):
		return mqi.MQRC_MSG_TYPE_ERROR
	case req.Body.Len > m.limits.maxMsgL && md.MsgFlags&mqi.MQMF_SEGMENTATION_ALLOWED == 0:
		return mqi.MQRC_MSG_TOO_BIG_FOR_Q_MGR
	}
	if reason := checkGroup(md, req.Body.Len); reason != mqi.MQRC_NONE {
		return reason
	}
	return m.checkProperties(req.Props)
}

// reasonPropertiesTooBig is MQRC_PROPERTIES_TOO_BIG.
const reasonPropertiesTooBig mqi.Reason = 2478

// checkProperties holds properties to MAXPROPL, and to what a header may hold
// where that says NOLIMIT.
func (m *Machine) checkProperties(props []mqi.Property) mqi.Reason {
	if len(props) == 0 {
		return mqi.MQRC_NONE
	}
	size := 0
	for i := range props {
		if props[i].Name == "" {
			return mqi.MQRC_PROPERTY_NAME_ERROR
		}
		size += len(props[i].Name) + len(props[i].Value)
	}
	limit := m.limits.maxPropL
	if limit < 0 {
		limit = maxPropertyBytes
	}
	if size > limit || len(props) > maxProperties {
		return reasonPropertiesTooBig
	}
	return mqi.MQRC_NONE
}

// complete fills in the descriptor's defaults and identifiers.
func (m *Machine) complete(md *mqi.MD, d *destination, options int32) (warning mqi.Reason) {
	if md.Priority == mqi.MQPRI_PRIORITY_AS_Q_DEF {
		md.Priority = d.defPriority
	}
	if md.Priority > maxPriority {
		warning = mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM
	}
	if md.Persistence == mqi.MQPER_PERSISTENCE_AS_Q_DEF {
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
		if d.defPersist {
			md.Persistence = mqi.MQPER_PERSISTENT
		}
	}
	if md.MsgId.IsZero() || options&mqi.MQPMO_NEW_MSG_ID != 0 {
		md.MsgId = m.ids.next()
	}
	if options&mqi.MQPMO_NEW_CORREL_ID != 0 {
		md.CorrelId = m.ids.next()
	}
	if md.MsgFlags&(groupFlags|segmentFlags) != 0 && md.GroupId.IsZero() {
		md.GroupId = m.ids.next()
	}
	m.nameReplyQueue(md)
	md.BackoutCount = 0
	return warning
}

// nameReplyQueue completes the name of the queue for replies. A local definition
// of a remote queue with that name is a reply-to alias: its names travel instead.
func (m *Machine) nameReplyQueue(md *mqi.MD) {
	if md.ReplyToQ == "" || md.ReplyToQMgr != "" {
		return
	}
	alias := m.catalog.queues[md.ReplyToQ]
	if alias == nil || alias.def.Kind() != object.QRemote || alias.attr.rname == "" {
		md.ReplyToQMgr = m.name
		return
	}
	md.ReplyToQ, md.ReplyToQMgr = alias.attr.rname, alias.attr.rqmname
	if md.ReplyToQMgr == "" {
		md.ReplyToQMgr = m.name
	}
}
