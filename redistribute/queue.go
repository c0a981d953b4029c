package redistribute

import (
	"context"
	"time"
)

// Key is a message's identity across a move.
type Key struct {
	MsgID, CorrelID [24]byte
	// PutDateTime is the message's put date and time, in whatever unit the Queue uses throughout.
	PutDateTime int64
}

// Cursor is a position in a queue's order; its content is the Queue's own.
type Cursor struct {
	Priority int32
	Seq      uint64
	Valid    bool
}

// Unit asks for one unit of work of gets and puts.
type Unit struct {
	Max         int    // messages; a message counts when it moves
	Group       int    // a group that is longer than Max may have so many, alone in its unit
	After       Cursor // skip to messages after this position; the zero Cursor starts at the head
	Until       uint64 // only messages up to this position (State.Horizon of the first look); 0 for no bound
	EvenIfBound bool
	Skip        []Key // moved before and came back
	DryRun      bool  // plan only: Result.Moved lists what would move

	// before is what was skipped up to After. Units in flight start at one place
	// and meet the same messages, so their counts cannot just be added up.
	before Skipped
}

// Sent is one message that moved.
type Sent struct {
	Key  Key
	QMgr string // where it went
}

// Skipped counts messages that a run left where they are, by reason.
type Skipped struct {
	Addressed int // put to one queue manager by name
	Bound     int // bound on open
	Grouped   int // of a group that could not go whole
	Poison    int // backed out at least BOTHRESH times
	Returned  int // moved before and came back
}

func (s *Skipped) add(o Skipped) {
	s.Addressed += o.Addressed
	s.Bound += o.Bound
	s.Grouped += o.Grouped
	s.Poison += o.Poison
	s.Returned += o.Returned
}

// Total is the number of messages skipped.
func (s Skipped) Total() int {
	return s.Addressed + s.Bound + s.Grouped + s.Poison + s.Returned
}

// Result reports one unit whose commit was answered (or one that was backed out: Moved is then empty).
type Result struct {
	Moved   []Sent
	Skipped Skipped
	// Stopped says why the unit ended early, blank if it did not: it landed here, no instance, a reason code.
	// A dry run goes on all the same; what it lists might have moved.
	Stopped string
	// Held counts messages passed because nobody can have them now: puts that are
	// not committed, and what a browser has locked. Dead are expired ones that a dry run leaves.
	Held, Dead int
	Next       Cursor
	Horizon    uint64
	More       bool // there are messages after Next and up to Until
}

// State is a look at the queue.
type State struct {
	Depth       int // uncommitted puts count, uncommitted gets do not
	Uncommitted int // both
	Readers     int // handles open for input, not the daemon's own
	// Ready counts other instances that the workload algorithm could choose and
	// that the rule's lever leaves above ours; ReadyKnown is false until the repository answered.
	Ready      int
	ReadyKnown bool
	// UseQ is CLWLUSEQ in force: the queue's own, or the queue manager's where the queue says QMGR.
	UseQ string
	// GetDisabled: the queue is GET(DISABLED), nothing can be taken off it.
	GetDisabled bool
	// DefBind is the local instance's DEFBIND. BindShown: each message shows
	// whether it is bound; where it does not, only DEFBIND(NOTFIXED) queues are moved.
	DefBind   string
	BindShown bool
	// Horizon is the position of the last message that is there; 0 if the Queue has none.
	Horizon uint64
	// Arrived and Expired count what came to the queue, and what expired on it, since
	// some moment before the run.
	Arrived, Expired uint64
}

// Queue is the queue that messages are taken from and the way they go. As many
// MoveUnit and Look as InFlight says are called at once.
type Queue interface {
	// Look reads the state. An error is unknown: nothing moves on it.
	Look(ctx context.Context) (State, error)
	// MoveUnit moves one unit of work. An error after the unit was sent off leaves
	// it in doubt: it may have moved or not, and is treated as neither.
	MoveUnit(ctx context.Context, u Unit) (Result, error)
	// InFlight is how many units may be outstanding at once, at least 1.
	InFlight() int
}

// Defaults of a run.
const (
	UnitSize    = 50
	MaxInFlight = 4
	LedgerTTL   = 10 * time.Minute
	unitTimeout = 30 * time.Second
)
