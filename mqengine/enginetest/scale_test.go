package enginetest

import (
	"flag"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/workload"
)

var (
	scaleMembers = flag.Int("scale.members", 40, "queue managers in TestScale")
	scaleQueues  = flag.Int("scale.queues", 400, "cluster queues in TestScale, spread over the members")
)

// large is a cluster of many members: two full repositories, and queues that are
// spread over the others. Every member has opened HOT, which three of them host.
type large struct {
	s   *sim
	t   *testing.T
	hot []*node
}

func newLarge(t *testing.T, members, queues int) *large {
	t.Helper()
	s := newSim(1, nil, sabotage{})
	s.cfg = config{shape: shape{modern: true}}
	s.cfg.diskMin, s.cfg.diskMax = 100*time.Microsecond, 300*time.Microsecond
	s.cfg.wireMin, s.cfg.wireMax = 100*time.Microsecond, 500*time.Microsecond
	s.calm = true
	c := &large{s: s, t: t}
	for i := range members {
		name := fmt.Sprintf("QM%d", i+1)
		c.define(s.addNode(name, fmt.Sprintf("10.0.%d.%d:1414", i/250, i%250+1)), i, members, queues)
	}
	c.until("every queue is at both full repositories", func() bool {
		return len(s.nodes[0].display("DISPLAY QCLUSTER(*) CLUSQMGR")) == queues+3 && len(s.nodes[1].display("DISPLAY QCLUSTER(*) CLUSQMGR")) == queues+3
	})
	for _, n := range s.nodes {
		s.addApp("asker", n, hotAsker{})
	}
	c.until("everybody knows HOT", func() bool { return c.know("PUT", "ENABLED") == members })
	return c
}

// define gives member i its part: the first two keep full repositories, the next
// three host HOT, and the queues are spread over all but the first two.
func (c *large) define(n *node, i, members, queues int) {
	s := c.s
	own, to := s.nodes[i], s.nodes[(i+1)%2*min(1, i)]
	if i == 0 {
		to = &node{name: "QM2", addr: "10.0.0.2:1414"}
	}
	commands := []string{
		fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSRCVR) CONNAME('%s') CLUSTER(C1) SHORTTMR(1)", own.name, conname(own.addr)),
		fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSSDR) CONNAME('%s') CLUSTER(C1) SHORTTMR(1)", to.name, conname(to.addr)),
	}
	switch {
	case i < 2:
		commands = append(commands, "ALTER QMGR REPOS(C1)")
	default:
		for q := i - 2; q < queues; q += members - 2 {
			commands = append(commands, fmt.Sprintf("DEFINE QLOCAL(Q%d) CLUSTER(C1) DEFBIND(NOTFIXED)", q))
		}
	}
	if i >= 2 && i < 5 {
		c.hot = append(c.hot, n)
		commands = append(commands, "DEFINE QLOCAL(HOT) CLUSTER(C1) DEFBIND(NOTFIXED)")
	}
	n.admin = s.addApp("admin"+n.name, n, &admin{})
	n.admin.does.(*admin).run(n.admin, commands...)
}

// hotAsker opens HOT as a putter would.
type hotAsker struct{}

func (hotAsker) connected(a *app) {
	a.call(qmgr.InstancesReq{Queues: []string{"HOT"}, Subscribe: true}, func(answer) { a.leave(false) })
}
func (hotAsker) died(*app)           {}
func (hotAsker) unsent(*app, answer) {}

func (c *large) until(what string, condition func() bool) {
	c.t.Helper()
	for end := c.s.now.Add(10 * time.Minute); !condition(); {
		c.s.runUntil(c.s.now.Add(time.Second), nil)
		if len(c.s.failure) > 0 || !c.s.now.Before(end) {
			c.t.Fatalf("not: %s; %v", what, c.s.failure)
		}
	}
}

// know counts the members that see the first host's HOT with that value, and all of its instances.
func (c *large) know(attribute, value string) (members int) {
	for _, n := range c.s.nodes {
		if c.knows(n, attribute, value) {
			members++
		}
	}
	return members
}

