package qmgr

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/mqi"
)

func TestSuspendAndResume(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm3.ok("SUSPEND QMGR CLUSTER(C1)")
	if got := qm1.show("DISPLAY CLUSQMGR(*) SUSPEND", "CLUSQMGR", "SUSPEND"); got != "QM1 NO\nQM2 NO\nQM3 YES" {
		t.Errorf("QM1 sees %q", got)
	}
	h, _ := qm1.open("DCQ1", putNotFixed)
	for range 4 {
		qm1.put(h, "x", true)
	}
	w.settle()
	if len(qm2.texts("DCQ1")) != 4 {
		t.Errorf("QM2 got %d of 4", len(qm2.texts("DCQ1")))
	}
	qm3.crash()
	qm3.start()
	w.pass(time.Minute)
	if got := qm1.show("DISPLAY CLUSQMGR(QM3) SUSPEND", "SUSPEND"); got != "YES" {
		t.Errorf("a restart forgets SUSPEND: %q", got)
	}
	qm3.ok("RESUME QMGR CLUSTER(C1)")
	if got := qm1.show("DISPLAY CLUSQMGR(QM3) SUSPEND", "SUSPEND"); got != "NO" {
		t.Errorf("after RESUME: %q", got)
	}
	if res := qm3.mqsc("SUSPEND QMGR CLUSTER(OTHER)"); !res.Failed {
		t.Error("SUSPEND of a cluster that it is not in")
	}
}

func TestRefreshCluster(t *testing.T) {
	w, qm1, _, qm3 := articleNet(t)
	for _, repos := range []string{"NO", "YES"} {
		qm3.ok("REFRESH CLUSTER(C1) REPOS(" + repos + ")")
		w.pass(time.Second)
		if got := qm3.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR", "CLUSQMGR"); got != "QM2\nQM3" {
			t.Errorf("after REPOS(%s) QM3 sees %q", repos, got)
		}
		if got := qm1.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR", "CLUSQMGR"); got != "QM2\nQM3" {
			t.Errorf("after REPOS(%s) QM1 sees %q", repos, got)
		}
	}
	if res := qm1.mqsc("REFRESH CLUSTER(C1) REPOS(YES)"); !res.Failed || res.Responses[0].ID != "AMQ9406E" {
		t.Errorf("REPOS(YES) at a full repository: %v", res)
	}
	qm1.ok("REFRESH CLUSTER(*)")
	w.pass(time.Second)
	if got := qm1.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR", "CLUSQMGR"); got != "QM2\nQM3" {
		t.Errorf("a full repository after REFRESH sees %q", got)
	}
}

func TestResetCluster(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	if res := qm3.mqsc("RESET CLUSTER(C1) ACTION(FORCEREMOVE) QMNAME(QM2)"); !res.Failed {
		t.Error("RESET CLUSTER at a partial repository")
	}
	qm1.ok("RESET CLUSTER(C1) ACTION(FORCEREMOVE) QMNAME(QM3) QUEUES(YES)")
	for _, n := range []*netNode{qm1, qm2} {
		if got := n.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR", "CLUSQMGR"); got != "QM2" {
			t.Errorf("%s sees %q", n.name, got)
		}
	}
	w.pass(10 * time.Second)
	qm3.ok("REFRESH CLUSTER(C1)")
	w.pass(time.Second)
	for _, n := range []*netNode{qm1, qm2, qm3} {
		if got := n.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR", "CLUSQMGR"); got != "QM2\nQM3" {
			t.Errorf("after REFRESH at QM3 %s sees %q", n.name, got)
		}
	}
}

