package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/mqi"
)

const (
	inGroup   = mqi.MQMF_MSG_IN_GROUP
	lastIn    = mqi.MQMF_LAST_MSG_IN_GROUP
	segment   = mqi.MQMF_SEGMENT
	lastSeg   = mqi.MQMF_LAST_SEGMENT
	logical   = mqi.MQGMO_LOGICAL_ORDER
	complete  = mqi.MQGMO_COMPLETE_MSG
	allMsgs   = mqi.MQGMO_ALL_MSGS_AVAILABLE
	allSegs   = mqi.MQGMO_ALL_SEGMENTS_AVAILABLE
	browse1st = mqi.MQGMO_BROWSE_FIRST
	browseNxt = mqi.MQGMO_BROWSE_NEXT
)

// flagged puts with flags, in logical order.
func flagged(flags int32) func(*PutReq) {
	return func(p *PutReq) { p.MD.MsgFlags, p.PMO.Options = flags, p.PMO.Options|mqi.MQPMO_LOGICAL_ORDER }
}

// at puts a message at a place in a group, in any order.
func at(id byte, number, offset, flags int32) func(*PutReq) {
	return func(p *PutReq) {
		p.MD.GroupId, p.MD.MsgSeqNumber, p.MD.Offset, p.MD.MsgFlags = mqi.MsgId{id}, number, offset, flags
	}
}

func groupRig(t *testing.T) (*rig, ConnID, uint32) {
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	return r, c, r.open(c, "Q", inOut|mqi.MQOO_BROWSE)
}

// TestLogicalOrder: two groups that lie between each other come one after the other.
func TestLogicalOrder(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	for _, x := range []struct {
		text string
		f    func(*PutReq)
	}{
		{"a2", at(1, 2, 0, inGroup)}, {"b1", at(2, 1, 0, inGroup)}, {"single", nil}, {"a1", at(1, 1, 0, inGroup)},
		{"b2", at(2, 2, 0, lastIn)}, {"a3", at(1, 3, 0, lastIn)},
	} {
		if x.f == nil {
			x.f = func(*PutReq) {}
		}
		r.put(c, h, x.text, x.f)
	}
	var got []string
	browse := []string{r.get(c, h, browse1st|logical)}
	for range 6 {
		browse = append(browse, r.get(c, h, browseNxt|logical))
	}
	check(t, "browsed", strings.Join(browse, " "), "b1 b2 single a1 a2 a3 2033")
	for range 7 {
		got = append(got, r.get(c, h, logical))
	}
	check(t, "got", strings.Join(got, " "), "b1 b2 single a1 a2 a3 2033")
}

// TestGroupIsWaitedFor: in the middle of a group only its next message will do.
func TestGroupIsWaitedFor(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	r.put(c, h, "a1", at(1, 1, 0, inGroup))
	check(t, "first", r.get(c, h, logical), "a1")
	r.put(c, h, "other")
	r.put(c, h, "a3", at(1, 3, 0, lastIn))
	check(t, "the second is not there", r.get(c, h, logical), "2033")
	req := getReq(h, logical|mqi.MQGMO_WAIT)
	req.GMO.WaitInterval = mqi.MQWI_UNLIMITED
	tag := r.send(c, req)
	check(t, "waits", r.answer(tag), "waiting")
	r.put(c, h, "again", func(*PutReq) {})
	check(t, "still waits", r.answer(tag), "waiting")
	r.put(c, h, "a2", at(1, 2, 0, inGroup))
	check(t, "comes", r.answer(tag), "a2")
	check(t, "the end", r.get(c, h, logical), "a3")
	check(t, "then the rest", r.get(c, h, logical), "other")
}

// TestAllMessagesAvailable: a group shows only once it is whole.
func TestAllMessagesAvailable(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	req := getReq(h, logical|allMsgs|mqi.MQGMO_WAIT)
	req.GMO.WaitInterval = 60_000
	tag := r.send(c, req)
	r.put(c, h, "g1", at(1, 1, 0, inGroup))
	r.put(c, h, "g3", at(1, 3, 0, lastIn))
	check(t, "incomplete", r.answer(tag), "waiting")
	r.put(c, h, "g2-uncommitted", at(1, 2, 0, inGroup), inUnit)
	check(t, "uncommitted", r.answer(tag), "waiting")
	r.must(c, CommitReq{})
	check(t, "complete", r.answer(tag), "g1")
	// The rest comes also if the group is not complete any more.
	check(t, "second", r.get(c, h, logical|allMsgs), "g2-uncommitted")
	check(t, "third", r.get(c, h, logical|allMsgs), "g3")
	r.put(c, h, "x2", at(2, 2, 0, lastIn))
	check(t, "a group without its beginning, any order", r.get(c, h, allMsgs), "2033")
	check(t, "without the option", r.get(c, h, 0), "x2")
}

