package actions

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/situationd/situationd/situations"
)

// move asks for a run by hand and fails the test if that is not taken.
func (w *world) move(r MoveRequest) MoveRun {
	w.t.Helper()
	r.Queue = queueName
	if r.By == "" {
		r.By = "anna"
	}
	run, err := w.engine.Redistribute(r)
	must(w.t, err)
	synctest.Wait()
	return run
}

// midway asks for a run over so many messages, and stops when some have moved.
func (w *world) midway(depth, perSecond int) MoveRun {
	w.t.Helper()
	w.depth, w.mover.perSecond = depth, perSecond
	w.tick()
	run := w.move(MoveRequest{})
	w.tick()
	w.sleep(1500 * time.Millisecond)
	if w.depth == 0 || w.depth == depth {
		w.t.Fatalf("%d of %d are left", w.depth, depth)
	}
	return run
}

func (w *world) runOf(id string) MoveRun {
	w.t.Helper()
	run, _, err := w.engine.MoveRun(id)
	must(w.t, err)
	return run
}

func TestByHandMovesOnceAndIsOver(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth = 40
		w.tick()
		run := w.move(MoveRequest{EvenIfBound: true, Rate: 7, Limit: 50, Timeout: time.Minute})
		if got := w.runOf(run.ID); got.State != RunWaiting || got.Over {
			t.Errorf("before a sample: %+v", got)
		}
		w.tick()
		got := w.runOf(run.ID)
		if !got.Over || got.State != string(MoveEmpty) || got.Report.Moved != 40 {
			t.Errorf("%+v", got)
		}
		want := []Order{{
			Queue: queueName, Base: queueName, Type: "QLOCAL", Lever: LeverOf([]situations.Action{moving}, false),
			EvenIfBound: true, Rate: 7, Limit: 50, Timeout: time.Minute,
		}}
		if diff := cmp.Diff(want, w.mover.orders); diff != "" {
			t.Error(diff)
		}
		w.depth = 10
		w.pass(5)
		if w.mover.runs != 1 || w.store.left() != 0 {
			t.Errorf("%d runs, %d intents left", w.mover.runs, w.store.left())
		}
		lines := w.journal.all()
		if diff := cmp.Diff([]string{"redistribute started", "redistribute done"}, w.results()); diff != "" {
			t.Fatal(diff)
		}
		if l := lines[1]; l.Edge != situations.EdgeManual || l.By != "anna" || l.Moved != 40 || l.Situation != "" {
			t.Errorf("line %+v", l)
		}
	})
}

func TestByHandIsRefusedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*world)
		want    error
	}{
		"held":     {func(w *world) { must(w.t, w.engine.Hold("bert", "DCQ*", "patching", time.Time{})) }, ErrHeld},
		"never":    {func(w *world) { w.items.set(func(f *fakeItems) { f.never = true }) }, ErrNever},
		"two":      {func(w *world) { w.mover.perSecond = 1; w.move(MoveRequest{By: "bert"}) }, ErrMoving},
		"the rule": {func(w *world) { w.mover.perSecond = 1; w.tick(w.intent("D", open, disableAll...)); w.pass(3) }, ErrMoving},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				w.depth = 40
				w.tick()
				c.prepare(w)
				runs := w.mover.runs
				if _, err := w.engine.Redistribute(MoveRequest{By: "anna", Queue: queueName}); !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				if w.mover.runs != runs {
					t.Error("messages moved")
				}
			})
		})
	}
}

// What was not known when a person asked is decided on the sample that the run begins with.
func TestByHandIsRefusedOnTheSample(t *testing.T) {
	for name, prepare := range map[string]func(*world){
		"never":       func(w *world) { w.items.set(func(f *fakeItems) { f.never = true }) },
		"held":        func(w *world) { must(w.t, w.engine.Hold("bert", queueName, "", time.Time{})) },
		"trigger":     func(w *world) { w.trigger = true },
		"gone":        func(w *world) { w.gone = true },
		"no instance": func(w *world) { w.others[0].Put = false },
		"no sample":   func(w *world) { w.sampleOK = false },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				w.depth = 40
				w.tick()
				run := w.move(MoveRequest{})
				prepare(w)
				w.tick()
				got := w.runOf(run.ID)
				if !got.Over || got.Report.Moved != 0 || got.Report.Reason == "" || got.Report.Start != got.Report.Remaining {
					t.Errorf("%+v", got)
				}
				if w.depth != 40 {
					t.Errorf("depth %d", w.depth)
				}
				w.pass(3)
				if n := w.store.left(); n != 0 {
					t.Errorf("%d intents left", n)
				}
				if r := w.results(); len(r) == 0 || slices.Contains(r, "redistribute done") {
					t.Errorf("journal %q", r)
				}
			})
		})
	}
}

