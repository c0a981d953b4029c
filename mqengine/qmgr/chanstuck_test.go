package qmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
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

// REFRESH CLUSTER forgets the channel to a queue manager that is down, and then
// this one restarts: what it had sent there is in doubt all the same, and must
// not go another way. Found by the simulator: the message was read twice.
func TestRestart_ChannelInDoubtIsNotKnownAfterRefresh_MessagesStayInDoubt(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(3 * time.Second)
	h, reason := qm1.open("DCQ1", putNotFixed)
	if reason != 0 {
		t.Fatal(reason)
	}
	qm1.lastBody++
	qm1.bodies[qm1.lastBody] = []byte("once")
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	qm1.step(Call{Conn: 1, Tag: 1 << 20, Request: PutReq{Handle: h, MD: md, Body: BodyRef{ID: qm1.lastBody, Len: 4}}})
	// QM3 gets it; its confirmation does not arrive.
	for range 1000 {
		for _, end := range w.ends() {
			if end.node == qm3 || len(qm3.texts("DCQ1")) == 0 {
				w.deliver(end)
			}
			if len(qm3.texts("DCQ1")) > 0 {
				break
			}
		}
	}
	if got := qm3.texts("DCQ1"); len(got) != 1 {
		t.Fatalf("QM3 has %q", got)
	}
	for _, end := range w.ends() {
		delete(w.queues, end)
	}
	qm3.crash()
	w.pass(time.Second)
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)")
	cmd, _ := mqsc.Parse("REFRESH CLUSTER(C1) REPOS(NO)")
	qm1.step(Call{Conn: 1, Tag: 1<<20 + 1, Request: CommandReq{Command: cmd}})
	qm1.crash()
	qm2.crash()
	qm1.start()
	w.pass(time.Minute)
	xmit := qm1.m.localQueue(sharedTransmitQ)
	for msg := xmit.next(headOfQueue); msg != nil; msg = xmit.next(msg.position()) {
		if string(qm1.body(msg.body)) == "once" && msg.available() {
			t.Error("the message that is in doubt may go another way")
		}
	}
	qm2.start()
	w.pass(5 * time.Minute)
	if got := qm2.texts("DCQ1"); len(got) != 0 {
		t.Errorf("QM2 has %q while it is in doubt", got)
	}
	qm3.start()
	w.pass(10 * time.Minute)
	if got := append(qm2.texts("DCQ1"), qm3.texts("DCQ1")...); len(got) != 1 {
		t.Errorf("in the end there are %q", got)
	}
	if got := qm1.texts(sharedTransmitQ); slices.Contains(got, "once") {
		t.Errorf("the transmission queue still has %q", got)
	}
}