// TestSegmentsArePutTogether: COMPLETE_MSG gives one message of its segments.
func TestSegmentsArePutTogether(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	r.put(c, h, "one-", flagged(segment), persistent)
	r.put(c, h, "two-", flagged(segment), persistent)
	check(t, "not whole", r.get(c, h, complete), "2033")
	check(t, "not whole", r.get(c, h, allSegs), "2033")
	res := r.put(c, h, "three", flagged(lastSeg), persistent)
	check(t, "offset told", res.Offset, 8)
	check(t, "flags told", res.MsgFlags, segment|lastSeg)
	r.crash()
	c = r.connect(1, "app")
	h = r.open(c, "Q", inOut|mqi.MQOO_BROWSE)
	check(t, "browsed whole", r.get(c, h, browse1st|complete), "one-two-three")
	check(t, "under the cursor", r.get(c, h, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR|complete), "one-two-three")
	req := getReq(h, complete)
	req.GMO.MaxLength = 6
	tag := r.send(c, req)
	check(t, "too long", r.answer(tag), "2080")
	check(t, "the length", r.replies[tag].Result.(*GetResult).Length, 13)
	check(t, "what fits", r.texts[tag], "one-tw")
	tag = r.send(c, getReq(h, complete|mqi.MQGMO_SYNCPOINT))
	check(t, "got", r.answer(tag), "one-two-three")
	md := r.replies[tag].Result.(*GetResult).MD
	check(t, "no segment any more", fmt.Sprint(md.MsgFlags, md.Offset), "0 0")
	check(t, "in the unit", r.counts("Q"), "0/3")
	r.must(c, BackReq{})
	check(t, "back", r.counts("Q"), "3/0")
	check(t, "browse the second", r.get(c, h, browse1st)+r.get(c, h, browseNxt), "one-two-")
	check(t, "no beginning under the cursor", r.get(c, h, mqi.MQGMO_MSG_UNDER_CURSOR|complete), "2034")
	check(t, "each alone", r.get(c, h, 0)+r.get(c, h, 0), "one-two-")
	check(t, "the last alone", r.get(c, h, logical), "2033")
}

// TestQueueManagerCutsSegments: a message that may be cut can be longer than MAXMSGL.
func TestQueueManagerCutsSegments(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) MAXMSGL(40) MAXDEPTH(3)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	long := strings.Repeat("0123456789", 9)
	may := func(p *PutReq) { p.MD.MsgFlags |= mqi.MQMF_SEGMENTATION_ALLOWED }
	check(t, "may not be cut", r.call(c, r.putReq(h, long)).Reason, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	r.put(c, h, long, may, persistent)
	check(t, "three of 32 bytes", r.counts("Q"), "3/0")
	check(t, "no room for more", r.call(c, r.putReq(h, long, may)).Reason, mqi.MQRC_Q_FULL)
	r.crash()
	c = r.connect(1, "app")
	h = r.open(c, "Q", inOut)
	check(t, "whole", r.get(c, h, complete), long)
	r.put(c, h, long, may, persistent, inUnit)
	r.must(c, BackReq{})
	r.put(c, h, long, may)
	check(t, "one", r.get(c, h, 0), long[:32])
	check(t, "two", r.get(c, h, 0), long[32:64])
	check(t, "three", r.get(c, h, 0), long[64:])
	headers, bodies := stored(r)
	check(t, "nothing is left", fmt.Sprint(headers, bodies, len(r.bodies)), "0 0 0")
}

// TestSegmentsAreAUnitOfWork: MAXUMSGS bounds the segments of one message, also
// those of a put outside a unit of work.
func TestSegmentsAreAUnitOfWork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) MAXMSGL(16)", "ALTER QMGR MAXUMSGS(2)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	may := flagged(mqi.MQMF_SEGMENTATION_ALLOWED)
	long := strings.Repeat("0123456789abcdef", 3)
	for what, unit := range map[string]func(*PutReq){"outside": func(*PutReq) {}, "inside": inUnit} {
		check(t, what+" a unit", r.call(c, r.putReq(h, long, may, unit)).Reason, mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
	}
	check(t, "nothing is left of it", r.counts("Q"), "0/0")
	r.put(c, h, long[:32], may)
	check(t, "two", r.counts("Q"), "2/0")
}

