package qmgr

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// What the lecture says of repositories and of joining and leaving, sections 8.1 and 8.3.

// 8.1.6: full repositories learn only from those to which they have a CLUSSDR.
func TestLecture_FullRepositoriesExchangeOnlyOverTheirOwnDefinitions(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	third := w.add("FR3") // knows QM1, but nobody has a CLUSSDR to it
	third.joins(qm1, true)
	w.pass(time.Second)
	if got := third.show("DISPLAY QCLUSTER(DCQ1)", "CLUSQMGR"); got != "QM2\nQM3" {
		t.Errorf("it asked QM1 for everything: %q", got)
	}
	qm1.ok("DEFINE QLOCAL(NEWS) CLUSTER(C1)")
	w.pass(time.Second)
	for _, n := range []*netNode{qm1, qm2} {
		if got := n.show("DISPLAY QCLUSTER(NEWS)", "CLUSQMGR"); got != "QM1" {
			t.Errorf("%s knows %q", n.name, got)
		}
	}
	if got := third.show("DISPLAY QCLUSTER(NEWS)", "CLUSQMGR"); got != "" {
		t.Errorf("FR3 was told though nobody has a CLUSSDR to it: %q", got)
	}
	for _, n := range []*netNode{qm1, qm2} {
		n.ok("DEFINE CHANNEL(TO.FR3) CHLTYPE(CLUSSDR) CONNAME('" + conname(third.addr) + "') CLUSTER(C1)")
	}
	w.pass(time.Second)
	if got := third.show("DISPLAY QCLUSTER(NEWS)", "CLUSQMGR"); got != "QM1" {
		t.Errorf("with a CLUSSDR to it: %q", got)
	}
	// A member tells two of them; the others have it from those.
	qm3.ok("DEFINE QLOCAL(MORE) CLUSTER(C1)")
	w.pass(time.Second)
	for _, n := range []*netNode{qm1, qm2, third} {
		if got := n.show("DISPLAY QCLUSTER(MORE)", "CLUSQMGR"); got != "QM3" {
			t.Errorf("%s knows %q", n.name, got)
		}
	}
}

