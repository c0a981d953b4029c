package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/redistribute"
	"github.com/situationd/situationd/situations"
)

var _ httpapi.Redistributor = (*App)(nil)

// Bounds of what a person asks for about moving messages.
const (
	askTime      = 3 * time.Second // for the repositories to answer
	foreseeTime  = 25 * time.Second
	longestMove  = 7 * 24 * time.Hour
	longestQueue = 48
)

// desk prepares what people want moved: with the daemon up and down alike.
type desk struct {
	qmgr  string
	link  *adapt.Link
	mover *adapt.Mover
	rules *situations.RuleSet // nil: none are known
	v6    bool
}

// find looks for the queue.
func (d *desk) find(ctx context.Context, queue string) (*situations.Row, error) {
	if queue == "" || len(queue) > longestQueue {
		return nil, badRequest("redistribute names a queue of up to %d characters", longestQueue)
	}
	row, names, err := d.link.Find(ctx, d.qmgr, queue)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", httpapi.ErrUnavailable, err)
	case row == nil:
		return nil, d.unknown(queue, names)
	}
	return row, nil
}

// order says how a queue's messages are to be moved, once it is known where they
// can go.
func (d *desk) order(ctx context.Context, row *situations.Row, evenIfBound bool) (actions.Order, error) {
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := d.link.Ask(asking, row.Queue); err != nil {
		return actions.Order{}, fmt.Errorf("%w: %w", httpapi.ErrUnavailable, err)
	}
	return actions.Order{
		Queue: row.Queue, Base: row.Base, Type: row.Type, Lever: actions.LeverOf(nil, d.v6), EvenIfBound: evenIfBound,
	}, nil
}

func (d *desk) unknown(queue string, names []string) error {
	near := ""
	for _, name := range names {
		if strings.EqualFold(name, queue) {
			near = "; did you mean " + name + "?"
		}
	}
	return fmt.Errorf("%w: %s has no local queue and no clustered alias %s%s", httpapi.ErrNotFound, d.qmgr, queue, near)
}

// forbidden says why messages of this queue are never moved, blank if they may be.
func (d *desk) forbidden(row *situations.Row) string {
	env, _ := row.Env.(situations.Attributes)
	switch {
	case env.TRIGGER == "YES":
		return row.Queue + " is a trigger queue, which waits for its program without a reader; it is left alone"
	case row.System:
		return row.Queue + " belongs to the queue manager"
	case row.Transmission:
		return row.Queue + " is a transmission queue; its channel moves its messages"
	case row.Dynamic:
		return row.Queue + " is a dynamic queue; it is the only one of its name"
	case len(row.Clusters) == 0:
		return row.Queue + " is in no cluster, so there is nowhere to move its messages to; where a clustered alias leads to it, name the alias"
	case d.rules != nil && d.rules.NeverRedistribute(d.qmgr, row):
		return actions.ErrNever.Error()
	}
	return ""
}

// mayRun says what keeps an order from beginning now.
func (d *desk) mayRun(ctx context.Context, o actions.Order) error {
	end, err := d.mover.Prevented(ctx, o)
	switch {
	case err != nil:
		return unavailable(err)
	case end != nil:
		return fmt.Errorf("%w: %s", httpapi.ErrRefused, end.Reason)
	}
	return nil
}

// unavailable marks what a queue manager that does not answer is the reason of.
func unavailable(err error) error {
	if errors.Is(err, actions.ErrUnavailable) || errors.Is(err, adapt.ErrNotConnected) {
		return fmt.Errorf("%w: %w", httpapi.ErrUnavailable, err)
	}
	return err
}

