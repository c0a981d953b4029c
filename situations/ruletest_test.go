package situations

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func runTestFile(t *testing.T, name, text string) (*TestReport, []Problem) {
	t.Helper()
	return RunTests(File{Name: name, Data: []byte(text)}, TestOptions{Read: os.ReadFile, Actor: newPlainActor})
}

func TestRuleTests_OfTheExample_Pass(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/base_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	report, problems := runTestFile(t, "testdata/base_test.yaml", string(b))
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", FormatText(problems))
	}
	checked := 0
	for _, r := range report.Tests {
		checked += r.Checked
		for _, f := range r.Failures {
			t.Error(f.String())
		}
	}
	if checked != 8 {
		t.Errorf("checked %d expectations, the file has 8", checked)
	}
}

func TestRuleTests_Failure_NamesLineAndReason(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/base_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), "actions: [put DISABLED, redistribute 100]", "actions: [put DISABLED, redistribute 99]", 1)
	report, problems := runTestFile(t, "testdata/base_test.yaml", text)
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", FormatText(problems))
	}
	var got strings.Builder
	for _, r := range report.Tests {
		for _, f := range r.Failures {
			fmt.Fprint(&got, f.String())
		}
	}
	want := `testdata/base_test.yaml:11:9: at 10m QM2/DCQ1: actions: want [put DISABLED, redistribute 99], got [put DISABLED, redistribute 100]
      = MQQueueDisable: IPPROCS == 0 (0 == 0) -> true
      = MQQueueEnable: IPPROCS > 0 (0 > 0) -> false
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// When a channel counts as gone does not depend on its name.
func TestRuleTests_ChannelGone_WhateverItsName(t *testing.T) {
	t.Parallel()
	const rules = `version: 1
situations:
  - name: Down
    watch: {channel: "*"}
    formula: STATUS == "RETRYING"
    sample: 1m
    severity: minor
`
	const tests = `rule_files: [rules.yaml]
sample: 1m
tests:
  - name: gone
    items: {%s}
    expect:
      - {at: 0m, item: %[2]s, active: [Down]}
      - {at: 1m, item: %[2]s, active: [Down]}
      - {at: 2m, item: %[2]s, active: []}
`
	for items, gone := range map[string]string{
		`QM2/CHANNEL(A.CH): {STATUS: "RETRYING - -"}`:                                                  "QM2/CHANNEL(A.CH)",
		`QM2/CHANNEL(TO.QM1): {STATUS: "RETRYING - -"}`:                                                "QM2/CHANNEL(TO.QM1)",
		`QM2/CHANNEL(A.CH): {STATUS: "RETRYING - -"}, QM2/CHANNEL(TO.QM1): {STATUS: INACTIVE}`:         "QM2/CHANNEL(A.CH)",
		`QM2/CHANNEL(A.CH): {STATUS: INACTIVE}, QM2/CHANNEL(TO.QM1): {STATUS: "RETRYING - -"}`:         "QM2/CHANNEL(TO.QM1)",
		`QM2/CHANNEL(SYSTEM.DEF.SENDER): {STATUS: INACTIVE}, QM2/CHANNEL(X): {STATUS: "RETRYING - -"}`: "QM2/CHANNEL(X)",
	} {
		report, problems := RunTests(File{Name: "gone_test.yaml", Data: fmt.Appendf(nil, tests, items, gone)}, TestOptions{
			Read: func(string) ([]byte, error) { return []byte(rules), nil }, Actor: newPlainActor,
		})
		if len(problems) > 0 {
			t.Fatalf("problems:\n%s", FormatText(problems))
		}
		for _, r := range report.Tests {
			for _, f := range r.Failures {
				t.Errorf("%s: %s", items, f.String())
			}
		}
	}
}

// Every name of a group that is not counted from other items can be set by a test.
func TestRuleTests_EveryName_IsSet(t *testing.T) {
	t.Parallel()
	for _, g := range Groups() {
		for _, a := range AttributeTable(g) {
			q := &testQueue{testItem: &testItem{series: map[string][]string{a.Name: {"7"}}}, group: g}
			v := reflect.New(reflect.TypeOf(tableOf(g).env())).Elem()
			(&world{}).fillRow(q, &Row{}, v)
			counted := a.Name == "READY_ELSEWHERE" || a.Name == "READERS_ELSEWHERE"
			if set := !v.IsZero(); set == (counted || slices.Contains(q.tracked(), a.Name)) {
				t.Errorf("%s of %s: set %v", a.Name, g.noun(), set)
			}
		}
	}
}
