package actions

import (
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// Code names what holds an action, as status shows it.
type Code string

// The codes, in the order in which they are shown.
const (
	HoldUnknown      Code = "unknown"          // no fresh sample, or one without the value
	HoldGrace        Code = "grace"            // just started or reconnected
	HoldJournal      Code = "journal"          // cannot be written
	HoldPerson       Code = "hold"             // a person said so
	HoldMaintenance  Code = "maintenance"      // a window in which the situation does not act
	HoldBudget       Code = "budget"           // enough for this minute
	HoldBreaker      Code = "breaker"          // too many items of the situation opened at once
	HoldConflict     Code = "conflict"         // two rules hold the attribute at different values
	HoldTrigger      Code = "trigger"          // a trigger queue is left alone
	HoldChannelType  Code = "channel_type"     // the channel is not one whose value would count
	HoldFlapping     Code = "flapping"         // the item changes too often
	HoldDwell        Code = "dwell"            // raised less than two intervals ago
	HoldRepository   Code = "repository stale" // no full repository can be reached
	HoldLastInstance Code = "last_instance"    // no other instance could be chosen
	HoldPeers        Code = "peers"            // another daemon goes first, or cannot be reached
)

// Hold is one reason for which an action waits. It is decided again on every fresh sample.
type Hold struct {
	Code Code
	Text string // a sentence for a person
}

// Codes lists the codes of holds.
func Codes(holds []Hold) []string {
	out := make([]string, len(holds))
	for i, h := range holds {
		out[i] = string(h.Code)
	}
	return out
}

func sentence(holds []Hold) string {
	texts := make([]string, len(holds))
	for i, h := range holds {
		texts[i] = h.Text
	}
	return strings.Join(texts, "; ")
}

// kind is what the guards make of an action.
type kind int

const (
	kindFree    kind = iota // event: nothing holds it but the journal
	kindRaising             // nothing but a person holds it
	kindNeither             // exec, redistribute
	kindLowering
)

// Facts are what one decision looks at: nothing else is asked.
type Facts struct {
	Now    time.Time
	Target Target
	// Sampled: the last sample succeeded, is not stale, and was asked for after
	// our last change to the target ended. Present: it has a row of the queue.
	Sampled, Present bool
	Row              situations.Row
	Queues           []situations.Row // all queues of the sample
	Repository       bool             // a full repository can be reached
	// GraceFrom is the latest start of daemon or queue manager, or reconnect; Grace its length, 0 for none.
	GraceFrom time.Time
	Grace     time.Duration
	// Raised is when an action of ours last raised the target, zero for never.
	Raised     time.Time
	Flapping   bool
	Clusters   []string // that the decided changes are about, none for most
	NeverMove  bool     // some rule says redistribute: never for this queue
	JournalOK  bool
	BudgetFree bool
	// Maintained: a window of the situation is open. Person: somebody holds the
	// queue. Broken: too many items of the situation opened at once.
	Maintained bool
	Person     *PersonHold
	Broken     string
	Cancelled  string // who ended the moving of messages for this intent
	V6         bool   // workload order before MQ 8
	Claims     *Claims
	Outs       *outs
}

// Grace gives the length of the start-up grace for a situation: the configured
// time, or two samples if it is sampled more often than every 5 seconds.
func Grace(configured, interval time.Duration) time.Duration {
	const often = 5 * time.Second
	if interval > 0 && interval < often && 2*interval < configured {
		return 2 * interval
	}
	return configured
}

// guard lists everything that holds an action of this kind now.
func guard(f *Facts, k kind, a *situations.Action, lever Lever, in *situations.Intent) []Hold {
	var holds []Hold
	add := func(c Code, format string, args ...any) {
		holds = append(holds, Hold{Code: c, Text: fmt.Sprintf(format, args...)})
	}
	if k == kindRaising {
		return nil
	}
	if !f.JournalOK {
		add(HoldJournal, "the journal cannot be written")
	}
	if k == kindFree {
		return holds
	}
	if in.By != "" { // a person's wish waits for no guard
		if triggered(&f.Row) {
			add(HoldTrigger, "%s is a trigger queue, which is left alone", f.Target.Queue)
		}
		return holds
	}
	if end := f.GraceFrom.Add(f.Grace); f.Grace > 0 && f.Now.Before(end) {
		add(HoldGrace, "grace of %s after a start or reconnect", f.Grace)
	}
	if !f.BudgetFree {
		add(HoldBudget, "the budget of actions a minute is used up")
	}
	if f.Broken != "" {
		add(HoldBreaker, "%s", f.Broken)
	}
	if (k == kindLowering || a.Verb == situations.VerbRedistribute) && triggered(&f.Row) {
		add(HoldTrigger, "%s is a trigger queue", f.Target.Queue)
	}
	if k == kindLowering {
		holds = append(holds, guardLowering(f, a, lever, in)...)
	}
	return holds
}

func guardLowering(f *Facts, a *situations.Action, lever Lever, in *situations.Intent) []Hold {
	var holds []Hold
	add := func(c Code, format string, args ...any) {
		holds = append(holds, Hold{Code: c, Text: fmt.Sprintf(format, args...)})
	}
	if f.Flapping {
		add(HoldFlapping, "the situation changes too often")
	}
	if dwell := in.Guard.DwellTime(in.Interval); !f.Raised.IsZero() && f.Now.Before(f.Raised.Add(dwell)) {
		add(HoldDwell, "raised at %s, less than %s ago", f.Raised.UTC().Format(time.RFC3339), dwell)
	}
	if len(f.Row.Clusters) > 0 && !f.Repository {
		add(HoldRepository, "no full repository can be reached")
	}
	return append(holds, guardLast(f, a, lever.on(f.Target), in)...)
}

// guardLast asks for another instance of everything that the lowering takes away.
func guardLast(f *Facts, a *situations.Action, lever Lever, in *situations.Intent) []Hold {
	g, _ := situations.GroupOf(f.Target.Queue)
	more := 0
	var first *Hold
	for _, row := range affected(f.Target, a, &f.Row, f.Queues, f.Clusters) {
		h := guardInstance(row, needed(a, &in.Guard, row), lever)
		switch {
		case h == nil:
		case first == nil:
			first = h
		default:
			more++
		}
	}
	if first == nil {
		return nil
	}
	if more > 0 {
		first.Text += fmt.Sprintf(", and the same is true of %d more queues", more)
	}
	if g != situations.GroupQueue {
		first.Text += "; " + string(a.Verb) + " takes all queues of " + f.Target.QMgr + " away"
	}
	return []Hold{*first}
}

// guardInstance asks for another instance of one queue.
func guardInstance(row *situations.Row, need int, lever Lever) *Hold {
	if need == 0 {
		return nil
	}
	say := func(format string, args ...any) *Hold {
		return &Hold{Code: HoldLastInstance, Text: fmt.Sprintf(format, args...)}
	}
	ready := ReadyElsewhere(*row, lever)
	switch {
	case len(row.Clusters) == 0:
		return say("%s is in no cluster, so it is the only instance", row.Queue)
	case !row.InstancesKnown:
		return say("the other instances of %s are not known yet", row.Queue)
	case ready == 0:
		return say("no other instance of %s could be chosen", row.Queue)
	case ready < need:
		return say("%d other instances of %s could be chosen, and %d must be left", ready, row.Queue, need)
	}
	return nil
}

// needed is how many other instances a lowering must leave; 0 if it may take the last.
func needed(a *situations.Action, g *situations.GuardLimits, row *situations.Row) int {
	if a.AllowLast {
		return 0
	}
	return g.Need(len(row.Instances))
}

// standing are the holds that let nothing of a situation be done at all, raising
// included: a maintenance window, and a person.
func standing(f *Facts) []Hold {
	var holds []Hold
	if f.Person != nil {
		holds = append(holds, Hold{Code: HoldPerson, Text: f.Person.Sentence()})
	}
	if f.Maintained {
		holds = append(holds, Hold{Code: HoldMaintenance, Text: "a maintenance window is open"})
	}
	return holds
}
