package qmgr

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// member makes a put one message of group n.
func member(n byte, number int, last bool, more ...func(*PutReq)) func(*PutReq) {
	flags := inGroup
	if last {
		flags |= lastIn
	}
	return func(p *PutReq) {
		at(n, int32(number), 0, flags)(p)
		for _, change := range more {
			change(p)
		}
	}
}

// A group of which a message comes only after the run began stays for the next
// one: half of it would go, and the other half after it who knows where.
func TestMoveLeavesGroupsThatPassTheHorizon(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	qm2.mustPut(h, "before 1", member(1, 1, false))
	qm2.mustPut(h, "whole 1", member(2, 1, false))
	qm2.mustPut(h, "whole 2", member(2, 2, true))
	horizon := qm2.move(MoveReq{Max: 1, DryRun: true}).Horizon
	qm2.mustPut(h, "after 2", member(1, 2, true))
	qm2.mustPut(h, "late 1", member(3, 1, true))
	qm2.mustPut(h, "late", nil)
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	res := qm2.move(MoveReq{Until: horizon})
	check(t, "moved", len(res.Moved), 2)
	check(t, "grouped", res.Grouped, 1)
	check(t, "nothing more up to the horizon", res.More, false)
	w.pass(time.Second)
	check(t, "arrived", fmt.Sprint(qm3.texts("DCQ1")), "[whole 1 whole 2]")
	res = qm2.move(MoveReq{})
	check(t, "the next run", len(res.Moved), 4)
	w.pass(time.Second)
	check(t, "left", len(qm2.texts("DCQ1")), 0)
	check(t, "arrived", len(qm3.texts("DCQ1")), 6)
}

// A group's messages are found wherever they stand: of other priorities, the
// last before the first, thousands of messages apart.
func TestMoveFindsGroupsWhereverTheyStand(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "MAXDEPTH(100000)")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	fixed := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_ON_OPEN)
	priority := func(n int32) func(*PutReq) { return func(p *PutReq) { p.MD.Priority = n } }
	qm2.mustPut(h, "a3", member(1, 3, true, priority(9)))
	qm2.mustPut(h, "a1", member(1, 1, false, priority(0)))
	for range moveScan + 100 {
		qm2.mustPut(fixed, "", func(p *PutReq) { p.MD.Persistence, p.MD.Priority, p.Body = mqi.MQPER_NOT_PERSISTENT, 5, BodyRef{} })
	}
	qm2.mustPut(h, "a2", member(1, 2, false, priority(5)))
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	res := qm2.move(MoveReq{Max: 2, Group: 2})
	check(t, "longer than it may be", len(res.Moved), 0)
	check(t, "grouped", res.Grouped, 1) // the others are behind what a unit looks at
	res = qm2.move(MoveReq{})
	check(t, "moved", len(res.Moved), 3)
	check(t, "grouped", res.Grouped, 0)
	w.pass(time.Second)
	got := qm3.texts("DCQ1")
	slices.Sort(got)
	check(t, "arrived", fmt.Sprint(got), "[a1 a2 a3]")
	check(t, "left", len(qm2.texts("DCQ1")), moveScan+100)
}

// A group that is longer than a unit of work goes in one of its own.
func TestMoveTakesAGroupThatIsLongerThanAUnit(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 3, "")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	const long = 70
	for i := range long {
		qm2.mustPut(h, fmt.Sprint("g", i), member(1, i+1, i == long-1))
	}
	qm2.mustPut(h, "last", nil)
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	var units []int
	req := MoveReq{Group: 1000}
	for more := true; more; {
		res := qm2.move(req)
		units = append(units, len(res.Moved))
		req.After, req.Until, more = res.Next, res.Horizon, res.More
	}
	check(t, "units", fmt.Sprint(units), "[3 70 1]")
	w.pass(time.Second)
	check(t, "arrived", len(qm3.texts("DCQ1")), 3+long+1)
}

