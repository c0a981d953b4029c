package actions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/situations"
)

// TestHold_HoldsEverything: lowering, raising, programs; what a situation wanted
// meanwhile happens when it is released, as far as it is still wanted.
func TestHold_HoldsEverything(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		must(t, w.engine.Hold("anna", queueName, "patching", time.Time{}))
		w.tick(w.intent("D", open, put(disabled), script))
		w.pass(5)
		w.want(attrPut, enabled)
		w.wantHeld("D", HoldPerson)
		w.crash() // it holds over a restart
		w.run()
		w.pass(2)
		w.want(attrPut, enabled)
		gone, err := w.engine.Release("bert", queueName)
		must(t, err)
		if len(gone) != 1 || gone[0].By != "anna" {
			t.Errorf("released %+v", gone)
		}
		w.pass(2)
		w.want(attrPut, disabled)
		if w.programs.count() != 1 {
			t.Errorf("%d programs ran", w.programs.count())
		}
		must(t, w.engine.Hold("anna", "DC*", "", time.Time{}))
		w.tick(w.intent("D", closed), w.intent("E", open, put(enabled)))
		w.pass(3)
		w.want(attrPut, disabled) // a person's hold holds raising, too
		w.wantHeld("E", HoldPerson)
		if _, err := w.engine.Release("anna", queueName); !errors.Is(err, ErrNothingHeld) || !strings.Contains(err.Error(), "DC*") {
			t.Errorf("release by another name: %v", err)
		}
		_, err = w.engine.Release("anna", "*")
		must(t, err)
		w.pass(1)
		w.want(attrPut, enabled)
		var by []string
		for _, l := range w.journal.all() {
			if l.Action == "hold" || l.Action == "release" {
				by = append(by, l.Action+" "+l.Queue+" by "+l.By)
				if l.Edge != situations.EdgeManual || l.Result != resultDone {
					t.Errorf("line %+v", l)
				}
			}
		}
		want := []string{"hold DCQ1 by anna", "release DCQ1 by bert", "hold DC* by anna", "release DC* by anna"}
		if diff := cmp.Diff(want, by); diff != "" {
			t.Error(diff)
		}
	})
}

// TestHold_Ends: with its time, and a run of moving messages ends when it begins.
func TestHold_Ends(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.mover.perSecond = 100, 5
		w.tick(w.intent("D", open, disableAll...))
		w.pass(3)
		left := w.depth
		if left == 100 || left == 0 {
			t.Fatalf("depth %d", left)
		}
		must(t, w.engine.Hold("anna", queueName, "", time.Now().Add(10*time.Second)))
		synctest.Wait()
		w.pass(8)
		if moved := left - w.depth; moved > 5 {
			t.Errorf("%d messages moved while it was held", moved)
		}
		w.pass(30)
		if w.depth != 0 {
			t.Errorf("depth %d after the hold", w.depth)
		}
		if len(w.engine.Holds()) != 0 {
			t.Error("it is still listed")
		}
	})
}

// TestHold_HoldsThePuttingBack: also of a lowering that two daemons made at once.
func TestHold_HoldsThePuttingBack(t *testing.T) {
	bubble(t, func(w *world) { w.qmid = "QM2_A"; lowerBoth(w) }, func(t *testing.T, w *world) {
		w.tick(w.intent("D", open, put(disabled)))
		must(t, w.engine.Hold("anna", queueName, "", time.Time{}))
		w.pass(6)
		w.want(attrPut, disabled)
		_, err := w.engine.Release("anna", queueName)
		must(t, err)
		w.pass(2)
		w.want(attrPut, enabled)
	})
}

