package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/situationd/situationd/situations"
)

// Recorder is where the engine writes its journal.
type Recorder interface {
	// Append writes one line. With sync it returns only after the line is on disk.
	Append(e Entry, sync bool) error
	// Ready says whether a line could be written now.
	Ready() bool
}

// Options of an Engine. Manager, Journal and Store are required.
type Options struct {
	QMgr     string
	Manager  QueueManager
	Mover    Mover     // nil: redistribute is refused
	Programs Programs  // nil: exec is refused
	Commands Commander // nil: mqsc is refused
	Hooks    Hooks     // nil: webhook is refused
	Journal  Recorder
	Store    Store
	Peers    Peers // nil: none configured
	Items    Items // nil: nothing flaps
	Logger   hclog.Logger
	// Observe decides and journals everything and changes nothing.
	Observe bool
	// Manual does only what a person asks for: what the outbox holds stays there.
	Manual bool
	// Budget is the number of actions a minute that may lower or run something; 0 means the default of 60.
	Budget int
	// Grace is the start-up grace; 0 means none. Grace() shortens it for short intervals.
	Grace time.Duration
	// Breaker is the share of a situation's items, in percent, that may open within
	// one interval; more of them hold all its actions until a person says go on. 0 is off.
	Breaker int
	// V6 is the workload order before MQ 8.
	V6 bool
	// Drain is how long running programs may go on when the engine ends; 0 means 5s.
	Drain time.Duration
}

const (
	defaultBudget = 60
	defaultDrain  = 5 * time.Second
	// maxHeavy bounds programs and calls at one time, maxMoves runs of moving
	// messages: with a rate they take long, and programs must not wait for them.
	maxHeavy = 16
	maxMoves = 64
)

// Engine carries out intents. It implements situations.Sink.
type Engine struct {
	opt   Options
	log   hclog.Logger
	heavy chan struct{}
	moves chan struct{}
	wake  chan struct{}
	done  chan struct{} // closed when Run is over

	saving sync.Mutex // held while a transaction is written, taken before mu

	mu       sync.Mutex
	work     context.Context // of everything that runs
	running  bool            // workers may start
	stopping bool
	workers  int
	idle     chan struct{} // while drain waits: the last worker closes it
	seq      uint64
	entries  map[string]*entry // by intent ID
	targets  map[Target]*target
	claims   *Claims
	outs     outs
	raised   map[Target]time.Time
	unsaved  map[Target]bool     // raised entries to store
	finished []string            // intents to take out of the outbox
	ends     map[string]Result   // of attempts that the journal knows to have ended, from the start
	asked    []situations.Intent // a person's, to store
	changed  map[*entry]bool     // progress to store that no worker stores
	view     view
	budget   budget
	holds    holds
	breaker  breaker
	jobs     map[Target]*Job
	hand     hand
	shown    map[publicationKey]publication // for the peers
	stats    counters
}

// target is one queue that something is, was or will be done to.
type target struct {
	Target
	entries []*entry // by seq
	working bool
	// changed is when our last change ended, program when the last program ended.
	changed, program time.Time
	judged           time.Time         // sample that claims were last judged by
	known            []Value           // read back at changed
	ran              *Out              // what did so, for what it lowers
	seen             map[string]string // attributes as last judged
	missing          int               // complete samples without the queue, in a row
	imagined         []Value           // with --observe: what would have been set
}

// view is the freshest sample and what is known of the connection.
type view struct {
	obs       *situations.Observation // last one, good or not
	good      *situations.Observation // last good one
	taken     uint64                  // samples taken
	graceFrom time.Time
}

// New makes an engine and loads what its store holds. Nothing happens before Run.
func New(opt Options) (*Engine, error) {
	if opt.Logger == nil {
		opt.Logger = hclog.NewNullLogger()
	}
	if opt.Budget == 0 {
		opt.Budget = defaultBudget
	}
	if opt.Drain == 0 {
		opt.Drain = defaultDrain
	}
	stored, err := opt.Store.LoadActions()
	if err != nil {
		return nil, fmt.Errorf("load the outbox: %w", err)
	}
	e := &Engine{
		opt: opt, log: opt.Logger,
		heavy: make(chan struct{}, maxHeavy), moves: make(chan struct{}, maxMoves), wake: make(chan struct{}, 1),
		entries: map[string]*entry{}, targets: map[Target]*target{}, claims: NewClaims(stored.Claims),
		raised: stored.Raised, unsaved: map[Target]bool{}, changed: map[*entry]bool{},
		budget: budget{most: opt.Budget, taken: stored.Budget}, jobs: map[Target]*Job{}, shown: map[publicationKey]publication{},
		done: make(chan struct{}), stats: newCounters(), holds: holds{list: stored.Holds}, outs: newOuts(stored.Out), breaker: newBreaker(opt.Breaker, stored.Tripped),
	}
	if e.raised == nil {
		e.raised = map[Target]time.Time{}
	}
	for i := range stored.Intents {
		e.admit(&entry{in: stored.Intents[i].Intent, p: stored.Intents[i].Progress})
	}
	for i := range stored.Out {
		e.targetOf(stored.Out[i].Target) // so that samples tell who has changed it meanwhile
	}
	for i := range stored.Claims {
		tg := e.targetOf(stored.Claims[i].Target)
		if opt.Observe {
			tg.imagine(stored.Claims[i].Attr, stored.Claims[i].Set)
		}
	}
	e.abandon()
	return e, nil
}

