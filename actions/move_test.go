package actions

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/situations"
)

// slowly is a redistribute that tries again only after ten minutes.
var slowly = situations.Action{Verb: situations.VerbRedistribute, Retry: 10 * time.Minute}

// What is new elsewhere is not left waiting for the retry: one sample later the
// messages are on their way.
func TestMoving_ElsewhereIsNew_WithinASample(t *testing.T) {
	elsewhere := []situations.Instance{{QMgr: "QM3", QMID: "QM3_C", Cluster: "C1", Put: true, Reachable: true}}
	tests := []struct {
		name   string
		before func(*world) // when the messages are stranded
		then   func(*world) // what is new
	}{
		{"an instance", func(w *world) { w.others = nil }, func(w *world) { w.others = elsewhere }},
		{
			"an instance that takes messages again",
			func(w *world) { w.others[0].Put = false }, func(w *world) { w.others[0].Put = true },
		},
		{
			"a channel that runs again",
			func(w *world) { w.others[0].Reachable = false }, func(w *world) { w.others[0].Reachable = true },
		},
		{
			"a reader that a peer tells of",
			func(w *world) { w.mover.stays = w.depth; w.others[0].ReadersKnown = true },
			func(w *world) { w.mover.stays = 0; w.others[0].Readers = 1 },
		},
		{
			"a second reader", func(w *world) {
				w.mover.stays = w.depth
				w.others[0].ReadersKnown, w.others[0].Readers = true, 1
			},
			func(w *world) { w.mover.stays = 0; w.others[0].Readers = 2 },
		},
		{
			"the end of a unit of work of others",
			func(w *world) { w.mover.stays, w.uncom = w.depth, 5 },
			func(w *world) { w.mover.stays, w.uncom = 0, 0 },
		},
		{
			"a queue that gives its messages",
			func(w *world) { w.mover.refuse, w.gets = "the queue is GET(DISABLED)", disabled },
			func(w *world) { w.mover.refuse, w.gets = "", enabled },
		},
		{
			"an instance after one that came and went",
			func(w *world) { w.mover.stays = w.depth },
			func(w *world) {
				w.others[0].Put = false
				w.pass(1)
				w.mover.stays = 0
				w.others[0].Put = true
			},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				w.depth = 5
				tc.before(w)
				w.tick(w.intent("D", open, last(put(disabled)), slowly))
				w.pass(30)
				runs := w.mover.runs
				if w.depth != 5 || runs > 2 {
					t.Fatalf("depth %d after %d runs; nothing was there to move to", w.depth, runs)
				}
				tc.then(w)
				w.pass(1)
				if w.depth != 0 {
					t.Errorf("depth %d one sample later", w.depth)
				}
				w.pass(30)
				if n := w.mover.runs - runs; n != 1 {
					t.Errorf("%d runs, want 1", n)
				}
			})
		})
	}
}

// A retry throttles what could not be done, not what comes later.
func TestMoving_EmptiedQueue_LateMessagesDoNotWaitForTheRetry(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth = 5
		w.tick(w.intent("D", open, put(disabled), slowly))
		w.pass(3)
		w.depth = 3
		w.pass(2)
		if w.depth != 0 {
			t.Errorf("depth %d two samples after late messages", w.depth)
		}
	})
}

// What nothing new was heard of waits for the retry, exactly.
func TestMoving_NothingNew_WaitsForTheRetry(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.mover.stays, w.mover.fail = 5, 0, 1
		start := time.Now()
		w.tick(w.intent("D", open, put(disabled), slowly))
		w.pass(590)
		if w.mover.runs != 1 {
			t.Errorf("%d runs in %s", w.mover.runs, time.Since(start))
		}
		w.pass(15)
		if w.mover.runs != 2 || w.depth != 0 {
			t.Errorf("%d runs, depth %d after %s", w.mover.runs, w.depth, time.Since(start))
		}
	})
}

// A queue manager that came back is another matter than one that failed.
func TestMoving_QueueManagerRestarts_DoesNotWaitForTheRetry(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.mover.fail = 5, 1
		w.tick(w.intent("D", open, put(disabled), slowly))
		w.pass(2)
		w.started = time.Now()
		w.connect = w.started
		w.pass(3)
		if w.depth != 0 {
			t.Errorf("depth %d after %d runs", w.depth, w.mover.runs)
		}
	})
}

