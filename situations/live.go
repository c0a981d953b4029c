package situations

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// book is everything a daemon knows of the items of one queue manager: the
// situations in force and, for every queue, their items. It is the pure part of
// the runner: it gets observations and gives changes and intents.
type book struct {
	qmgr      string
	rules     *RuleSet
	anchor    time.Time
	live      []*liveSituation
	order     []*liveSituation   // in which they are judged: what may end another before it
	uses      [groupCount]uint64 // attributes that any formula of a group names
	slots     []*slot
	frozen    map[Key]*State // of situations that are not enabled
	lastEpoch int64
	owed      batch            // items dropped, until that is recorded
	suspicion [groupCount]bool // the last complete sample missed too many items to be believed
	eval      evaluation
	samples   tracker
	active    []*liveSituation // scratch of a tick
}

// tracker remembers the samples themselves.
type tracker struct {
	rows    []Row     // of the last one that answered, in the order of names
	others  []Row     // the same of channels and the queue manager
	at      time.Time // when that was
	failed  int       // due samples in a row without an answer
	blindAt time.Time // when that began
}

// liveSituation is a situation that runs here.
type liveSituation struct {
	*Situation
	index       int
	fingerprint uint64
	claims      string
	next        time.Time // when it is due
	due, extra  bool      // in this tick
	dueAt       time.Time // since when it is due; zero if the one after that is past, too
	// tickInterval is the interval at this tick; a cron line's is worth computing once.
	tickInterval time.Duration
	// tickHeld: a maintenance window suppresses actions at this tick; tickMuted is
	// since when one suppresses alerts.
	tickHeld   bool
	tickMuted  time.Time
	until      *liveSituation // that ends this one
	ends       bool           // it ends another
	holder     *item          // act_on first_item: the item that is open
	tickHolder *item          // the same while a tick is not committed
}

// judgedAt is the time that the machine counts a sample with: one that was due
// counts from when it was, not from when it came, which is a moment later and
// never the same. Else three intervals are as often as not a hair less than
// three times the interval, and what is to hold for so long needs a fourth.
func (s *liveSituation) judgedAt(at time.Time) time.Time {
	if !s.due || s.dueAt.IsZero() || s.dueAt.After(at) {
		return at
	}
	return s.dueAt.In(at.Location())
}

// slot is one queue, channel or queue manager with its items.
type slot struct {
	queue   string // its name as an item
	present bool   // the last sample that could tell had it
	facts   facts
	items   []*item // by situation; nil where it does not watch the queue
}

// facts are what selection depends on; while they stay, so does the selection.
type facts struct {
	known    bool
	clusters string
	kinds    uint8
}

// item is one queue of one situation. Most are never anything but false, so what
// is rare lies behind a pointer.
type item struct {
	sit     *liveSituation
	queue   string
	state   *State // nil: pristine
	since   time.Time
	verdict Verdict
	gone    uint8 // while pristine
	blind   uint8 // due samples in a row without a verdict, up to blindAfter
	blindAt time.Time
	// muted: it opened in a window that suppresses alerts and is still open. What
	// opened before goes on being told: else it would seem to be over.
	muted bool
	// suppressed is the edge that a maintenance window keeps back, told once.
	suppressed Edge
	// flapping is since when it changes too often; after a restart, since then.
	flapping time.Time
}

func newBook(qmgr string, rules *RuleSet, anchor time.Time) *book {
	b := &book{qmgr: qmgr, anchor: anchor, frozen: map[Key]*State{}}
	b.rules, b.live = rules, liveSituations(qmgr, rules)
	b.prepare()
	b.expected()
	return b
}

func liveSituations(qmgr string, rules *RuleSet) []*liveSituation {
	var out []*liveSituation
	for _, s := range rules.Situations {
		if s.Runs(qmgr) {
			out = append(out, &liveSituation{Situation: s, index: len(out), fingerprint: s.fingerprint(), claims: s.Claims()})
		}
	}
	return out
}

// prepare sets what depends on the situations in force.
func (b *book) prepare() {
	b.uses, b.order = [groupCount]uint64{}, linkUntil(b.live)
	for _, s := range b.live {
		uses := &b.uses[s.Watch.group().index()]
		*uses |= s.Formula.uses
		if s.Recovery != nil {
			*uses |= s.Recovery.uses
		}
	}
}

func (b *book) key(s *liveSituation, queue string) Key {
	return Key{Situation: s.Name, QMgr: b.qmgr, Queue: queue}
}

