package qmgr

import (
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

const (
	in    = mqi.MQOO_INPUT_SHARED
	out   = mqi.MQOO_OUTPUT
	inOut = in | out
)

func TestOrderIsByPriorityThenArrival(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) DEFPRTY(4)", "DEFINE QLOCAL(F) MSGDLVSQ(FIFO)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	r.put(c, h, "a4")
	r.put(c, h, "b0", priority(0))
	r.put(c, h, "c9", priority(9))
	r.put(c, h, "d4")
	r.put(c, h, "e9", priority(9))
	check(t, "priority", r.drain(c, h), "c9 e9 a4 d4 b0")
	f := r.open(c, "F", inOut)
	r.put(c, f, "a0", priority(0))
	r.put(c, f, "b9", priority(9))
	check(t, "fifo", r.drain(c, f), "a0 b9")
}

func TestPriorityAboveNineIsAWarning(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	r.put(c, h, "low", priority(9))
	reply := r.call(c, r.putReq(h, "high", priority(12)))
	check(t, "reason", reply.Reason, mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM)
	check(t, "completion", reply.CompCode, mqi.MQCC_WARNING)
	check(t, "both in lane 9", r.drain(c, h), "low high")
}

func TestGetByIdentifier(t *testing.T) {
	t.Parallel()
	for _, deep := range []int{0, 100} {
		r := newRig(t)
		r.define("DEFINE QLOCAL(Q)")
		c := r.connect(1, "app")
		h := r.open(c, "Q", inOut)
		for range deep {
			r.put(c, h, "other")
		}
		red, blue := mqi.MsgId{1}, mqi.MsgId{2}
		correl := func(id mqi.MsgId) func(*PutReq) { return func(p *PutReq) { p.MD.CorrelId = id } }
		r.put(c, h, "blue1", correl(blue))
		r.put(c, h, "red1", correl(red))
		r.put(c, h, "red9", correl(red), priority(9))
		first := r.put(c, h, "blue2", correl(blue))
		want := func(match int32, md mqi.MD) string {
			return r.getWith(c, GetReq{Handle: h, MD: md, GMO: mqi.GMO{MatchOptions: match, MaxLength: -1}})
		}
		check(t, "by CorrelId, higher priority first", want(mqi.MQMO_MATCH_CORREL_ID, mqi.MD{CorrelId: red}), "red9")
		check(t, "by MsgId", want(mqi.MQMO_MATCH_MSG_ID, mqi.MD{MsgId: first.MsgId}), "blue2")
		check(t, "by both, one wrong", want(mqi.MQMO_MATCH_MSG_ID|mqi.MQMO_MATCH_CORREL_ID, mqi.MD{MsgId: first.MsgId, CorrelId: blue}), "2033")
		check(t, "by CorrelId", want(mqi.MQMO_MATCH_CORREL_ID, mqi.MD{CorrelId: red}), "red1")
		check(t, "gone", want(mqi.MQMO_MATCH_CORREL_ID, mqi.MD{CorrelId: red}), "2033")
		check(t, "MQCI_NONE matches any", want(mqi.MQMO_MATCH_CORREL_ID, mqi.MD{}) != "2033", true)
	}
}

func TestWaitingGetsAreServedInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	putter, one, two := r.connect(1, "put"), r.connect(2, "one"), r.connect(3, "two")
	h := r.open(putter, "Q", out)
	wait := func(c ConnID, ms int32) uint64 {
		req := getReq(r.open(c, "Q", in), mqi.MQGMO_WAIT)
		req.GMO.WaitInterval = ms
		return r.send(c, req)
	}
	a, b, late := wait(one, 1000), wait(two, mqi.MQWI_UNLIMITED), wait(one, 5000)
	r.put(putter, h, "first")
	check(t, "first waiter", r.answer(a), "first")
	check(t, "second waiter", r.answer(b), "waiting")
	r.after(time.Hour)
	check(t, "third waiter's time is over", r.answer(late), "2033")
	check(t, "unlimited waits", r.answer(b), "waiting")
	r.put(putter, h, "unit", inUnit)
	check(t, "uncommitted is not seen", r.answer(b), "waiting")
	r.must(putter, CommitReq{})
	check(t, "second waiter", r.answer(b), "unit")
}

func TestWaitCanBeCancelledAndInhibited(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", in)
	req := getReq(h, mqi.MQGMO_WAIT)
	req.GMO.WaitInterval = mqi.MQWI_UNLIMITED
	tag := r.send(c, req)
	r.send(c, CancelReq{Tag: tag})
	check(t, "cancelled", r.answer(tag), "2033")
	tag = r.send(c, req)
	r.define("ALTER QLOCAL(Q) GET(DISABLED)")
	check(t, "inhibited", r.answer(tag), "2016")
	check(t, "next get", r.get(c, h, 0), "2016")
	r.define("ALTER QLOCAL(Q) GET(ENABLED)")
	tag = r.send(c, req)
	r.must(c, CloseReq{Handle: h})
	check(t, "closed", r.answer(tag), "2019")
}

func TestTruncation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	r.put(c, h, "0123456789", persistent)
	req := getReq(h, 0)
	req.GMO.MaxLength = 4
	reply := r.call(c, req)
	check(t, "reason", reply.Reason, mqi.MQRC_TRUNCATED_MSG_FAILED)
	check(t, "completion", reply.CompCode, mqi.MQCC_WARNING)
	check(t, "whole length", reply.Result.(*GetResult).Length, 10)
	check(t, "stays", r.counts("Q"), "1/0")
	req.GMO.Options = mqi.MQGMO_ACCEPT_TRUNCATED_MSG
	tag := r.send(c, req)
	check(t, "reason", r.replies[tag].Reason, mqi.MQRC_TRUNCATED_MSG_ACCEPTED)
	check(t, "text", r.texts[tag], "0123")
	check(t, "gone", r.counts("Q"), "0/0")
}

