package qmgr

import (
	"fmt"
	"testing"
	"time"
)

func TestStatusOfClusteredAlias(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QALIAS(EARLY) TARGET(BASE) CLUSTER(C1)", "DEFINE QLOCAL(BASE)", "DEFINE QALIAS(LATE) TARGET(BASE) CLUSNL(NL)",
		"DEFINE QALIAS(PRIVATE) TARGET(BASE)")
	number := func(name string) uint32 { return r.m.catalog.queues[name].number }
	_, ok := r.m.Status(number("PRIVATE"))
	check(t, "an alias in no cluster is not sampled", ok, false)
	_, ok = r.m.Status(number("LATE"))
	check(t, "nor one of a namelist that is not there", ok, false)
	r.define("DEFINE NAMELIST(NL) NAMES(C1,C2)")
	c := r.connect(1, "app")
	h := r.open(c, "BASE", inOut)
	clear(r.touched)
	r.put(c, h, "x")
	for _, name := range []string{"BASE", "EARLY", "LATE"} {
		check(t, name+" touched", r.touched[number(name)], true)
		s, ok := r.m.Status(number(name))
		equal(t, name, ok, true)
		check(t, name+" depth", s.Counts.CurDepth, 1)
		check(t, name+" readers", len(s.Counts.Readers), 1)
	}
	s, _ := r.m.Status(number("LATE"))
	check(t, "base", s.Type+" "+s.Base+" "+fmt.Sprint(s.Attributes.Clusters), "QALIAS BASE [C1 C2]")
	r.define("ALTER QALIAS(EARLY) CLUSTER(' ')")
	_, ok = r.m.Status(number("EARLY"))
	check(t, "left the cluster", ok, false)
	clear(r.touched)
	r.put(c, h, "y")
	check(t, "early is not touched any more", r.touched[number("EARLY")], false)
}

func TestAttributesAreImmutable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) CLWLRANK(3) DEFBIND(NOTFIXED) TRIGGER BOTHRESH(2) CLUSTER(C1)")
	n := r.m.localQueue("Q").number
	before, _ := r.m.Status(n)
	r.define("ALTER QLOCAL(Q) PUT(DISABLED) CLWLRANK(0)")
	after, _ := r.m.Status(n)
	check(t, "before", fmt.Sprint(before.Attributes.Put, before.Attributes.ClwlRank), "true 3")
	check(t, "after", fmt.Sprint(after.Attributes.Put, after.Attributes.ClwlRank), "false 0")
	a := after.Attributes
	check(t, "rest", fmt.Sprintln(a.DefBind, a.Trigger, a.BoThresh, a.Cluster, a.ClwlUseQ, a.Usage, a.DefType, a.MaxDepth),
		"NOTFIXED true 2 C1 QMGR NORMAL PREDEFINED 5000\n")
}

func TestMonitoringValues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) MONQ(MEDIUM)", "DEFINE QLOCAL(N)")
	c := r.connect(1, "app")
	h, n := r.open(c, "Q", inOut), r.open(c, "N", inOut)
	r.put(c, h, "a")
	r.put(c, n, "a")
	putAt := r.now
	r.now = r.now.Add(3 * time.Second)
	r.put(c, h, "b", priority(9))
	r.get(c, h, 0)
	s, _ := r.m.Status(r.m.localQueue("Q").number)
	check(t, "monitored", s.Counts.MonQ, true)
	check(t, "last put and get", s.Counts.LPut == s.Counts.LGet && s.Counts.LPut == r.now.UnixMilli(), true)
	check(t, "oldest", s.Counts.Oldest, putAt.UnixMilli())
	s, _ = r.m.Status(r.m.localQueue("N").number)
	check(t, "unknown where MONQ is off", fmt.Sprint(s.Counts.MonQ, s.Counts.LPut, s.Counts.Oldest), "false 0 0")
}

func TestNumbersStayWithQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(A)", "DEFINE QLOCAL(B)", "DEFINE QLOCAL(C)", "DELETE QLOCAL(B)")
	a, c := r.m.localQueue("A").number, r.m.localQueue("C").number
	r.crash()
	r.define("DEFINE QLOCAL(D)")
	check(t, "A", r.m.localQueue("A").number, a)
	check(t, "C", r.m.localQueue("C").number, c)
	check(t, "D is new", r.m.localQueue("D").number > c, true)
}
