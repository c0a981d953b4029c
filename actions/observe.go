package actions

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// Observe takes a sample: whatever waits is decided again on it. It returns at once.
func (e *Engine) Observe(obs *situations.Observation) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	restarted := e.view.take(obs)
	e.expire(now)
	active := make(map[*target]bool, len(e.targets))
	for _, tg := range e.targets {
		seen := obs.Err == nil && obs.QMgr == tg.QMgr
		if seen {
			e.judge(tg, obs)
		}
		if len(tg.entries) == 0 {
			e.forget(tg)
			continue
		}
		active[tg] = true
		for _, en := range tg.entries {
			if restarted && en.failure != "" && !en.running {
				en.retryAt, en.move.due, en.p.Tries = time.Time{}, time.Time{}, 0 // once, at the first sample after the restart
			}
			if seen && en.moving() && e.neverMoves(tg, obs) {
				en.halt("redistribute: never is said for this queue")
			}
			if seen && e.opt.Peers == nil {
				e.fallback(tg, en, obs)
			}
		}
	}
	for _, tg := range inOrder(active) {
		e.kick(tg, now)
	}
	e.poke()
}

// neverMoves says that the rules, which may be others by now, forbid moving
// messages off a queue.
func (e *Engine) neverMoves(tg *target, obs *situations.Observation) bool {
	row, ok := rowOf(obs, tg.Queue)
	return ok && e.opt.Items != nil && e.opt.Items.NeverRedistribute(tg.QMgr, &row)
}

// take makes obs the view; true if the queue manager restarted since the last sample.
func (v *view) take(obs *situations.Observation) (restarted bool) {
	last := v.good
	v.obs = obs
	v.taken++
	if obs.Err != nil {
		return false
	}
	v.good = obs
	from := func(at time.Time, before time.Time) {
		// A start is counted from when it was; from the sample where the source's
		// clock cannot be right.
		if at.After(obs.At) || at.Before(before) {
			at = obs.At
		}
		if at.After(v.graceFrom) {
			v.graceFrom = at
		}
	}
	if last == nil {
		for _, at := range []time.Time{obs.Started, obs.Connected} {
			if !at.IsZero() {
				from(at, time.Time{})
			}
		}
		return false
	}
	if !obs.Connected.Equal(last.Connected) {
		from(obs.Connected, last.At)
	}
	if !obs.Started.Equal(last.Started) {
		from(obs.Started, last.At)
		restarted = !last.Started.IsZero()
	}
	return restarted
}

func rowOf(obs *situations.Observation, queue string) (situations.Row, bool) {
	rows := obs.Rows
	if g, _ := situations.GroupOf(queue); g != situations.GroupQueue {
		rows = obs.Others
	}
	i, ok := slices.BinarySearchFunc(rows, queue, func(r situations.Row, q string) int { return strings.Compare(r.Queue, q) })
	if !ok {
		return situations.Row{}, false
	}
	return rows[i], true
}

// tells says that a sample without a row of an item means that it is gone. The
// queue manager itself is never gone.
func tells(obs *situations.Observation, item string) bool {
	switch g, _ := situations.GroupOf(item); g {
	case situations.GroupChannel:
		return len(obs.Others) > 0 && situations.ChannelOf(obs.Others[0].Queue) != ""
	case situations.GroupQMgr:
		return false
	default:
		return obs.Complete && len(obs.Rows) > 0
	}
}

// judge compares claimed values with the sample: what no action or program of
// ours explains is somebody else's. A queue that is gone takes everything along.
func (e *Engine) judge(tg *target, obs *situations.Observation) {
	row, ok := rowOf(obs, tg.Queue)
	if !ok {
		if tells(obs, tg.Queue) {
			if tg.missing++; tg.missing >= goneAfter {
				e.gone(tg)
			}
		}
		return
	}
	tg.missing = 0
	if e.opt.Observe || !obs.At.After(tg.changed) || !obs.At.After(tg.program) || tg.altering() {
		return
	}
	ours := !tg.program.IsZero() && !tg.program.Before(tg.judged)
	for _, attr := range attributesOf(tg.Target, &row, e.claims, &e.outs) {
		if value, ok := current(&row, attr); ok {
			e.claims.observe(tg.Target, attr, value, ours)
			e.outs.observe(tg, attr, value, ours)
		}
	}
	tg.judged = obs.At
}

