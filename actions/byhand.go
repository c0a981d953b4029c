package actions

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/situationd/situationd/situations"
)

// MoveRequest is a person's wish to have the messages of a queue moved, once.
type MoveRequest struct {
	By          string
	Queue       string
	EvenIfBound bool
	Rate        int           // messages a second, 0 for no limit
	Limit       int           // messages, 0 for all that are there
	Timeout     time.Duration // of the run, 0 for none
}

// MoveRun is how a person's run stands.
type MoveRun struct {
	ID        string // of its lines in the journal
	By, Queue string
	State     string // waiting, moving, then the outcome
	Why       string // what it waits for
	Over      bool
	Report    Moved
}

// States of a run that has no outcome yet.
const (
	RunWaiting = "waiting to begin"
	RunMoving  = "moving"
)

// maxRuns bounds how many runs that are over are remembered for whoever asks.
const maxRuns = 64

// Errors of a MoveRequest.
var (
	ErrMoving       = errors.New("its messages are being moved already")
	ErrNothingMoves = errors.New("nothing moves messages of it")
	ErrNoSuchRun    = errors.New("no such run is known")
	ErrNever        = errors.New("a rule says redistribute: never for this queue")
	ErrHeld         = errors.New("nothing is done to it")
	ErrEnding       = errors.New(theEnd)
	ErrObserves     = errors.New("this daemon only observes; it changes nothing")
)

// theEnd is why what did not come to its end ends now.
const theEnd = "the daemon ends"

// handRun is a MoveRun with what waits for it.
type handRun struct {
	MoveRun
	changed chan struct{} // closed, and made anew, at every change
}

// hand are the runs that people asked for. The engine's lock guards it.
type hand struct {
	runs  map[string]*handRun // by the intent's ID
	order []string
}

func (h *hand) add(r *handRun) {
	if h.runs == nil {
		h.runs = map[string]*handRun{}
	}
	h.runs[r.ID] = r
	h.order = append(h.order, r.ID)
	for i := 0; i < len(h.order) && len(h.order) > maxRuns; {
		if id := h.order[i]; h.runs[id].Over {
			delete(h.runs, id)
			h.order = slices.Delete(h.order, i, i+1)
			continue
		}
		i++
	}
}

// note takes in how a run stands; for a rule's there is nothing to note.
func (h *hand) note(id string, change func(*MoveRun)) {
	r := h.runs[id]
	if r == nil || r.Over {
		return
	}
	change(&r.MoveRun)
	close(r.changed)
	r.changed = make(chan struct{})
}

// unbegun tells whoever waits that a run is over that never began.
func (h *hand) unbegun(en *entry) {
	h.note(en.in.ID, func(r *MoveRun) {
		r.Over, r.State, r.Why, r.Report.Reason = true, string(MoveCancelled), "", en.superseded
	})
}

// byHand says that an entry is a person's run of moving messages: it is done
// once, waits for no guard, and does not outlive the daemon.
func (en *entry) byHand() bool {
	return en.in.By != "" && len(en.in.Actions) == 1 && en.in.Actions[0].Verb == situations.VerbRedistribute
}

// moving says that messages are moved for an entry right now, or are about to be.
func (en *entry) moving() bool {
	return en.interrupt != nil && en.doing == situations.VerbRedistribute
}

// halt ends a run of moving messages at its unit of work; the intent stands.
func (en *entry) halt(why string) {
	if en.moving() {
		en.halted = why
		en.interrupt()
	}
}

// behalf names on whose behalf an entry moves messages.
func (en *entry) behalf() string {
	if en.in.By != "" {
		return en.in.By
	}
	return "situation " + en.in.Key.Situation
}

