package qmgr

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// What a member that was restored from a backup publishes is taken, although
// its full repositories have seen later numbers; and what it does not have any
// more is withdrawn when it refreshes.
func TestRestoredMember_IsNotIgnored(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	saved := diskState{maps.Clone(qm3.disk.records), maps.Clone(qm3.disk.messages), maps.Clone(qm3.disk.bodies)}
	w.pass(time.Hour)
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)", "DEFINE QLOCAL(LATER) CLUSTER(C1)")
	w.pass(time.Minute)
	qm3.crash()
	qm3.disk = saved
	qm3.start()
	// As in MQ the channels' numbers do not match; a person sets them.
	w.pass(time.Minute)
	for _, n := range []*netNode{qm1, qm2} {
		qm3.ok("STOP CHANNEL(TO."+n.name+") MODE(FORCE)", "RESET CHANNEL(TO."+n.name+")", "START CHANNEL(TO."+n.name+")")
		n.ok("STOP CHANNEL(TO.QM3) MODE(FORCE)", "RESET CHANNEL(TO.QM3)", "START CHANNEL(TO.QM3)")
	}
	w.pass(time.Minute)
	qm3.ok("ALTER QLOCAL(DCQ1) CLWLPRTY(5)")
	w.pass(time.Minute)
	for _, n := range []*netNode{qm1, qm2, qm3} {
		if got := n.show("DISPLAY QCLUSTER(DCQ1) PUT CLWLPRTY WHERE(CLUSQMGR EQ QM3)", "PUT", "CLWLPRTY"); got != "ENABLED 5" {
			t.Errorf("%s sees %q", n.name, got)
		}
	}
	qm3.ok("REFRESH CLUSTER(C1)")
	w.pass(time.Minute)
	for _, n := range []*netNode{qm1, qm2} {
		if got := n.show("DISPLAY QCLUSTER(*) CLUSQMGR", "QUEUE", "CLUSQMGR"); got != "DCQ1 QM2\nDCQ1 QM3" {
			t.Errorf("after REFRESH %s sees %q", n.name, got)
		}
	}
}

// REFRESH CLUSTER loses nothing that waits for a channel, bound or not,
// committed or not.
func TestRefreshKeepsWhatWaits(t *testing.T) {
	for _, repos := range []string{"NO", "YES"} {
		w, qm1, qm2, qm3 := articleNet(t)
		qm4 := w.add("QM4")
		qm4.joins(qm1, false)
		w.pass(time.Second)
		bound, fixed := qm4.openAt("DCQ1", "QM3", mqi.MQOO_OUTPUT), qm4.opens("DCQ1")
		qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
		w.settle()
		qm4.ok("STOP CHANNEL(TO.QM3)")
		qm4.puts(bound, "bound", 3)
		qm4.puts(fixed, "free", 3)
		qm4.lastBody++
		qm4.bodies[qm4.lastBody] = []byte("unit")
		if r := qm4.call(PutReq{Handle: bound, MD: mqi.NewMD(), PMO: mqi.PMO{Options: mqi.MQPMO_SYNCPOINT}, Body: BodyRef{ID: qm4.lastBody, Len: 4}}); r.Reason != mqi.MQRC_NONE {
			t.Fatal(r.Reason)
		}
		qm4.ok("REFRESH CLUSTER(C1) REPOS(" + repos + ")")
		w.pass(time.Second)
		if r := qm4.call(CommitReq{}); r.Reason != mqi.MQRC_NONE {
			t.Fatal(r.Reason)
		}
		qm4.ok("START CHANNEL(TO.QM3)")
		w.pass(time.Minute)
		got := qm3.texts("DCQ1")
		slices.Sort(got)
		if want := []string{"bound0", "bound1", "bound2", "free0", "free1", "free2", "unit"}; !slices.Equal(got, want) {
			t.Errorf("REPOS(%s): QM3 has %v; waiting %v %q", repos, got, qm4.texts(sharedTransmitQ), qm4.log)
		}
	}
}

// A full repository that is the only one gets everything back from the members.
func TestRefreshOfTheOnlyFullRepository(t *testing.T) {
	w := newClusterNet(t)
	fr, a, b := w.add("FR"), w.add("A"), w.add("B")
	fr.joins(a, true)
	for _, n := range []*netNode{a, b} {
		n.joins(fr, false)
		n.ok("DEFINE QLOCAL(Q) CLUSTER(C1) DEFBIND(NOTFIXED)")
	}
	w.pass(time.Minute)
	h := fr.opens("Q")
	fr.ok("REFRESH CLUSTER(C1)")
	w.pass(time.Second)
	if got := fr.show("DISPLAY QCLUSTER(Q)", "CLUSQMGR"); got != "A\nB" {
		t.Errorf("after REFRESH it sees %q", got)
	}
	fr.puts(h, "m", 4)
	b.ok("ALTER QLOCAL(Q) PUT(DISABLED)")
	w.pass(time.Second)
	if got := a.show("DISPLAY QCLUSTER(Q) WHERE(PUT EQ DISABLED)", "CLUSQMGR"); got != "B" {
		t.Errorf("a subscription is lost: A sees %q disabled", got)
	}
	if got := depths("Q", a, b); got != "2 2" {
		t.Errorf("the members got %s of 4", got)
	}
}

