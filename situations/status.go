package situations

import "time"

// Status is what a runner knows, copied out for the API and the command line.
type Status struct {
	QMgr       string
	Revision   string    // of the rules in force
	Situations int       // that run here
	LoadedAt   time.Time // when these rules took effect
	SampledAt  time.Time // last good sample, zero before the first
	SampleErr  string    // why the last sample failed, empty if it did not
	// Commit is why the last tick could not be recorded, empty if it was.
	// While it cannot be recorded nothing is decided.
	CommitErr string
	Items     []ItemStatus // sorted by queue, then in the order of the rules
}

// ItemStatus is one item of one situation.
type ItemStatus struct {
	Key      Key
	Phase    Phase
	Verdict  Verdict
	Since    time.Time      // since when the verdict is what it is
	Opened   time.Time      // when the open situation opened, else zero
	Values   map[string]any // what the formula looks at; nil for a value that is unknown
	Blind    bool           // unknown for three samples or more
	Flapping bool
	Acted    bool
	// LastActed is when an edge of it was last handed out, zero for never.
	LastActed time.Time
	// Disarmed: until ended it; it opens again after its formula was false once.
	Disarmed bool
	// Suppressed are the actions that a maintenance window keeps back.
	Suppressed []Action
}

// OpenAlert is an open item of a situation with an alert, for the feed to
// Alertmanager. It is listed for as long as it is open, also while unknown.
type OpenAlert struct {
	Key         Key
	Labels      map[string]string // identity: alertname, severity, qmgr, queue or channel, cluster and the rule's own
	Annotations map[string]string // summary, description, runbook_url, with names replaced
	StartsAt    time.Time
	Verdict     Verdict
	Blind       bool
	Flapping    bool
}

// FlappingItem is an item whose condition changes too often.
type FlappingItem struct {
	Key   Key
	Since time.Time
}

// BlindItem is something that could not be judged for three samples or more.
// When the queue manager as a whole does not answer there is one, without
// situation and queue.
type BlindItem struct {
	Key   Key
	Since time.Time
}