// 8.1.3, 8.1.5: REPOSNL and CLUSNL name namelists; one CLUSRCVR serves several
// clusters, and a name taken off the list is a cluster that is left.
func TestLecture_NamelistsOfClusters(t *testing.T) {
	w := newClusterNet(t)
	fr, gw, a, b := w.add("FR"), w.add("GW"), w.add("A"), w.add("B")
	fr.ok("DEFINE NAMELIST(BOTH) NAMES(CL1, CL2)", "ALTER QMGR REPOSNL(BOTH)",
		"DEFINE CHANNEL(TO.FR) CHLTYPE(CLUSRCVR) CONNAME('"+conname(fr.addr)+"') CLUSNL(BOTH)")
	join := func(n *netNode, clusters string) {
		n.ok("DEFINE CHANNEL(TO."+n.name+") CHLTYPE(CLUSRCVR) CONNAME('"+conname(n.addr)+"') "+clusters,
			"DEFINE CHANNEL(TO.FR) CHLTYPE(CLUSSDR) CONNAME('"+conname(fr.addr)+"') "+clusters)
	}
	gw.ok("DEFINE NAMELIST(BOTH) NAMES(CL1, CL2)")
	join(gw, "CLUSNL(BOTH)")
	join(a, "CLUSTER(CL1)")
	join(b, "CLUSTER(CL2)")
	gw.ok("DEFINE QLOCAL(Q) CLUSNL(BOTH) DEFBIND(NOTFIXED)")
	a.ok("DEFINE QLOCAL(QA) CLUSTER(CL1) DEFBIND(NOTFIXED)")
	b.ok("DEFINE QLOCAL(QB) CLUSTER(CL2) DEFBIND(NOTFIXED)")
	w.pass(time.Second)
	if got := fr.show("DISPLAY CLUSQMGR(*) CLUSTER QMTYPE", "CLUSQMGR", "CLUSTER", "QMTYPE"); got != "A CL1 NORMAL\nFR CL1 REPOS\nGW CL1 NORMAL\nB CL2 NORMAL\nFR CL2 REPOS\nGW CL2 NORMAL" {
		t.Errorf("FR knows\n%s", got)
	}
	// Both reach the gateway's queue, and the gateway, which has to ask in both clusters, both of theirs.
	for _, n := range []*netNode{a, b} {
		n.puts(n.opens("Q"), n.name, 1)
	}
	gw.puts(gw.opens("QA"), "g", 1)
	gw.puts(gw.opens("QB"), "g", 1)
	w.pass(time.Second)
	if got := depths("Q", gw) + depths("QA", a) + depths("QB", b); got != "211" {
		t.Errorf("arrived %s", got)
	}
	if _, reason := a.open("QB", putNotFixed); reason != mqi.MQRC_UNKNOWN_OBJECT_NAME {
		t.Errorf("A is not in CL2, but opens QB: %v", reason)
	}
	gw.ok("SUSPEND QMGR CLUSNL(BOTH)")
	if got := fr.show("DISPLAY CLUSQMGR(GW) SUSPEND", "CLUSTER", "SUSPEND"); got != "CL1 YES\nCL2 YES" {
		t.Errorf("suspended in both: %q", got)
	}
	gw.ok("RESUME QMGR CLUSTER(CL1)")
	if got := fr.show("DISPLAY CLUSQMGR(GW) SUSPEND", "CLUSTER", "SUSPEND"); got != "CL1 NO\nCL2 YES" {
		t.Errorf("resumed in CL1: %q", got)
	}
	gw.ok("ALTER NAMELIST(BOTH) NAMES(CL1)")
	w.pass(time.Second)
	if got := fr.show("DISPLAY CLUSQMGR(GW)", "CLUSTER") + " " + fr.show("DISPLAY QCLUSTER(Q)", "CLUSTER"); got != "CL1 CL1" {
		t.Errorf("after CL2 was taken off the list: %q", got)
	}
	if _, reason := b.open("Q", putNotFixed); reason != mqi.MQRC_UNKNOWN_OBJECT_NAME {
		t.Errorf("B still opens Q: %v", reason)
	}
	fr.ok("ALTER NAMELIST(BOTH) NAMES(CL2)", "RESET CLUSTER(CL2) ACTION(FORCEREMOVE) QMNAME(B)")
	if res := fr.mqsc("RESET CLUSTER(CL1) ACTION(FORCEREMOVE) QMNAME(A)"); !res.Failed {
		t.Error("FR still is a full repository of CL1")
	}
}

// In two clusters over one channel a queue manager is one destination, not two.
func TestLecture_MemberOfTwoClustersIsOneDestination(t *testing.T) {
	w := newClusterNet(t)
	fr, q1, q2 := w.add("FR"), w.add("ONE"), w.add("TWO")
	fr.ok("DEFINE NAMELIST(BOTH) NAMES(CL1, CL2)", "ALTER QMGR REPOSNL(BOTH)",
		"DEFINE CHANNEL(TO.FR) CHLTYPE(CLUSRCVR) CONNAME('"+conname(fr.addr)+"') CLUSNL(BOTH)")
	for _, n := range []*netNode{q1, q2} {
		n.ok("DEFINE NAMELIST(BOTH) NAMES(CL1, CL2)")
	}
	join := func(n *netNode, clusters string) {
		n.ok("DEFINE CHANNEL(TO."+n.name+") CHLTYPE(CLUSRCVR) CONNAME('"+conname(n.addr)+"') "+clusters,
			"DEFINE CHANNEL(TO.FR) CHLTYPE(CLUSSDR) CONNAME('"+conname(fr.addr)+"') "+clusters,
			"DEFINE QLOCAL(Q) "+clusters+" DEFBIND(NOTFIXED)")
	}
	join(q1, "CLUSTER(CL1)")
	join(q2, "CLUSNL(BOTH)")
	w.pass(time.Second)
	fr.puts(fr.opens("Q"), "m", 30)
	w.pass(time.Second)
	if got := depths("Q", q1, q2); got != "15 15" {
		t.Errorf("the member of one cluster and the member of two got %s of 30", got)
	}
	// Suspended in one of them it is still there in the other.
	clearAt("Q", q1, q2)
	q2.ok("SUSPEND QMGR CLUSTER(CL1)")
	w.pass(time.Second)
	fr.puts(fr.opens("Q"), "m", 10)
	w.pass(time.Second)
	if got := depths("Q", q1, q2); got != "5 5" {
		t.Errorf("suspended in one of its clusters: %s of 10", got)
	}
	q2.ok("SUSPEND QMGR CLUSTER(CL2)")
	w.pass(time.Second)
	clearAt("Q", q1, q2)
	fr.puts(fr.opens("Q"), "m", 10)
	w.pass(time.Second)
	if got := depths("Q", q1, q2); got != "10 0" {
		t.Errorf("suspended in both: %s of 10", got)
	}
}

