package actions

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/situations"
)

const (
	open   = situations.EdgeOpen
	closed = situations.EdgeClear
)

func put(value string) situations.Action {
	return situations.Action{Verb: situations.VerbPut, Value: value}
}

func claimed(a situations.Action) situations.Action {
	a.Claim = true
	return a
}

func last(a situations.Action) situations.Action {
	a.AllowLast = true
	return a
}

var (
	revert     = situations.Action{Verb: situations.VerbRevert}
	moving     = situations.Action{Verb: situations.VerbRedistribute}
	script     = situations.Action{Verb: situations.VerbExec, Args: []string{"/opt/fix", "${QUEUE}"}}
	event      = situations.Action{Verb: situations.VerbEvent, Value: "nobody reads ${QUEUE}"}
	priority   = func(v string) situations.Action { return situations.Action{Verb: situations.VerbPriority, Value: v} }
	rank       = func(v string) situations.Action { return situations.Action{Verb: situations.VerbRank, Value: v} }
	disableAll = []situations.Action{put(disabled), moving}
)

// bubble runs a test in a synctest bubble with a world whose engine runs.
func bubble(t *testing.T, set func(*world), test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if set != nil {
			set(w)
		}
		w.run()
		test(t, w)
		w.end()
	})
}

// Two instances lose their readers in the same moment, and both daemons lower:
// neither sends its messages to an instance that takes none any more.
func TestMoving_BothLowerAtOnce_NothingMoves(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth = 50
		lower := put(disabled)
		lower.AllowLast = true
		w.tick(w.intent("MQQueueDisable", open, lower, moving))
		w.want(attrPut, disabled)
		w.sleep(settleMost / 2) // longer than it takes to hear of the others
		for i := range w.others {
			w.others[i].Put = false
		}
		w.pass(3)
		if w.depth != 50 {
			t.Errorf("%d messages left for where nothing is taken", 50-w.depth)
		}
		w.others[0].Put = true
		w.pass(2)
		if w.depth != 0 {
			t.Errorf("depth %d, although another instance is ready", w.depth)
		}
	})
}

func TestArticle(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.readers = 1
		w.tick(w.intent("MQQueueEnable", open, put(enabled)))
		w.readers, w.depth = 0, 50
		w.sleep(time.Second)
		w.tick(w.intent("MQQueueEnable", closed), w.intent("MQQueueDisable", open, disableAll...))
		w.want(attrPut, disabled)
		w.sleep(settleMost)
		if w.depth != 0 {
			t.Errorf("depth %d", w.depth)
		}
		w.pass(5)
		w.readers = 1
		w.tick(w.intent("MQQueueDisable", closed), w.intent("MQQueueEnable", open, put(enabled)))
		w.want(attrPut, enabled)
		want := []string{
			"put ENABLED no_change",
			"put DISABLED started", "put DISABLED done",
			"redistribute started", "redistribute done",
			"put ENABLED started", "put ENABLED done",
		}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
		lines := w.journal.all()
		if l := lines[4]; l.Moved != 50 || l.Remaining != 0 || l.Edge != open || l.ID != lines[3].ID || l.Attempt != 1 {
			t.Errorf("redistribute line %+v", l)
		}
		if l := lines[2]; *l.Before != enabled || *l.After != disabled || l.By != "rule" {
			t.Errorf("put line %+v", l)
		}
		w.pass(1)
		if n := w.store.left(); n != 0 {
			t.Errorf("%d intents left in the outbox", n)
		}
	})
}

