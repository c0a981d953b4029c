package redistribute

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// skipMost is how many ledger keys go along with each unit; with more, a dry
	// run first finds those that are on the queue at all.
	skipMost = 4096
	// flushEvery and flushAfter are how many units are noted, and how long, before
	// the ledger is stored: a crash forgets these at most, which only means that
	// they might move twice.
	flushEvery = 16
	flushAfter = time.Second
	// lookAfter is how old a look may be when the rate lets the next unit go, and
	// lookEvery how often there is one while it does not.
	lookAfter = 100 * time.Millisecond
	lookEvery = time.Second
)

// Job is one run over one queue.
type Job struct {
	Name   string // of the queue, in the ledger
	Queue  Queue
	Ledger *Ledger
	Rules  Rules
	// Started is called once before the first message moves, not at all if there
	// is nothing to do; its error ends the run. Nil: not called.
	Started func() error
	// Progress is called after every unit, with what is known by then: not with what
	// others took, which only the last look tells. Nil: not called.
	Progress func(Report)
}

// Run moves what may move, bounded by the depth at the start. A cancelled ctx
// ends it at the end of the units in flight, which are waited for.
func (j *Job) Run(ctx context.Context) Report {
	r := runner{Job: j, start: time.Now(), rep: Report{To: map[string]int{}, paced: j.Rules.Rate > 0}}
	if err := ctx.Err(); err != nil {
		return r.close(End{Outcome: Cancelled}, nil)
	}
	s, during, err := r.look(ctx)
	if ctx.Err() != nil {
		return r.close(End{Outcome: Cancelled}, nil)
	}
	if err != nil {
		return r.close(End{Outcome: Failed, Reason: err.Error()}, err)
	}
	r.first = s
	r.count(s, during)
	plan, end := Begin(r.start, j.Rules, s)
	if end != nil {
		return r.close(*end, nil)
	}
	r.plan = plan
	if err := r.prepare(ctx); ctx.Err() != nil {
		return r.close(End{Outcome: Cancelled}, nil)
	} else if err != nil {
		return r.close(End{Outcome: Failed, Reason: err.Error()}, err)
	}
	if j.Started != nil {
		if err := j.Started(); err != nil {
			return r.close(End{Outcome: Failed, Reason: err.Error()}, err)
		}
	}
	r.units(ctx)
	err = j.Ledger.Flush(j.Name)
	if r.err == nil {
		r.err = err
	}
	last, during, err := r.look(context.WithoutCancel(ctx))
	if err == nil {
		r.count(last, during)
	} else if r.err == nil {
		r.err = err
	}
	return r.close(plan.Finish(last, err), r.err)
}

// runner is the state of a run.
type runner struct {
	*Job
	plan  *Plan
	start time.Time
	rep   Report
	first State
	skip  []Key
	err   error

	noted   int       // units since the ledger was stored
	flushed time.Time // when it was last
	looked  time.Time // when the look began that is in the report
	counted span      // of that look
	clock   atomic.Uint64
}

// span is when a look began and was answered, in the order of a run's looks.
type span struct {
	at       time.Time
	from, to uint64
}

func (r *runner) close(end End, err error) Report {
	r.rep.End, r.rep.Took, r.rep.Err = end, time.Since(r.start), err
	if r.plan != nil {
		r.rep.Moved, r.rep.Skipped = r.plan.Moved(), r.plan.Skipped()
		r.rep.Doubt = r.plan.Doubt()
	}
	r.rep.settle()
	return r.rep
}

func (r *runner) look(ctx context.Context) (State, span, error) {
	ctx, cancel := context.WithTimeout(ctx, unitTimeout)
	defer cancel()
	during := span{at: time.Now(), from: r.clock.Add(1)}
	s, err := r.Queue.Look(ctx)
	during.to = r.clock.Add(1)
	return s, during, err
}

// count enters a look into the report. Of looks that went on at once nobody knows
// which saw the queue first: only one that began after the last was answered counts.
func (r *runner) count(s State, during span) {
	if during.from < r.counted.to {
		return
	}
	r.looked, r.counted = during.at, during
	r.rep.count(&r.first, &s)
}

// prepare finds which messages moved before and came back. Those that move in
// this run cannot come back into it: it ends at the horizon of its first unit.
func (r *runner) prepare(ctx context.Context) error {
	known, err := r.Ledger.Known(r.Name, r.start)
	if err != nil {
		return err
	}
	if len(known) <= skipMost {
		r.skip = known
		return nil
	}
	before := make(map[Key]bool, len(known))
	for _, k := range known {
		before[k] = true
	}
	return r.dry(ctx, func(res Result) {
		for _, m := range res.Moved {
			if before[m.Key] {
				r.skip = append(r.skip, m.Key)
			}
		}
	})
}

