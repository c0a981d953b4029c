package qmgr

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// stranded is the usual topology with QM2's instance of DCQ1 out of the
// balancing and n messages on it.
func stranded(t *testing.T, n int, level string) (w *clusterNet, qm2, qm3 *netNode) {
	t.Helper()
	w, _, qm2, qm3 = articleNet(t)
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	for i := range n {
		qm2.mustPut(h, fmt.Sprint(i), nil)
	}
	if got := len(qm2.texts("DCQ1")); got != n {
		t.Fatalf("%d of %d messages are at QM2", got, n)
	}
	if level != "" {
		qm2.ok("ALTER QLOCAL(DCQ1) " + level)
	}
	w.pass(time.Second)
	return w, qm2, qm3
}

func (n *netNode) mustOpen(q string, options int32) uint32 {
	n.net.t.Helper()
	h, reason := n.open(q, options)
	if reason != mqi.MQRC_NONE {
		n.net.t.Fatalf("open %s: %v", q, reason)
	}
	return h
}

func (n *netNode) mustPut(h uint32, text string, change func(*PutReq)) PutResult {
	n.net.t.Helper()
	n.lastBody++
	n.bodies[n.lastBody] = []byte(text)
	req := PutReq{Handle: h, MD: mqi.NewMD(), Body: BodyRef{ID: n.lastBody, Len: len(text)}}
	if change != nil {
		change(&req)
	}
	r := n.call(req)
	if r.Reason != mqi.MQRC_NONE {
		n.net.t.Fatalf("put %s: %v", text, r.Reason)
	}
	return r.Result.(PutResult)
}

func (n *netNode) move(req MoveReq) *MoveResult {
	n.net.t.Helper()
	if req.From == "" {
		req.From = "DCQ1"
	}
	if req.Max == 0 {
		req.Max = 50
	}
	r := n.call(req)
	if r.Reason != mqi.MQRC_NONE {
		n.net.t.Fatalf("move: %v", r.Reason)
	}
	return r.Result.(*MoveResult)
}

func TestMoveEmptiesTheQueueExactlyOnce(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 120, "PUT(DISABLED)")
	var req MoveReq
	var units []int
	for more := true; more; {
		res := qm2.move(req)
		if res.Stopped != "" {
			t.Fatalf("stopped: %s", res.Stopped)
		}
		for _, moved := range res.Moved {
			check(t, "where", moved.QMgr, "QM3")
		}
		units = append(units, len(res.Moved))
		req.After, req.Until, more = res.Next, res.Horizon, res.More
	}
	w.pass(time.Second)
	check(t, "units", fmt.Sprint(units), "[50 50 20]")
	check(t, "left", len(qm2.texts("DCQ1"))+len(qm2.texts(sharedTransmitQ)), 0)
	got := qm3.texts("DCQ1")
	slices.Sort(got)
	check(t, "arrived", len(slices.Compact(got)), 120)
	qm2.crash()
	qm2.start()
	w.pass(5 * time.Minute) // what was in doubt is resolved
	check(t, "still once", len(qm3.texts("DCQ1")), 120)
	check(t, "after a restart", len(qm2.texts("DCQ1"))+len(qm2.texts(sharedTransmitQ)), 0)
	qm2.apply(qm2.unsynced)
	check(t, "headers in the store", len(qm2.disk.messages), 0)
	check(t, "bodies in the store", len(qm2.disk.bodies), 0)
}

func TestMoveKeepsTheMessage(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	put := qm2.mustPut(h, "x", func(p *PutReq) {
		p.MD.Priority, p.MD.Expiry, p.MD.CorrelId, p.MD.ReplyToQ = 7, 1000, mqi.MsgId{9}, "ANSWERS"
		p.Props = []mqi.Property{{Name: "colour", Type: 's', Value: []byte("red")}}
	})
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(10 * time.Second)
	qm2.move(MoveReq{})
	w.pass(0)
	got := qm3.call(getReq(qm3.mustOpen("DCQ1", in), 0)).Result.(*GetResult)
	check(t, "MsgId", got.MD.MsgId, put.MsgId)
	check(t, "CorrelId", got.MD.CorrelId, mqi.MsgId{9})
	check(t, "put time", got.MD.PutDateTime, put.PutDateTime)
	check(t, "priority", got.MD.Priority, 7)
	check(t, "persistence", got.MD.Persistence, mqi.MQPER_PERSISTENT)
	check(t, "remaining expiry", got.MD.Expiry, 900)
	check(t, "reply-to", got.MD.ReplyToQ+"@"+got.MD.ReplyToQMgr, "ANSWERS@QM2")
	check(t, "user", got.MD.PutApplName, "test")
	check(t, "property", string(got.Props[0].Value), "red")
}