func TestGuardsHoldLowering(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		set  func(*world)
		free func(*world) // takes the cause away
		code Code
		act  situations.Action
	}{
		{"last instance", func(w *world) { w.others[0].Put = false }, func(w *world) { w.others[0].Put = true }, HoldLastInstance, put(disabled)},
		{"suspended", func(w *world) { w.others[0].Suspended = true }, func(w *world) { w.others[0].Suspended = false }, HoldLastInstance, put(disabled)},
		{"channel down", func(w *world) { w.others[0].Reachable = false }, func(w *world) { w.others[0].Reachable = true }, HoldLastInstance, put(disabled)},
		{"lower rank", func(w *world) { w.values[attrRank] = "3" }, func(w *world) { w.others[0].ClwlRank = 3 }, HoldLastInstance, put(disabled)},
		{"not known", func(w *world) { w.known = false }, func(w *world) { w.known = true }, HoldLastInstance, put(disabled)},
		{"same rank", func(w *world) { w.values[attrRank], w.others[0].ClwlRank = "9", 0 }, func(w *world) { w.others[0].ClwlRank = 9 }, HoldLastInstance, rank("0")},
		{"same priority", func(w *world) { w.values[attrPriority] = "1" }, func(w *world) { w.others[0].ClwlPrty = 1 }, HoldLastInstance, priority("0")},
		{"stale repository", func(w *world) { w.stale = true }, func(w *world) { w.stale = false }, HoldRepository, last(put(disabled))},
		{"trigger queue", func(w *world) { w.trigger = true }, func(w *world) { w.trigger = false }, HoldTrigger, put(disabled)},
		{"flapping", func(w *world) { w.items.flapping = true }, func(w *world) { w.items.flapping = false }, HoldFlapping, put(disabled)},
		{"journal", func(w *world) { w.journal.setBad(true) }, func(w *world) { w.journal.setBad(false) }, HoldJournal, put(disabled)},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, tc.set, func(t *testing.T, w *world) {
				before := w.get(attrPut)
				w.tick(w.intent("S", open, tc.act))
				w.pass(3)
				w.want(attrPut, before)
				w.wantHeld("S", tc.code)
				tc.free(w)
				w.pass(2)
				w.want(attrOf(tc.act.Verb), tc.act.Value)
				if got := w.held("S"); len(got) != 0 {
					t.Errorf("still held: %v", got)
				}
				blocked := 0
				for _, l := range w.journal.all() {
					if l.Result == resultBlocked {
						blocked++
					}
				}
				if want := 1; blocked != want && tc.code != HoldJournal {
					t.Errorf("%d blocked lines, want %d", blocked, want)
				}
			})
		})
	}
}

func TestAllowLast(t *testing.T) {
	bubble(t, func(w *world) { w.others = nil }, func(_ *testing.T, w *world) {
		w.tick(w.intent("S", open, last(put(disabled))))
		w.want(attrPut, disabled)
		w.pass(10) // and nobody puts it back
		w.want(attrPut, disabled)
	})
}

func TestRaisingIsNotHeld(t *testing.T) {
	bubble(t, func(w *world) {
		w.opt.Grace = time.Hour
		w.interval = time.Minute
		w.values[attrPut] = disabled
		w.others = nil
		w.stale, w.items.flapping = true, true
		w.journal.setBad(true)
	}, func(_ *testing.T, w *world) {
		w.tick(w.intent("S", open, put(enabled)))
		w.want(attrPut, enabled)
	})
}

func TestGrace(t *testing.T) {
	bubble(t, func(w *world) { w.opt.Grace = 10 * time.Second }, func(_ *testing.T, w *world) {
		w.tick(w.intent("S", open, script, put(disabled)))
		w.wantHeld("S", HoldGrace)
		w.sleep(2*time.Second - time.Millisecond) // two samples are less than 10 s
		w.tick()
		w.wantHeld("S", HoldGrace)
		w.sleep(time.Millisecond)
		w.tick()
		w.pass(1) // a sample after the program
		w.want(attrPut, disabled)
		// A restart of the queue manager begins another grace.
		w.tick(w.intent("S", closed, put(enabled)))
		w.pass(1)
		w.started, w.connect = time.Now(), time.Now()
		w.tick(w.intent("S", open, put(disabled)))
		w.wantHeld("S", HoldGrace, HoldDwell)
		w.pass(2)
		w.want(attrPut, disabled)
		w.tick(w.intent("S", closed, put(enabled)))
		w.pass(3)
		w.connect = time.Now() // and so does a reconnect
		w.tick(w.intent("S", open, put(disabled)))
		w.wantHeld("S", HoldGrace)
	})
}

func TestDwell(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrPut] = disabled }, func(_ *testing.T, w *world) {
		w.tick(w.intent("E", open, put(enabled)))
		w.want(attrPut, enabled)
		w.sleep(w.interval)
		w.tick(w.intent("E", closed), w.intent("D", open, put(disabled)))
		w.wantHeld("D", HoldDwell)
		// An edge back supersedes what was held; no change starts no dwell.
		w.tick(w.intent("D", closed), w.intent("E", open, put(enabled)))
		w.want(attrPut, enabled)
		w.sleep(w.interval)
		w.tick(w.intent("E", closed), w.intent("D", open, put(disabled)))
		w.want(attrPut, disabled)
	})
}

