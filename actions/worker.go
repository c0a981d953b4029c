package actions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// stepKind is what a worker does next.
type stepKind int

const (
	stepRemove stepKind = iota // the intent is over
	stepReport                 // newly held: tell the journal
	stepPass                   // nothing to do for this action
	stepAct
	stepPutBack // the last-instance guard takes a lowering of ours back
	stepAdopt   // a change begun before a restart was made
	stepDoubt   // a change begun before a restart was not made
	stepClosed  // an attempt whose end the journal tells, and the state did not
	stepRefuse  // a person's run must not begin
	stepLost    // a person's run finds no queue manager
)

// step is one piece of work of a worker, decided under the lock.
type step struct {
	kind   stepKind
	tg     *target
	en     *entry
	index  int
	again  bool // a redistribute that was done once watches on
	d      decision
	row    situations.Row
	told   bool      // the journal knows how it ended
	over   string    // why the intent is superseded
	budget time.Time // when the budget was taken for it, zero if it was not
	at     time.Time
}

// attempt names the attempt, as the journal does with two of its keys. Its worker alone counts attempts.
func (s *step) attempt() string { return attemptKey(s.en.id(s.index), max(s.en.p.Attempt, 1)) }

func (s *step) action() *situations.Action { return &s.en.in.Actions[s.index] }

// worker does one step after the other until there is none; so at most one
// thing is under way per target.
func (e *Engine) worker(tg *target, s *step) {
	defer func() {
		e.mu.Lock()
		e.workers--
		e.rest()
		e.mu.Unlock()
	}()
	for s != nil {
		e.perform(s)
		e.mu.Lock()
		s.en.running, s.en.interrupt = false, nil
		if s = e.next(tg, time.Now()); s == nil {
			tg.working = false
		}
		e.mu.Unlock()
	}
	e.poke()
}

// next finds the next step of a target: its oldest intent that something can be
// done for. The lock is held; the step's entry is marked as running.
func (e *Engine) next(tg *target, now time.Time) *step {
	for _, en := range tg.entries {
		s := e.nextOf(tg, en, now)
		if s == nil {
			continue
		}
		s.tg, s.en, s.at = tg, en, now
		en.running = true
		return s
	}
	return nil
}

func (e *Engine) nextOf(tg *target, en *entry, now time.Time) *step {
	switch {
	case e.opt.Manual && en.in.By == "" && en.superseded == "":
		return nil
	case en.p.Flight != nil:
		// Also of an intent that is over: what it changed must be known before the next.
		if e.stopping {
			return nil // for the next start
		}
		return e.nextFlight(tg, en, now)
	case en.superseded != "" || en.finished():
		s := &step{kind: stepRemove, index: en.p.Next}
		if !en.told {
			s.over = en.superseded
		}
		return s
	case e.stopping || now.Before(en.retryAt) || en.pause > 0 && e.view.taken <= en.pause:
		return nil
	case en.putBack && len(en.p.Lowered) > 0:
		l := en.p.Lowered[0]
		f := e.facts(tg, en, &en.in.Actions[l.Action], now)
		if !f.Sampled || !f.Present || f.Person != nil {
			return nil // a person's hold holds raising, too
		}
		return &step{kind: stepPutBack, index: l.Action, row: f.Row}
	}
	switch {
	case en.action() == nil:
		return e.nextWatch(tg, en, now)
	case en.byHand():
		return e.nextByHand(tg, en, now)
	}
	return e.nextAction(tg, en, en.p.Next, now)
}

// nextAction decides about one action and reserves what it takes.
func (e *Engine) nextAction(tg *target, en *entry, index int, now time.Time) *step {
	a := &en.in.Actions[index]
	e.reclaim(tg, en, a)
	f := e.facts(tg, en, a, now)
	again := index < en.p.Next
	if again {
		f.BudgetFree = true // one action that goes on, not a new one
	}
	if a.Verb == situations.VerbRedistribute && (now.Before(en.move.due) || now.Before(en.settled)) {
		return nil
	}
	d := decide(&en.in, index, f)
	s := &step{index: index, again: again, d: d, row: f.Row}
	if en.holds = nil; d.Do != doAct { // whether it may act is not said yet: peers are still asked
		en.hold(d.Holds, now)
	}
	switch d.Do {
	case doHold:
		e.unpublish(tg.Target)
		key := reportKey(d.Holds)
		if key == "" || key == en.reported || again {
			return nil
		}
		en.reported = key
		s.kind = stepReport
	case doNoChange:
		if again {
			return nil // not now; its condition may become true while the situation is open
		}
		s.kind = stepPass
	case doAct:
		s.kind = stepAct
		if !again && !e.opt.Observe && (d.Kind == kindLowering || d.Kind == kindNeither) {
			e.budget.take(now)
			s.budget = now
		}
	}
	return s
}

// reportKey is what the journal says of holds; waiting for a sample is not worth a line.
func reportKey(holds []Hold) string {
	var b strings.Builder
	for _, h := range holds {
		if h.Code != HoldUnknown {
			b.WriteString(string(h.Code) + " ")
		}
	}
	return b.String()
}