// RESET CLUSTER with QUEUES(NO) leaves the queues in every repository until
// their time is over, and nothing is put to them; with QUEUES(YES) they go.
// Neither is a queue manager that has been silent for more than 30 days out of reach.
func TestResetClusterKeepsOrRemovesQueues(t *testing.T) {
	for queues, want := range map[string]string{"NO": "QM2\nQM3", "YES": "QM2"} {
		w, qm1, qm2, qm3 := articleNet(t)
		qm4 := w.add("QM4")
		qm4.joins(qm2, false)
		w.pass(time.Second)
		h := qm4.opens("DCQ1")
		qm1.ok("RESET CLUSTER(C1) ACTION(FORCEREMOVE) QMNAME(QM3) QUEUES(" + queues + ")")
		w.pass(time.Second)
		for _, n := range []*netNode{qm1, qm2, qm4} {
			if got := n.show("DISPLAY QCLUSTER(DCQ1)", "CLUSQMGR"); got != want {
				t.Errorf("QUEUES(%s): %s sees %q", queues, n.name, got)
			}
			if got := n.show("DISPLAY CLUSQMGR(QM3)", "CLUSQMGR"); got != "" {
				t.Errorf("QUEUES(%s): %s still knows %q", queues, n.name, got)
			}
		}
		qm4.puts(h, "m", 4)
		w.pass(time.Second)
		if got := depths("DCQ1", qm2, qm3); got != "4 0" {
			t.Errorf("QUEUES(%s): %s of 4", queues, got)
		}
		qm3.ok("REFRESH CLUSTER(C1)")
		w.pass(time.Second)
		qm4.puts(h, "m", 4)
		w.pass(time.Second)
		if got := depths("DCQ1", qm2, qm3); got != "6 2" {
			t.Errorf("QUEUES(%s), after REFRESH at QM3: %s of 8", queues, got)
		}
	}
	w, qm1, _, qm3 := articleNet(t)
	qm3.crash()
	w.pass(40 * 24 * time.Hour)
	qm1.ok("RESET CLUSTER(C1) ACTION(FORCEREMOVE) QMNAME(QM3) QUEUES(YES)")
	if ids := qm1.m.cluster.repo.QMIDs("C1", "QM3"); len(ids) != 0 {
		t.Errorf("after 40 days without a sign of life it is still %v", ids)
	}
	if res := qm1.mqsc("RESET CLUSTER(C1) ACTION(FORCEREMOVE) QMNAME(QM3)"); !res.Failed || !strings.HasPrefix(res.Responses[0].ID, "AMQ") {
		t.Errorf("once more: %v", res)
	}
}

// A publication that the transmission queue does not take is not lost if the
// queue manager dies before the queue takes messages again: whoever missed it
// would route by the old one for a month.
func TestUnsentPublication_SurvivesACrash(t *testing.T) {
	for _, refuses := range []string{"PUT(DISABLED)", "MAXDEPTH(0)"} {
		w, qm1, qm2, qm3 := articleNet(t)
		qm1.ok("ALTER QLOCAL("+sharedTransmitQ+") "+refuses, "DEFINE QLOCAL(DCQ1) CLUSTER(C1) CLWLRANK(9)")
		qm1.ok("ALTER QLOCAL(DCQ1) CLWLRANK(3)") // the second has to come after the first
		w.pass(time.Minute)
		for range 2 {
			qm1.crash()
			w.pass(time.Second)
			qm1.start()
			w.pass(time.Minute)
		}
		for _, n := range []*netNode{qm2, qm3} {
			if got := n.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR", "CLUSQMGR"); got != "QM2\nQM3" {
				t.Fatalf("%s: %s sees %q before anything can be sent", refuses, n.name, got)
			}
		}
		qm1.ok("ALTER QLOCAL(" + sharedTransmitQ + ") PUT(ENABLED) MAXDEPTH(5000)")
		w.pass(time.Minute)
		for _, n := range []*netNode{qm2, qm3} {
			if got := n.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR CLWLRANK", "CLUSQMGR", "CLWLRANK"); got != "QM1 3\nQM2 0\nQM3 0" {
				t.Errorf("%s: %s sees %q", refuses, n.name, got)
			}
		}
		for key := range qm1.disk.records {
			if strings.HasPrefix(key, unsentPrefix) {
				t.Errorf("%s: %s is still on disk", refuses, key)
			}
		}
	}
}

