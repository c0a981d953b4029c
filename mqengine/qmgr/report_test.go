package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// asks asks for reports to REPLY.
func asks(options int32) func(*PutReq) {
	return func(p *PutReq) { p.MD.Report, p.MD.ReplyToQ = options, "REPLY" }
}

// nextReport gets a message off the reply-to queue and writes it down: feedback, text, format.
func (r *rig) nextReport(c ConnID, h uint32) (string, mqi.MD) {
	r.t.Helper()
	tag := r.send(c, getReq(h, 0))
	if text := r.answer(tag); text == "2033" {
		return text, mqi.MD{}
	}
	md := r.replies[tag].Result.(*GetResult).MD
	return fmt.Sprintf("%d %d %s", md.MsgType, md.Feedback, r.texts[tag]), md
}

func reportRig(t *testing.T) (r *rig, c ConnID, h, reply uint32) {
	r = newRig(t)
	r.define("DEFINE QLOCAL(Q)", "DEFINE QLOCAL(REPLY)", "ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)")
	c = r.connect(1, "app")
	return r, c, r.open(c, "Q", inOut), r.open(c, "REPLY", in)
}

// TestConfirmations: of arrival when the put is committed, of delivery when the get is.
func TestConfirmations(t *testing.T) {
	t.Parallel()
	r, c, h, reply := reportRig(t)
	sent := r.put(c, h, "hello", asks(mqi.MQRO_COA|mqi.MQRO_COD), inUnit, persistent, func(p *PutReq) { p.MD.Format = "MQSTR" })
	none, _ := r.nextReport(c, reply)
	check(t, "not committed", none, "2033")
	r.must(c, CommitReq{})
	got, md := r.nextReport(c, reply)
	check(t, "arrival", got, "4 259 ")
	check(t, "correlation", md.CorrelId, sent.MsgId)
	check(t, "an id of its own", md.MsgId != sent.MsgId && !md.MsgId.IsZero(), true)
	check(t, "persistence", md.Persistence, mqi.MQPER_PERSISTENT)
	check(t, "format", md.Format, "MQSTR")
	check(t, "who", fmt.Sprint(md.PutApplType, md.PutApplName, md.UserIdentifier, md.ReplyToQMgr), "7QM1amyQM1")
	check(t, "length of the message", md.OriginalLength, 5)
	check(t, "browsed", r.get(c, r.open(c, "Q", mqi.MQOO_BROWSE), mqi.MQGMO_BROWSE_FIRST), "hello")
	check(t, "got", r.get(c, h, mqi.MQGMO_SYNCPOINT), "hello")
	r.must(c, BackReq{})
	none, _ = r.nextReport(c, reply)
	check(t, "backed out", none, "2033")
	check(t, "got", r.get(c, h, mqi.MQGMO_SYNCPOINT), "hello")
	r.must(c, CommitReq{})
	r.crash()
	c = r.connect(1, "app")
	got, md = r.nextReport(c, r.open(c, "REPLY", in))
	check(t, "delivery", got, "4 260 ")
	check(t, "no report on a report", md.Report, 0)
}

// TestReportsWithData: the first hundred bytes, or all; what was got is gone, the report keeps its copy.
func TestReportsWithData(t *testing.T) {
	t.Parallel()
	r, c, h, _ := reportRig(t)
	long := strings.Repeat("x", 150)
	id, correl := mqi.MsgId{1}, mqi.MsgId{2}
	ids := func(p *PutReq) { p.MD.MsgId, p.MD.CorrelId = id, correl }
	r.put(c, h, long, asks(mqi.MQRO_COD_WITH_DATA|mqi.MQRO_PASS_CORREL_ID|mqi.MQRO_PASS_MSG_ID), ids, persistent)
	r.put(c, h, long, asks(mqi.MQRO_COD_WITH_FULL_DATA), ids)
	check(t, "got", r.drain(c, h), long+" "+long)
	r.crash()
	c = r.connect(1, "app")
	reply := r.open(c, "REPLY", in)
	got, md := r.nextReport(c, reply)
	check(t, "some", got, "4 260 "+long[:100])
	check(t, "ids passed", md.MsgId == id && md.CorrelId == correl, true)
	got, _ = r.nextReport(c, reply)
	check(t, "the nonpersistent one is lost with the crash", got, "2033")
	h = r.open(c, "Q", inOut)
	r.put(c, h, long, asks(mqi.MQRO_COA_WITH_FULL_DATA), ids)
	got, md = r.nextReport(c, reply)
	check(t, "all", got, "4 259 "+long)
	check(t, "correlation", md.CorrelId, id)
	check(t, "the message itself", r.drain(c, h), long)
	headers, bodies := stored(r)
	check(t, "nothing is left", fmt.Sprint(headers, bodies, len(r.bodies)), "0 0 0")
}

// TestExpirationReports: by a get and by the sweep, once.
func TestExpirationReports(t *testing.T) {
	t.Parallel()
	r, c, h, reply := reportRig(t)
	short := func(p *PutReq) { p.MD.Expiry = 10 }
	r.put(c, h, "first", asks(mqi.MQRO_EXPIRATION_WITH_DATA), short, persistent)
	r.after(2 * time.Second)
	check(t, "expired", r.get(c, h, 0), "2033")
	got, md := r.nextReport(c, reply)
	check(t, "report", got, "4 258 first")
	check(t, "lives on", md.Expiry, mqi.MQEI_UNLIMITED)
	r.crash()
	c = r.connect(1, "app")
	h, reply = r.open(c, "Q", inOut), r.open(c, "REPLY", in)
	r.after(10 * time.Minute)
	got, _ = r.nextReport(c, reply)
	check(t, "not twice", got, "2033")
	r.put(c, h, "second", asks(mqi.MQRO_EXPIRATION), short)
	r.after(10 * time.Minute)
	got, _ = r.nextReport(c, reply)
	check(t, "swept", got, "4 258 ")
}

