package actions

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/situationd/situationd/situations"
)

// TestLowered_DaemonDiedLowering kills a daemon at each thing that it does while
// it lowers: whatever is down is told from its state and given back with the
// daemon down, and the daemon that comes back does not lower it again.
func TestLowered_DaemonDiedLowering(t *testing.T) {
	t.Parallel()
	down := 0
	for n := 1; ; n++ {
		crashed := false
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				was, lowered := diedLowering(t, n)
				if crashed = was; was && lowered {
					down++
				}
			})
		})
		if !crashed {
			break
		}
	}
	if down < 2 {
		t.Errorf("only %d times it was down", down)
	}
}

func diedLowering(t *testing.T, n int) (crashed, lowered bool) {
	w := newWorld(t)
	dir := t.TempDir()
	db, err := OpenDB(filepath.Join(dir, "state.db"))
	must(t, err)
	defer db.Close()
	file, err := OpenJournal(filepath.Join(dir, "actions.jsonl"))
	must(t, err)
	defer file.Close()
	start := func(manual bool) {
		w.gate = &gate{left: -1}
		w.engine, err = New(Options{
			QMgr: here.QMgr, Manager: &fakeManager{w: w, g: w.gate}, Journal: diskJournal{file, w.journal, w.gate},
			Store: gatedDB{db, w.gate}, Items: w.items, Mover: w.mover, Manual: manual,
		})
		must(t, err)
		w.start()
	}
	start(false)
	w.gate.set(n)
	in := w.intent("D", open, put(disabled), moving)
	must(t, db.Commit(t.Context(), nil, []situations.Intent{in}))
	w.tick(in)
	w.pass(2)
	crashed, lowered = w.gate.isDead(), w.get(attrPut) == disabled
	w.end()
	stored, err := db.LoadActions()
	must(t, err)
	told := len(stored.Lowered()) == 1 && stored.Lowered()[0].Attr == attrPut && stored.Lowered()[0].Before == enabled
	if lowered && !told {
		t.Errorf("killed at %d: down, and its state tells of %+v", n, stored.Lowered())
	}
	if !lowered {
		return crashed, lowered
	}
	start(true)
	revertNow(t, w, "anna")
	w.want(attrPut, enabled)
	w.end()
	start(false)
	w.pass(5)
	w.want(attrPut, enabled)
	w.end()
	return crashed, lowered
}