// foresee says what a run would do. What forbids it is part of the answer.
func (d *desk) foresee(ctx context.Context, queue string, evenIfBound bool) (httpapi.Forecast, error) {
	ctx, cancel := context.WithTimeout(ctx, foreseeTime)
	defer cancel()
	row, err := d.find(ctx, queue)
	if err != nil {
		return httpapi.Forecast{}, err
	}
	if reason := d.forbidden(row); reason != "" {
		env, _ := row.Env.(situations.Attributes)
		f := redistribute.Forecast{Depth: env.CURDEPTH, Prevents: &redistribute.End{Outcome: redistribute.Refused, Reason: reason}}
		return d.forecast(queue, &f), nil
	}
	order, err := d.order(ctx, row, evenIfBound)
	if err != nil {
		return httpapi.Forecast{}, err
	}
	f, err := d.mover.Foresee(ctx, order)
	if err != nil {
		return httpapi.Forecast{}, unavailable(err)
	}
	return d.forecast(queue, &f), nil
}

func (d *desk) forecast(queue string, f *redistribute.Forecast) httpapi.Forecast {
	out := httpapi.Forecast{
		Queue: queue, QMgr: d.qmgr, Depth: f.Depth, Move: f.Movable, To: f.To, Share: f.Share,
		Skipped: httpapi.Left(f.Skipped), Uncommit: f.Uncommitted, Expired: f.Expired,
	}
	if out.Share == nil {
		out.Share = map[string]float64{}
	}
	if out.To == nil {
		out.To = map[string]int{}
	}
	if f.Prevents != nil {
		out.Prevented = &httpapi.Prevention{Outcome: string(f.Prevents.Outcome), Reason: f.Prevents.Reason}
	}
	return out
}

// MoveWish checks a person's wish and makes it the engine's.
func MoveWish(by string, r httpapi.RedistributeRequest) (actions.MoveRequest, error) {
	out := actions.MoveRequest{By: by, Queue: r.Queue, EvenIfBound: r.EvenIfBound, Rate: r.Rate, Limit: r.Limit}
	if r.Rate < 0 || r.Rate > situations.MaxRate {
		return out, badRequest("a rate is a number of messages a second up to %d, and 0 for no limit", situations.MaxRate)
	}
	if r.Limit < 0 {
		return out, badRequest("a limit is a number of messages, and 0 for all that are there")
	}
	if r.Timeout != "" {
		d, err := situations.ParseDuration(r.Timeout)
		if err != nil || d <= 0 || d > longestMove {
			return out, badRequest("a run lasts as long as 30s or 10m say, at most %d days, not %s", int(longestMove.Hours()/24), r.Timeout)
		}
		out.Timeout = d
	}
	return out, nil
}

func (a *App) desk() *desk {
	return &desk{qmgr: a.qmgr, link: a.link, mover: a.mover, rules: a.rules.Load(), v6: a.config.QueueManager.Hosted.Workload == "v6"}
}

// Foresee says what a run would move.
func (a *App) Foresee(ctx context.Context, queue string, evenIfBound bool) (httpapi.Forecast, error) {
	f, err := a.desk().foresee(ctx, queue, evenIfBound)
	if err != nil || f.Prevented != nil {
		return f, err
	}
	f.Prevented = heldBack(a.engine.Holds(), queue)
	return f, nil
}

// heldBack says that a person holds the queue, nil if nobody does.
func heldBack(holds []actions.PersonHold, queue string) *httpapi.Prevention {
	h := actions.HoldOf(holds, queue, time.Now())
	if h == nil {
		return nil
	}
	return &httpapi.Prevention{Outcome: string(actions.MoveRefused), Reason: h.Sentence()}
}

// Redistribute begins a run.
func (a *App) Redistribute(ctx context.Context, by string, r httpapi.RedistributeRequest) (httpapi.Redistribution, error) {
	wish, err := MoveWish(by, r)
	if err != nil {
		return httpapi.Redistribution{}, err
	}
	if a.observe {
		return httpapi.Redistribution{}, fmt.Errorf("%w: %w", httpapi.ErrRefused, actions.ErrObserves)
	}
	run, err := begin(ctx, a.desk(), a.engine, wish)
	if err == nil {
		a.follow.told(run.ID, run.Over)
		a.runner.SampleSoon() // the run begins with a fresh one
	}
	return run, err
}

