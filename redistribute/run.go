package redistribute

import (
	"context"
	"time"
)

const (
	// skipMost is how many ledger keys go along with each unit; with more, a dry
	// run first finds those that are on the queue at all.
	skipMost = 4096
	dryUnit  = 10000
	// flushEvery is how many units are noted before the ledger is stored: a crash
	// forgets these at most, which only means that they might move twice.
	flushEvery = 16
)

// Report is what a run did.
type Report struct {
	End
	Moved     int
	Remaining int // depth at the last look
	Skipped   Skipped
	To        map[string]int // messages by queue manager
	Took      time.Duration
	Err       error // what went wrong; with another outcome than Failed the ledger could not be stored
}

// Rate is messages a second.
func (r *Report) Rate() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Moved) / r.Took.Seconds()
}

// Job is one run over one queue.
type Job struct {
	Name   string // of the queue, in the ledger
	Queue  Queue
	Ledger *Ledger
	Rules  Rules
	// Started is called once before the first message moves, not at all if there
	// is nothing to do; its error ends the run. Nil: not called.
	Started func() error
	// Progress is called after every unit. Nil: not called.
	Progress func(Report)
}

// Run moves what may move, bounded by the depth at the start. A cancelled ctx
// ends it at the end of the units in flight, which are waited for.
func (j *Job) Run(ctx context.Context) Report {
	r := runner{Job: j, start: time.Now(), rep: Report{To: map[string]int{}}}
	if err := ctx.Err(); err != nil {
		return r.close(End{Outcome: Cancelled}, nil)
	}
	s, err := r.look(ctx)
	if err != nil {
		return r.close(End{Outcome: Failed, Reason: err.Error()}, err)
	}
	r.rep.Remaining = s.Depth
	plan, end := Begin(r.start, j.Rules, s)
	if end != nil {
		return r.close(*end, nil)
	}
	r.plan = plan
	if err := r.prepare(ctx); err != nil {
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
	last, err := r.look(context.WithoutCancel(ctx))
	if err == nil {
		r.rep.Remaining = last.Depth
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
	skip  []Key
	noted int
	err   error
}

func (r *runner) close(end End, err error) Report {
	r.rep.End, r.rep.Took, r.rep.Err = end, time.Since(r.start), err
	if r.plan != nil {
		r.rep.Moved, r.rep.Skipped = r.plan.Moved(), r.plan.Skipped()
	}
	return r.rep
}

func (r *runner) look(ctx context.Context) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, unitTimeout)
	defer cancel()
	return r.Queue.Look(ctx)
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
	var u Unit
	for {
		u.Max, u.DryRun, u.EvenIfBound = dryUnit, true, r.Rules.EvenIfBound
		res, err := r.unit(ctx, u)
		if err != nil {
			return err
		}
		for _, m := range res.Moved {
			if before[m.Key] {
				r.skip = append(r.skip, m.Key)
			}
		}
		if u.Until == 0 {
			// What comes after this look was not compared, so the run leaves it alone.
			u.Until = res.Horizon
			r.plan.Within(u.Until)
		}
		if !res.More || res.Next == u.After {
			return nil
		}
		u.After = res.Next
	}
}

// unit runs one unit of work to its end: cancelling the run does not cancel it.
func (r *runner) unit(ctx context.Context, u Unit) (Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unitTimeout)
	defer cancel()
	return r.Queue.MoveUnit(ctx, u)
}

// answer is a unit that came back.
type answer struct {
	number int
	unit   Unit
	res    Result
	err    error
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
			go func() {
				res, err := r.unit(ctx, u)
				answers <- answer{number: number, unit: u, res: res, err: err}
			}()
		}
		if flying == 0 {
			if ctx.Err() != nil {
				r.plan.Cancel()
			}
			if r.plan.Over(time.Now()) {
				return
			}
		}
		select {
		case a := <-answers:
			flying--
			r.take(ctx, a)
		case <-cancelled:
			r.plan.Cancel()
			cancelled = nil
		}
	}
}

// take enters an answered unit into plan and ledger, and looks again.
func (r *runner) take(ctx context.Context, a answer) {
	var state State
	var lookErr error
	if a.err == nil {
		state, lookErr = r.look(context.WithoutCancel(ctx))
	}
	r.plan.Answer(a.number, a.unit, a.res, a.err, state, lookErr)
	for _, err := range []error{a.err, lookErr} {
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
	if r.noted++; r.noted%flushEvery == 0 {
		if err := r.Ledger.Flush(r.Name); err != nil && r.err == nil {
			r.err = err
		}
	}
	if lookErr == nil {
		r.rep.Remaining = state.Depth
	}
	if r.Progress != nil {
		rep := r.rep
		rep.Moved, rep.Skipped, rep.Took = r.plan.Moved(), r.plan.Skipped(), time.Since(r.start)
		rep.To = nil // still being counted
		r.Progress(rep)
	}
}
