package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/store"
)

// rig is a queue manager with a store and a clock, and does what its shell does:
// it fills bodies in, applies the unit, resolves the bodies of replies, drops
// what is dropped.
type rig struct {
	t       testing.TB
	m       *Machine
	fx      Effects
	now     time.Time
	cfg     Config
	disk    *store.Memory
	bodies  map[store.BodyID]string
	maxBody store.BodyID
	// everBody are all bodies there ever were.
	everBody []store.BodyID
	tag      uint64
	replies  map[uint64]Reply
	texts    map[uint64]string // bodies of the replies that carry one
	touched  map[uint32]bool
	log      []LogEntry
	// What the machine asked for of listeners: "L1 10.0.0.1:1414", and "-L1" for one that ends.
	listens []string
	syncs   int
	stopped []ConnID
	ended   bool
}

// newRig makes a queue manager QM1 with the system objects.
func newRig(t testing.TB) *rig { return newRigNamed(t, "QM1") }

func newRigNamed(t testing.TB, name string) *rig {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	r := &rig{t: t, now: now, disk: store.NewMemory(), cfg: Config{Name: name, StartTime: now}}
	var fx Effects
	if err := Create(now, name, object.QMID(name, now), &fx); err != nil {
		t.Fatal(err)
	}
	r.apply(&fx)
	r.disk = r.disk.Crash(0)
	r.boot()
	return r
}

// boot starts a machine from what the disk holds.
func (r *rig) boot() {
	r.bodies, r.replies, r.texts, r.touched = map[store.BodyID]string{}, map[uint64]Reply{}, map[uint64]string{}, map[uint32]bool{}
	r.cfg.NewBody = func() store.BodyID {
		r.maxBody++
		return r.maxBody
	}
	r.m = New(r.cfg)
	maxBody, err := r.disk.Load(r.m.Visitor())
	if err != nil {
		r.t.Fatal(err)
	}
	r.maxBody = maxBody
	r.m.Start(r.now, &r.fx)
	r.settle()
}

// crash loses what was not synced and starts again.
func (r *rig) crash() {
	r.now = r.now.Add(time.Second)
	r.cfg.StartTime = r.now
	r.disk = r.disk.Crash(0)
	r.boot()
}

func (r *rig) apply(fx *Effects) {
	for i := range fx.Unit.Ops {
		if op := &fx.Unit.Ops[i]; op.Kind == store.OpSetBody {
			text, ok := r.bodies[op.Body]
			if !ok {
				r.t.Fatalf("body %d is written but unknown", op.Body)
			}
			op.Value = []byte(text)
		}
	}
	if err := r.disk.Apply(&fx.Unit); err != nil {
		r.t.Fatal(err)
	}
}

// settle does what the effects of a step ask for.
func (r *rig) settle() {
	fx := &r.fx
	for _, c := range fx.Copies {
		r.bodies[c.To] = r.body(BodyRef{ID: c.From, Len: c.Offset + c.Len})[c.Offset:]
		r.everBody = append(r.everBody, c.To)
	}
	for _, reply := range fx.Replies {
		if got, ok := reply.Result.(*GetResult); ok {
			whole, err := got.Whole(func(ref BodyRef) ([]byte, error) { return []byte(r.body(ref)), nil })
			if err != nil {
				r.t.Fatal(err)
			}
			r.texts[reply.Tag] = string(whole)
		}
		if _, twice := r.replies[reply.Tag]; twice {
			r.t.Fatalf("call %d is answered twice", reply.Tag)
		}
		r.replies[reply.Tag] = reply
	}
	for _, l := range fx.Listens {
		r.listens = append(r.listens, l.Name+" "+l.Addr)
	}
	for _, name := range fx.Unlistens {
		r.listens = append(r.listens, "-"+name)
	}
	if fx.Unit.Sync {
		r.syncs++
	}
	if !fx.Unit.Empty() {
		r.apply(fx)
	}
	for _, id := range fx.Drop {
		delete(r.bodies, id)
	}
	for _, n := range fx.Touched {
		r.touched[n] = true
	}
	r.log = append(r.log, fx.Log...)
	r.stopped = append(r.stopped, fx.Stopped...)
	r.ended = r.ended || fx.Ended
	fx.Reset()
}

func (r *rig) body(ref BodyRef) string {
	if ref.ID == 0 {
		return ""
	}
	text, ok := r.bodies[ref.ID]
	if !ok {
		b, err := r.disk.Body(ref.ID)
		if err != nil {
			r.t.Fatalf("body %d of a reply: %v", ref.ID, err)
		}
		text = string(b)
	}
	return text[:ref.Len]
}

func (r *rig) step(ev Event) {
	r.m.Step(r.now, ev, &r.fx)
	r.settle()
}

// after lets time pass, with a tick at every deadline.
func (r *rig) after(d time.Duration) {
	end := r.now.Add(d)
	for {
		next := r.m.NextDeadline()
		if next.IsZero() || next.After(end) {
			break
		}
		if next.After(r.now) {
			r.now = next
		}
		r.step(Tick{})
	}
	r.now = end
	r.step(Tick{})
}

