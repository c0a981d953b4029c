package enginetest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The scenarios play on the simulator here and on real processes in
// cmd/situationd/internal/killtest.
func TestScenarios_OnTheSimulator(t *testing.T) {
	t.Parallel()
	for _, file := range Scenarios(t, filepath.Join("testdata", "scenario")) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				Play(t, file, NewSimDriver(t, seed))
			}
		})
	}
}

// A line that means nothing, or whose expectation does not hold, is an error: it
// never passes silently.
func TestScenarios_WrongLines_Fail(t *testing.T) {
	t.Parallel()
	d := NewSimDriver(t, 1)
	d.Define("QM1", "DEFINE QLOCAL(Q)")
	p := player{d: impatient{d}, archive: &txtar.Archive{}}
	for _, line := range []string{
		"dance QM1", "! kill QM1", "kill", "cut QM1 QM2", "member QM2",
		"put QM1", "put QM1 Q a bind=sideways", "put QM1 NONE a", "! put QM1 Q a 2085", "! put QM1 Q a notanumber",
		"get QM1 Q", "get QM1 Q b", "gather Q QM1 x", "gather Q QM1 x n=2", "depth QM1 Q", "depth QM1 Q 7",
		"mqsc QM1 DELETE QLOCAL(NONE)", "! mqsc QM1 DEFINE QLOCAL(NEW)",
		"show QM1 PUT=ENABLED", "show QM1 PUT=DISABLED DISPLAY QLOCAL(Q) PUT", "! show QM1 PUT=ENABLED DISPLAY QLOCAL(Q) PUT", "count QM1 3 DISPLAY QLOCAL(Q)",
	} {
		if err := p.step(line); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}

// impatient never waits.
type impatient struct{ Driver }

func (impatient) Until(condition func() bool) bool { return condition() }