// The segments of a message go together, in their order, or stay.
func TestMoveTakesWholeMessagesInSegments(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	qm2.mustPut(h, "45", at(1, 1, 3, lastSeg))
	qm2.mustPut(h, "half", at(2, 1, 0, segment))
	qm2.mustPut(h, "123", at(1, 1, 0, segment))
	qm2.mustPut(h, "gap", at(3, 1, 0, segment))
	qm2.mustPut(h, "end", at(3, 1, 4, lastSeg))
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	res := qm2.move(MoveReq{})
	check(t, "moved", len(res.Moved), 2)
	check(t, "grouped", res.Grouped, 3)
	w.pass(time.Second)
	check(t, "arrived", fmt.Sprint(qm3.texts("DCQ1")), "[123 45]")
}

// A message at BOTHRESH is given up on, one below is not.
func TestMovePoisonBeginsAtTheThreshold(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "BOTHRESH(3)")
	h, get := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED), qm2.mustOpen("DCQ1", in)
	for n := range 5 {
		put := qm2.mustPut(h, fmt.Sprint(n, " times"), nil)
		for range n {
			req := getReq(get, mqi.MQGMO_SYNCPOINT)
			req.MD.MsgId, req.GMO.MatchOptions = put.MsgId, mqi.MQMO_MATCH_MSG_ID
			check(t, "get", qm2.call(req).Reason, mqi.MQRC_NONE)
			qm2.call(BackReq{})
		}
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	res := qm2.move(MoveReq{})
	check(t, "poison", res.Poison, 2)
	w.pass(time.Second)
	check(t, "arrived", fmt.Sprint(qm3.texts("DCQ1")), "[0 times 1 times 2 times]")
	qm2.ok("ALTER QLOCAL(DCQ1) BOTHRESH(0)")
	check(t, "without a threshold nothing is given up on", len(qm2.move(MoveReq{}).Moved), 2)
}

// Dry runs in several units list each message of a group once.
func TestDryRunListsAGroupOnce(t *testing.T) {
	t.Parallel()
	w, qm2, _ := stranded(t, 0, "")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	for i := range 4 {
		qm2.mustPut(h, fmt.Sprint("g", i), member(1, i+1, i == 3))
		qm2.mustPut(h, fmt.Sprint("between ", i), nil)
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	seen := map[MoveKey]int{}
	req := MoveReq{Max: 2, Group: 10, DryRun: true}
	for units, more := 0, true; more; units++ {
		if units > 20 {
			t.Fatal("no end")
		}
		res := qm2.move(req)
		for _, m := range res.Moved {
			seen[m.Key]++
		}
		req.After, req.Until, more = res.Next, res.Horizon, res.More
	}
	for _, n := range seen {
		check(t, "times", n, 1)
	}
	check(t, "messages", len(seen), 8)
}

// A transmission queue that takes half a group takes none of it.
func TestMoveOfAGroupThatDoesNotFit(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 2, "")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	for i := range 6 {
		qm2.mustPut(h, fmt.Sprint("g", i), member(1, i+1, i == 5))
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	qm3.crash()
	w.pass(time.Second)
	qm2.ok(fmt.Sprintf("ALTER QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) MAXDEPTH(%d)", qm2.m.localQueue(sharedTransmitQ).depth+5))
	res := qm2.move(MoveReq{})
	check(t, "moved", len(res.Moved), 2)
	check(t, "reason", res.Reason, mqi.MQRC_Q_FULL)
	check(t, "left", res.Depth, 6)
	qm2.ok("ALTER QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) MAXDEPTH(1000)")
	qm3.start()
	w.pass(5 * time.Minute)
	check(t, "the group", len(qm2.move(MoveReq{After: res.Next, Until: res.Horizon}).Moved), 6)
	w.pass(time.Minute)
	check(t, "arrived", len(qm3.texts("DCQ1")), 8)
}

// One message that must stay keeps its whole group, whichever it is and whyever.
func TestMoveLeavesAGroupOfWhichOneMustStay(t *testing.T) {
	t.Parallel()
	type blemish struct {
		addressed, bound, poison, returned, uncommitted, expired, gotten bool
	}
	for name, m := range map[string]blemish{
		"addressed": {addressed: true}, "bound": {bound: true}, "poison": {poison: true}, "returned": {returned: true},
		"put uncommitted": {uncommitted: true}, "expired": {expired: true}, "got uncommitted": {gotten: true},
	} {
		for _, which := range []int{0, 1, 2} {
			t.Run(fmt.Sprint(name, which), func(t *testing.T) {
				t.Parallel()
				w, qm2, qm3 := stranded(t, 0, "BOTHRESH(1)")
				free, fixed := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED), qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_ON_OPEN)
				get := qm2.mustOpen("DCQ1", in)
				var skip []MoveKey
				for i := range 3 {
					spoilt := i == which
					put := member(1, i+1, i == 2, func(p *PutReq) {
						switch {
						case !spoilt:
						case m.addressed:
							p.Handle, p.OD = 0, mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: "QM2"}
						case m.bound:
							p.Handle = fixed
						case m.uncommitted:
							inUnit(p)
						case m.expired:
							p.MD.Expiry = 1
						}
					})
					res := qm2.mustPut(free, fmt.Sprint(i), put)
					if spoilt && m.returned {
						skip = []MoveKey{{MsgId: res.MsgId, CorrelId: res.CorrelId, PutDateTime: res.PutDateTime}}
					}
					if spoilt && (m.poison || m.gotten) {
						req := getReq(get, mqi.MQGMO_SYNCPOINT)
						req.MD.MsgId, req.GMO.MatchOptions = res.MsgId, mqi.MQMO_MATCH_MSG_ID
						check(t, "get", qm2.call(req).Reason, mqi.MQRC_NONE)
						if m.poison {
							qm2.call(BackReq{})
						}
					}
				}
				qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
				w.pass(time.Second)
				res := qm2.move(MoveReq{Skip: skip})
				check(t, "moved", len(res.Moved), 0)
				check(t, "grouped", res.Grouped, 2)
				w.pass(time.Second)
				check(t, "arrived", len(qm3.texts("DCQ1")), 0)
			})
		}
	}
}