func (r *rig) connect(id ConnID, tag string) ConnID {
	r.step(Connect{Conn: id, Appl: Appl{Tag: tag, PID: int(id) + 100, UserID: "amy"}})
	return id
}

// send makes a call and gives its tag.
func (r *rig) send(c ConnID, req Request) uint64 {
	r.tag++
	tag := r.tag
	r.step(Call{Conn: c, Tag: tag, Request: req})
	return tag
}

// call makes a call that is answered at once.
func (r *rig) call(c ConnID, req Request) Reply {
	r.t.Helper()
	tag := r.send(c, req)
	reply, ok := r.replies[tag]
	if !ok {
		r.t.Fatalf("%T is not answered", req)
	}
	return reply
}

// must makes a call that must work.
func (r *rig) must(c ConnID, req Request) Reply {
	r.t.Helper()
	reply := r.call(c, req)
	if reply.CompCode != mqi.MQCC_OK {
		r.t.Fatalf("%T: %v", req, reply.Reason)
	}
	return reply
}

func (r *rig) open(c ConnID, name string, options int32) uint32 {
	r.t.Helper()
	return r.must(c, OpenReq{OD: mqi.OD{ObjectName: name}, Options: options}).Result.(OpenResult).Handle
}

// newBody numbers a body as the shell does.
func (r *rig) newBody(text string) BodyRef {
	if text == "" {
		return BodyRef{}
	}
	r.maxBody++
	r.bodies[r.maxBody] = text
	r.everBody = append(r.everBody, r.maxBody)
	return BodyRef{ID: r.maxBody, Len: len(text)}
}

// putReq is a put of a text; change may set more.
func (r *rig) putReq(h uint32, text string, change ...func(*PutReq)) PutReq {
	req := PutReq{Handle: h, MD: mqi.NewMD(), Body: r.newBody(text)}
	for _, f := range change {
		f(&req)
	}
	return req
}

func (r *rig) put(c ConnID, h uint32, text string, change ...func(*PutReq)) PutResult {
	r.t.Helper()
	return r.must(c, r.putReq(h, text, change...)).Result.(PutResult)
}

func persistent(req *PutReq) { req.MD.Persistence = mqi.MQPER_PERSISTENT }
func inUnit(req *PutReq)     { req.PMO.Options |= mqi.MQPMO_SYNCPOINT }
func priority(p int32) func(*PutReq) {
	return func(req *PutReq) { req.MD.Priority = p }
}

// getReq gets any message.
func getReq(h uint32, options int32) GetReq {
	return GetReq{Handle: h, GMO: mqi.GMO{Options: options, MaxLength: -1}}
}

// get gives the text of the next message, or the reason why there is none.
func (r *rig) get(c ConnID, h uint32, options int32) string {
	r.t.Helper()
	return r.getWith(c, getReq(h, options))
}

func (r *rig) getWith(c ConnID, req GetReq) string {
	r.t.Helper()
	return r.answer(r.send(c, req))
}

// answer is what a get was answered with: a text, a reason code's number, or nothing yet.
func (r *rig) answer(tag uint64) string {
	reply, ok := r.replies[tag]
	switch {
	case !ok:
		return "waiting"
	case reply.CompCode != mqi.MQCC_OK:
		return fmt.Sprint(int(reply.Reason))
	}
	return r.texts[tag]
}

// drain gets everything.
func (r *rig) drain(c ConnID, h uint32) string {
	var out []string
	for {
		text := r.get(c, h, 0)
		if text == "2033" {
			return strings.Join(out, " ")
		}
		out = append(out, text)
	}
}

// mqsc carries out one command and gives the answer as text, a line per response.
func (r *rig) mqsc(text string) string {
	r.t.Helper()
	cmd, err := mqsc.Parse(text)
	if err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	if r.m.conns[9999] == nil {
		r.connect(9999, "mqsc")
	}
	res := r.must(9999, CommandReq{Command: cmd}).Result.(mqsc.Result)
	var b strings.Builder
	for _, resp := range res.Responses {
		b.WriteString(resp.ID + ": " + strings.TrimRight(resp.Text, "\n"))
		for _, f := range resp.Fields {
			if f.Bare {
				b.WriteString(" " + f.Key)
			} else {
				b.WriteString(" " + f.Key + "(" + strings.Join(f.Values, ",") + ")")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// define runs commands that must all work.
func (r *rig) define(commands ...string) {
	r.t.Helper()
	for _, text := range commands {
		if out := r.mqsc(text); !strings.Contains(out, "I: ") {
			r.t.Fatalf("%s: %s", text, out)
		}
	}
}

// counts is depth and uncommitted messages of a queue: "3/1".
func (r *rig) counts(name string) string {
	q := r.m.localQueue(name)
	s, ok := r.m.Status(q.number)
	if !ok {
		r.t.Fatalf("no status of %s", name)
	}
	return fmt.Sprintf("%d/%d", s.Counts.CurDepth, s.Counts.Uncom)
}

// check compares a value with what it should be.
func check[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// equal stops the test if a value is not what it should be.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
