package situations

import "time"

// Actor decides what one queue manager's daemon would do with intents, without
// doing it. The command wires the actions' own decisions in; a rule test has
// one Actor for each queue manager.
type Actor interface {
	// Simulate gets one sample and the intents it led to, and answers with what
	// was done about them and about intents held back earlier.
	Simulate(now time.Time, obs *Observation, intents []Intent) []ActionOutcome
}

// ActionOutcome is the answer to one action.
type ActionOutcome struct {
	Key  Key
	Edge Edge
	// Action is its text as in the journal: "put DISABLED", "redistribute", "exec /opt/x".
	Action string
	Verb   Verb
	Value  string // what was set, for put, rank and priority
	// Result is the journal's word: done, no_change, blocked, failed, would, superseded.
	Result string
	Reason string
	Moved  int // messages a redistribution would move
}