// TestLowered_Revert: whatever lowered, a person gets back what was there before,
// and nothing lowers it again without an edge.
func TestLowered_Revert(t *testing.T) {
	t.Parallel()
	lowerPriority := priority("0")
	lowerPriority.UseQ = "any"
	for _, tc := range []struct {
		name    string
		actions []situations.Action
		attrs   string
		claimed bool
	}{
		{"plain", []situations.Action{put(disabled)}, "PUT", false},
		{"allow_last", []situations.Action{last(put(disabled))}, "PUT", false},
		{"claimed", []situations.Action{claimed(put(disabled))}, "PUT", true},
		{"rank", []situations.Action{rank("0")}, "CLWLRANK", false},
		{"priority with useq", []situations.Action{lowerPriority}, "CLWLPRTY CLWLUSEQ", false},
		{"program", []situations.Action{script}, "PUT", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.values[attrRank], w.values[attrPriority] = "5", "4"
				w.others[0].ClwlRank, w.others[0].ClwlPrty = 5, 4
				w.programs.do = func() { w.person(attrPut, disabled) }
			}, func(t *testing.T, w *world) {
				before := map[string]string{}
				for k, v := range w.values {
					before[k] = v
				}
				w.pass(2)
				w.tick(w.intent("D", open, tc.actions...))
				w.pass(2)
				var attrs []string
				for _, s := range w.engine.Lowered() {
					attrs = append(attrs, s.Attr)
					if s.Situation != "D" || s.At.IsZero() || s.Before != before[s.Attr] || s.After != w.get(s.Attr) {
						t.Errorf("standing %+v", s)
					}
					if s.Claimed != tc.claimed && s.Attr != attrUseQ {
						t.Errorf("claimed %v", s.Claimed)
					}
				}
				if got := strings.Join(attrs, " "); got != tc.attrs {
					t.Fatalf("lowered %q, want %q", got, tc.attrs)
				}
				w.crash()
				w.run()
				w.pass(1)
				revertNow(t, w, "anna")
				if diff := cmp.Diff(before, w.values); diff != "" {
					t.Error(diff)
				}
				if left := w.engine.Lowered(); len(left) != 0 {
					t.Errorf("still lowered: %+v", left)
				}
				lines := w.journal.all()
				if l := lines[len(lines)-1]; l.By != "anna" || l.Edge != situations.EdgeManual || l.Action != "revert" || l.Result != resultDone {
					t.Errorf("last line %+v", l)
				}
				w.pass(5)
				if diff := cmp.Diff(before, w.values); diff != "" {
					t.Error("later:", diff)
				}
			})
		})
	}
}

// revertNow asks for everything back and lets samples come until it is done.
func revertNow(t *testing.T, w *world, by string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := w.engine.Revert(context.Background(), by, "")
		done <- err
	}()
	synctest.Wait()
	w.pass(2)
	select {
	case err := <-done:
		must(t, err)
	default:
		t.Fatal("it does not come back")
	}
}

// TestRevert_LeavesWhatIsAPersons: what somebody changed since stays.
func TestRevert_LeavesWhatIsAPersons(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.values[attrRank] = "7"
		w.others[0].ClwlRank = 7
		w.tick(w.intent("D", open, claimed(rank("0"))))
		w.pass(1)
		w.person(attrRank, "3")
		w.pass(1)
		if got := w.engine.Lowered(); len(got) != 0 {
			t.Errorf("lowered %+v", got)
		}
		revertNow(t, w, "anna")
		w.want(attrRank, "3")
	})
}

// TestRevert_AtEveryCrash: a crash at any effect of giving back: the restart
// finishes it, and the journal tells.
func TestRevert_AtEveryCrash(t *testing.T) {
	for n := 1; n <= 6; n++ {
		t.Run("", func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				w.tick(w.intent("D", open, claimed(put(disabled)), moving))
				w.pass(2)
				w.gate.set(n)
				go func() { _, _ = w.engine.Revert(context.Background(), "anna", "") }()
				synctest.Wait()
				w.pass(2)
				w.end()
				w.run()
				w.pass(3)
				if n == 1 { // it was never recorded: nobody was told that it would be done
					w.want(attrPut, disabled)
					return
				}
				w.want(attrPut, enabled)
				if len(w.engine.Claims())+len(w.engine.Lowered()) != 0 {
					t.Errorf("left: %+v %+v", w.engine.Claims(), w.engine.Lowered())
				}
				if got := w.results(); got[len(got)-1] != "revert done" {
					t.Errorf("after a crash at effect %d: %v", n, got)
				}
			})
		})
	}
}