// 8.3.3 and 8.3.4: a member joins, is taken out of the cluster step by step, and joins again.
func TestLecture_MemberRemovedStepByStep(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	h := qm1.opens("DCQ1")
	qm3.ok("SUSPEND QMGR CLUSTER(C1)")
	w.pass(time.Second)
	qm3.ok("ALTER CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) CLUSTER(' ')")
	w.pass(time.Second)
	for _, n := range []*netNode{qm1, qm2} {
		if got := n.show("DISPLAY CLUSQMGR(*)", "CLUSQMGR"); got != "QM1\nQM2" {
			t.Errorf("%s still knows %q", n.name, got)
		}
	}
	qm1.puts(h, "m", 6)
	w.pass(time.Second)
	if got := depths("DCQ1", qm2, qm3); got != "6 0" {
		t.Errorf("after it left: %s of 6", got)
	}
	qm3.ok("STOP CHANNEL(TO.QM3)", "DELETE CHANNEL(TO.QM3)", "STOP CHANNEL(TO.QM1)", "DELETE CHANNEL(TO.QM1)", "REFRESH CLUSTER(C1)")
	if res := qm3.mqsc("DISPLAY CLUSQMGR(*)"); !res.Failed {
		t.Errorf("it still knows queue managers: %v", res.Responses)
	}
	if got := qm3.show("DISPLAY QCLUSTER(DCQ1)", "CLUSQMGR"); strings.Contains(got, "QM2") {
		t.Errorf("it still knows instances: %q", got)
	}
	qm3.ok("REFRESH CLUSTER(C1)") // done twice it does no harm
	if res := qm3.mqsc("REFRESH CLUSTER(NEVER)"); !res.Failed {
		t.Error("REFRESH of a cluster that it never was in")
	}
	w.pass(time.Hour)
	qm3.joins(qm1, false)
	w.pass(5 * time.Second)
	if got := qm1.show("DISPLAY CLUSQMGR(QM3) SUSPEND", "CLUSQMGR", "SUSPEND"); got != "QM3 NO" {
		t.Errorf("joined again: %q %q %v", got, qm3.show("DISPLAY CHSTATUS(*) CHANNEL STATUS", "CHANNEL", "STATUS"), qm3.log)
	}
	clearAt("DCQ1", qm2)
	qm1.puts(h, "again", 6)
	w.pass(time.Second)
	if got := depths("DCQ1", qm2, qm3); got != "3 3" {
		t.Errorf("joined again: %s of 6, log %q", got, qm3.log)
	}
	qm3.puts(qm3.opens("DCQ1"), "own", 1)
}

