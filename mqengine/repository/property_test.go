package repository

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/object"
	"pgregory.net/rapid"
)

// work is what goes on at a member: a queue is defined, altered, deleted, asked
// about, or the member suspended.
func (n *node) work(rt *rapid.T, w *network, name string) {
	switch rapid.SampledFrom([]string{"define", "drop", "ask", "suspend"}).Draw(rt, "work") {
	case "define":
		o := queue(name, "C1")
		mustSet(o, "PUT", rapid.SampledFrom([]string{"ENABLED", "DISABLED"}).Draw(rt, "put"))
		mustSet(o, "CLWLRANK", fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "rank")))
		n.define(o)
	case "drop":
		n.drop(name)
	case "ask":
		n.ask(name)
	case "suspend":
		n.do(func(fx *Effects) { n.repo.Suspend(w.now, "C1", rapid.Bool().Draw(rt, "on"), fx) })
	}
}

// However commands are delayed, repeated and reordered between queue managers,
// and whoever restarts: in the end everybody sees what there is.
func TestConvergence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newNetwork(t)
		for i := range 5 {
			w.add(fmt.Sprintf("QM%d", i+1))
		}
		for i, n := range w.names {
			n := w.nodes[n]
			n.join([]string{"QM2", "QM1", "QM1", "QM2", "QM1"}[i], i < 2)
		}
		partial := []*node{w.nodes["QM3"], w.nodes["QM4"], w.nodes["QM5"]}
		names := []string{"A", "B"}
		var late []Send
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			n := rapid.SampledFrom(partial).Draw(rt, "node")
			name := rapid.SampledFrom(names).Draw(rt, "queue")
			switch rapid.IntRange(0, 8).Draw(rt, "action") {
			case 0, 1, 2, 3:
				n.work(rt, w, name)
			case 4:
				n.restart()
			case 5:
				if len(late) > 0 { // once more, much later
					w.receive(rapid.SampledFrom(late).Draw(rt, "late"))
				}
			default:
				if p := w.pending(); len(p) > 0 {
					wire := rapid.SampledFrom(p).Draw(rt, "wire")
					late = append(late, w.wires[wire][0])
					// Channels keep the order but for priorities; repositories must not depend on it.
					w.deliver(wire, rapid.IntRange(0, min(2, len(w.wires[wire])-1)).Draw(rt, "position"))
				}
			}
			w.now = w.now.Add(time.Millisecond)
		}
		w.settle()
		for _, name := range names {
			for _, n := range partial {
				n.ask(name)
			}
			w.settle()
			want := truth(w, name)
			for _, n := range w.names {
				if got := view(w.nodes[n], name); got != want {
					rt.Fatalf("%s sees %s as\n%s\nwant\n%s", n, name, got, want)
				}
			}
		}
	})
}

// truth is what the owners say of a queue.
func truth(w *network, name string) string {
	var out []string
	for _, n := range w.names {
		if o := w.nodes[n].queues[name]; o != nil {
			out = append(out, fmt.Sprintf("%s %s %s %v", n, o.Str("PUT"), o.Str("CLWLRANK"), w.nodes[n].repo.suspend["C1"]))
		}
	}
	return strings.Join(out, "\n")
}

// view is what one node makes of it.
func view(n *node, name string) string {
	var out []string
	for _, rec := range n.repo.Instances(n.net.now, name) {
		for _, host := range n.repo.Hosts(n.net.now, rec.Cluster, rec.QMID) {
			out = append(out, fmt.Sprintf("%s %s %s %v", rec.QMgr, rec.Object.Str("PUT"), rec.Object.Str("CLWLRANK"), host.Suspended))
		}
	}
	return strings.Join(out, "\n")
}

func day(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// wait lets days pass and every deadline on the way.
func (w *network) wait(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); {
		next := end
		for _, n := range w.nodes {
			if at := n.repo.NextDeadline(); !at.IsZero() && at.Before(next) {
				next = at
			}
		}
		w.now = next
		for _, name := range w.names {
			n := w.nodes[name]
			n.do(func(fx *Effects) { n.repo.Tick(n.now(), fx) })
			if at := n.repo.NextDeadline(); !at.IsZero() && !at.After(w.now) {
				w.t.Fatalf("%s: the deadline %v does not move on", name, at)
			}
		}
		w.settle()
	}
}