func TestMaintenance_HoldsWhatWasDecidedBefore(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.items.set(func(f *fakeItems) { f.window = true })
		w.tick(w.intent("D", open, put(disabled), event))
		w.pass(3)
		w.want(attrPut, enabled)
		w.wantHeld("D", HoldMaintenance)
		w.items.set(func(f *fakeItems) { f.window = false })
		w.pass(1)
		w.want(attrPut, disabled)
		if got := w.results(); got[0] != "put DISABLED blocked" || len(got) != 4 {
			t.Errorf("journal %v", got)
		}
		w.engine.Suppress([]situations.Intent{w.intent("X", open, put(disabled))})
		lines := w.journal.all()
		if l := lines[len(lines)-1]; l.Result != resultBlocked || l.Situation != "X" || !strings.Contains(l.Reason, "maintenance") {
			t.Errorf("line %+v", l)
		}
	})
}

// TestGuardOfARule: more than one other instance may have to be left, or none.
func TestGuardOfARule(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		guard situations.GuardLimits
		want  string
	}{
		{"two must be left", situations.GuardLimits{Available: 2, AvailableSet: true}, enabled},
		{"half of two", situations.GuardLimits{Available: 50, Percent: true, AvailableSet: true}, disabled},
		{"more than half of two", situations.GuardLimits{Available: 51, Percent: true, AvailableSet: true}, enabled},
		{"none", situations.GuardLimits{AvailableSet: true}, disabled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, nil, func(_ *testing.T, w *world) {
				in := w.intent("D", open, put(disabled))
				in.Guard = tc.guard
				w.tick(in)
				w.want(attrPut, tc.want)
			})
		})
	}
	t.Run("dwell", func(t *testing.T) {
		bubble(t, nil, func(_ *testing.T, w *world) {
			w.person(attrPut, disabled)
			w.tick(w.intent("E", open, put(enabled)))
			in := w.intent("D", open, put(disabled))
			in.Guard = situations.GuardLimits{Dwell: situations.Persistence{Samples: 5}, DwellSet: true}
			w.tick(in)
			w.pass(4)
			w.want(attrPut, enabled)
			w.wantHeld("D", HoldDwell)
			w.pass(2)
			w.want(attrPut, disabled)
		})
	})
}

// TestConflict: two rules that hold one attribute at different values: the value
// stays, whichever came first, and who is left has it.
func TestConflict(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrRank] = "5"; w.others[0].ClwlRank = 5 }, func(_ *testing.T, w *world) {
		w.tick(w.intent("A", open, claimed(last(rank("0")))))
		w.want(attrRank, "0")
		w.tick(w.intent("B", open, claimed(last(rank("3")))))
		w.pass(2)
		w.want(attrRank, "0")
		w.wantHeld("B", HoldConflict)
		w.tick(w.intent("A", closed, revert))
		w.pass(3)
		w.want(attrRank, "3")
		w.tick(w.intent("B", closed, revert))
		w.pass(1)
		w.want(attrRank, "5")
	})
}

func TestBreaker_OneAfterTheOtherIsNoFlood(t *testing.T) {
	bubble(t, func(w *world) { w.opt.Breaker = 30; w.items.count = 10 }, func(_ *testing.T, w *world) {
		for i := range 6 {
			in := w.intent("D", open, last(put(disabled)))
			in.Key.Queue = queueName + strings.Repeat("X", i)
			w.tick(in)
			w.pass(1)
		}
		w.want(attrPut, disabled)
	})
}

