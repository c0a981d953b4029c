package situations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Source is where a runner gets its samples.
type Source interface {
	// Sample looks at the queue manager once. An error, or an Observation with
	// Err, makes every item of this tick unknown.
	Sample(ctx context.Context) (*Observation, error)
}

// Changer is a Source that can tell when something changed. The channel needs a
// buffer of one: changes that nobody waits for yet may be dropped by the sender.
type Changer interface {
	Changes() <-chan struct{}
}

// ItemRecord is the stored state of one item, in this package's own versioned form.
type ItemRecord struct {
	Key  Key
	Data []byte
}

// ItemChange replaces the record of an item, or deletes it when Data is nil.
type ItemChange struct {
	Key  Key
	Data []byte
	// Was is the situation's old name if it was renamed: what is stored for the
	// item under that name, intents and claims too, is kept under Key from now on.
	Was string
}

// StateStore keeps what must survive a restart.
type StateStore interface {
	Load() ([]ItemRecord, error)
	// Commit records changes and intents in one transaction, or neither. An
	// intent counts as decided once Commit returned; it is dispatched after.
	Commit(ctx context.Context, changes []ItemChange, intents []Intent) error
}

// Sink carries intents out. Its calls come from the runner's goroutine, after
// the commit, Dispatch first, so that a new edge supersedes what an old one left
// waiting before that is decided on the fresh sample. They must not block on work.
type Sink interface {
	Dispatch(ctx context.Context, intents []Intent)
	// Rename says that an item's situation is called otherwise from now on. It
	// comes before Dispatch.
	Rename(from, to Key)
	// Suppress tells, once for each edge, what a maintenance window keeps back.
	Suppress(intents []Intent)
	Observe(obs *Observation)
}

// Options of a Runner. QMgr, Source, Store, Sink and Rules are required.
type Options struct {
	QMgr   string
	Source Source
	Store  StateStore
	Sink   Sink
	Rules  *RuleSet
	Logger hclog.Logger // nil: silent
	// SampleTimeout bounds one sample; 0: the shortest interval, at least 1s and at most 30s.
	SampleTimeout time.Duration
}

// Bounds of the loop.
const (
	longestSleep = time.Minute // so that a clock that was set is noticed
	minTimeout   = time.Second
	maxTimeout   = 30 * time.Second
	// A change asks for a sample at once, but samples on changes take no more
	// than a part of the time, however fast the changes come.
	changeShare  = 4
	minChangeGap = time.Millisecond
	maxChangeGap = time.Second
)

// Runner samples one queue manager, steps the machines of its items, records
// what must survive and hands intents out. Its goroutine is the caller of Run;
// every other method may be called from anywhere.
type Runner struct {
	opts   Options
	log    hclog.Logger
	soon   chan struct{}
	reload chan *RuleSet

	mu        sync.Mutex // guards what follows
	book      *book
	loadedAt  time.Time
	last      *Observation
	sampleErr string
	commitErr string
}

// New prepares a runner and reads the stored state. An unreadable state is an
// error: acting without it could do everything a second time.
func New(opts Options) (*Runner, error) {
	if opts.QMgr == "" || opts.Source == nil || opts.Store == nil || opts.Sink == nil || opts.Rules == nil {
		return nil, errors.New("a runner needs a queue manager, a source, a store, a sink and rules")
	}
	if opts.Logger == nil {
		opts.Logger = hclog.NewNullLogger()
	}
	records, err := opts.Store.Load()
	if err != nil {
		return nil, fmt.Errorf("load the state of %s: %w", opts.QMgr, err)
	}
	now := time.Now()
	r := &Runner{
		opts: opts, log: opts.Logger, loadedAt: now,
		soon: make(chan struct{}, 1), reload: make(chan *RuleSet, 1),
		book: newBook(opts.QMgr, opts.Rules, now),
	}
	if err := r.book.restore(records); err != nil {
		return nil, fmt.Errorf("load the state of %s (moving the state file away begins anew, and acts on whatever is true): %w", opts.QMgr, err)
	}
	return r, nil
}

// SampleSoon asks for one extra sample, for instance because grace has ended.
// Asking again before it was taken asks for the same one.
func (r *Runner) SampleSoon() {
	select {
	case r.soon <- struct{}{}:
	default:
	}
}

// Reload puts other rules in force between two ticks. Of two reloads in quick
// succession the later one counts.
func (r *Runner) Reload(rules *RuleSet) {
	for {
		select {
		case r.reload <- rules:
			return
		default:
		}
		select {
		case <-r.reload:
		default:
		}
	}
}

// Run samples until the context ends, and returns nil then.
func (r *Runner) Run(ctx context.Context) error {
	r.begin(time.Now())
	r.sample(ctx, extraSample)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var changes <-chan struct{}
	if c, ok := r.opts.Source.(Changer); ok {
		changes = c.Changes()
	}
	var quiet time.Time // no sample on a change before
	for {
		now := time.Now()
		wait, listen := r.untilNext(now), changes
		if !r.wantsChanges() {
			listen = nil
		} else if rest := quiet.Sub(now); rest > 0 {
			wait, listen = min(wait, rest), nil
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return nil
		case rules := <-r.reload:
			r.applyReload(ctx, rules)
		case <-r.soon:
			r.sample(ctx, extraSample)
		case _, ok := <-listen:
			if !ok {
				changes = nil
				continue
			}
			begin := time.Now()
			r.sample(ctx, changeSample)
			end := time.Now()
			quiet = end.Add(min(max(end.Sub(begin)*changeShare, minChangeGap), maxChangeGap))
		case <-timer.C:
			if r.markDue(time.Now()) {
				r.sample(ctx, dueSample)
			}
		}
	}
}

