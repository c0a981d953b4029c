package enginetest

import (
	"fmt"
	"slices"
	"time"
)

// Operators change the cluster while it works. A command is carried out, or
// refused, or lost with the queue manager that it was given to.

func (s *sim) command(n *node, format string, args ...any) {
	s.counts.Alters++
	n.admin.does.(*admin).run(n.admin, fmt.Sprintf(format, args...))
}

// alterSomething changes what the workload algorithm looks at.
func (s *sim) alterSomething() {
	q := pick(s.rng, s.queues...)
	n := pick(s.rng, q.hosts...)
	if s.rng.IntN(4) > 0 {
		attribute := pick(s.rng, "PUT(DISABLED)", "PUT(DISABLED)", "PUT(ENABLED)", "PUT(ENABLED)", "CLWLRANK(0)", "CLWLRANK(5)",
			"CLWLPRTY(0)", "CLWLPRTY(3)", "DEFBIND(OPEN)", "DEFBIND(NOTFIXED)", "CLWLUSEQ(ANY)", "CLWLUSEQ(QMGR)")
		s.command(n, "ALTER QLOCAL(%s) %s", q.name, attribute)
		return
	}
	attribute := pick(s.rng, "CLWLRANK(0)", "CLWLRANK(3)", "CLWLPRTY(0)", "CLWLPRTY(2)", "CLWLWGHT(10)", "CLWLWGHT(90)", "NETPRTY(0)", "NETPRTY(1)", "BATCHSZ(2)", "BATCHSZ(50)")
	s.command(n, "ALTER CHANNEL(%s) CHLTYPE(CLUSRCVR) %s", q.cluster.channel(n), attribute)
}

// defineSomething lets an instance come or go: out of the cluster, or altogether.
func (s *sim) defineSomething() {
	s.counts.Definitions++
	q := pick(s.rng, s.queues...)
	n := pick(s.rng, q.hosts...)
	switch s.rng.IntN(5) {
	case 0:
		s.command(n, "ALTER QLOCAL(%s) CLUSTER(' ')", q.name)
	case 1:
		s.command(n, "ALTER QLOCAL(%s) CLUSTER(%s)", q.name, q.cluster.name)
	case 2: // refused if it has messages or is open
		s.command(n, "DELETE QLOCAL(%s)", q.name)
	default:
		s.command(n, "%s", q.define(&s.cfg))
	}
}

// partial draws a member that keeps no full repository; nil if there is none.
func (s *sim) partial(c *cluster) *node {
	if len(c.members) == len(c.fulls) {
		return nil
	}
	for {
		if n := pick(s.rng, c.members...); !c.full(n) {
			return n
		}
	}
}

// memberSomething lets a member leave its cluster, as the manual says: suspend,
// and take the CLUSRCVR out. It comes back after a while.
func (s *sim) memberSomething() {
	c := pick(s.rng, s.clusters...)
	n := s.partial(c)
	if n == nil {
		return
	}
	s.counts.Leaves++
	s.command(n, "SUSPEND QMGR CLUSTER(%s)", c.name)
	s.command(n, "ALTER CHANNEL(%s) CHLTYPE(CLUSRCVR) CLUSTER(' ')", c.channel(n))
	s.after(s.between(time.Second, 20*time.Second), func() { s.rejoin(c, n) })
}

func (s *sim) rejoin(c *cluster, n *node) {
	s.command(n, "ALTER CHANNEL(%s) CHLTYPE(CLUSRCVR) CLUSTER(%s)", c.channel(n), c.name)
	s.command(n, "RESUME QMGR CLUSTER(%s)", c.name)
}

// resetSomething removes a member by force. As the manual says it has to wait
// before it refreshes.
func (s *sim) resetSomething() {
	c := pick(s.rng, s.clusters...)
	n := s.partial(c)
	if n == nil {
		return
	}
	s.counts.Resets++
	s.command(pick(s.rng, c.fulls...), "RESET CLUSTER(%s) ACTION(FORCEREMOVE) QMNAME(%s) QUEUES(%s)", c.name, n.name, pick(s.rng, "YES", "NO"))
	s.removed = append(s.removed, membership{c, n})
	s.after(s.between(10*time.Second, 20*time.Second), func() { s.command(n, "REFRESH CLUSTER(%s) REPOS(NO)", c.name) })
}

// membership is one queue manager in one cluster.
type membership struct {
	c *cluster
	n *node
}

// channelOf draws a sending channel and its other end.
func (s *sim) channelOf(n *node) (string, bool) {
	c := pick(s.rng, s.clusters...)
	to := pick(s.rng, c.members...)
	return c.channel(to), to != n && slices.Contains(c.members, n)
}

func (s *sim) stopSomething() {
	n := pick(s.rng, s.nodes...)
	name, ok := s.channelOf(n)
	if !ok {
		return
	}
	s.stopped[stoppedChannel{n, name}] = true
	s.command(n, "STOP CHANNEL(%s)%s", name, pick(s.rng, "", "", " MODE(FORCE)"))
	s.after(s.between(time.Second, 20*time.Second), func() { s.command(n, "START CHANNEL(%s)", name) })
}

type stoppedChannel struct {
	n    *node
	name string
}

// suspendSomething also refreshes, but of the full repositories only the first:
// MQ warns of full repositories that forget everything at about the same time,
// and what is lost then is lost until a partial one publishes again by itself.
func (s *sim) suspendSomething() {
	s.counts.Suspensions++
	c := pick(s.rng, s.clusters...)
	n := pick(s.rng, c.members...)
	switch s.rng.IntN(4) {
	case 0:
		s.command(n, "SUSPEND QMGR CLUSTER(%s)%s", c.name, pick(s.rng, "", " MODE(FORCE)"))
	case 1, 2:
		s.command(n, "RESUME QMGR CLUSTER(%s)", c.name)
	default:
		if c.full(n) && n != c.fulls[0] || len(c.fulls) == 1 && c.full(n) {
			return
		}
		repos := "NO"
		if !c.full(n) {
			repos = pick(s.rng, "NO", "YES")
		}
		s.counts.Refreshes++
		s.command(n, "REFRESH CLUSTER(%s) REPOS(%s)", c.name, repos)
	}
}
