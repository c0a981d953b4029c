package enginetest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
)

// Result is what a run came to.
type Result struct {
	Seed     uint64
	Hash     uint64 // over every event and effect
	Counts   Counts
	Failures []string // what did not hold; empty for a good run
}

// Run runs one seed. With text, it writes what happens for a person.
func Run(seed uint64, text io.Writer) Result { return run(seed, text, sabotage{}) }

func run(seed uint64, text io.Writer, broken sabotage) Result {
	s := newSim(seed, text)
	s.broken = broken
	s.printf("config %+v", s.cfg)
	s.build()
	if len(s.failure) == 0 {
		s.disturb()
		s.runUntil(s.now.Add(s.cfg.duration), nil)
	}
	if len(s.failure) == 0 {
		s.heal()
	}
	return Result{Seed: seed, Hash: s.trace.Sum64(), Counts: s.counts, Failures: s.failure}
}

// build makes the cluster, without faults: QM1 and QM2 keep full repositories,
// QM2 and QM3 host the queue.
func (s *sim) build() {
	s.calm = true
	for i := 1; i <= 3; i++ {
		s.addNode(fmt.Sprintf("QM%d", i), fmt.Sprintf("10.0.0.%d:1414", i))
	}
	partner := map[string]int{"QM1": 1, "QM2": 0, "QM3": 0}
	for _, n := range s.nodes {
		a := s.addApp("admin"+n.name, n, &admin{})
		to := s.nodes[partner[n.name]]
		var commands []string
		if n != s.nodes[2] {
			commands = append(commands, "ALTER QMGR REPOS(C1)")
		}
		if s.cfg.useDLQ {
			commands = append(commands, "ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)")
		}
		attrs := fmt.Sprintf("BATCHSZ(%d) SHORTTMR(%d) SHORTRTY(100000) HBINT(%d)", s.cfg.batchSize, s.cfg.retry, s.cfg.heartbeat)
		commands = append(commands,
			fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSRCVR) CONNAME('%s') CLUSTER(C1) %s", n.name, conname(n.addr), attrs),
			fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSSDR) CONNAME('%s') CLUSTER(C1) %s", to.name, conname(to.addr), attrs))
		if n != s.nodes[0] {
			commands = append(commands, fmt.Sprintf("DEFINE QLOCAL(%s) CLUSTER(C1) DEFBIND(%s) MAXDEPTH(%d)", theQueue, s.cfg.defBind, s.cfg.maxDepth))
		}
		a.does.(*admin).run(a, commands...)
	}
	s.runUntil(s.now.Add(20*time.Second), nil)
	s.calm = false
}

// disturb starts the applications and everything that gets into their way.
func (s *sim) disturb() {
	for i := range s.cfg.putters {
		n := s.nodes[0]
		if !s.cfg.putterAtFullRepos {
			n = pick(s.rng, s.nodes...)
		}
		s.addApp(fmt.Sprintf("P%d", i+1), n, &putter{left: s.cfg.messages, onOpen: s.chance(s.cfg.onOpen)})
	}
	for i := range s.cfg.getters {
		s.addApp(fmt.Sprintf("G%d", i+1), pick(s.rng, s.nodes[1:]...), &getter{queue: theQueue})
	}
	s.every(s.cfg.cutEvery, s.cutSomething)
	s.every(s.cfg.alterEvery, s.alterSomething)
	s.every(s.cfg.stopEvery, s.stopSomething)
	s.every(s.cfg.suspendEvery, s.suspendSomething)
	s.every(s.cfg.fullEvery, s.fillSomething)
	s.every(s.cfg.jumpEvery, s.jumpSomewhere)
	if s.cfg.moveEvery > 0 {
		for _, n := range s.nodes[1:] {
			s.addApp("M"+n.name, n, &mover{})
		}
	}
}

// every repeats something at random distances until the cluster is calm.
func (s *sim) every(d time.Duration, do func()) {
	if d == 0 {
		return
	}
	var again func()
	again = func() {
		if s.calm {
			return
		}
		do()
		s.after(s.between(0, 2*d), again)
	}
	s.after(s.between(0, 2*d), again)
}