// TestOrderIsKept: puts and gets in logical order notice when a group is left.
func TestOrderIsKept(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	put := func(change ...func(*PutReq)) string {
		reply := r.call(c, r.putReq(h, "xx", change...))
		return fmt.Sprint(reply.CompCode, int(reply.Reason))
	}
	failed, warned := fmt.Sprint(mqi.MQCC_FAILED), fmt.Sprint(mqi.MQCC_WARNING)
	r.put(c, h, "g", flagged(inGroup))
	check(t, "not in the group", put(flagged(0)), failed+" 2241")
	check(t, "another unit", put(flagged(inGroup), inUnit), failed+" 2245")
	check(t, "persistence", put(flagged(inGroup), persistent), failed+" 2185")
	r.put(c, h, "g", flagged(inGroup|segment))
	check(t, "no segment", put(flagged(inGroup)), failed+" 2242")
	check(t, "another last", put(flagged(lastIn|segment)), failed+" 2242")
	check(t, "left in the middle of a message", put(), warned+" 2242")
	r.put(c, h, "g", flagged(inGroup))
	check(t, "left in the middle of a group", put(), warned+" 2241")
	check(t, "left", put(), fmt.Sprint(mqi.MQCC_OK, 0))
	r.put(c, h, "g", flagged(inGroup))
	reply := r.call(c, CloseReq{Handle: h})
	check(t, "closed in the middle", fmt.Sprint(reply.CompCode, int(reply.Reason)), warned+" 2241")
	check(t, "closed", r.get(c, h, 0), "2019")

	h = r.open(c, "Q", inOut|mqi.MQOO_BROWSE)
	check(t, "one", r.get(c, h, logical|mqi.MQGMO_SYNCPOINT), "g")
	check(t, "another unit", r.get(c, h, logical), "2245")
	tag := r.send(c, getReq(h, mqi.MQGMO_SYNCPOINT))
	check(t, "left", fmt.Sprint(r.replies[tag].CompCode, int(r.replies[tag].Reason), r.texts[tag]), warned+" 2241g")
	r.must(c, BackReq{})
	check(t, "browse", r.get(c, h, browse1st|logical), "g")
	check(t, "browse another way", r.get(c, h, browseNxt), "2259")
	check(t, "no handle", r.call(c, PutReq{OD: mqi.OD{ObjectName: "Q"}, MD: mqi.NewMD(), PMO: mqi.PMO{Options: mqi.MQPMO_LOGICAL_ORDER}}).Reason, mqi.MQRC_OPTIONS_ERROR)
	for want, change := range map[string]func(*PutReq){
		"2249": func(p *PutReq) { p.MD.MsgFlags = 1 << 7 },
		"2250": func(p *PutReq) { p.MD.MsgSeqNumber = 0 },
		"2251": func(p *PutReq) { p.MD.Offset = 5 },
		"2252": func(p *PutReq) { p.MD.OriginalLength, p.MD.MsgFlags, p.MD.MsgType = -7, segment, mqi.MQMT_REPORT },
		"2253": func(p *PutReq) { p.MD.MsgFlags, p.Body = segment, BodyRef{} },
		"2029": func(p *PutReq) { p.MD.MsgType = 77 },
		"2061": func(p *PutReq) { p.MD.Report = 0x00040000 },
		"2027": func(p *PutReq) { p.MD.Report = mqi.MQRO_COA },
	} {
		check(t, "put", put(change), failed+" "+want)
	}
}

// TestBackoutGoesBackInTheGroup: after a backout the group begins where it was.
func TestBackoutGoesBackInTheGroup(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	for i, flags := range []int32{inGroup, inGroup, lastIn} {
		r.put(c, h, fmt.Sprint("g", i+1), flagged(flags))
	}
	const sync = logical | mqi.MQGMO_SYNCPOINT
	check(t, "one", r.get(c, h, sync), "g1")
	r.must(c, CommitReq{})
	check(t, "two", r.get(c, h, sync), "g2")
	check(t, "three", r.get(c, h, sync), "g3")
	r.must(c, BackReq{})
	check(t, "two again", r.get(c, h, sync), "g2")
	r.must(c, BackReq{})
	put := func(flags int32) PutResult { return r.put(c, h, "p", flagged(flags), inUnit) }
	first := put(inGroup)
	r.must(c, CommitReq{})
	check(t, "second", put(inGroup).MsgSeqNumber, 2)
	check(t, "third", put(inGroup).MsgSeqNumber, 3)
	r.must(c, BackReq{})
	again := put(lastIn)
	check(t, "second again", again.MsgSeqNumber, 2)
	check(t, "the same group", again.GroupId, first.GroupId)
}