func TestBudget(t *testing.T) {
	bubble(t, func(w *world) { w.opt.Budget = 2 }, func(t *testing.T, w *world) {
		for _, s := range []string{"A", "B", "C"} {
			w.tick(w.intent(s, open, script))
		}
		if n := w.programs.count(); n != 2 {
			t.Fatalf("%d programs ran, want 2", n)
		}
		w.wantHeld("C", HoldBudget)
		w.pass(58)
		if n := w.programs.count(); n != 2 {
			t.Fatalf("%d programs ran within a minute, want 2", n)
		}
		w.pass(3)
		if n := w.programs.count(); n != 3 {
			t.Errorf("%d programs ran, want 3", n)
		}
	})
}

func TestUnknownMovesNothing(t *testing.T) {
	bubble(t, nil, func(_ *testing.T, w *world) {
		w.sampleOK = false
		w.tick(w.intent("S", open, put(disabled), script))
		w.pass(3)
		w.want(attrPut, enabled)
		w.wantHeld("S", HoldUnknown)
		w.sampleOK, w.missing = true, []string{"PUT"}
		w.pass(1)
		w.wantHeld("S", HoldUnknown)
		w.missing = nil
		w.pass(1)
		w.want(attrPut, disabled)
	})
}

func TestFailedIsRetriedUntilTheEdgeReverses(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.programs.exit = []int{1, 1, 1, 1}
		w.tick(w.intent("S", open, script, event))
		at := []int{1, 2, 2, 3, 3, 3, 3, 4} // after 0, 1, 3 and 7 seconds
		for i, want := range at {
			if n := w.programs.count(); n != want {
				t.Fatalf("after %d s: %d runs, want %d", i, n, want)
			}
			w.pass(1)
		}
		if w.journal.all()[1].Reason != "exit 1: said" {
			t.Errorf("reason %q", w.journal.all()[1].Reason)
		}
		w.tick(w.intent("S", closed))
		w.pass(30)
		if n := w.programs.count(); n != 4 {
			t.Errorf("%d runs after the edge reversed, want 4", n)
		}
		lines := w.journal.all()
		if l := lines[len(lines)-1]; l.Result != resultSuperseded {
			t.Errorf("last line %+v", l)
		}
	})
}

func TestProgramWaitsForTheQueueManagerAndRunsOnceAfterIt(t *testing.T) {
	bubble(t, func(w *world) { w.interval = 10 * time.Second }, func(t *testing.T, w *world) {
		w.programs.exit = []int{1, 1, 1, 1, 1, 1}
		w.tick(w.intent("S", open, script))
		w.sampleOK = false
		w.pass(1) // retries after 1, 3 and 7 s, then the sample that fails
		w.pass(20)
		if n := w.programs.count(); n != 4 {
			t.Fatalf("%d runs while the queue manager was down, want none beyond the 4 before", n)
		}
		w.sampleOK, w.started, w.connect = true, time.Now(), time.Now()
		w.tick()
		if n := w.programs.count(); n != 5 {
			t.Errorf("%d runs at the first sample after the restart, want 5", n)
		}
	})
}

func TestActionsRunInOrder(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.others[0].Put = false
		w.depth = 10
		w.tick(w.intent("S", open, event, put(disabled), moving, script))
		w.pass(2)
		if w.programs.count() != 0 || w.mover.runs != 0 {
			t.Error("an action after a held lowering ran")
		}
		w.others[0].Put = true
		w.setErrs = 2
		w.pass(1)
		if w.programs.count() != 0 || w.mover.runs != 0 {
			t.Error("an action after a failed lowering ran")
		}
		w.pass(5)
		if w.programs.count() != 1 || w.depth != 0 {
			t.Errorf("%d programs, depth %d", w.programs.count(), w.depth)
		}
	})
}

func TestNoChangeLetsTheRestRun(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrPut] = disabled }, func(t *testing.T, w *world) {
		w.depth = 10
		w.tick(w.intent("S", open, disableAll...))
		if w.depth != 0 || len(w.sets) != 0 {
			t.Errorf("depth %d, %d changes", w.depth, len(w.sets))
		}
	})
}

