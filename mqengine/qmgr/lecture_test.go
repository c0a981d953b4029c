package qmgr

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/workload"
)

// What the lecture on clusters says, chapter 8, one test for each statement.

// openAt opens a queue at a queue manager that is named.
func (n *netNode) openAt(q, qmgr string, options int32) uint32 {
	n.net.t.Helper()
	if n.m.conns[1] == nil {
		n.connect()
	}
	r := n.call(OpenReq{OD: mqi.OD{ObjectName: q, ObjectQMgrName: qmgr}, Options: options})
	if r.Reason != mqi.MQRC_NONE {
		n.net.t.Fatalf("%s: open %s at %s: %v", n.name, q, qmgr, r.Reason)
	}
	return r.Result.(OpenResult).Handle
}

// puts puts so many messages named PREFIX0, PREFIX1 ... to a queue that is opened.
func (n *netNode) puts(h uint32, prefix string, count int) {
	n.net.t.Helper()
	for i := range count {
		if _, reason := n.put(h, fmt.Sprint(prefix, i), true); reason != mqi.MQRC_NONE {
			n.net.t.Fatalf("%s: put %s%d: %v", n.name, prefix, i, reason)
		}
	}
}

// opens opens a queue for puts that are not fixed.
func (n *netNode) opens(q string) uint32 {
	n.net.t.Helper()
	h, reason := n.open(q, putNotFixed)
	if reason != mqi.MQRC_NONE {
		n.net.t.Fatalf("%s: open %s: %v", n.name, q, reason)
	}
	return h
}

// depths is how many messages lie on a queue at each node: "3 1".
func depths(queue string, nodes ...*netNode) string {
	var out []string
	for _, n := range nodes {
		out = append(out, fmt.Sprint(len(n.texts(queue))))
	}
	return strings.Join(out, " ")
}

// clear empties a queue at each node.
func clearAt(queue string, nodes ...*netNode) {
	for _, n := range nodes {
		n.ok("CLEAR QLOCAL(" + queue + ")")
	}
}

// 8.1.4: all messages to members of the cluster wait on one transmission queue,
// which every queue manager has from its creation.
func TestLecture_TransmitQueueShowsDepthWhileAMemberIsAway(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	const show = "DISPLAY QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) CURDEPTH USAGE"
	if got := w.add("NEW").show(show, "CURDEPTH", "USAGE"); got != "0 XMITQ" {
		t.Errorf("at a queue manager that is in no cluster: %q", got)
	}
	qm3.crash()
	w.pass(time.Second)
	qm1.puts(qm1.openAt("DCQ1", "QM3", mqi.MQOO_OUTPUT), "m", 7)
	if got := qm1.show(show, "CURDEPTH", "USAGE"); got != "7 XMITQ" {
		t.Errorf("while QM3 is away: %q", got)
	}
	if got := qm1.show("DISPLAY CHSTATUS(TO.QM3) STATUS XMITQ", "STATUS", "XMITQ"); got != "RETRYING SYSTEM.CLUSTER.TRANSMIT.QUEUE" {
		t.Errorf("the channel: %q", got)
	}
	qm3.start()
	w.pass(2 * time.Minute)
	if got := qm1.show(show, "CURDEPTH", "USAGE"); got != "0 XMITQ" {
		t.Errorf("after QM3 came back: %q", got)
	}
	if got := qm3.texts("DCQ1"); !slices.Equal(got, []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6"}) || len(qm2.texts("DCQ1")) > 0 {
		t.Errorf("QM3 has %v", got)
	}
}

