package qmgr

import (
	"testing"
	"time"
)

// A message that is not fixed arrives where it could stay, but a better-ranked
// instance elsewhere is put-inhibited, and there is no dead-letter queue. If it
// stopped the channel, the news that the other instance is back could be stuck
// behind it for ever: found by the simulator.
func TestArrival_BetterRankInhibitedAndNoDeadLetterQueue_TakesTheLocalInstance(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm3.ok("ALTER QMGR DEADQ(' ')")
	qm1.ok("STOP CHANNEL(TO.QM3)")
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(3 * time.Second)
	h, reason := qm1.open("DCQ1", putNotFixed)
	if reason != 0 {
		t.Fatal(reason)
	}
	if _, reason := qm1.put(h, "in flight", true); reason != 0 {
		t.Fatal(reason)
	}
	qm2.ok("ALTER QLOCAL(DCQ1) CLWLRANK(5)")
	w.pass(3 * time.Second)
	qm1.ok("START CHANNEL(TO.QM3)")
	w.pass(time.Minute)
	if got := qm3.texts("DCQ1"); len(got) != 1 || got[0] != "in flight" {
		t.Errorf("DCQ1 at QM3 holds %q, transmission queue of QM1 %q", got, qm1.texts(sharedTransmitQ))
	}
}
