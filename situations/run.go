package situations

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Source is where a runner gets its samples.
type Source interface {
	// Sample looks at the queue manager once. An error, or an Observation with
	// Err, makes every item of this tick unknown.
	Sample(ctx context.Context) (*Observation, error)
}

// Changer is a Source that can tell when something changed. The channel needs a
// buffer of one: changes that nobody waits for yet may be dropped by the sender.
type Changer interface {
	Changes() <-chan struct{}
}

// ItemRecord is the stored state of one item, in this package's own versioned form.
type ItemRecord struct {
	Key  Key
	Data []byte
}

// ItemChange replaces the record of an item, or deletes it when Data is nil.
type ItemChange struct {
	Key  Key
	Data []byte
}

// StateStore keeps what must survive a restart.
type StateStore interface {
	Load() ([]ItemRecord, error)
	// Commit records changes and intents in one transaction, or neither. An
	// intent counts as decided once Commit returned; it is dispatched after.
	Commit(ctx context.Context, changes []ItemChange, intents []Intent) error
}

// Sink carries intents out. Both calls come from the runner's goroutine, after
// the commit, Dispatch first, so that a new edge supersedes what an old one left
// waiting before that is decided on the fresh sample. They must not block on work.
type Sink interface {
	Dispatch(ctx context.Context, intents []Intent)
	Observe(obs *Observation)
}

// Options of a Runner. QMgr, Source, Store, Sink and Rules are required.
type Options struct {
	QMgr   string
	Source Source
	Store  StateStore
	Sink   Sink
	Rules  *RuleSet
	Logger hclog.Logger // nil: silent
	// SampleTimeout bounds one sample; 0: the shortest interval, at least 1s and at most 30s.
	SampleTimeout time.Duration
}