func TestLifetimes(t *testing.T) {
	w, qm1, _, qm3 := article(t)
	qm4 := w.add("QM4")
	qm4.join("QM1", false)
	qm4.ask("DCQ1")
	w.settle()
	seq := qm1.repo.Instance("C1", "DCQ1", "QM3_ID").Seq
	w.wait(day(26))
	if qm1.repo.Instance("C1", "DCQ1", "QM3_ID").Seq != seq {
		t.Error("published again before 27 days")
	}
	w.wait(day(2))
	if qm1.repo.Instance("C1", "DCQ1", "QM3_ID").Seq == seq {
		t.Error("not published again after 27 days")
	}
	for range 4 {
		w.wait(day(25))
		qm4.ask("DCQ1") // in use, so the subscription is renewed
	}
	w.want(qm1, "DCQ1", "QM2:ENABLED QM3:ENABLED")
	w.want(qm4, "DCQ1", "QM2:ENABLED QM3:ENABLED")
	// QM3 cannot publish any more: after 30 days it is not handed out, after 90 forgotten.
	delete(w.nodes, "QM3")
	w.names = slices.DeleteFunc(w.names, func(n string) bool { return n == "QM3" })
	w.nodes["QM3"] = w.add("QM9") // takes what is sent over its channel, and drops it
	delete(w.nodes, "QM9")
	w.names = slices.DeleteFunc(w.names, func(n string) bool { return n == "QM9" })
	w.wait(day(31))
	w.want(qm1, "DCQ1", "QM2:ENABLED")
	w.want(qm4, "DCQ1", "QM2:ENABLED")
	if qm1.repo.Instance("C1", "DCQ1", "QM3_ID") == nil {
		t.Error("forgotten 60 days too early")
	}
	w.wait(day(61))
	if qm1.repo.Instance("C1", "DCQ1", "QM3_ID") != nil || strings.Contains(qm1.qmgrs(), "QM3") {
		t.Errorf("still known after 90 days: %s", qm1.qmgrs())
	}
	_ = qm3
}

func TestUnusedSubscriptionLapses(t *testing.T) {
	w, qm1, _, _ := article(t)
	qm4, qm5 := w.add("QM4"), w.add("QM5")
	for _, n := range []*node{qm4, qm5} {
		n.join("QM1", false)
		n.ask("DCQ1")
	}
	w.settle()
	for range 4 {
		w.wait(day(26))
		qm5.ask("DCQ1") // in use
	}
	w.settle()
	if subs := qm1.repo.subs[askKey{"C1", "DCQ1"}]; len(subs) != 3 || subs["QM5_ID"].IsZero() {
		// QM2 and QM3 subscribe to the name of their own queue, QM2 being a full repository does not.
		if _, ok := subs["QM4_ID"]; ok || subs["QM5_ID"].IsZero() {
			t.Errorf("subscribers after 104 days: %v", subs)
		}
	}
	if qm4.repo.Asked("DCQ1") != KnownNo {
		t.Error("QM4 still believes in its subscription")
	}
	qm4.ask("DCQ1")
	w.settle()
	w.want(qm4, "DCQ1", "QM2:ENABLED QM3:ENABLED")
}

func TestGatewayAsksInAllClusters(t *testing.T) {
	w, _, _, _ := article(t)
	fr := w.add("FR9")
	fr.member.Channels = []OwnChannel{{Clusters: []string{"C9"}, Object: rcvr("TO.FR9", "C9", "FR9(1414)")}}
	fr.member.Full = []string{"C9"}
	fr.update()
	gw := w.add("GW")
	gw.member = Membership{
		Channels: []OwnChannel{{Clusters: []string{"C1", "C9"}, Object: rcvr("TO.GW", "", "GW(1414)")}},
		Senders:  []ManualSender{{Channel: "TO.QM1", Addr: "QM1(1)", Clusters: []string{"C1"}}, {Channel: "TO.FR9", Addr: "FR9(1)", Clusters: []string{"C9"}}},
	}
	gw.update()
	w.settle()
	fr.define(queue("DCQ1", "C9"))
	fr.define(queue("NINE", "C9"))
	gw.ask("DCQ1")
	gw.ask("NINE")
	w.settle()
	w.want(gw, "DCQ1", "QM2:ENABLED QM3:ENABLED FR9:ENABLED")
	w.want(gw, "NINE", "FR9:ENABLED")
	if gw.repo.Asked("NINE") != KnownAnswer {
		t.Error("one cluster did not answer")
	}
}

func TestAnswerOfManyRecordsIsSplit(t *testing.T) {
	w, qm1, _, qm3 := article(t)
	for i := range 3000 {
		o := queue(fmt.Sprintf("Q%04d", i), "C1")
		mustSet(o, "DESCR", strings.Repeat("x", 64))
		qm3.define(o)
	}
	w.settle()
	qm4 := w.add("QM4")
	qm4.join("QM1", false)
	w.settle()
	qm4.do(func(fx *Effects) {
		for i := range 3000 {
			qm4.repo.Ask(w.now, fmt.Sprintf("Q%04d", i), fx)
		}
	})
	for _, wire := range w.pending() {
		for _, s := range w.wires[wire] {
			if len(s.Payload) > MaxCommand+4096 {
				t.Errorf("a command of %d bytes", len(s.Payload))
			}
		}
	}
	w.settle()
	for _, i := range []int{0, 1499, 2999} {
		w.want(qm4, fmt.Sprintf("Q%04d", i), "QM3:ENABLED")
	}
	// A third full repository that joins gets everything in pieces.
	qm5 := w.add("QM5")
	qm5.join("QM1", true)
	qm1.member.Senders = append(qm1.member.Senders, ManualSender{Channel: "TO.QM5", Addr: "QM5(1)", Clusters: []string{"C1"}})
	qm1.update()
	w.settle()
	w.want(qm5, "Q2999", "QM3:ENABLED")
}

