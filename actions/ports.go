package actions

import (
	"context"
	"errors"
	"time"

	"github.com/situationd/situationd/situations"
)

// Target is what actions are done to: one queue of one queue manager, a channel
// of it, or the queue manager itself (Queue is the item's name, see
// situations.Group). It has one worker, so nothing ever happens to it twice at once.
type Target struct{ QMgr, Queue string }

// Value is an attribute with its value in MQSC's spelling: PUT DISABLED, CLWLRANK 0.
// A channel's STATUS is STARTED or STOPPED, beside STOPPED may stand MODE; a queue
// manager's SUSPEND(C1) is YES or NO.
type Value struct{ Attr, Value string }

// ErrUnavailable is wrapped by QueueManager and Mover when the queue manager
// could not be reached: the attempt failed, and the next waits for a sample.
var ErrUnavailable = errors.New("queue manager not available")

// QueueManager changes and reads attributes of queues, channels and itself. The rule "compare before
// alter" is kept here; an implementation alters what it is told to.
type QueueManager interface {
	// Set alters attributes of one item: of a queue (typ QLOCAL or QALIAS) and of
	// a channel (typ as CHLTYPE has it) in one command.
	Set(ctx context.Context, queue, typ string, values []Value) error
	// ReadBack reads the named attributes. A channel that is still stopping is waited for.
	ReadBack(ctx context.Context, queue, typ string, attrs []string) ([]Value, error)
}

// Order asks for stranded messages to be moved.
type Order struct {
	Queue       string
	Base        string // where messages are got from; Queue but for a clustered alias
	Type        string
	Lever       Lever // what READY_ELSEWHERE counts
	EvenIfBound bool
	Rate        int           // messages a second at most, 0 for no limit
	Limit       int           // messages at most, 0 for all that are there
	Timeout     time.Duration // 0: none
	Interval    time.Duration // the situation's sample interval
}

// Outcome says why a run of moving messages ended.
type Outcome string

// The outcomes of a run.
const (
	MoveEmpty     Outcome = "empty"     // verified: depth and uncommitted zero
	MoveLeft      Outcome = "left"      // messages stay that this run could not or must not move
	MoveReader    Outcome = "reader"    // a reader is back
	MoveWaiting   Outcome = "waiting"   // no other instance is ready
	MoveRefused   Outcome = "refused"   // this queue's definition does not allow it; Reason says what to change
	MoveCancelled Outcome = "cancelled" // the context ended it at the end of a unit
	MoveFailed    Outcome = "failed"
)

// Skipped counts messages that were left where they are, by reason.
type Skipped struct{ Addressed, Bound, Grouped, Poison, Returned int }

// Moved reports a run, while it goes on and at its end.
type Moved struct {
	Outcome Outcome
	Reason  string
	Early   bool // with MoveLeft: it ended before it had looked at all that was there
	// At the end Start + Arrived = Moved + Expired + Taken + Remaining: depth when it began, what
	// came, what moved, expired, and was taken by others, and the depth at the last look.
	Start, Arrived, Moved, Expired, Taken, Remaining int

	Uncommitted int // at the last look
	Skipped     Skipped
	To          map[string]int // messages by queue manager, at the end of the run
	Rate        float64        // messages a second
	Doubt       bool           // of a unit it is not known whether it moved
	Err         error          // with MoveFailed
}

// Mover moves messages of one queue to instances that are served, bounded by
// the depth at the start. A cancelled ctx ends the run at the end of a unit of
// work. started is called once, before the first message moves and not at all
// when there is nothing to do; its error ends the run.
type Mover interface {
	Move(ctx context.Context, o Order, started func() error, progress func(Moved)) Moved
}

// Commander runs one MQSC command.
type Commander interface {
	// Command runs a command whose verb is allowed. What the queue manager says
	// against it is the error.
	Command(ctx context.Context, text string) error
}

// Hooks posts to the addresses of webhooks.
type Hooks interface {
	// Post hands a document over; anything but an answer of success is an error.
	Post(ctx context.Context, address, id string, body []byte) error
}

// PeerIntent is a lowering that another daemon has published.
type PeerIntent struct {
	QMgr, QMID, Queue string
}

// PeerInstance is an instance of a queue as its own daemon sees it.
type PeerInstance struct {
	QMgr, QMID         string
	Queue              string // may be empty in the answer about one queue
	Put                bool
	ClwlRank, ClwlPrty int
}

// PeerLook is what the other daemons show of one queue, or of all.
type PeerLook struct {
	Intents   []PeerIntent
	Instances []PeerInstance
}

// Peers reads what the other daemons have published. An error means that at
// least one of them was not reached: then nothing is lowered.
type Peers interface {
	// Look reads what they show of a queue, or of all queues with "".
	Look(ctx context.Context, queue string) (PeerLook, error)
}

// Items tells what the situations know that an intent does not say. It is asked
// with the engine's lock held, so an answer must not wait for a call of the engine.
type Items interface {
	// Flapping says that the item changed too often lately to act on it.
	Flapping(situations.Key) bool
	// Maintained says that a window of the situation is open in which it does not act.
	Maintained(situations.Key) bool
	// Count is how many items a situation has.
	Count(situation string) int
	// NeverRedistribute says that some rule forbids moving messages off a queue.
	NeverRedistribute(qmgr string, row *situations.Row) bool
}
