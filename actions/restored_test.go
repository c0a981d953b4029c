package actions

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/situations"
	"pgregory.net/rapid"
)

// lost is a daemon on disk whose state goes away between two lives.
type lost struct {
	*world
	dir string
}

func (l *lost) live() {
	l.t.Helper()
	l.toDisk(l.dir)
	_, err := l.db.Restore(filepath.Join(l.dir, "actions.jsonl"), here.QMgr)
	must(l.t, err)
	l.run()
}

func (l *lost) die(state bool) {
	l.t.Helper()
	l.end()
	l.offDisk()
	if state {
		must(l.t, os.Remove(filepath.Join(l.dir, "state.db")))
	}
}

func (l *lost) send(in situations.Intent) {
	l.t.Helper()
	l.world.send(in)
	l.pass(4)
}

// The state is taken away while something is lowered. The journal knows it: it is
// listed, and given back by who would have given it back.
func TestLostState_WhatIsLoweredComesFromTheJournal(t *testing.T) {
	priority := situations.Action{Verb: situations.VerbPriority, Value: "0", UseQ: "any", Claim: true}
	byPerson := func(t *testing.T, l *lost) { revertNow(t, l.world, "anna") }
	type lostCase struct {
		name, attr, found, low string
		lower                  []situations.Action
		back                   func(t *testing.T, l *lost)
		listed                 int
		item                   string
	}
	cases := []lostCase{
		{"the rule finds it idle again, and then served", attrPut, enabled, disabled, []situations.Action{claimed(put(disabled))}, func(t *testing.T, l *lost) {
			l.send(l.intent("S", open, claimed(put(disabled))))
			if c := l.engine.Claims(); len(c) != 1 || c[0].Baseline != enabled || c[0].Set != disabled {
				t.Errorf("claims %+v", c)
			}
			l.send(l.intent("S", closed, revert))
		}, 1, queueName},
		{"the rule finds it idle in the first sample", attrPut, enabled, disabled, []situations.Action{claimed(put(disabled))}, nil, 1, queueName},
		{"an availability finds it served", attrPut, enabled, disabled, []situations.Action{availability("S", put(disabled))}, func(t *testing.T, l *lost) {
			l.send(l.intent("S.read", open, availability("S", revert)))
		}, 1, queueName},
		{"a person", attrPut, enabled, disabled, []situations.Action{claimed(put(disabled))}, byPerson, 1, queueName},
		{"priority and useq", attrPriority, "5", "0", []situations.Action{priority}, func(t *testing.T, l *lost) {
			l.send(l.intent("S", open, priority))
			l.send(l.intent("S", closed, revert))
			l.want(attrUseQ, "QMGR")
		}, 2, queueName},
	}
	for kind := weightRevert; kind <= suspendResume; kind++ {
		attr, low, found := kind.values()
		lower := claimed((&drive{kind: kind}).lowering())
		again := func(_ *testing.T, l *lost) {
			l.send(l.intent("S", open, lower))
			if c := l.engine.Claims(); len(c) != 1 || c[0].Baseline != found || c[0].Set != low {
				l.t.Errorf("claims %+v", c)
			}
			l.send(l.intent("S", closed, revert))
		}
		cases = append(cases,
			lostCase{lower.String() + ", the rule", attr, found, low, []situations.Action{lower}, again, 1, kind.item()},
			lostCase{lower.String() + ", a person", attr, found, low, []situations.Action{lower}, byPerson, 1, kind.item()})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lost{world: newWorld(t), dir: t.TempDir()}
				l.item = c.item
				l.values[attrPriority], l.values[attrUseQ] = "5", "QMGR"
				l.others[0].ClwlPrty = 9
				situation := "S"
				if c.lower[0].ClaimName != "" {
					situation = "S.idle"
				}
				l.live()
				l.send(l.intent(situation, open, c.lower...))
				l.want(c.attr, c.low)
				l.die(true)
				l.live()
				if c.back == nil {
					l.send(l.intent("S", open, c.lower...))
					c.back = func(t *testing.T, l *lost) { l.send(l.intent("S", closed, revert)) }
				}
				l.pass(2)
				if got := l.engine.Lowered(); len(got) != c.listed {
					t.Errorf("lowered %+v", got)
				}
				c.back(t, l)
				l.pass(2)
				l.want(c.attr, c.found)
				if n := len(l.engine.Lowered()) + len(l.engine.Claims()); n != 0 {
					t.Errorf("left: %+v %+v", l.engine.Lowered(), l.engine.Claims())
				}
				l.die(false)
			})
		})
	}
}