// TestLogicalOrderOfAnything: whatever the order of arrival, logical order gives
// each group whole and in order, and with ALL_MSGS_AVAILABLE no incomplete one.
func TestLogicalOrderOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		r.define("DEFINE QLOCAL(Q)")
		c := r.connect(1, "app")
		h := r.open(c, "Q", inOut)
		type part struct{ group, number, segment, size int }
		var parts []part
		want := map[int]string{}
		for g := 1; g <= rapid.IntRange(1, 4).Draw(rt, "groups"); g++ {
			size := rapid.IntRange(1, 4).Draw(rt, "size")
			missing := rapid.IntRange(0, 3).Draw(rt, "missing") // of four groups one lacks its first message
			var texts []string
			for n := 1; n <= size; n++ {
				segments := rapid.IntRange(1, 3).Draw(rt, "segments")
				for s := range segments {
					if missing != 1 || n != size || s != segments-1 {
						parts = append(parts, part{g, n, s, segments})
					}
				}
				texts = append(texts, strings.Repeat(fmt.Sprint(g, n), segments))
			}
			if missing != 1 {
				want[g] = strings.Join(texts, ",")
			}
			for i := range parts {
				if parts[i].group == g && parts[i].number == size {
					parts[i].number = -size // the last
				}
			}
		}
		for _, p := range rapid.Permutation(parts).Draw(rt, "order") {
			flags, number := inGroup, p.number
			if number < 0 {
				flags, number = inGroup|lastIn, -number
			}
			if p.size > 1 {
				flags |= segment
				if p.segment == p.size-1 {
					flags |= lastSeg
				}
			}
			text := fmt.Sprint(p.group, number)
			r.put(c, h, text, at(byte(p.group), int32(number), int32(p.segment*len(text)), flags), persistent)
		}
		if rapid.Bool().Draw(rt, "restart") {
			r.crash()
			c = r.connect(1, "app")
			h = r.open(c, "Q", inOut)
		}
		got := map[int][]string{}
		last := 0
		for {
			tag := r.send(c, getReq(h, logical|complete|allMsgs))
			text := r.answer(tag)
			if text == "2033" {
				break
			}
			g := int(r.replies[tag].Result.(*GetResult).MD.GroupId[0])
			if len(got[g]) > 0 && last != g {
				rt.Fatalf("group %d was left and taken up again", g)
			}
			last = g
			got[g] = append(got[g], text)
		}
		if len(got) != len(want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
		for g, text := range want {
			if strings.Join(got[g], ",") != text {
				rt.Fatalf("group %d: got %v, want %s", g, got[g], text)
			}
		}
	})
}

// TestBrowseLock: a locked message is there for its handle only.
func TestBrowseLock(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	r.put(c, h, "one", persistent)
	r.put(c, h, "two")
	d := r.connect(2, "other")
	g := r.open(d, "Q", inOut|mqi.MQOO_BROWSE)
	const lock = mqi.MQGMO_LOCK
	check(t, "locked", r.get(c, h, browse1st|lock), "one")
	check(t, "counts", r.counts("Q"), "2/0")
	check(t, "invisible to a browse", r.get(d, g, browse1st), "two")
	check(t, "invisible to a get", r.get(d, g, mqi.MQGMO_SYNCPOINT), "two")
	check(t, "nothing else", r.get(d, g, 0), "2033")
	r.must(d, BackReq{})
	check(t, "visible to its handle", r.get(c, h, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR|lock), "one")
	check(t, "the lock moves on", r.get(c, h, browseNxt|lock), "two")
	check(t, "free again", r.get(d, g, browse1st), "one")
	r.must(c, GetReq{Handle: h, GMO: mqi.GMO{Options: mqi.MQGMO_UNLOCK, MaxLength: -1}})
	check(t, "unlocked", r.get(d, g, browseNxt), "two")
	check(t, "no lock any more", r.get(c, h, mqi.MQGMO_UNLOCK), "2209")

	check(t, "locked", r.get(c, h, browse1st|lock), "one")
	req := getReq(g, mqi.MQGMO_WAIT)
	req.GMO.WaitInterval = mqi.MQWI_UNLIMITED
	check(t, "the other", r.get(d, g, 0), "two")
	tag := r.send(d, req)
	check(t, "waits for the lock", r.answer(tag), "waiting")
	r.must(c, CloseReq{Handle: h})
	check(t, "closing unlocks", r.answer(tag), "one")

	h = r.open(c, "Q", inOut|mqi.MQOO_BROWSE)
	r.put(c, h, "three", persistent)
	check(t, "locked", r.get(c, h, browse1st|lock), "three")
	check(t, "under the cursor", r.get(c, h, mqi.MQGMO_MSG_UNDER_CURSOR|mqi.MQGMO_SYNCPOINT), "three")
	check(t, "got", r.counts("Q"), "0/1")
	r.step(Disconnect{Conn: c, Abrupt: true})
	check(t, "back", r.get(d, g, browse1st|lock), "three")
	check(t, "the end of the queue unlocks", r.get(d, g, browseNxt), "2033")
	check(t, "free", r.get(d, g, 0), "three")
}

