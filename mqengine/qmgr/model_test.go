package qmgr

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/mqi"
)

// modelMessage is a message as the simplest possible queue manager keeps it.
type modelMessage struct {
	text       string
	priority   int32
	persistent bool
	put, got   ConnID // whose uncommitted put or get it is; 0 for nobody's
	backouts   int32
	correl     mqi.MsgId
	locked     ConnID    // whose browse has locked it
	expires    time.Time // zero for never
	group      byte      // 0 for none; a group has one message more than its number says
	number     int
}

// visible reports whether a connection could have the message.
func (msg *modelMessage) visible(c ConnID) bool {
	return msg.put == 0 && msg.got == 0 && (msg.locked == 0 || msg.locked == c)
}

// model is two queues as plain slices, in order of arrival.
type model struct {
	queues       map[string][]*modelMessage
	noPut, noGet map[string]bool
	met          map[string]int // how often what happened, over all runs
}

// modelDepth is MAXDEPTH of B; A holds more than a run puts.
const modelDepth = 4

func (q *model) next(c ConnID, name string, want func(*modelMessage) bool) *modelMessage {
	var best *modelMessage
	for _, msg := range q.queues[name] {
		if msg.visible(c) && want(msg) && (best == nil || msg.priority > best.priority) {
			best = msg
		}
	}
	return best
}

// complete reports whether all of a message's group is there for a connection.
func (q *model) complete(c ConnID, name string, msg *modelMessage) bool {
	for number := 1; msg.group != 0 && number <= int(msg.group)+1; number++ {
		if q.next(c, name, func(x *modelMessage) bool { return x.group == msg.group && x.number == number }) == nil {
			return false
		}
	}
	return true
}

// unlock ends the browse lock of a connection on a queue.
func (q *model) unlock(c ConnID, name string) {
	for _, msg := range q.queues[name] {
		if msg.locked == c {
			msg.locked = 0
		}
	}
}

// expire drops what a sweep at that time finds.
func (q *model) expire(now time.Time) {
	q.drop(func(msg *modelMessage) bool {
		gone := msg.put == 0 && msg.got == 0 && msg.locked == 0 && !msg.expires.IsZero() && !msg.expires.After(now)
		if gone {
			q.met["expired"]++
		}
		return gone
	})
}

func (q *model) drop(gone func(*modelMessage) bool) {
	for name, list := range q.queues {
		q.queues[name] = slices.DeleteFunc(list, gone)
	}
}

func (q *model) each(f func(*modelMessage)) {
	for _, list := range q.queues {
		for _, msg := range list {
			f(msg)
		}
	}
}

func (q *model) commit(c ConnID) {
	q.drop(func(msg *modelMessage) bool { return msg.got == c })
	q.each(func(msg *modelMessage) {
		if msg.put == c {
			msg.put = 0
		}
	})
}

func (q *model) backout(c ConnID) {
	q.drop(func(msg *modelMessage) bool { return msg.put == c })
	q.each(func(msg *modelMessage) {
		if msg.got == c {
			msg.got = 0
			msg.backouts++
		}
	})
}

// crash: units in flight are undone without a backout being counted.
func (q *model) crash() {
	q.drop(func(msg *modelMessage) bool { return msg.put != 0 || !msg.persistent })
	q.each(func(msg *modelMessage) { msg.got, msg.locked = 0, 0 })
}

func (q *model) depth(name string) (depth, uncommitted int) {
	for _, msg := range q.queues[name] {
		if msg.got == 0 {
			depth++
		}
		if msg.got != 0 || msg.put != 0 {
			uncommitted++
		}
	}
	return depth, uncommitted
}

func (q *model) counts(name string) string {
	depth, uncommitted := q.depth(name)
	return fmt.Sprintf("%d/%d", depth, uncommitted)
}

// modelRun is the machine and the model side by side.
type modelRun struct {
	*rig
	model
	n int
}

var modelConns = []ConnID{1, 2, 3}

func newModelRun(t testing.TB) *modelRun {
	x := &modelRun{rig: newRig(t), model: model{
		queues: map[string][]*modelMessage{"A": nil, "B": nil}, noPut: map[string]bool{}, noGet: map[string]bool{}, met: map[string]int{},
	}}
	x.cfg.ExpiryInterval = time.Second // every time in a run is a whole second
	x.rig.crash()
	x.define("DEFINE QLOCAL(A)", fmt.Sprintf("DEFINE QLOCAL(B) MAXDEPTH(%d)", modelDepth))
	x.attach()
	return x
}

func (x *modelRun) attach() {
	for _, c := range modelConns {
		x.reattach(c)
	}
}

// reattach connects; A is handle 1 and B handle 2 of every connection.
func (x *modelRun) reattach(c ConnID) {
	x.connect(c, "model")
	for _, name := range []string{"A", "B"} {
		x.open(c, name, inOut|mqi.MQOO_BROWSE)
	}
}