// The daemon was killed in the middle of the change, made or not, and its state is gone.
func TestLostState_AnAttemptThatDidNotEnd(t *testing.T) {
	for i := range 4 {
		made, first := i%2 == 1, i > 1
		t.Run(fmt.Sprintf("made %t, idle in the first sample %t", made, first), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lost{world: newWorld(t), dir: t.TempDir()}
				l.live()
				before, after := enabled, disabled
				must(t, l.file.Append(Entry{
					Time: time.Now(), ID: "S/1.0", Attempt: 1, Situation: "S", QMgr: here.QMgr, Queue: here.Queue, Edge: open,
					Action: "put DISABLED", Before: &before, After: &after, Result: resultStarted,
				}, true))
				if made {
					l.person(attrPut, disabled)
				}
				l.die(true)
				l.live()
				if first {
					l.send(l.intent("S", open, claimed(put(disabled))))
					l.want(attrPut, disabled)
					l.send(l.intent("S", closed, revert))
					l.want(attrPut, enabled)
					l.die(false)
					return
				}
				l.pass(2)
				if got := l.engine.Lowered(); len(got) == 1 != made || made && got[0].Before != enabled {
					t.Errorf("lowered %+v", got)
				}
				// It is idle still: it is lowered in the end, and given back.
				l.send(l.intent("S", open, claimed(put(disabled))))
				l.want(attrPut, disabled)
				l.send(l.intent("S", closed, revert))
				l.want(attrPut, enabled)
				l.die(false)
			})
		})
	}
}

// What began and did not end, of every kind of item.
func TestLostState_AnyItemThatDidNotEnd(t *testing.T) {
	for kind := weightRevert; kind <= suspendResume; kind++ {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lost{world: newWorld(t), dir: t.TempDir()}
				l.item = kind.item()
				attr, low, found := kind.values()
				l.live()
				l.dieAfterSet = true
				l.send(l.intent("S", open, (&drive{kind: kind}).lowering()))
				l.die(true)
				l.want(attr, low)
				l.live()
				l.pass(2)
				if got := l.engine.Lowered(); len(got) != 1 || got[0].Attr != attr || got[0].Before != found || got[0].Target.Queue != l.item {
					t.Errorf("lowered %+v", got)
				}
				revertNow(t, l.world, "anna")
				l.pass(2)
				l.want(attr, found)
				l.die(false)
			})
		})
	}
}

// The lines of several changes of one attribute come to what the changes came to.
func TestLostState_SeveralChangesOfOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []string
		before string // of the lowering that stands, blank for none
	}{
		{[]string{"9", "0", "5"}, "9"},
		{[]string{"9", "0", "9"}, ""},
		{[]string{"9", "5", "0"}, "9"},
		{[]string{"9", "0", "5", "9"}, ""},
		{[]string{"9", "0", "5", "0"}, "9"},
		{[]string{"5", "9", "0"}, "9"},
	} {
		r := restorer{qmgr: here.QMgr, outs: newOuts(nil), open: map[string]Entry{}}
		for i, after := range c.values[1:] {
			e := Entry{ID: fmt.Sprint(i), QMgr: here.QMgr, Queue: here.Queue, Action: "rank " + after, Before: &c.values[i], After: &after}
			for _, e.Result = range []Result{resultStarted, resultDone} {
				r.read(&e)
			}
		}
		r.end()
		before := ""
		if out := r.outs.get(here, attrRank); out != nil {
			before = out.Before
			if last := c.values[len(c.values)-1]; out.After != last {
				t.Errorf("%v: down at %s", c.values, out.After)
			}
		}
		if before != c.before {
			t.Errorf("%v: was %q before, want %q", c.values, before, c.before)
		}
	}
}

// A state is new until the journal was read once to its end: not after an error,
// and not for a daemon that ended on the way.
func TestLostState_NewUntilTheJournalWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lost{world: newWorld(t), dir: t.TempDir()}
		l.live()
		l.send(l.intent("S", open, put(disabled)))
		l.die(true)
		l.toDisk(l.dir)
		l.offDisk()
		l.toDisk(l.dir)
		path := filepath.Join(l.dir, "actions.jsonl")
		if _, err := l.db.Restore(filepath.Join(path, "no folder"), here.QMgr); err == nil {
			t.Error("a journal that cannot be looked at is taken for none")
		}
		l.offDisk()
		l.toDisk(l.dir)
		for i, want := range []int{1, 0} {
			got, err := l.db.Restore(path, here.QMgr)
			must(t, err)
			if len(got) != want {
				t.Errorf("time %d: %+v", i, got)
			}
		}
		l.offDisk()
	})
}

