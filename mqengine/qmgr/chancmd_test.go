package qmgr

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

func (n *netNode) chstatus(name string) string {
	return n.show("DISPLAY CHSTATUS("+name+")", "CHANNEL", "CHLTYPE", "RQMNAME", "STATUS")
}

func TestChannelStatus(t *testing.T) {
	w, qm1, qm2, _ := articleNet(t)
	want := "TO.QM2 CLUSSDR QM2 RUNNING\nTO.QM3 CLUSSDR QM3 RUNNING\nTO.QM1 CLUSRCVR QM2 RUNNING\nTO.QM1 CLUSRCVR QM3 RUNNING"
	if got := qm1.chstatus("*"); got != want {
		t.Errorf("CHSTATUS(*)\n%s\nwant\n%s", got, want)
	}
	if got := qm1.show("DISPLAY CHSTATUS(TO.QM2)", "CONNAME", "XMITQ", "SUBSTATE"); got != "127.0.0.1(1415) MQGET SYSTEM.CLUSTER.TRANSMIT.QUEUE" && got != "127.0.0.1(1415) SYSTEM.CLUSTER.TRANSMIT.QUEUE MQGET" {
		t.Errorf("fields %q", got)
	}
	if got := qm1.show("DISPLAY CHSTATUS(*) WHERE(CHLTYPE EQ CLUSRCVR)", "CONNAME"); got != "127.0.0.1\n127.0.0.1" {
		t.Errorf("CONNAME of receivers %q", got)
	}
	if res := qm1.mqsc("DISPLAY CHSTATUS(NOSUCH)"); !res.Failed || res.Responses[0].ID != "AMQ8420I" {
		t.Errorf("unknown channel: %v", res)
	}
	// After DISCINT without messages a channel is inactive, and has no record.
	w.pass(6001 * time.Second)
	if got := qm1.chstatus("TO.QM2"); got != "" {
		t.Errorf("after the disconnect interval: %q", got)
	}
	if got := qm1.show("DISPLAY CLUSQMGR(QM2) STATUS", "STATUS"); got != "INACTIVE" {
		t.Errorf("CLUSQMGR says %q", got)
	}
	// A message starts it again.
	h, _ := qm1.open("DCQ1", putNotFixed)
	for range 2 {
		qm1.put(h, "x", true)
	}
	w.settle()
	if got := qm1.chstatus("TO.QM2"); got != "TO.QM2 CLUSSDR QM2 RUNNING" || len(qm2.texts("DCQ1")) == 0 {
		t.Errorf("after a put: %q, QM2 has %v", got, qm2.texts("DCQ1"))
	}
}

func TestStopAndStartChannel(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm1.ok("STOP CHANNEL(TO.QM2)")
	if got := qm1.chstatus("TO.QM2"); got != "TO.QM2 CLUSSDR QM2 STOPPED" {
		t.Errorf("after STOP: %q", got)
	}
	h, _ := qm1.open("DCQ1", putNotFixed)
	for range 6 {
		qm1.put(h, "x", true)
	}
	w.settle()
	if len(qm3.texts("DCQ1")) != 6 {
		t.Errorf("QM3 got %d of 6 while the channel to QM2 is stopped", len(qm3.texts("DCQ1")))
	}
	w.pass(time.Second)
	qm1.crash()
	qm1.start()
	w.pass(2 * time.Minute)
	if got := qm1.chstatus("TO.QM2"); got != "TO.QM2 CLUSSDR QM2 STOPPED" {
		t.Errorf("a restart forgets STOP: %q", got)
	}
	// Its own repository commands wait for it too, and go when it starts.
	qm1.ok("DEFINE QLOCAL(NEW) CLUSTER(C1)")
	if got := qm2.mqsc("DISPLAY QCLUSTER(NEW)"); !got.Failed {
		t.Errorf("a stopped channel carries publications: %v", got)
	}
	qm1.ok("START CHANNEL(TO.QM2)")
	if got := qm2.show("DISPLAY QCLUSTER(NEW) CLUSQMGR", "CLUSQMGR"); got != "QM1" {
		t.Errorf("after START QM2 sees %q", got)
	}
	if res := qm1.mqsc("START CHANNEL(TO.QM2)"); !res.Failed || res.Responses[0].ID != "AMQ9514E" {
		t.Errorf("START of a running channel: %v", res)
	}
	for _, verb := range []string{"START", "STOP", "RESET", "RESOLVE"} {
		extra := map[string]string{"RESOLVE": " ACTION(COMMIT)"}[verb]
		if res := qm1.mqsc(verb + " CHANNEL(NOSUCH)" + extra); !res.Failed || res.Responses[0].ID != "AMQ9519E" {
			t.Errorf("%s of an unknown channel: %v", verb, res)
		}
	}
}