func handleFor(name string) uint32 {
	if name == "A" {
		return 1
	}
	return 2
}

func (x *modelRun) drawWhere(t *rapid.T) (ConnID, string) {
	return rapid.SampledFrom(modelConns).Draw(t, "conn"), rapid.SampledFrom([]string{"A", "B"}).Draw(t, "queue")
}

// second lets one pass: what expired is found.
func (x *modelRun) second() {
	x.after(time.Second)
	x.expire(x.now)
}

func (x *modelRun) drawMessage(t *rapid.T) *modelMessage {
	x.n++
	msg := &modelMessage{
		text: fmt.Sprint("m", x.n), priority: rapid.Int32Range(0, 2).Draw(t, "priority"), persistent: rapid.Bool().Draw(t, "persistent"),
		correl: mqi.MsgId{byte(rapid.IntRange(1, 3).Draw(t, "correl"))},
	}
	if life := rapid.IntRange(0, 9).Draw(t, "life"); life > 6 {
		msg.expires = x.now.Add(time.Duration(life-6) * time.Second)
	}
	if group := rapid.IntRange(0, 4).Draw(t, "group"); group > 2 {
		msg.group = byte(group - 2)
		msg.number = rapid.IntRange(1, int(msg.group)+1).Draw(t, "number")
	}
	return msg
}

func (x *modelRun) doPut(t *rapid.T) {
	c, name := x.drawWhere(t)
	msg := x.drawMessage(t)
	x.putDrawn(t, c, name, msg, rapid.Bool().Draw(t, "unit"))
}

// doPutGroup puts a group whole, which chance alone hardly ever does.
func (x *modelRun) doPutGroup(t *rapid.T) {
	c, name := x.drawWhere(t)
	group := rapid.IntRange(1, 2).Draw(t, "group")
	for number := 1; number <= group+1; number++ {
		msg := x.drawMessage(t)
		msg.group, msg.number, msg.expires = byte(group), number, time.Time{}
		x.putDrawn(t, c, name, msg, false)
	}
}

func (x *modelRun) putDrawn(t *rapid.T, c ConnID, name string, msg *modelMessage, unit bool) {
	req := x.putReq(handleFor(name), msg.text)
	md := &req.MD
	md.Priority, md.CorrelId, md.Persistence = msg.priority, msg.correl, mqi.MQPER_NOT_PERSISTENT
	if msg.persistent {
		md.Persistence = mqi.MQPER_PERSISTENT
	}
	if !msg.expires.IsZero() {
		md.Expiry = int32(msg.expires.Sub(x.now) / (100 * time.Millisecond))
	}
	if msg.group != 0 {
		md.GroupId, md.MsgSeqNumber, md.MsgFlags = mqi.MsgId{msg.group}, int32(msg.number), mqi.MQMF_MSG_IN_GROUP
		if msg.number == int(msg.group)+1 {
			md.MsgFlags |= mqi.MQMF_LAST_MSG_IN_GROUP
		}
	}
	if unit {
		msg.put = c
		inUnit(&req)
	}
	depth, _ := x.depth(name)
	want := mqi.MQRC_NONE
	switch {
	case x.noPut[name]:
		want = mqi.MQRC_PUT_INHIBITED
		x.met["put inhibited"]++
	case name == "B" && depth >= modelDepth:
		want = mqi.MQRC_Q_FULL
		x.met["full"]++
	}
	if got := x.call(c, req).Reason; got != want {
		t.Fatalf("put to %s: %v, want %v", name, got, want)
	}
	if want == mqi.MQRC_NONE {
		x.queues[name] = append(x.queues[name], msg)
	}
}

func (x *modelRun) doGet(t *rapid.T) {
	c, name := x.drawWhere(t)
	req := getReq(handleFor(name), 0)
	correl, whole := false, rapid.IntRange(0, 2).Draw(t, "whole groups") == 0
	if correl = rapid.Bool().Draw(t, "by id"); correl {
		req.MD.CorrelId = mqi.MsgId{byte(rapid.IntRange(1, 3).Draw(t, "correl"))}
		req.GMO.MatchOptions = mqi.MQMO_MATCH_CORREL_ID
	}
	how := rapid.SampledFrom([]string{"get", "unit", "browse", "lock"}).Draw(t, "how")
	want := x.next(c, name, func(msg *modelMessage) bool {
		return (!correl || msg.correl == req.MD.CorrelId) && (!whole || x.complete(c, name, msg))
	})
	if how == "lock" && want != nil && !want.expires.IsZero() {
		how = "browse" // when a locked message expires is the machine's business
	}
	req.GMO.Options = map[string]int32{
		"get": 0, "unit": mqi.MQGMO_SYNCPOINT, "browse": mqi.MQGMO_BROWSE_FIRST, "lock": mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_LOCK,
	}[how]
	if whole {
		req.GMO.Options |= mqi.MQGMO_ALL_MSGS_AVAILABLE
	}
	browse := how == "browse" || how == "lock"
	tag := x.send(c, req)
	switch {
	case x.noGet[name]:
		x.met["get inhibited"]++
		if got := x.answer(tag); got != "2016" {
			t.Fatalf("got %s, want 2016", got)
		}
		return
	case browse:
		x.unlock(c, name)
	}
	if whole && (want == nil || want.group != 0) {
		x.met[map[bool]string{true: "complete group", false: "incomplete group"}[want != nil]]++
	}
	if want == nil {
		if got := x.answer(tag); got != "2033" {
			t.Fatalf("got %s, want nothing", got)
		}
		return
	}
	reply := x.replies[tag]
	if x.answer(tag) != want.text || reply.Result.(*GetResult).MD.BackoutCount != want.backouts {
		t.Fatalf("%s: got %s, want %s with %d backouts", how, x.answer(tag), want.text, want.backouts)
	}
	switch how {
	case "unit":
		want.got, want.locked = c, 0
	case "get":
		x.drop(func(msg *modelMessage) bool { return msg == want })
	case "lock":
		want.locked = c
		x.met["lock"]++
	}
}

