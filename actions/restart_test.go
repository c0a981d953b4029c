package actions

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResumeFindsTheChangeMade(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.dieAfterSet = true // from then on nothing gets out
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.end()
		w.want(attrPut, disabled)
		w.run()
		w.pass(1)
		want := []string{"put DISABLED started", "put DISABLED done"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
		w.tick(w.intent("S", closed, revert))
		w.want(attrPut, enabled)
	})
}

func TestResumeRedoesTheChangeNotMade(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.dieBeforeSet = true
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.end()
		w.want(attrPut, enabled)
		w.run()
		w.pass(1)
		want := []string{"put DISABLED started", "put DISABLED in_doubt", "put DISABLED started", "put DISABLED done"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
		if l := w.journal.all(); l[1].Attempt != 1 || l[2].Attempt != 2 {
			t.Errorf("attempts %d, %d", l[1].Attempt, l[2].Attempt)
		}
	})
}

func TestProgramInDoubtIsEndedAndRunsAgain(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.programs.takes = time.Hour
		w.tick(w.intent("S", open, script))
		w.pass(2)
		w.crash()
		w.programs.takes = 0
		w.run()
		if len(w.programs.ended) != 1 || w.programs.ended[0].PID != 4711 {
			t.Errorf("ended %v", w.programs.ended)
		}
		w.pass(1)
		want := []string{"exec /opt/fix DCQ1 started", "exec /opt/fix DCQ1 in_doubt", "exec /opt/fix DCQ1 started", "exec /opt/fix DCQ1 done"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestBlockedTellsOfTheAttemptToCome: what waits is the next attempt, not the
// one that ended; each has its own lines.
func TestBlockedTellsOfTheAttemptToCome(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.programs.takes = time.Hour
		w.tick(w.intent("S", open, script))
		w.pass(2)
		must(t, w.engine.Hold("anna", queueName, "", time.Time{}))
		w.crash()
		w.programs.takes = 0
		w.run()
		w.pass(2)
		_, err := w.engine.Release("anna", queueName)
		must(t, err)
		w.pass(2)
		var got []string
		for _, l := range w.journal.all() {
			if strings.HasPrefix(l.Action, "exec") {
				got = append(got, fmt.Sprintf("%s %d", l.Result, l.Attempt))
			}
		}
		want := []string{"started 1", "in_doubt 1", "blocked 2", "started 2", "done 2"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMovingGoesOnAfterARestart(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.mover.perSecond = 100, 10
		w.tick(w.intent("D", open, disableAll...))
		w.pass(3)
		w.crash()
		w.run()
		w.pass(10)
		if w.depth != 0 {
			t.Errorf("depth %d", w.depth)
		}
		want := []string{
			"put DISABLED started", "put DISABLED done",
			"redistribute started", "redistribute in_doubt", "redistribute started", "redistribute done",
		}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEndStopsProgramsInTime(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.programs.takes = time.Hour
		w.tick(w.intent("S", open, script))
		start := time.Now()
		w.end()
		if d := time.Since(start); d != defaultDrain {
			t.Errorf("the end took %s", d)
		}
		w.programs.takes = 0
		w.run()
		w.pass(1)
		if n := w.programs.count(); n != 2 {
			t.Errorf("%d runs", n)
		}
	})
}

func TestStateThatCannotBeStoredHoldsLowering(t *testing.T) {
	bubble(t, nil, func(_ *testing.T, w *world) {
		in := w.intent("S", open, put(disabled))
		w.store.setBad(true)
		w.tick(in)
		w.pass(3)
		w.want(attrPut, enabled)
		w.wantHeld("S", HoldJournal)
		w.store.setBad(false)
		w.pass(3)
		w.want(attrPut, disabled)
	})
}

func TestIntentsStoredBeforeACrashAreSettledAmongThemselves(t *testing.T) {
	bubble(t, func(w *world) { w.others[0].Put = false }, func(_ *testing.T, w *world) {
		w.tick(w.intent("D", open, put(disabled)))
		w.wantHeld("D", HoldLastInstance)
		// The tick with the opposite edge was committed, but never dispatched.
		w.intent("D", closed)
		w.crash()
		w.others[0].Put = true
		w.run()
		w.pass(5)
		w.want(attrPut, enabled)
		if n := w.store.left(); n != 0 {
			w.t.Errorf("%d intents left", n)
		}
	})
}

// attemptsOnce checks that the journal begins every attempt once, and ends each
// that it began.
func attemptsOnce(t *testing.T, w *world) {
	t.Helper()
	state := map[string]Result{}
	for _, e := range w.journal.all() {
		key := attemptKey(e.ID, e.Attempt)
		switch before, known := state[key]; {
		case e.Result == resultStarted && known:
			t.Errorf("%s begins again; before it was %s", key, before)
		case e.Result == resultStarted:
			state[key] = resultStarted
		case before == resultStarted:
			state[key] = e.Result
		case known && e.Result != resultSuperseded && e.Result != resultBlocked:
			t.Errorf("%s is %s, and was %s", key, e.Result, before)
		}
	}
	for key, result := range state {
		if result == resultStarted {
			t.Errorf("%s does not end", key)
		}
	}
}

func TestAMoveThatGoesOnLaterHasAttemptsOfItsOwn(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth = 10
		w.tick(w.intent("D", open, disableAll...))
		w.pass(3)
		if w.depth != 0 {
			t.Fatalf("depth %d", w.depth)
		}
		// More comes, and the daemon ends while it is moved.
		w.mu.Lock()
		w.depth, w.mover.perSecond = 100, 10
		w.mu.Unlock()
		w.pass(3)
		w.crash()
		w.run()
		w.pass(20)
		attemptsOnce(t, w)
		want := []string{
			"put DISABLED started", "put DISABLED done", "redistribute started", "redistribute done",
			"redistribute started", "redistribute in_doubt", "redistribute started", "redistribute done",
		}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

// A lowering that the guard took back is begun anew. If the daemon ends before the
// change, it was not made, whatever became of the first one.
func TestALoweringAfterAPutBackIsNotTakenForTheFirst(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.tick(w.intent("D", open, put(disabled)))
		w.pass(1)
		w.want(attrPut, disabled)
		w.others[0].Put = false
		w.pass(6)
		w.want(attrPut, enabled)
		w.others[0].Put = true
		w.gate.set(3) // save, journal; the change does not get out
		w.pass(6)
		w.end()
		w.want(attrPut, enabled)
		w.run()
		w.pass(6)
		w.want(attrPut, disabled)
		attemptsOnce(t, w)
	})
}

// Nothing is done to the queue any more, and the lowering stands, until somebody
// else raises it: then it is no lowering of ours, also if the daemon was down.
func TestLoweringEndsWhenSomebodyRaises(t *testing.T) {
	for _, down := range []bool{false, true} {
		t.Run(map[bool]string{false: "running", true: "down meanwhile"}[down], func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				lower := put(disabled)
				lower.AllowLast = true // so that no guard watches over it
				w.tick(w.intent("S", open, lower))
				w.pass(3)
				if got := w.engine.Lowered(); len(got) != 1 || w.store.left() != 0 {
					t.Fatalf("lowered %+v, %d intents left", got, w.store.left())
				}
				if down {
					w.end()
				}
				w.person(attrPut, enabled)
				if down {
					w.run()
				}
				w.pass(2)
				if got := w.engine.Lowered(); len(got) != 0 {
					t.Errorf("lowered %+v", got)
				}
				w.want(attrPut, enabled)
			})
		})
	}
}

// A look that failed before anything moved is told under the number of the attempt
// that comes next, and is not its end.
func TestEndsAreThoseOfWhatBegan(t *testing.T) {
	t.Parallel()
	j, err := OpenJournal(filepath.Join(t.TempDir(), "actions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, e := range []Entry{
		{ID: "a", Attempt: 1, Result: resultFailed}, {ID: "a", Attempt: 1, Result: resultStarted},
		{ID: "b", Attempt: 1, Result: resultStarted}, {ID: "b", Attempt: 1, Result: resultDone},
	} {
		if err := j.Append(e, false); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]Result{attemptKey("b", 1): resultDone}, j.Ends()); diff != "" {
		t.Error(diff)
	}
}
