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
	// Rate is how many messages a second may move at most; 0 for no limit.
	Rate int
	// Limit is how many messages the run may move; 0 for all that were there.
	Limit int
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
	// Early: with Left, the run ended before it had looked at all that was there.
	Early bool
}

// Plan decides about one run: what may start, when the next unit goes, when it
// ends. It holds no clock and does nothing itself.
type Plan struct {
	rules    Rules
	deadline time.Time // zero for none

	pace     pace
	group    int // messages that the longest group may have
	bound    int // messages that may still be asked for
	flying   int // units asked for and not answered
	moved    int
	skipped  Skipped
	issued   int // number of the last unit issued
	answered int // number of the furthest unit answered: units may be answered in any order
	cursor   Cursor
	horizon  uint64
	done     bool // the furthest unit found nothing after it
	doubt    bool // a unit's answer was lost
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
	p := &Plan{rules: rules, bound: s.Depth, horizon: s.Horizon, group: min(s.Depth, longestUnit), pace: newPace(rules.Rate, rules.UnitSize, now)}
	if rules.Limit > 0 {
		p.bound = min(p.bound, rules.Limit)
	}
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

// Horizon is the position behind which nothing moves; 0 until it is known.
func (p *Plan) Horizon() uint64 { return p.horizon }

// Within bounds the run to messages up to a position, if the first look did not.
func (p *Plan) Within(horizon uint64) {
	if p.horizon == 0 {
		p.horizon = horizon
	}
}

// Next gives the next unit to issue, if one may be in flight beside those that are.
func (p *Plan) Next(now time.Time) (u Unit, number int, ok bool) {
	if p.end == nil && !p.deadline.IsZero() && !now.Before(p.deadline) {
		p.early("the timeout is over")
	}
	if p.end != nil || p.done || p.bound <= 0 {
		return Unit{}, 0, false
	}
	// The first unit goes alone: it tells the horizon, where the look did not, and
	// how much must stay at the head of the queue.
	if p.issued > 0 && p.answered == 0 || p.flying > 0 && p.alone() || now.Before(p.pace.next) {
		return Unit{}, 0, false
	}
	u = Unit{
		Max: min(p.pace.unit, p.bound), Group: p.longestGroup(), After: p.cursor, Until: p.horizon,
		EvenIfBound: p.rules.EvenIfBound, before: p.skipped,
	}
	p.bound -= u.Max
	p.flying++
	p.issued++
	return u, p.issued, true
}

// alone says that units go one after the other. A limit asks for it too: a unit
// may take a group that is longer than what was set aside for it.
func (p *Plan) alone() bool { return p.pace.slows() || p.rules.Limit > 0 }

// longestGroup is how many messages a group may have that goes with the next unit.
func (p *Plan) longestGroup() int {
	if p.rules.Limit > 0 {
		return min(p.group, p.bound)
	}
	return p.group
}

// Answer takes the report of a unit, and of the look after it. A unit in doubt
// (unitErr) counts as not moved.
func (p *Plan) Answer(now time.Time, number int, u Unit, r Result, unitErr error, s State, lookErr error) {
	p.flying--
	p.pace.spend(now, len(r.Moved))
	if unitErr != nil {
		p.doubt = true
		p.stop(Failed, unitErr.Error())
		return
	}
	p.moved += len(r.Moved)
	// What the unit had room for and did not find is free for the next; a long
	// group took more than there was room for.
	p.bound += u.Max - len(r.Moved)
	p.Within(r.Horizon)
	if number > p.answered {
		p.answered, p.cursor, p.done = number, r.Next, !r.More
		p.skipped = u.before
		p.skipped.add(r.Skipped)
	}
	switch {
	case r.Stopped != "":
		p.early("stopped: " + r.Stopped)
	case len(r.Moved) == 0 && r.Next == u.After:
		p.done = true // it got nowhere, and neither will the next
	}
	p.Saw(s, lookErr)
}

// Saw takes a look at the queue.
func (p *Plan) Saw(s State, err error) {
	if err != nil {
		p.stop(Failed, err.Error())
	} else if end := halt(s); end != nil {
		p.stop(end.Outcome, end.Reason)
	}
}

// Wait is how long nothing is to be issued because the rate is used up, or less
// if the run's time is over by then; 0 if that is not what it waits for.
func (p *Plan) Wait(now time.Time) time.Duration {
	if p.flying > 0 || p.Over(now) || !now.Before(p.pace.next) {
		return 0
	}
	until := p.pace.next
	if !p.deadline.IsZero() && p.deadline.Before(until) {
		until = p.deadline
	}
	return until.Sub(now)
}

// stop ends the run; the first reason is the one that counts, but a failure wins.
func (p *Plan) stop(o Outcome, reason string) {
	if p.end == nil || o == Failed && p.end.Outcome != Failed {
		p.end = &End{Outcome: o, Reason: reason}
	}
}

// early ends the run with messages left that it has not looked at.
func (p *Plan) early(reason string) {
	if p.end == nil {
		p.end = &End{Outcome: Left, Reason: reason, Early: true}
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
	if p.rules.Limit > 0 && p.moved >= p.rules.Limit {
		return End{Outcome: Left, Reason: fmt.Sprintf("the limit of %d messages is reached", p.rules.Limit)}
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
	add(s.Depth-p.skipped.Total()-s.Uncommitted, "came meanwhile")
	if len(parts) == 0 {
		return fmt.Sprintf("%d that were looked at are not there any more", p.skipped.Total())
	}
	return strings.Join(parts, ", ")
}

// Moved is the number of messages moved so far.
func (p *Plan) Moved() int { return p.moved }

// Doubt says that it is not known of a unit whether it moved.
func (p *Plan) Doubt() bool { return p.doubt }

// Skipped is what was left where it is so far.
func (p *Plan) Skipped() Skipped { return p.skipped }
