package situations

import (
	"fmt"
	"time"
)

// Window is a time in which a situation does not act, or does not alert.
type Window struct {
	Start  Schedule // a cron line
	For    time.Duration
	Notify bool // suppress: notify; else it is the actions that wait
}

// start is when the window that is open at t began, zero if none is: the last
// start that is not after t, if that is less than For ago.
func (w *Window) start(t time.Time) time.Time {
	start := w.Start.Next(t.Add(-w.For), time.Time{})
	if start.After(t) {
		return time.Time{}
	}
	return start
}

func (w *Window) yaml() string {
	what := "act"
	if w.Notify {
		what = "notify"
	}
	return fmt.Sprintf("{cron: %s, for: %s, suppress: %s}", yamlText(w.Start.Cron), formatDuration(w.For), what)
}

// maintained says what the windows of a situation suppress at t: its actions,
// and since when its alerts, zero if they are told.
func (s *Situation) maintained(t time.Time) (held bool, muted time.Time) {
	for i := range s.Maintenance {
		w := &s.Maintenance[i]
		start := w.start(t)
		switch {
		case start.IsZero():
		case !w.Notify:
			held = true
		case muted.IsZero() || start.Before(muted):
			muted = start
		}
	}
	return held, muted
}

// always reports whether one opening follows the other without a gap: such a
// window never ends. It is tried from a day on which every line fits sooner or later.
func (w *Window) always() bool {
	at := w.Start.Next(testStart, time.Time{})
	for range 20 {
		next := w.Start.Next(at, time.Time{})
		if next.IsZero() || next.Sub(at) > w.For {
			return false
		}
		at = next
	}
	return true
}
