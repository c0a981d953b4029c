package situations

import (
	"fmt"
	"strings"
	"time"
)

// Actor decides what one queue manager's daemon would do with intents, without
// doing it. The command wires the actions' own decisions in; a rule test has one
// Actor for each queue manager.
type Actor interface {
	// Simulate gets one sample and the intents it led to, and answers with what
	// was done about them and about intents held back earlier. It is called for
	// every column, also without intents. What it says was done, the next
	// sample shows.
	Simulate(now time.Time, obs *Observation, intents []Intent, items ActorItems) []ActionOutcome
}

// ActorItems is what an Actor asks of the items.
type ActorItems interface {
	// Flapping: the item changes too often now.
	Flapping(Key) bool
	// Maintained: a maintenance window is open in which it does not act.
	Maintained(Key) bool
}

// tickItems are the items of a book at one time.
type tickItems struct {
	book *book
	now  time.Time
}

// Flapping asks the item.
func (t tickItems) Flapping(k Key) bool { return t.book.flapping(k) }

// Maintained asks the windows of its situation.
func (t tickItems) Maintained(k Key) bool { return t.book.maintained(k, t.now) }

// ActionOutcome is the answer to one action.
type ActionOutcome struct {
	Key  Key
	Edge Edge
	// Action is its text as in the journal: "put DISABLED", "redistribute", "exec /opt/x".
	Action string
	// Verb and Value are what was set, for put, rank and priority; a revert
	// tells what it set.
	Verb  Verb
	Value string
	// Result is the journal's word: done, no_change, blocked, failed, would, superseded.
	Result string
	Reason string
	Moved  int // messages a redistribution would move
}

// String is the outcome as an expectation of a test spells it.
func (o *ActionOutcome) String() string {
	switch {
	case o.Verb == VerbRedistribute && o.Moved > 0:
		return fmt.Sprintf("redistribute %d", o.Moved)
	case (o.Verb.Attr() == AttrStatus || o.Verb.Attr() == AttrSuspend) && o.happened():
		if strings.HasPrefix(o.Action, string(o.Verb)) {
			return o.Action
		}
		return string(o.Verb)
	case o.Verb.Attr() != "" && o.happened(): // a revert reads as what it set
		return fmt.Sprintf("%s %s", o.Verb, o.Value)
	}
	return o.Action
}

func (o *ActionOutcome) happened() bool { return o.Result == "done" || o.Result == "would" }

// skipped: neither done nor unnecessary.
func (o *ActionOutcome) skipped() bool {
	return o.Result == "blocked" || o.Result == "failed"
}

// TestReport is what came of a rule-test file.
type TestReport struct {
	File  string       `json:"file"`
	Tests []TestResult `json:"tests"`
}

// TestResult is one test.
type TestResult struct {
	Name     string        `json:"name"`
	Line     int           `json:"line"`
	Checked  int           `json:"checked"` // expectations
	Failures []TestFailure `json:"failures"`
}

// TestFailure is an expectation that did not hold.
type TestFailure struct {
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	At      string   `json:"at"`
	Item    string   `json:"item"`
	Message string   `json:"message"`
	Because []string `json:"because"` // the parts of formulas that decided
}

// Passed reports whether every expectation held.
func (r *TestReport) Passed() bool {
	for i := range r.Tests {
		if len(r.Tests[i].Failures) > 0 {
			return false
		}
	}
	return true
}

// String is the failure as a person reads it.
func (f *TestFailure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: at %s", f.File, f.Line, f.Column, f.At)
	if f.Item != "" {
		fmt.Fprintf(&b, " %s", f.Item)
	}
	fmt.Fprintf(&b, ": %s\n", f.Message)
	for _, line := range f.Because {
		fmt.Fprintf(&b, "      = %s\n", line)
	}
	return b.String()
}

// TestOptions of RunTests.
type TestOptions struct {
	// Read gives the text of a rule file that the tests name.
	Read func(name string) ([]byte, error)
	// Actor makes the actor of one queue manager for one test.
	Actor func(qmgr string, grace time.Duration) Actor
}

// RunTests runs a rule-test file with the daemon's own machine on a clock of its
// own. The report is nil if the problems kept it from running.
func RunTests(f File, opts TestOptions) (*TestReport, []Problem) {
	d := newDocument(f)
	l := testLoader{document: d, opts: opts}
	if d.readYAML(f.Data) {
		l.file()
	}
	problems := append(l.ruleProblems, d.done()...)
	if HasErrors(problems) {
		return nil, problems
	}
	report := &TestReport{File: f.Name, Tests: []TestResult{}}
	for i := range l.tests {
		report.Tests = append(report.Tests, runTest(&l, &l.tests[i]))
	}
	return report, problems
}
