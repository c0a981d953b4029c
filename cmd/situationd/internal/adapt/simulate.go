package adapt

import (
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/redistribute"
	"github.com/situationd/situationd/situations"
)

// NewTestActor makes the daemon of one queue manager in a rule test: the
// daemon's decisions, and redistribute's on whether a run may start.
func NewTestActor(qmgr string, grace time.Duration) (situations.Actor, error) {
	return actions.NewSimulator(qmgr, grace, simulateMove)
}

// simulateMove asks redistribute's plan what a run would come to. All that
// waits moves, or nothing does: a test has no messages.
func simulateMove(row *situations.Row, o actions.Order) actions.Moved {
	env, ok := row.Env.(situations.Attributes)
	if !ok {
		return actions.Moved{Outcome: actions.MoveFailed, Reason: "the queue has no sample"}
	}
	state := redistribute.State{
		Depth: env.CURDEPTH, Uncommitted: env.UNCOM, Readers: env.IPPROCS,
		Ready: actions.ReadyElsewhere(*row, o.Lever), ReadyKnown: row.InstancesKnown,
		UseQ: env.CLWLUSEQ, GetDisabled: env.GET == "DISABLED", DefBind: env.DEFBIND, BindShown: true,
	}
	_, end := redistribute.Begin(time.Time{}, rulesOf(o), state)
	if end != nil {
		return actions.Moved{Outcome: outcomes[end.Outcome], Reason: end.Reason, Remaining: env.CURDEPTH}
	}
	return actions.Moved{Outcome: actions.MoveEmpty, Moved: env.CURDEPTH}
}

func rulesOf(o actions.Order) redistribute.Rules {
	return redistribute.Rules{
		Lever: leverAttributes[o.Lever.Verb], V6: o.Lever.V6, EvenIfBound: o.EvenIfBound, Timeout: o.Timeout, Rate: o.Rate, Limit: o.Limit,
	}
}