func (c *large) knows(n *node, attribute, value string) bool {
	rows := n.display("DISPLAY QCLUSTER(HOT) CLUSQMGR " + attribute)
	for _, row := range rows {
		if row["CLUSQMGR"] == c.hot[0].name && row[attribute] == value {
			return len(rows) == len(c.hot)
		}
	}
	return false
}

// spread is what one change costs.
type spread struct {
	messages, bytes int
	virtual         time.Duration // until the last member knows
	real            time.Duration // of a processor, for everybody's part and the simulator's
	half            time.Duration // until half of them do
}

// change alters HOT at its first host and follows the news to every member.
func (c *large) change(attribute, value string) spread {
	s := c.s
	c.until("nothing is under way", func() bool {
		for _, n := range s.nodes {
			if len(n.turns) > 0 {
				return false
			}
		}
		return true
	})
	messages, bytes, began := s.net.messages, s.net.bytes, s.now
	s.command(c.hot[0], "ALTER QLOCAL(HOT) %s(%s)", attribute, value)
	var out spread
	waiting := append([]*node(nil), s.nodes...)
	for len(waiting) > 0 && s.now.Sub(began) < time.Minute {
		start := processorTime(c.t)
		s.runUntil(s.now.Add(100*time.Microsecond), nil)
		out.real += processorTime(c.t) - start
		still := waiting[:0]
		for _, n := range waiting {
			if !c.knows(n, attribute, value) {
				still = append(still, n)
			}
		}
		waiting = still
		if out.half == 0 && len(waiting) <= len(s.nodes)/2 {
			out.half = s.now.Sub(began)
		}
	}
	if len(waiting) > 0 {
		c.t.Fatalf("%s does not learn of %s(%s)", waiting[0].name, attribute, value)
	}
	out.virtual = s.now.Sub(began)
	// What is still said belongs to it: confirmations, and whoever hears of it twice.
	s.runUntil(s.now.Add(time.Second), nil)
	out.messages, out.bytes = s.net.messages-messages, s.net.bytes-bytes
	return out
}

// processorTime is what this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is what a queue manager takes that is started from n's disk.
func (c *large) memory(n *node) (heap uint64, start time.Duration) {
	c.t.Helper()
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	disk := n.disk.Crash(0)
	before, began := used(), time.Now()
	m := qmgr.New(qmgr.Config{Name: n.name, Order: workload.Modern, StartTime: n.now(), Listen: n.addr})
	if _, err := disk.Load(m.Visitor()); err != nil {
		c.t.Fatal(err)
	}
	var fx qmgr.Effects
	m.Start(n.now(), &fx)
	start = time.Since(began)
	fx = qmgr.Effects{}
	after := used()
	runtime.KeepAlive(m)
	runtime.KeepAlive(disk)
	return after - min(before, after), start
}

// A change of PUT reaches every member that has the queue open through the full
// repositories, with a number of messages that grows with them and nothing else:
// the owner tells two, and each member hears of it no more than twice. With the
// flags it is the measurement of docs/performance.md.
func TestScale_OneChange_ReachesEverySubscriber(t *testing.T) {
	members, queues := *scaleMembers, *scaleQueues
	c := newLarge(t, members, queues)
	for _, change := range [][2]string{{"PUT", "DISABLED"}, {"PUT", "ENABLED"}, {"CLWLPRTY", "5"}} {
		got := c.change(change[0], change[1])
		t.Logf("%s(%s) with %d members that know the queue: %d messages, %d bytes, half know after %v and all after %v of the cluster's time; %v of one processor for all of them",
			change[0], change[1], members, got.messages, got.bytes, got.half, got.virtual, got.real)
		if most := 2*members + 4; got.messages > most {
			t.Errorf("%s(%s) took %d messages, more than %d", change[0], change[1], got.messages, most)
		}
	}
	for _, n := range []*node{c.s.nodes[0], c.s.nodes[members-1]} {
		heap, start := c.memory(n)
		t.Logf("%s with %d of %d queues in its repository: %.1f MiB of heap, started in %v",
			n.name, len(n.display("DISPLAY QCLUSTER(*) CLUSQMGR")), queues+3, float64(heap)/(1<<20), start)
	}
}
