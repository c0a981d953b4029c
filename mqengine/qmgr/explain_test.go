package qmgr

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/workload"
)

// explain asks where a message would go.
func (n *netNode) explain(req ExplainReq) (*Explanation, Reply) {
	n.net.t.Helper()
	if n.m.conns[1] == nil {
		n.connect()
	}
	r := n.call(req)
	e, _ := r.Result.(*Explanation)
	return e, r
}

// routingNet is five queue managers, four of which host Q: QM1 and QM2 keep the
// repositories of C1, and QM1 to QM3 are members of C2, too, where Q is as well.
func routingNet(t testing.TB, order workload.Order) *clusterNet {
	w := newClusterNet(t)
	w.order = order
	for i := range 5 {
		w.add(fmt.Sprintf("QM%d", i+1))
	}
	n := w.nodes
	n[0].joins(n[1], true)
	n[1].joins(n[0], true)
	for i, q := range n {
		if i > 1 {
			q.joins(n[i%2], false)
		}
		if i > 0 {
			q.ok("DEFINE QLOCAL(Q) CLUSTER(C1) DEFBIND(NOTFIXED) MAXDEPTH(999999999)")
		}
		q.ok("DEFINE QALIAS(A) TARGET(Q)")
	}
	w.pass(2 * time.Second)
	return w
}

// disturb changes something that weighs in a choice, somewhere.
func disturb(w *clusterNet, rnd *rand.Rand) string {
	i := rnd.IntN(len(w.nodes))
	n := w.nodes[i]
	host := i > 0
	command := ""
	switch kind := rnd.IntN(12); {
	case kind < 2 && host:
		command = fmt.Sprintf("ALTER QLOCAL(Q) PUT(%s)", [...]string{"ENABLED", "DISABLED"}[rnd.IntN(2)])
	case kind == 2 && host:
		command = fmt.Sprintf("ALTER QLOCAL(Q) CLWLRANK(%d)", rnd.IntN(2))
	case kind == 3 && host:
		command = fmt.Sprintf("ALTER QLOCAL(Q) CLWLPRTY(%d)", rnd.IntN(3))
	case kind == 4 && host:
		command = fmt.Sprintf("ALTER QLOCAL(Q) CLWLUSEQ(%s)", [...]string{"QMGR", "LOCAL", "ANY"}[rnd.IntN(3)])
	case kind == 5:
		command = fmt.Sprintf("ALTER QMGR CLWLUSEQ(%s) CLWLMRUC(%d)", [...]string{"LOCAL", "ANY"}[rnd.IntN(2)], 1+rnd.IntN(4))
	case kind == 6:
		command = fmt.Sprintf("ALTER CHANNEL(TO.%s) CHLTYPE(CLUSRCVR) CLWLRANK(%d)", n.name, rnd.IntN(2))
	case kind == 7:
		command = fmt.Sprintf("ALTER CHANNEL(TO.%s) CHLTYPE(CLUSRCVR) CLWLPRTY(%d) CLWLWGHT(%d) NETPRTY(%d)", n.name, rnd.IntN(2), 1+rnd.IntN(99), rnd.IntN(3))
	case kind == 8:
		command = "SUSPEND QMGR CLUSTER(C1)"
	case kind == 9:
		command = "RESUME QMGR CLUSTER(C1)"
	case kind == 10:
		command = fmt.Sprintf("STOP CHANNEL(TO.QM%d)", 1+rnd.IntN(5))
	default:
		command = fmt.Sprintf("START CHANNEL(TO.QM%d)", 1+rnd.IntN(5))
	}
	n.mqsc(command) // a START of what runs fails, which is no matter
	w.settle()
	return n.name + ": " + command
}

// What explain routing says is what the next put does, in both orders, however
// the cluster looks; and to ask, also twice, does not change it.
func TestExplainIsTheNextChoice(t *testing.T) {
	t.Parallel()
	for _, order := range []workload.Order{workload.Modern, workload.V6} {
		t.Run(orderWord(order), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(4, uint64(order)))
			w := routingNet(t, order)
			var did []string
			outcomes := map[string]int{}
			for range 500 {
				did = append(did, disturb(w, rnd))
				from := w.nodes[rnd.IntN(len(w.nodes))]
				req := ExplainReq{Queue: [...]string{"Q", "Q", "A"}[rnd.IntN(3)]}
				options := mqi.MQOO_OUTPUT
				if rnd.IntN(3) == 0 {
					req.Bind = mqi.MQOO_BIND_ON_OPEN
				}
				e, r := from.explain(req)
				again, _ := from.explain(req)
				if diff := cmp.Diff(e, again); diff != "" {
					t.Fatalf("asked twice: %s\nafter %v", diff, did)
				}
				h, reason := from.open(req.Queue, options|req.Bind)
				var put PutResult
				if reason == mqi.MQRC_NONE {
					put, reason = from.put(h, "x", false)
				}
				switch {
				case reason == mqi.MQRC_NONE && (e == nil || e.Chosen == nil || *e.Chosen != put.ResolvedQMgrName):
					t.Fatalf("%s: put went to %s, explained %+v %v\nafter %v", from.name, put.ResolvedQMgrName, e, r.Reason, did)
				case reason != mqi.MQRC_NONE && (e == nil || e.Chosen != nil || e.Reason != reason.Error()):
					t.Fatalf("%s: put got %v, explained %+v %v\nafter %v", from.name, reason, e, r.Reason, did)
				}
				checkExplanation(t, e)
				outcomes[reason.Error()+" "+put.ResolvedQMgrName]++
				if h != 0 {
					from.call(CloseReq{Handle: h})
				}
				w.settle()
			}
			t.Logf("outcomes %v", outcomes)
			if len(outcomes) < 6 {
				t.Errorf("hardly anything happened: %v", outcomes)
			}
		})
	}
}

