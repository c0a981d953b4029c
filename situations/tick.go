package situations

import (
	"slices"
	"strings"
	"time"
)

// tick evaluates one sample for the situations that are due, or that an extra
// sample is for, and gives what must be recorded. Nothing holds until applied.
func (b *book) tick(obs *Observation, now time.Time) batch {
	var out batch
	at := obs.At
	if at.IsZero() {
		at = now
	}
	out.at = at
	rows, others := ordered(obs.Rows), ordered(obs.Others)
	b.track(obs, rows, others, at)
	t := tickRun{book: b, out: &out, at: at, now: now, active: b.active[:0]}
	for _, s := range b.order {
		s.tickHolder = s.holder
		s.tickHeld, s.tickMuted = s.maintained(now)
		if s.due || s.extra {
			s.tickInterval = s.interval(at)
			t.active = append(t.active, s)
		}
	}
	b.active = t.active
	if obs.Err != nil {
		for _, sl := range b.slots {
			t.all(sl, Unknown)
		}
		return out
	}
	t.absent = b.absences(obs, rows, others)
	t.merge(rows, others)
	return out
}

// absences is what a missing row says in each group. A group without any row
// tells nothing, and the queue manager itself is never gone.
func (b *book) absences(obs *Observation, rows, others []Row) [groupCount]Verdict {
	out := [groupCount]Verdict{Unknown, Unknown, Unknown}
	if len(rows) > 0 && obs.Complete && b.believe(GroupQueue, rows) {
		out[GroupQueue.index()] = Gone
	}
	if n := channelsIn(others); n > 0 && b.believe(GroupChannel, others[:n]) {
		out[GroupChannel.index()] = Gone
	}
	return out
}

// channelsIn is how many of the rows, which come first, are of channels.
func channelsIn(others []Row) int {
	n := 0
	for n < len(others) && ChannelOf(others[n].Queue) != "" {
		n++
	}
	return n
}

// track keeps what concerns the sample as a whole.
func (b *book) track(obs *Observation, rows, others []Row, at time.Time) {
	if obs.Err == nil {
		b.samples.failed, b.samples.blindAt = 0, time.Time{}
		if len(rows) > 0 {
			b.samples.rows, b.samples.at = rows, at
		}
		if len(others) > 0 {
			b.samples.others, b.samples.at = others, at
		}
		return
	}
	due := slices.ContainsFunc(b.live, func(s *liveSituation) bool { return s.due })
	if !due {
		return
	}
	if b.samples.failed == 0 {
		b.samples.blindAt = at
	}
	b.samples.failed++
}

// ordered gives rows by name, as the source promised.
func ordered(rows []Row) []Row {
	byQueue := func(a, b Row) int { return strings.Compare(a.Queue, b.Queue) }
	if slices.IsSortedFunc(rows, byQueue) {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, byQueue)
	return rows
}

// believe doubts a sample that misses more than half of a group's items there
// were: that is how a source fails that does not know it. The next sample may insist.
func (b *book) believe(g Group, rows []Row) bool {
	known, missing, i := 0, 0, 0
	for _, sl := range b.slots {
		if !sl.present || groupIndex(sl.queue) != g.index() {
			continue
		}
		known++
		for i < len(rows) && rows[i].Queue < sl.queue {
			i++
		}
		if i >= len(rows) || rows[i].Queue != sl.queue {
			missing++
		}
	}
	doubtful := 2*missing > known
	suspicion := &b.suspicion[g.index()]
	ok := !doubtful || *suspicion
	*suspicion = doubtful && !ok
	return ok
}

// tickRun is one walk over slots and rows, which are both in the order of names.
type tickRun struct {
	*book
	out     *batch
	active  []*liveSituation // that this sample is for
	at, now time.Time
	absent  [groupCount]Verdict // of an item without a row, by group
	// opened tells of the items judged in this tick that may end others whether
	// they are open now.
	opened map[*item]bool
}