// A family that is not what its flags say stays: with a member that is there twice
// or comes after the last, or of which one is in the group and another is not.
func TestMoveLeavesFamiliesThatAreNone(t *testing.T) {
	t.Parallel()
	type put struct {
		text   string
		change func(*PutReq)
	}
	for name, puts := range map[string][]put{
		"twice":                     {{"a", at(1, 1, 0, inGroup)}, {"b", at(1, 2, 0, inGroup|lastIn)}, {"b", at(1, 2, 0, inGroup|lastIn)}},
		"after the last":            {{"a", at(1, 1, 0, inGroup|lastIn)}, {"b", at(1, 2, 0, inGroup|lastIn)}},
		"a segment twice":           {{"a", at(1, 1, 0, segment)}, {"b", at(1, 1, 1, lastSeg)}, {"b", at(1, 1, 1, lastSeg)}},
		"after the last segment":    {{"a", at(1, 1, 0, lastSeg)}, {"b", at(1, 1, 1, lastSeg)}},
		"overlapping":               {{"abc", at(1, 1, 0, segment)}, {"c", at(1, 1, 2, segment)}, {"d", at(1, 1, 3, lastSeg)}},
		"not all in the group":      {{"a", at(1, 1, 0, inGroup|lastIn|segment)}, {"b", at(1, 1, 1, lastSeg)}},
		"the first is in no group":  {{"a", at(1, 1, 0, segment)}, {"b", at(1, 1, 1, inGroup|lastIn|lastSeg)}},
		"its segments are not all":  {{"a", at(1, 1, 0, inGroup|segment)}, {"b", at(1, 2, 0, inGroup|lastIn)}},
		"it does not begin":         {{"b", at(1, 2, 0, inGroup)}, {"c", at(1, 3, 0, inGroup|lastIn)}},
		"segments do not begin":     {{"b", at(1, 1, 1, segment)}, {"c", at(1, 1, 2, lastSeg)}},
		"segments and no end":       {{"a", at(1, 1, 0, segment)}, {"b", at(1, 1, 1, segment)}},
		"a number that is left out": {{"a", at(1, 1, 0, inGroup)}, {"c", at(1, 3, 0, inGroup|lastIn)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, qm2, _ := stranded(t, 0, "")
			h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
			for _, p := range puts {
				qm2.mustPut(h, p.text, p.change)
			}
			qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
			w.pass(time.Second)
			for _, req := range []MoveReq{{}, {DryRun: true}, {Max: 1, Group: 10}} {
				res := qm2.move(req)
				check(t, "moved", len(res.Moved), 0)
				check(t, "grouped", res.Grouped, len(puts))
			}
		})
	}
}
