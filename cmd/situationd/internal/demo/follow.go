package demo

import (
	"context"
	"encoding/json"
	"time"

	"github.com/situationd/situationd/actions"
)

// follower prints the journal of a daemon as it grows.
type follower struct {
	qmgr string
	read func(ctx context.Context, after string, limit int) ([]json.RawMessage, string, error)
	seen int
}

// follow polls until ctx ends. The journal of a demo is short, so it is read
// from its beginning each time.
func (f *follower) follow(ctx context.Context, t *timeline) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		f.look(ctx, t)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

const journalPage = 1000

func (f *follower) look(ctx context.Context, t *timeline) {
	lines, _, err := f.read(ctx, "", journalPage)
	if err != nil || len(lines) <= f.seen {
		return // the file is not there yet, or nothing is new
	}
	for _, raw := range lines[f.seen:] {
		var e actions.Entry
		if json.Unmarshal(raw, &e) == nil {
			f.tell(t, &e)
		}
	}
	f.seen = len(lines)
}

// moved counts the messages that redistributions moved, by the journal.
func (f *follower) moved(ctx context.Context) (int, error) {
	lines, _, err := f.read(ctx, "", journalPage)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, raw := range lines {
		var e actions.Entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return 0, err
		}
		if e.Result != "started" {
			total += e.Moved
		}
	}
	return total, nil
}

func (f *follower) tell(t *timeline, e *actions.Entry) {
	switch {
	case e.Result == "started":
		return // its end follows
	case e.Moved > 0:
		t.say("action", f.qmgr, "%s: %s %s, %d messages moved", e.Situation, e.Action, e.Result, e.Moved)
	case e.Reason != "":
		t.say("action", f.qmgr, "%s: %s %s (%s)", e.Situation, e.Action, e.Result, e.Reason)
	default:
		t.say("action", f.qmgr, "%s: %s %s", e.Situation, e.Action, e.Result)
	}
}
