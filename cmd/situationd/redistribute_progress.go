package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// moveProgress tells on standard error how far a run is: with a bar on a
// terminal, else with a line every few seconds.
type moveProgress struct {
	out  io.Writer
	bar  *progressbar.ProgressBar // nil: lines
	last time.Time
}

func newMoveProgress(out io.Writer, terminal bool, now time.Time) *moveProgress {
	p := &moveProgress{out: out, last: now}
	if terminal {
		p.bar = progressbar.NewOptions(1,
			progressbar.OptionSetWriter(out), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("messages"), progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetDescription("waiting"))
	}
	return p
}

// step is told how the run stands.
func (p *moveProgress) step(r *httpapi.Redistribution, now time.Time) {
	what := r.State
	if r.Reason != "" && !r.Over {
		what += " (" + r.Reason + ")"
	}
	switch {
	case p.bar != nil:
		p.bar.Describe(what)
		p.bar.ChangeMax(max(r.Moved+max(r.Remaining-stay(r), 0), 1))
		_ = p.bar.Set(r.Moved) // a bar that cannot be drawn is no failure of the run
	case now.Sub(p.last) >= qProgressEvery:
		p.last = now
		fmt.Fprintf(p.out, "%s: %s, %d moved, %d remain, %.0f a second\n", r.Queue, oneLine(what), r.Moved, r.Remaining, r.Rate)
	}
}

func stay(r *httpapi.Redistribution) int {
	return r.Skipped.Addressed + r.Skipped.Bound + r.Skipped.Grouped + r.Skipped.Poison + r.Skipped.Returned
}

// note says something besides.
func (p *moveProgress) note(format string, args ...any) {
	p.end()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// end takes the bar away: the report follows.
func (p *moveProgress) end() {
	if p.bar != nil {
		_ = p.bar.Clear() // as for Set
	}
}