func TestAddressedPut(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm3.connect()
	qm2.ok("DEFINE QLOCAL(PRIVATE)")
	r := qm3.call(OpenReq{OD: mqi.OD{ObjectName: "PRIVATE", ObjectQMgrName: "QM2"}, Options: mqi.MQOO_OUTPUT})
	if r.Reason != mqi.MQRC_NONE {
		t.Fatal(r.Reason)
	}
	qm3.put(r.Result.(OpenResult).Handle, "direct", true)
	w.settle()
	if got := qm2.texts("PRIVATE"); !slices.Equal(got, []string{"direct"}) {
		t.Errorf("QM2 has %v", got)
	}
	// The partial repository asks for a queue manager that it does not know.
	qm4 := w.add("QM4")
	qm4.joins(qm1, false)
	w.pass(time.Second)
	qm4.connect()
	if r := qm4.call(OpenReq{OD: mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: "QM3"}, Options: mqi.MQOO_OUTPUT}); r.Reason != mqi.MQRC_NONE {
		t.Fatal(r.Reason)
	} else {
		qm4.put(r.Result.(OpenResult).Handle, "to QM3", true)
	}
	w.settle()
	if got := qm3.texts("DCQ1"); !slices.Equal(got, []string{"to QM3"}) {
		t.Errorf("QM3 has %v", got)
	}
	if r := qm4.call(OpenReq{OD: mqi.OD{ObjectName: "X", ObjectQMgrName: "NOWHERE"}, Options: mqi.MQOO_OUTPUT}); r.Reason != mqi.MQRC_UNKNOWN_REMOTE_Q_MGR {
		t.Errorf("unknown queue manager: %v", r.Reason)
	}
	// An addressed message stays with its queue manager, put-inhibited or not.
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	if r := qm4.call(OpenReq{OD: mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: "QM3"}, Options: mqi.MQOO_OUTPUT}); r.Reason == mqi.MQRC_NONE {
		qm4.put(r.Result.(OpenResult).Handle, "late", true)
	}
	w.pass(15 * time.Second)
	if got := qm3.texts("SYSTEM.DEAD.LETTER.QUEUE"); !slices.Equal(got, []string{"late"}) {
		t.Errorf("QM3's dead letters: %v", got)
	}
}

func TestLocalInstanceAndUseQ(t *testing.T) {
	w, _, qm2, qm3 := articleNet(t)
	h, _ := qm2.open("DCQ1", putNotFixed)
	for range 4 {
		qm2.put(h, "x", true)
	}
	w.settle()
	if len(qm2.texts("DCQ1")) != 4 {
		t.Errorf("CLWLUSEQ(QMGR): %d of 4 stayed", len(qm2.texts("DCQ1")))
	}
	qm2.ok("ALTER QLOCAL(DCQ1) CLWLUSEQ(ANY) CLWLPRTY(0)")
	qm3.ok("ALTER QLOCAL(DCQ1) CLWLPRTY(1)")
	for range 4 {
		qm2.put(h, "x", true)
	}
	w.settle()
	if len(qm3.texts("DCQ1")) != 4 {
		t.Errorf("CLWLUSEQ(ANY) and a higher priority elsewhere: %d of 4 went", len(qm3.texts("DCQ1")))
	}
	qm2.ok("ALTER QLOCAL(DCQ1) CLWLUSEQ(LOCAL)", "ALTER QLOCAL(DCQ1) CLWLRANK(0)")
	qm3.ok("ALTER QLOCAL(DCQ1) CLWLRANK(9)")
	qm2.put(h, "x", true)
	w.settle()
	if len(qm3.texts("DCQ1")) != 5 {
		t.Error("a higher rank elsewhere does not beat the local queue")
	}
}