// However much is published while the transmission queue takes nothing, no more is
// kept of it than there is room for, and in the end everybody knows everything: of a
// partial repository as of a full one, and if a queue manager died meanwhile.
func TestUnsentPublications_AreBounded(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"QM1", "QM3"} {
		for _, crashes := range []bool{false, true} {
			t.Run(fmt.Sprint(at, crashes), func(t *testing.T) {
				t.Parallel()
				w, qm1, qm2, qm3 := articleNet(t)
				n := map[string]*netNode{"QM1": qm1, "QM3": qm3}[at]
				if _, reason := qm3.open("LATE", out|mqi.MQOO_BIND_NOT_FIXED); reason != mqi.MQRC_UNKNOWN_OBJECT_NAME {
					t.Fatal(reason) // from now on QM3 wants to hear of it
				}
				n.ok("ALTER QLOCAL("+sharedTransmitQ+") PUT(DISABLED)", "DEFINE QLOCAL(MANY) CLUSTER(C1)")
				for i := range unsentMax + 10 {
					n.ok(fmt.Sprintf("ALTER QLOCAL(MANY) CLWLRANK(%d)", i%10))
				}
				n.ok("DEFINE QLOCAL(LATE) CLUSTER(C1) CLWLRANK(7)")
				if c := &n.m.cluster; len(c.unsent) != unsentMax || !c.lost["C1"] {
					t.Errorf("%d commands wait, lost: %v", len(c.unsent), c.lost)
				}
				if crashes {
					n.crash()
					w.pass(time.Second)
					n.start()
				}
				n.ok("ALTER QLOCAL(" + sharedTransmitQ + ") PUT(ENABLED)")
				w.pass(time.Minute)
				for _, other := range []*netNode{qm1, qm2, qm3} {
					if got := other.show("DISPLAY QCLUSTER(LATE) CLUSQMGR CLWLRANK", "CLUSQMGR", "CLWLRANK"); got != at+" 7" {
						t.Errorf("%s sees LATE at %q", other.name, got)
					}
				}
				if c := &n.m.cluster; len(c.unsent)+len(c.lost)+c.unsentSize != 0 {
					t.Errorf("%d commands of %d bytes still wait, lost: %v", len(c.unsent), c.unsentSize, c.lost)
				}
				for key := range n.disk.records {
					if strings.HasPrefix(key, unsentPrefix) || strings.HasPrefix(key, lostPrefix) {
						t.Errorf("%s is still on disk", key)
					}
				}
			})
		}
	}
}

// One step puts no more of what waits than a batch.
func TestUnsentPublications_GoInBatches(t *testing.T) {
	t.Parallel()
	w, qm1, _, _ := articleNet(t)
	qm1.ok("ALTER QLOCAL("+sharedTransmitQ+") PUT(DISABLED)", "DEFINE QLOCAL(MANY) CLUSTER(C1)")
	for i := range 3 * unsentBatch {
		qm1.ok(fmt.Sprintf("ALTER QLOCAL(MANY) CLWLRANK(%d)", i%10))
	}
	qm1.ok("ALTER QLOCAL(" + sharedTransmitQ + ") PUT(ENABLED)")
	w.now = qm1.m.cluster.unsentAt
	for steps, before := 0, len(qm1.m.cluster.unsent); before > 0; steps++ {
		if at := qm1.m.NextDeadline(); at.After(w.now) || steps > 3 {
			t.Fatalf("%d wait after %d steps, until %s", before, steps, at.Sub(w.now))
		}
		qm1.step(Tick{})
		left := len(qm1.m.cluster.unsent)
		if before-left > unsentBatch {
			t.Errorf("%d in one step", before-left)
		}
		before = left
	}
}

// A publication waits behind a message whose receiver retries to put it: the
// senders say RUNNING meanwhile, and what the other end knows is old.
func TestPublicationWaitsBehindRetries(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	for _, n := range []*netNode{qm1, qm2} {
		n.ok("STOP CHANNEL(TO.QM3)")
		n.puts(n.openAt("DCQ1", "QM3", mqi.MQOO_OUTPUT), n.name, 3)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	qm2.ok("ALTER QLOCAL(DCQ1) CLWLRANK(9)")
	qm1.ok("START CHANNEL(TO.QM3)")
	qm2.ok("START CHANNEL(TO.QM3)")
	sees := func() string {
		return qm3.show("DISPLAY QCLUSTER(DCQ1) CLWLRANK WHERE(CLUSQMGR EQ QM2)", "CLWLRANK")
	}
	w.pass(25 * time.Second)
	for _, n := range []*netNode{qm1, qm2} {
		if got := n.show("DISPLAY CHSTATUS(TO.QM3) STATUS INDOUBT", "STATUS", "INDOUBT"); got != "RUNNING YES" {
			t.Errorf("the channel of %s is %q", n.name, got)
		}
	}
	if got := qm3.show("DISPLAY CHSTATUS(TO.QM3) STATUS", "STATUS"); got != "PAUSED\nPAUSED" || sees() != "0" {
		t.Errorf("QM3's receivers are %q, and it sees rank %s", got, sees())
	}
	w.pass(10 * time.Second)
	if sees() != "9" {
		t.Errorf("QM3 sees rank %s after all retries", sees())
	}
	if got := qm3.texts("SYSTEM.DEAD.LETTER.QUEUE"); len(got) != 6 {
		t.Errorf("dead letters %q", got)
	}
}
