package situations

import (
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

// File is the text of one rule file, as its reader found it.
type File struct {
	Name string
	Data []byte
	// Dir is the folder that programs are named from, empty for that of Name.
	Dir string
}

// RuleSet is what the rule files of a daemon say, checked and compiled. Immutable.
type RuleSet struct {
	// Situations in the order of the files; an availability stands as its two situations.
	Situations []*Situation
	Files      []string
	// Revision is a digest of the texts: equal texts have equal revisions.
	Revision string
	names    int // of all lists together, while files are read
}

// Situation is one rule, checked and compiled. Immutable.
type Situation struct {
	Name        string
	Description string
	Enabled     bool
	Watch       Watch
	Schedule    Schedule
	// Distribution says on which queue managers the situation is sampled.
	Distribution Names
	FirstItem    bool // act_on: first_item
	ActAgain     ActAgain
	Formula      *Formula
	Recovery     *Formula // nil: recovered when the formula is false
	For          Persistence
	ClearFor     Persistence
	Actions      []Action
	OnClear      []Action
	Alert        *Alert
	Until        Until
	Maintenance  []Window
	Guard        GuardLimits
	// Expect are the queues that must exist.
	Expect []string
	// MaxWait is the longest wait that is allowed, 0 if nothing is said.
	MaxWait time.Duration
	// RenamedFrom is the name whose state the situation takes over, else empty.
	RenamedFrom string
	// Availability is the name of the short form that this situation came from, else empty.
	Availability string
	File         string
	Line, Column int

	// Where it stands, for the checks across situations.
	doc         *document
	nameNode    *yaml.Node
	formulaNode *yaml.Node
	// nodes of what is checked across situations, nil where it is not said
	recoveryNode, untilNode, renamedNode *yaml.Node
	actionNodes                          []*yaml.Node
	clearNodes                           []*yaml.Node
	lever                                Lever
}

// ActAgain says whether an open situation acts more than once.
type ActAgain struct {
	EverySample bool
	After       time.Duration // 0: only after it was false
}

// Persistence is how long a condition must hold: so many samples or so long.
type Persistence struct {
	Samples  int // at least 1
	Duration time.Duration
}

// Watch selects the items of a situation.
type Watch struct {
	Group   Group // empty: queues
	Queue   Names
	Channel Names
	QMgr    Names
	Cluster Names // empty: clustered or not
}

// Alert is what a situation tells Alertmanager while it is open.
type Alert struct {
	Severity    string
	Summary     string
	Description string
	Runbook     string
	Labels      []Label // sorted by name
}

// Label is one label of an alert.
type Label struct{ Name, Value string }

// Runs reports whether the situation is sampled on this queue manager.
func (s *Situation) Runs(qmgr string) bool {
	return s.Enabled && s.Distribution.Match(qmgr)
}

// Claims is the name under which the situation's actions remember what they
// found, or empty if none of them does.
func (s *Situation) Claims() string {
	for _, list := range [2][]Action{s.Actions, s.OnClear} {
		for i := range list {
			if list[i].Claim {
				return list[i].ClaimKey(Key{Situation: s.Name}).Situation
			}
		}
	}
	return ""
}

// NeverRedistribute reports whether a rule says `redistribute: never` for this
// queue, which wins over every other rule.
func (rs *RuleSet) NeverRedistribute(qmgr string, row *Row) bool {
	for _, s := range rs.Situations {
		if !s.Runs(qmgr) {
			continue
		}
		for i := range s.Actions {
			if s.Actions[i].Never && s.Watch.Match(row) {
				return true
			}
		}
	}
	return false
}

// Watches reports whether a situation that runs on a queue manager looks at
// items of a group.
func (rs *RuleSet) Watches(qmgr string, g Group) bool {
	return slices.ContainsFunc(rs.Situations, func(s *Situation) bool { return s.Runs(qmgr) && s.Watch.group() == g })
}

// TakesAway reports whether the situation may take the instance of a queue out of
// the balancing without watching it: by suspending the queue manager, or by the
// channel that leads to it. Then the other instances have to be known, too.
func (s *Situation) TakesAway(row *Row) bool {
	if s.Watch.group() == GroupQueue || len(row.Clusters) == 0 || row.System {
		return false
	}
	for _, list := range [2][]Action{s.Actions, s.OnClear} {
		if slices.ContainsFunc(list, func(a Action) bool { return a.Verb.Attr() != "" }) {
			return true
		}
	}
	return false
}