// dry goes through the queue with units that only plan, and hands on each result.
// What comes after the first was not there when the others were looked at, so the
// run leaves it alone.
func (r *runner) dry(ctx context.Context, each func(Result)) error {
	u := Unit{
		Max: longestUnit, Group: longestUnit, DryRun: true, EvenIfBound: r.Rules.EvenIfBound, Until: r.plan.Horizon(), Skip: r.skip,
	}
	for ctx.Err() == nil {
		res, err := r.unit(ctx, u)
		if err != nil {
			return err
		}
		each(res)
		if u.Until == 0 {
			u.Until = res.Horizon
			r.plan.Within(u.Until)
		}
		if !res.More || res.Next == u.After {
			return nil
		}
		u.After = res.Next
	}
	return ctx.Err()
}

// unit runs one unit of work to its end: cancelling the run does not cancel it.
func (r *runner) unit(ctx context.Context, u Unit) (Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unitTimeout)
	defer cancel()
	return r.Queue.MoveUnit(ctx, u)
}

// answer is a unit that came back, and the look after it.
type answer struct {
	number  int
	unit    Unit
	res     Result
	err     error
	during  span // of the look
	state   State
	lookErr error
}

// fly runs a unit of work and looks at the queue after it. Looks of several units
// go on at once: one after the other would hold up the next units.
func (r *runner) fly(ctx context.Context, u Unit, number int) answer {
	a := answer{number: number, unit: u}
	if a.res, a.err = r.unit(ctx, u); a.err == nil {
		a.state, a.during, a.lookErr = r.look(context.WithoutCancel(ctx))
	}
	return a
}

// units issues units as the plan gives them and the queue takes them.
func (r *runner) units(ctx context.Context) {
	most := min(max(r.Queue.InFlight(), 1), MaxInFlight)
	answers := make(chan answer, most)
	cancelled := ctx.Done()
	flying := 0
	for {
		for flying < most && ctx.Err() == nil {
			u, number, ok := r.plan.Next(time.Now())
			if !ok {
				break
			}
			u.Skip = r.skip
			flying++
			go func() { answers <- r.fly(ctx, u, number) }()
		}
		if flying == 0 {
			if ctx.Err() != nil {
				r.plan.Cancel()
			}
			if r.plan.Over(time.Now()) {
				return
			}
			r.pause(ctx, r.plan.Wait(time.Now()))
			continue
		}
		select {
		case a := <-answers:
			flying--
			r.take(a)
		case <-cancelled:
			r.plan.Cancel()
			cancelled = nil
		}
	}
}

// take enters an answered unit, and what was seen after it, into plan and ledger.
func (r *runner) take(a answer) {
	r.plan.Answer(time.Now(), a.number, a.unit, a.res, a.err, a.state, a.lookErr)
	for _, err := range []error{a.err, a.lookErr} {
		if err != nil && r.err == nil {
			r.err = err
		}
	}
	if a.err != nil {
		return
	}
	for _, m := range a.res.Moved {
		r.rep.To[m.QMgr]++
	}
	if err := r.Ledger.Note(r.Name, a.res.Moved, time.Now()); err != nil && r.err == nil {
		r.err = err
	}
	if r.noted++; r.noted >= flushEvery {
		r.flush()
	}
	if a.lookErr == nil {
		r.count(a.state, a.during)
	}
	if r.Progress != nil {
		rep := r.rep
		rep.Moved, rep.Skipped, rep.Took = r.plan.Moved(), r.plan.Skipped(), time.Since(r.start)
		rep.To = nil // still being counted
		r.Progress(rep)
	}
}

// flush stores what was noted.
func (r *runner) flush() {
	r.noted, r.flushed = 0, time.Now()
	if err := r.Ledger.Flush(r.Name); err != nil && r.err == nil {
		r.err = err
	}
}

// pause waits until the rate lets the next unit go, and then looks whether it
// still may.
func (r *runner) pause(ctx context.Context, wait time.Duration) {
	if wait <= 0 {
		return
	}
	if r.noted > 0 && time.Since(r.flushed) >= flushAfter {
		r.flush()
	}
	timer := time.NewTimer(min(wait, lookEvery))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	if time.Since(r.looked) < lookAfter {
		return
	}
	state, during, err := r.look(ctx)
	if ctx.Err() != nil {
		return
	}
	r.plan.Saw(state, err)
	if err == nil {
		r.count(state, during)
	} else if r.err == nil {
		r.err = err
	}
}
