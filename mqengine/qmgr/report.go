package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// reportOptions are the reports that a queue manager makes by itself.
const reportOptions = mqi.MQRO_COA | mqi.MQRO_COD | mqi.MQRO_EXPIRATION | mqi.MQRO_EXCEPTION

// reportBytes is how much of the message goes into a report with data.
const reportBytes = 100

// report makes the report message that kind asks for, if the message asks for
// it. The three bits of a report option lie side by side: report, with data,
// with all data. What the message is at that moment goes into the report.
func (m *Machine) report(now time.Time, fx *Effects, msg *message, kind, feedback int32) {
	md := &msg.md
	if md.Report&kind == 0 || md.ReplyToQ == "" || msg.payload != nil || !m.roomToMake() {
		return
	}
	rep := m.ownMessage(now, md.Format)
	rep.md.MsgType, rep.md.Feedback = mqi.MQMT_REPORT, feedback
	rep.md.Encoding, rep.md.CodedCharSetId = md.Encoding, md.CodedCharSetId
	rep.md.Priority, rep.md.Persistence = md.Priority, md.Persistence
	rep.md.CorrelId = md.MsgId
	if md.Report&mqi.MQRO_PASS_CORREL_ID != 0 {
		rep.md.CorrelId = md.CorrelId
	}
	if md.Report&mqi.MQRO_PASS_MSG_ID != 0 {
		rep.md.MsgId = md.MsgId
	}
	rep.md.ReplyToQMgr = m.name
	rep.md.UserIdentifier, rep.md.AccountingToken, rep.md.ApplIdentityData = md.UserIdentifier, md.AccountingToken, md.ApplIdentityData
	rep.md.GroupId, rep.md.MsgSeqNumber, rep.md.Offset, rep.md.MsgFlags = md.GroupId, md.MsgSeqNumber, md.Offset, md.MsgFlags
	if rep.md.OriginalLength = md.OriginalLength; rep.md.OriginalLength == -1 {
		rep.md.OriginalLength = int32(msg.length())
	}
	if md.Report&mqi.MQRO_PASS_DISCARD_AND_EXPIRY != 0 {
		rep.md.Report = md.Report & mqi.MQRO_DISCARD_MSG
		if kind != mqi.MQRO_EXPIRATION {
			rep.expiresAt = msg.expiresAt
		}
	}
	m.takeData(fx, rep, msg, kind)
	m.putLater(made{msg: rep, q: md.ReplyToQ, qmgr: md.ReplyToQMgr, letter: true})
}

// takeData copies into a report as much of the message as was asked for. The
// option's second bit asks for some, the third for everything.
func (m *Machine) takeData(fx *Effects, rep, msg *message, kind int32) {
	limit := 0
	switch {
	case msg.md.Report&(kind<<2) != 0:
		limit = msg.length()
	case msg.md.Report&(kind<<1) != 0:
		limit = min(reportBytes, msg.length())
	default:
		return
	}
	front := msg.front()
	rep.head = append([]byte(nil), front[:min(len(front), limit)]...)
	rep.body = m.copyBody(fx, msg.body, 0, limit-len(rep.head))
}

// arrive tells that a message became available on its queue for the first time:
// there may be a confirmation of arrival to send, and a program to start.
func (m *Machine) arrive(now time.Time, fx *Effects, q *queue, msg *message) {
	if msg.md.Report&mqi.MQRO_COA != 0 && msg.dead == nil && !q.attr.xmit {
		m.report(now, fx, msg, mqi.MQRO_COA, mqi.MQFB_COA)
	}
	if q.attr.trigger != trigNone {
		m.triggerArrival(now, fx, q, msg)
	}
}

// delivered tells that an application has got a message for good.
func (m *Machine) delivered(now time.Time, fx *Effects, msg *message) {
	if msg.md.Report&mqi.MQRO_COD != 0 && msg.dead == nil {
		m.report(now, fx, msg, mqi.MQRO_COD, mqi.MQFB_COD)
	}
}

// expire discards a message whose life is over.
func (m *Machine) expire(now time.Time, fx *Effects, q *queue, msg *message) {
	if msg.md.Report&mqi.MQRO_EXPIRATION != 0 {
		m.report(now, fx, msg, mqi.MQRO_EXPIRATION, mqi.MQFB_EXPIRATION)
		// A report that was sent must not be sent again after a restart.
		fx.Unit.Sync = fx.Unit.Sync || msg.stored
	}
	q.expired++
	m.removeMessage(fx, q, msg)
}

// undeliverable deals with a message that a channel cannot deliver: the sender
// may want to know, and may want it discarded; else it is a dead letter. On
// failure nothing has happened.
func (m *Machine) undeliverable(now time.Time, fx *Effects, msg *message, why mqi.Reason, deadLetters bool) mqi.Reason {
	if msg.md.Report&mqi.MQRO_DISCARD_MSG != 0 && msg.payload == nil {
		m.report(now, fx, msg, mqi.MQRO_EXCEPTION, int32(why))
		if msg.bodyStored {
			fx.Unit.DeleteBody(msg.body.ID)
		}
		fx.dropBody(msg.body)
		return mqi.MQRC_NONE
	}
	if !deadLetters {
		return why
	}
	reason := m.deadLetter(now, fx, msg, why)
	if reason == mqi.MQRC_NONE {
		m.report(now, fx, msg, mqi.MQRO_EXCEPTION, int32(why))
	}
	return reason
}
