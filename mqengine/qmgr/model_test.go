package qmgr

import (
	"fmt"
	"slices"
	"testing"

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
}

// model is two queues as plain slices, in order of arrival.
type model struct {
	queues map[string][]*modelMessage
}

func (q *model) next(name string, want func(*modelMessage) bool) *modelMessage {
	var best *modelMessage
	for _, msg := range q.queues[name] {
		if msg.put == 0 && msg.got == 0 && want(msg) && (best == nil || msg.priority > best.priority) {
			best = msg
		}
	}
	return best
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
	q.each(func(msg *modelMessage) { msg.got = 0 })
}

func (q *model) counts(name string) string {
	depth, uncommitted := 0, 0
	for _, msg := range q.queues[name] {
		if msg.got == 0 {
			depth++
		}
		if msg.got != 0 || msg.put != 0 {
			uncommitted++
		}
	}
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
	x := &modelRun{rig: newRig(t), model: model{map[string][]*modelMessage{"A": nil, "B": nil}}}
	x.define("DEFINE QLOCAL(A)", "DEFINE QLOCAL(B)")
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

func (x *modelRun) doPut(t *rapid.T) {
	c, name := x.drawWhere(t)
	x.n++
	msg := &modelMessage{
		text: fmt.Sprint("m", x.n), priority: rapid.Int32Range(0, 2).Draw(t, "priority"), persistent: rapid.Bool().Draw(t, "persistent"),
		correl: mqi.MsgId{byte(rapid.IntRange(1, 3).Draw(t, "correl"))},
	}
	x.put(c, handleFor(name), msg.text, func(p *PutReq) {
		p.MD.Priority, p.MD.CorrelId, p.MD.Persistence = msg.priority, msg.correl, mqi.MQPER_NOT_PERSISTENT
		if msg.persistent {
			p.MD.Persistence = mqi.MQPER_PERSISTENT
		}
		if rapid.Bool().Draw(t, "unit") {
			msg.put = c
			inUnit(p)
		}
	})
	x.queues[name] = append(x.queues[name], msg)
}

func (x *modelRun) doGet(t *rapid.T) {
	c, name := x.drawWhere(t)
	req := getReq(handleFor(name), 0)
	any := func(*modelMessage) bool { return true }
	want := x.next(name, any)
	if rapid.Bool().Draw(t, "by id") {
		req.MD.CorrelId = mqi.MsgId{byte(rapid.IntRange(1, 3).Draw(t, "correl"))}
		req.GMO.MatchOptions = mqi.MQMO_MATCH_CORREL_ID
		want = x.next(name, func(msg *modelMessage) bool { return msg.correl == req.MD.CorrelId })
	}
	how := rapid.SampledFrom([]string{"get", "unit", "browse"}).Draw(t, "how")
	switch how {
	case "unit":
		req.GMO.Options = mqi.MQGMO_SYNCPOINT
	case "browse":
		req.GMO.Options = mqi.MQGMO_BROWSE_FIRST
	}
	tag := x.send(c, req)
	if want == nil {
		if got := x.answer(tag); got != "2033" {
			t.Fatalf("got %s, want nothing", got)
		}
		return
	}
	reply := x.replies[tag]
	if x.answer(tag) != want.text || reply.Result.(*GetResult).MD.BackoutCount != want.backouts {
		t.Fatalf("got %s, want %s with %d backouts", x.answer(tag), want.text, want.backouts)
	}
	switch how {
	case "unit":
		want.got = c
	case "get":
		x.drop(func(msg *modelMessage) bool { return msg == want })
	}
}

// TestMachineAgainstModel: whatever applications do, and whenever the process is
// killed, the machine has what the model has.
func TestMachineAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		x := newModelRun(t)
		actions := map[string]func(*rapid.T){
			"put": x.doPut, "put again": x.doPut, "put more": x.doPut,
			"get": x.doGet, "get again": x.doGet,
			"commit": func(rt *rapid.T) {
				c, _ := x.drawWhere(rt)
				x.must(c, CommitReq{})
				x.commit(c)
			},
			"back": func(rt *rapid.T) {
				c, _ := x.drawWhere(rt)
				x.must(c, BackReq{})
				x.backout(c)
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
				x.reattach(c)
			},
			"crash": func(*rapid.T) {
				x.rig.crash()
				x.model.crash()
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
}

// finish crashes once more and looks at what is left in store and memory.
func (x *modelRun) finish(t *rapid.T) {
	x.rig.crash()
	x.model.crash()
	left := len(x.queues["A"]) + len(x.queues["B"])
	if headers, bodies := stored(x.rig); headers != left || bodies != left {
		t.Fatalf("the store has %d headers and %d bodies of %d messages", headers, bodies, left)
	}
	x.attach()
	for _, name := range []string{"A", "B"} {
		for msg := x.next(name, func(*modelMessage) bool { return true }); msg != nil; msg = x.next(name, func(*modelMessage) bool { return true }) {
			if got := x.get(1, handleFor(name), 0); got != msg.text {
				t.Fatalf("%s: got %s, want %s", name, got, msg.text)
			}
			x.drop(func(other *modelMessage) bool { return other == msg })
		}
	}
}
