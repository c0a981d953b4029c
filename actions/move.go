package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/situationd/situationd/situations"
)

// longestIdle bounds the wait before a queue is looked at again on which only
// messages are left that must not move.
const longestIdle = 10 * time.Minute

// errNotNow ends a run whose start could not be recorded.
var errNotNow = errors.New("the start could not be recorded")

// redistribute has the messages of the queue moved: one run, bounded by the depth at its start.
func (e *Engine) redistribute(s *step) {
	if e.opt.Mover == nil {
		e.moved(s, Moved{Outcome: MoveRefused, Reason: "nothing can move messages here"}, false)
		return
	}
	a := s.action()
	ctx, cancel := context.WithCancel(e.work)
	defer cancel()
	if !e.interruptible(s, cancel) {
		return
	}
	if !acquire(ctx, e.moves) {
		e.moved(s, Moved{Outcome: MoveCancelled}, false)
		return
	}
	defer func() { <-e.moves }()
	started := false
	order := Order{
		Queue: s.tg.Queue, Base: s.row.Base, Type: s.row.Type, Lever: LeverOf(s.en.in.Actions, e.opt.V6),
		EvenIfBound: a.EvenIfBound, Rate: a.Rate, Limit: a.Limit, Timeout: a.Timeout, Interval: s.en.in.Interval,
	}
	res := e.opt.Mover.Move(ctx, order, func() error {
		if err := e.begin(s, flightOf(s), nil); err != nil {
			return fmt.Errorf("%w: %w", errNotNow, err)
		}
		started = true
		return nil
	}, func(m Moved) { e.show(s, m, RunMoving) })
	e.moved(s, res, started)
}

// interruptible lets a reversed edge, and a person, end the run; false if they came already.
func (e *Engine) interruptible(s *step, cancel context.CancelFunc) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.stands(s) {
		e.refund(s)
		return false
	}
	s.en.interrupt, s.en.doing, s.en.halted = cancel, s.action().Verb, ""
	return true
}

// stands says that what was decided may begin: nobody has said otherwise since.
// If somebody has, it is decided again. The lock is held.
func (e *Engine) stands(s *step) bool {
	cancelled := s.en.p.Cancelled != "" && s.action().Verb == situations.VerbRedistribute
	held := (s.en.in.By == "" || s.en.byHand()) && HoldOf(e.holds.list, s.tg.Queue, time.Now()) != nil
	return s.en.superseded == "" && !e.stopping && !cancelled && !held
}

