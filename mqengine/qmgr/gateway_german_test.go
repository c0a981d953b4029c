package qmgr

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// What the German page on queue manager aliases and clusters says, one test for
// each of its examples.

// DEFINE QREMOTE(YORK) RNAME(' ') RQMNAME(CLUSQM): YORK is another name of
// CLUSQM for whoever puts at the queue manager that has the definition, and the
// transmission header says CLUSQM.
func TestGerman_York(t *testing.T) {
	w, qm1, qm2, _ := articleNet(t)
	clusqm := w.add("CLUSQM")
	clusqm.joins(qm2, false)
	clusqm.ok("DEFINE QLOCAL(Q)")
	qm1.ok("DEFINE QREMOTE(YORK) RNAME(' ') RQMNAME(CLUSQM)")
	w.pass(time.Second)
	qm1.ok("STOP CHANNEL(TO.CLUSQM)")
	h := qm1.openAt("Q", "YORK", mqi.MQOO_OUTPUT)
	qm1.puts(h, "m", 2)
	if msg := qm1.m.localQueue(sharedTransmitQ).next(headOfQueue); msg == nil || msg.targetQMgr != "CLUSQM" || msg.targetQ != "Q" || msg.channel != "TO.CLUSQM" {
		t.Errorf("on the cluster transmission queue: %+v", msg)
	}
	qm1.ok("START CHANNEL(TO.CLUSQM)")
	w.pass(time.Second)
	if got := clusqm.texts("Q"); !slices.Equal(got, []string{"m0", "m1"}) {
		t.Errorf("CLUSQM has %v", got)
	}
	// Where the local queue manager is CLUSQM itself, nothing is transmitted.
	clusqm.ok("DEFINE QREMOTE(YORK) RNAME(' ') RQMNAME(CLUSQM)")
	clusqm.puts(clusqm.openAt("Q", "YORK", mqi.MQOO_OUTPUT), "own", 1)
	if got := clusqm.texts("Q"); len(got) != 3 {
		t.Errorf("put at CLUSQM: %v", got)
	}
	// Nobody else knows the name: it is not clustered.
	qm2.connect()
	if r := qm2.call(OpenReq{OD: mqi.OD{ObjectName: "Q", ObjectQMgrName: "YORK"}, Options: mqi.MQOO_OUTPUT}); r.Reason != mqi.MQRC_UNKNOWN_REMOTE_Q_MGR {
		t.Errorf("YORK at QM2: %v", r.Reason)
	}
}

// DEFINE QREMOTE(ROME) RNAME(' ') RQMNAME(PALERMO) XMITQ(X) CLUSTER(ITALY):
// from every member of the cluster over the gateway and its queue X to PALERMO.
// The names of the alias and of the queue manager may be the same.
func TestGerman_RomeOverXmitqX(t *testing.T) {
	for _, rome := range []string{"ROME", "PALERMO"} {
		w, qm1, qm2, qm3 := articleNet(t)
		palermo := w.outside("PALERMO", "X", qm2)
		palermo.ok("DEFINE QLOCAL(Q)")
		qm2.ok(fmt.Sprintf("DEFINE QREMOTE(%s) RNAME(' ') RQMNAME(PALERMO) XMITQ(X) CLUSTER(C1)", rome))
		w.pass(time.Second)
		qm2.ok("STOP CHANNEL(QM2.PALERMO)")
		for _, n := range []*netNode{qm1, qm3, qm2} {
			n.puts(n.openAt("Q", rome, mqi.MQOO_OUTPUT), n.name, 1)
			w.settle()
		}
		if got := qm2.texts("X"); !slices.Equal(got, []string{"QM10", "QM30", "QM20"}) {
			t.Errorf("%s: X at the gateway has %v", rome, got)
		}
		if msg := qm2.m.localQueue("X").next(headOfQueue); msg == nil || msg.targetQMgr != "PALERMO" || msg.targetQ != "Q" {
			t.Errorf("%s: on X: %+v", rome, msg)
		}
		qm2.ok("START CHANNEL(QM2.PALERMO)")
		w.pass(time.Second)
		if got := palermo.texts("Q"); !slices.Equal(got, []string{"QM10", "QM30", "QM20"}) {
			t.Errorf("%s: PALERMO has %v", rome, got)
		}
	}
}