func TestMoveLeavesWhatMustStay(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "BOTHRESH(1)")
	free := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	bound := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_ON_OPEN)
	get := qm2.mustOpen("DCQ1", in)
	poison := qm2.mustPut(free, "poison", nil)
	qm2.call(getReq(get, mqi.MQGMO_SYNCPOINT))
	qm2.call(BackReq{})
	qm2.mustPut(bound, "bound", nil)
	addressed := qm2.call(PutReq{OD: mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: "QM2"}, MD: mqi.NewMD()})
	check(t, "addressed put", addressed.Reason, mqi.MQRC_NONE)
	returned := qm2.mustPut(free, "returned", nil)
	qm2.mustPut(free, "segment", func(p *PutReq) { p.MD.MsgFlags = mqi.MQMF_SEGMENT })
	qm2.mustPut(free, "half a group", func(p *PutReq) { p.MD.MsgFlags = mqi.MQMF_MSG_IN_GROUP })
	qm2.mustPut(free, "goes", nil)
	qm2.mustPut(free, "uncommitted", inUnit)
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	key := MoveKey{MsgId: returned.MsgId, CorrelId: returned.CorrelId, PutDateTime: returned.PutDateTime}
	dry := qm2.move(MoveReq{Skip: []MoveKey{key}, DryRun: true})
	check(t, "planned", len(dry.Moved), 1)
	check(t, "depth after a dry run", dry.Depth, 8)
	res := qm2.move(MoveReq{Skip: []MoveKey{key}})
	check(t, "moved", len(res.Moved), 1)
	check(t, "poison", res.Poison, 1)
	check(t, "bound", res.Bound, 1)
	check(t, "addressed", res.Addressed, 1)
	check(t, "grouped", res.Grouped, 2)
	check(t, "returned", res.Returned, 1)
	check(t, "depth", res.Depth, 7)
	check(t, "uncommitted", res.Uncom, 1)
	check(t, "readers", res.Readers, 1)
	check(t, "more", res.More, false)
	w.pass(time.Second)
	check(t, "arrived", fmt.Sprint(qm3.texts("DCQ1")), "[goes]")
	check(t, "poison stays", poison.MsgId, qm2.m.localQueue("DCQ1").next(headOfQueue).md.MsgId)
	even := qm2.move(MoveReq{Skip: []MoveKey{key}, EvenIfBound: true})
	check(t, "even if bound", len(even.Moved), 1)
	w.pass(time.Second)
	check(t, "arrived", fmt.Sprint(qm3.texts("DCQ1")), "[goes bound]")
}

func TestMoveTakesWholeGroups(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 3, "")
	h, other := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED), qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	for i, flags := range []int32{mqi.MQMF_MSG_IN_GROUP, mqi.MQMF_MSG_IN_GROUP, mqi.MQMF_LAST_MSG_IN_GROUP} {
		qm2.mustPut(h, fmt.Sprint("g", i+1), func(p *PutReq) { p.MD.MsgFlags, p.PMO.Options = flags, mqi.MQPMO_LOGICAL_ORDER })
		qm2.mustPut(other, fmt.Sprint("between", i), nil)
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	res := qm2.move(MoveReq{Max: 5})
	check(t, "the group does not fit any more", len(res.Moved), 3)
	res = qm2.move(MoveReq{Max: 5, After: res.Next, Until: res.Horizon})
	check(t, "the group and what lies between", len(res.Moved), 5)
	res = qm2.move(MoveReq{Max: 5, After: res.Next, Until: res.Horizon})
	check(t, "the rest", len(res.Moved), 1)
	w.pass(time.Second)
	check(t, "left", len(qm2.texts("DCQ1")), 0)
	check(t, "arrived", len(qm3.texts("DCQ1")), 9)
}

