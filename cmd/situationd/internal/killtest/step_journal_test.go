package killtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
)

// expectation is how the journal has to end an attempt that was under way at a death.
type expectation struct {
	attempt string
	result  actions.Result
	why     string
}

func attemptOf(l *actions.Entry) string { return fmt.Sprintf("%s attempt %d", l.ID, l.Attempt) }

// openOf are the attempts that started and have no end, with their first line.
func openOf(lines []actions.Entry) map[string]actions.Entry {
	open := map[string]actions.Entry{}
	for _, l := range lines {
		switch l.Result {
		case "started":
			open[attemptOf(&l)] = l
		case "done", "failed", "in_doubt", "superseded":
			delete(open, attemptOf(&l))
		}
	}
	return open
}

// expect looks at what a killed daemon left: a change that was made is done, and
// whatever else was under way is in doubt.
func (a *act) expect(t *testing.T) {
	t.Helper()
	for attempt, l := range openOf(a.journal(t)) {
		e := expectation{attempt, "in_doubt", "it was under way"}
		if l.After != nil {
			// The first word is the attribute of the lever.
			after, _, _ := strings.Cut(*l.After, " ")
			got, err := a.value(t)
			if err != nil {
				t.Fatal(err)
			}
			if e.why = "the change was not made"; got == after {
				e.result, e.why = "done", "the change was made"
			}
		}
		a.expects = append(a.expects, e)
	}
}

// told checks the journal of the whole act, and what others were told.
func (a *act) told(t *testing.T) {
	t.Helper()
	proctest.WaitFor(t, "nothing lowered", func() (bool, error) {
		a.revive(t) // it may have been about to store what it had done
		out := proctest.Do(t, program.Command(t, a.qm2.Data, "situationd", "lowered", "--qmgr", "QM2"), "")
		if !strings.Contains(out.Stdout, "nothing is lowered") {
			return false, fmt.Errorf("%s%s", out.Stdout, out.Stderr)
		}
		return true, nil
	})
	lines := a.journal(t)
	ends, starts, done := map[string][]actions.Result{}, map[string]int{}, map[string]int{}
	for i := range lines {
		l := &lines[i]
		switch l.Result {
		case "started":
			starts[attemptOf(l)]++
		case "done", "failed", "in_doubt", "superseded":
			ends[attemptOf(l)] = append(ends[attemptOf(l)], l.Result)
		}
		if l.Result == "done" {
			done[l.ID]++
		}
		if l.Result == "failed" {
			t.Errorf("failed: %s: %s", l.Action, l.Reason)
		}
	}
	for attempt, n := range starts {
		if n != 1 || len(ends[attempt]) != 1 {
			t.Errorf("%s started %d times and ended with %v", attempt, n, ends[attempt])
		}
	}
	for id, n := range done {
		// One that moves messages looks again whether there are more.
		if n != 1 && !a.moves {
			t.Errorf("%s was done %d times", id, n)
		}
	}
	for _, e := range a.expects {
		if got := ends[e.attempt]; len(got) != 1 || got[0] != e.result {
			t.Errorf("%s ended with %v, want %s: %s", e.attempt, got, e.result, e.why)
		}
	}
	a.toldOthers(t, starts)
	if t.Failed() {
		for _, l := range lines {
			t.Log(l.Time.Format("05.000"), l.ID, l.Attempt, l.Edge, l.Action, l.Result, l.Reason)
		}
	}
}

// toldOthers checks that no program and no webhook ran more often than the
// journal says, and no two programs at once.
func (a *act) toldOthers(t *testing.T, starts map[string]int) {
	t.Helper()
	attempts := map[string]int{}
	for attempt := range starts {
		id, _, _ := strings.Cut(attempt, " ")
		attempts[id]++
	}
	a.mu.Lock()
	for id, n := range a.hooks {
		if n > attempts[id] {
			t.Errorf("webhook %s was called %d times in %d attempts", id, n, attempts[id])
		}
	}
	clear(a.hooks)
	a.mu.Unlock()
	ran, err := os.ReadFile(filepath.Join(a.dir, "ran"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if strings.Contains(string(ran), "overlap") {
		t.Error("a program began while the one of the attempt before was still at work")
	}
	if n := strings.Count(string(ran), "begun"); n > len(starts) {
		t.Errorf("%d programs ran in %d attempts", n, len(starts))
	}
}

// The daemon is killed at each thing it does to the world, one by one: each
// transaction of its state, each line of its journal, each command, unit of work,
// program and post. After its restart the queue is as the rule says, every
// message is there once, and the journal tells how the attempt that was under way
// ended. The short form takes one point of each way to write the rule.
func TestKill_DaemonAtEveryStep(t *testing.T) {
	t.Parallel()
	r := chance(t)
	counts := make(chan map[string]int, len(ways))
	t.Run("ways", func(t *testing.T) {
		for _, w := range ways {
			first, most := 1, 1
			if *rounds > 0 {
				most = 1000
			} else {
				first = 1 + r.IntN(12)
			}
			seed := r.Uint64()
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				counts <- everyStep(t, newStage(t, w), first, most, seed)
			})
		}
	})
	close(counts)
	all, played := map[string]int{}, 0
	for c := range counts {
		played++
		for kind, n := range c {
			all[kind] += n
		}
	}
	if played == 0 {
		t.Skip("no way was played")
	}
	t.Logf("killed at %v", all)
	for _, kind := range []string{pointState, pointJournal, pointCommand, pointMove, pointProgram, pointPost, "again"} {
		if *rounds > 0 && all[kind] == 0 {
			t.Errorf("no kill at a point of the kind %s", kind)
		}
	}
}

// everyStep plays until no point is left at which the daemon was not killed. In
// the long form every third one is killed once more after its restart.
func everyStep(t *testing.T, s *stage, first, most int, seed uint64) map[string]int {
	counts := map[string]int{}
	for n := first; n < first+most && !t.Failed(); n++ {
		second := 0
		if most > 1 && n%3 == 0 {
			second = 1 + int((seed+uint64(n)*7)%11)
		}
		struck := s.play(t, n, second)
		if len(struck) == 0 {
			t.Logf("no point %d", n)
			break
		}
		for i, p := range struck {
			counts[p.kind]++
			if i > 0 {
				counts["again"]++
			}
		}
		t.Logf("killed at point %d, before %v", n, struck)
	}
	return counts
}
