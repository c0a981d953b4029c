package redistribute

import (
	"context"
	"time"
)

// Foresee counts what a run would do, with the job's own rules and ledger; where
// tells where its messages would go.
func (j *Job) Foresee(ctx context.Context, where func(context.Context) (Routes, error)) (Forecast, error) {
	r := runner{Job: j, start: time.Now()}
	s, _, err := r.look(ctx)
	if err != nil {
		return Forecast{}, err
	}
	routes, err := where(ctx)
	if err != nil {
		return Forecast{}, err
	}
	f := Forecast{Prevents: Prevented(j.Rules, s, routes), Depth: s.Depth, Share: routes.Share, To: map[string]int{}}
	r.plan = &Plan{rules: j.Rules, horizon: s.Horizon}
	if err := r.prepare(ctx); err != nil {
		return Forecast{}, err
	}
	err = r.dry(ctx, func(res Result) {
		f.Movable += len(res.Moved)
		f.Uncommitted += res.Held
		f.Expired += res.Dead
		f.Skipped.add(res.Skipped)
		if res.Stopped != "" && f.Prevents == nil {
			f.Prevents = &End{Outcome: Waiting, Reason: "stopped: " + res.Stopped}
		}
	})
	if err != nil {
		return Forecast{}, err
	}
	if f.Prevents == nil {
		f.To = Allot(f.Movable, routes.Share)
	}
	return f, nil
}