// restore takes the stored records. Those of situations that are not in the
// rules any more are dropped.
func (b *book) restore(records []ItemRecord) error {
	byName := map[string]*liveSituation{}
	for _, s := range b.live {
		byName[s.Name] = s
	}
	disabled := map[string]bool{}
	for _, s := range b.rules.Situations {
		disabled[s.Name] = !s.Enabled
	}
	renamed := renames(b.rules)
	for i := range records { // a name that has a record already goes on with that
		for from, to := range renamed {
			if records[i].Key.Situation == to {
				delete(renamed, from)
			}
		}
	}
	slices.SortFunc(records, func(x, y ItemRecord) int { return compareKeys(x.Key, y.Key) })
	for _, r := range records {
		if r.Key.QMgr != b.qmgr {
			continue
		}
		st, err := decodeState(r.Data)
		if err != nil {
			return fmt.Errorf("queue %s of situation %s: %w", r.Key.Queue, r.Key.Situation, err)
		}
		b.lastEpoch = max(b.lastEpoch, st.Epoch)
		if to := renamed[r.Key.Situation]; to != "" {
			if err := b.owed.rename(&r.Key, &st, to); err != nil {
				return err
			}
		}
		switch s := byName[r.Key.Situation]; {
		case s != nil:
			st.adopt(s.fingerprint)
			it := &item{sit: s, queue: r.Key.Queue, state: &st}
			b.slot(r.Key.Queue).items[s.index] = it
			if st.isOpen() {
				s.holder = it
			}
		case disabled[r.Key.Situation]:
			b.frozen[r.Key] = &st
		default:
			b.owed.drop(r.Key, &st, b.anchor, "situation removed")
		}
	}
	return nil
}

func compareKeys(a, b Key) int {
	if c := compareItems(a.Queue, b.Queue); c != 0 {
		return c
	}
	if c := strings.Compare(a.Situation, b.Situation); c != 0 {
		return c
	}
	return strings.Compare(a.QMgr, b.QMgr)
}

// slot finds a queue's slot and makes it if there is none.
func (b *book) slot(queue string) *slot {
	i, found := slices.BinarySearchFunc(b.slots, queue, func(s *slot, q string) int { return compareItems(s.queue, q) })
	if !found {
		b.slots = slices.Insert(b.slots, i, &slot{queue: queue, items: make([]*item, len(b.live))})
	}
	return b.slots[i]
}

func factsOf(row *Row) facts {
	f := facts{known: true, clusters: strings.Join(row.Clusters, " ")}
	for i, b := range []bool{row.System, row.Dynamic, row.Transmission} {
		if b {
			f.kinds |= 1 << i
		}
	}
	return f
}

// same compares without building a string.
func (f *facts) same(row *Row) bool {
	if !f.known || (f.kinds&1 != 0) != row.System || (f.kinds&2 != 0) != row.Dynamic || (f.kinds&4 != 0) != row.Transmission {
		return false
	}
	if len(row.Clusters) == 1 {
		return f.clusters == row.Clusters[0]
	}
	return f.clusters == strings.Join(row.Clusters, " ")
}

// choose matches a queue against all situations, anew when its facts changed.
func (b *book) choose(sl *slot, row *Row, now time.Time) {
	if sl.facts.same(row) {
		return
	}
	sl.facts = factsOf(row)
	for _, s := range b.live {
		it := sl.items[s.index]
		match := s.Watch.Match(row)
		switch {
		case match && it == nil:
			sl.items[s.index] = &item{sit: s, queue: sl.queue}
		case !match && it != nil && !s.expects(sl.queue):
			b.unselect(sl, it, now)
		}
	}
}

// unselect drops an item that its situation does not watch any more.
func (b *book) unselect(sl *slot, it *item, now time.Time) {
	sl.items[it.sit.index] = nil
	if it.sit.holder == it {
		it.sit.holder, it.sit.tickHolder = nil, nil
	}
	if it.state != nil {
		b.owed.drop(b.key(it.sit, it.queue), it.state, now, "queue not watched any more")
	}
}