func TestCancelEndsARunByHand(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		run := w.midway(40, 10)
		who, err := w.engine.CancelMove("bert", queueName)
		if err != nil || !slices.Equal(who, []string{"anna"}) {
			t.Errorf("%v, %v", who, err)
		}
		w.pass(2)
		got := w.runOf(run.ID)
		if !got.Over || got.State != string(MoveCancelled) || got.Report.Reason != "cancelled by bert, at the end of a unit of work" {
			t.Errorf("%+v", got)
		}
		if got.Report.Moved == 0 || got.Report.Moved+w.depth != 40 {
			t.Errorf("%d moved, %d left", got.Report.Moved, w.depth)
		}
		// The run may end before the line that says who ended it is written.
		want := []string{"cancel redistribute done", "redistribute done", "redistribute started"}
		lines := w.results()
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(lines))); diff != "" || lines[0] != "redistribute started" {
			t.Error(lines, diff)
		}
		if _, err := w.engine.CancelMove("bert", queueName); !errors.Is(err, ErrNothingMoves) {
			t.Errorf("a second time: %v", err)
		}
	})
}

// A run that was cancelled before it began never does.
func TestCancelEndsARunThatWaits(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth = 40
		w.tick()
		run := w.move(MoveRequest{})
		if _, err := w.engine.CancelMove("bert", queueName); err != nil {
			t.Fatal(err)
		}
		w.pass(3)
		got := w.runOf(run.ID)
		if !got.Over || got.State != string(MoveCancelled) || got.Report.Reason != "cancelled by bert" {
			t.Errorf("%+v", got)
		}
		if w.mover.runs != 0 || w.depth != 40 || w.store.left() != 0 {
			t.Errorf("%d runs, depth %d, %d intents left", w.mover.runs, w.depth, w.store.left())
		}
	})
}

// Who waits for a run that waits for a program is told at once that it is cancelled.
func TestCancelIsToldWhileAProgramRuns(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.programs.takes = 40, 3*time.Second
		w.tick(w.intent("S", open, script))
		w.pass(1)
		run := w.move(MoveRequest{})
		if _, err := w.engine.CancelMove("bert", queueName); err != nil {
			t.Fatal(err)
		}
		if got := w.runOf(run.ID); !got.Over || got.State != string(MoveCancelled) || got.Report.Reason != "cancelled by bert" {
			t.Errorf("%+v", got)
		}
		if _, err := w.engine.CancelMove("bert", queueName); !errors.Is(err, ErrNothingMoves) {
			t.Errorf("a second time: %v", err)
		}
		w.pass(5)
		if w.mover.runs != 0 || w.store.left() != 0 {
			t.Errorf("%d runs, %d intents left", w.mover.runs, w.store.left())
		}
	})
}

// A rule whose moving was cancelled moves nothing until its next edge, also over
// a restart; what else it did stands.
func TestCancelledRuleMovesAgainAtItsNextEdge(t *testing.T) {
	for name, when := range map[string]func(w *world){
		"while it moves": func(w *world) {
			w.mover.perSecond = 10
			w.tick(w.intent("D", open, disableAll...))
			w.pass(4)
		},
		"while it watches": func(w *world) {
			w.mover.stays = 5
			w.tick(w.intent("D", open, disableAll...))
			w.pass(4)
		},
		"while it waits": func(w *world) {
			w.others = append(w.others, w.others[0])
			w.tick(w.intent("D", open, disableAll...))
			must(w.t, w.engine.Hold("bert", queueName, "", time.Time{}))
			w.pass(4)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				w.depth = 400
				when(w)
				who, err := w.engine.CancelMove("bert", queueName)
				if err != nil || !slices.Equal(who, []string{"situation D"}) {
					t.Fatalf("%v, %v", who, err)
				}
				_, _ = w.engine.Release("bert", queueName)
				w.pass(2)
				runs := w.mover.runs
				w.mover.stays, w.mover.perSecond = 0, 0
				w.pass(3)
				w.end()
				w.run()
				w.pass(12)
				w.want(attrPut, disabled)
				if w.mover.runs != runs || w.depth == 0 {
					t.Fatalf("%d runs more, depth %d", w.mover.runs-runs, w.depth)
				}
				w.tick(w.intent("D", closed, put(enabled)))
				w.pass(3)
				w.tick(w.intent("D", open, disableAll...))
				w.pass(5)
				if w.depth != 0 {
					t.Errorf("depth %d after the next edge", w.depth)
				}
			})
		})
	}
}

// A person's run is not taken up after a crash: the journal says that it is in
// doubt, and whoever wants the rest moved says so again.
func TestByHandDoesNotOutliveTheDaemon(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.midway(100, 10)
		w.crash()
		runs := w.mover.runs
		w.run()
		w.pass(5)
		if diff := cmp.Diff([]string{"redistribute started", "redistribute in_doubt"}, w.results()); diff != "" {
			t.Error(diff)
		}
		if w.mover.runs != runs || w.store.left() != 0 {
			t.Errorf("%d runs more, %d intents left", w.mover.runs-runs, w.store.left())
		}
		w.move(MoveRequest{})
		w.pass(12)
		if w.depth != 0 {
			t.Errorf("depth %d", w.depth)
		}
	})
}