// TestSelection: a handle with a selection string sees only what it selects.
func TestSelection(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	colour := func(v string) func(*PutReq) {
		return func(p *PutReq) {
			p.Props = append(p.Props, mqi.Property{Name: "colour", Type: 's', Value: []byte(v)},
				mqi.Property{Name: "usr.weight", Type: 'i', Value: []byte{0, 0, 0, 0, 0, 0, 0, byte(len(v))}})
		}
	}
	open := func(text string, options int32) Reply {
		return r.call(c, OpenReq{OD: mqi.OD{ObjectName: "Q"}, Options: options, Selection: text})
	}
	red := open("colour = 'red' AND weight = 3", in|mqi.MQOO_BROWSE).Result.(OpenResult).Handle
	req := getReq(red, mqi.MQGMO_WAIT)
	req.GMO.WaitInterval = mqi.MQWI_UNLIMITED
	tag := r.send(c, req)
	r.put(c, h, "plain")
	r.put(c, h, "blue1", colour("blue"))
	check(t, "waits", r.answer(tag), "waiting")
	r.put(c, h, "red1", colour("red"))
	check(t, "selected", r.answer(tag), "red1")
	r.put(c, h, "red2", colour("red"), persistent, priority(5))
	r.put(c, h, "red3", colour("red"), persistent)
	check(t, "browsed", r.get(c, red, browse1st)+r.get(c, red, browseNxt)+r.get(c, red, browseNxt), "red2red32033")
	r.crash()
	c = r.connect(1, "app")
	red = open("usr.colour LIKE 'r%' AND Root.MQMD.Priority < 5 AND Root.MQMD.Persistence = 1", in).Result.(OpenResult).Handle
	check(t, "by the descriptor", r.get(c, red, 0), "red3")
	check(t, "no more", r.get(c, red, 0), "2033")
	id := r.put(c, r.open(c, "Q", out), "id").MsgId
	one := open(fmt.Sprintf(`Root.MQMD.MsgId = "0x%x" AND JMSPriority = 0 AND JMSDeliveryMode = 'NON_PERSISTENT' AND Root.MQMD.PutDate = '20260504'`, id), in).Result.(OpenResult).Handle
	check(t, "by the identifier", r.get(c, one, 0), "id")
	check(t, "wrong", open("colour == 1", in).Reason, mqi.MQRC_SELECTOR_SYNTAX_ERROR)
	check(t, "too long", open(strings.Repeat("x", 10241), in).Reason, mqi.MQRC_SELECTION_STRING_ERROR)
	check(t, "not for output", open("colour = 1", out).Reason, mqi.MQRC_SELECTION_STRING_ERROR)
}

// TestExpiredGroupIsNotComplete: what expired is not there, also for groups.
func TestExpiredGroupIsNotComplete(t *testing.T) {
	t.Parallel()
	r, c, h := groupRig(t)
	r.put(c, h, "g1", at(1, 1, 0, inGroup))
	r.put(c, h, "g2", at(1, 2, 0, lastIn), func(p *PutReq) { p.MD.Expiry = 10 })
	check(t, "complete", r.get(c, h, browse1st|allMsgs), "g1")
	r.after(2 * time.Second)
	check(t, "incomplete", r.get(c, h, browse1st|allMsgs), "2033")
}