// Redistribute has the messages of a queue moved once, as a person wants it. It
// returns when that is recorded; the run begins with the next sample, after what
// is under way on the queue. A queue has one run at a time.
func (e *Engine) Redistribute(r MoveRequest) (MoveRun, error) {
	if e.opt.Observe {
		return MoveRun{}, ErrObserves
	}
	now := time.Now()
	t := Target{QMgr: e.opt.QMgr, Queue: r.Queue}
	in := situations.Intent{
		ID:  fmt.Sprintf("%s:%s:redistribute:%d", t.QMgr, t.Queue, now.UnixNano()),
		Key: situations.Key{QMgr: t.QMgr, Queue: t.Queue}, Edge: situations.EdgeManual, At: now.UTC(), By: r.By,
		Actions: []situations.Action{{Verb: situations.VerbRedistribute, EvenIfBound: r.EvenIfBound, Rate: r.Rate, Limit: r.Limit, Timeout: r.Timeout}},
		Row:     situations.Row{Queue: t.Queue},
	}
	en := &entry{in: in}
	run := &handRun{MoveRun: MoveRun{ID: in.ID, By: r.By, Queue: r.Queue, State: RunWaiting, Why: "a sample"}, changed: make(chan struct{})}
	e.mu.Lock()
	if err := e.mayMove(t, now); err != nil {
		e.mu.Unlock()
		return MoveRun{}, err
	}
	en.after = e.view.taken
	e.asked = append(e.asked, in)
	e.hand.add(run)
	e.admit(en)
	asked := run.MoveRun
	e.mu.Unlock()
	if err := e.trySave(); err != nil {
		e.mu.Lock()
		e.supersede(en, "it could not be recorded")
		e.mu.Unlock()
		e.poke()
		return MoveRun{}, fmt.Errorf("redistribute: %w", err)
	}
	e.mu.Lock()
	e.kick(e.targetOf(t), now)
	e.mu.Unlock()
	e.poke()
	return asked, nil
}

// MayMove says why a person's run must not begin now; nil if it may.
func (e *Engine) MayMove(queue string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mayMove(Target{QMgr: e.opt.QMgr, Queue: queue}, time.Now())
}

// mayMove says why a person's run must not begin. The lock is held.
func (e *Engine) mayMove(t Target, now time.Time) error {
	if e.stopping {
		return ErrEnding
	}
	if tg := e.targets[t]; tg != nil {
		for _, en := range tg.entries {
			if en.superseded == "" && (en.byHand() || en.moving()) {
				text := en.behalf()
				if j := e.jobs[t]; j != nil && en.moving() {
					text += fmt.Sprintf(", %d moved so far and %d left", j.Moved, j.Remaining)
				}
				return fmt.Errorf("%w, for %s", ErrMoving, text)
			}
		}
	}
	if h := HoldOf(e.holds.list, t.Queue, now); h != nil {
		return fmt.Errorf("%w: %s", ErrHeld, h.Sentence())
	}
	good := e.view.good
	if good == nil || e.opt.Items == nil {
		return nil // decided on the sample that the run begins with
	}
	if row, ok := rowOf(good, t.Queue); ok && e.opt.Items.NeverRedistribute(t.QMgr, &row) {
		return ErrNever
	}
	return nil
}

// MoveRun tells how a person's run stands, and gives a channel that is closed when
// that is no longer so.
func (e *Engine) MoveRun(id string) (MoveRun, <-chan struct{}, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.hand.runs[id]
	if r == nil {
		return MoveRun{}, nil, ErrNoSuchRun
	}
	run := r.MoveRun
	if tg := e.targets[Target{QMgr: e.opt.QMgr, Queue: run.Queue}]; tg != nil && run.State == RunWaiting {
		for _, en := range tg.entries {
			if a := en.action(); a != nil && en.running && !en.byHand() {
				run.Why = fmt.Sprintf("the end of %s of situation %s", a.Verb, en.in.Key.Situation)
			}
		}
	}
	return run, r.changed, nil
}

