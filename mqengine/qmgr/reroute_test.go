package qmgr

import (
	"fmt"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

// ways is where each message of the transmission queue is bound for.
func (n *netNode) ways() (of map[uint64]string, to map[string]int) {
	of, to = map[uint64]string{}, map[string]int{}
	q := n.m.localQueue(sharedTransmitQ)
	for msg := q.next(headOfQueue); msg != nil; msg = q.next(msg.position()) {
		of[msg.seq] = fmt.Sprint(msg.channel, " ", msg.targetQ, " ", msg.targetQMgr, " ", msg.bind)
		to[msg.channel]++
	}
	return of, to
}

// What was sent another way when a channel failed goes that way after a restart
// too: the store knows of it.
func TestReallocationOutlivesARestart(t *testing.T) {
	t.Parallel()
	w, qm1, qm2, qm3 := articleNet(t)
	h, _ := qm1.open("DCQ1", putNotFixed)
	w.settle()
	// Both links are gone, but the channels do not know yet: their windows fill and the rest waits.
	qm2.up, qm3.up = false, false
	for i := range 1200 {
		if _, reason := qm1.put(h, fmt.Sprintf("m%04d", i), true); reason != mqi.MQRC_NONE {
			t.Fatal(reason)
		}
	}
	_, before := qm1.ways()
	qm2.up = true
	qm2.crash()
	w.settle()
	want, after := qm1.ways()
	if before["TO.QM2"] < 200 || after["TO.QM2"] >= before["TO.QM2"] || after["TO.QM3"] <= before["TO.QM3"] {
		t.Fatalf("nothing was reallocated: %v, then %v", before, after)
	}
	qm1.apply(qm1.unsynced)
	qm1.crash()
	qm1.restore()
	got, _ := qm1.ways()
	for seq, way := range want {
		if got[seq] != way {
			t.Fatalf("message %d went %q, and after a restart %q", seq, way, got[seq])
		}
	}
	check(t, "messages", len(got), len(want))
}
