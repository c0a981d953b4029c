package qmgr

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// What the Portuguese page on more than one instance of a queue says, one test
// for each statement.

const putBound = mqi.MQOO_OUTPUT | mqi.MQOO_BIND_ON_OPEN

// behind lets QM2 change its queue without anybody hearing of it, has QM1 put
// ten messages that are not fixed meanwhile, and lets them talk again.
func behind(w *clusterNet, qm1, qm2 *netNode, h uint32, change func()) {
	w.cut["QM2>QM1"], w.cut["QM2>QM3"] = true, true
	qm2.cutLinks()
	w.pass(2 * time.Second)
	change()
	qm1.puts(h, "m", 10)
	w.pass(5 * time.Second)
	w.cut = map[string]bool{}
	w.pass(3 * time.Minute)
}

// The destination is not there any more, its state has changed, or it is an
// alias without its base when the message arrives: it goes to another instance.
func TestPortuguese_ThreeProblemsAreRoutedAgain(t *testing.T) {
	for _, tt := range []struct {
		problem string
		change  []string
	}{
		{"the queue is not there", []string{"DELETE QLOCAL(SVC)"}},
		{"the state of the queue has changed", []string{"ALTER QLOCAL(SVC) PUT(DISABLED)"}},
		{"an alias has no base", nil},
		{"the base of an alias is inhibited", nil},
	} {
		w, qm1, qm2, qm3 := articleNet(t)
		alias := strings.Contains(tt.problem, "alias")
		for _, n := range []*netNode{qm2, qm3} {
			if alias {
				n.ok("DEFINE QLOCAL(BASE)", "DEFINE QALIAS(SVC) TARGET(BASE) CLUSTER(C1) DEFBIND(NOTFIXED)")
			} else {
				n.ok("DEFINE QLOCAL(SVC) CLUSTER(C1) DEFBIND(NOTFIXED)")
			}
		}
		w.pass(time.Second)
		target := map[bool]string{true: "BASE", false: "SVC"}[alias]
		switch tt.problem {
		case "an alias has no base":
			tt.change = []string{"DELETE QLOCAL(BASE)"}
		case "the base of an alias is inhibited":
			tt.change = []string{"ALTER QALIAS(SVC) PUT(DISABLED)"}
		}
		behind(w, qm1, qm2, qm1.opens("SVC"), func() { qm2.ok(tt.change...) })
		got := qm3.texts(target)
		slices.Sort(got)
		if len(slices.Compact(got)) != 10 || len(qm2.texts(target)) != 0 {
			t.Errorf("%s: QM3 has %v, QM2 %v, dead letters %v", tt.problem, got, qm2.texts(target), qm2.texts("SYSTEM.DEAD.LETTER.QUEUE"))
		}
	}
}

// If no instance is available the message goes to the dead-letter queue.
func TestPortuguese_NothingAvailableGoesToTheDeadLetterQueue(t *testing.T) {
	for _, tt := range []struct {
		problem string
		at2     string
		reason  mqi.Reason
	}{
		{"all inhibited", "ALTER QLOCAL(DCQ1) PUT(DISABLED)", mqi.MQRC_CLUSTER_PUT_INHIBITED},
		{"not there", "DELETE QLOCAL(DCQ1)", mqi.MQRC_CLUSTER_PUT_INHIBITED},
	} {
		w, qm1, qm2, qm3 := articleNet(t)
		h := qm1.opens("DCQ1")
		// QM1 hears of neither change before it has put.
		qm1.ok("STOP CHANNEL(TO.QM1)")
		w.settle()
		qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
		w.settle()
		qm2.ok(tt.at2)
		w.settle()
		for range 2 {
			qm1.puts(h, "m", 1)
		}
		w.pass(time.Minute)
		qm1.ok("START CHANNEL(TO.QM1)")
		w.pass(3 * time.Minute)
		var dead []string
		for _, n := range []*netNode{qm1, qm2, qm3} {
			q := n.m.localQueue("SYSTEM.DEAD.LETTER.QUEUE")
			for msg := q.next(headOfQueue); msg != nil; msg = q.next(msg.position()) {
				dead = append(dead, fmt.Sprintf("%s %s %s", string(n.body(msg.body)), msg.dead.destQ, msg.dead.reason))
			}
		}
		want := fmt.Sprintf("m0 DCQ1 %s", tt.reason)
		if len(dead) != 2 || !slices.Contains(dead, want) {
			t.Errorf("%s: dead letters %q, want twice %q; waiting %v %v %v", tt.problem, dead, want, qm1.texts(sharedTransmitQ), qm2.texts(sharedTransmitQ), qm3.texts(sharedTransmitQ))
		}
	}
}