func TestStopReceiver(t *testing.T) {
	w, qm1, qm2, _ := articleNet(t)
	qm2.ok("STOP CHANNEL(TO.QM2)")
	w.pass(5 * time.Second)
	if got := qm1.chstatus("TO.QM2"); got != "TO.QM2 CLUSSDR QM2 RETRYING" {
		t.Errorf("the sender is %q", got)
	}
	if got := qm2.chstatus("TO.QM2"); !strings.HasSuffix(got, "STOPPED") {
		t.Errorf("the receiver is %q", got)
	}
	qm2.crash()
	qm2.start()
	w.pass(time.Minute)
	if got := qm1.chstatus("TO.QM2"); got != "TO.QM2 CLUSSDR QM2 RETRYING" {
		t.Errorf("a restart of QM2 forgets STOP: %q", got)
	}
	qm2.ok("START CHANNEL(TO.QM2)")
	qm1.ok("START CHANNEL(TO.QM2)")
	if got := qm1.chstatus("TO.QM2"); got != "TO.QM2 CLUSSDR QM2 RUNNING" {
		t.Errorf("after START: %q", got)
	}
	qm2.ok("STOP CHANNEL(TO.QM2) STATUS(INACTIVE)")
	w.pass(61 * time.Second)
	if got := qm1.chstatus("TO.QM2"); got != "TO.QM2 CLUSSDR QM2 RUNNING" {
		t.Errorf("STATUS(INACTIVE) at the receiver keeps the sender away: %q", got)
	}
}