// merge walks over slots and rows, which are both in the order of items.
func (t *tickRun) merge(lists ...[]Row) {
	slots := t.slots
	var fresh []*slot
	i := 0
	prune := false
	for _, rows := range lists {
		for r := 0; r < len(rows); {
			row := &rows[r]
			for i < len(slots) && slots[i].queue != row.Queue && compareItems(slots[i].queue, row.Queue) < 0 {
				prune = t.missing(slots[i]) || prune
				i++
			}
			copies := 1
			for r+copies < len(rows) && rows[r+copies].Queue == row.Queue {
				copies++
			}
			var sl *slot
			if i < len(slots) && slots[i].queue == row.Queue {
				sl = slots[i]
				i++
			} else {
				sl = &slot{queue: strings.Clone(row.Queue), items: make([]*item, len(t.live))}
				fresh = append(fresh, sl)
			}
			sl.present = true
			t.row(sl, row, copies > 1)
			r += copies
		}
	}
	for ; i < len(slots); i++ {
		prune = t.missing(slots[i]) || prune
	}
	if len(fresh) > 0 {
		t.slots = append(t.slots, fresh...)
		slices.SortFunc(t.slots, func(a, b *slot) int { return compareItems(a.queue, b.queue) })
	}
	if prune {
		t.slots = slices.DeleteFunc(t.slots, func(s *slot) bool { return !s.present && s.empty() })
	}
}

func (s *slot) empty() bool {
	return !slices.ContainsFunc(s.items, func(it *item) bool { return it != nil })
}

// missing judges the items of a slot that the sample does not have, and says
// whether the slot has become empty.
func (t *tickRun) missing(sl *slot) bool {
	v := t.absent[groupIndex(sl.queue)]
	if v == Gone {
		sl.present = false
	}
	t.all(sl, v)
	return !sl.present && sl.empty()
}

// all gives every item of a queue the same verdict.
func (t *tickRun) all(sl *slot, v Verdict) {
	for _, s := range t.active {
		switch it := sl.items[s.index]; {
		case it == nil:
		case v == Gone && s.expects(sl.queue):
			t.missed(sl, it)
		default:
			t.judge(sl, it, v, nil)
		}
	}
}

// row evaluates the formulas of one queue. Two rows of one name tell nothing.
func (t *tickRun) row(sl *slot, row *Row, doubled bool) {
	t.choose(sl, row, t.now)
	loaded := false
	for _, s := range t.active {
		it := sl.items[s.index]
		if it == nil {
			continue
		}
		if len(s.Expect) > 0 && !s.Watch.Match(row) {
			t.missed(sl, it)
			continue
		}
		if doubled || t.now.Sub(t.at) > 2*s.tickInterval {
			t.judge(sl, it, Unknown, row)
			continue
		}
		if !loaded {
			t.eval.load(row, t.uses[groupIndex(row.Queue)])
			loaded = true
		}
		t.judge(sl, it, s.verdict(&t.eval), row)
	}
}

// verdict is what the formula and the recovery say together.
func (s *liveSituation) verdict(e *evaluation) Verdict {
	if s.Recovery != nil && s.Recovery.needs&e.missing != 0 {
		return Unknown // what opens now might never be seen to end
	}
	v := s.Formula.run(e)
	if v != False || s.Recovery == nil {
		return v
	}
	switch s.Recovery.run(e) {
	case True:
		return False
	case False:
		return Hold
	case Unknown, Hold, Gone:
	}
	return Unknown
}

func (s *liveSituation) interval(t time.Time) time.Duration { return s.Schedule.Interval(t) }

// judge takes one verdict of one item.
func (t *tickRun) judge(sl *slot, it *item, v Verdict, row *Row) {
	if v != it.verdict || it.since.IsZero() {
		it.verdict, it.since = v, t.at
	}
	it.count(v, it.sit.due, t.at)
	if it.state == nil && v != True {
		if v != Gone {
			it.gone = 0
		} else if it.sit.due {
			if it.gone++; it.gone >= goneAfter {
				sl.items[it.sit.index], sl.facts.known = nil, false
			}
		}
		return
	}
	if v == True && it.sit.FirstItem && it.sit.tickHolder != nil && it.sit.tickHolder != it {
		return // another item has the event; this one is looked at when that is over
	}
	t.step(sl, it, v, row)
}