func TestInstances(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm3.connect()
	ask := func(n *netNode, since uint64, subscribe bool, queues ...string) *InstancesResult {
		t.Helper()
		if n.m.conns[1] == nil {
			n.connect()
		}
		return n.call(InstancesReq{Queues: queues, Since: since, Subscribe: subscribe}).Result.(*InstancesResult)
	}
	res := ask(qm3, 0, true, "DCQ1", "OTHER")
	if !res.Known[0] || res.Known[1] || !res.Repository {
		t.Errorf("first answer %+v", res)
	}
	w.settle()
	res = ask(qm3, 0, true, "DCQ1", "OTHER")
	if !res.Known[1] || len(res.Instances) != 2 {
		t.Errorf("second answer %+v", res)
	}
	describe := func(res *InstancesResult) string {
		var out []string
		for _, in := range res.Instances {
			s := in.QMgr
			if in.Local {
				s += "(local)"
			}
			if in.Usable {
				s += "+"
			}
			out = append(out, s)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	if got := describe(res); got != "QM2+ QM3(local)+" {
		t.Errorf("instances %q", got)
	}
	again := ask(qm3, res.Revision, true, "DCQ1", "OTHER")
	if !again.Unchanged || again.Instances != nil {
		t.Errorf("nothing changed, but %+v", again)
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	again = ask(qm3, res.Revision, true, "DCQ1")
	if again.Unchanged || describe(again) != "QM2 QM3(local)+" {
		t.Errorf("after PUT(DISABLED) %+v", again)
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED) CLWLRANK(1)")
	if got := describe(ask(qm3, 0, true, "DCQ1")); got != "QM2+ QM3(local)" {
		t.Errorf("higher rank elsewhere: %q", got)
	}
	qm1.crash()
	qm2.crash()
	h, _ := qm3.open("DCQ1", putNotFixed)
	qm3.put(h, "x", true) // the channel finds out
	w.pass(2 * time.Second)
	res = ask(qm3, 0, true, "DCQ1")
	if describe(res) != "QM2 QM3(local)" || res.Repository {
		t.Errorf("both full repositories down: %q, repository reachable %v", describe(res), res.Repository)
	}
}

func TestQueueManagerAliasThroughTheCluster(t *testing.T) {
	w, qm1, qm2, _ := articleNet(t)
	// QM2 is the gateway to OUT, which is in no cluster.
	out := w.add("OUT")
	out.ok("DEFINE QLOCAL(Q)", "DEFINE CHANNEL(QM2.OUT) CHLTYPE(RCVR)")
	qm2.ok("DEFINE QLOCAL(OUT.XMIT) USAGE(XMITQ)", "DEFINE CHANNEL(QM2.OUT) CHLTYPE(SDR) CONNAME('"+conname(out.addr)+"') XMITQ(OUT.XMIT)",
		"DEFINE QREMOTE(OUT) RNAME(' ') RQMNAME(OUT) XMITQ(OUT.XMIT) CLUSTER(C1)", "START CHANNEL(QM2.OUT)")
	qm1.connect()
	r := qm1.call(OpenReq{OD: mqi.OD{ObjectName: "Q", ObjectQMgrName: "OUT"}, Options: mqi.MQOO_OUTPUT})
	if r.Reason != mqi.MQRC_NONE {
		t.Fatal(r.Reason)
	}
	qm1.put(r.Result.(OpenResult).Handle, "far", true)
	w.settle()
	if got := out.texts("Q"); !slices.Equal(got, []string{"far"}) {
		t.Errorf("OUT has %v; QM2 %v %q", got, qm2.texts("OUT.XMIT"), qm2.log)
	}
	if got := qm1.show("DISPLAY QCLUSTER(OUT) CLUSQT", "CLUSQT"); got != "QMGR" {
		t.Errorf("CLUSQT of an alias of a queue manager: %q", got)
	}
}

func TestClusteredAlias(t *testing.T) {
	w, qm1, qm2, _ := articleNet(t)
	qm2.ok("DEFINE QLOCAL(BASE)", "DEFINE QALIAS(AL) TARGET(BASE) CLUSTER(C1) DEFBIND(NOTFIXED)")
	h, reason := qm1.open("AL", mqi.MQOO_OUTPUT)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	qm1.put(h, "x", true)
	w.settle()
	if got := qm2.texts("BASE"); len(got) != 1 {
		t.Errorf("BASE has %v, log %q", got, qm2.log)
	}
	h, _ = qm2.open("AL", mqi.MQOO_OUTPUT)
	if _, reason := qm2.put(h, "y", true); reason != mqi.MQRC_NONE || len(qm2.texts("BASE")) != 2 {
		t.Errorf("put at the host: %v", reason)
	}
	qm2.ok("ALTER QALIAS(AL) PUT(DISABLED)")
	h, _ = qm1.open("AL", putNotFixed)
	if _, reason := qm1.put(h, "z", true); reason != mqi.MQRC_CLUSTER_PUT_INHIBITED {
		t.Errorf("advertised alias disabled: %v", reason)
	}
}

func TestLeaveTheCluster(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	h, _ := qm1.open("DCQ1", putNotFixed)
	qm3.ok("ALTER QLOCAL(DCQ1) CLUSTER(' ')")
	qm2.ok("DELETE QLOCAL(DCQ1)")
	if _, reason := qm1.put(h, "x", true); reason != mqi.MQRC_UNKNOWN_OBJECT_NAME {
		t.Errorf("put after the queue left: %v", reason)
	}
	if got := qm1.mqsc("DISPLAY QCLUSTER(DCQ1)"); !got.Failed {
		t.Errorf("QM1 still sees %v", got)
	}
	qm3.ok("ALTER CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) CLUSTER(' ')")
	w.pass(time.Second)
	if got := qm1.show("DISPLAY CLUSQMGR(*)", "CLUSQMGR"); got != "QM1\nQM2" {
		t.Errorf("QM1 knows %q, QM3's log %q", got, qm3.log)
	}
}

// What is bound to a queue manager that leaves the cluster has nowhere to go.
func TestBoundMessagesOfAQueueManagerThatLeft(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm1.ok("STOP CHANNEL(TO.QM3)")
	qm1.connect()
	r := qm1.call(OpenReq{OD: mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: "QM3"}, Options: mqi.MQOO_OUTPUT})
	qm1.put(r.Result.(OpenResult).Handle, "bound", true)
	qm3.ok("ALTER CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) CLUSTER(' ')")
	w.pass(time.Second)
	if got := qm1.texts("SYSTEM.DEAD.LETTER.QUEUE"); !slices.Equal(got, []string{"bound"}) {
		t.Errorf("dead letters %v, still waiting %v", got, qm1.texts(sharedTransmitQ))
	}
	_ = qm2
}

// TestAnsweredCommandsSurvive: what RESET CHANNEL and SUSPEND QMGR were answered
// to is there after a crash.
func TestAnsweredCommandsSurvive(t *testing.T) {
	w, qm1, _, qm3 := articleNet(t)
	qm1.ok("STOP CHANNEL(TO.QM3) MODE(FORCE)", "RESET CHANNEL(TO.QM3) SEQNUM(100)")
	qm1.crash()
	qm1.start()
	qm1.ok("START CHANNEL(TO.QM3)")
	w.settle()
	if got := qm1.show("DISPLAY CHSTATUS(TO.QM3) CURSEQNO STATUS", "CURSEQNO", "STATUS"); got != "99 RUNNING" {
		t.Errorf("RESET at the sender: %q, log %q", got, qm1.log)
	}
	qm3.ok("STOP CHANNEL(TO.QM3) MODE(FORCE)", "RESET CHANNEL(TO.QM3) SEQNUM(5)")
	qm3.crash()
	for key, record := range qm3.disk.records {
		if strings.HasPrefix(key, channelPrefix+"r/TO.QM3|") {
			if last, err := channel.DecodeLast(record); err != nil || last != 4 {
				t.Errorf("RESET at the receiver: %s is %d, %v", key, last, err)
			}
		}
	}
	alone := w.add("ALONE")
	alone.ok("ALTER QMGR REPOS(C2)", "DEFINE CHANNEL(TO.ALONE) CHLTYPE(CLUSRCVR) CONNAME('"+conname(alone.addr)+"') CLUSTER(C2)", "SUSPEND QMGR CLUSTER(C2)")
	alone.crash()
	alone.start()
	if got := alone.show("DISPLAY CLUSQMGR(ALONE) SUSPEND", "SUSPEND"); got != "YES" {
		t.Errorf("SUSPEND is forgotten: %q", got)
	}
}

// TestWhereLeavesOutWhatHasNoSuchAttribute: the filter is one for the queues of
// our own and for the instances elsewhere, which advertise no MAXDEPTH.
func TestWhereLeavesOutWhatHasNoSuchAttribute(t *testing.T) {
	_, qm1, qm2, _ := articleNet(t)
	for _, tt := range []struct{ where, want string }{
		{"MAXDEPTH GT 0", "DCQ1 QLOCAL"},
		{"PUT EQ ENABLED", "DCQ1 QLOCAL\nDCQ1 QCLUSTER\nDCQ1 QCLUSTER"},
		{"CLUSQMGR EQ QM3", "DCQ1 QCLUSTER"},
	} {
		if got := qm2.show("DISPLAY QUEUE(DCQ1) CLUSINFO WHERE("+tt.where+")", "QUEUE", "TYPE"); got != tt.want {
			t.Errorf("WHERE(%s) at a host: %q, want %q", tt.where, got, tt.want)
		}
	}
	if res := qm1.mqsc("DISPLAY QUEUE(DCQ1) CLUSINFO WHERE(MAXDEPTH GT 0)"); !res.Failed {
		t.Errorf("WHERE(MAXDEPTH GT 0) where there are only instances elsewhere: %v", res)
	}
}