// goneAfter is how many complete samples in a row must lack a queue before it is gone.
const goneAfter = 2

// altering says that an action that may change attributes is under way.
func (tg *target) altering() bool {
	return slices.ContainsFunc(tg.entries, func(en *entry) bool { return en.running && en.p.Flight != nil && !en.p.Flight.Moving })
}

func (e *Engine) gone(tg *target) {
	for _, en := range tg.entries {
		if en.in.Row.Absent {
			continue // that it is gone is what the intent is about
		}
		if en.superseded == "" {
			e.supersede(en, "the "+noun(tg.Queue)+" is gone")
		}
		if !en.running {
			en.p.Flight = nil // nothing is left to see what became of it
		}
	}
	for _, attr := range attributesOf(tg.Target, nil, e.claims, &e.outs) {
		e.claims.drop(tg.Target, attr)
		e.outs.drop(tg.Target, attr)
	}
	tg.imagined = nil
	delete(e.jobs, tg.Target)
	delete(e.raised, tg.Target)
	e.unsaved[tg.Target] = true
}

// forget drops what is known of a target that nothing is done to any more.
func (e *Engine) forget(tg *target) {
	if tg.working || len(tg.imagined) > 0 {
		return
	}
	for _, attr := range attributesOf(tg.Target, nil, e.claims, &e.outs) {
		if e.claims.get(tg.Target, attr) != nil || e.outs.get(tg.Target, attr) != nil {
			return
		}
	}
	// Times of our last change matter to the next action for two samples at most.
	if good := e.view.good; good != nil && good.At.After(tg.changed) && good.At.After(tg.program) {
		delete(e.targets, tg.Target)
	}
}

// fallback looks after a standing lowering: see lonely.
func (e *Engine) fallback(tg *target, en *entry, obs *situations.Observation) {
	if len(en.p.Lowered) == 0 || en.p.Flight != nil && !en.p.Flight.Moving || en.superseded != "" || tg.altering() || !obs.At.After(tg.changed) {
		return
	}
	row, ok := rowOf(obs, tg.Queue)
	if !ok {
		return
	}
	for _, l := range slices.Clone(en.p.Lowered) {
		value, ok := current(&row, l.main().Attr)
		switch {
		case !ok || value == l.main().After || en.running:
			continue
		case en.putBack && en.failure != "" && value == l.main().Before:
			e.deferAgain(en, l.Action) // our putting back worked, though it looked as if it had not
		default: // somebody else's now
			en.p.Lowered = slices.DeleteFunc(en.p.Lowered, func(x Lowered) bool { return x.Action == l.Action })
		}
		e.changed[en] = true
	}
	var lonely *situations.Row
	for _, l := range en.p.Lowered {
		a := &en.in.Actions[l.Action]
		for _, r := range affected(tg.Target, a, &row, obs.Rows, clustersIn(l.Changes)) {
			if tooFew(r, leverOf(a, e.opt.V6).on(tg.Target), en.need(l.Action, r)) {
				lonely = r
				break
			}
		}
	}
	k := 0
	if lonely != nil {
		k = place(lonely, obs.QMID)
	}
	if en.lone.step(obs.At, lonely != nil, k, en.in.Interval) && !e.opt.Observe {
		if !en.putBack {
			en.putBack, en.retryAt = true, time.Time{}
		}
		if en.interrupt != nil {
			en.interrupt()
		}
	}
}