// 8.3.4: a full repository is taken out: others take over, then it leaves like any member.
func TestLecture_FullRepositoryRemovedStepByStep(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm4 := w.add("QM4") // the new full repository
	qm4.joins(qm1, true)
	qm1.ok("DEFINE CHANNEL(TO.QM4) CHLTYPE(CLUSSDR) CONNAME('" + conname(qm4.addr) + "') CLUSTER(C1)")
	w.pass(2 * time.Second)
	qm2.ok("ALTER QMGR REPOS(' ')", "SUSPEND QMGR CLUSTER(C1)")
	w.pass(2 * time.Second)
	if got := qm3.show("DISPLAY CLUSQMGR(*) QMTYPE SUSPEND", "CLUSQMGR", "QMTYPE", "SUSPEND"); got != "QM1 REPOS NO\nQM2 NORMAL YES\nQM3 NORMAL NO\nQM4 REPOS NO" {
		t.Errorf("QM3 knows\n%s", got)
	}
	qm2.ok("ALTER CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CLUSTER(' ')")
	w.pass(2 * time.Second)
	qm2.ok("STOP CHANNEL(TO.QM2)", "DELETE CHANNEL(TO.QM2)", "STOP CHANNEL(TO.QM1)", "DELETE CHANNEL(TO.QM1)", "REFRESH CLUSTER(C1)")
	// Whoever joined over a CLUSSDR to it gets another one.
	qm1.ok("DELETE CHANNEL(TO.QM2)")
	qm3.ok("ALTER QLOCAL(DCQ1) DESCR('changed without QM2')", "DEFINE QLOCAL(NEW) CLUSTER(C1)")
	w.pass(2 * time.Second)
	for _, n := range []*netNode{qm1, qm4} {
		if got := n.show("DISPLAY CLUSQMGR(*)", "CLUSQMGR"); got != "QM1\nQM3\nQM4" {
			t.Errorf("%s knows %q", n.name, got)
		}
		if got := n.show("DISPLAY QCLUSTER(*) CLUSQMGR DESCR", "QUEUE", "CLUSQMGR", "DESCR"); got != "DCQ1 QM3 changed without QM2\nNEW QM3 " {
			t.Errorf("%s knows %q", n.name, got)
		}
	}
}

// 8.1.9: what a publisher does not renew is not handed out after 30 days, is kept
// for 60 more, and then forgotten; who comes back is known again.
func TestLecture_PublicationsExpireAtThirtyAndNinetyDays(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm3.ok("DEFINE QLOCAL(ONLY3) CLUSTER(C1) DEFBIND(NOTFIXED)")
	late := w.add("LATE")
	late.joins(qm1, false)
	w.pass(time.Second)
	seq := func() uint64 { return qm1.m.cluster.repo.Instance("C1", "ONLY3", qm3.m.qmid).Seq }
	first := seq()
	w.pass(26 * 24 * time.Hour)
	if seq() != first {
		t.Error("published again before 27 days")
	}
	w.pass(2 * 24 * time.Hour)
	if seq() == first {
		t.Error("not published again after 27 days")
	}
	qm3.crash() // one day after it has published
	w.pass(28 * 24 * time.Hour)
	if got := late.show("DISPLAY QCLUSTER(ONLY3)", "CLUSQMGR"); got != "" {
		t.Errorf("LATE knows it without having asked: %q", got)
	}
	if _, reason := late.open("ONLY3", putNotFixed); reason != mqi.MQRC_NONE {
		t.Errorf("on day 29: %v", reason)
	}
	later := w.add("LATER")
	later.joins(qm2, false)
	w.pass(3 * 24 * time.Hour)
	if _, reason := later.open("ONLY3", putNotFixed); reason != mqi.MQRC_UNKNOWN_OBJECT_NAME {
		t.Errorf("on day 32: %v", reason)
	}
	if qm1.m.cluster.repo.Instance("C1", "ONLY3", qm3.m.qmid) == nil {
		t.Error("on day 32 it is forgotten, not only not handed out")
	}
	w.pass(56 * 24 * time.Hour)
	if qm1.m.cluster.repo.Instance("C1", "ONLY3", qm3.m.qmid) == nil {
		t.Error("on day 88 it is forgotten")
	}
	w.pass(3 * 24 * time.Hour)
	for _, n := range []*netNode{qm1, qm2} {
		if n.m.cluster.repo.Instance("C1", "ONLY3", qm3.m.qmid) != nil || len(n.m.cluster.repo.QMIDs("C1", "QM3")) > 0 {
			t.Errorf("on day 91 %s has not forgotten it", n.name)
		}
	}
	if got := qm1.show("DISPLAY QCLUSTER(DCQ1)", "CLUSQMGR"); got != "QM2" {
		t.Errorf("who goes on publishing is gone too: %q", got)
	}
	qm3.start()
	w.pass(time.Hour)
	if _, reason := later.open("ONLY3", putNotFixed); reason != mqi.MQRC_NONE {
		t.Errorf("after it came back: %v", reason)
	}
}

