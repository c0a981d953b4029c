package enginetest

import (
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
)

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

// two draws two queue managers.
func (s *sim) two() (a, b *node) {
	i := s.rng.IntN(len(s.nodes))
	return s.nodes[i], s.nodes[(i+1+s.rng.IntN(len(s.nodes)-1))%len(s.nodes)]
}

func (s *sim) cutSomething() {
	a, b := s.two()
	switch {
	case s.chance(s.cfg.oneWay):
		s.counts.OneWayCuts++
		s.net.cut(a, b)
		s.after(s.between(10*time.Millisecond, 20*time.Second), func() { s.net.heal(a, b) })
		return
	case s.chance(s.cfg.stall):
		s.counts.Stalls++
	default:
		s.counts.Cuts++
		s.net.breakLinks(a, b, "network is unreachable")
	}
	s.net.cut(a, b)
	s.net.cut(b, a)
	s.after(s.between(10*time.Millisecond, 20*time.Second), func() {
		s.net.heal(a, b)
		s.net.heal(b, a)
	})
}

// splitSomething lets the cluster fall apart into two parts for a while.
func (s *sim) splitSomething() {
	s.counts.Splits++
	left := make([]bool, len(s.nodes))
	for i := range left {
		left[i] = s.rng.IntN(2) == 0
	}
	loud := s.rng.IntN(2) == 0
	across := func(do func(a, b *node)) {
		for i, a := range s.nodes {
			for k, b := range s.nodes {
				if left[i] != left[k] {
					do(a, b)
				}
			}
		}
	}
	across(func(a, b *node) {
		if loud && left[a.number] {
			s.net.breakLinks(a, b, "network is unreachable")
		}
		s.net.cut(a, b)
	})
	s.after(s.between(time.Second, 20*time.Second), func() { across(s.net.heal) })
}

// loseSomething: a link cannot lose one frame and go on. What is on its way is
// lost from some frame on, and both ends learn that the link broke.
func (s *sim) loseSomething() {
	if len(s.net.links) == 0 {
		return
	}
	s.counts.Losses++
	s.net.breakLink(s.net.links[s.rng.IntN(len(s.net.links))], "connection reset by peer", false)
}

func (s *sim) slowSomething() {
	s.counts.SlowLinks++
	a, b := s.two()
	s.net.slow[way{a, b}] = true
	s.after(s.between(time.Second, 10*time.Second), func() { delete(s.net.slow, way{a, b}) })
}

func (s *sim) slowDisk() {
	s.counts.SlowDisks++
	n := pick(s.rng, s.nodes...)
	n.slowDisk = true
	s.after(s.between(time.Second, 10*time.Second), func() { n.slowDisk = false })
}

// fillSomething reaches the disk reserve of a queue manager for a while: puts are refused, gets go on.
func (s *sim) fillSomething() {
	n := pick(s.rng, s.nodes...)
	n.step(qmgr.Space{Low: true})
	n.later(s.between(0, 10*time.Second), func() { n.step(qmgr.Space{Low: false}) })
}

// jumpSomewhere sets a clock forward. One that is set back only runs slower: the
// shell sees to that.
func (s *sim) jumpSomewhere() {
	s.counts.ClockJumps++
	pick(s.rng, s.nodes...).setClock(s.between(0, s.cfg.jumpMax))
}
