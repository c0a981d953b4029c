package actions

import "testing"

// TestLowered_DaemonDiedLowering kills a daemon at each thing that it does while
// it lowers: whatever is down is told from its state and given back with the
// daemon down, and the daemon that comes back does not lower it again.
func TestLowered_DaemonDiedLowering(t *testing.T) {
	t.Parallel()
	down := 0
	killAtEach(t, 2, func(t *testing.T, n int) bool {
		killed, lowered := diedLowering(t, n)
		if killed && lowered {
			down++
		}
		return killed
	})
	if down < 2 {
		t.Errorf("only %d times it was down", down)
	}
}

func diedLowering(t *testing.T, n int) (crashed, lowered bool) {
	w := newWorld(t)
	w.toDisk(t.TempDir())
	defer w.offDisk()
	w.run()
	w.gate.set(n)
	w.send(w.intent("D", open, put(disabled), moving))
	w.pass(2)
	crashed, lowered = w.gate.isDead(), w.get(attrPut) == disabled
	w.end()
	stored, err := w.db.LoadActions()
	must(t, err)
	told := len(stored.Lowered()) == 1 && stored.Lowered()[0].Attr == attrPut && stored.Lowered()[0].Before == enabled
	if lowered && !told {
		t.Errorf("killed at %d: down, and its state tells of %+v", n, stored.Lowered())
	}
	if !lowered {
		return crashed, lowered
	}
	w.opt.Manual = true
	w.run()
	revertNow(t, w, "anna")
	w.want(attrPut, enabled)
	w.end()
	w.opt.Manual = false
	w.run()
	w.pass(5)
	w.want(attrPut, enabled)
	w.end()
	return crashed, lowered
}
