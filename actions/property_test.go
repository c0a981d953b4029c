package actions

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/situations"
	"pgregory.net/rapid"
)

// rules are the ways to write the article's rule.
type ruleKind int

const (
	plainPair ruleKind = iota
	withRevert
	availabilityPut
	availabilityRank
	// Levers of other items than queues.
	weightRevert
	stopRevert
	suspendRevert
	suspendResume
	ruleKinds
)

// item is what a rule of the kind watches.
func (k ruleKind) item() string {
	switch k {
	case weightRevert, stopRevert:
		return situations.GroupChannel.Item("TO.QM2")
	case suspendRevert, suspendResume:
		return situations.GroupQMgr.Item("QM2")
	default:
		return queueName
	}
}

// reverts: on_clear: revert gives back, no second rule.
func (k ruleKind) reverts() bool {
	return k == withRevert || k == weightRevert || k == stopRevert || k == suspendRevert
}

// values are the lever, and what it is while nobody reads and while somebody does.
func (k ruleKind) values() (attr, idle, read string) {
	switch k {
	case availabilityRank:
		return attrRank, "0", "9"
	case weightRevert:
		return attrWeight, "1", "50"
	case stopRevert:
		return attrStatus, situations.Stopped, situations.Started
	case suspendRevert, suspendResume:
		return suspendIn("C1"), situations.Yes, situations.No
	default:
		return attrPut, disabled, enabled
	}
}

// drive plays the runner: it turns the readers of good samples into edges.
type drive struct {
	*world
	kind  ruleKind
	extra []situations.Action // after the lowering
	state string              // "", idle, read: what was acted on
	edges int
	// allowLast is on the lowering.
	allowLast bool
	// seen is the last good sample that the engine was given.
	seen *situations.Observation
	// edgeSince: an edge came since a person's change; person: there was one at all.
	edgeSince, person, everPerson bool
	everBad                       bool // the journal could not be written for a while
}

func (d *drive) lowering() situations.Action {
	a := put(disabled)
	switch d.kind {
	case withRevert:
		a = claimed(a)
	case availabilityPut:
		a = availability("Q", a)
	case availabilityRank:
		a = availability("Q", rank("0"))
	case weightRevert:
		a = claimed(situations.Action{Verb: situations.VerbWeight, Value: "1"})
	case stopRevert:
		a = claimed(situations.Action{Verb: situations.VerbStopChannel})
	case suspendRevert:
		a = claimed(situations.Action{Verb: situations.VerbSuspend, Clusters: []string{"C1"}})
	case suspendResume:
		a = situations.Action{Verb: situations.VerbSuspend}
	}
	a.AllowLast = d.allowLast
	return a
}

func (d *drive) step() {
	obs := d.observation()
	var intents []situations.Intent
	if obs.Err == nil {
		d.seen = obs
		now := "read"
		if d.readers == 0 {
			now = "idle"
		}
		if now != d.state {
			intents = d.edge(now)
			d.state = now
			d.edges++
			d.edgeSince = true
		}
	}
	if len(intents) > 0 {
		d.engine.Dispatch(context.Background(), intents)
	}
	d.engine.Observe(obs)
	synctest.Wait()
}

func (d *drive) edge(now string) []situations.Intent {
	lower := append([]situations.Action{d.lowering()}, d.extra...)
	first := d.state == ""
	if now == "idle" {
		var out []situations.Intent
		if !first && !d.kind.reverts() {
			out = append(out, d.intent("Q.read", closed))
		}
		return append(out, d.intent("Q.idle", open, lower...))
	}
	var out []situations.Intent
	if d.kind.reverts() {
		if !first {
			out = append(out, d.intent("Q.idle", closed, revert))
		}
		return out
	}
	if !first {
		out = append(out, d.intent("Q.idle", closed))
	}
	raise := put(enabled)
	switch d.kind {
	case availabilityPut:
		raise = availability("Q", revert)
	case availabilityRank:
		raise = availability("Q", rank("9"))
	case suspendResume:
		raise = situations.Action{Verb: situations.VerbResume}
	}
	return append(out, d.intent("Q.read", open, raise))
}