// EDINBURGH is defined at several members; messages from outside, addressed to
// a name that the gateway resolves to no queue manager, are balanced over them.
func TestGerman_EdinburghBalancedFromOutside(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	for _, n := range []*netNode{qm2, qm3} {
		n.ok("DEFINE QLOCAL(EDINBURGH) CLUSTER(C1) DEFBIND(NOTFIXED)")
	}
	out := w.add("OUT")
	qm1.ok("DEFINE CHANNEL(OUT.QM1) CHLTYPE(RCVR)", "DEFINE QREMOTE(ANY.CLUSTER) RNAME(' ') RQMNAME(' ')")
	out.ok("DEFINE QLOCAL(QM1) USAGE(XMITQ)", "DEFINE CHANNEL(OUT.QM1) CHLTYPE(SDR) CONNAME('"+conname(qm1.addr)+"') XMITQ(QM1)",
		"DEFINE QREMOTE(ANY.CLUSTER) RNAME(' ') RQMNAME(ANY.CLUSTER) XMITQ(QM1)",
		"DEFINE QREMOTE(CAPITAL) RNAME(EDINBURGH) RQMNAME(ANY.CLUSTER) XMITQ(QM1)", "START CHANNEL(OUT.QM1)")
	w.pass(time.Second)
	out.puts(out.openAt("EDINBURGH", "ANY.CLUSTER", mqi.MQOO_OUTPUT), "m", 10)
	h, reason := out.open("CAPITAL", mqi.MQOO_OUTPUT)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	out.puts(h, "c", 10)
	w.pass(time.Second)
	if got := depths("EDINBURGH", qm2, qm3); got != "10 10" {
		t.Errorf("QM2 and QM3 got %s of 20; QM1's dead letters %v", got, qm1.texts("SYSTEM.DEAD.LETTER.QUEUE"))
	}
	// It is balanced anew for each message: one instance is disabled.
	qm2.ok("ALTER QLOCAL(EDINBURGH) PUT(DISABLED)")
	out.puts(h, "d", 4)
	w.pass(time.Second)
	if got := depths("EDINBURGH", qm2, qm3); got != "10 14" {
		t.Errorf("with QM2's disabled: %s", got)
	}
}

// gatewayNet is the page's figure: QM1 is the gateway of CL1, where QM2 is, and
// of CL2, where QM3 is, with an alias for each of them in both clusters.
func gatewayNet(t *testing.T) (w *clusterNet, qm1, qm2, qm3 *netNode) {
	w = newClusterNet(t)
	qm1, qm2, qm3 = w.add("QM1"), w.add("QM2"), w.add("QM3")
	qm1.ok("DEFINE NAMELIST(ALL) NAMES(CL1, CL2)", "ALTER QMGR REPOSNL(ALL) DEADQ(SYSTEM.DEAD.LETTER.QUEUE)",
		"DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('"+conname(qm1.addr)+"') CLUSNL(ALL)")
	for n, cluster := range map[*netNode]string{qm2: "CL1", qm3: "CL2"} {
		n.ok("ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)",
			"DEFINE CHANNEL(TO."+n.name+") CHLTYPE(CLUSRCVR) CONNAME('"+conname(n.addr)+"') CLUSTER("+cluster+")",
			"DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSSDR) CONNAME('"+conname(qm1.addr)+"') CLUSTER("+cluster+")")
	}
	for _, name := range []string{"QM1", "QM2", "QM3"} {
		qm1.ok("DEFINE QREMOTE(" + name + ") RNAME(' ') RQMNAME(" + name + ") CLUSNL(ALL)")
	}
	qm3.ok("DEFINE QLOCAL(SERVER)") // not a cluster queue
	w.pass(time.Second)
	return w, qm1, qm2, qm3
}

// putReply puts a message that a temporary dynamic queue takes.
func (n *netNode) putReply(h uint32, text string) {
	n.net.t.Helper()
	if _, reason := n.put(h, text, false); reason != mqi.MQRC_NONE {
		n.net.t.Fatal(reason)
	}
}

// request opens a dynamic queue RQ at QM2 and puts a request that names it to
// the server's queue at QM3, and gives the dynamic queue's name.
func request(t *testing.T, w *clusterNet, qm2, qm3 *netNode) string {
	t.Helper()
	qm2.connect()
	r := qm2.call(OpenReq{OD: mqi.OD{ObjectName: "SYSTEM.DEFAULT.MODEL.QUEUE", DynamicQName: "RQ.*"}, Options: mqi.MQOO_INPUT_SHARED})
	if r.Reason != mqi.MQRC_NONE {
		t.Fatal(r.Reason)
	}
	md := mqi.NewMD()
	md.MsgType, md.ReplyToQ = mqi.MQMT_REQUEST, r.Result.(OpenResult).ResolvedQName
	// Not a cluster queue: opened by its name and the alias of its queue manager.
	if r := qm2.call(PutReq{Handle: qm2.openAt("SERVER", "QM3", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_NOT_FIXED), MD: md}); r.Reason != mqi.MQRC_NONE {
		t.Fatal(r.Reason)
	}
	w.pass(time.Second)
	msg := qm3.m.localQueue("SERVER").next(headOfQueue)
	if msg == nil || msg.md.ReplyToQMgr != "QM2" || msg.md.ReplyToQ != md.ReplyToQ {
		t.Fatalf("the request at QM3: %+v", msg)
	}
	return md.ReplyToQ
}

