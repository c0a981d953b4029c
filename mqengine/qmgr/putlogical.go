package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// Bounds of numbers in groups and of offsets in messages.
const maxGroupNumber = 999_999_999

// segmentUnit is what the length of a segment that the queue manager cuts is a
// multiple of.
const segmentUnit = 16

// impliedFlags: what is the last of a group or message is part of it.
func impliedFlags(md *mqi.MD) {
	if md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0 {
		md.MsgFlags |= mqi.MQMF_MSG_IN_GROUP
	}
	if md.MsgFlags&mqi.MQMF_LAST_SEGMENT != 0 {
		md.MsgFlags |= mqi.MQMF_SEGMENT
	}
}

// knownType reports whether a message type is one of the system's or an application's.
func knownType(t int32) bool {
	switch t {
	case mqi.MQMT_REQUEST, mqi.MQMT_REPLY, mqi.MQMT_REPORT, mqi.MQMT_DATAGRAM, 112, 113: // MQe's
		return true
	}
	return t >= 65536 && t <= 999_999_999
}

// checkGroup checks the fields of groups and segments.
func checkGroup(md *mqi.MD, length int) mqi.Reason {
	segment := md.MsgFlags&segmentFlags != 0
	switch {
	case md.MsgFlags&mqi.MQMF_REJECT_UNSUP_MASK&^(groupFlags|segmentFlags|mqi.MQMF_SEGMENTATION_ALLOWED) != 0:
		return mqi.MQRC_MSG_FLAGS_ERROR
	case md.MsgSeqNumber < 1 || md.MsgSeqNumber > maxGroupNumber:
		return mqi.MQRC_MSG_SEQ_NUMBER_ERROR
	case md.Offset < 0 || md.Offset > maxGroupNumber || md.Offset != 0 && !segment:
		return mqi.MQRC_OFFSET_ERROR
	case md.OriginalLength <= 0 && md.OriginalLength != -1 && segment && md.MsgType == mqi.MQMT_REPORT:
		return mqi.MQRC_ORIGINAL_LENGTH_ERROR
	case segment && md.MsgFlags&mqi.MQMF_LAST_SEGMENT == 0 && length == 0:
		return mqi.MQRC_SEGMENT_LENGTH_ZERO
	}
	return mqi.MQRC_NONE
}

// inOrder numbers a message that is put in logical order and checks that it
// goes on where the one before stopped. next is where the handle is if the put works.
func (m *Machine) inOrder(h *handle, req *PutReq) (next groupPlace, warning, reason mqi.Reason) {
	now, md := h.putting, &req.MD
	if req.PMO.Options&mqi.MQPMO_LOGICAL_ORDER == 0 {
		return groupPlace{}, now.incomplete(), mqi.MQRC_NONE
	}
	unit := req.PMO.Options&mqi.MQPMO_SYNCPOINT != 0
	persistence := md.Persistence
	if persistence == mqi.MQPER_PERSISTENCE_AS_Q_DEF {
		persistence = mqi.MQPER_NOT_PERSISTENT
		if h.dest.defPersist {
			persistence = mqi.MQPER_PERSISTENT
		}
	}
	last := md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0
	switch {
	case now.inMsg && (md.MsgFlags&segmentFlags == 0 || now.last != last || now.inGroup != (md.MsgFlags&groupFlags != 0)):
		return now, 0, mqi.MQRC_INCOMPLETE_MSG
	case now.inGroup && md.MsgFlags&groupFlags == 0:
		return now, 0, mqi.MQRC_INCOMPLETE_GROUP
	case now.open() && now.unit != unit:
		return now, 0, mqi.MQRC_INCONSISTENT_UOW
	case now.open() && now.persist != persistence:
		return now, 0, mqi.MQRC_INCONSISTENT_PERSISTENCE
	case now.open():
		md.GroupId, md.MsgSeqNumber, md.Offset = now.id, now.number, now.offset
	default:
		md.GroupId, md.MsgSeqNumber, md.Offset = mqi.MsgId{}, 1, 0
		if md.MsgFlags&(groupFlags|segmentFlags) != 0 {
			md.GroupId = m.ids.next()
		}
	}
	next = groupPlace{logical: true, unit: unit, persist: persistence}
	next.past(md, req.Body.Len, false)
	return next, 0, mqi.MQRC_NONE
}

// putSegments puts a message that is too long for its queue as several: all or none.
func (m *Machine) putSegments(now time.Time, fx *Effects, unit *unitOfWork, q *queue, msg *message) mqi.Reason {
	size := q.attr.maxMsgL / segmentUnit * segmentUnit
	if size == 0 {
		return mqi.MQRC_MSG_TOO_BIG_FOR_Q
	}
	n := (msg.body.Len + size - 1) / size
	// Without a unit of work the segments make one of their own: they appear together.
	own := unitOfWork{}
	if unit == nil {
		unit = &own
	}
	probe := *msg
	probe.body.Len = size
	switch reason := m.admits(q, &probe); {
	case reason != mqi.MQRC_NONE:
		return reason
	case q.depth+n > q.attr.maxDepth:
		return mqi.MQRC_Q_FULL
	case q.bytes+int64(msg.length()) > q.attr.maxBytes:
		return mqi.MQRC_Q_SPACE_NOT_AVAILABLE
	case len(unit.entries)+n > m.limits.maxUncommitted:
		return mqi.MQRC_SYNCPOINT_LIMIT_REACHED
	}
	last := msg.md.MsgFlags&mqi.MQMF_LAST_SEGMENT != 0 || msg.md.MsgFlags&mqi.MQMF_SEGMENT == 0
	if msg.md.GroupId.IsZero() {
		msg.md.GroupId = m.ids.next()
	}
	for at := 0; at < msg.body.Len; at += size {
		part := *msg
		part.body = m.copyBody(fx, msg.body, at, size)
		part.md.Offset += int32(at)
		part.md.MsgFlags = msg.md.MsgFlags&^mqi.MQMF_LAST_SEGMENT | mqi.MQMF_SEGMENT
		if at+size >= msg.body.Len && last {
			part.md.MsgFlags |= mqi.MQMF_LAST_SEGMENT
		}
		if part.md.OriginalLength == -1 {
			part.md.OriginalLength = int32(msg.body.Len)
		}
		if at > 0 {
			part.props = nil
		}
		if reason := m.putMessage(now, fx, unit, q, &part); reason != mqi.MQRC_NONE {
			panic("a segment does not fit that was checked: " + reason.String())
		}
	}
	fx.Drop = append(fx.Drop, msg.body.ID)
	if unit == &own {
		m.commit(now, fx, unit)
	}
	return mqi.MQRC_NONE
}