func TestBreaker(t *testing.T) {
	bubble(t, func(w *world) { w.opt.Breaker = 30; w.items.count = 10 }, func(t *testing.T, w *world) {
		var many []situations.Intent
		for _, queue := range []string{queueName, "Q2", "Q3", "Q4"} {
			in := w.intent("D", open, last(put(disabled)))
			in.Key.Queue, in.ID = queue, in.ID+queue
			many = append(many, in)
		}
		w.tick(many...)
		w.want(attrPut, enabled)
		w.wantHeld("D", HoldBreaker)
		if trips := w.engine.Tripped(); len(trips) != 1 || trips[0].Opened != 4 || trips[0].Items != 10 {
			t.Errorf("trips %+v", trips)
		}
		w.crash()
		w.run()
		w.pass(2)
		w.want(attrPut, enabled)
		must(t, w.engine.ReleaseBreaker("anna", "D"))
		w.pass(1)
		w.want(attrPut, disabled)
		if err := w.engine.ReleaseBreaker("anna", "D"); !errors.Is(err, ErrNothingHeld) {
			t.Errorf("released twice: %v", err)
		}
	})
}

// TestRename_GoesOn: what waits and what is held goes on under the new name.
func TestRename_GoesOn(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.items.set(func(f *fakeItems) { f.flapping = true })
		w.tick(w.intent("Old", open, claimed(rank("0")), claimed(put(disabled))))
		from := situations.Key{Situation: "Old", QMgr: here.QMgr, Queue: queueName}
		to := from
		to.Situation = "New"
		w.engine.Rename(from, to)
		w.wantHeld("New", HoldFlapping)
		w.items.set(func(f *fakeItems) { f.flapping = false })
		w.pass(2)
		w.want(attrPut, disabled)
		to.Situation = "Newest"
		w.engine.Rename(situations.Key{Situation: "New", QMgr: here.QMgr, Queue: queueName}, to)
		w.tick(w.intent("Newest", closed, revert))
		w.want(attrPut, enabled)
		if c := w.engine.Claims(); len(c) != 0 {
			t.Errorf("claims %+v", c)
		}
	})
}

// TestRename_InTheStore: in the transaction in which the item gets its new name.
func TestRename_InTheStore(t *testing.T) {
	t.Parallel()
	db := openTestDB(t, filepath.Join(t.TempDir(), "state.db"))
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	in := storedIntentNamed("one", at)
	must(t, db.Commit(t.Context(), nil, []situations.Intent{in, storedIntentNamed("two", at)}))
	must(t, db.SaveActions(Update{
		Progress: map[string]Progress{"one": {Attempt: 1, Flight: &Flight{At: at, Owner: "S"}}},
		Claims:   []Claim{{Target: here, Attr: attrPut, Holders: []Holder{{Owner: "S"}, {Owner: "T"}}}},
	}))
	to := in.Key
	to.Situation = "N"
	must(t, db.Commit(t.Context(), []situations.ItemChange{{Key: in.Key}, {Key: to, Data: []byte("x"), Was: "S"}}, nil))
	got, err := db.LoadActions()
	must(t, err)
	if len(got.Intents) != 2 || got.Intents[0].Intent.Key != to || got.Intents[1].Intent.Key != to || got.Intents[0].Intent.ID != "one" {
		t.Errorf("intents %+v", got.Intents)
	}
	if got.Intents[0].Progress.Flight.Owner != "N" || got.Claims[0].Holders[0].Owner != "N" || got.Claims[0].Holders[1].Owner != "T" {
		t.Errorf("progress %+v, claims %+v", got.Intents[0].Progress, got.Claims)
	}
}

// fakeCommands take so long and then give an error.
type fakeCommands struct {
	said  []string
	err   error
	takes time.Duration
}