// The request goes from CL1 over the gateway to CL2 and the reply back.
func TestGerman_RequestAndReplyOverTheGateway(t *testing.T) {
	w, qm1, qm2, qm3 := gatewayNet(t)
	rq := request(t, w, qm2, qm3)
	for _, bind := range []int32{mqi.MQOO_BIND_NOT_FIXED, 0} {
		qm3.putReply(qm3.openAt(rq, "QM2", mqi.MQOO_OUTPUT|bind), "reply")
		w.pass(time.Second)
	}
	if got := qm2.texts(rq); len(got) != 2 {
		t.Errorf("replies at QM2: %v, dead letters at QM1: %v", got, qm1.texts("SYSTEM.DEAD.LETTER.QUEUE"))
	}
	for _, n := range []*netNode{qm1, qm2, qm3} {
		if dead := n.texts("SYSTEM.DEAD.LETTER.QUEUE"); len(dead) > 0 {
			t.Errorf("%s has dead letters %v", n.name, dead)
		}
	}
	// At the gateway the alias of QM2 stands for the real one: no circle.
	qm1.putReply(qm1.openAt(rq, "QM2", mqi.MQOO_OUTPUT), "own")
	w.settle()
	if got := qm2.texts(rq); len(got) != 3 {
		t.Errorf("put at the gateway: %v", got)
	}
}

// A reply queue that is opened bound is bound to the gateway, which does not
// pass the message on: it becomes a dead letter there.
func TestGerman_BoundReplyOnTheDeadLetterQueue(t *testing.T) {
	w, qm1, qm2, qm3 := gatewayNet(t)
	rq := request(t, w, qm2, qm3)
	qm3.putReply(qm3.openAt(rq, "QM2", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_OPEN), "bound")
	w.pass(30 * time.Second)
	if got := qm2.texts(rq); len(got) != 0 {
		t.Errorf("QM2 got %v", got)
	}
	dead := qm1.m.localQueue("SYSTEM.DEAD.LETTER.QUEUE").next(headOfQueue)
	if dead == nil || dead.dead == nil || dead.dead.reason != mqi.MQRC_UNKNOWN_OBJECT_NAME || dead.dead.destQ != rq {
		t.Fatalf("dead letter at the gateway: %+v", dead)
	}
	// Within one cluster the queue manager is reached itself, bound or not.
	qm1.putReply(qm1.openAt(rq, "QM2", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_OPEN), "direct")
	w.settle()
	if got := qm2.texts(rq); !slices.Equal(got, []string{"direct"}) {
		t.Errorf("bound within CL1: %v", got)
	}
}

// Two gateways with the same alias share what is put not fixed.
func TestGerman_TwoGatewaysShareWhatIsNotFixed(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	out := w.outside("OUT", "OUT", qm2)
	out.ok("DEFINE QLOCAL(Q)", "DEFINE CHANNEL(QM3.OUT) CHLTYPE(RCVR)")
	qm3.ok("DEFINE QLOCAL(OUT) USAGE(XMITQ)", "DEFINE CHANNEL(QM3.OUT) CHLTYPE(SDR) CONNAME('"+conname(out.addr)+"') XMITQ(OUT)", "START CHANNEL(QM3.OUT)")
	for _, n := range []*netNode{qm2, qm3} {
		n.ok("DEFINE QREMOTE(FAR) RNAME(' ') RQMNAME(OUT) XMITQ(OUT) CLUSTER(C1) DEFBIND(NOTFIXED)")
	}
	w.pass(time.Second)
	qm2.ok("STOP CHANNEL(QM2.OUT)")
	qm3.ok("STOP CHANNEL(QM3.OUT)")
	qm1.puts(qm1.openAt("Q", "FAR", mqi.MQOO_OUTPUT), "m", 10)
	w.pass(time.Second)
	if got := depths("OUT", qm2, qm3); got != "5 5" {
		t.Errorf("over QM2 and QM3 go %s of 10", got)
	}
	qm2.ok("START CHANNEL(QM2.OUT)")
	qm3.ok("START CHANNEL(QM3.OUT)")
	w.pass(time.Second)
	if got := out.texts("Q"); len(got) != 10 {
		t.Errorf("OUT has %v", got)
	}
}