// add takes an entry in. The lock is held, or nobody else knows the engine yet.
func (e *Engine) add(en *entry) {
	e.seq++
	en.seq = e.seq
	en.target = Target{QMgr: en.in.Key.QMgr, Queue: en.in.Key.Queue}
	en.in.Row.Instances, en.in.Row.Readers = nil, nil // decisions look at the freshest sample
	e.entries[en.in.ID] = en
	tg := e.targetOf(en.target)
	tg.entries = append(tg.entries, en)
}

func (e *Engine) targetOf(t Target) *target {
	tg := e.targets[t]
	if tg == nil {
		tg = &target{Target: t}
		e.targets[t] = tg
	}
	return tg
}

// imagine notes what an attribute would be now.
func (tg *target) imagine(attr, value string) {
	tg.imagined = slices.DeleteFunc(tg.imagined, func(v Value) bool { return v.Attr == attr })
	tg.imagined = append(tg.imagined, Value{Attr: attr, Value: value})
}

// Run works until ctx ends. Then runs of moving messages end at their unit of
// work, programs get a while and then TERM and KILL, and what was not finished
// stays in the outbox for the next start.
func (e *Engine) Run(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	now := time.Now()
	e.mu.Lock()
	if e.work != nil {
		e.mu.Unlock()
		return errors.New("the engine ran already")
	}
	e.work = work
	if e.view.graceFrom.Before(now) {
		e.view.graceFrom = now
	}
	e.mu.Unlock()
	e.readEnds()
	e.resume()
	e.begun()
	e.loop(ctx)
	e.drain(stop)
	e.save()
	close(e.done)
	for _, c := range e.Claims() {
		if e.opt.Observe {
			break // there are none but in its imagination
		}
		e.log.Info("keeps a claim", noun(c.Target.Queue), c.Target.Queue, "attribute", c.Attr, "value", c.Set, "found", c.Baseline)
	}
	return nil
}

// begun lets workers start, and starts those whose sample came before Run.
func (e *Engine) begun() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = true
	all := make(map[*target]bool, len(e.targets))
	for _, tg := range e.targets {
		all[tg] = true
	}
	now := time.Now()
	for _, tg := range inOrder(all) {
		e.kick(tg, now)
	}
}

// loop starts workers when a retry is due and stores what Observe found.
func (e *Engine) loop(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		e.mu.Lock()
		due := e.kickDue(time.Now())
		dirty := e.dirty()
		e.mu.Unlock()
		if dirty {
			e.save()
		}
		timer.Reset(due)
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-timer.C:
		}
	}
}

// drain ends the engine's work: nothing new starts, what runs gets its time, and
// who waits for a run that has not begun is told.
func (e *Engine) drain(stop context.CancelFunc) {
	e.mu.Lock()
	e.stopping = true
	now := time.Now()
	for _, en := range e.entries {
		if en.interrupt != nil {
			en.interrupt()
		}
		if en.byHand() && en.superseded == "" && !en.finished() && !en.moving() {
			e.supersede(en, theEnd)
			e.kick(e.targetOf(en.target), now)
		}
	}
	idle := make(chan struct{})
	e.idle = idle
	e.rest()
	e.mu.Unlock()
	timer := time.NewTimer(e.opt.Drain)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
		stop()
		<-idle
	}
}

// rest ends the wait of drain when no worker is left; none starts after it. The
// lock is held.
func (e *Engine) rest() {
	if e.idle != nil && e.workers == 0 {
		e.running = false
		close(e.idle)
		e.idle = nil
	}
}

// poke has the loop look again.
func (e *Engine) poke() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// kick starts the worker of a target if it has none and there is something to
// do. The lock is held.
func (e *Engine) kick(tg *target, now time.Time) {
	if !e.running || tg.working {
		return
	}
	first := e.next(tg, now)
	if first == nil {
		return
	}
	tg.working = true
	e.workers++
	go e.worker(tg, first)
}

