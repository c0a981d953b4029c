package adapt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/redistribute"
	"github.com/situationd/situationd/situations"
)

// Mover moves messages for the actions: one redistribute.Job for each order.
type Mover struct {
	link   *Link
	ledger *redistribute.Ledger
}

var _ actions.Mover = (*Mover)(nil)

// NewMover makes a Mover.
func NewMover(link *Link, ledger *redistribute.Ledger) *Mover {
	return &Mover{link: link, ledger: ledger}
}

// leverAttributes are the attributes that the lowering verbs change.
var leverAttributes = map[situations.Verb]string{
	situations.VerbPut: "PUT", situations.VerbRank: "CLWLRANK", situations.VerbPriority: "CLWLPRTY",
}

// Move runs one order.
func (m *Mover) Move(ctx context.Context, o actions.Order, started func() error, progress func(actions.Moved)) actions.Moved {
	job := m.job(o, m.queue(o))
	job.Started, job.Progress = started, func(r redistribute.Report) { progress(moved(&r)) }
	report := job.Run(ctx)
	return moved(&report)
}

// outcomes translates why a run ended; both sides have their own words so that
// neither imports the other.
var outcomes = map[redistribute.Outcome]actions.Outcome{
	redistribute.Empty:     actions.MoveEmpty,
	redistribute.Left:      actions.MoveLeft,
	redistribute.Reader:    actions.MoveReader,
	redistribute.Waiting:   actions.MoveWaiting,
	redistribute.Refused:   actions.MoveRefused,
	redistribute.Cancelled: actions.MoveCancelled,
	redistribute.Failed:    actions.MoveFailed,
}

func moved(r *redistribute.Report) actions.Moved {
	s := r.Skipped
	out := actions.Moved{
		Outcome: outcomes[r.Outcome], Reason: r.Reason, Early: r.Early, Rate: r.Rate(), Err: r.Err, To: r.To, Doubt: r.Doubt,
		Start: r.Start, Arrived: r.Arrived, Moved: r.Moved, Expired: r.Expired, Taken: r.Taken,
		Remaining: r.Remaining, Uncommitted: r.Uncommitted,
		Skipped: actions.Skipped{Addressed: s.Addressed, Bound: s.Bound, Grouped: s.Grouped, Poison: s.Poison, Returned: s.Returned},
	}
	if r.Err != nil && (errors.Is(r.Err, ErrNotConnected) || broken(r.Err)) && !errors.Is(r.Err, actions.ErrUnavailable) {
		out.Err = fmt.Errorf("%w: %w", actions.ErrUnavailable, r.Err)
	}
	return out
}

// LedgerDB is where the daemon's state keeps the ledger.
type LedgerDB interface {
	LoadLedger(queue string, since time.Time) ([]actions.MovedMessage, error)
	AppendLedger(queue string, entries []actions.MovedMessage) error
}

// ledgerStore keeps the ledger in the daemon's state.
type ledgerStore struct{ db LedgerDB }

// NewLedger makes a ledger that lives in the daemon's state.
func NewLedger(ttl time.Duration, db LedgerDB) *redistribute.Ledger {
	return redistribute.NewLedger(ttl, ledgerStore{db})
}

// ForgetfulLedger makes a ledger that is empty and lives nowhere, for looking
// where there is no daemon's state.
func ForgetfulLedger(ttl time.Duration) *redistribute.Ledger { return redistribute.NewLedger(ttl, nil) }

func (s ledgerStore) LoadLedger(queue string, since time.Time) ([]redistribute.LedgerEntry, error) {
	stored, err := s.db.LoadLedger(queue, since)
	if err != nil {
		return nil, err
	}
	entries := make([]redistribute.LedgerEntry, len(stored))
	for i, e := range stored {
		entries[i] = redistribute.LedgerEntry{Key: e.Key, At: e.At}
	}
	return entries, nil
}

func (s ledgerStore) AppendLedger(queue string, entries []redistribute.LedgerEntry) error {
	list := make([]actions.MovedMessage, len(entries))
	for i, e := range entries {
		list[i] = actions.MovedMessage{Key: e.Key, At: e.At}
	}
	return s.db.AppendLedger(queue, list)
}
