package actions

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/situations"
)

// lost is a daemon on disk whose state goes away between two lives.
type lost struct {
	*world
	dir  string
	db   *DB
	file *Journal
}

func (l *lost) live(t *testing.T) {
	t.Helper()
	var err error
	l.db, err = OpenDB(filepath.Join(l.dir, "state.db"))
	must(t, err)
	path := filepath.Join(l.dir, "actions.jsonl")
	l.file, err = OpenJournal(path)
	must(t, err)
	_, err = l.db.Restore(path, here.QMgr)
	must(t, err)
	l.gate = &gate{left: -1}
	l.engine, err = New(Options{
		QMgr: here.QMgr, Manager: &fakeManager{w: l.world, g: l.gate}, Journal: l.file, Store: l.db,
		Programs: l.programs, Mover: l.mover, Items: l.items,
	})
	must(t, err)
	l.start()
}

func (l *lost) die(t *testing.T, state bool) {
	t.Helper()
	l.end()
	must(t, l.db.Close())
	must(t, l.file.Close())
	if state {
		must(t, os.Remove(filepath.Join(l.dir, "state.db")))
	}
}

func (l *lost) send(t *testing.T, in situations.Intent) {
	t.Helper()
	must(t, l.db.Commit(t.Context(), nil, []situations.Intent{in}))
	l.tick(in)
	l.pass(4)
}

// The state is taken away while something is lowered. The journal knows it: it is
// listed, and given back by who would have given it back.
func TestLostState_WhatIsLoweredComesFromTheJournal(t *testing.T) {
	priority := situations.Action{Verb: situations.VerbPriority, Value: "0", UseQ: "any", Claim: true}
	for _, c := range []struct {
		name, attr, found, low string
		lower                  []situations.Action
		back                   func(t *testing.T, l *lost)
		listed                 int
	}{
		{"the rule finds it idle again, and then served", attrPut, enabled, disabled, []situations.Action{claimed(put(disabled))}, func(t *testing.T, l *lost) {
			l.send(t, l.intent("S", open, claimed(put(disabled))))
			if c := l.engine.Claims(); len(c) != 1 || c[0].Baseline != enabled || c[0].Set != disabled {
				t.Errorf("claims %+v", c)
			}
			l.send(t, l.intent("S", closed, revert))
		}, 1},
		{"the rule finds it idle in the first sample", attrPut, enabled, disabled, []situations.Action{claimed(put(disabled))}, nil, 1},
		{"an availability finds it served", attrPut, enabled, disabled, []situations.Action{availability("S", put(disabled))}, func(t *testing.T, l *lost) {
			l.send(t, l.intent("S.read", open, availability("S", revert)))
		}, 1},
		{"a person", attrPut, enabled, disabled, []situations.Action{claimed(put(disabled))}, func(t *testing.T, l *lost) {
			done := make(chan error, 1)
			go func() {
				_, err := l.engine.Revert(t.Context(), "anna", "")
				done <- err
			}()
			l.pass(3)
			must(t, <-done)
		}, 1},
		{"priority and useq", attrPriority, "5", "0", []situations.Action{priority}, func(t *testing.T, l *lost) {
			l.send(t, l.intent("S", open, priority))
			l.send(t, l.intent("S", closed, revert))
			l.want(attrUseQ, "QMGR")
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lost{world: newWorld(t), dir: t.TempDir()}
				l.values[attrPriority], l.values[attrUseQ] = "5", "QMGR"
				l.others[0].ClwlPrty = 9
				situation := "S"
				if c.lower[0].ClaimName != "" {
					situation = "S.idle"
				}
				l.live(t)
				l.send(t, l.intent(situation, open, c.lower...))
				l.want(c.attr, c.low)
				l.die(t, true)
				l.live(t)
				if c.back == nil {
					l.send(t, l.intent("S", open, c.lower...))
					c.back = func(t *testing.T, l *lost) { l.send(t, l.intent("S", closed, revert)) }
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
				l.die(t, false)
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
				l.live(t)
				before, after := enabled, disabled
				must(t, l.file.Append(Entry{
					Time: time.Now(), ID: "S/1.0", Attempt: 1, Situation: "S", QMgr: here.QMgr, Queue: here.Queue, Edge: open,
					Action: "put DISABLED", Before: &before, After: &after, Result: resultStarted,
				}, true))
				if made {
					l.person(attrPut, disabled)
				}
				l.die(t, true)
				l.live(t)
				if first {
					l.send(t, l.intent("S", open, claimed(put(disabled))))
					l.want(attrPut, disabled)
					l.send(t, l.intent("S", closed, revert))
					l.want(attrPut, enabled)
					l.die(t, false)
					return
				}
				l.pass(2)
				if got := l.engine.Lowered(); len(got) == 1 != made || made && got[0].Before != enabled {
					t.Errorf("lowered %+v", got)
				}
				// It is idle still: it is lowered in the end, and given back.
				l.send(t, l.intent("S", open, claimed(put(disabled))))
				l.want(attrPut, disabled)
				l.send(t, l.intent("S", closed, revert))
				l.want(attrPut, enabled)
				l.die(t, false)
			})
		})
	}
}

// What was given back, and what a person has changed since, is not lowered; a
// state that is there is believed, whatever the journal says.
func TestLostState_NothingElseComesFromTheJournal(t *testing.T) {
	for _, c := range []struct {
		name  string
		since func(t *testing.T, l *lost)
		state bool
	}{
		{"given back", func(t *testing.T, l *lost) { l.send(t, l.intent("S", closed, revert)) }, true},
		{"changed by a person", func(_ *testing.T, l *lost) { l.person(attrPut, enabled) }, true},
		{"changed by a person, the state is there", func(_ *testing.T, l *lost) { l.person(attrPut, enabled) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lost{world: newWorld(t), dir: t.TempDir()}
				l.live(t)
				l.send(t, l.intent("S", open, claimed(put(disabled))))
				c.since(t, l)
				l.die(t, c.state)
				l.live(t)
				l.pass(3)
				if got := l.engine.Lowered(); len(got) != 0 {
					t.Errorf("lowered %+v", got)
				}
				l.want(attrPut, enabled)
				l.die(t, false)
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
