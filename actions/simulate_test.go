package actions

import (
	"testing"
	"time"

	"github.com/situationd/situationd/situations"
)

// A rule test must not show an action as done that the daemon would hold: after
// seven changes in a row lowering waits until two are left in the window.
func TestSimulatorHoldsLoweringWhileFlapping(t *testing.T) {
	t.Parallel()
	const rules = `version: 1
situations:
  - name: idle
    sample: 1m
    watch: {queue: DCQ1, cluster: C1}
    formula: IPPROCS == 0
    actions: [{put: DISABLED, allow_last: true}]
    on_clear: revert
`
	const tests = `rule_files: [rules.yaml]
sample: 1m
tests:
  - name: a reader that comes and goes
    items:
      QM2/DCQ1: {IPPROCS: 1 0 1 0 1 0 1 0x23}
    expect:
      - {at: 1m, item: QM2/DCQ1, actions: [put DISABLED]}
      - {at: 10m, item: QM2/DCQ1, active: [idle], actions: [], skipped: [put DISABLED (the situation changes too often)]}
      - {at: 25m, item: QM2/DCQ1, actions: [], skipped: [put DISABLED (the situation changes too often)]}
      - {at: 26m, item: QM2/DCQ1, actions: [put DISABLED], skipped: []}
`
	report, problems := situations.RunTests(situations.File{Name: "t.yaml", Data: []byte(tests)}, situations.TestOptions{
		Read: func(string) ([]byte, error) { return []byte(rules), nil },
		Actor: func(qmgr string, grace time.Duration) situations.Actor {
			s, err := NewSimulator(qmgr, grace, func(*situations.Row, Order) Moved { return Moved{Outcome: MoveEmpty} })
			must(t, err)
			return s
		},
	})
	if situations.HasErrors(problems) || report == nil || len(report.Tests) != 1 || report.Tests[0].Checked != 4 {
		t.Fatalf("got %+v\n%s", report, situations.FormatText(problems))
	}
	for _, f := range report.Tests[0].Failures {
		t.Error(f.String())
	}
}
