package qmgr

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

const putNotFixed = mqi.MQOO_OUTPUT | mqi.MQOO_BIND_NOT_FIXED

func TestArticleCluster(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	want := "QM2 ENABLED\nQM3 ENABLED"
	for _, n := range []*netNode{qm1, qm2, qm3} {
		if got := n.show("DISPLAY QCLUSTER(DCQ1) ALL", "CLUSQMGR", "PUT"); got != want {
			t.Errorf("%s sees\n%s\nwant\n%s\nlog %q", n.name, got, want, n.log)
		}
	}
	got := qm3.show("DISPLAY CLUSQMGR(*) QMTYPE DEFTYPE STATUS", "CLUSQMGR", "CHANNEL", "QMTYPE", "DEFTYPE", "STATUS")
	if want := "QM1 TO.QM1 REPOS CLUSSDRB RUNNING\nQM2 TO.QM2 REPOS CLUSSDRA RUNNING\nQM3 TO.QM3 NORMAL CLUSRCVR RUNNING"; got != want {
		t.Errorf("QM3's CLUSQMGR\n%s\nwant\n%s", got, want)
	}
	h, reason := qm1.open("DCQ1", putNotFixed)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	for i := range 100 {
		if _, reason := qm1.put(h, fmt.Sprint(i), true); reason != mqi.MQRC_NONE {
			t.Fatal(reason)
		}
	}
	w.pass(time.Second)
	all := append(qm2.texts("DCQ1"), qm3.texts("DCQ1")...)
	if len(qm2.texts("DCQ1")) < 40 || len(qm3.texts("DCQ1")) < 40 || len(all) != 100 {
		t.Errorf("QM2 has %d, QM3 has %d", len(qm2.texts("DCQ1")), len(qm3.texts("DCQ1")))
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 100 {
		t.Errorf("not every body once: %v", all)
	}
	if left := qm1.texts(sharedTransmitQ); len(left) != 0 {
		t.Errorf("%d left on the transmission queue", len(left))
	}
}

func TestAlterTravels(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	h, _ := qm1.open("DCQ1", putNotFixed)
	for _, n := range []*netNode{qm2, qm3} {
		other := map[*netNode]*netNode{qm2: qm3, qm3: qm2}[n]
		n.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)") // no time passes
		if got := qm1.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR WHERE(PUT EQ DISABLED)", "CLUSQMGR"); got != n.name {
			t.Errorf("QM1 sees %q disabled, want %s", got, n.name)
		}
		before := len(other.texts("DCQ1"))
		for range 10 {
			if r, reason := qm1.put(h, "x", true); reason != mqi.MQRC_NONE || r.ResolvedQMgrName != other.name {
				t.Fatalf("put went to %q: %v", r.ResolvedQMgrName, reason)
			}
		}
		w.settle()
		if got := len(other.texts("DCQ1")) - before; got != 10 {
			t.Errorf("%s got %d of 10", other.name, got)
		}
		n.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED)")
	}
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	if _, reason := qm1.put(h, "x", true); reason != mqi.MQRC_CLUSTER_PUT_INHIBITED {
		t.Errorf("all disabled: %v", reason)
	}
	if _, reason := qm1.open("DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_OPEN); reason != mqi.MQRC_CLUSTER_PUT_INHIBITED {
		t.Errorf("all disabled, bind on open: %v", reason)
	}
	if _, reason := qm1.open("DCQ1", putNotFixed); reason != mqi.MQRC_NONE {
		t.Errorf("all disabled, open not fixed: %v", reason)
	}
	h2, reason := qm2.open("DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_OPEN)
	if reason != mqi.MQRC_NONE {
		t.Fatalf("all disabled, bind on open at a host: %v", reason)
	}
	if _, reason := qm2.put(h2, "x", true); reason != mqi.MQRC_PUT_INHIBITED {
		t.Errorf("put at a host: %v", reason)
	}
	qm3.ok("ALTER QLOCAL(DCQ1) PUT(ENABLED) CLWLRANK(3)", "ALTER QLOCAL(DCQ1) CLWLPRTY(2)")
	if got := qm1.show("DISPLAY QCLUSTER(DCQ1) CLUSQMGR CLWLRANK CLWLPRTY", "CLUSQMGR", "CLWLRANK", "CLWLPRTY"); got != "QM2 0 0\nQM3 3 2" {
		t.Errorf("QM1 sees %q", got)
	}
}

func TestFirstOpenAsks(t *testing.T) {
	w, qm1, _, _ := articleNet(t)
	qm4 := w.add("QM4")
	qm4.joins(qm1, false)
	w.pass(time.Second)
	if got := qm4.mqsc("DISPLAY QCLUSTER(DCQ1)"); !got.Failed {
		t.Errorf("DIS QC before the first open: %v", got)
	}
	h, reason := qm4.open("DCQ1", putNotFixed)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	if got := qm4.show("DISPLAY QCLUSTER(DCQ1)", "CLUSQMGR"); got != "QM2\nQM3" {
		t.Errorf("after the open: %q", got)
	}
	before := w.now
	if _, reason := qm4.open("NOSUCH", putNotFixed); reason != mqi.MQRC_UNKNOWN_OBJECT_NAME || w.now != before {
		t.Errorf("unknown queue: %v after %v", reason, w.now.Sub(before))
	}
	if _, reason := qm4.put(h, "x", true); reason != mqi.MQRC_NONE {
		t.Error(reason)
	}
	// Without a full repository that answers the open waits, and then says so.
	for _, n := range w.nodes[:3] {
		n.crash()
	}
	w.pass(time.Second)
	if _, reason := qm4.open("OTHER", putNotFixed); reason != mqi.MQRC_CLUSTER_RESOLUTION_ERROR {
		t.Errorf("nobody answers: %v", reason)
	}
}

