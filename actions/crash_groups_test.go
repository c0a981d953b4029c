package actions

import (
	"testing"

	"github.com/situationd/situationd/situations"
)

// TestCrashAtEveryEffect_OtherItems kills a daemon at each thing it does while it
// lowers a channel or the queue manager and gives it back, on a journal and a
// state on disk: nothing is set twice that was set, and all of it is given back.
func TestCrashAtEveryEffect_OtherItems(t *testing.T) {
	t.Parallel()
	for kind := weightRevert; kind < suspendResume; kind++ {
		t.Run(kind.item(), func(t *testing.T) {
			killAtEach(t, 8, func(t *testing.T, n int) bool { return crashItemAt(t, kind, n) })
		})
	}
}

func crashItemAt(t *testing.T, kind ruleKind, n int) bool {
	w := newWorld(t)
	w.item = kind.item()
	w.toDisk(t.TempDir())
	defer w.offDisk()
	attr, idle, read := kind.values()
	d := &drive{world: w, kind: kind}
	w.run()
	w.gate.set(n)
	w.send(w.intent("S", open, d.lowering()))
	lowering := w.survive(6)
	w.want(attr, idle)
	if s := w.engine.Lowered(); len(s) != 1 || s[0].Before != read || !s[0].Claimed || s[0].Target.Queue != w.item {
		t.Errorf("lowered %+v", s)
	}
	w.send(w.intent("S", closed, revert))
	raising := w.survive(6)
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
	return lowering || raising
}
