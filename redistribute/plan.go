package redistribute

import (
	"fmt"
	"strings"
	"time"
)

// Rules say what a run may do.
type Rules struct {
	// Lever is the attribute by which the rule takes the instance out of the
	// balancing: PUT, CLWLRANK, CLWLPRTY, or blank. V6 is the workload order before MQ 8.
	Lever string
	V6    bool
	// EvenIfBound also moves messages of a queue whose binding cannot be seen, and
	// messages bound on open.
	EvenIfBound bool
	// Never forbids it: for a queue it wins over everything else.
	Never bool
	// UnitSize is the number of messages in a unit of work; 0 means 50.
	UnitSize int
	// Timeout bounds the run; 0 for no bound. It ends at the end of a unit.
	Timeout time.Duration
}

// Outcome says why a run ended. The words are those of the daemon's status.
type Outcome string

// The outcomes.
const (
	Empty     Outcome = "empty"     // verified: depth and uncommitted zero
	Left      Outcome = "left"      // messages stay that could not or must not move, or came meanwhile
	Reader    Outcome = "reader"    // a reader is there
	Waiting   Outcome = "waiting"   // no other instance is ready
	Refused   Outcome = "refused"   // the queue's definition does not allow it
	Cancelled Outcome = "cancelled" // ended at the end of a unit
	Failed    Outcome = "failed"
)

// End is the decision to stop, with a reason for a person.
type End struct {
	Outcome Outcome
	Reason  string
}

// Plan decides about one run: what may start, when the next unit goes, when it
// ends. It holds no clock and does nothing itself.
type Plan struct {
	rules    Rules
	deadline time.Time // zero for none

	bound    int // messages that may still be asked for
	flying   int // units asked for and not answered
	moved    int
	skipped  Skipped
	issued   int // number of the last unit issued
	answered int // number of the furthest unit answered: units may be answered in any order
	cursor   Cursor
	horizon  uint64
	done     bool // the furthest unit found nothing after it
	end      *End
}

// Begin decides on a first look whether a run may start. A nil End says yes.
func Begin(now time.Time, rules Rules, s State) (*Plan, *End) {
	if rules.UnitSize <= 0 {
		rules.UnitSize = UnitSize
	}
	if end := refusal(rules, s); end != nil {
		return nil, end
	}
	if end := halt(s); end != nil {
		return nil, end
	}
	if s.Depth == 0 && s.Uncommitted == 0 {
		return nil, &End{Outcome: Empty}
	}
	// Uncommitted puts count in the depth but cannot be got, uncommitted gets do not
	// count and may come back; so the bound is the depth, and what is left is looked at again.
	if s.Depth == 0 {
		return nil, &End{Outcome: Left, Reason: "uncommitted messages may come back"}
	}
	p := &Plan{rules: rules, bound: s.Depth}
	if rules.Timeout > 0 {
		p.deadline = now.Add(rules.Timeout)
	}
	return p, nil
}