// inDoubt leaves QM1 with messages to QM3 that are sent and not confirmed: QM3
// has committed them if it took them.
func inDoubt(t *testing.T, taken bool) (w *clusterNet, qm1, qm3 *netNode) {
	w, qm1, _, qm3 = articleNet(t)
	h, reason := qm1.open("DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_OPEN)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	for {
		if r, _ := qm1.put(h, "first", true); r.ResolvedQMgrName == "QM3" {
			break
		}
		h, _ = qm1.open("DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_OPEN)
	}
	w.settle()
	w.cut["QM1>QM3"] = true
	qm1.lastBody++
	qm1.bodies[qm1.lastBody] = []byte("doubt")
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	qm1.tag++
	qm1.step(Call{Conn: 1, Tag: qm1.tag, Request: PutReq{Handle: h, MD: md, Body: BodyRef{ID: qm1.lastBody, Len: 5}}})
	if taken {
		for _, end := range w.ends() {
			if end.node == qm3 {
				w.deliver(end)
			}
		}
	}
	qm1.cutLinks()
	w.settle()
	return w, qm1, qm3
}

func TestResolveChannel(t *testing.T) {
	for _, tc := range []struct {
		taken  bool
		action string
		want   int // times that "doubt" is at QM3 in the end
	}{
		{true, "COMMIT", 1}, {true, "", 1}, {false, "BACKOUT", 1}, {false, "", 1}, {false, "COMMIT", 0},
	} {
		t.Run(fmt.Sprintf("taken %v %s", tc.taken, tc.action), func(t *testing.T) {
			w, qm1, qm3 := inDoubt(t, tc.taken)
			if got := qm1.show("DISPLAY CHSTATUS(TO.QM3) INDOUBT CURMSGS STATUS", "INDOUBT", "CURMSGS", "STATUS"); got != "YES 1 RETRYING" {
				t.Errorf("in doubt: %q", got)
			}
			if res := qm1.mqsc("RESET CHANNEL(TO.QM3) SEQNUM(1)"); !res.Failed || res.Responses[0].ID != "AMQ9507E" {
				t.Errorf("RESET while in doubt: %v", res)
			}
			if tc.action != "" {
				qm1.ok("RESOLVE CHANNEL(TO.QM3) ACTION(" + tc.action + ")")
				if got := qm1.show("DISPLAY CHSTATUS(TO.QM3) INDOUBT", "INDOUBT"); got != "NO" {
					t.Errorf("after RESOLVE in doubt: %q", got)
				}
			}
			w.cut = map[string]bool{}
			w.pass(5 * time.Minute)
			n := 0
			for _, text := range qm3.texts("DCQ1") {
				if text == "doubt" {
					n++
				}
			}
			if n != tc.want {
				t.Errorf("arrived %d times, want %d; QM1 is %s, log %q", n, tc.want, qm1.chstatus("TO.QM3"), qm1.log)
			}
			if got := qm1.chstatus("TO.QM3"); tc.want == 1 && got != "TO.QM3 CLUSSDR QM3 RUNNING" {
				t.Errorf("the channel is %q, log %q", got, qm1.log)
			}
		})
	}
}

func TestResetChannel(t *testing.T) {
	w, qm1, _, qm3 := articleNet(t)
	if res := qm1.mqsc("RESET CHANNEL(TO.QM3) SEQNUM(7)"); !res.Failed || res.Responses[0].ID != "AMQ9514E" {
		t.Errorf("RESET of a running channel: %v", res)
	}
	qm1.ok("STOP CHANNEL(TO.QM3) MODE(FORCE)", "RESET CHANNEL(TO.QM3) SEQNUM(100)", "START CHANNEL(TO.QM3)")
	w.settle()
	if got := qm1.show("DISPLAY CHSTATUS(TO.QM3) CURSEQNO STATUS", "CURSEQNO", "STATUS"); got != "99 RUNNING" {
		t.Errorf("sender: %q, log %q", got, qm1.log)
	}
	if got := qm3.show("DISPLAY CHSTATUS(TO.QM3) CURSEQNO", "CURSEQNO"); !slices.Contains(strings.Split(got, "\n"), "99") {
		t.Errorf("receiver: %q", got)
	}
	// Only at the receiver: the ends differ, and the sender says so.
	qm1.ok("STOP CHANNEL(TO.QM3)")
	w.settle()
	if res := qm3.mqsc("RESET CHANNEL(TO.QM3) SEQNUM(5)"); !res.Failed {
		t.Error("RESET at the receiver while another partner is running")
	}
}

func TestDeadLetters(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm1.ok("DEFINE QREMOTE(GONE) RNAME(NOSUCH) RQMNAME(QM3)", "DEFINE QREMOTE(FULL) RNAME(SMALL) RQMNAME(QM3)")
	qm3.ok("DEFINE QLOCAL(SMALL) MAXDEPTH(1)")
	h, reason := qm1.open("GONE", mqi.MQOO_OUTPUT)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	qm1.put(h, "lost", true)
	w.settle()
	if got := qm3.texts("SYSTEM.DEAD.LETTER.QUEUE"); !slices.Equal(got, []string{"lost"}) {
		t.Errorf("dead letters %v, log %q", got, qm3.log)
	}
	h, _ = qm1.open("FULL", mqi.MQOO_OUTPUT)
	qm1.put(h, "one", true)
	qm1.put(h, "two", true)
	w.settle()
	if got := qm3.chstatus("TO.QM3"); !strings.Contains(got, "PAUSED") {
		t.Errorf("a full queue does not pause the receiver: %q", got)
	}
	w.pass(11 * time.Second)
	if got := qm3.texts("SYSTEM.DEAD.LETTER.QUEUE"); !slices.Equal(got, []string{"lost", "two"}) || !slices.Equal(qm3.texts("SMALL"), []string{"one"}) {
		t.Errorf("dead letters %v", got)
	}
	if got := qm3.chstatus("TO.QM3"); strings.Contains(got, "PAUSED") {
		t.Errorf("still paused: %q", got)
	}
	// Without a dead-letter queue the message stays at the sender and the channel ends.
	qm3.ok("ALTER QMGR DEADQ(' ')")
	qm1.put(h, "three", true)
	w.pass(11 * time.Second)
	if got := qm1.chstatus("TO.QM3"); got != "TO.QM3 CLUSSDR QM3 RETRYING" {
		t.Errorf("without a dead-letter queue the sender is %q", got)
	}
	qm3.ok("ALTER QLOCAL(SMALL) MAXDEPTH(10)")
	w.pass(70 * time.Second)
	if got := qm3.texts("SMALL"); !slices.Equal(got, []string{"one", "three"}) {
		t.Errorf("with room again: %v, sender %q", got, qm1.chstatus("TO.QM3"))
	}
	_ = qm2
}

func TestSenderReceiver(t *testing.T) {
	w := newClusterNet(t)
	a, b := w.add("A"), w.add("B")
	a.ok("DEFINE QLOCAL(B) USAGE(XMITQ)", "DEFINE CHANNEL(A.B) CHLTYPE(SDR) CONNAME('"+conname(b.addr)+"') XMITQ(B)", "DEFINE QREMOTE(REM) RNAME(Q) RQMNAME(B)")
	b.ok("DEFINE QLOCAL(Q)", "DEFINE CHANNEL(A.B) CHLTYPE(RCVR)")
	h, reason := a.open("REM", mqi.MQOO_OUTPUT)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	a.put(h, "before", true)
	if got := a.texts("B"); len(got) != 1 {
		t.Errorf("an SDR channel starts by itself: %v left", got)
	}
	a.ok("START CHANNEL(A.B)")
	a.put(h, "after", false)
	w.settle()
	if got := b.texts("Q"); !slices.Equal(got, []string{"before", "after"}) {
		t.Errorf("arrived %v, log %q %q", got, a.log, b.log)
	}
	a.ok("STOP CHANNEL(A.B)")
	if got := b.chstatus("*"); got != "" {
		t.Errorf("the receiver is still %q", got)
	}
	b.crash()
	a.ok("START CHANNEL(A.B)")
	a.put(h, "late", true)
	w.pass(time.Second)
	b.start()
	w.pass(2 * time.Minute)
	if got := b.texts("Q"); !slices.Equal(got, []string{"before", "late"}) {
		t.Errorf("after a crash of the receiver %v", got)
	}
}

// TestStartWakesChannels: a queue manager that starts wakes the channels for
// which messages wait, also one that was not in use at its end.
func TestStartWakesChannels(t *testing.T) {
	w, qm1, _, qm3 := articleNet(t)
	qm1.ok("STOP CHANNEL(TO.QM3) MODE(FORCE) STATUS(INACTIVE)")
	w.cut["QM1>QM3"] = true
	if reply := qm1.call(PutReq{OD: mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: "QM3"}, MD: persistentMD()}); reply.Reason != mqi.MQRC_NONE {
		t.Fatal(reply.Reason)
	}
	qm1.ok("STOP CHANNEL(TO.QM3) MODE(FORCE) STATUS(INACTIVE)")
	if got := qm1.chstatus("TO.QM3"); got != "" {
		t.Fatalf("the channel is %q", got)
	}
	qm1.crash()
	delete(w.cut, "QM1>QM3")
	qm1.start()
	w.settle()
	if got := qm3.texts("DCQ1"); len(got) != 1 {
		t.Errorf("QM3 has %d messages, log %q", len(got), qm1.log)
	}
}