// check is called for every change that reaches the queue manager.
func (d *drive) check(c setCall) {
	main := c.values[0]
	before := d.values[main.Attr]
	dir := directionOf(main.Attr, before, main.Value)
	if before == main.Value {
		d.t.Errorf("altered %s(%s), which it is already", main.Attr, before)
	}
	if d.person && !d.edgeSince {
		d.t.Errorf("a person's change was undone by %v without an edge", c.values)
	}
	if dir != lowering {
		return
	}
	row, _ := rowOf(d.seen, queueName)
	lever := leverOf(&situations.Action{Verb: verbOf(main.Attr, main.Value), Value: main.Value}, false).on(Target{QMgr: here.QMgr, Queue: d.item})
	if !d.allowLast && ReadyElsewhere(row, lever) == 0 {
		d.t.Errorf("lowered the last instance: %v", c.values)
	}
	if !d.seen.Repository {
		d.t.Error("lowered with a stale repository")
	}
	if grace := d.engine.view.graceFrom.Add(2 * d.interval); c.at.Before(grace) {
		d.t.Errorf("lowered within the grace, %s before its end", grace.Sub(c.at))
	}
	d.within(c.at, time.Minute, d.opt.Budget)
	for _, s := range d.sets {
		if up := directionOf(main.Attr, main.Value, s.values[0].Value) == raising; up && s.values[0].Attr == main.Attr && c.at.Sub(s.at) < 2*d.interval {
			d.t.Errorf("lowered %s after a raising", c.at.Sub(s.at))
		}
	}
}

// within counts lowerings in the time before one.
func (d *drive) within(at time.Time, span time.Duration, most int) {
	n := 1
	for _, s := range d.sets {
		v := s.values[0]
		if at.Sub(s.at) < span && slices.Contains([]string{disabled, "0", "1", situations.Stopped, situations.Yes}, v.Value) {
			n++
		}
	}
	if n > most {
		d.t.Errorf("%d lowerings in a minute, the budget is %d", n, most)
	}
}

// TestEngine runs random lives of a daemon: readers, a person, other instances,
// failures and crashes come and go. What must hold is checked at every change,
// and at the end, when faults have stopped, the queue must be as the rule says.
func TestEngine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Without the type: rapid would ask a *testing.T for its deadline, which a bubble forbids.
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) { oneLife(t, rt) })
	})
}

func oneLife(t *testing.T, rt *rapid.T) {
	w := newWorld(failer{t, rt})
	w.opt.Grace, w.opt.Budget = 10*time.Second, 5
	d := &drive{
		world: w, kind: ruleKind(rapid.IntRange(0, int(ruleKinds)-1).Draw(rt, "kind")),
		allowLast: rapid.IntRange(0, 4).Draw(rt, "allow last") == 0,
	}
	if d.kind == availabilityRank {
		w.others[0].ClwlRank = 9
	}
	w.item = d.kind.item()
	if w.item == queueName && rapid.Bool().Draw(rt, "more actions") {
		d.extra = []situations.Action{moving, script}
	}
	w.readers = rapid.IntRange(0, 1).Draw(rt, "readers")
	w.onSet = d.check
	w.setTakes = 10 * time.Millisecond // so that retries and samples do not fall on one instant
	w.run()
	for range rapid.IntRange(3, 40).Draw(rt, "ticks") {
		w.sleep(w.interval / 2)
		d.disturb(rt)
		w.sleep(w.interval / 2)
		d.step()
		if w.gate.isDead() {
			w.end()
			w.run()
			d.seen = nil
		}
	}
	d.heal(rapid.IntRange(0, 1).Draw(rt, "finally"))
	if !rt.Failed() {
		d.judgeEnd()
	}
	if rt.Failed() {
		d.dump()
	}
	w.end()
}