// refusal is a reason that only a change of a definition or rule takes away.
func refusal(rules Rules, s State) *End {
	refuse := func(format string, args ...any) *End {
		return &End{Outcome: Refused, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case rules.Never:
		return refuse("redistribute: never is said for this queue")
	case s.GetDisabled:
		return refuse("the queue is GET(DISABLED)")
	case needsAny(rules) && s.UseQ != "ANY":
		return refuse("with CLWLUSEQ(%s) messages put here land here again; say useq: any, or ALTER the queue CLWLUSEQ(ANY)", s.UseQ)
	case !rules.EvenIfBound && !s.BindShown && s.DefBind != "NOTFIXED":
		return refuse("DEFBIND(%s): messages bound to this queue manager cannot be told from others; ALTER the queue DEFBIND(NOTFIXED), or say even_if_bound: true", s.DefBind)
	}
	return nil
}

// needsAny says that the lever leaves the local instance in the balancing, where
// it wins over all others unless CLWLUSEQ(ANY).
func needsAny(r Rules) bool { return r.Lever == "CLWLPRTY" || r.Lever == "CLWLRANK" && r.V6 }

// halt is what stops a run before and after every unit.
func halt(s State) *End {
	switch {
	case s.Readers > 0:
		return &End{Outcome: Reader, Reason: "a reader is back"}
	case !s.ReadyKnown:
		return &End{Outcome: Waiting, Reason: "the other instances are not known yet"}
	case s.Ready == 0:
		return &End{Outcome: Waiting, Reason: "no other instance is ready"}
	}
	return nil
}

// Within bounds the run to messages up to a position that an earlier look told.
func (p *Plan) Within(horizon uint64) { p.horizon = horizon }

// Next gives the next unit to issue, if one may be in flight beside those that are.
func (p *Plan) Next(now time.Time) (u Unit, number int, ok bool) {
	if p.end == nil && !p.deadline.IsZero() && !now.Before(p.deadline) {
		p.stop(Left, "the timeout is over")
	}
	if p.end != nil || p.done || p.bound <= 0 {
		return Unit{}, 0, false
	}
	// The first unit goes alone: it tells the horizon that bounds all others.
	if p.issued > 0 && p.answered == 0 {
		return Unit{}, 0, false
	}
	u = Unit{Max: min(p.rules.UnitSize, p.bound), After: p.cursor, Until: p.horizon, EvenIfBound: p.rules.EvenIfBound, before: p.skipped}
	p.bound -= u.Max
	p.flying++
	p.issued++
	return u, p.issued, true
}

// Answer takes the report of a unit, and of the look after it. A unit in doubt
// (unitErr) counts as not moved.
func (p *Plan) Answer(number int, u Unit, r Result, unitErr error, s State, lookErr error) {
	p.flying--
	if unitErr != nil {
		p.stop(Failed, unitErr.Error())
		return
	}
	p.moved += len(r.Moved)
	// What the unit had room for and did not find is free for the next.
	p.bound += max(u.Max-len(r.Moved)-r.Skipped.Total(), 0)
	if p.horizon == 0 {
		p.horizon = r.Horizon
	}
	if number > p.answered {
		p.answered, p.cursor, p.done = number, r.Next, !r.More
		p.skipped = u.before
		p.skipped.add(r.Skipped)
	}
	switch {
	case r.Stopped != "":
		p.stop(Left, "stopped: "+r.Stopped)
	case len(r.Moved) == 0 && r.Skipped.Total() == 0:
		p.done = true // everything left is uncommitted or expired
	}
	if lookErr != nil {
		p.stop(Failed, lookErr.Error())
	} else if end := halt(s); end != nil {
		p.stop(end.Outcome, end.Reason)
	}
}

// stop ends the run; the first reason is the one that counts, but a failure wins.
func (p *Plan) stop(o Outcome, reason string) {
	if p.end == nil || o == Failed && p.end.Outcome != Failed {
		p.end = &End{Outcome: o, Reason: reason}
	}
}

// Cancel ends the run at the end of the units in flight.
func (p *Plan) Cancel() { p.stop(Cancelled, "") }

// Over says that no unit is in flight and none will be issued.
func (p *Plan) Over(now time.Time) bool {
	if p.flying > 0 {
		return false
	}
	past := !p.deadline.IsZero() && !now.Before(p.deadline)
	return p.end != nil || p.done || p.bound <= 0 || past
}

// Finish judges the end by a last look: empty means depth and uncommitted zero.
func (p *Plan) Finish(s State, err error) End {
	if p.end != nil && p.end.Outcome == Failed {
		return *p.end
	}
	if err != nil {
		return End{Outcome: Failed, Reason: err.Error()}
	}
	if s.Depth == 0 && s.Uncommitted == 0 {
		return End{Outcome: Empty}
	}
	if p.end != nil {
		return *p.end
	}
	return End{Outcome: Left, Reason: p.leftover(s)}
}

// leftover says why messages stay.
func (p *Plan) leftover(s State) string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(p.skipped.Addressed, "addressed to this queue manager")
	add(p.skipped.Bound, "bound on open")
	add(p.skipped.Grouped, "in groups that cannot go whole")
	add(p.skipped.Poison, "backed out too often")
	add(p.skipped.Returned, "moved before and came back")
	add(s.Uncommitted, "uncommitted")
	if len(parts) == 0 {
		return fmt.Sprintf("%d came meanwhile", s.Depth)
	}
	return strings.Join(parts, ", ")
}

// Moved is the number of messages moved so far.
func (p *Plan) Moved() int { return p.moved }

// Skipped is what was left where it is so far.
func (p *Plan) Skipped() Skipped { return p.skipped }