func persistentMD() mqi.MD {
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	return md
}

// TestSenderFollowsItsTransmissionQueue: an SDR that starts takes from the queue
// that XMITQ names then, also from one that was defined again.
func TestSenderFollowsItsTransmissionQueue(t *testing.T) {
	w := newClusterNet(t)
	a, b := w.add("A"), w.add("B")
	a.ok("DEFINE QLOCAL(X1) USAGE(XMITQ)", "DEFINE QLOCAL(X2) USAGE(XMITQ)",
		"DEFINE CHANNEL(A.B) CHLTYPE(SDR) CONNAME('"+conname(b.addr)+"') XMITQ(X1)",
		"DEFINE QREMOTE(R1) RNAME(Q) RQMNAME(B) XMITQ(X1)", "DEFINE QREMOTE(R2) RNAME(Q) RQMNAME(B) XMITQ(X2)")
	b.ok("DEFINE QLOCAL(Q)", "DEFINE CHANNEL(A.B) CHLTYPE(RCVR)")
	put := func(remote string) {
		t.Helper()
		h, reason := a.open(remote, mqi.MQOO_OUTPUT)
		if reason != mqi.MQRC_NONE {
			t.Fatal(reason)
		}
		a.put(h, "over "+remote, true)
		a.call(CloseReq{Handle: h})
		w.settle()
	}
	a.ok("START CHANNEL(A.B)")
	put("R1")
	a.ok("ALTER CHANNEL(A.B) CHLTYPE(SDR) XMITQ(X2)")
	put("R2")
	if got := b.texts("Q"); !slices.Equal(got, []string{"over R1"}) {
		t.Errorf("a running channel left its queue: %v", got)
	}
	a.ok("STOP CHANNEL(A.B)", "START CHANNEL(A.B)")
	if got := b.texts("Q"); !slices.Equal(got, []string{"over R1", "over R2"}) {
		t.Errorf("after ALTER XMITQ and START %v", got)
	}
	a.ok("STOP CHANNEL(A.B)", "DELETE QLOCAL(X2)", "DEFINE QLOCAL(X2) USAGE(XMITQ)", "START CHANNEL(A.B)")
	put("R2")
	if got := b.texts("Q"); !slices.Equal(got, []string{"over R1", "over R2", "over R2"}) {
		t.Errorf("after the queue was defined again %v", got)
	}
}