// acquire waits for room.
func acquire(ctx context.Context, room chan<- struct{}) bool {
	select {
	case room <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// moved takes the report of a run: what the journal says, whether the next
// action may go, and when the queue is looked at again.
func (e *Engine) moved(s *step, m Moved, started bool) {
	byHand := s.en.byHand()
	if errors.Is(m.Err, errNotNow) && !byHand {
		return // held; the hold says why
	}
	if m.Err != nil && m.Outcome != MoveFailed {
		e.log.Warn("messages moved, but not all of it could be noted", "queue", s.tg.Queue, "error", m.Err)
	}
	e.mu.Lock()
	over, cancelled, halted := s.en.superseded, s.en.p.Cancelled, s.en.halted
	if over == "" && byHand {
		over = e.cutShort(s)
	}
	e.mu.Unlock()
	result, reason, goOn := verdictOf(m, over)
	if m.Outcome == MoveCancelled && over == "" && cancelled != "" {
		reason, goOn = "cancelled by "+cancelled+", at the end of a unit of work", true
	} else if m.Outcome == MoveCancelled && over == "" && halted != "" {
		reason = "stopped at the end of a unit of work: " + halted
	}
	if started || e.news(s, m) {
		if !started && result == resultDone {
			result = resultNoChange // what never began is not done
		}
		line := e.line(s, result, reason)
		line.Moved, line.Remaining = m.Moved, m.Remaining
		e.write(line, situations.VerbRedistribute)
	}
	e.show(s, m, string(m.Outcome))
	e.mu.Lock()
	s.en.told = started && result == resultSuperseded
	s.en.p.Moved += m.Moved
	e.stats.moved += uint64(m.Moved)
	if !started {
		e.refund(s)
	}
	e.remember(s, m, started)
	switch {
	case byHand:
		e.concludes(s, m, reason)
		e.advance(s.en)
	case m.Outcome == MoveFailed:
		e.retry(s, fmt.Errorf("move: %w", m.Err))
	case goOn && !s.again:
		e.advance(s.en)
	case s.again:
		s.en.p.Flight, s.en.failure = nil, ""
	default:
		s.en.p.Flight = nil
	}
	e.mu.Unlock()
	e.save(s.en)
}

// verdictOf turns a run's outcome into the journal's words; over says why the
// intent is superseded, goOn lets the next action go.
func verdictOf(m Moved, over string) (result Result, reason string, goOn bool) {
	switch m.Outcome {
	case MoveEmpty:
		return resultDone, m.Reason, true
	case MoveLeft, MoveReader:
		return resultDone, m.Reason, true
	case MoveWaiting, MoveRefused:
		return resultBlocked, m.Reason, true // what changes that is watched for
	case MoveCancelled:
		if over != "" {
			return resultSuperseded, over, false
		}
		return resultDone, "stopped at the end of a unit of work", false
	default:
		if m.Err != nil {
			return resultFailed, m.Err.Error(), false
		}
		return resultFailed, m.Reason, false
	}
}

// news says that a run which moved nothing has something new to say.
func (e *Engine) news(s *step, m Moved) bool {
	switch m.Outcome {
	case MoveCancelled:
		return s.en.byHand()
	case MoveFailed:
		return true
	default:
		return m.Outcome != s.en.move.report && !(s.again && (m.Outcome == MoveEmpty || m.Outcome == MoveReader))
	}
}

// remember plans the next look. The lock is held.
func (e *Engine) remember(s *step, m Moved, started bool) {
	mem := &s.en.move
	wait := s.action().Retry
	if wait <= 0 || m.Outcome == MoveEmpty || m.Outcome == MoveReader || m.Outcome == MoveCancelled {
		wait = s.en.in.Interval // nothing failed that is to be tried again; what comes later is new
	}
	if started && m.Moved == 0 && m.Outcome == MoveLeft {
		mem.idle++
	} else {
		mem.idle = 0
	}
	for range min(mem.idle, 16) {
		wait = min(2*wait, max(longestIdle, wait))
	}
	mem.ran, mem.last, mem.report = true, m, m.Outcome
	mem.ended = time.Now()
	mem.due = mem.ended.Add(wait)
}

// stranded is what a sample says. Values that were read back since do not count:
// one sample is compared with the next.
func (e *Engine) stranded(en *entry, row *situations.Row) stranded {
	is := stranded{seen: true}
	if env, ok := row.Env.(situations.Attributes); ok {
		is.depth, is.uncommitted = env.CURDEPTH, env.UNCOM
		is.definition = env.GET + " " + env.CLWLUSEQ + " " + env.DEFBIND
	}
	if !row.InstancesKnown {
		return is
	}
	is.ready = ReadyElsewhere(*row, LeverOf(en.in.Actions, e.opt.V6))
	for i := range row.Instances {
		if in := &row.Instances[i]; !in.Local && in.ReadersKnown {
			is.served += in.Readers
		}
	}
	return is
}

// nextWatch looks whether messages came to a queue that was emptied: late ones
// over channels, those of a reader that died in a unit of work, or ones that
// could not move before. What is new does not wait for the retry: an instance or
// a reader elsewhere that was not there before, another definition, or, where
// nothing could move, other messages. The lock is held.
func (e *Engine) nextWatch(tg *target, en *entry, now time.Time) *step {
	index := en.mover()
	good := e.view.good
	if index < 0 || e.opt.Observe || good == nil || e.view.obs.Err != nil {
		return nil
	}
	row, ok := rowOf(good, tg.Queue)
	if !ok || depthOf(&row) == 0 || readers(&row) > 0 {
		return nil
	}
	if en.move.last.Outcome == MoveEmpty && !good.At.After(en.move.ended) {
		return nil // these messages are those that moved
	}
	was, is := en.move.seen, e.stranded(en, &row)
	en.move.seen = is
	if is.news(was, en.move.idle > 0) {
		en.move.due, en.move.idle = time.Time{}, 0
	}
	if is.ready == 0 {
		return nil
	}
	return e.nextAction(tg, en, index, now)
}

func depthOf(row *situations.Row) int {
	env, ok := row.Env.(situations.Attributes)
	if !ok {
		return 0
	}
	return env.CURDEPTH
}

func readers(row *situations.Row) int {
	env, ok := row.Env.(situations.Attributes)
	if !ok {
		return 0
	}
	return env.IPPROCS
}

// Job is the state of moving messages off one queue, for the status.
type Job struct {
	Target    Target
	Moved     int // by all runs while the situation is open
	Remaining int
	Rate      float64
	State     string // moving, or the outcome of the last run
	Skipped   Skipped
	By        string // the person who wants it, blank for a rule
}

func (e *Engine) show(s *step, m Moved, state string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.jobs[s.tg.Target] = &Job{
		Target: s.tg.Target, Moved: s.en.p.Moved + m.Moved, Remaining: m.Remaining,
		Rate: m.Rate, State: state, Skipped: m.Skipped, By: s.en.in.By,
	}
	e.hand.note(s.en.in.ID, func(r *MoveRun) { r.State, r.Why, r.Report = state, "", m })
}