func TestMoveStopsWhereItWouldLand(t *testing.T) {
	t.Parallel()
	w, qm2, _ := stranded(t, 10, "")
	res := qm2.move(MoveReq{})
	check(t, "the local instance is preferred", res.Stopped, stoppedLanded)
	check(t, "nothing moved", len(res.Moved), 0)
	check(t, "nothing passed", res.Next.Valid, false)
	check(t, "all there", res.Depth, 10)
	qm2.ok("ALTER QLOCAL(DCQ1) CLWLUSEQ(ANY)")
	w.pass(time.Second)
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	for i := range 40 { // by now both instances had their share
		qm2.mustPut(h, fmt.Sprint("both ", i), nil)
	}
	before := len(qm2.texts("DCQ1"))
	res = qm2.move(MoveReq{})
	check(t, "equally good instances", res.Stopped, stoppedLanded)
	check(t, "the whole unit is backed out", len(res.Moved)+before-res.Depth, 0)
	qm2.ok("ALTER QLOCAL(DCQ1) GET(DISABLED) PUT(DISABLED)")
	check(t, "get inhibited", qm2.move(MoveReq{}).Reason, mqi.MQRC_GET_INHIBITED)
}

func TestMoveWithoutAnInstance(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 10, "PUT(DISABLED)")
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	res := qm2.move(MoveReq{})
	check(t, "stopped", res.Stopped, stoppedNoInstance)
	check(t, "reason", res.Reason, mqi.MQRC_CLUSTER_PUT_INHIBITED)
	check(t, "depth", res.Depth, 10)
	qm2.ok("DEFINE QLOCAL(PRIVATE)")
	check(t, "not in a cluster", qm2.move(MoveReq{From: "PRIVATE"}).Stopped, stoppedNoInstance)
	check(t, "no such queue", qm2.call(MoveReq{From: "NONE", Max: 1}).Reason, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	for _, req := range []MoveReq{
		{Max: 0}, {Max: -1}, {Max: maxMoveUnit + 1},
		{Max: 1, Group: -1}, {Max: 1, Group: maxMoveUnit + 1}, {Max: 1, Group: math.MaxInt32, DryRun: true},
	} {
		req.From = "DCQ1"
		check(t, fmt.Sprint(req.Max, " and ", req.Group), qm2.call(req).Reason, mqi.MQRC_OPTIONS_ERROR)
	}
	check(t, "the most", qm2.call(MoveReq{From: "DCQ1", Max: maxMoveUnit, Group: maxMoveUnit}).Reason, mqi.MQRC_NONE)
}

func TestMoveStopsAtAFullTransmissionQueue(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 20, "PUT(DISABLED)")
	qm3.crash()
	w.pass(time.Second)
	qm2.ok("ALTER QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) MAXDEPTH(8)")
	free := 8 - qm2.m.localQueue(sharedTransmitQ).depth
	res := qm2.move(MoveReq{})
	check(t, "reason", res.Reason, mqi.MQRC_Q_FULL)
	check(t, "moved", len(res.Moved), free)
	check(t, "depth", res.Depth, 20-free)
	check(t, "there is more", res.More, true)
	qm2.ok("ALTER QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) MAXDEPTH(1000)")
	qm3.start()
	w.pass(5 * time.Minute)
	res = qm2.move(MoveReq{After: res.Next, Until: res.Horizon})
	check(t, "the rest", len(res.Moved), 20-free)
	w.pass(time.Minute)
	check(t, "arrived", len(qm3.texts("DCQ1")), 20)
}

func TestMoveIsBounded(t *testing.T) {
	t.Parallel()
	w, qm2, _ := stranded(t, 0, "MAXDEPTH(100000)")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_ON_OPEN)
	for range moveScan + 10 {
		qm2.mustPut(h, "", func(p *PutReq) { p.MD.Persistence, p.Body = mqi.MQPER_NOT_PERSISTENT, BodyRef{} })
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	res := qm2.move(MoveReq{})
	check(t, "looked at", res.Bound, moveScan)
	check(t, "more", res.More, true)
	res = qm2.move(MoveReq{After: res.Next, Until: res.Horizon})
	check(t, "the rest", res.Bound, 10)
	check(t, "more", res.More, false)
}