// 8.1.5: a CLUSRCVR says with which attributes others send to its queue manager.
func TestLecture_SenderTakesItsAttributesFromTheClusterReceiver(t *testing.T) {
	w, qm1, _, qm3 := articleNet(t)
	qm3.ok("ALTER CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) DISCINT(17) BATCHSZ(3) HBINT(9) SHORTTMR(5) CLWLWGHT(60)")
	// A CLUSSDR that is defined by hand serves to join only.
	qm1.ok("DEFINE CHANNEL(TO.QM3) CHLTYPE(CLUSSDR) CLUSTER(C1) CONNAME('" + conname(qm3.addr) + "') DISCINT(999) BATCHSZ(77)")
	show := func() string {
		return qm1.show("DISPLAY CLUSQMGR(QM3) DEFTYPE DISCINT BATCHSZ HBINT SHORTTMR CLWLWGHT", "DEFTYPE", "DISCINT", "BATCHSZ", "HBINT", "SHORTTMR", "CLWLWGHT")
	}
	if got := show(); got != "CLUSSDRB 17 3 9 5 60" {
		t.Errorf("as QM1 knows it: %q", got)
	}
	w.pass(20 * time.Second)
	qm1.puts(qm1.openAt("DCQ1", "QM3", mqi.MQOO_OUTPUT), "m", 4)
	w.settle()
	if got := qm1.show("DISPLAY CHSTATUS(TO.QM3) STATUS MSGS BATCHES", "STATUS"); got != "RUNNING" {
		t.Fatalf("after a put: %q", got)
	}
	w.pass(15 * time.Second)
	if got := qm1.show("DISPLAY CHSTATUS(TO.QM3) STATUS", "STATUS"); got != "RUNNING" {
		t.Errorf("before the disconnect interval is over: %q", got)
	}
	w.pass(3 * time.Second)
	if got := qm1.show("DISPLAY CLUSQMGR(QM3) STATUS", "STATUS"); got != "INACTIVE" {
		t.Errorf("after the 17 s that QM3 says: %q", got)
	}
	qm1.ok("DELETE CHANNEL(TO.QM3)")
	if got := show(); got != "CLUSSDRA 17 3 9 5 60" {
		t.Errorf("without the definition by hand: %q", got)
	}
}

// outside adds a queue manager in no cluster with an ordinary channel to it from a gateway.
func (w *clusterNet) outside(name, xmitQ string, gateway *netNode) *netNode {
	out := w.add(name)
	ch := gateway.name + "." + name
	out.ok("ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)", "DEFINE CHANNEL("+ch+") CHLTYPE(RCVR)")
	gateway.ok("DEFINE QLOCAL("+xmitQ+") USAGE(XMITQ)",
		"DEFINE CHANNEL("+ch+") CHLTYPE(SDR) CONNAME('"+conname(out.addr)+"') XMITQ("+xmitQ+")", "START CHANNEL("+ch+")")
	return out
}

// 8.1.7: a definition of a remote queue that is shared in the cluster makes a
// queue outside known under its name. Without XMITQ the transmission queue is
// the one named like the remote queue manager.
func TestLecture_ClusteredDefinitionOfAQueueOutside(t *testing.T) {
	for _, tt := range []struct{ xmitQ, keyword string }{{"OUT.XMIT", "XMITQ(OUT.XMIT)"}, {"OUT", ""}} {
		w, qm1, qm2, qm3 := articleNet(t)
		out := w.outside("OUT", tt.xmitQ, qm2)
		out.ok("DEFINE QLOCAL(REAL)")
		qm2.ok("DEFINE QREMOTE(FAR) RNAME(REAL) RQMNAME(OUT) CLUSTER(C1) DEFBIND(NOTFIXED) " + tt.keyword)
		for _, n := range []*netNode{qm1, qm3, qm2} {
			n.puts(n.opens("FAR"), n.name, 2)
			w.settle()
		}
		if got := out.texts("REAL"); !slices.Equal(got, []string{"QM10", "QM11", "QM30", "QM31", "QM20", "QM21"}) {
			t.Errorf("%s: OUT has %v", tt.keyword, got)
		}
		if got := qm1.show("DISPLAY QCLUSTER(FAR) CLUSQT CLUSQMGR", "CLUSQT", "CLUSQMGR"); got != "QREMOTE QM2" {
			t.Errorf("as QM1 knows it: %q", got)
		}
	}
}

// 8.1.7: instances of one name may be of different types.
func TestLecture_OneNameWithInstancesOfMixedTypes(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm4 := w.add("QM4")
	qm4.joins(qm2, false)
	out := w.outside("OUT", "OUT", qm4)
	out.ok("DEFINE QLOCAL(REAL)")
	qm2.ok("DEFINE QLOCAL(SVC) CLUSTER(C1) DEFBIND(NOTFIXED)")
	qm3.ok("DEFINE QLOCAL(BASE)", "DEFINE QALIAS(SVC) TARGET(BASE) CLUSTER(C1) DEFBIND(NOTFIXED)")
	qm4.ok("DEFINE QREMOTE(SVC) RNAME(REAL) RQMNAME(OUT) CLUSTER(C1) DEFBIND(NOTFIXED)")
	w.pass(time.Second)
	if got := qm1.show("DISPLAY QCLUSTER(SVC) CLUSQMGR CLUSQT", "CLUSQMGR", "CLUSQT"); got != "QM2 QLOCAL\nQM3 QALIAS\nQM4 QREMOTE" {
		t.Fatalf("QM1 sees %q", got)
	}
	qm1.puts(qm1.opens("SVC"), "m", 30)
	w.pass(time.Second)
	if got := fmt.Sprint(len(qm2.texts("SVC")), len(qm3.texts("BASE")), len(out.texts("REAL"))); got != "10 10 10" {
		t.Errorf("QLOCAL, QALIAS, QREMOTE got %s of 30", got)
	}
}