// disturb changes something in the world.
func (d *drive) disturb(rt *rapid.T) {
	w := d.world
	clean := !w.gate.armed() && w.setErrs == 0 && w.lostSets == 0
	switch rapid.IntRange(0, 14).Draw(rt, "event") {
	case 0, 1, 2:
		w.readers = 1 - w.readers
	case 3:
		w.others[0].Put = !w.others[0].Put
	case 4:
		w.others[0].Reachable = !w.others[0].Reachable
	case 5:
		w.sampleOK = !w.sampleOK
	case 6:
		w.setErrs = rapid.IntRange(1, 3).Draw(rt, "errors")
	case 7:
		w.lostSets = 1
	case 8:
		w.gate.set(rapid.IntRange(1, 12).Draw(rt, "crash after"))
	case 9:
		w.stale = !w.stale
	case 10:
		w.journal.setBad(w.journal.Ready())
		d.everBad = true
	case 11:
		w.depth += 7
	case 12:
		if clean && d.seen != nil && w.sampleOK && d.kind != availabilityRank && d.settled() {
			attr, idle, read := d.kind.values()
			flip := map[string]string{idle: read, read: idle}
			w.person(attr, flip[w.get(attr)])
			d.person, d.everPerson, d.edgeSince = true, true, false
		}
	case 13:
		w.started, w.connect = time.Now(), time.Now()
	case 14:
		w.programs.exit = []int{1}
	}
}

// settled says that no change failed or was cut off lately: otherwise nobody can
// tell a person's change from one that did not work.
func (d *drive) settled() bool {
	return d.seen.At.After(d.trouble.Add(2 * d.interval))
}

// heal ends all faults and lets things settle.
func (d *drive) heal(readers int) {
	w := d.world
	w.sampleOK, w.stale, w.setErrs, w.lostSets = true, false, 0, 0
	w.gate.set(-1)
	w.journal.setBad(false)
	w.others[0].Put, w.others[0].Reachable = true, true
	w.readers = readers
	w.programs.exit = nil
	for range 75 { // a minute of budget, the longest backoff, grace and dwell
		w.sleep(w.interval)
		d.step()
	}
}

func (d *drive) judgeEnd() {
	attr, idle, read := d.kind.values()
	want := read
	if d.readers == 0 {
		want = idle
	}
	// A person's change since the last edge stays; rules that give back leave what he set before.
	skip := d.person && !d.edgeSince || d.everPerson && d.kind != plainPair && d.kind != suspendResume
	if got := d.get(attr); got != want && !skip {
		d.t.Errorf("in the end %s(%s), want %s", attr, got, want)
	}
	if len(d.extra) > 0 && d.readers == 0 && d.depth > 0 && d.get(attr) == idle {
		d.t.Errorf("in the end depth %d", d.depth)
	}
	d.pairs()
	if d.readers > 0 && d.store.left() > 0 {
		d.t.Errorf("%d intents left in the outbox", d.store.left())
	}
}

// pairs checks that every attempt that started ended, once.
func (d *drive) pairs() {
	open := map[string]bool{}
	for _, l := range d.journal.all() {
		key := fmt.Sprintf("%s attempt %d", l.ID, l.Attempt)
		switch l.Result {
		case resultStarted:
			if open[key] && !d.everBad {
				d.t.Errorf("%s started twice", key)
			}
			open[key] = true
		case resultDone, resultFailed, resultInDoubt, resultSuperseded:
			delete(open, key)
		}
	}
	if len(open) > 0 && !d.everBad {
		d.t.Errorf("never ended: %v", open)
	}
}

// failer reports what a world finds wrong to rapid, so that it is shrunk.
type failer struct {
	testing.TB
	rt *rapid.T
}

func (f failer) Error(args ...any)            { f.rt.Error(args...) }
func (f failer) Errorf(s string, args ...any) { f.rt.Errorf(s, args...) }
func (f failer) Fatal(args ...any)            { f.rt.Fatal(args...) }
func (f failer) Helper()                      {}

func (d *drive) dump() {
	for _, l := range d.journal.all() {
		d.t.Log(l.Time.Format("04:05.000"), l.ID, l.Attempt, l.Edge, l.Action, l.Result, l.Reason)
	}
	for _, s := range d.sets {
		d.t.Log("set", s.at.Format("04:05.000"), s.values)
	}
	d.t.Logf("snapshot %+v raised %v claims %+v", d.engine.Snapshot(), d.engine.raised, d.engine.Claims())
	for _, en := range d.engine.entries {
		d.t.Logf("entry %s next %d running %v superseded %q retry %v flight %+v fresh %v", en.in.ID, en.p.Next, en.running, en.superseded, en.retryAt, en.p.Flight, en.freshAfter)
	}
}

func (f failer) Log(args ...any)            { f.rt.Log(args...) }
func (f failer) Logf(s string, args ...any) { f.rt.Logf(s, args...) }