func TestDisplayQueueWithInstances(t *testing.T) {
	t.Parallel()
	_, qm2, _ := stranded(t, 0, "")
	got := qm2.show("DISPLAY QUEUE(DCQ1) CLUSINFO TYPE CLUSQMGR", "TYPE", "CLUSQMGR")
	check(t, "our own and every instance", got, "QLOCAL\nQCLUSTER QM2\nQCLUSTER QM3")
	check(t, "only instances", qm2.show("DISPLAY QUEUE(DCQ1) TYPE(QCLUSTER) CLUSQMGR", "TYPE", "CLUSQMGR"), "QCLUSTER QM2\nQCLUSTER QM3")
	check(t, "without CLUSINFO", qm2.show("DISPLAY QUEUE(DCQ1)", "TYPE"), "QLOCAL")
}

// A message says where it arrives as often as it does, and that it was got only
// when an application gets it.
func TestMoveIsNoGet(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "")
	qm2.ok("DEFINE QLOCAL(ANSWERS)")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	qm2.mustPut(h, "x", func(p *PutReq) {
		p.MD.Report, p.MD.ReplyToQ = mqi.MQRO_COA|mqi.MQRO_COD, "ANSWERS"
	})
	feedback := func() string {
		q, list := qm2.m.localQueue("ANSWERS"), []int32{}
		for msg := q.next(headOfQueue); msg != nil; msg = q.next(msg.position()) {
			list = append(list, msg.md.Feedback)
		}
		return fmt.Sprint(list)
	}
	w.pass(time.Second)
	check(t, "at QM2", feedback(), fmt.Sprint([]int32{mqi.MQFB_COA}))
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	check(t, "moved", len(qm2.move(MoveReq{}).Moved), 1)
	w.pass(time.Second)
	check(t, "at QM3", feedback(), fmt.Sprint([]int32{mqi.MQFB_COA, mqi.MQFB_COA}))
	qm3.call(getReq(qm3.mustOpen("DCQ1", in), 0))
	w.pass(time.Second)
	check(t, "got", feedback(), fmt.Sprint([]int32{mqi.MQFB_COA, mqi.MQFB_COA, mqi.MQFB_COD}))
}

// What stays is counted once, also where a unit ended before it came to it.
func TestMoveCountsOnceWhatStaysBehindAFullTransmissionQueue(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "")
	free, fixed := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED), qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_ON_OPEN)
	for _, kind := range "ffbffbbfbf" {
		h := map[rune]uint32{'f': free, 'b': fixed}[kind]
		qm2.mustPut(h, string(kind), nil)
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	qm3.crash()
	w.pass(time.Second)
	waiting := qm2.m.localQueue(sharedTransmitQ).depth
	bound, moved := 0, 0
	req := MoveReq{}
	for room := 1; room < 20 && (req.Until == 0 || moved < 6); room++ {
		qm2.ok(fmt.Sprintf("ALTER QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) MAXDEPTH(%d)", waiting+room))
		res := qm2.move(req)
		bound, moved = bound+res.Bound, moved+len(res.Moved)
		req.After, req.Until = res.Next, res.Horizon
	}
	check(t, "moved", moved, 6)
	check(t, "bound", bound, 4)
}

// A message that moved is free: where it arrives at an instance that takes none
// any more it is resolved again, and finds the one that does.
func TestMovedMessageIsNotFixed(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 5, "CLWLUSEQ(ANY)")
	qm3.ok("ALTER QLOCAL(DCQ1) CLWLPRTY(9) CLWLUSEQ(ANY)")
	w.pass(time.Second)
	// QM3's instance is disabled, but its publications do not get out.
	w.cut["QM3>QM2"], w.cut["QM3>QM1"] = true, true
	qm3.cutLinks()
	w.pass(2 * time.Second)
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	res := qm2.move(MoveReq{})
	check(t, "moved", len(res.Moved), 5)
	w.pass(10 * time.Second)
	delete(w.cut, "QM3>QM2")
	delete(w.cut, "QM3>QM1")
	w.pass(5 * time.Minute)
	check(t, "back at QM2", len(qm2.texts("DCQ1")), 5)
	check(t, "at QM3", len(qm3.texts("DCQ1"))+len(qm3.texts(sharedTransmitQ)), 0)
}