// 8.1.7: a dynamic queue cannot be shared, but a reply finds it by the name of
// the queue manager, which that fills in itself.
func TestLecture_ReplyToADynamicQueueByQueueManagerName(t *testing.T) {
	w, qm1, _, qm3 := articleNet(t)
	qm4 := w.add("QM4")
	qm4.joins(qm1, false)
	w.pass(time.Second)
	qm4.connect()
	r := qm4.call(OpenReq{OD: mqi.OD{ObjectName: "SYSTEM.DEFAULT.MODEL.QUEUE", DynamicQName: "REPLY.*"}, Options: mqi.MQOO_INPUT_SHARED})
	if r.Reason != mqi.MQRC_NONE {
		t.Fatal(r.Reason)
	}
	replyQ := r.Result.(OpenResult).ResolvedQName
	md := mqi.NewMD()
	md.MsgType, md.ReplyToQ, md.Persistence = mqi.MQMT_REQUEST, replyQ, mqi.MQPER_NOT_PERSISTENT
	if r := qm4.call(PutReq{Handle: qm4.openAt("DCQ1", "QM3", mqi.MQOO_OUTPUT), MD: md}); r.Reason != mqi.MQRC_NONE {
		t.Fatal(r.Reason)
	}
	w.settle()
	request := qm3.m.localQueue("DCQ1").next(headOfQueue)
	if request == nil || request.md.ReplyToQMgr != "QM4" || request.md.ReplyToQ != replyQ {
		t.Fatalf("the request: %+v", request)
	}
	h := qm3.openAt(request.md.ReplyToQ, request.md.ReplyToQMgr, mqi.MQOO_OUTPUT)
	if _, reason := qm3.put(h, "reply", false); reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	w.settle()
	if got := qm4.texts(replyQ); !slices.Equal(got, []string{"reply"}) {
		t.Errorf("%s has %v", replyQ, got)
	}
	for _, n := range w.nodes {
		if got := n.show("DISPLAY QCLUSTER("+replyQ+")", "CLUSQMGR"); got != "" {
			t.Errorf("%s sees the dynamic queue in the cluster: %q", n.name, got)
		}
	}
}