func (f *fakeCommands) Command(ctx context.Context, text string) error {
	f.said = append(f.said, text)
	select {
	case <-time.After(f.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	return f.err
}

func TestMQSCAction(t *testing.T) {
	f := &fakeCommands{}
	bubble(t, func(w *world) { w.opt.Commands = f }, func(t *testing.T, w *world) {
		cmd := situations.Action{Verb: situations.VerbMQSC, Value: "ALTER QLOCAL(${QUEUE}) DESCR('x')"}
		w.tick(w.intent("S", open, cmd))
		w.pass(1)
		f.err = errors.New("AMQ8147E")
		w.tick(w.intent("T", open, cmd))
		w.pass(4)
		f.err, f.takes = nil, time.Hour
		w.tick(w.intent("U", open, cmd))
		w.sleep(time.Minute)
		w.pass(1)
		text := "mqsc ALTER QLOCAL('DCQ1') DESCR('x')"
		got := w.results()
		want := []string{text + " started", text + " done", text + " started", text + " failed", text + " started", text + " failed"}
		if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
			t.Error(diff)
		}
		if f.said[0] != "ALTER QLOCAL('DCQ1') DESCR('x')" {
			t.Errorf("said %q", f.said[0])
		}
	})
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	var got []string
	answer := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, r.Method+" "+r.URL.String()+" "+r.Header.Get("Idempotency-Key")+" "+string(body))
		if answer == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(answer)
		_, _ = io.WriteString(w, "no\x00t today\n")
	}))
	t.Cleanup(server.Close)
	hooks := NewWebhooks()
	must(t, hooks.Post(t.Context(), server.URL+"/a?q=DCQ1", "id.0", []byte(`{"queue":"DCQ1"}`)))
	answer = http.StatusFound
	if err := hooks.Post(t.Context(), server.URL, "id", nil); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a redirection: %v", err)
	}
	answer = http.StatusInternalServerError
	if err := hooks.Post(t.Context(), server.URL, "id", nil); err == nil || !strings.Contains(err.Error(), "500 Internal Server Error: no") {
		t.Errorf("a failure: %v", err)
	}
	if len(got) != 3 || got[0] != `POST /a?q=DCQ1 id.0 {"queue":"DCQ1"}` {
		t.Errorf("got %q", got)
	}
	server.Close()
	if err := hooks.Post(t.Context(), server.URL, "id", nil); err == nil {
		t.Error("nobody is there, and it worked")
	}
}

// fakeHooks remember what was posted.
type fakeHooks struct{ bodies []string }

func (f *fakeHooks) Post(_ context.Context, address, id string, body []byte) error {
	f.bodies = append(f.bodies, address+" "+id+" "+string(body))
	return nil
}

func TestWebhookAction(t *testing.T) {
	f := &fakeHooks{}
	bubble(t, func(w *world) { w.opt.Hooks = f; w.missing = []string{"OPPROCS"} }, func(t *testing.T, w *world) {
		w.depth = 7
		w.tick(w.intent("S", open, situations.Action{Verb: situations.VerbWebhook, Value: "http://h/${QUEUE}"}))
		if len(f.bodies) != 1 {
			t.Fatalf("posted %q", f.bodies)
		}
		for _, want := range []string{"http://h/DCQ1 S/1.0 ", `"edge":"open"`, `"CURDEPTH":7`, `"OPPROCS":null`, `"cluster":"C1"`, `"attempt":1`} {
			if !strings.Contains(f.bodies[0], want) {
				t.Errorf("%s lacks %s", f.bodies[0], want)
			}
		}
	})
}

// TestBudget_OverARestart: a daemon that crashes again and again does not act
// without a bound.
func TestBudget_OverARestart(t *testing.T) {
	bubble(t, func(w *world) { w.opt.Budget = 2 }, func(t *testing.T, w *world) {
		for i := range 4 {
			w.tick(w.intent("S"+strings.Repeat("x", i), open, script))
			w.pass(1)
			w.crash()
			w.run()
		}
		w.pass(2)
		if n := w.programs.count(); n != 2 {
			t.Errorf("%d programs ran, the budget is 2", n)
		}
		w.pass(70)
		if n := w.programs.count(); n != 4 {
			t.Errorf("%d programs ran a minute later, want all 4", n)
		}
	})
}