func (e *Engine) perform(s *step) {
	switch s.kind {
	case stepRemove:
		e.finish(s)
	case stepReport:
		e.journalHeld(s, sentence(s.d.Holds))
	case stepPass:
		e.pass(s)
	case stepPutBack:
		e.putBack(s)
	case stepAdopt:
		e.adopt(s)
	case stepClosed:
		e.closed(s)
	case stepRefuse:
		e.refuse(s)
	case stepLost:
		e.lost(s)
	case stepDoubt:
		e.doubt(s, "the daemon ended before the change was made")
	case stepAct:
		if e.opt.Observe {
			e.would(s)
			return
		}
		switch s.action().Verb {
		case situations.VerbRedistribute:
			e.redistribute(s)
		case situations.VerbExec:
			e.exec(s)
		case situations.VerbMQSC:
			e.command(s)
		case situations.VerbWebhook:
			e.webhook(s)
		case situations.VerbEvent:
			e.event(s)
		default:
			e.set(s)
		}
	}
}

// finish takes an intent that is over out of the outbox. One that did not get
// through its actions leaves a line in the journal. The outbox hears of it with
// the next transaction, or from the loop: what follows on the queue need not wait
// for a sync that protects nothing, since an intent that is over is over again
// after a restart.
func (e *Engine) finish(s *step) {
	if s.over != "" && s.index < len(s.en.in.Actions) {
		e.journal(s, resultSuperseded, s.over)
	}
	e.mu.Lock()
	e.unpublish(s.tg.Target)
	e.remove(s.en)
	e.mu.Unlock()
	e.poke()
}

// pass goes on to the next action where there is nothing to do.
func (e *Engine) pass(s *step) {
	e.journal(s, resultNoChange, s.d.Reason)
	e.mu.Lock()
	e.settleClaims(s, nil)
	e.advance(s.en)
	e.mu.Unlock()
	e.save(s.en)
}

// would is what --observe does instead of acting. What follows is decided as if
// it had been done: else nothing would ever be given back.
func (e *Engine) would(s *step) {
	e.journal(s, resultWould, "")
	e.mu.Lock()
	e.beginClaims(s)
	e.settleClaims(s, s.d.Changes)
	for _, c := range s.d.Changes {
		s.tg.imagine(c.Attr, c.After)
	}
	if len(s.d.Changes) > 0 && s.d.Kind == kindRaising {
		e.rose(s.tg.Target, time.Now())
	}
	e.advance(s.en)
	e.mu.Unlock()
	e.save(s.en)
}

// event writes the universal message: its entry in the journal is the act.
func (e *Engine) event(s *step) {
	text := situations.Expand(s.action().Value, &s.row)
	line := e.line(s, resultDone, "")
	if err := e.opt.Journal.Append(line, true); err != nil {
		e.failed(s, fmt.Errorf("journal: %w", err))
		return
	}
	e.log.Info("universal message", "situation", s.en.in.Key.Situation, "queue", s.tg.Queue, "message", text)
	e.mu.Lock()
	e.stats.add(situations.VerbEvent, resultDone)
	e.advance(s.en)
	e.mu.Unlock()
	e.save(s.en)
}

// advance goes on to the next action. The lock is held.
func (e *Engine) advance(en *entry) {
	en.p.Next++
	en.p.Attempt, en.p.Tries, en.p.Flight = 0, 0, nil
	en.hold(nil, time.Time{})
	en.reported, en.failure = "", ""
	en.retryAt = time.Time{}
}

// begin stores that an attempt starts and writes its first line, both on disk
// before anything is done. ours changes the claims under the lock. A lowering,
// a program, a move do not start without either; a raising does.
func (e *Engine) begin(s *step, flight *Flight, ours func()) error {
	must := s.kind != stepPutBack && s.d.Kind != kindRaising
	e.mu.Lock()
	s.en.p.begin(s.index)
	s.en.p.Flight = flight
	if ours != nil {
		ours()
	}
	e.mu.Unlock()
	err := e.trySave(s.en)
	if err == nil || !must {
		err = errors.Join(err, e.opt.Journal.Append(e.line(s, resultStarted, ""), true))
	}
	if err == nil {
		e.mu.Lock()
		s.en.hold(nil, s.at)
		e.mu.Unlock()
		return nil
	}
	e.log.Error("an attempt could not be recorded", "id", s.en.id(s.index), "error", err)
	if !must {
		return nil
	}
	e.mu.Lock()
	s.en.p.unbegin(s.index)
	s.en.p.Flight = nil
	s.en.hold([]Hold{{Code: HoldJournal, Text: err.Error()}}, time.Now())
	s.en.retryAt = time.Now().Add(backoffFirst)
	e.refund(s)
	e.mu.Unlock()
	return err
}

// refund gives back the budget of a step that did nothing. The lock is held.
func (e *Engine) refund(s *step) {
	if !s.budget.IsZero() {
		e.budget.giveBack(s.budget)
		s.budget = time.Time{}
	}
}

// failed ends an attempt that did not work: the next one comes after a wait, as
// long as the edge stands.
func (e *Engine) failed(s *step, err error) {
	e.journal(s, resultFailed, err.Error())
	e.mu.Lock()
	e.retry(s, err)
	e.mu.Unlock()
	e.save(s.en)
}

// retry sets the time of the next attempt. The lock is held.
func (e *Engine) retry(s *step, err error) {
	now := time.Now()
	s.en.p.Flight = nil
	s.en.p.Tries++
	s.en.failure = err.Error()
	s.en.hold(nil, now)
	s.en.retryAt = now.Add(backoff(s.action(), s.en.p.Tries))
	if unavailable(err) {
		s.en.freshAfter = now
	}
}

// deadline bounds one attempt by the rule's timeout or the verb's default.
func (e *Engine) deadline(a *situations.Action, standard time.Duration) (context.Context, context.CancelFunc) {
	if a.Timeout > 0 {
		standard = a.Timeout
	}
	return context.WithTimeout(e.work, standard)
}