// stopped says that the situation that ends this one is open for the queue.
func (t *tickRun) stopped(sl *slot, s *liveSituation) bool {
	if s.until == nil {
		return false
	}
	it := sl.items[s.until.index]
	if it == nil {
		return false
	}
	if open, judged := t.opened[it]; judged {
		return open
	}
	return it.state != nil && it.state.isOpen()
}

// count keeps how long an item has been unknown.
func (it *item) count(v Verdict, due bool, at time.Time) {
	switch {
	case v != Unknown:
		it.blind, it.blindAt = 0, time.Time{}
	case due && it.blind < blindAfter:
		if it.blind == 0 {
			it.blindAt = at
		}
		it.blind++
	}
}

// step runs the machine and notes what must be recorded.
func (t *tickRun) step(sl *slot, it *item, v Verdict, row *Row) {
	s := it.sit
	before := State{Fingerprint: s.fingerprint}
	if it.state != nil {
		before = *it.state
	}
	l := limits{open: s.For, clear: s.ClearFor, again: s.ActAgain, until: s.Until.After, interval: s.tickInterval}
	in := input{verdict: v, at: s.judgedAt(t.at), scheduled: s.due, epoch: t.epoch(), held: s.tickHeld, stopped: t.stopped(sl, s)}
	if before.Phase == Pending || before.Phase == Recovering {
		in.ticks = s.Schedule.ticks(before.LastGood, t.at, t.anchor, maxGap+1)
	}
	after, res := step(&l, before, in)
	if after.Epoch != before.Epoch {
		t.lastEpoch = max(t.lastEpoch, after.Epoch)
	}
	s.decorate(&after, res.edge, row)
	if s.ends {
		if t.opened == nil {
			t.opened = map[*item]bool{}
		}
		t.opened[it] = after.isOpen()
	}
	it.muted = after.isOpen() && !s.tickMuted.IsZero() && !s.tickMuted.After(after.Opened)
	t.suppress(it, &after, res.suppressed, row)
	if s.FirstItem {
		t.hold(s, it, &after)
	}
	t.note(it, before, after, res, row)
}

// epoch is the number of a history that begins now: later than all before it,
// also when the clock went back.
func (b *book) epoch() int64 { return max(b.anchor.UnixNano(), b.lastEpoch+1) }

func (t *tickRun) hold(s *liveSituation, it *item, after *State) {
	switch {
	case after.isOpen():
		s.tickHolder = it
	case s.tickHolder == it:
		s.tickHolder = nil
	}
}

// decorate keeps with the state what is only known when an edge comes.
func (s *liveSituation) decorate(after *State, edge Edge, row *Row) {
	switch edge {
	case EdgeOpen:
		if s.claims != "" {
			after.Claim = s.claims
		}
		if s.Alert != nil && row != nil {
			after.Cluster = s.clusterOf(row)
			after.Summary, after.Description = Expand(s.Alert.Summary, row), Expand(s.Alert.Description, row)
		}
	case EdgeClear:
		if slices.ContainsFunc(s.OnClear, func(a Action) bool { return a.Verb == VerbRevert }) {
			after.Claim = ""
		}
		after.Cluster, after.Summary, after.Description = "", "", ""
	case EdgeRepeat, EdgeRetry, EdgeManual, EdgeGuard:
	}
}

// clusterOf is the cluster that the situation watches the queue in.
func (s *liveSituation) clusterOf(row *Row) string {
	for _, c := range row.Clusters {
		if s.Watch.Cluster.Match(c) {
			return c
		}
	}
	if row.Absent && len(s.Watch.Cluster.exact) == 1 {
		return s.Watch.Cluster.exact[0]
	}
	return ""
}

