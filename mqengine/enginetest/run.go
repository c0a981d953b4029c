package enginetest

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
)

// Result is what a run came to.
type Result struct {
	Seed     uint64
	Members  int
	Hash     uint64 // over every event and effect
	Counts   Counts
	Failures []string // what did not hold; empty for a good run
}

// Run runs one seed. With text, it writes what happens for a person.
func Run(seed uint64, text io.Writer) Result { return run(seed, text, sabotage{}) }

func run(seed uint64, text io.Writer, broken sabotage) Result {
	s := newSim(seed, text, broken)
	s.printf("config %+v", s.cfg)
	for _, phase := range []func(){s.build, s.disturb, s.heal, s.age} {
		if len(s.failure) == 0 {
			phase()
		}
	}
	return Result{Seed: seed, Members: len(s.nodes), Hash: s.trace.Sum64(), Counts: s.counts, Failures: s.failure}
}

// disturb lets applications work, and everything that gets into their way.
func (s *sim) disturb() {
	for i := range s.cfg.putters {
		s.addApp(fmt.Sprintf("P%d", i+1), pick(s.rng, s.nodes...), &putter{left: s.cfg.messages})
	}
	for i := range s.cfg.getters {
		q := pick(s.rng, s.queues...)
		s.addApp(fmt.Sprintf("G%d", i+1), pick(s.rng, q.hosts...), &getter{queue: q.name})
	}
	s.every(s.cfg.cutEvery, s.cutSomething)
	s.every(s.cfg.splitEvery, s.splitSomething)
	s.every(s.cfg.loseEvery, s.loseSomething)
	s.every(s.cfg.slowEvery, s.slowSomething)
	s.every(s.cfg.slowDiskEvery, s.slowDisk)
	s.every(s.cfg.fullEvery, s.fillSomething)
	s.every(s.cfg.jumpEvery, s.jumpSomewhere)
	s.every(s.cfg.alterEvery, s.alterSomething)
	s.every(s.cfg.stopEvery, s.stopSomething)
	s.every(s.cfg.suspendEvery, s.suspendSomething)
	s.every(s.cfg.defineEvery, s.defineSomething)
	s.every(s.cfg.memberEvery, s.memberSomething)
	s.every(s.cfg.resetEvery, s.resetSomething)
	s.every(3*time.Second, s.checkDepths)
	if s.cfg.moveEvery > 0 {
		for _, n := range s.nodes {
			s.addApp("M"+n.name, n, &mover{})
		}
	}
	s.runUntil(s.now.Add(s.cfg.duration), nil)
}

// heal ends every fault, gives every queue back its instances, and waits until
// everything that was put is read, at most an hour.
func (s *sim) heal() {
	s.calm = true
	calm := s.now
	s.printf("calm")
	clear(s.net.slow)
	for _, a := range s.nodes {
		for _, b := range s.nodes {
			s.net.heal(a, b)
		}
		if !a.up {
			a.start()
		}
		a.step(qmgr.Space{Low: false})
		s.addApp("D"+a.name, a, &getter{queue: "SYSTEM.DEAD.LETTER.QUEUE", drains: true})
	}
	s.repair()
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
	// Who refreshes has to ask for queues again, so nobody looks before.
	s.runUntil(calm.Add(refreshAfter+10*time.Second), nil)
	if len(s.failure) == 0 {
		s.checkRepositories("after everything healed")
	}
	if len(s.failure) == 0 {
		s.ledger.check()
	}
	if len(s.failure) == 0 {
		s.checkDisks()
	}
}

// refreshAfter is when those that were removed by force refresh once more: the
// last RESET may have been under way when the cluster became calm.
const refreshAfter = 40 * time.Second

// repair undoes what operators did, as far as a message may wait for it.
func (s *sim) repair() {
	for _, q := range s.queues {
		for _, n := range q.hosts {
			s.command(n, "%s", q.define(&s.cfg))
			s.command(n, "ALTER QLOCAL(%s) CLUSTER(%s) PUT(ENABLED) MAXDEPTH(5000)", q.name, q.cluster.name)
			s.addApp(fmt.Sprintf("R%s.%s", n.name, q.name), n, &getter{queue: q.name, drains: true})
		}
	}
	for _, c := range s.clusters {
		for _, n := range c.members {
			s.rejoin(c, n)
		}
	}
	removed := slices.Clone(s.removed)
	s.after(refreshAfter, func() {
		for _, m := range removed {
			s.command(m.n, "REFRESH CLUSTER(%s) REPOS(NO)", m.c.name)
		}
	})
}

// startChannels starts what was stopped. A channel that is not known yet, after a
// refresh, needs it again later.
func (s *sim) startChannels() {
	for _, n := range s.nodes {
		for _, c := range s.clusters {
			for _, to := range c.members {
				if s.stopped[stoppedChannel{n, c.channel(to)}] {
					s.command(n, "START CHANNEL(%s)", c.channel(to))
				}
			}
		}
	}
	s.after(time.Minute, func() {
		if !s.aging {
			s.startChannels()
		}
	})
}

// age lets a month go by, in three steps, in which every publication and every
// subscription has to be renewed: what was known is known, and news still come.
func (s *sim) age() {
	if !s.cfg.ages {
		return
	}
	s.aging = true
	const day = 24 * time.Hour
	for _, step := range []time.Duration{26 * day, 2 * day, 3 * day} {
		for _, n := range s.nodes {
			n.setClock(step)
		}
		s.counts.Months++
		s.runUntil(s.now.Add(3*time.Minute), nil)
		if len(s.failure) == 0 {
			s.checkRepositories(fmt.Sprintf("%v later", step))
		}
	}
	for _, q := range s.queues {
		for _, n := range q.hosts {
			s.command(n, "ALTER QLOCAL(%s) CLWLPRTY(%d)", q.name, 4+s.rng.IntN(5))
		}
	}
	s.runUntil(s.now.Add(time.Minute), nil)
	if len(s.failure) == 0 {
		s.checkRepositories("with news after a month")
	}
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
		if len(n.turns) > 0 || len(n.userBodies()) > 0 {
			return false
		}
	}
	return true
}

// userBodies are the messages of the run that a disk still holds.
func (n *node) userBodies() []string {
	var out []string
	for _, id := range n.disk.Numbers() {
		if b, err := n.disk.Body(id); err == nil && n.s.ledger.messages[string(b)] != nil {
			out = append(out, string(b))
		}
	}
	return out
}

// checkDisks: when every message is read no body is left, on disk or in memory,
// and nothing waits for a channel.
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
		for _, row := range n.display("DISPLAY QLOCAL(*) CURDEPTH WHERE(CURDEPTH GT 0)") {
			if q := row["QUEUE"]; q != "SYSTEM.ADMIN.QMGR.EVENT" && q != "SYSTEM.CLUSTER.TRANSMIT.QUEUE" {
				s.fail("%s has %s messages on %s when everything is read", n.name, row["CURDEPTH"], row["QUEUE"])
			}
		}
	}
}

// checkDepths: no queue of the applications is deeper than its definition allows.
func (s *sim) checkDepths() {
	n := pick(s.rng, s.nodes...)
	if !n.up {
		return
	}
	for _, row := range n.display("DISPLAY QLOCAL(Q*) CURDEPTH MAXDEPTH") {
		if number(row["CURDEPTH"]) > number(row["MAXDEPTH"]) {
			s.fail("%s has %s messages on %s, which may have %s", n.name, row["CURDEPTH"], row["QUEUE"], row["MAXDEPTH"])
		}
	}
}