// doInhibit allows or forbids puts or gets.
func (x *modelRun) doInhibit(t *rapid.T) {
	name := rapid.SampledFrom([]string{"A", "B"}).Draw(t, "queue")
	x.noPut[name] = rapid.IntRange(0, 3).Draw(t, "no puts") == 0
	x.noGet[name] = rapid.IntRange(0, 3).Draw(t, "no gets") == 0
	word := map[bool]string{true: "DISABLED", false: "ENABLED"}
	x.define(fmt.Sprintf("ALTER QLOCAL(%s) PUT(%s) GET(%s)", name, word[x.noPut[name]], word[x.noGet[name]]))
}

// TestMachineAgainstModel: whatever applications do, and whenever the process is
// killed, the machine has what the model has.
func TestMachineAgainstModel(t *testing.T) {
	t.Parallel()
	met := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		x := newModelRun(t)
		x.met = met
		actions := map[string]func(*rapid.T){
			"put": x.doPut, "put again": x.doPut, "put more": x.doPut, "put a group": x.doPutGroup,
			"get": x.doGet, "get again": x.doGet, "inhibit": x.doInhibit,
			"time": func(*rapid.T) { x.second() },
			"commit": func(rt *rapid.T) {
				c, _ := x.drawWhere(rt)
				x.must(c, CommitReq{})
				x.commit(c)
				x.second()
			},
			"back": func(rt *rapid.T) {
				c, _ := x.drawWhere(rt)
				x.must(c, BackReq{})
				x.backout(c)
				x.second()
			},
			"disconnect": func(rt *rapid.T) {
				c, _ := x.drawWhere(rt)
				abrupt := rapid.Bool().Draw(rt, "abrupt")
				x.step(Disconnect{Conn: c, Abrupt: abrupt})
				if abrupt {
					x.backout(c)
				} else {
					x.commit(c)
				}
				x.unlock(c, "A")
				x.unlock(c, "B")
				x.reattach(c)
				x.second()
			},
			"crash": func(*rapid.T) {
				x.rig.crash()
				x.model.crash()
				x.second()
				x.attach()
			},
			"": func(rt *rapid.T) {
				for _, name := range []string{"A", "B"} {
					if got, want := x.rig.counts(name), x.model.counts(name); got != want {
						rt.Fatalf("%s: %s, want %s", name, got, want)
					}
				}
			},
		}
		for range 4 { // one Repeat alone is about thirty steps
			rt.Repeat(actions)
		}
		x.finish(rt)
	})
	// What never happened was not tested.
	for _, what := range []string{"put inhibited", "get inhibited", "full", "expired", "incomplete group", "complete group", "lock"} {
		if met[what] == 0 {
			t.Errorf("no run met: %s (%v)", what, met)
		}
	}
}

// finish crashes once more and looks at what is left in store and memory.
func (x *modelRun) finish(t *rapid.T) {
	x.rig.crash()
	x.model.crash()
	x.second()
	left := len(x.queues["A"]) + len(x.queues["B"])
	if headers, bodies := stored(x.rig); headers != left || bodies != left {
		t.Fatalf("the store has %d headers and %d bodies of %d messages", headers, bodies, left)
	}
	x.attach()
	any := func(*modelMessage) bool { return true }
	for _, name := range []string{"A", "B"} {
		x.define("ALTER QLOCAL(" + name + ") GET(ENABLED)")
		for msg := x.next(1, name, any); msg != nil; msg = x.next(1, name, any) {
			if got := x.get(1, handleFor(name), 0); got != msg.text {
				t.Fatalf("%s: got %s, want %s", name, got, msg.text)
			}
			x.drop(func(other *modelMessage) bool { return other == msg })
		}
	}
}