// 8.3.1, 8.4.4: what names a queue manager gets there, whether it is suspended
// or its queue inhibited; then it is up to the receiving channel.
func TestLecture_AddressedMessagesReachSuspendedAndInhibitedMembers(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm3.ok("SUSPEND QMGR CLUSTER(C1)")
	h := qm1.openAt("DCQ1", "QM3", mqi.MQOO_OUTPUT)
	qm1.puts(h, "suspended", 3)
	w.settle()
	if got := depths("DCQ1", qm2, qm3); got != "0 3" {
		t.Errorf("to a suspended member: %s", got)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	qm1.puts(h, "inhibited", 2)
	w.pass(3 * time.Second)
	if got := qm3.show("DISPLAY CHSTATUS(TO.QM3) STATUS WHERE(RQMNAME EQ QM1)", "STATUS"); got != "PAUSED" {
		t.Errorf("the receiving channel is %q", got)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)")
	w.pass(2 * time.Second)
	if got := depths("DCQ1", qm2, qm3); got != "0 5" {
		t.Errorf("enabled before the retries (MRRTY) are over: %s", got)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	qm1.puts(h, "late", 1)
	w.pass(15 * time.Second)
	if got := depths("DCQ1", qm2, qm3); got != "0 5" || !slices.Equal(qm3.texts("SYSTEM.DEAD.LETTER.QUEUE"), []string{"late0"}) {
		t.Errorf("after the retries: %s, dead letters %v", got, qm3.texts("SYSTEM.DEAD.LETTER.QUEUE"))
	}
}

// 8.4.2: 1,000 messages for ten members, about 100 each.
func TestLecture_ThousandMessagesOverTenMembers(t *testing.T) {
	w := newClusterNet(t)
	fr1, fr2 := w.add("FR1"), w.add("FR2")
	fr1.joins(fr2, true)
	fr2.joins(fr1, true)
	var members []*netNode
	for i := range 10 {
		n := w.add(fmt.Sprintf("M%02d", i))
		n.joins(map[bool]*netNode{true: fr1, false: fr2}[i%2 == 0], false)
		n.ok("DEFINE QLOCAL(SVC) CLUSTER(C1) DEFBIND(NOTFIXED)")
		members = append(members, n)
	}
	putter := w.add("PUTTER")
	putter.joins(fr2, false)
	w.pass(time.Second)
	putter.puts(putter.opens("SVC"), "m", 1000)
	w.pass(time.Second)
	var all []string
	for _, n := range members {
		got := n.texts("SVC")
		if len(got) < 90 || len(got) > 110 {
			t.Errorf("%s got %d of 1000", n.name, len(got))
		}
		all = append(all, got...)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 1000 {
		t.Errorf("%d distinct messages arrived", len(slices.Compact(all)))
	}
}

// 8.4.11: weights 60 and 20, four messages: three and one.
func TestLecture_WeightsOfSixtyAndTwenty(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	qm2.ok("ALTER CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CLWLWGHT(60)")
	qm3.ok("ALTER CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) CLWLWGHT(20)")
	h := qm1.opens("DCQ1")
	for _, want := range []string{"3 1", "6 2", "9 3"} {
		qm1.puts(h, "m", 4)
		w.settle()
		if got := depths("DCQ1", qm2, qm3); got != want {
			t.Errorf("QM2 and QM3 have %s, want %s", got, want)
		}
	}
	clearAt("DCQ1", qm2, qm3)
	qm1.puts(h, "m", 400)
	w.settle()
	if n := len(qm2.texts("DCQ1")); n < 295 || n > 305 {
		t.Errorf("QM2 got %d of 400", n)
	}
}

// 8.4.6, 8.4.9: ranks before priorities, and of each first the queue manager's
// (its CLUSRCVR's), then the queue's.
func TestLecture_RankBeforePriorityAndManagerBeforeQueue(t *testing.T) {
	for _, tt := range []struct{ name, chl2, q2, chl3, q3, want string }{
		{"rank of the manager before that of the queue", "CLWLRANK(1)", "CLWLRANK(0)", "CLWLRANK(0)", "CLWLRANK(9)", "6 0"},
		{"rank of the queue before priority of the manager", "CLWLPRTY(0)", "CLWLRANK(1)", "CLWLPRTY(9)", "CLWLRANK(0)", "6 0"},
		{"rank of the manager before every priority", "CLWLRANK(1)", "CLWLPRTY(0)", "CLWLPRTY(9)", "CLWLPRTY(9)", "6 0"},
		{"priority of the manager before that of the queue", "CLWLPRTY(1)", "CLWLPRTY(0)", "CLWLPRTY(0)", "CLWLPRTY(9)", "6 0"},
		{"priority of the queue last", "CLWLPRTY(1)", "CLWLPRTY(0)", "CLWLPRTY(1)", "CLWLPRTY(9)", "0 6"},
		{"all alike", "CLWLPRTY(1)", "CLWLRANK(2)", "CLWLPRTY(1)", "CLWLRANK(2)", "3 3"},
	} {
		w, qm1, qm2, qm3 := articleNet(t)
		qm2.ok("ALTER CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) "+tt.chl2, "ALTER QLOCAL(DCQ1) "+tt.q2)
		qm3.ok("ALTER CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) "+tt.chl3, "ALTER QLOCAL(DCQ1) "+tt.q3)
		qm1.puts(qm1.opens("DCQ1"), "m", 6)
		w.settle()
		if got := depths("DCQ1", qm2, qm3); got != tt.want {
			t.Errorf("%s: QM2 and QM3 have %s, want %s", tt.name, got, tt.want)
		}
	}
}

// 8.4.6, 8.4.9: an enabled instance of the highest rank is waited for, while one of
// the highest priority gives way as soon as its channel fails.
func TestLecture_RankWaitsForItsMemberAndPriorityDoesNot(t *testing.T) {
	for attr, want := range map[string]string{"CLWLRANK(5)": "0", "CLWLPRTY(5)": "4"} {
		w, qm1, qm2, qm3 := articleNet(t)
		qm3.ok("ALTER QLOCAL(DCQ1) " + attr)
		h := qm1.opens("DCQ1")
		qm3.crash()
		w.pass(time.Second)
		qm1.puts(h, "m", 4)
		w.pass(time.Second)
		if got := depths("DCQ1", qm2); got != want {
			t.Errorf("%s at a member that is away: QM2 got %s of 4", attr, got)
		}
		qm3.start()
		w.pass(2 * time.Minute)
		if got := len(qm2.texts("DCQ1")) + len(qm3.texts("DCQ1")); got != 4 {
			t.Errorf("%s: %d of 4 arrived", attr, got)
		}
	}
}

// 8.4.7: a suspended queue manager is used when nothing else is left.
func TestLecture_SuspendedIsUsedOnlyWhenNothingElseIsLeft(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	h := qm1.opens("DCQ1")
	step := func(what, want string) {
		t.Helper()
		qm1.puts(h, "m", 4)
		w.settle()
		if got := depths("DCQ1", qm2, qm3); got != want {
			t.Errorf("%s: QM2 and QM3 got %s of 4, want %s", what, got, want)
		}
		clearAt("DCQ1", qm2, qm3)
	}
	qm3.ok("SUSPEND QMGR CLUSTER(C1)")
	step("QM3 suspended", "4 0")
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	step("QM3 suspended, QM2 inhibited", "0 4")
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)", "SUSPEND QMGR CLUSTER(C1)")
	step("both suspended", "2 2")
	qm3.ok("RESUME QMGR CLUSTER(C1)")
	step("QM3 resumed", "0 4")
}

// 8.4.8: running and inactive channels before those that are starting, those
// before the ones that failed and are tried again, and last those that a person
// has to start.
func TestLecture_ChannelStateGroupsInOrder(t *testing.T) {
	groups := [][]mqi.ChannelStatus{
		{mqi.MQCHS_INACTIVE, mqi.MQCHS_RUNNING},
		{mqi.MQCHS_BINDING, mqi.MQCHS_INITIALIZING, mqi.MQCHS_STARTING, mqi.MQCHS_STOPPING},
		{mqi.MQCHS_RETRYING},
		{mqi.MQCHS_STOPPED, mqi.MQCHS_PAUSED, mqi.MQCHS_REQUESTING},
	}
	for i, better := range groups {
		for _, worse := range groups[i:] {
			for _, a := range better {
				for _, b := range worse {
					cands := []workload.Candidate{{QMgr: "A", Channel: "TO.A", Put: true, Status: b, ChlWght: 50}, {QMgr: "B", Channel: "TO.B", Put: true, Status: a, ChlWght: 50, Factor: 1}}
					winner, _ := workload.Choose(&workload.Request{}, cands, nil)
					if same := slices.Contains(better, b); same && winner != 0 || !same && winner != 1 {
						t.Errorf("%v and %v: %s is chosen", a, b, cands[winner].QMgr)
					}
				}
			}
		}
	}
	// The same with queue managers.
	w, qm1, qm2, qm3 := articleNet(t)
	h := qm1.opens("DCQ1")
	qm1.ok("STOP CHANNEL(TO.QM3)")
	qm1.puts(h, "running", 4)
	w.settle()
	if got := depths("DCQ1", qm2, qm3); got != "4 0" {
		t.Errorf("one channel stopped: %s", got)
	}
	qm2.crash()
	w.pass(time.Second)
	qm1.puts(h, "retrying", 4)
	qm2.start()
	w.pass(2 * time.Minute)
	if got := depths("DCQ1", qm2, qm3); got != "8 0" {
		t.Errorf("one channel retrying, one stopped: %s", got)
	}
	qm1.ok("STOP CHANNEL(TO.QM2)")
	qm1.puts(h, "stopped", 4)
	w.pass(time.Minute)
	if got := depths("DCQ1", qm2, qm3); got != "8 0" || len(qm1.texts(sharedTransmitQ)) != 4 {
		t.Errorf("both stopped: %s, %d wait", got, len(qm1.texts(sharedTransmitQ)))
	}
	qm1.ok("START CHANNEL(TO.QM2)", "START CHANNEL(TO.QM3)")
	w.pass(time.Second)
	if got := len(qm2.texts("DCQ1")) + len(qm3.texts("DCQ1")); got != 12 || len(qm1.texts(sharedTransmitQ)) != 0 {
		t.Errorf("both started: %d of 12", got)
	}
}

// 8.4.10: CLWLMRUC limits how many channels a queue manager uses at once.
func TestLecture_LimitOfChannelsInUse(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	hosts := []*netNode{qm2, qm3}
	for _, name := range []string{"QM4", "QM5"} {
		n := w.add(name)
		n.joins(qm1, false)
		n.ok("DEFINE QLOCAL(DCQ1) CLUSTER(C1) DEFBIND(NOTFIXED)")
		hosts = append(hosts, n)
	}
	w.pass(time.Second)
	h := qm1.opens("DCQ1")
	qm1.puts(h, "m", 40)
	w.settle()
	if got := depths("DCQ1", hosts...); got != "10 10 10 10" {
		t.Errorf("without a limit: %s", got)
	}
	clearAt("DCQ1", hosts...)
	qm1.ok("ALTER QMGR CLWLMRUC(2)")
	qm1.puts(h, "m", 40)
	w.settle()
	used := 0
	for _, n := range hosts {
		switch got := len(n.texts("DCQ1")); got {
		case 0:
		case 20:
			used++
		default:
			t.Errorf("%s got %d of 40", n.name, got)
		}
	}
	if used != 2 {
		t.Errorf("CLWLMRUC(2): %s", depths("DCQ1", hosts...))
	}
	// One of the two fails: another takes its place.
	i := slices.IndexFunc(hosts, func(n *netNode) bool { return len(n.texts("DCQ1")) > 0 })
	hosts[i].crash()
	hosts = slices.Delete(hosts, i, i+1)
	w.pass(time.Second)
	clearAt("DCQ1", hosts...)
	qm1.puts(h, "m", 60)
	w.pass(time.Second)
	used = 0
	all := 0
	for _, n := range hosts {
		got := len(n.texts("DCQ1"))
		all += got
		if got > 0 {
			used++
		}
	}
	if used != 2 || all != 60 {
		t.Errorf("after one of the two failed: %s of 60", depths("DCQ1", hosts...))
	}
}

// 8.1.8: queue managers of one name are told apart by their identifiers.
func TestLecture_TwoQueueManagersOfOneName(t *testing.T) {
	w, qm1, qm2, _ := articleNet(t)
	old := w.add("TWIN")
	old.joins(qm1, false)
	old.ok("DEFINE QLOCAL(TQ) CLUSTER(C1) DEFBIND(NOTFIXED)")
	w.pass(time.Second)
	old.crash()
	w.pass(time.Hour)
	anew := w.addAs("TWIN", object.QMID("TWIN", w.now))
	anew.joins(qm1, false)
	anew.ok("DEFINE QLOCAL(TQ) CLUSTER(C1) DEFBIND(NOTFIXED)")
	w.pass(2 * time.Minute)
	ids := func(n *netNode) int {
		return len(strings.Split(n.show("DISPLAY CLUSQMGR(TWIN) QMID", "QMID"), "\n"))
	}
	if ids(qm1) != 2 || ids(qm2) != 2 {
		t.Fatalf("QM1 knows %q", qm1.show("DISPLAY CLUSQMGR(TWIN) QMID", "QMID"))
	}
	if res := qm1.mqsc("RESET CLUSTER(C1) ACTION(FORCEREMOVE) QMNAME(TWIN) QUEUES(YES)"); !res.Failed || ids(qm1) != 2 {
		t.Errorf("by a name that two have: %v", res.Responses)
	}
	qm1.ok("RESET CLUSTER(C1) ACTION(FORCEREMOVE) QMID('" + old.m.qmid + "') QUEUES(YES)")
	for _, n := range []*netNode{qm1, qm2} {
		if got := n.show("DISPLAY CLUSQMGR(TWIN) QMID", "QMID"); got != anew.m.qmid {
			t.Errorf("%s knows %q, want %s", n.name, got, anew.m.qmid)
		}
		if got := n.show("DISPLAY QCLUSTER(TQ) QMID", "QMID"); got != anew.m.qmid {
			t.Errorf("%s knows TQ at %q", n.name, got)
		}
	}
	qm1.puts(qm1.opens("TQ"), "m", 4)
	w.pass(time.Second)
	if got := depths("TQ", anew); got != "4" {
		t.Errorf("the new one got %s of 4", got)
	}
}