func FuzzDecode(f *testing.F) {
	now := time.Unix(1e9, 0)
	o := queue("DCQ1", "C1")
	c := &Command{Op: OpAnswer, Cluster: "C1", FromQMID: "QM1_ID", FromQMgr: "QM1", Full: true, Names: []string{"DCQ1"}, Records: []*Record{
		{Kind: QueueRecord, Cluster: "C1", QMID: "QM2_ID", QMgr: "QM2", Name: "DCQ1", Seq: 4, Published: 5, Expires: now.Add(time.Hour), Object: o},
		{Kind: QMgrRecord, Cluster: "C1", QMID: "QM2_ID", QMgr: "QM2", Name: "TO.QM2", Seq: 5, Deleted: true, Expires: now.Add(time.Hour)},
	}}
	for _, b := range c.encode(now) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Decode(b, now)
		if err != nil {
			return
		}
		for _, again := range c.encode(now) {
			if _, err := Decode(again, now); err != nil {
				t.Fatalf("%+v cannot be read back: %v", c, err)
			}
		}
		// Nothing that decodes may upset a repository.
		r := New("QM1", "QM1_ID")
		var fx Effects
		r.SetMembership(now, Membership{Channels: []OwnChannel{{Clusters: []string{"C1"}, Object: rcvr("TO.QM1", "C1", "h(1)")}}, Full: []string{"C1"}}, &fx)
		_ = r.Receive(now, b, &fx)
		_ = r.Queues(now)
		for _, rec := range r.QMgrs(now) {
			_ = ChannelObject(rec)
		}
	})
}

func FuzzRestore(f *testing.F) {
	w, qm1, _, _ := article(f)
	for k, v := range qm1.stored {
		f.Add(k, v)
	}
	now := w.now
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		r := New("QM1", "QM1_ID")
		if _, err := r.Restore(key, value); err != nil {
			return
		}
		r.Begin(Membership{Channels: []OwnChannel{{Clusters: []string{"C1"}, Object: rcvr("TO.QM1", "C1", "h(1)")}}})
		var fx Effects
		r.Tick(now, &fx)
		_ = r.QMgrs(now)
	})
}

func TestChannelObjectTakesTheReceiversAttributes(t *testing.T) {
	o := rcvr("TO.QM2", "C1", "h(1415)")
	for k, v := range map[string]string{"BATCHSZ": "17", "HBINT": "5", "SHORTTMR": "3", "NPMSPEED": "NORMAL", "CLWLWGHT": "60"} {
		mustSet(o, k, v)
	}
	got := ChannelObject(&Record{Kind: QMgrRecord, Name: "TO.QM2", Object: o})
	if got.Kind() != object.ClusSdr || got.Int("BATCHSZ") != 17 || got.Int("HBINT") != 5 || got.Int("SHORTTMR") != 3 ||
		got.Str("NPMSPEED") != "NORMAL" || got.Str("CONNAME") != "h(1415)" || got.Int("CLWLWGHT") != 60 {
		t.Errorf("cluster-sender %v", got)
	}
}

func TestRolesChange(t *testing.T) {
	w, qm1, qm2, qm3 := article(t)
	qm4 := w.add("QM4")
	qm4.join("QM1", false)
	qm4.ask("DCQ1")
	w.settle()
	// QM3 becomes a full repository, QM2 stops being one.
	qm3.member.Full = []string{"C1"}
	qm3.update()
	qm1.member.Senders = append(qm1.member.Senders, ManualSender{Channel: "TO.QM3", Addr: "QM3(1)", Clusters: []string{"C1"}})
	qm1.update()
	w.settle()
	if qm3.qmgrs() != "QM1* QM2* QM3* QM4" || qm4.qmgrs() != "QM1* QM2* QM3* QM4" {
		t.Errorf("QM3 knows %s, QM4 %s", qm3.qmgrs(), qm4.qmgrs())
	}
	qm2.member.Full = nil
	qm2.update()
	w.settle()
	if qm4.qmgrs() != "QM1* QM2 QM3* QM4" {
		t.Errorf("QM4 knows %s", qm4.qmgrs())
	}
	o := queue("DCQ1", "C1")
	mustSet(o, "PUT", "DISABLED")
	qm2.define(o)
	qm4.define(queue("NEW", "C1"))
	w.settle()
	for _, n := range []*node{qm1, qm2, qm3, qm4} {
		w.want(n, "DCQ1", "QM2:DISABLED QM3:ENABLED")
	}
	w.want(qm2, "NEW", "") // no full repository any more, so it has to ask
	qm2.ask("NEW")
	w.settle()
	w.want(qm2, "NEW", "QM4:ENABLED")
}