// maybeCrash lets a queue manager die with probability p.
func (s *sim) maybeCrash(n *node, p float64) bool {
	if s.calm || !n.up || !s.chance(p) {
		return !n.up
	}
	n.crash()
	s.after(s.between(10*time.Millisecond, s.cfg.downMax), func() {
		if !n.up {
			n.start()
		}
	})
	return true
}

func (s *sim) cutSomething() {
	a, b := s.nodes[s.rng.IntN(3)], s.nodes[s.rng.IntN(3)]
	if a == b {
		return
	}
	s.net.cut(a, b, s.chance(s.cfg.stall))
	s.after(s.between(10*time.Millisecond, 20*time.Second), func() { s.net.heal(a, b) })
}

func (s *sim) admin(n *node) *app { return s.apps[n.number()] }

func (n *node) number() int {
	for i, other := range n.s.nodes {
		if other == n {
			return i
		}
	}
	return -1
}

func (s *sim) command(n *node, text string) {
	s.counts.Alters++
	a := s.admin(n)
	a.does.(*admin).run(a, text)
}

func (s *sim) alterSomething() {
	n := s.nodes[1+s.rng.IntN(2)]
	attribute := pick(s.rng, "PUT(DISABLED)", "PUT(DISABLED)", "PUT(ENABLED)", "PUT(ENABLED)", "CLWLRANK(0)", "CLWLRANK(5)", "CLWLPRTY(0)", "CLWLPRTY(3)")
	s.command(n, fmt.Sprintf("ALTER QLOCAL(%s) %s", theQueue, attribute))
}

func (s *sim) stopSomething() {
	n, to := s.nodes[s.rng.IntN(3)], s.nodes[1+s.rng.IntN(2)]
	if n == to {
		return
	}
	s.command(n, fmt.Sprintf("STOP CHANNEL(TO.%s)", to.name))
	s.after(s.between(time.Second, 20*time.Second), func() {
		s.command(n, fmt.Sprintf("START CHANNEL(TO.%s)", to.name))
	})
}

// suspendSomething also refreshes, but never QM2: MQ warns of full repositories
// that forget everything at about the same time, and what is lost then is lost
// until a partial repository publishes again by itself.
func (s *sim) suspendSomething() {
	s.counts.Suspensions++
	n := s.nodes[s.rng.IntN(3)]
	what := pick(s.rng, "SUSPEND QMGR CLUSTER(C1)", "RESUME QMGR CLUSTER(C1)", "RESUME QMGR CLUSTER(C1)", "REFRESH CLUSTER(C1) REPOS(NO)")
	if n == s.nodes[1] && strings.HasPrefix(what, "REFRESH") {
		return
	}
	s.command(n, what)
}

// fillSomething reaches the disk reserve of a queue manager for a while: puts are refused, gets go on.
func (s *sim) fillSomething() {
	n := s.nodes[s.rng.IntN(3)]
	n.step(qmgr.Space{Low: true})
	n.later(s.between(0, 10*time.Second), func() { n.step(qmgr.Space{Low: false}) })
}

// jumpSomewhere sets a clock forward. One that is set back only runs slower: the
// shell sees to that.
func (s *sim) jumpSomewhere() {
	s.counts.ClockJumps++
	s.nodes[s.rng.IntN(3)].setClock(s.between(0, s.cfg.jumpMax))
}