// What is bound at MQOPEN is never put to another instance or channel.
func TestPortuguese_BoundIsNeverRoutedAgain(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)") // so that QM2 is chosen
	w.settle()
	h, reason := qm1.open("DCQ1", putBound)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)")
	w.settle()
	// QM2 fails: they wait for it.
	qm2.crash()
	w.pass(time.Second)
	qm1.puts(h, "m", 3)
	w.pass(10 * time.Minute)
	if got := qm1.texts(sharedTransmitQ); !slices.Contains(got, "m0") || !slices.Contains(got, "m2") || len(qm3.texts("DCQ1")) != 0 {
		t.Errorf("while QM2 is away %v wait, QM3 has %v", got, qm3.texts("DCQ1"))
	}
	qm2.start()
	w.pass(30 * time.Minute)
	if got := qm2.texts("DCQ1"); !slices.Equal(got, []string{"m0", "m1", "m2"}) {
		t.Errorf("QM2 has %v", got)
	}
	// QM2's instance is inhibited: a dead letter there, though QM3's is not.
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	qm1.puts(h, "late", 1)
	w.pass(time.Minute)
	if got := qm2.texts("SYSTEM.DEAD.LETTER.QUEUE"); !slices.Equal(got, []string{"late0"}) || len(qm3.texts("DCQ1")) != 0 {
		t.Errorf("QM2's dead letters %v, QM3 has %v", got, qm3.texts("DCQ1"))
	}
}

// Reallocation happens while a channel is failing, not when it has failed already.
func TestPortuguese_ReallocationOnlyWhileAChannelIsFailing(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	h := qm1.opens("DCQ1")
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.settle()
	// The channel to QM3 fails with messages waiting that have no other way yet.
	qm3.crash()
	w.pass(5 * time.Second)
	qm1.puts(h, "m", 4)
	w.pass(time.Minute)
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)")
	w.pass(10 * time.Minute) // and fails again with every attempt
	if got := qm1.texts(sharedTransmitQ); len(got) < 4 || len(qm2.texts("DCQ1")) != 0 {
		t.Errorf("the channel has failed before: %v wait, QM2 has %v", got, qm2.texts("DCQ1"))
	}
	qm1.puts(h, "new", 2) // what is put now is routed now
	w.pass(time.Second)
	if got := qm2.texts("DCQ1"); !slices.Equal(got, []string{"new0", "new1"}) {
		t.Errorf("QM2 has %v", got)
	}
	qm3.start()
	w.pass(time.Hour)
	if got := qm3.texts("DCQ1"); !slices.Equal(got, []string{"m0", "m1", "m2", "m3"}) {
		t.Errorf("QM3 has %v", got)
	}
	// Now it fails while messages wait for it: they go to QM2.
	clearAt("DCQ1", qm2, qm3)
	qm3.up = false // the channel does not know yet, its window fills
	qm1.puts(h, "w", 600)
	waiting := len(qm1.texts(sharedTransmitQ))
	qm3.up = true
	qm3.crash()
	w.settle()
	left := len(qm1.texts(sharedTransmitQ))
	if waiting < 100 || waiting-left < 50 {
		t.Errorf("%d waited, %d after the channel failed", waiting, left)
	}
	qm3.start()
	w.pass(time.Hour)
	if got := len(qm2.texts("DCQ1")) + len(qm3.texts("DCQ1")); got != 600 {
		t.Errorf("%d of 600 arrived", got)
	}
}

// What a queue manager that failed has left in doubt is not routed again: it
// would be lost or come twice.
func TestPortuguese_InDoubtStays(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	h := qm1.opens("DCQ1")
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.settle()
	qm1.puts(h, "before", 1)
	w.settle()
	qm3.up = false          // what is sent now is not confirmed
	qm1.puts(h, "doubt", 4) // a batch each, and as many as may be on their way
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)")
	qm3.up = true
	qm3.crash()
	w.pass(10 * time.Minute)
	if got := qm1.show("DISPLAY CHSTATUS(TO.QM3) STATUS INDOUBT", "STATUS", "INDOUBT"); got != "RETRYING YES" {
		t.Errorf("the channel is %q", got)
	}
	if got := len(qm1.texts(sharedTransmitQ)); got < 4 || len(qm2.texts("DCQ1")) != 0 {
		t.Errorf("%d wait, QM2 has %v", got, qm2.texts("DCQ1"))
	}
	qm1.crash() // not even by a restart
	qm1.start()
	w.pass(time.Minute)
	if got := qm2.texts("DCQ1"); len(got) != 0 {
		t.Errorf("after a restart QM2 has %v", got)
	}
	qm3.start()
	w.pass(time.Hour)
	if got := qm3.texts("DCQ1"); !slices.Equal(got, []string{"before0", "doubt0", "doubt1", "doubt2", "doubt3"}) {
		t.Errorf("QM3 has %v", got)
	}
}

