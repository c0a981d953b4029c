package situations

import (
	"strings"
	"time"
)

// Key names one item of one situation.
type Key struct {
	Situation string
	QMgr      string
	Queue     string // the item's name: a queue's, or see Group.Item
}

// Edge says why an intent exists.
type Edge string

// The edges, in the words of the journal.
const (
	EdgeOpen   Edge = "open"   // the situation became true
	EdgeClear  Edge = "clear"  // it became false
	EdgeRepeat Edge = "repeat" // still true, act_again says so
	EdgeRetry  Edge = "retry"
	EdgeManual Edge = "manual"
	EdgeGuard  Edge = "guard" // a lowering of ours put back by the last-instance guard
)

// Verb is what an action does.
type Verb string

// The verbs of a rule file.
const (
	VerbPut          Verb = "put"      // Value ENABLED or DISABLED
	VerbRank         Verb = "rank"     // Value 0..9
	VerbPriority     Verb = "priority" // Value 0..9
	VerbRedistribute Verb = "redistribute"
	VerbExec         Verb = "exec"    // Args
	VerbMQSC         Verb = "mqsc"    // Value: the command, unexpanded
	VerbWebhook      Verb = "webhook" // Value: the address, unexpanded
	VerbEvent        Verb = "event"   // Value: the universal message
	VerbWeight       Verb = "weight"  // Value 1..99, of a channel
	VerbStartChannel Verb = "start_channel"
	VerbStopChannel  Verb = "stop_channel" // Value: the mode, empty for QUIESCE
	VerbSuspend      Verb = "suspend"      // Clusters
	VerbResume       Verb = "resume"       // Clusters
	// VerbRevert withdraws the claims that stand under this action's ClaimKey:
	// what we changed ourselves goes back to what was found. Without a claim it
	// does nothing.
	VerbRevert Verb = "revert"
)

// Action is one item of a rule's actions, checked and compiled. Immutable.
type Action struct {
	Verb  Verb
	Value string
	Args  []string // exec: program and arguments, unexpanded
	// Claim: on_clear revert or availability gives the value back, so the value found is remembered.
	Claim bool
	// ClaimName is the name claims are kept under, empty for the situation's own; see ClaimKey.
	ClaimName string
	// All: revert gives back all that is ours on the queue, whoever claimed it.
	All       bool
	AllowLast bool
	UseQ      string // "any" or ""
	OnlyIf    *Formula
	Retry     time.Duration // 0: the verb's default
	Timeout   time.Duration // 0: the verb's default
	// redistribute only
	Never       bool
	EvenIfBound bool
	Limit       int // messages of a run, 0 for all; only a person says so
	Rate        int // messages a second, 0 for no limit
	// Clusters that suspend and resume are about; empty for all that the queue manager is in.
	Clusters []string
}

// Intent is what a confirmed edge wants done: its actions, in order. The actions
// of a clear edge may be none; the edge still ends whatever an earlier edge of
// the same key left waiting or being retried.
type Intent struct {
	ID      string // unique for ever: situation, item, epoch and number; the same after a restart
	Key     Key
	Edge    Edge
	At      time.Time // time of the sample that decided
	Actions []Action
	// Interval is the situation's sample interval: dwell and retry are counted in it.
	Interval time.Duration
	// Row is the sample that decided, for guards and substitution. Its Env is nil
	// if there was none: a situation was removed and its claims go back.
	Row Row
	// Reason says why beyond the edge, for the journal: "situation removed"; else empty.
	Reason string
	// Guard is what the situation says of its lowerings.
	Guard GuardLimits
	// By is the person who wanted it, empty for a rule.
	By string
}

// ClaimKey is the key under which this action's claim is kept: the two
// situations of an availability share one, so that what the first found is what
// is given back whichever of them acted last.
func (a *Action) ClaimKey(k Key) Key {
	if a.ClaimName != "" {
		k.Situation = a.ClaimName
	}
	return k
}

// String is the action as the journal has it, before names are replaced.
func (a *Action) String() string {
	switch a.Verb {
	case VerbExec:
		return "exec " + strings.Join(a.Args, " ")
	case VerbPut, VerbRank, VerbPriority, VerbWeight, VerbMQSC, VerbWebhook, VerbEvent:
		return string(a.Verb) + " " + a.Value
	case VerbSuspend, VerbResume, VerbStopChannel, VerbStartChannel:
		return strings.Join(strings.Fields(string(a.Verb)+" "+strings.Join(a.Clusters, " ")+" "+a.Value), " ")
	case VerbRedistribute, VerbRevert:
	}
	return string(a.Verb)
}