// sampleKind says which situations a sample is for.
type sampleKind uint8

const (
	dueSample    sampleKind = iota // those that are due
	extraSample                    // all
	changeSample                   // those with on_change
)

// begin anchors the intervals at the start.
func (r *Runner) begin(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.book.anchor = now
	for _, s := range r.book.live {
		s.next = s.Schedule.Next(now, now)
	}
}

// untilNext is how long to sleep.
func (r *Runner) untilNext(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := longestSleep
	for _, s := range r.book.live {
		if !s.next.IsZero() {
			wait = min(wait, max(s.next.Sub(now), 0))
		}
	}
	return wait
}

func (r *Runner) wantsChanges() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.book.live, func(s *liveSituation) bool { return s.Schedule.OnChange })
}

// markDue marks the situations that are due, and says whether any is. What was
// missed is not made up for: the next one lies in the future.
func (r *Runner) markDue(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book.markDue(now)
}

func (b *book) markDue(now time.Time) bool {
	any := false
	for _, s := range b.live {
		s.due = !s.next.IsZero() && !s.next.After(now)
		if s.due {
			s.dueAt, s.next = s.next, s.Schedule.Next(now, b.anchor)
			if !s.Schedule.Next(s.dueAt, b.anchor).Equal(s.next) {
				s.dueAt = time.Time{}
			}
			any = true
		}
	}
	return any
}

// sample takes one sample and works through it.
func (r *Runner) sample(ctx context.Context, kind sampleKind) {
	obs := r.take(ctx)
	if ctx.Err() != nil {
		return // a sample that was cut off at the end says nothing
	}
	now := time.Now()
	if now.Sub(obs.At) > longestSleep {
		r.log.Debug("the sample is old", "at", obs.At)
	}
	r.work(ctx, obs, kind, now)
}

// take asks the source, within the timeout.
func (r *Runner) take(ctx context.Context) *Observation {
	sctx, cancel := context.WithTimeout(ctx, r.timeout())
	defer cancel()
	obs, err := r.opts.Source.Sample(sctx)
	switch {
	case err != nil:
		obs = &Observation{QMgr: r.opts.QMgr, At: time.Now(), Err: err}
	case obs == nil:
		obs = &Observation{QMgr: r.opts.QMgr, At: time.Now(), Err: errors.New("the source gave no sample")}
	case obs.At.IsZero():
		stamped := *obs
		stamped.At = time.Now()
		obs = &stamped
	}
	return obs
}

func (r *Runner) timeout() time.Duration {
	if r.opts.SampleTimeout > 0 {
		return r.opts.SampleTimeout
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	shortest := maxTimeout
	for _, s := range r.book.live {
		if s.Schedule.Every > 0 {
			shortest = min(shortest, s.Schedule.Every)
		}
	}
	return max(shortest, minTimeout)
}

// work evaluates a sample, records what came of it and hands it out.
func (r *Runner) work(ctx context.Context, obs *Observation, kind sampleKind, now time.Time) {
	r.mu.Lock()
	for _, s := range r.book.live {
		if kind != dueSample {
			s.due = false
		}
		s.extra = kind == extraSample || kind == changeSample && s.Schedule.OnChange
	}
	out := r.book.tick(obs, now)
	owed := r.book.owed
	r.noteSample(obs)
	r.mu.Unlock()

	intents, ok := r.commit(ctx, &out, &owed)
	if ok {
		r.mu.Lock()
		r.book.apply(&out)
		r.mu.Unlock()
		for _, c := range owed.changes {
			if c.Was != "" {
				r.opts.Sink.Rename(Key{Situation: c.Was, QMgr: c.Key.QMgr, Queue: c.Key.Queue}, c.Key)
			}
		}
		if len(intents) > 0 {
			r.opts.Sink.Dispatch(ctx, intents)
		}
		if len(out.suppressed) > 0 {
			r.opts.Sink.Suppress(out.suppressed)
		}
	}
	r.opts.Sink.Observe(obs)
}

func (r *Runner) noteSample(obs *Observation) {
	r.last = obs
	text := ""
	if obs.Err != nil {
		text = obs.Err.Error()
	}
	if text != r.sampleErr {
		if text != "" {
			r.log.Warn("the queue manager could not be sampled; nothing is decided", "qmgr", r.opts.QMgr, "error", text)
		} else {
			r.log.Info("the queue manager answers again", "qmgr", r.opts.QMgr)
		}
	}
	r.sampleErr = text
}

// commit records a tick. Without the record nothing of it holds: the next sample
// comes to the same edges.
func (r *Runner) commit(ctx context.Context, out, owed *batch) ([]Intent, bool) {
	changes := slices.Concat(owed.changes, out.changes)
	intents := slices.Concat(owed.intents, out.intents)
	if len(changes) == 0 && len(intents) == 0 {
		return nil, true
	}
	err := r.opts.Store.Commit(ctx, changes, intents)
	text := ""
	if err != nil {
		text = err.Error()
	}
	r.mu.Lock()
	changed := text != r.commitErr
	r.commitErr = text
	r.mu.Unlock()
	if changed && err != nil {
		r.log.Error("the state cannot be recorded; nothing is done until it can", "qmgr", r.opts.QMgr, "error", err)
	}
	return intents, err == nil
}

// applyReload changes the rules, and at once samples for those that are new.
func (r *Runner) applyReload(ctx context.Context, rules *RuleSet) {
	now := time.Now()
	r.mu.Lock()
	r.book.reload(rules, now)
	r.loadedAt = now
	r.mu.Unlock()
	r.log.Info("rules in force", "qmgr", r.opts.QMgr, "revision", rules.Revision, "situations", len(rules.Situations))
	r.sample(ctx, extraSample)
}