// Rules that say never from now on, and a person's hold, end a run that is under
// way; the journal says which. Without them it goes on.
func TestMoving_ForbiddenMeanwhile_EndsAtItsUnit(t *testing.T) {
	tests := []struct {
		name            string
		forbid, permit  func(*world)
		reason, blocked string
	}{
		{
			"redistribute: never",
			func(w *world) { w.items.set(func(f *fakeItems) { f.never = true }) },
			func(w *world) { w.items.set(func(f *fakeItems) { f.never = false }) },
			"redistribute: never", "",
		},
		{
			"a hold",
			func(w *world) { w.hold("DCQ*") }, func(w *world) { w.release("DCQ*") },
			"held by", "held by",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				w.depth, w.mover.perSecond = 1000, 10
				w.tick(w.intent("D", open, put(disabled), last(put(disabled)), slowly, event))
				w.pass(5)
				tc.forbid(w)
				w.pass(2)
				left := w.depth
				if left == 0 || left == 1000 {
					t.Fatalf("depth %d", left)
				}
				w.pass(20)
				if w.depth != left {
					t.Errorf("%d moved although it is forbidden", left-w.depth)
				}
				if w.get(attrPut) != disabled {
					t.Error("the lowering does not stand any more")
				}
				found := false
				for _, e := range w.journal.all() {
					found = found || e.Action == "redistribute" && e.Result == resultDone && e.Moved > 0 && strings.Contains(e.Reason, tc.reason)
				}
				if !found {
					t.Errorf("the journal does not say why it stopped: %v", w.results())
				}
				tc.permit(w)
				w.pass(120)
				if w.depth != 0 {
					t.Errorf("depth %d although nothing forbids it any more", w.depth)
				}
			})
		})
	}
}

// The order that the mover gets is what the rule says.
func TestMoving_OrderIsTheRules(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth = 5
		a := situations.Action{Verb: situations.VerbRedistribute, Rate: 7, EvenIfBound: true, Timeout: time.Minute}
		w.tick(w.intent("D", open, put(disabled), a))
		w.pass(2)
		want := []Order{{
			Queue: queueName, Base: queueName, Type: "QLOCAL", Lever: LeverOf([]situations.Action{put(disabled)}, false),
			EvenIfBound: true, Rate: 7, Timeout: time.Minute, Interval: w.interval,
		}}
		if diff := cmp.Diff(want, w.mover.orders); diff != "" {
			t.Error(diff)
		}
	})
}

// What was read back after a sample differs from the sample; that is no news, and
// no reason to search the queue over and over until the next one.
func TestMoving_ValuesReadBackAreNoNews(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.others[0].ClwlPrty = 5
		w.values[attrPriority] = "5"
		w.depth, w.mover.stays = 5, 5
		lower := priority("0")
		lower.UseQ = "any"
		w.tick(w.intent("D", open, lower, slowly))
		w.sleep(w.interval)
		if w.mover.runs > 1 {
			t.Errorf("%d runs on one sample", w.mover.runs)
		}
		w.pass(20)
		if w.mover.runs > 2 {
			t.Errorf("%d runs in twenty samples", w.mover.runs)
		}
	})
}

// Journal, status and metrics agree on what moved, run by run and in all.
func TestMoving_IsCounted(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.mover.stays = 5, 3
		w.tick(w.intent("D", open, put(disabled), moving))
		w.pass(3)
		w.readers = 1 // the situation takes its time to clear
		w.pass(1)
		runs := w.mover.runs
		w.pass(5)
		if w.mover.runs != runs {
			t.Errorf("%d runs although the samples show a reader", w.mover.runs-runs)
		}
		w.readers, w.mover.stays = 0, 0
		w.depth = 4
		w.pass(3)
		var got [][2]int
		for _, e := range w.journal.all() {
			if e.Action == "redistribute" && e.Result == resultDone && e.Moved > 0 {
				got = append(got, [2]int{e.Moved, e.Remaining})
			}
		}
		if diff := cmp.Diff([][2]int{{2, 3}, {4, 0}}, got); diff != "" {
			t.Error("moved and remaining in the journal:", diff)
		}
		jobs := w.engine.Snapshot().Jobs
		if len(jobs) != 1 || jobs[0].Moved != 6 || jobs[0].Remaining != 0 || jobs[0].State != string(MoveEmpty) {
			t.Errorf("jobs %+v", jobs)
		}
		if n := w.engine.Stats().Moved; n != 6 {
			t.Errorf("the metrics say %d", n)
		}
	})
}