// CancelMove ends what moves messages of a queue at the end of its units of
// work. A rule that does moves none until its next edge. It says for whom they
// were moved.
func (e *Engine) CancelMove(by, queue string) ([]string, error) {
	now := time.Now().UTC()
	t := Target{QMgr: e.opt.QMgr, Queue: queue}
	var who []string
	e.mu.Lock()
	if tg := e.targets[t]; tg != nil {
		for _, en := range tg.entries {
			if e.cancelMove(en, by) {
				who = append(who, en.behalf())
				e.changed[en] = true
			}
		}
		e.kick(tg, now)
	}
	e.mu.Unlock()
	e.poke()
	if len(who) == 0 {
		return nil, ErrNothingMoves
	}
	e.manual("cancel redistribute", by, queue, "", now)
	return who, e.trySave()
}

// cancelMove ends the moving of messages for one entry; false if there is none. The
// lock is held.
func (e *Engine) cancelMove(en *entry, by string) bool {
	a := en.action()
	waits := a != nil && a.Verb == situations.VerbRedistribute && !a.Never
	if en.superseded != "" || en.p.Cancelled != "" || !waits && en.mover() < 0 {
		return false
	}
	en.p.Cancelled = by
	switch {
	case en.byHand() && en.p.Flight == nil: // it has not begun
		e.supersede(en, "cancelled by "+by)
	case en.interrupt != nil && (waits || en.moving()): // under way, or just about to be
		en.interrupt()
	}
	return true
}

// refuse ends a person's run before it began: he is told, and need not wait for
// what would have to change.
func (e *Engine) refuse(s *step) {
	reason := s.d.Reason
	if len(s.d.Holds) > 0 {
		reason = sentence(s.d.Holds)
	}
	depth := depthOf(&s.row)
	e.moved(s, Moved{Outcome: MoveRefused, Reason: reason, Start: depth, Remaining: depth}, false)
}

// lost ends a person's run whose queue manager does not answer.
func (e *Engine) lost(s *step) {
	e.mu.Lock()
	err := ErrUnavailable
	if obs := e.view.obs; obs != nil && obs.Err != nil {
		err = fmt.Errorf("%w: %w", ErrUnavailable, obs.Err)
	}
	e.mu.Unlock()
	e.moved(s, Moved{Outcome: MoveFailed, Err: err}, false)
}

// nextByHand is what a person's run does now: it waits for a sample and for
// nothing else. The lock is held.
func (e *Engine) nextByHand(tg *target, en *entry, now time.Time) *step {
	s := &step{index: en.p.Next}
	if e.view.obs != nil && e.view.obs.Err != nil && e.view.taken > en.after {
		s.kind = stepLost
		return s
	}
	f := e.facts(tg, en, en.action(), now)
	s.d, s.row = decide(&en.in, s.index, f), f.Row
	switch {
	case s.d.Do == doAct:
		s.kind = stepAct
	case s.d.Do == doHold && !f.Sampled:
		return nil
	default:
		s.kind = stepRefuse
	}
	return s
}

// abandon ends the runs of people that the last end of the daemon cut off: what
// was wanted then is not taken up at some later time. Nobody else knows the engine yet.
func (e *Engine) abandon() {
	for _, en := range e.entries {
		if en.byHand() && en.superseded == "" {
			en.superseded = "the process that was to do it ended"
		}
	}
}

// cutShort says what ended a person's run before its time, blank for nothing
// but himself. The lock is held.
func (e *Engine) cutShort(s *step) string {
	if e.stopping {
		return theEnd
	}
	if h := HoldOf(e.holds.list, s.tg.Queue, time.Now()); h != nil {
		return h.Sentence()
	}
	return s.en.halted
}

// concludes tells whoever waits how a run ended. The lock is held.
func (e *Engine) concludes(s *step, m Moved, reason string) {
	if m.Reason == "" || m.Outcome == MoveCancelled {
		m.Reason = reason
	}
	e.hand.note(s.en.in.ID, func(r *MoveRun) { r.Over, r.State, r.Why, r.Report = true, string(m.Outcome), "", m })
}

// putsBack says that an intent brings an instance back into the balancing.
func putsBack(in *situations.Intent) bool {
	return slices.ContainsFunc(in.Actions, func(a situations.Action) bool {
		return a.Verb == situations.VerbRevert || attrOf(a.Verb) != "" && !a.Lowest()
	})
}