func TestProgramIsLetFinish(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.programs.takes = 90 * time.Second
		w.tick(w.intent("D", open, script))
		w.pass(5)
		w.tick(w.intent("D", closed), w.intent("E", open, script))
		w.pass(60)
		if n := w.programs.count(); n != 1 {
			t.Fatalf("%d programs at once", n)
		}
		w.pass(40)
		if n := w.programs.count(); n != 2 {
			t.Errorf("%d programs ran, want the other edge's after the first", n)
		}
		if diff := cmp.Diff([]string{"exec /opt/fix DCQ1 started", "exec /opt/fix DCQ1 done", "exec /opt/fix DCQ1 started"}, w.results()); diff != "" {
			t.Error(diff)
		}
		w.pass(100)
	})
}

func TestReversedEdgeEndsMoving(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.mover.perSecond = 10
		w.depth = 1000
		w.tick(w.intent("D", open, disableAll...))
		w.pass(3)
		w.readers = 1
		w.tick(w.intent("D", closed), w.intent("E", open, put(enabled)))
		w.pass(1)
		w.want(attrPut, enabled)
		if w.depth == 0 || w.depth == 1000 {
			t.Errorf("depth %d", w.depth)
		}
		want := []string{
			"put DISABLED started", "put DISABLED done", "redistribute started", "redistribute superseded",
			"put ENABLED started", "put ENABLED done",
		}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLateMessagesMoveToo(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth = 5
		w.tick(w.intent("D", open, disableAll...))
		w.pass(2)
		w.depth = 3 // a reader's unit of work was backed out
		w.pass(2)
		if w.depth != 0 {
			t.Errorf("depth %d", w.depth)
		}
		runs := w.mover.runs
		w.pass(10)
		if w.mover.runs != runs {
			t.Errorf("%d runs over an empty queue", w.mover.runs-runs)
		}
	})
}

func TestWaitsForAnInstanceElsewhere(t *testing.T) {
	bubble(t, func(w *world) { w.others = nil }, func(t *testing.T, w *world) {
		w.depth = 5
		w.tick(w.intent("D", open, last(put(disabled)), moving))
		w.pass(5)
		if w.depth != 5 {
			t.Fatal("moved to nowhere")
		}
		w.others = []situations.Instance{{QMgr: "QM3", QMID: "QM3_C", Cluster: "C1", Put: true, Reachable: true}}
		w.pass(2)
		if w.depth != 0 {
			t.Errorf("depth %d after an instance became ready", w.depth)
		}
		want := []string{"put DISABLED started", "put DISABLED done", "redistribute blocked", "redistribute started", "redistribute done"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUnmovableMessagesAreNotSearchedAlways(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.mover.stays = 5, 3
		w.tick(w.intent("D", open, disableAll...))
		w.pass(100)
		if w.mover.runs > 10 {
			t.Errorf("%d runs in 100 samples", w.mover.runs)
		}
		w.mover.stays = 0
		w.depth = 4 // one more came: look at once
		w.pass(2)
		if w.depth != 0 {
			t.Errorf("depth %d", w.depth)
		}
	})
}

func TestRedistributeNeverWins(t *testing.T) {
	bubble(t, func(w *world) { w.items.never = true }, func(t *testing.T, w *world) {
		w.depth = 5
		w.tick(w.intent("D", open, disableAll...))
		w.pass(3)
		if w.mover.runs != 0 {
			t.Error("moved although a rule says never")
		}
	})
}

func TestRepeatDoesNotPileUp(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.programs.takes = 5500 * time.Millisecond
		w.tick(w.intent("S", open, script))
		for range 11 {
			w.sleep(w.interval)
			w.tick(w.intent("S", situations.EdgeRepeat, script))
		}
		if n := w.programs.count(); n != 2 {
			t.Errorf("%d runs, want 2", n)
		}
		w.pass(6)
		if n := w.store.left(); n != 0 {
			t.Errorf("%d intents in the outbox", n)
		}
	})
}

