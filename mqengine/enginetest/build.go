package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// cluster is what the members are told to be: who belongs to it and who keeps
// its full repositories.
type cluster struct {
	name, prefix string // the channel of QM1 is prefix + "QM1"
	members      []*node
	fulls        []*node
}

func (c *cluster) channel(n *node) string { return c.prefix + n.name }

func (c *cluster) full(n *node) bool { return slices.Contains(c.fulls, n) }

// clusterQueue is a queue that several queue managers may host.
type clusterQueue struct {
	name    string
	cluster *cluster
	hosts   []*node // those that ever host it
	started int     // how many of them do when the run begins
}

// define is the command that makes an instance.
func (q *clusterQueue) define(c *config) string {
	return fmt.Sprintf("DEFINE QLOCAL(%s) CLUSTER(%s) DEFBIND(%s) MAXDEPTH(%d)", q.name, q.cluster.name, c.defBind, c.maxDepth)
}

// build makes the clusters, without faults.
func (s *sim) build() {
	s.calm = true
	for i := range s.cfg.members {
		s.addNode(fmt.Sprintf("QM%d", i+1), fmt.Sprintf("10.0.0.%d:1414", i+1))
	}
	if len(s.failure) > 0 {
		return
	}
	s.drawClusters()
	s.drawQueues()
	for _, n := range s.nodes {
		n.admin = s.addApp("admin"+n.name, n, &admin{})
		n.admin.does.(*admin).run(n.admin, s.definitions(n)...)
	}
	s.runUntil(s.now.Add(20*time.Second), nil)
	s.calm = false
}

// drawClusters: C1 has all of them, C2 a part, and full repositories of its own.
func (s *sim) drawClusters() {
	c1 := &cluster{name: "C1", prefix: "TO.", members: s.nodes, fulls: s.nodes[:min(s.cfg.fulls, len(s.nodes)-1)]}
	s.clusters = []*cluster{c1}
	if !s.cfg.overlap {
		return
	}
	c2 := &cluster{name: "C2", prefix: "C2."}
	for _, i := range s.rng.Perm(len(s.nodes))[:2+s.rng.IntN(len(s.nodes)-1)] {
		c2.members = append(c2.members, s.nodes[i])
	}
	c2.fulls = c2.members[:min(2, len(c2.members)-1)]
	s.clusters = append(s.clusters, c2)
}

func (s *sim) drawQueues() {
	for i := range s.cfg.queues {
		q := &clusterQueue{name: fmt.Sprintf("Q%d", i+1), cluster: pick(s.rng, s.clusters...)}
		for _, k := range s.rng.Perm(len(q.cluster.members)) {
			q.hosts = append(q.hosts, q.cluster.members[k])
		}
		// One that may host it but does not yet is what DEFINE is for.
		q.started = min(len(q.hosts), s.cfg.hosts)
		q.hosts = q.hosts[:min(len(q.hosts), s.cfg.hosts+1)]
		s.queues = append(s.queues, q)
	}
}

// definitions are the commands that make a queue manager what it is.
func (s *sim) definitions(n *node) []string {
	var commands, repos []string
	attrs := fmt.Sprintf("BATCHSZ(%d) SHORTTMR(%d) SHORTRTY(100000) HBINT(%d) DISCINT(%d) NPMSPEED(%s) BATCHINT(%d)",
		s.cfg.batchSize, s.cfg.retry, s.cfg.heartbeat, s.cfg.idle, s.cfg.npmSpeed, s.cfg.batchInt)
	for _, c := range s.clusters {
		if !slices.Contains(c.members, n) {
			continue
		}
		// As in MQ the full repositories exchange over CLUSSDRs that somebody defined; a partial one needs a single one to join.
		to := slices.DeleteFunc(slices.Clone(c.fulls), func(o *node) bool { return o == n })
		if c.full(n) {
			repos = append(repos, c.name)
		} else {
			to = []*node{pick(s.rng, c.fulls...)}
		}
		commands = append(commands, fmt.Sprintf("DEFINE CHANNEL(%s) CHLTYPE(CLUSRCVR) CONNAME('%s') CLUSTER(%s) MRRTY(%d) MRTMR(300) %s",
			c.channel(n), conname(n.addr), c.name, s.cfg.mrRty, attrs))
		for _, o := range to {
			commands = append(commands, fmt.Sprintf("DEFINE CHANNEL(%s) CHLTYPE(CLUSSDR) CONNAME('%s') CLUSTER(%s) %s", c.channel(o), conname(o.addr), c.name, attrs))
		}
	}
	if len(repos) > 0 {
		commands = append([]string{fmt.Sprintf("DEFINE NAMELIST(REPOS) NAMES(%s)", strings.Join(repos, ",")), "ALTER QMGR REPOSNL(REPOS)"}, commands...)
	}
	if s.cfg.useDLQ {
		commands = append(commands, "ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)")
	}
	if s.rng.IntN(3) == 0 {
		commands = append(commands, "ALTER QMGR CLWLUSEQ(ANY)")
	}
	for _, q := range s.queues {
		if slices.Contains(q.hosts[:q.started], n) {
			commands = append(commands, q.define(&s.cfg))
		}
	}
	return commands
}