// note writes a step into the batch.
func (t *tickRun) note(it *item, before, after State, res outcome, row *Row) {
	stored := it.state != nil
	if before == after && stored && !res.removed {
		return
	}
	k := t.key(it.sit, it.queue)
	a := apply{item: it, removed: res.removed}
	if !after.pristine() {
		st := after
		a.state = &st
	}
	t.out.applies = append(t.out.applies, a)
	switch {
	case a.state == nil && stored:
		t.out.changes = append(t.out.changes, ItemChange{Key: k})
	case a.state != nil && (!stored || worthStoring(&before, &after)):
		data, err := after.encode()
		if err != nil { // plain fields only: cannot fail
			return
		}
		t.out.changes = append(t.out.changes, ItemChange{Key: k, Data: data})
	}
	if in, ok := t.intent(k, it.sit, &after, res.edge, row); ok {
		if res.ended {
			in.Reason = it.sit.Until.reason(res.stopped)
		}
		t.out.intents = append(t.out.intents, in)
	}
}

// suppress notes an edge that a maintenance window keeps back, once.
func (t *tickRun) suppress(it *item, st *State, edge Edge, row *Row) {
	if edge == it.suppressed {
		return
	}
	it.suppressed = edge
	if edge == "" || edge == EdgeRepeat {
		return
	}
	next := *st
	next.Sequence++
	if in, ok := t.intent(t.key(it.sit, it.queue), it.sit, &next, edge, row); ok && len(in.Actions) > 0 {
		t.out.suppressed = append(t.out.suppressed, in)
	}
}

// intent is what an edge asks of the actions, if anything.
func (t *tickRun) intent(k Key, s *liveSituation, st *State, edge Edge, row *Row) (Intent, bool) {
	actions := s.Actions
	switch edge {
	case "":
		return Intent{}, false
	case EdgeClear:
		actions = s.OnClear
	case EdgeOpen, EdgeRepeat, EdgeRetry, EdgeManual, EdgeGuard:
	}
	if len(s.Actions) == 0 && len(s.OnClear) == 0 {
		return Intent{}, false // an alert only
	}
	in := Intent{
		ID: intentID(k, st.Epoch, st.Sequence), Key: k, Edge: edge, At: t.at,
		Actions: actions, Interval: s.tickInterval, Guard: s.Guard,
	}
	if row != nil {
		in.Row = *row
		in.Actions = t.forbid(actions, row)
	}
	return in, true
}

// forbid marks redistributions of a queue that some rule never wants moved.
func (b *book) forbid(actions []Action, row *Row) []Action {
	moves := func(a Action) bool { return a.Verb == VerbRedistribute && !a.Never }
	if !slices.ContainsFunc(actions, moves) || !b.rules.NeverRedistribute(b.qmgr, row) {
		return actions
	}
	out := slices.Clone(actions)
	for i := range out {
		out[i].Never = out[i].Never || out[i].Verb == VerbRedistribute
	}
	return out
}

// apply makes a recorded batch hold.
func (b *book) apply(out *batch) {
	removed := false
	for _, a := range out.applies {
		if now := a.state != nil && a.state.Flapping; !now {
			a.item.flapping = time.Time{}
		} else if a.item.state == nil || !a.item.state.Flapping {
			a.item.flapping = out.at
		}
		a.item.state = a.state
		if a.removed {
			a.item.gone, removed = goneAfter, true
		}
	}
	for _, s := range b.live {
		s.holder = s.tickHolder
	}
	b.owed = batch{}
	if removed {
		b.sweep()
	}
}

// sweep takes removed items out of their slots.
func (b *book) sweep() {
	for _, sl := range b.slots {
		for i, it := range sl.items {
			if it != nil && it.gone >= goneAfter {
				sl.items[i], sl.facts.known = nil, false
			}
		}
	}
	b.slots = slices.DeleteFunc(b.slots, func(s *slot) bool { return !s.present && s.empty() })
}