// facts gathers what one decision about an entry looks at.
func (e *Engine) facts(tg *target, en *entry, a *situations.Action, now time.Time) *Facts {
	f := &Facts{
		Now: now, Target: tg.Target, GraceFrom: e.view.graceFrom, Grace: Grace(e.opt.Grace, en.in.Interval),
		Raised: e.raised[tg.Target], JournalOK: e.opt.Journal.Ready(), BudgetFree: e.budget.free(now),
		V6: e.opt.V6, Claims: e.claims, Outs: &e.outs,
		Person: HoldOf(e.holds.list, tg.Queue, now), Broken: e.breaker.holding(en.in.Key.Situation),
		Cancelled: en.p.Cancelled,
	}
	if e.opt.Items != nil {
		f.Flapping, f.Maintained = e.opt.Items.Flapping(en.in.Key), e.opt.Items.Maintained(en.in.Key)
	}
	good := e.view.good
	if good == nil || e.view.obs.Err != nil || good.QMgr != tg.QMgr {
		return f
	}
	// Older than two intervals is no sample of now; a shorter bound than 10 s would
	// make a busy host blind.
	old := max(2*en.in.Interval, 10*time.Second)
	f.Sampled = now.Sub(good.At) <= old && good.At.After(en.freshAfter) && e.view.taken > en.after
	if changes(a) && !good.At.After(tg.program) {
		f.Sampled = false // a program may have changed what this sample saw
	}
	f.Repository = good.Repository
	f.Row, f.Present = rowOf(good, tg.Queue)
	f.Queues = good.Rows
	if f.Present && e.opt.Items != nil {
		f.NeverMove = e.opt.Items.NeverRedistribute(tg.QMgr, &f.Row)
	}
	if f.Present && !good.At.After(tg.changed) {
		overlay(&f.Row, tg.known)
	}
	if f.Present && e.opt.Observe {
		overlay(&f.Row, tg.imagined)
	}
	return f
}

// changes says that an action compares attributes before it alters them.
func changes(a *situations.Action) bool {
	return attrOf(a.Verb) != "" || a.Verb == situations.VerbRevert
}

// overlay puts values that we read back after the sample was taken into the row.
func overlay(row *situations.Row, known []Value) {
	if len(known) == 0 {
		return
	}
	switch env := row.Env.(type) {
	case situations.Attributes:
		overlayQueue(row, env, known)
	case situations.ChannelAttributes:
		overlayChannel(row, env, known)
	case situations.QMgrAttributes:
		overlayQMgr(row, env, known)
	}
}

func overlayChannel(row *situations.Row, env situations.ChannelAttributes, known []Value) {
	for _, v := range known {
		n, err := strconv.Atoi(v.Value)
		switch {
		case v.Attr == attrStatus && v.Value == situations.Stopped:
			env.STATUS = "STOPPED"
		case v.Attr == attrStatus && !working(env.STATUS):
			env.STATUS = "STARTING"
		case err != nil:
		case v.Attr == attrWeight:
			env.CLWLWGHT = n
		case v.Attr == attrRank:
			env.CLWLRANK = n
		case v.Attr == attrPriority:
			env.CLWLPRTY = n
		}
	}
	row.Env = env
}

func overlayQMgr(row *situations.Row, env situations.QMgrAttributes, known []Value) {
	row.Suspended = slices.Clone(row.Suspended)
	for _, v := range known {
		cluster := clusterIn(v.Attr)
		row.Suspended = slices.DeleteFunc(row.Suspended, func(c string) bool { return c == cluster })
		if v.Value == situations.Yes {
			row.Suspended = append(row.Suspended, cluster)
		}
	}
	env.SUSPEND = situations.No
	if len(row.Suspended) > 0 {
		env.SUSPEND = situations.Yes
	}
	row.Env = env
}

func overlayQueue(row *situations.Row, env situations.Attributes, known []Value) {
	row.Instances = slices.Clone(row.Instances)
	local := func(set func(*situations.Instance)) {
		for i := range row.Instances {
			if row.Instances[i].Local {
				set(&row.Instances[i])
			}
		}
	}
	for _, v := range known {
		n, err := strconv.Atoi(v.Value)
		switch v.Attr {
		case attrPut:
			env.PUT = v.Value
			local(func(i *situations.Instance) { i.Put = v.Value == enabled })
		case attrUseQ:
			env.CLWLUSEQ = v.Value
		case attrRank:
			if err == nil {
				env.CLWLRANK = n
				local(func(i *situations.Instance) { i.ClwlRank = n })
			}
		case attrPriority:
			if err == nil {
				env.CLWLPRTY = n
				local(func(i *situations.Instance) { i.ClwlPrty = n })
			}
		}
	}
	row.Env = env
}