// kickDue starts workers whose retry time has come and says how long until the
// next. The lock is held.
func (e *Engine) kickDue(now time.Time) time.Duration {
	next := time.Hour
	due := map[*target]bool{}
	for _, en := range e.entries {
		for _, at := range []*time.Time{&en.retryAt, &en.settled, &en.move.due} {
			switch {
			case at.IsZero() || en.running:
			case at.After(now):
				next = min(next, at.Sub(now))
			default:
				*at = time.Time{} // passed: from now on it waits for nothing but a sample
				due[e.targets[en.target]] = true
			}
		}
	}
	for _, tg := range inOrder(due) {
		e.kick(tg, now)
	}
	return next
}

// inOrder lists targets by their oldest intent, so that what waits longest gets
// its share of the budget first.
func inOrder(set map[*target]bool) []*target {
	out := make([]*target, 0, len(set))
	for tg := range set {
		if len(tg.entries) > 0 {
			out = append(out, tg)
		}
	}
	slices.SortFunc(out, func(a, b *target) int { return cmp.Compare(a.entries[0].seq, b.entries[0].seq) })
	return out
}

// Dispatch takes confirmed intents, already stored, and returns at once.
func (e *Engine) Dispatch(_ context.Context, intents []situations.Intent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	e.countOpened(intents, now)
	for i := range intents {
		e.dispatch(&intents[i], now)
	}
	e.poke()
}

func (e *Engine) dispatch(in *situations.Intent, now time.Time) {
	if _, ok := e.entries[in.ID]; ok {
		return // the runner tells again what the outbox holds already
	}
	e.admit(&entry{in: *in, after: e.view.taken})
	e.kick(e.targetOf(Target{QMgr: in.Key.QMgr, Queue: in.Key.Queue}), now)
}

// admit takes an intent in and ends those that it replaces. A restart does it
// again with all that the outbox holds, in the same order.
func (e *Engine) admit(en *entry) {
	in := &en.in
	tg := e.targetOf(Target{QMgr: in.Key.QMgr, Queue: in.Key.Queue})
	for _, old := range tg.entries {
		if old.superseded != "" {
			continue
		}
		switch {
		case en.byHand():
			// It only moves messages, and waits for its turn.
		case givesAllBack(in):
			e.supersede(old, "given back by "+in.By)
		case old.byHand() && putsBack(in):
			e.supersede(old, in.Key.Situation+" puts the instance back into the balancing")
		case old.in.Key == in.Key && in.Edge == situations.EdgeRepeat:
			if old.busy() && en.p.untouched() {
				// The same actions are still under way: doing them again is what they do.
				e.finished = append(e.finished, in.ID)
				return
			}
			en.inherit(old)
			e.supersede(old, "repeated")
		case old.in.Key == in.Key:
			e.supersede(old, "the situation's edge reversed")
		case old.opposes(in):
			e.supersede(old, fmt.Sprintf("%s decided otherwise", in.Key.Situation))
		}
	}
	e.add(en)
}

// supersede ends an entry: at once if nothing of it runs, else when its worker
// comes back. A run of moving messages ends at its unit of work; a change or a
// program is let finish. Whoever waits for a run that has not begun is told now,
// whatever else is under way on the queue. The lock is held.
func (e *Engine) supersede(en *entry, why string) {
	en.superseded = why
	switch {
	case en.interrupt != nil:
		en.interrupt()
	case en.p.Flight == nil:
		e.hand.unbegun(en)
	}
}

// remove takes an entry out of the engine and the outbox. The lock is held.
func (e *Engine) remove(en *entry) {
	tg := e.targets[en.target]
	if i := slices.Index(tg.entries, en); i >= 0 {
		tg.entries = slices.Delete(tg.entries, i, i+1)
	}
	delete(e.entries, en.in.ID)
	e.hand.unbegun(en)
	e.finished = append(e.finished, en.in.ID)
	if en.over != nil {
		close(en.over)
	}
}

// Concerns reports whether something of ours is under way or kept that is about
// a group: it is decided on samples, also when no rule looks at the group any more.
func (e *Engine) Concerns(g situations.Group) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	of := func(t Target) bool { group, _ := situations.GroupOf(t.Queue); return group == g }
	for _, en := range e.entries {
		if of(en.target) {
			return true
		}
	}
	for k := range e.claims.m {
		if of(k.target) {
			return true
		}
	}
	for k := range e.outs.m {
		if of(k.target) {
			return true
		}
	}
	return false
}