func TestByHandThatNeverBeganIsForgotten(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth = 100
		w.tick()
		w.move(MoveRequest{})
		w.crash()
		w.run()
		w.pass(5)
		if w.mover.runs != 0 || w.store.left() != 0 {
			t.Errorf("%d runs, %d intents left", w.mover.runs, w.store.left())
		}
		if diff := cmp.Diff([]string{"redistribute superseded"}, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

// A rule that puts the instance back does not wait until a person's run is through.
func TestRaisingEndsARunByHand(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrPut] = disabled }, func(t *testing.T, w *world) {
		w.depth, w.mover.perSecond = 1000, 1
		w.tick()
		run := w.move(MoveRequest{})
		w.tick()
		w.pass(3)
		w.tick(w.intent("E", open, put(enabled)))
		w.pass(3)
		w.want(attrPut, enabled)
		if got := w.runOf(run.ID); !got.Over || got.Report.Moved == 0 || got.Report.Reason != "E puts the instance back into the balancing" {
			t.Errorf("%+v", got)
		}
	})
}

// One thing at a time is done to a queue; whoever waits is told for what.
func TestByHandWaitsForWhatIsUnderWay(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.programs.takes = 40, 10*time.Second
		w.tick(w.intent("S", open, script))
		w.pass(2)
		run := w.move(MoveRequest{})
		w.pass(2)
		if got := w.runOf(run.ID); got.State != RunWaiting || got.Why != "the end of exec of situation S" || w.mover.runs != 0 {
			t.Errorf("%+v, %d runs", got, w.mover.runs)
		}
		w.pass(12)
		if got := w.runOf(run.ID); got.Report.Moved != 40 {
			t.Errorf("%+v", got)
		}
	})
}

// A hold ends what a person had begun to move, and tells him whose it is.
func TestHoldEndsARunByHand(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		run := w.midway(1000, 1)
		must(w.t, w.engine.Hold("bert", queueName, "patching", time.Time{}))
		w.pass(3)
		got := w.runOf(run.ID)
		if !got.Over || got.State != string(MoveCancelled) || !strings.HasPrefix(got.Report.Reason, "held by bert") || got.Report.Moved == 0 {
			t.Errorf("%+v", got)
		}
		if n := w.store.left(); n != 0 {
			t.Errorf("%d intents left", n)
		}
	})
}

// The end of the daemon ends a run at its unit of work, and says so.
func TestEndOfTheDaemonEndsARunByHand(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		run := w.midway(1000, 1)
		w.end()
		if got := w.runOf(run.ID); !got.Over || got.Report.Reason != "the daemon ends" {
			t.Errorf("%+v", got)
		}
		w.run()
		if n := w.store.left(); n != 0 {
			t.Errorf("%d intents left", n)
		}
	})
}

// What has not begun when the daemon ends is ended too, and nothing is taken on
// any more: not while it ends, and not after.
func TestEndOfTheDaemonEndsWhatWaits(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.programs.takes = 40, 3*time.Second
		w.tick(w.intent("S", open, script))
		w.pass(1)
		run := w.move(MoveRequest{}) // waits for the program
		ending := make(chan struct{})
		go func() { w.end(); close(ending) }()
		synctest.Wait()
		if _, err := w.engine.Redistribute(MoveRequest{By: "bert", Queue: "OTHER"}); !errors.Is(err, ErrEnding) {
			t.Errorf("a run while the daemon ends: %v", err)
		}
		if _, err := w.engine.Revert(t.Context(), "bert", ""); !errors.Is(err, ErrEnding) {
			t.Errorf("revert while the daemon ends: %v", err)
		}
		for _, when := range []string{"while the program is waited for", "after the end"} {
			if got := w.runOf(run.ID); !got.Over || got.Report.Reason != "the daemon ends" || w.mover.runs != 0 {
				t.Errorf("%s: %+v, %d runs", when, got, w.mover.runs)
			}
			<-ending
		}
		if err := w.engine.MayMove("OTHER"); !errors.Is(err, ErrEnding) {
			t.Errorf("after the end: %v", err)
		}
		w.run()
		if n := w.store.left(); n != 0 {
			t.Errorf("%d intents left", n)
		}
	})
}

// A run that is asked for before the engine has come up is not taken for one that
// an earlier process left.
func TestByHandBeforeTheEngineRuns(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.end()
		w.depth = 40
		w.make()
		run := w.move(MoveRequest{})
		w.start()
		w.pass(2)
		if got := w.runOf(run.ID); !got.Over || got.Report.Moved != 40 {
			t.Errorf("%+v", got)
		}
	})
}

// However many runs there were, few are remembered.
func TestRunsByHandAreForgotten(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.tick()
		first := w.move(MoveRequest{})
		w.pass(1)
		for range maxRuns {
			w.move(MoveRequest{})
			w.pass(1)
		}
		if _, _, err := w.engine.MoveRun(first.ID); !errors.Is(err, ErrNoSuchRun) {
			t.Errorf("the first run: %v", err)
		}
		if n := len(w.engine.hand.runs); n != maxRuns || n != len(w.engine.hand.order) {
			t.Errorf("%d runs are remembered", n)
		}
	})
}
