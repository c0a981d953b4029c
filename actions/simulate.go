package actions

import (
	"context"
	"slices"
	"time"

	"github.com/situationd/situationd/situations"
)

// Simulator is an engine without a queue manager, for users' rule tests: its
// workers run in the caller, on the caller's time, and whatever is decided is
// taken as done. It implements situations.Actor.
type Simulator struct {
	engine *Engine
	move   MoveSimulation
	items  situations.ActorItems
	now    time.Time
	step   *step // under way
	out    []situations.ActionOutcome
}

var _ situations.Actor = (*Simulator)(nil)

// MoveSimulation says what a run of moving messages would come to. What it
// reports as moved is taken as gone.
type MoveSimulation func(row *situations.Row, o Order) Moved

// maxSimulated bounds the steps of one sample: two intents that undo each other
// must not keep a test going for ever.
const maxSimulated = 10_000

// NewSimulator makes the daemon of one queue manager. grace is its start-up grace.
func NewSimulator(qmgr string, grace time.Duration, move MoveSimulation) (*Simulator, error) {
	s := &Simulator{move: move}
	var err error
	s.engine, err = New(Options{
		QMgr: qmgr, Manager: imaginedManager{s}, Mover: imaginedMover{s}, Programs: imagined{},
		Commands: imagined{}, Hooks: imagined{}, Journal: imaginedJournal{s},
		Store: imagined{}, Items: imaginedItems{s}, Grace: grace,
	})
	if err != nil {
		return nil, err
	}
	s.engine.work = context.Background()
	return s, nil
}

// Simulate takes a sample and the intents that it led to, and tells everything
// that is done, not needed or held now.
func (s *Simulator) Simulate(now time.Time, obs *situations.Observation, intents []situations.Intent, items situations.ActorItems) []situations.ActionOutcome {
	e := s.engine
	s.now, s.out, s.items = now, nil, items
	for i := range intents {
		e.admit(&entry{in: intents[i], after: e.view.taken})
	}
	e.Observe(obs)
	steps := 0
	for _, tg := range s.targets() {
		for st := e.next(tg, now); st != nil && steps < maxSimulated; st = e.next(tg, now) {
			steps++
			s.step = st
			e.perform(st)
			st.en.running, st.en.interrupt = false, nil
			s.settle(tg, st.en)
		}
		for _, en := range tg.entries {
			s.wait(tg, en)
		}
	}
	return s.out
}

// wait tells what an intent waits for, at every sample: the engine's journal
// says it only when it changes.
func (s *Simulator) wait(tg *target, en *entry) {
	a := en.action()
	if a == nil || en.superseded != "" {
		return
	}
	d := decide(&en.in, en.p.Next, s.engine.facts(tg, en, a, s.now))
	reason := sentence(d.Holds)
	if reason == "" {
		reason = d.Reason
	}
	s.out = append(s.out, situations.ActionOutcome{
		Key: en.in.Key, Edge: en.in.Edge, Action: describe(a, &en.in.Row), Verb: a.Verb, Value: a.Value,
		Result: string(resultBlocked), Reason: reason,
	})
}

// targets are those with intents, by their oldest.
func (s *Simulator) targets() []*target {
	all := make(map[*target]bool, len(s.engine.targets))
	for _, tg := range s.engine.targets {
		all[tg] = true
	}
	return inOrder(all)
}

// settle puts the test's time where the engine, which knows only the clock, has
// put that of now.
func (s *Simulator) settle(tg *target, en *entry) {
	virtual := func(at *time.Time) {
		if !at.IsZero() && at.After(s.now) {
			*at = s.now
		}
	}
	virtual(&tg.changed)
	virtual(&tg.program)
	virtual(&en.retryAt)
	virtual(&en.settled)
	virtual(&en.freshAfter)
	if raised, ok := s.engine.raised[tg.Target]; ok && raised.After(s.now) {
		s.engine.raised[tg.Target] = s.now
	}
	for i := range en.p.Lowered {
		virtual(&en.p.Lowered[i].At)
	}
	if !en.move.due.IsZero() && en.move.due.After(s.now) {
		en.move.due = s.now.Add(en.in.Interval)
	}
}

// note makes an outcome of what the engine writes into its journal.
func (s *Simulator) note(line *Entry) {
	if line.Result == resultStarted || line.Result == resultBlocked {
		return // what is blocked waits, and wait tells it
	}
	action := s.step.action()
	o := situations.ActionOutcome{
		Key: s.step.en.in.Key, Edge: line.Edge, Action: line.Action, Verb: action.Verb, Value: action.Value,
		Result: string(line.Result), Reason: line.Reason, Moved: line.Moved,
	}
	made := s.step.d.Changes
	if i := slices.IndexFunc(made, func(c change) bool { return c.Attr != attrUseQ }); i >= 0 && line.Result == resultDone {
		o.Verb, o.Value = verbOf(made[i].Attr, made[i].After), made[i].After // a revert, or a lowering put back, tells what it set
	}
	s.out = append(s.out, o)
}

// imaginedItems are the items that the test follows.
type imaginedItems struct{ *Simulator }

// Flapping asks the test's own machine.
func (i imaginedItems) Flapping(k situations.Key) bool { return i.items.Flapping(k) }

// Maintained asks the windows of the rules.
func (i imaginedItems) Maintained(k situations.Key) bool { return i.items.Maintained(k) }

// Count is asked by no breaker: a test has none.
func (imaginedItems) Count(string) int { return 0 }

// NeverRedistribute has nothing to add: the rules of a test stay as they are,
// so its intents say already what must not move.
func (imaginedItems) NeverRedistribute(string, *situations.Row) bool { return false }

// imagined runs programs and stores state by doing nothing.
type imagined struct{}

// imaginedManager is a queue manager whose attributes the test follows.
type imaginedManager struct{ *Simulator }

// Set does nothing: the outcome tells the test.
func (imaginedManager) Set(context.Context, string, string, []Value) error { return nil }

// ReadBack confirms what the step under way has set.
func (m imaginedManager) ReadBack(_ context.Context, _, _ string, attrs []string) ([]Value, error) {
	var values []Value
	for _, c := range m.step.d.Changes {
		if slices.Contains(attrs, c.Attr) {
			values = append(values, Value{Attr: c.Attr, Value: c.After})
		}
	}
	return values, nil
}

func (imagined) Run(context.Context, Program, func(Process)) Ended { return Ended{} }

func (imagined) End(string, *Process) {}

func (imagined) Command(context.Context, string) error { return nil }

func (imagined) Post(context.Context, string, string, []byte) error { return nil }

func (imagined) LoadActions() (Stored, error) { return Stored{}, nil }

func (imagined) SaveActions(Update) error { return nil }

// imaginedJournal hands the lines to the simulator.
type imaginedJournal struct{ *Simulator }

func (j imaginedJournal) Append(e Entry, _ bool) error {
	j.note(&e)
	return nil
}

func (imaginedJournal) Ready() bool { return true }

// imaginedMover moves what may move at once.
type imaginedMover struct{ *Simulator }

func (m imaginedMover) Move(_ context.Context, o Order, started func() error, _ func(Moved)) Moved {
	moved := m.move(&m.step.row, o)
	if moved.Moved > 0 {
		if err := started(); err != nil {
			return Moved{Outcome: MoveFailed, Err: err}
		}
	}
	return moved
}
