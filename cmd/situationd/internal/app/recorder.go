package app

import (
	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/actions"
)

// recorder is the journal as the daemon file wants it: with on_failure refuse
// what cannot be journaled is not done, with warn it is done all the same.
type recorder struct {
	*actions.Journal
	warn   bool
	logger hclog.Logger
}

var _ Recorder = (*recorder)(nil)

// Append writes one line.
func (r *recorder) Append(e actions.Entry, sync bool) error {
	err := r.Journal.Append(e, sync)
	if err != nil && r.warn {
		r.logger.Error("the journal cannot be written; on_failure: warn goes on without it", "error", err,
			"action", e.Action, "queue", e.Queue, "result", string(e.Result), "id", e.ID)
		return nil
	}
	return err
}

// Ready says whether actions may go on.
func (r *recorder) Ready() bool { return r.warn || r.Journal.Ready() }