func TestBrowse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c, other := r.connect(1, "app"), r.connect(2, "other")
	b, g := r.open(c, "Q", mqi.MQOO_BROWSE|inOut), r.open(other, "Q", in)
	for _, text := range []string{"a", "b", "c", "d"} {
		r.put(c, b, text)
	}
	check(t, "nothing under the cursor yet", r.get(c, b, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR), "2034")
	check(t, "next from the start", r.get(c, b, mqi.MQGMO_BROWSE_NEXT), "a")
	check(t, "next", r.get(c, b, mqi.MQGMO_BROWSE_NEXT), "b")
	check(t, "again", r.get(c, b, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR), "b")
	check(t, "another takes a", r.get(other, g, 0), "a")
	check(t, "another takes b", r.get(other, g, 0), "b")
	check(t, "taken from under the cursor", r.get(c, b, mqi.MQGMO_MSG_UNDER_CURSOR), "2034")
	check(t, "next", r.get(c, b, mqi.MQGMO_BROWSE_NEXT), "c")
	check(t, "get under cursor", r.get(c, b, mqi.MQGMO_MSG_UNDER_CURSOR), "c")
	check(t, "next", r.get(c, b, mqi.MQGMO_BROWSE_NEXT), "d")
	check(t, "end", r.get(c, b, mqi.MQGMO_BROWSE_NEXT), "2033")
	check(t, "first", r.get(c, b, mqi.MQGMO_BROWSE_FIRST), "d")
	req := getReq(b, mqi.MQGMO_BROWSE_NEXT|mqi.MQGMO_WAIT)
	req.GMO.WaitInterval = 1000
	tag := r.send(c, req)
	r.put(c, b, "behind", priority(9))
	check(t, "not reached: it came before the cursor", r.answer(tag), "waiting")
	r.put(c, b, "e")
	check(t, "a waiting browse", r.answer(tag), "e")
	check(t, "depth", r.counts("Q"), "3/0")
}

func TestGetOptionsAreChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h, b, o := r.open(c, "Q", in), r.open(c, "Q", mqi.MQOO_BROWSE), r.open(c, "Q", out)
	for _, x := range []struct {
		handle  uint32
		options int32
		want    string
	}{
		{h, mqi.MQGMO_BROWSE_NEXT, "2036"},
		{b, 0, "2037"},
		{o, 0, "2037"},
		{99, 0, "2019"},
		{h, mqi.MQGMO_SYNCPOINT | mqi.MQGMO_NO_SYNCPOINT, "2046"},
		{b, mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_BROWSE_NEXT, "2046"},
		{b, mqi.MQGMO_BROWSE_NEXT | mqi.MQGMO_SYNCPOINT, "2046"},
		{h, 1 << 29, "2046"},
		{h, mqi.MQGMO_COMPLETE_MSG, "2033"},
		{h, mqi.MQGMO_LOCK, "2046"},
		{b, mqi.MQGMO_UNLOCK | mqi.MQGMO_BROWSE_FIRST, "2046"},
		{h, mqi.MQGMO_UNLOCK, "2036"},
		{b, mqi.MQGMO_UNLOCK, "2209"},
		{b, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR | mqi.MQGMO_LOGICAL_ORDER, "2046"},
		{h, mqi.MQGMO_MSG_UNDER_CURSOR, "2036"},
	} {
		check(t, "get", r.get(c, x.handle, x.options), x.want)
	}
	req := getReq(h, 0)
	req.GMO.MatchOptions = 1 << 20
	check(t, "match options", r.getWith(c, req), "2247")
	req = getReq(h, mqi.MQGMO_WAIT)
	req.GMO.WaitInterval = -2
	check(t, "wait", r.getWith(c, req), "2090")
	check(t, "put on an input handle", r.call(c, r.putReq(h, "x")).Reason, mqi.MQRC_NOT_OPEN_FOR_OUTPUT)
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	expiry := func(tenths int32) func(*PutReq) { return func(p *PutReq) { p.MD.Expiry = tenths } }
	r.put(c, h, "short", expiry(10), persistent)
	r.put(c, h, "long", expiry(100), persistent)
	check(t, "depth", r.counts("Q"), "2/0")
	r.after(2 * time.Second)
	check(t, "expired still counts", r.counts("Q"), "2/0")
	reply := r.must(c, getReq(h, mqi.MQGMO_SYNCPOINT))
	check(t, "what is left", reply.Result.(*GetResult).MD.Expiry, 80)
	r.must(c, BackReq{})
	check(t, "the short one is gone", r.counts("Q"), "1/0")
	r.crash()
	check(t, "after a restart", r.counts("Q"), "1/0")
	r.after(6 * time.Minute)
	check(t, "swept", r.counts("Q"), "0/0")
	// Nothing waits for the disk to forget an expired message: it may be back, but nobody gets it.
	r.crash()
	c = r.connect(1, "app")
	check(t, "after a restart", r.get(c, r.open(c, "Q", in), 0), "2033")
	check(t, "after a restart", r.counts("Q"), "0/0")
}

func TestSweepIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) MAXDEPTH(10000)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", out)
	for range 3 * sweepStep {
		r.put(c, h, "", func(p *PutReq) { p.MD.Expiry = 1 })
	}
	r.now = r.m.NextDeadline()
	r.step(Tick{})
	check(t, "one step", r.counts("Q") != "0/0" && r.counts("Q") != "6000/0", true)
	r.after(time.Second)
	check(t, "all steps", r.counts("Q"), "0/0")
}