// heal ends every fault and waits until everything that was put is read, at most an hour.
func (s *sim) heal() {
	s.calm = true
	s.printf("calm")
	for i, a := range s.nodes {
		for _, b := range s.nodes[i+1:] {
			s.net.heal(a, b)
		}
		if !a.up {
			a.start()
		}
		a.step(qmgr.Space{Low: false})
		s.command(a, "RESUME QMGR CLUSTER(C1)")
		s.addApp("D"+a.name, a, &getter{queue: "SYSTEM.DEAD.LETTER.QUEUE", drains: true})
		if i > 0 {
			s.addApp("R"+a.name, a, &getter{queue: theQueue, drains: true})
			s.command(a, fmt.Sprintf("ALTER QLOCAL(%s) PUT(ENABLED) MAXDEPTH(5000)", theQueue))
		}
	}
	s.startChannels()
	patience := time.Hour
	if s.broken != (sabotage{}) {
		patience = 2 * time.Minute // what is broken need not come to rest
	}
	deadline := s.now.Add(patience)
	for s.now.Before(deadline) && len(s.failure) == 0 {
		s.runUntil(s.now.Add(10*time.Second), nil)
		if s.atRest() {
			break
		}
	}
	s.checkRepositories()
	s.ledger.check()
	if len(s.failure) == 0 {
		s.checkDisks()
	}
}

// startChannels starts what was stopped. A channel that is not known yet, after a
// refresh, needs it again later.
func (s *sim) startChannels() {
	for _, a := range s.nodes {
		for _, b := range s.nodes {
			if a != b {
				s.command(a, fmt.Sprintf("START CHANNEL(TO.%s)", b.name))
			}
		}
	}
	s.after(time.Minute, s.startChannels)
}

// atRest: everything acknowledged was read, and no queue has anything left.
func (s *sim) atRest() bool {
	if len(s.ledger.missing()) > 0 {
		return false
	}
	for _, m := range s.ledger.messages {
		if m.holder != nil {
			return false
		}
	}
	for _, n := range s.nodes {
		if len(n.userBodies()) > 0 || len(n.turns) > 0 {
			return false
		}
	}
	return true
}

// userBodies are the messages of the run that a disk still holds.
func (n *node) userBodies() []string {
	var out []string
	for _, id := range n.disk.Bodies() {
		if b, err := n.disk.Body(id); err == nil && n.s.ledger.messages[string(b)] != nil {
			out = append(out, string(b))
		}
	}
	return out
}

// checkDisks: when every message is read no body is left, on disk or in memory.
func (s *sim) checkDisks() {
	for _, n := range s.nodes {
		if left := n.userBodies(); len(left) > 0 {
			s.fail("%s still has bodies on its disk that nobody can read: %q", n.name, left)
		}
		for id, b := range n.bodies {
			if s.ledger.messages[string(b)] != nil {
				s.fail("%s keeps body %d (%s) in memory for ever", n.name, id, b)
			}
		}
	}
}

// checkRepositories: every queue manager sees the same instances.
func (s *sim) checkRepositories() {
	views := make([]string, len(s.nodes))
	var inspectors []*app
	for _, n := range s.nodes {
		inspectors = append(inspectors, s.addApp("I"+n.name, n, &admin{}))
	}
	s.runUntil(s.now.Add(time.Second), nil)
	for i, a := range inspectors {
		// The first question makes the queue known, if nobody here ever asked for it.
		a.call(qmgr.InstancesReq{Queues: []string{theQueue}, Subscribe: true}, func(answer) {
			a.later(5*time.Second, func() {
				a.call(qmgr.InstancesReq{Queues: []string{theQueue}, Subscribe: true}, func(ans answer) { views[i] = view(ans) })
			})
		})
	}
	s.runUntil(s.now.Add(10*time.Second), nil)
	for i := range views {
		if views[i] == "" || views[i] != views[0] {
			s.fail("the repositories differ: %s sees %q, QM1 sees %q", s.nodes[i].name, views[i], views[0])
		}
	}
}

// view is what a queue manager knows of the instances, in a fixed order.
func view(ans answer) string {
	res, ok := ans.Result.(*qmgr.InstancesResult)
	if !ok || res == nil {
		return ""
	}
	var lines []string
	for _, in := range res.Instances {
		lines = append(lines, fmt.Sprintf("%s put %v rank %d priority %d", in.QMgr, in.Put, in.Rank, in.Prty))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}