func TestTemporaryName(t *testing.T) {
	w := newClusterNet(t)
	qm1, qm2 := w.add("QM1"), w.add("QM2")
	qm2.crash()
	qm1.joins(qm2, false)
	got := qm1.show("DISPLAY CLUSQMGR(*) DEFTYPE STATUS", "CLUSQMGR", "DEFTYPE", "STATUS")
	if want := "QM1 CLUSRCVR INACTIVE\nSYSTEM.TEMPQMGR.127.0.0.1(1415) CLUSSDR RETRYING"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	qm2.start()
	qm2.ok("ALTER QMGR REPOS(C1)", "DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CONNAME('127.0.0.1(1415)') CLUSTER(C1)")
	w.pass(time.Minute)
	got = qm1.show("DISPLAY CLUSQMGR(*) DEFTYPE STATUS", "CLUSQMGR", "DEFTYPE", "STATUS")
	if want := "QM1 CLUSRCVR RUNNING\nQM2 CLUSSDRB RUNNING"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestReallocation(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	h, _ := qm1.open("DCQ1", putNotFixed)
	bound, _ := qm1.open("DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_OPEN)
	r, reason := qm1.put(bound, "bound", true)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	to := map[string]*netNode{"QM2": qm2, "QM3": qm3}[r.ResolvedQMgrName]
	other := map[*netNode]*netNode{qm2: qm3, qm3: qm2}[to]
	w.settle()
	// The link is gone, but the channel does not know yet: its window fills and the rest waits.
	to.up = false
	for i := range 600 {
		if _, reason := qm1.put(h, fmt.Sprintf("m%03d", i), true); reason != mqi.MQRC_NONE {
			t.Fatal(reason)
		}
	}
	qm1.put(bound, "bound too", true)
	waiting := len(qm1.texts(sharedTransmitQ))
	to.up = true
	to.crash()
	w.settle()
	left := qm1.texts(sharedTransmitQ)
	if waiting < 200 || len(left) >= waiting || !slices.Contains(left, "bound too") {
		t.Errorf("%d waited, %d are left after the channel failed", waiting, len(left))
	}
	if qm1.m.senderStatus("TO."+to.name) != mqi.MQCHS_RETRYING {
		t.Errorf("the channel is %v", qm1.m.senderStatus("TO."+to.name))
	}
	to.start()
	w.pass(2 * time.Minute)
	all := append(to.texts("DCQ1"), other.texts("DCQ1")...)
	slices.Sort(all)
	if n := len(all); n != 602 || len(slices.Compact(all)) != 602 {
		t.Errorf("%d messages arrived, want 602 distinct ones", n)
	}
	if !slices.Contains(to.texts("DCQ1"), "bound too") {
		t.Error("the bound message went elsewhere")
	}
}

func TestArrivalAtDisabledInstanceGoesOn(t *testing.T) {
	w, qm1, qm2, qm3 := articleNet(t)
	h, _ := qm1.open("DCQ1", putNotFixed)
	// QM2 is disabled, but its publications do not get out: QM1 still sends to it.
	w.cut["QM2>QM1"], w.cut["QM2>QM3"] = true, true
	qm2.cutLinks()
	w.pass(2 * time.Second)
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	if got := qm1.show("DISPLAY QCLUSTER(DCQ1)", "PUT"); got != "" && got != "ENABLED\nENABLED" {
		t.Logf("QM1 sees %q", got)
	}
	for i := range 10 {
		if _, reason := qm1.put(h, fmt.Sprint(i), true); reason != mqi.MQRC_NONE {
			t.Fatal(reason)
		}
	}
	w.pass(30 * time.Second)
	w.cut = map[string]bool{}
	w.pass(3 * time.Minute)
	got := qm3.texts("DCQ1")
	slices.Sort(got)
	if len(got) != 10 || len(slices.Compact(got)) != 10 || len(qm2.texts("DCQ1")) != 0 {
		t.Errorf("QM3 has %v, QM2 has %v", got, qm2.texts("DCQ1"))
	}
}

// Two hosts that are both put-inhibited and do not know it of each other pass a
// message on, but not for ever.
func TestMessageDoesNotWanderForEver(t *testing.T) {
	w := newClusterNet(t)
	fr, h1, h2 := w.add("FR"), w.add("H1"), w.add("H2")
	fr.joins(h1, true)
	for _, n := range []*netNode{h1, h2} {
		n.joins(fr, false)
		n.ok("DEFINE QLOCAL(Q) CLUSTER(C1) DEFBIND(NOTFIXED)")
	}
	w.pass(time.Minute)
	h, reason := fr.open("Q", putNotFixed)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	for _, n := range []*netNode{h1, h2} {
		n.cutLinks()
		w.cut[n.name+">FR"] = true
	}
	w.settle()
	h1.ok("ALTER QLOCAL(Q) PUT(DISABLED)")
	h2.ok("ALTER QLOCAL(Q) PUT(DISABLED)")
	fr.put(h, "wanderer", true)
	w.pass(5 * time.Minute)
	dead := append(h1.texts("SYSTEM.DEAD.LETTER.QUEUE"), h2.texts("SYSTEM.DEAD.LETTER.QUEUE")...)
	if !slices.Equal(dead, []string{"wanderer"}) {
		t.Errorf("dead letters %v; H1 %v H2 %v", dead, h1.texts(sharedTransmitQ), h2.texts(sharedTransmitQ))
	}
}