// 8.1.9: a subscription lives for 30 days and is renewed after 27 if it was used.
func TestLecture_UnusedSubscriptionLapses(t *testing.T) {
	w, qm1, _, qm3 := articleNet(t)
	idle, busy := w.add("IDLE"), w.add("BUSY")
	for _, n := range []*netNode{idle, busy} {
		n.joins(qm1, false)
	}
	w.pass(time.Second)
	for _, n := range []*netNode{idle, busy} {
		n.opens("DCQ1")
	}
	h := busy.opens("DCQ1")
	for range 6 {
		w.pass(10 * 24 * time.Hour)
		busy.puts(h, "m", 1)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) CLWLRANK(7)")
	w.pass(time.Second)
	if got := busy.show("DISPLAY QCLUSTER(DCQ1) CLWLRANK WHERE(CLUSQMGR EQ QM3)", "CLWLRANK"); got != "7" {
		t.Errorf("who uses the queue sees rank %q", got)
	}
	if got := idle.show("DISPLAY QCLUSTER(DCQ1) CLWLRANK WHERE(CLUSQMGR EQ QM3)", "CLWLRANK"); got == "7" {
		t.Error("who does not use the queue is still told")
	}
	// Deleted while nobody listens, and asked for again.
	qm3.ok("ALTER QLOCAL(DCQ1) CLUSTER(' ')")
	w.pass(time.Second)
	idle.opens("DCQ1")
	w.settle()
	if got := idle.show("DISPLAY QCLUSTER(DCQ1)", "CLUSQMGR"); got != "QM2" {
		t.Errorf("after it asked again it sees %q", got)
	}
}

// 8.1.9: without a full repository that answers, an open of an unknown queue
// waits ten seconds and fails; what is known goes on being used.
func TestLecture_NoFullRepositoryReachable(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm4 := w.add("QM4")
	qm4.joins(qm1, false)
	w.pass(time.Second)
	h := qm4.opens("DCQ1")
	qm1.crash()
	w.pass(time.Second)
	before := w.now
	if _, reason := qm4.open("UNKNOWN", putNotFixed); reason != mqi.MQRC_UNKNOWN_OBJECT_NAME || w.now != before {
		t.Errorf("one of two answers: %v after %v", reason, w.now.Sub(before))
	}
	qm2.crash()
	w.pass(time.Second)
	before = w.now
	if _, reason := qm4.open("OTHER", putNotFixed); reason != mqi.MQRC_CLUSTER_RESOLUTION_ERROR {
		t.Errorf("nobody answers: %v", reason)
	}
	if waited := w.now.Sub(before); waited < 10*time.Second || waited > 12*time.Second {
		t.Errorf("it waited %v", waited)
	}
	if !slices.ContainsFunc(qm4.log, func(l string) bool { return strings.HasPrefix(l, "AMQ9420W ") && strings.Contains(l, "STALE") }) {
		t.Errorf("nothing says that the repository is stale: %q", qm4.log)
	}
	qm4.puts(h, "cached", 4)
	w.pass(time.Second)
	if got := depths("DCQ1", qm3); got != "4" {
		t.Errorf("by what is known, QM3 got %s of 4", got)
	}
	qm1.start()
	qm2.start()
	w.pass(2 * time.Minute)
	if !slices.ContainsFunc(qm4.log, func(l string) bool { return strings.Contains(l, "reached again") }) {
		t.Errorf("nothing says that it is not stale any more: %q", qm4.log)
	}
	if _, reason := qm4.open("OTHER", putNotFixed); reason != mqi.MQRC_UNKNOWN_OBJECT_NAME {
		t.Errorf("both are back: %v", reason)
	}
}
