package app

import (
	"context"
	"slices"
	"time"

	"github.com/situationd/situationd/actions"
)

// graceSampler asks for the samples that are taken besides the regular ones:
// one when the queue manager was reached, and one when each grace has ended, so
// that what grace held is decided on a fresh sample, however long the interval.
type graceSampler struct {
	app *App
	up  chan struct{}
}

func newGraceSampler(a *App) *graceSampler {
	return &graceSampler{app: a, up: make(chan struct{}, 1)}
}

// connected notes that a connection was made.
func (g *graceSampler) connected() {
	select {
	case g.up <- struct{}{}:
	default: // one is noted already
	}
}

func (g *graceSampler) run(ctx context.Context) {
	var ends []time.Time // of the graces since the last connection, in order
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := time.Hour
		if len(ends) > 0 {
			wait = time.Until(ends[0])
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-g.up:
			ends = g.app.graceEnds(time.Now())
		case <-timer.C:
			if len(ends) == 0 || time.Now().Before(ends[0]) {
				continue
			}
			ends = ends[1:]
		}
		g.app.runner.SampleSoon()
	}
}

// graceTime is the configured grace; in a hurry it is shorter like everything else.
func (a *App) graceTime() time.Duration {
	return time.Duration(float64(a.config.StartupGrace) / a.speed)
}

// graceEnds lists when the graces of all situations end that begin now. The
// queue manager may have started, or the connection been made, a moment later
// than this, so the samples come a little after.
func (a *App) graceEnds(now time.Time) []time.Time {
	const after = 50 * time.Millisecond
	var ends []time.Time
	for _, s := range a.rules.Load().Situations {
		length := actions.Grace(a.graceTime(), s.Schedule.Interval(now))
		if end := now.Add(length + after); s.Runs(a.qmgr) && length > 0 && !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends
}