func TestObserveChangesNothing(t *testing.T) {
	bubble(t, func(w *world) { w.opt.Observe = true }, func(t *testing.T, w *world) {
		w.depth = 5
		w.tick(w.intent("S", open, put(disabled), moving, script, event))
		w.pass(2)
		want := []string{"put DISABLED would", "redistribute would", "exec /opt/fix DCQ1 would", "event nobody reads DCQ1 would"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
		if len(w.sets) != 0 || w.mover.runs != 0 || w.programs.count() != 0 {
			t.Error("something was done")
		}
	})
}

// An observer's journal is that of a daemon that acts: what it would have lowered
// it would raise again, also after a restart, and what was there already is not its own.
func TestObserveGoesOnAsIfItHadActed(t *testing.T) {
	bubble(t, func(w *world) { w.opt.Observe = true }, func(t *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.pass(3)
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.end()
		w.run()
		w.tick(w.intent("S", closed, revert))
		w.pass(3)
		w.tick(w.intent("T", open, put(disabled)))
		w.pass(3)
		w.tick(w.intent("U", open, put(enabled)))
		w.pass(3)
		w.tick(w.intent("S", closed, revert))
		want := []string{
			"put DISABLED would", "put DISABLED no_change", "revert would",
			"put DISABLED would", "put ENABLED would", "revert no_change",
		}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
		w.want(attrPut, enabled)
		if len(w.sets) != 0 {
			t.Errorf("set %v", w.sets)
		}
	})
}

func TestGoneQueueTakesEverythingAlong(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(put(disabled)), moving))
		w.gone = true
		w.pass(1)
		if len(w.engine.Claims()) != 1 {
			t.Error("gone after one sample")
		}
		w.pass(2)
		if c := w.engine.Claims(); len(c) != 0 || w.store.left() != 0 {
			t.Errorf("claims %v, %d intents", c, w.store.left())
		}
	})
}

func TestEvent(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.tick(w.intent("S", open, event))
		if diff := cmp.Diff([]string{"event nobody reads DCQ1 done"}, w.results()); diff != "" {
			t.Error(diff)
		}
		want := []Count{{Verb: situations.VerbEvent, Result: resultDone, N: 1}}
		if diff := cmp.Diff(want, w.engine.Stats().Counts); diff != "" {
			t.Error(diff)
		}
	})
}

func TestProgramsWaitForRoom(t *testing.T) {
	bubble(t, func(w *world) { w.opt.Budget = 1000 }, func(t *testing.T, w *world) {
		w.programs.takes = time.Minute
		for range maxHeavy {
			w.engine.heavy <- struct{}{}
		}
		w.tick(w.intent("D", open, script))
		if n := w.programs.count(); n != 0 {
			t.Fatal("more programs at once than there may be")
		}
		// A reversed edge ends the wait, so that a raising does not wait for others' programs.
		w.values[attrPut] = disabled
		w.tick(w.intent("D", closed), w.intent("E", open, put(enabled)))
		w.want(attrPut, enabled)
		for range maxHeavy {
			<-w.engine.heavy
		}
		w.pass(2)
		if n := w.programs.count(); n != 0 {
			t.Error("a program ran after its edge reversed")
		}
	})
}

// Runs that take hours, as one with a low rate does, keep no program waiting.
func TestProgramsDoNotWaitForMoves(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		for range maxMoves {
			w.engine.moves <- struct{}{}
		}
		w.tick(w.intent("D", open, script))
		if n := w.programs.count(); n != 1 {
			t.Errorf("%d programs ran", n)
		}
		w.depth = 5
		w.tick(w.intent("M", open, moving))
		w.pass(2)
		if w.mover.runs != 0 {
			t.Error("more runs of moving messages at once than there may be")
		}
		for range maxMoves {
			<-w.engine.moves
		}
		w.pass(2)
		if w.mover.runs != 1 {
			t.Errorf("%d runs when there was room", w.mover.runs)
		}
	})
}

func TestOnlyIf(t *testing.T) {
	ready, err := situations.NewFormula("READY_ELSEWHERE > 0", situations.Lever{Verb: situations.VerbPut})
	if err != nil {
		t.Fatal(err)
	}
	move := moving
	move.OnlyIf = ready
	bubble(t, func(w *world) { w.others[0].Put = false }, func(t *testing.T, w *world) {
		w.depth = 5
		w.tick(w.intent("D", open, last(put(disabled)), move, event))
		w.pass(3)
		want := []string{"put DISABLED started", "put DISABLED done", "redistribute no_change", "event nobody reads DCQ1 done"}
		if diff := cmp.Diff(want, w.results()); diff != "" || w.depth != 5 {
			t.Errorf("depth %d %s", w.depth, diff)
		}
		w.others[0].Put = true
		w.pass(2)
		if w.depth != 0 {
			t.Errorf("depth %d after its condition became true", w.depth)
		}
	})
}

func TestSampleBeforeRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.make()
		w.engine.Dispatch(t.Context(), []situations.Intent{w.intent("S", open, put(disabled))})
		w.engine.Observe(w.observation())
		w.want(attrPut, enabled)
		w.start()
		w.want(attrPut, disabled)
		w.end()
	})
}