// TestExceptionReports: a channel that cannot deliver tells the sender, and discards if asked to.
func TestExceptionReports(t *testing.T) {
	t.Parallel()
	r, c, _, reply := reportRig(t)
	arrive := func(options int32) mqi.Reason {
		msg := &message{md: mqi.NewMD(), body: r.newBody("arrived"), bind: bindOnOpen, targetQ: "NONE", targetQMgr: "QM1"}
		msg.md.Report, msg.md.ReplyToQ, msg.md.ReplyToQMgr = options, "REPLY", "QM1"
		msg.md.Priority, msg.md.Persistence = 0, mqi.MQPER_PERSISTENT
		reason := r.m.undeliverable(r.now, &r.fx, msg, mqi.MQRC_UNKNOWN_OBJECT_NAME, true)
		r.step(Tick{})
		return reason
	}
	check(t, "dead letter", arrive(mqi.MQRO_EXCEPTION_WITH_DATA), mqi.MQRC_NONE)
	got, _ := r.nextReport(c, reply)
	check(t, "told", got, "4 2085 arrived")
	check(t, "on the dead-letter queue", r.counts("SYSTEM.DEAD.LETTER.QUEUE"), "1/0")
	check(t, "discarded", arrive(mqi.MQRO_EXCEPTION|mqi.MQRO_DISCARD_MSG), mqi.MQRC_NONE)
	got, _ = r.nextReport(c, reply)
	check(t, "told", got, "4 2085 ")
	check(t, "discarded in silence", arrive(mqi.MQRO_DISCARD_MSG), mqi.MQRC_NONE)
	got, _ = r.nextReport(c, reply)
	check(t, "silence", got, "2033")
	check(t, "one dead letter", r.counts("SYSTEM.DEAD.LETTER.QUEUE"), "1/0")
	r.define("ALTER QMGR DEADQ('')")
	check(t, "nowhere to put it", arrive(mqi.MQRO_EXCEPTION), mqi.MQRC_UNKNOWN_OBJECT_NAME)
	got, _ = r.nextReport(c, reply)
	check(t, "nothing happened", got, "2033")
	headers, bodies := stored(r)
	check(t, "one left", fmt.Sprint(headers, bodies), "1 1")
}

// TestReportInheritsDiscardAndExpiry: MQRO_PASS_DISCARD_AND_EXPIRY; a report that
// cannot be put is then discarded as the message would be.
func TestReportInheritsDiscardAndExpiry(t *testing.T) {
	t.Parallel()
	r, c, h, reply := reportRig(t)
	const options = mqi.MQRO_COA | mqi.MQRO_PASS_DISCARD_AND_EXPIRY | mqi.MQRO_DISCARD_MSG
	r.put(c, h, "x", asks(options), func(p *PutReq) { p.MD.Expiry = 50 })
	r.after(time.Second)
	_, md := r.nextReport(c, reply)
	check(t, "what is left", md.Expiry, 40)
	check(t, "discard", md.Report, mqi.MQRO_DISCARD_MSG)
	r.put(c, h, "x", asks(options), func(p *PutReq) { p.MD.ReplyToQ = "NOWHERE" })
	check(t, "no dead letter", r.counts("SYSTEM.DEAD.LETTER.QUEUE"), "0/0")
}

// TestReportThatCannotBePut: it is a dead letter itself; without a dead-letter queue the log says so.
func TestReportThatCannotBePut(t *testing.T) {
	t.Parallel()
	r, c, h, _ := reportRig(t)
	nowhere := func(p *PutReq) { p.MD.Report, p.MD.ReplyToQ = mqi.MQRO_COA_WITH_DATA, "NOWHERE" }
	r.put(c, h, "x", nowhere)
	check(t, "dead letter", r.counts("SYSTEM.DEAD.LETTER.QUEUE"), "1/0")
	r.define("ALTER QMGR DEADQ('')")
	before := len(r.log)
	r.put(c, h, "x", nowhere)
	check(t, "logged", len(r.log)-before, 1)
	check(t, "why", strings.Contains(r.log[before].Text, "MQRC_UNKNOWN_OBJECT_NAME"), true)
}

// TestReportCrossesTheCluster: the reply-to queue manager is found as for any message.
func TestReportCrossesTheCluster(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "")
	qm3.ok("DEFINE QLOCAL(REPLY)")
	w.pass(time.Second)
	h := qm2.mustOpen("DCQ1", inOut)
	qm2.mustPut(h, "asks", func(p *PutReq) {
		p.MD.Report, p.MD.ReplyToQ, p.MD.ReplyToQMgr = mqi.MQRO_COD_WITH_FULL_DATA, "REPLY", "QM3"
	})
	w.pass(time.Second)
	qm2.call(getReq(h, 0))
	w.pass(30 * time.Second)
	check(t, "at the other queue manager", fmt.Sprint(qm3.texts("REPLY")), "[asks]")
}
