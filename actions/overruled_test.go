package actions

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/situations"
)

// decided is what the next sample decides, before anything of it begins.
func (w *world) decided(intents ...situations.Intent) *step {
	w.t.Helper()
	e := w.engine
	e.mu.Lock()
	tg := e.targetOf(here)
	tg.working = true // this test is its worker
	e.mu.Unlock()
	w.tick(intents...)
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.next(tg, time.Now())
	if s == nil || s.kind != stepAct {
		w.t.Fatalf("decided %+v", s)
	}
	e.workers++
	return s
}

// What is said between a decision and its beginning is heard: what was decided
// does not begin.
func TestOverruledBeforeItBegins(t *testing.T) {
	hold := func(w *world) { w.hold(queueName) }
	cancel := func(w *world) {
		_, err := w.engine.CancelMove("anna", queueName)
		must(w.t, err)
	}
	reversed := func(w *world) { w.tick(w.intent("D", closed, revert)) }
	for _, c := range []struct {
		name   string
		action situations.Action // nothing: a person's run
		say    func(*world)
		line   string // what the journal has of it in the end
		later  bool   // it is made when the hold is released
	}{
		{"a hold, a person's run", situations.Action{}, hold, "redistribute blocked: held by anna", false},
		{"a cancel, a person's run", situations.Action{}, cancel, "redistribute superseded: cancelled by anna", false},
		{"a hold, a rule's run", moving, hold, "redistribute blocked: held by anna", true},
		{"a cancel, a rule's run", moving, cancel, "redistribute no_change: cancelled by anna", false},
		{"a hold, a program", script, hold, "exec /opt/fix DCQ1 blocked: held by anna", true},
		{"a hold, a change", put(disabled), hold, "put DISABLED blocked: held by anna", true},
		{"the reversed edge, a rule's run", moving, reversed, "redistribute superseded: the situation's edge reversed", false},
		{"the reversed edge, a program", script, reversed, "exec /opt/fix DCQ1 superseded: the situation's edge reversed", false},
		{"the reversed edge, a change", put(disabled), reversed, "put DISABLED superseded: the situation's edge reversed", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				w.depth = 40
				var s *step
				var run MoveRun
				if c.action.Verb == "" {
					w.tick()
					run = w.move(MoveRequest{By: "bert"})
					s = w.decided()
				} else {
					s = w.decided(w.intent("D", open, c.action))
				}
				done := func() int { return w.mover.runs + w.programs.count() + len(w.sets) }
				c.say(w)
				w.engine.worker(s.tg, s)
				w.pass(3)
				if n := done(); n != 0 {
					t.Errorf("%d things done", n)
				}
				var lines []string
				for _, l := range w.journal.all() {
					lines = append(lines, l.Action+" "+string(l.Result)+": "+l.Reason)
				}
				found := 0
				for _, l := range lines {
					if strings.HasPrefix(l, c.line) {
						found++
					}
				}
				if found != 1 {
					t.Errorf("journal %q, want one of %q", lines, c.line)
				}
				if run.ID != "" {
					if got := w.runOf(run.ID); !got.Over || !strings.Contains(got.Report.Reason, "by anna") {
						t.Errorf("run %+v", got)
					}
				}
				_, _ = w.engine.Release("anna", queueName)
				w.pass(3)
				if n := done(); n > 0 != c.later {
					t.Errorf("%d things done after all", n)
				}
			})
		})
	}
}

// A person's run that ends while it waits for its turn among many has its line, too.
func TestByHandCutShortBeforeItBegins(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(*world)
		reason string
	}{
		"cancelled": {func(w *world) { _, err := w.engine.CancelMove("bert", queueName); must(w.t, err) }, "cancelled by bert"},
		"held":      {func(w *world) { w.hold(queueName) }, "held by anna"},
		"never": {
			func(w *world) { w.items.set(func(f *fakeItems) { f.never = true }) }, "redistribute: never",
		},
		"put back":       {func(w *world) { w.tick(w.intent("E", open, put(enabled))) }, "E puts the instance back"},
		"the daemon end": {func(w *world) { w.stop() }, theEnd},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				w.depth = 40
				w.tick()
				for range maxMoves {
					w.engine.moves <- struct{}{}
				}
				run := w.move(MoveRequest{})
				w.tick()
				c.end(w)
				synctest.Wait()
				w.pass(2)
				got := w.runOf(run.ID)
				if !got.Over || got.State != string(MoveCancelled) || !strings.Contains(got.Report.Reason, c.reason) {
					t.Errorf("run %+v", got)
				}
				var lines []Entry
				for _, l := range w.journal.all() {
					if l.Action == "redistribute" {
						lines = append(lines, l)
					}
				}
				if len(lines) != 1 || lines[0].Result != resultSuperseded || lines[0].By != "anna" || !strings.Contains(lines[0].Reason, c.reason) {
					t.Errorf("journal %+v", lines)
				}
				if w.mover.runs != 0 || w.store.left() > 0 {
					t.Errorf("%d runs, %d intents left", w.mover.runs, w.store.left())
				}
			})
		})
	}
}

// What a guard held and what has begun since is not blocked any more; what cannot
// begin since its start cannot be recorded is, from the first time on.
func TestBlockedUntilItBegins(t *testing.T) {
	for name, in := range map[string]func(*world) situations.Intent{
		"a program": func(w *world) situations.Intent {
			w.programs.takes = time.Hour
			return w.intent("S", open, script)
		},
		"a change": func(w *world) situations.Intent {
			w.setTakes = 20 * time.Second
			return w.intent("S", open, put(disabled))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, w *world) {
				since := time.Now()
				w.journal.setBad(true)
				w.tick(in(w))
				w.pass(3)
				blocked := func(want bool) {
					t.Helper()
					got := w.engine.Blocked(time.Now())
					if len(got) > 0 != want || want && !got[0].Since.Equal(since) {
						t.Errorf("blocked %+v since %s: %t", got, since, want)
					}
				}
				blocked(true)
				w.store.setBad(true)
				w.journal.setBad(false)
				for range 10 {
					w.pass(1)
					blocked(true)
				}
				w.store.setBad(false)
				w.pass(3)
				if lines := w.journal.all(); lines[len(lines)-1].Result != resultStarted {
					t.Errorf("journal %q", w.results())
				}
				blocked(false)
			})
		})
	}
}
