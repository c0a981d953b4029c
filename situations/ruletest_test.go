package situations

import (
	"fmt"
	"os"
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