// begin checks a wish on the queue manager and hands it to the engine.
func begin(ctx context.Context, d *desk, engine *actions.Engine, wish actions.MoveRequest) (httpapi.Redistribution, error) {
	row, err := d.find(ctx, wish.Queue)
	if err != nil {
		return httpapi.Redistribution{}, err
	}
	if reason := d.forbidden(row); reason != "" {
		return httpapi.Redistribution{}, fmt.Errorf("%w: %s", httpapi.ErrRefused, reason)
	}
	order, err := d.order(ctx, row, wish.EvenIfBound)
	if err != nil {
		return httpapi.Redistribution{}, err
	}
	if err := engine.MayMove(wish.Queue); err != nil {
		return httpapi.Redistribution{}, refusal(wish.Queue, err)
	}
	if err := d.mayRun(ctx, order); err != nil {
		return httpapi.Redistribution{}, err
	}
	run, err := engine.Redistribute(wish)
	if err != nil {
		return httpapi.Redistribution{}, refusal(wish.Queue, err)
	}
	return d.redistribution(&run), nil
}

// refusal gives what the engine says against a run its kind.
func refusal(queue string, err error) error {
	switch {
	case errors.Is(err, actions.ErrMoving):
		return fmt.Errorf("%w: %s: %w; situationd status --watch shows it, situationd redistribute %s --cancel ends it", httpapi.ErrBusy, queue, err, queue)
	case errors.Is(err, actions.ErrHeld):
		return fmt.Errorf("%w: %s: %w; situationd release ends a hold", httpapi.ErrRefused, queue, err)
	case errors.Is(err, actions.ErrEnding):
		return errEnding
	case errors.Is(err, actions.ErrNever), errors.Is(err, actions.ErrObserves):
		return fmt.Errorf("%w: %w", httpapi.ErrRefused, err)
	default:
		return err
	}
}

// Redistribution tells how a run stands: when it is over, or after wait.
func (a *App) Redistribution(ctx context.Context, id string, wait time.Duration) (httpapi.Redistribution, error) {
	run, changed, err := a.engine.MoveRun(id)
	if err != nil {
		return httpapi.Redistribution{}, fmt.Errorf("%w: %w; only the last ones are remembered, and only as long as the daemon runs", httpapi.ErrNotFound, err)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for waiting := wait > 0; waiting && !run.Over; {
		select {
		case <-changed:
		case <-timer.C:
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
		if run, changed, err = a.engine.MoveRun(id); err != nil {
			return httpapi.Redistribution{}, fmt.Errorf("%w: %w", httpapi.ErrNotFound, err)
		}
	}
	a.follow.told(id, run.Over)
	return a.desk().redistribution(&run), nil
}

func (d *desk) redistribution(run *actions.MoveRun) httpapi.Redistribution {
	m := &run.Report
	out := httpapi.Redistribution{
		Queue: run.Queue, QMgr: d.qmgr, ID: run.ID, By: run.By, State: run.State, Reason: m.Reason, Over: run.Over,
		Start: m.Start, Arrived: m.Arrived, Moved: m.Moved, Expired: m.Expired, Taken: m.Taken, Remaining: m.Remaining,
		Uncommit: m.Uncommitted, To: m.To, Skipped: httpapi.Left(m.Skipped), Rate: m.Rate, InDoubt: m.Doubt, Early: m.Early,
		Unreached: errors.Is(m.Err, actions.ErrUnavailable),
	}
	if run.Why != "" {
		out.Reason = run.Why
	}
	if out.To == nil {
		out.To = map[string]int{}
	}
	return out
}

// CancelRedistribute ends whatever moves messages of a queue.
func (a *App) CancelRedistribute(by string, r httpapi.CancelRequest) (httpapi.Cancelled, error) {
	out := httpapi.Cancelled{Queue: r.Queue, Moved: []string{}}
	if r.Queue == "" {
		return out, badRequest("cancel names a queue")
	}
	who, err := a.engine.CancelMove(by, r.Queue)
	if errors.Is(err, actions.ErrNothingMoves) {
		return out, fmt.Errorf("%w: %s: %w", httpapi.ErrNotFound, r.Queue, err)
	}
	out.Moved = append(out.Moved, who...)
	return out, err
}
