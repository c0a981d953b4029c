package redistribute

import (
	"context"
	"time"
)

// Foresee counts what a run would do, with the job's own rules and ledger.
func (j *Job) Foresee(ctx context.Context, q Scout) (Forecast, error) {
	r := runner{Job: j, start: time.Now()}
	s, err := r.look(ctx)
	if err != nil {
		return Forecast{}, err
	}
	routes, err := q.Routes(ctx)
	if err != nil {
		return Forecast{}, err
	}
	f := Forecast{Prevents: Prevented(j.Rules, s, routes), Depth: s.Depth, Share: routes.Share, To: map[string]int{}}
	r.plan = &Plan{rules: j.Rules, horizon: s.Horizon}
	if err := r.prepare(ctx); err != nil {
		return Forecast{}, err
	}
	if err := r.survey(ctx, &f); err != nil {
		return Forecast{}, err
	}
	if f.Prevents == nil {
		f.To = Allot(f.Movable, routes.Share)
	}
	return f, nil
}

// survey goes through the queue with units that only plan.
func (r *runner) survey(ctx context.Context, f *Forecast) error {
	u := Unit{
		Max: dryUnit, Group: maxGroup, DryRun: true, EvenIfBound: r.Rules.EvenIfBound, Until: r.plan.Horizon(), Skip: r.skip,
	}
	for ctx.Err() == nil {
		res, err := r.unit(ctx, u)
		if err != nil {
			return err
		}
		f.Movable += len(res.Moved)
		f.Uncommitted += res.Held
		f.Expired += res.Dead
		f.Skipped.add(res.Skipped)
		if res.Stopped != "" && f.Prevents == nil {
			f.Prevents = &End{Outcome: Waiting, Reason: "stopped: " + res.Stopped}
		}
		if u.Until == 0 {
			u.Until = res.Horizon
		}
		if !res.More || res.Next == u.After {
			return nil
		}
		u.After = res.Next
	}
	return ctx.Err()
}
