package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// app is a simulated application: one connection, one call at a time. What it
// does is in its behaviour; app keeps the connection alive.
type app struct {
	s      *sim
	name   string
	number int
	n      *node
	does   behaviour

	conn    qmgr.ConnID
	tag     uint64
	waiting bool // for the answer to tag
	then    func(answer)
	life    int // of the connection: plans of an older one are void
}

// behaviour is what an application does with its connection.
type behaviour interface {
	// connected begins anew with a fresh connection.
	connected(a *app)
	// died: the connection is gone; a.waiting says whether a call was not answered.
	died(a *app)
	// unsent is an answer that was made and not sent before the queue manager died.
	unsent(a *app, ans answer)
}

func (s *sim) addApp(name string, n *node, does behaviour) *app {
	a := &app{s: s, name: name, number: len(s.apps), n: n, does: does}
	s.apps = append(s.apps, a)
	a.later(s.between(0, 100*time.Millisecond), a.connect)
	return a
}

// later plans something that only counts while this connection lives.
func (a *app) later(d time.Duration, do func()) {
	life := a.life
	a.s.after(d, func() {
		if a.life == life {
			do()
		}
	})
}

func (a *app) connect() {
	if !a.n.up {
		a.later(a.s.between(50*time.Millisecond, 500*time.Millisecond), a.connect)
		return
	}
	a.n.lastConn++
	a.conn = a.n.lastConn
	a.n.conns[a.conn] = a
	a.n.step(qmgr.Connect{Conn: a.conn, Appl: qmgr.Appl{Tag: a.name, PID: 1000 + a.number, UserID: "sim"}})
	if a.conn != 0 { // it may have died at once
		a.does.connected(a)
	}
}

// call makes one call; then gets the answer, unless the queue manager dies first.
func (a *app) call(req qmgr.Request, then func(answer)) {
	if a.waiting {
		panic("enginetest: " + a.name + " calls while it waits")
	}
	a.tag++
	a.waiting, a.then = true, then
	a.n.step(qmgr.Call{Conn: a.conn, Tag: a.tag, Request: req})
}

func (a *app) order() int { return a.number }

func (a *app) answered(ans answer) {
	if !a.waiting || ans.Tag != a.tag {
		a.s.fail("%s got an answer to call %d, which is not open", a.name, ans.Tag)
		return
	}
	a.waiting = false
	then := a.then
	a.then = nil
	then(ans)
}

// decided reports whether the open call has an answer already, which only waits
// for the disk.
func (a *app) decided() bool {
	_, ok := a.reply()
	return ok
}

func (a *app) reply() (qmgr.Reply, bool) {
	if a.conn == 0 || !a.n.up {
		return qmgr.Reply{}, false
	}
	for _, r := range slices.Backward(a.n.fx.Replies) {
		if r.Conn == a.conn && r.Tag == a.tag {
			return r, true
		}
	}
	return qmgr.Reply{}, false
}

// checkChoice compares a choice that was made just now with what the oracle allows.
func (a *app) checkChoice(queue string, may permitted) {
	r, _ := a.reply()
	var chosen string
	switch res := r.Result.(type) {
	case qmgr.OpenResult:
		chosen = res.ResolvedQMgrName
	case qmgr.PutResult:
		chosen = res.ResolvedQMgrName
	}
	inhibited := r.Reason == mqi.MQRC_CLUSTER_PUT_INHIBITED || r.Reason == mqi.MQRC_PUT_INHIBITED
	switch {
	case chosen != "" && may.none:
		a.s.fail("%s at %s: %s goes to %s, and there is no instance", a.name, a.n.name, queue, chosen)
	case chosen != "" && may.inhibited && chosen == a.n.name && r.Tag > 0 && isOpen(r.Result):
		// The open of a queue with a local instance works, and the put says 2051.
	case chosen != "" && may.inhibited:
		a.s.fail("%s at %s: %s goes to %s, and every instance is put-inhibited", a.name, a.n.name, queue, chosen)
	case chosen != "" && !may.qmgrs[chosen]:
		a.s.fail("%s at %s: %s goes to %s, and the rules allow %v", a.name, a.n.name, queue, chosen, slices.Sorted(maps.Keys(may.qmgrs)))
	case inhibited && !may.inhibited:
		a.s.fail("%s at %s: %s is refused with %v, and the rules allow %v", a.name, a.n.name, queue, r.Reason, slices.Sorted(maps.Keys(may.qmgrs)))
	case inhibited:
		a.s.counts.ChoicesInhibited++
	case chosen != "":
		a.s.counts.Choices++
	}
}

func isOpen(result any) bool {
	_, ok := result.(qmgr.OpenResult)
	return ok
}

// unsent passes on what the dead queue manager would have said.
func (a *app) unsent(ans answer) {
	if a.waiting && ans.Tag == a.tag {
		a.does.unsent(a, ans)
	}
}

// died: connect again.
func (a *app) died() {
	a.life++
	a.does.died(a)
	a.conn, a.waiting, a.then = 0, false, nil
	a.later(a.s.between(50*time.Millisecond, 500*time.Millisecond), a.connect)
}

// leave ends the connection: abruptly, as a killed program does, or with MQDISC.
func (a *app) leave(abrupt bool) {
	conn := a.conn
	delete(a.n.conns, conn)
	a.life++
	a.conn = 0
	a.n.step(qmgr.Disconnect{Conn: conn, Abrupt: abrupt})
}

// command runs one MQSC command and gives its result; failed ones are no fault.
func (a *app) command(text string, then func(mqsc.Result)) {
	cmd, err := mqsc.Parse(text)
	if err != nil {
		a.s.fail("%s: %v", text, err)
		return
	}
	a.call(qmgr.CommandReq{Command: cmd}, func(ans answer) {
		res, _ := ans.Result.(mqsc.Result)
		then(res)
	})
}

// open opens a queue, again and again until it works.
func (a *app) open(queue string, options int32, then func(handle uint32)) {
	a.call(qmgr.OpenReq{OD: mqi.OD{ObjectName: queue}, Options: options}, func(ans answer) {
		if ans.CompCode == mqi.MQCC_FAILED {
			a.s.printf("%s: open %s: %v", a.name, queue, ans.Reason)
			a.later(a.s.between(100*time.Millisecond, time.Second), func() { a.open(queue, options, then) })
			return
		}
		then(ans.Result.(qmgr.OpenResult).Handle)
	})
}

// admin is an application for commands. It does nothing by itself.
type admin struct {
	todo []string
	busy bool
}

func (d *admin) connected(a *app)  { d.busy = false; d.next(a) }
func (d *admin) died(*app)         {}
func (*admin) unsent(*app, answer) {}

// run adds commands; each is carried out once, or lost with its queue manager.
func (d *admin) run(a *app, commands ...string) {
	d.todo = append(d.todo, commands...)
	if a.conn != 0 && !d.busy {
		d.next(a)
	}
}

func (d *admin) next(a *app) {
	if len(d.todo) == 0 {
		return
	}
	text := d.todo[0]
	d.todo, d.busy = d.todo[1:], true
	a.command(text, func(res mqsc.Result) {
		d.busy = false
		a.s.printf("%s: %s: %v", a.n.name, text, summary(res))
		d.next(a)
	})
}

func summary(res mqsc.Result) string {
	for _, r := range res.Responses {
		return fmt.Sprint(r.ID, " ", r.Text)
	}
	return "no response"
}
