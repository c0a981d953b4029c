package actions

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/situationd/situationd/situations"
)

// TestCrashAtEveryEffect_OtherItems kills a daemon at each thing it does while it
// lowers a channel or the queue manager and gives it back, on a journal and a
// state on disk: nothing is set twice that was set, and all of it is given back.
func TestCrashAtEveryEffect_OtherItems(t *testing.T) {
	t.Parallel()
	for kind := weightRevert; kind < suspendResume; kind++ {
		points := 0
		for n := 1; ; n++ {
			crashed := false
			t.Run(fmt.Sprint(kind.item(), " ", n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crashed = crashItemAt(t, kind, n) })
			})
			if !crashed {
				break
			}
			points++
		}
		if points < 8 {
			t.Errorf("%s: only %d points to crash at", kind.item(), points)
		}
		t.Logf("%s: killed at %d points", kind.item(), points)
	}
}

func crashItemAt(t *testing.T, kind ruleKind, n int) (crashed bool) {
	w := newWorld(t)
	w.item = kind.item()
	dir := t.TempDir()
	db, err := OpenDB(filepath.Join(dir, "state.db"))
	must(t, err)
	defer db.Close()
	file, err := OpenJournal(filepath.Join(dir, "actions.jsonl"))
	must(t, err)
	defer file.Close()
	start := func() {
		w.gate = &gate{left: -1}
		w.engine, err = New(Options{
			QMgr: here.QMgr, Manager: &fakeManager{w: w, g: w.gate}, Journal: diskJournal{file, w.journal, w.gate},
			Store: gatedDB{db, w.gate}, Items: w.items,
		})
		must(t, err)
		w.start()
	}
	send := func(in situations.Intent) {
		must(t, db.Commit(t.Context(), nil, []situations.Intent{in}))
		w.tick(in)
		for range 6 {
			w.pass(1)
			if w.gate.isDead() {
				crashed = true
				w.end()
				start()
			}
		}
	}
	attr, idle, read := kind.values()
	d := &drive{world: w, kind: kind}
	start()
	w.gate.set(n)
	send(w.intent("S", open, d.lowering()))
	w.want(attr, idle)
	if s := w.engine.Lowered(); len(s) != 1 || s[0].Before != read || !s[0].Claimed || s[0].Target.Queue != w.item {
		t.Errorf("lowered %+v", s)
	}
	send(w.intent("S", closed, revert))
	w.want(attr, read)
	if left := len(w.engine.Lowered()) + len(w.engine.Claims()); left > 0 || len(w.sets) != 2 {
		t.Errorf("%d left, %d changes", left, len(w.sets))
	}
	d.pairs()
	for _, l := range w.journal.all() {
		if l.Queue != "" || l.Channel != situations.ChannelOf(w.item) {
			t.Errorf("a line is of queue %q, channel %q", l.Queue, l.Channel)
		}
	}
	w.end()
	return crashed
}