// What the queue manager itself works with is in use: by its repository and its
// channel initiator always, by a sender while it runs.
func TestQueuesInOwnUse(t *testing.T) {
	w := newClusterNet(t)
	a, b := w.add("A"), w.add("B")
	refused := func(id string, commands ...string) {
		t.Helper()
		for _, c := range commands {
			if res := a.mqsc(c); !res.Failed || res.Responses[0].ID != id {
				t.Errorf("%s: %v, want %s", c, res.Responses, id)
			}
		}
	}
	for _, name := range []string{"CLUSTER.TRANSMIT.QUEUE", "CLUSTER.COMMAND.QUEUE", "CLUSTER.REPOSITORY.QUEUE", "CHANNEL.INITQ", "CHANNEL.SYNCQ"} {
		refused("AMQ8148E", "DELETE QLOCAL(SYSTEM."+name+")", "DELETE QLOCAL(SYSTEM."+name+") PURGE", "CLEAR QLOCAL(SYSTEM."+name+")")
	}
	refused("AMQ8148E", "ALTER QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) USAGE(NORMAL) FORCE")
	a.ok("ALTER QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) MAXDEPTH(1000)")

	b.ok("DEFINE CHANNEL(A.B) CHLTYPE(RCVR)")
	a.ok("DEFINE QLOCAL(X) USAGE(XMITQ)", "DEFINE CHANNEL(A.B) CHLTYPE(SDR) CONNAME('"+conname(b.addr)+"') XMITQ(X)", "START CHANNEL(A.B)")
	w.settle()
	refused("AMQ8148E", "ALTER QLOCAL(X) USAGE(NORMAL)", "ALTER QLOCAL(X) USAGE(NORMAL) FORCE", "CLEAR QLOCAL(X)", "DELETE QLOCAL(X)", "DELETE QLOCAL(X) PURGE")
	a.ok("STOP CHANNEL(A.B)", "CLEAR QLOCAL(X)", "ALTER QLOCAL(X) USAGE(NORMAL)")
	// It would run and take nothing.
	refused("AMQ8147E", "START CHANNEL(A.B)")
	a.ok("DELETE QLOCAL(X)")
	refused("AMQ8147E", "START CHANNEL(A.B)")
	a.ok("DEFINE QLOCAL(X) USAGE(XMITQ)", "START CHANNEL(A.B)")
	w.settle()
	if got := a.show("DISPLAY CHSTATUS(A.B)", "STATUS"); got != "RUNNING" {
		t.Errorf("with its queue again: %s", got)
	}
}

func TestPingChannel(t *testing.T) {
	w, qm1, _, _ := articleNet(t)
	if res := qm1.mqsc("PING CHANNEL(TO.QM3)"); !res.Failed || res.Responses[0].ID != "AMQ9514E" {
		t.Errorf("PING of a running channel: %v", res)
	}
	qm1.ok("STOP CHANNEL(TO.QM3)", "PING CHANNEL(TO.QM3)")
	if got := qm1.chstatus("TO.QM3"); got != "TO.QM3 CLUSSDR QM3 STOPPED" {
		t.Errorf("PING changed the channel: %q", got)
	}
	if res := qm1.mqsc("PING CHANNEL(NOSUCH)"); !res.Failed || res.Responses[0].ID != "AMQ9519E" {
		t.Errorf("PING of an unknown channel: %v", res)
	}
	w.cut["QM1>QM3"] = true
	if res := qm1.mqsc("PING CHANNEL(TO.QM3)"); !res.Failed || res.Responses[0].ID != "AMQ9558E" {
		t.Errorf("PING of an unreachable host: %v", res)
	}
}

// A channel that is gone takes nothing with it that may go elsewhere.
func TestMessagesOfAForgottenChannel(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm1.ok("STOP CHANNEL(TO.QM3)", "STOP CHANNEL(TO.QM2)")
	h, _ := qm1.open("DCQ1", putNotFixed)
	for i := range 10 {
		qm1.put(h, fmt.Sprint(i), true)
	}
	waiting := len(qm1.m.backlogOf(qm1.m.localQueue(sharedTransmitQ), "TO.QM3").all())
	if waiting == 0 {
		t.Fatal("nothing waits for QM3")
	}
	qm3.crash()
	qm1.ok("RESET CLUSTER(C1) ACTION(FORCEREMOVE) QMNAME(QM3) QUEUES(YES)")
	qm1.crash()
	qm1.start() // the channel has no definition any more
	qm1.ok("START CHANNEL(TO.QM2)")
	w.pass(time.Minute)
	if got := len(qm2.texts("DCQ1")); got != 10 {
		t.Errorf("QM2 has %d of 10, QM1 keeps %v", got, qm1.texts(sharedTransmitQ))
	}
}