// reload puts other rules in force: states go to the situation of the same name.
// With the same rules nothing at all changes.
func (b *book) reload(rules *RuleSet, now time.Time) {
	old := b.live
	renamed := renames(rules)
	for _, s := range b.rules.Situations { // a name that was there already has a state of its own
		for from, to := range renamed {
			if s.Name == to {
				delete(renamed, from)
			}
		}
	}
	b.rules, b.live = rules, liveSituations(b.qmgr, rules)
	byName := map[string]*liveSituation{}
	for _, s := range b.live {
		byName[s.Name] = s
	}
	to := make([]*liveSituation, len(old)) // where each old situation's items go
	for i, s := range old {
		if n := byName[newName(renamed, s.Name)]; n != nil {
			to[i] = n
			n.next = s.next
			if !n.Schedule.same(&s.Schedule) {
				n.next = n.Schedule.Next(now, b.anchor)
			}
		}
	}
	for _, n := range b.live {
		if n.next.IsZero() {
			n.next = n.Schedule.Next(now, b.anchor)
		}
	}
	enabled := map[string]bool{}
	for _, s := range rules.Situations {
		enabled[s.Name] = s.Enabled
	}
	for _, sl := range b.slots {
		b.moveItems(sl, old, to, renamed, enabled, now)
	}
	b.thaw(byName, renamed, enabled, now)
	b.prepare()
	b.expected()
}

// moveItems carries a queue's items over to the new situations.
func (b *book) moveItems(sl *slot, old, to []*liveSituation, renamed map[string]string, enabled map[string]bool, now time.Time) {
	before := sl.items
	sl.items = make([]*item, len(b.live))
	sl.facts = facts{} // select again at the next sample
	for i, it := range before {
		if it == nil {
			continue
		}
		name := newName(renamed, old[i].Name)
		k := b.key(old[i], it.queue)
		if it.state != nil && name != old[i].Name {
			b.carry(&k, it.state, name)
		}
		if n := to[i]; n != nil {
			it.sit = n
			sl.items[n.index] = it
			if it.state != nil {
				it.state.adopt(n.fingerprint)
				if it.state.isOpen() {
					n.holder = it
				}
			}
			continue
		}
		if it.state == nil {
			continue
		}
		if on, listed := enabled[name]; listed && !on {
			b.frozen[k] = it.state // keeps its state until it is enabled again
			continue
		}
		b.owed.drop(k, it.state, now, "situation removed")
	}
}

// thaw gives back the states of situations that are enabled again, and drops
// those of situations that are gone.
func (b *book) thaw(byName map[string]*liveSituation, renamed map[string]string, enabled map[string]bool, now time.Time) {
	keys := make([]Key, 0, len(b.frozen))
	for k := range b.frozen {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	for _, k := range keys {
		st := b.frozen[k]
		if name := newName(renamed, k.Situation); name != k.Situation {
			delete(b.frozen, k)
			b.carry(&k, st, name)
			b.frozen[k] = st
		}
		if n := byName[k.Situation]; n != nil {
			st.adopt(n.fingerprint)
			it := &item{sit: n, queue: k.Queue, state: st}
			b.slot(k.Queue).items[n.index] = it
			if st.isOpen() {
				n.holder = it
			}
			delete(b.frozen, k)
		} else if on, listed := enabled[k.Situation]; !listed || on {
			delete(b.frozen, k)
			b.owed.drop(k, st, now, "situation removed")
		}
	}
}

// batch is what a tick or a reload wants recorded, and then done.
type batch struct {
	changes []ItemChange
	intents []Intent
	applies []apply
	// suppressed are the edges that a maintenance window keeps back since this tick.
	suppressed []Intent
	claims     map[Key]bool // claims already given back in this batch
	at         time.Time    // of the sample
}

// apply is a state that holds once it is recorded.
type apply struct {
	item    *item
	state   *State
	removed bool
}

// drop forgets an item whose situation does not want it any more. What its
// actions may have changed and claimed goes back to what was found; what they
// still wait for, retry or watch over ends, also where nothing is claimed.
func (b *batch) drop(k Key, st *State, now time.Time, reason string) {
	b.changes = append(b.changes, ItemChange{Key: k})
	in := Intent{
		ID: intentID(k, st.Epoch, st.Sequence+1), Key: k, Edge: EdgeClear, At: now,
		Row: Row{Queue: k.Queue}, Reason: reason,
	}
	claim := Key{Situation: st.Claim, QMgr: k.QMgr, Queue: k.Queue}
	switch {
	case st.Claim != "" && !b.claims[claim]:
		if b.claims == nil {
			b.claims = map[Key]bool{}
		}
		b.claims[claim] = true
		in.Actions = []Action{{Verb: VerbRevert, ClaimName: st.Claim}}
	case !st.Acted:
		return
	}
	b.intents = append(b.intents, in)
}

// intentID is unique for ever: an epoch is never used twice, and names of queue
// managers and queues hold no colon.
func intentID(k Key, epoch int64, sequence int) string {
	return fmt.Sprintf("%s:%s:%s:%d.%d", k.QMgr, k.Queue, k.Situation, epoch, sequence)
}