// checkExplanation: each step begins with whom the one before it kept, the
// chosen one was kept by all, and the shares are one.
func checkExplanation(t *testing.T, e *Explanation) {
	t.Helper()
	var kept []string
	for i, s := range e.Steps {
		var here, stay []string
		for _, v := range s.Candidates {
			here = append(here, v.QMgr+v.Channel)
			if v.Kept {
				stay = append(stay, v.QMgr+v.Channel)
			}
		}
		if i > 0 && strings.Join(here, " ") != strings.Join(kept, " ") {
			t.Fatalf("step %d begins with %v, the one before it left %v", s.Number, here, kept)
		}
		kept = stay
	}
	sum := 0.0
	for _, s := range e.Share {
		sum += s
	}
	switch {
	case e.Chosen == nil && (len(e.Share) != 0 || e.Reason == ""):
		t.Fatalf("nobody is chosen: %+v", e)
	case e.Chosen != nil && (e.Share[*e.Chosen] == 0 || sum < 0.999 || sum > 1.001):
		t.Fatalf("shares %v, chosen %s", e.Share, *e.Chosen)
	}
}

// A partial repository asks for what it does not know yet, as MQOPEN does; the
// names of queue managers as well.
func TestExplainAsksTheRepository(t *testing.T) {
	t.Parallel()
	w, qm1, _, _ := articleNet(t)
	qm4 := w.add("QM4")
	qm4.joins(qm1, false)
	for i := 5; i <= 7; i++ {
		w.add(fmt.Sprintf("QM%d", i)).joins(qm1, false)
	}
	w.pass(time.Second)
	before := w.now
	if e, r := qm4.explain(ExplainReq{Queue: "DCQ1"}); r.Reason != mqi.MQRC_NONE || len(e.Share) != 2 {
		t.Errorf("first explanation: %+v %v", e, r.Reason)
	}
	if e, r := qm4.explain(ExplainReq{Queue: "ANY", QMgr: "QM3"}); r.Reason != mqi.MQRC_NONE || *e.Chosen != "QM3" || e.Bind != "open" {
		t.Errorf("addressed: %+v %v %s", e, r.Reason, r.Detail)
	}
	if e, r := qm4.explain(ExplainReq{Queue: "ANY", QMgr: "QM5"}); r.Reason != mqi.MQRC_NONE || *e.Chosen != "QM5" {
		t.Errorf("addressed to one that was not known: %+v %v %s", e, r.Reason, r.Detail)
	}
	if r := qm4.call(OpenReq{OD: mqi.OD{ObjectName: "ANY", ObjectQMgrName: "QM6"}, Options: mqi.MQOO_OUTPUT}); r.Reason != mqi.MQRC_NONE {
		t.Errorf("open at a queue manager that was not known: %v", r.Reason)
	}
	if r := qm4.call(PutReq{OD: mqi.OD{ObjectName: "ANY", ObjectQMgrName: "QM7"}, MD: mqi.NewMD()}); r.Reason != mqi.MQRC_NONE {
		t.Errorf("put to a queue manager that was not known: %v", r.Reason)
	}
	if !w.now.Equal(before) {
		t.Errorf("the answers took %v", w.now.Sub(before))
	}
	for _, n := range w.nodes[:2] {
		n.crash()
	}
	w.pass(time.Second)
	before = w.now
	if _, r := qm4.explain(ExplainReq{Queue: "OTHER"}); r.Reason != mqi.MQRC_CLUSTER_RESOLUTION_ERROR || r.Detail == "" {
		t.Errorf("nobody answers: %v %q", r.Reason, r.Detail)
	}
	if waited := w.now.Sub(before); waited < repositoryWait {
		t.Errorf("gave up after %v", waited)
	}
	if e, _ := qm4.explain(ExplainReq{Queue: "DCQ1"}); !strings.Contains(strings.Join(e.Notes, " "), "no full repository can be reached") {
		t.Errorf("notes %q", e.Notes)
	}
}

// Handles that are bound to their instance are told of.
func TestExplainTellsOfBoundHandles(t *testing.T) {
	t.Parallel()
	_, qm1, _, _ := articleNet(t)
	for range 2 {
		if _, reason := qm1.open("DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_OPEN); reason != mqi.MQRC_NONE {
			t.Fatal(reason)
		}
	}
	e, _ := qm1.explain(ExplainReq{Queue: "DCQ1"})
	if !strings.Contains(strings.Join(e.Notes, " "), "2 open handles on QM1 are bound") {
		t.Errorf("notes %q", e.Notes)
	}
}