// STOP CHANNEL with MODE(FORCE) or MODE(TERMINATE) interrupts a reallocation:
// some messages have another way by then, the others stay.
func TestPortuguese_ForceAndTerminateInterruptReallocation(t *testing.T) {
	const count = 12000
	for _, mode := range []string{"QUIESCE", "FORCE", "TERMINATE"} {
		w, qm1, qm2, qm3 := articleNet(t)
		qm1.ok("ALTER QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) MAXDEPTH(999999)")
		for _, n := range []*netNode{qm2, qm3} {
			n.ok("ALTER QLOCAL(DCQ1) MAXDEPTH(999999)")
		}
		h := qm1.opens("DCQ1")
		qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
		w.settle()
		// Nobody delivers what is on its way to QM3 while these are put.
		qm3.up = false
		for range count {
			n := qm1
			n.lastBody++
			n.bodies[n.lastBody] = []byte("m")
			n.step(Call{Conn: 1, Tag: 1 << 40, Request: PutReq{Handle: h, MD: mqi.NewMD(), Body: BodyRef{ID: n.lastBody, Len: 1}}})
		}
		qm2.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)")
		qm3.up = true
		// The link breaks; in the same moment the channel is stopped.
		qm3.crash()
		for _, end := range w.ends() {
			for end.node == qm1 && len(w.queues[end]) > 0 && qm1.m.senderStatus("TO.QM3") == mqi.MQCHS_RUNNING {
				w.deliver(end)
			}
		}
		qm1.step(Call{Conn: 1, Tag: 1 << 41, Request: CommandReq{Command: parsed(t, "STOP CHANNEL(TO.QM3) MODE("+mode+")")}})
		w.pass(time.Minute)
		moved, left := len(qm2.texts("DCQ1")), len(qm1.texts(sharedTransmitQ))
		switch {
		case moved+left < count:
			t.Errorf("%s: %d moved and %d left of %d", mode, moved, left, count)
		case mode == "QUIESCE" && left > 1000:
			t.Errorf("%s: %d are left", mode, left)
		case mode != "QUIESCE" && (moved == 0 || left < 1000):
			t.Errorf("%s: %d moved, %d are left", mode, moved, left)
		}
	}
}

// The instances of a queue should be defined alike: else what MQINQ and MQOPEN
// find depends on which they meet. It is reported.
func TestPortuguese_DifferingDefinitionsAreReported(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	reports := func(n *netNode) (out []string) {
		for _, l := range n.log {
			if strings.HasPrefix(l, "AMQ9407W ") {
				out = append(out, l)
			}
		}
		return out
	}
	if got := reports(qm1); len(got) != 0 {
		t.Errorf("alike: %q", got)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) CLWLRANK(3) PUT(DISABLED) DESCR('mine')")
	w.pass(time.Second)
	if got := reports(qm1); len(got) != 0 {
		t.Errorf("what is meant to differ: %q", got)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) DEFBIND(OPEN) DEFPRTY(7)")
	w.pass(time.Second)
	for _, n := range []*netNode{qm1, qm2, qm3} {
		got := reports(n)
		if len(got) != 1 || !strings.Contains(got[0], "DEFBIND is OPEN at queue manager 'QM3' and NOTFIXED at 'QM2', DEFPRTY is 7 at queue manager 'QM3' and 0 at 'QM2'") {
			t.Errorf("%s reports %q", n.name, got)
		}
	}
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)") // nothing new
	w.pass(40 * 24 * time.Hour)               // nor when they are published again
	if got := reports(qm1); len(got) != 1 {
		t.Errorf("reported again: %q", got)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) DEFBIND(NOTFIXED) DEFPRTY(0)")
	qm2.ok("ALTER QLOCAL(DCQ1) DEFPSIST(NO)")
	w.pass(time.Second)
	if got := reports(qm1); len(got) != 2 || !strings.Contains(got[1], "DEFPSIST is NO at queue manager 'QM2' and YES at 'QM3'") {
		t.Errorf("another difference: %q", got)
	}
}
