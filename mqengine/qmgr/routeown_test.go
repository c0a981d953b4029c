package qmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// aliasNet is the article's cluster, in which QM4 takes part, too.
func aliasNet(t *testing.T) (w *clusterNet, qm1, qm2, qm3, qm4 *netNode) {
	w, qm1, qm2, qm3 = articleNet(t)
	qm4 = w.add("QM4")
	qm4.joins(qm1, false)
	w.pass(time.Second)
	return w, qm1, qm2, qm3, qm4
}

// A clustered alias may stand for a cluster queue that is not on its host: that
// is how a queue gets a second name in the cluster.
func TestClusteredAliasOfAClusterQueue(t *testing.T) {
	t.Parallel()
	w, _, qm2, qm3, qm4 := aliasNet(t)
	gate := w.add("QM5")
	gate.joins(w.nodes[0], false)
	gate.ok("DEFINE QALIAS(SECOND) TARGET(DCQ1) CLUSTER(C1) DEFBIND(NOTFIXED)")
	w.pass(time.Second)
	put := func(n *netNode, options int32) {
		t.Helper()
		h, reason := n.open("SECOND", mqi.MQOO_OUTPUT|options)
		if reason != mqi.MQRC_NONE {
			t.Fatalf("open on %s: %v", n.name, reason)
		}
		for i := range 4 {
			if _, reason := n.put(h, fmt.Sprint(n.name, i), true); reason != mqi.MQRC_NONE {
				t.Fatalf("put on %s: %v", n.name, reason)
			}
		}
		// The gateway asks for what the alias stands for when the first message comes.
		w.pass(15 * time.Second)
	}
	for i, step := range []struct {
		from *netNode
		bind int32
	}{{qm4, 0}, {gate, 0}, {gate, mqi.MQOO_BIND_ON_OPEN}} {
		put(step.from, step.bind)
		at2, at3 := len(qm2.texts("DCQ1")), len(qm3.texts("DCQ1"))
		if at2+at3 != 4*(i+1) {
			t.Fatalf("%s bound %d: %d and %d messages arrived; dead letters at QM5 %v, log %q", step.from.name, step.bind, at2, at3,
				gate.texts("SYSTEM.DEAD.LETTER.QUEUE"), gate.log)
		}
	}
	// Bound to the alias's host, where its base is missing: a dead letter.
	put(qm4, mqi.MQOO_BIND_ON_OPEN)
	if got := gate.texts("SYSTEM.DEAD.LETTER.QUEUE"); len(got) != 4 {
		t.Errorf("bound: dead letters %v", got)
	} else if msg := gate.m.localQueue("SYSTEM.DEAD.LETTER.QUEUE").firstAvailable(); msg.dead.reason != mqi.MQRC_UNKNOWN_ALIAS_BASE_Q {
		t.Errorf("dead letter for %v", msg.dead.reason)
	}
	if len(qm2.texts("DCQ1")) < 4 || len(qm3.texts("DCQ1")) < 4 {
		t.Errorf("not balanced: %v and %v", qm2.texts("DCQ1"), qm3.texts("DCQ1"))
	}
	if e, r := gate.explain(ExplainReq{Queue: "SECOND"}); r.Reason != mqi.MQRC_NONE || len(e.Share) != 2 || len(e.Path) != 1 {
		t.Errorf("explained %+v %v", e, r)
	}
}

// A clustered alias may stand for a definition of a queue outside.
func TestClusteredAliasOfARemoteQueue(t *testing.T) {
	t.Parallel()
	w, _, _, _, qm4 := aliasNet(t)
	gate := w.add("QM5")
	gate.joins(w.nodes[0], false)
	gate.ok("DEFINE QLOCAL(X) USAGE(XMITQ)", "DEFINE QREMOTE(FAR) RNAME(THERE) RQMNAME(PALERMO) XMITQ(X)",
		"DEFINE QALIAS(OUTSIDE) TARGET(FAR) CLUSTER(C1) DEFBIND(NOTFIXED)")
	w.pass(time.Second)
	h, reason := qm4.open("OUTSIDE", mqi.MQOO_OUTPUT)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	if _, reason := qm4.put(h, "a", true); reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	w.settle()
	h, reason = gate.open("OUTSIDE", mqi.MQOO_OUTPUT)
	if reason == mqi.MQRC_NONE {
		_, reason = gate.put(h, "b", true)
	}
	if got := gate.texts("X"); reason != mqi.MQRC_NONE || len(got) != 2 {
		t.Fatalf("X has %v, %v; log %q", got, reason, gate.log)
	}
	msg := gate.m.localQueue("X").firstAvailable()
	if msg.targetQ != "THERE" || msg.targetQMgr != "PALERMO" {
		t.Errorf("addressed to %s at %s", msg.targetQ, msg.targetQMgr)
	}
	gate.ok("ALTER QREMOTE(FAR) PUT(DISABLED)")
	if _, reason := gate.put(h, "c", true); reason != mqi.MQRC_PUT_INHIBITED {
		t.Errorf("put through a disabled definition: %v", reason)
	}
}

// Names that lead to themselves, or through more than one definition, end with a
// reason code, wherever they are asked for.
func TestNamesThatLeadInCircles(t *testing.T) {
	t.Parallel()
	w, qm1, qm2, _, _ := aliasNet(t)
	qm2.ok(
		"DEFINE QALIAS(SELF) TARGET(OTHER) CLUSTER(C1)", "ALTER QALIAS(SELF) TARGET(SELF)",
		"DEFINE QREMOTE(RSELF) RNAME(RSELF) CLUSTER(C1)",
		"DEFINE QREMOTE(R1) RNAME(R2) CLUSTER(C1)", "DEFINE QREMOTE(R2) RNAME(R1) CLUSTER(C1)",
		"DEFINE QALIAS(A1) TARGET(A2) CLUSTER(C1)", "DEFINE QALIAS(A2) TARGET(A1) CLUSTER(C1)",
		"DEFINE QALIAS(AR) TARGET(RA) CLUSTER(C1)", "DEFINE QREMOTE(RA) RNAME(AR) CLUSTER(C1)",
	)
	w.pass(time.Second)
	for _, name := range []string{"SELF", "RSELF", "R1", "R2", "A1", "A2", "AR", "RA"} {
		for _, n := range []*netNode{qm1, qm2} {
			e, r := n.explain(ExplainReq{Queue: name})
			h, reason := n.open(name, putNotFixed)
			if reason == mqi.MQRC_NONE {
				_, reason = n.put(h, "x", true)
			}
			w.pass(15 * time.Second)
			if n == qm2 && (reason == mqi.MQRC_NONE || e != nil && e.Chosen != nil) {
				t.Errorf("%s on %s: put gives %v, explained %+v %v", name, n.name, reason, e, r)
			}
		}
	}
}