// What was given back, and what a person has changed since, is not lowered; a
// state that is there is believed, whatever the journal says.
func TestLostState_NothingElseComesFromTheJournal(t *testing.T) {
	for _, c := range []struct {
		name  string
		since func(t *testing.T, l *lost)
		state bool
	}{
		{"given back", func(t *testing.T, l *lost) { l.send(l.intent("S", closed, revert)) }, true},
		{"changed by a person", func(_ *testing.T, l *lost) { l.person(attrPut, enabled) }, true},
		{"changed by a person, the state is there", func(_ *testing.T, l *lost) { l.person(attrPut, enabled) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lost{world: newWorld(t), dir: t.TempDir()}
				l.live()
				l.send(l.intent("S", open, claimed(put(disabled))))
				c.since(t, l)
				l.die(c.state)
				l.live()
				l.pass(3)
				if got := l.engine.Lowered(); len(got) != 0 {
					t.Errorf("lowered %+v", got)
				}
				l.want(attrPut, enabled)
				l.die(false)
			})
		})
	}
}

// Somebody removes the file of a running daemon, or its folder: what is recorded
// afterwards is in a file at its place, with all that was there before.
func TestState_RemovedWhileInUse_IsWrittenAnew(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "daemon")
	must(t, os.Mkdir(dir, 0o750))
	path := filepath.Join(dir, "state.db")
	db, err := OpenDB(path)
	must(t, err)
	note := func(word string) error {
		return db.SaveActions(Update{Raised: map[Target]time.Time{{QMgr: "QM2", Queue: word}: time.Now()}})
	}
	must(t, note("A"))
	must(t, os.Remove(path))
	must(t, note("B"))
	must(t, os.RemoveAll(dir))
	if err := note("C"); err == nil {
		t.Error("a state without a folder was written")
	}
	must(t, os.Mkdir(dir, 0o750))
	must(t, note("C"))
	must(t, os.Remove(path))
	must(t, db.Close())
	db, err = OpenDB(path)
	must(t, err)
	stored, err := db.LoadActions()
	must(t, err)
	if len(stored.Raised) != 3 {
		t.Errorf("kept %v", stored.Raised)
	}
	must(t, os.Rename(path, path+".old"))
	must(t, os.WriteFile(path, nil, 0o600))
	if err := note("D"); err == nil {
		t.Error("recorded beside a file that somebody else put there")
	}
	if err := db.Close(); err == nil {
		t.Error("closed as if all were kept")
	}
}

// Whatever levers of one item several rules move, down, up, and back: the journal
// tells what the state does.
func TestLostState_TheJournalTellsWhatTheStateDoes(t *testing.T) {
	t.Parallel()
	lever := func(v situations.Verb, value string, claim bool) situations.Action {
		a := situations.Action{Verb: v, Value: value, AllowLast: true, Claim: claim}
		if v == situations.VerbPriority {
			a.UseQ = "any"
		}
		return a
	}
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			w := newWorld(failer{t, rt})
			verbs := []situations.Verb{situations.VerbRank, situations.VerbPriority}
			if rapid.Bool().Draw(rt, "channel") {
				w.item = theChannel
				verbs = append(verbs, situations.VerbWeight)
			}
			for _, attr := range []string{attrRank, attrPriority, attrWeight} {
				w.values[attr] = rapid.SampledFrom([]string{"0", "5"}).Draw(rt, "found") // equal ones are hard to tell
			}
			w.run()
			defer w.end()
			for range rapid.IntRange(1, 12).Draw(rt, "edges") {
				verb := rapid.SampledFrom(verbs).Draw(rt, "verb")
				value := rapid.SampledFrom([]string{"0", "3", "5"}).Draw(rt, "value")
				switch rapid.IntRange(0, 4).Draw(rt, "edge") {
				case 0, 1:
					w.tick(w.intent(string(verb)+value, open, lever(verb, value, true)))
				case 2:
					w.tick(w.intent(string(verb)+value, closed, revert))
				case 3:
					w.tick(w.intent("P"+string(verb)+value, open, lever(verb, value, false)))
				default:
					revertNow(t, w, "anna")
				}
				w.pass(4)
				want := map[string]string{}
				for k, out := range w.engine.outs.m {
					want[k.attr] = out.After + " for " + out.Before
				}
				if c := w.engine.claims.get(Target{QMgr: here.QMgr, Queue: w.item}, attrUseQ); c != nil {
					want[attrUseQ] = c.Set + " for " + c.Baseline
				}
				r := restorer{qmgr: here.QMgr, outs: newOuts(nil), open: map[string]Entry{}}
				for _, line := range w.journal.all() {
					r.read(&line)
				}
				r.end()
				got := map[string]string{}
				for k, out := range r.outs.m {
					if k.target.Queue != w.item {
						rt.Errorf("of %s", k.target.Queue)
					}
					got[k.attr] = out.After + " for " + out.Before
				}
				if diff := cmp.Diff(want, got); diff != "" {
					for _, l := range w.journal.all() {
						rt.Log(l.ID, l.Action, l.Result, l.Attribute, l.Reason)
					}
					rt.Fatal(diff)
				}
			}
		})
	})
}
