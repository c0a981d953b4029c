package situations

import (
	"math/bits"
	"time"
)

// Limits of the machine, in samples.
const (
	goneAfter  = 2 // samples without the queue until the item is dropped
	blindAfter = 3 // unknown samples until the item counts as blind
	maxGap     = 3 // intervals without a good sample that a count survives
	flapWindow = 21
	flapHigh   = 6 // confirmed changes within the window: flapping
	flapLow    = 2 // and not any more
)

// limits is what a situation sets of its items' machine.
type limits struct {
	open     Persistence
	clear    Persistence
	again    ActAgain
	until    time.Duration // open for so long ends it; 0 for no limit
	interval time.Duration
}

// input is one sample of one item. Samples without a verdict of their own (the
// queue manager was not asked) are not stepped at all.
type input struct {
	verdict Verdict
	at      time.Time
	// scheduled: the sample was due. Extra samples (at start, at the end of grace,
	// on a change) decide, but do not count toward a number of samples.
	scheduled bool
	// ticks is how many samples were due since the last good one, this one
	// included; it needs to be right only up to maxGap+1.
	ticks int
	// epoch is the number that a new history gets.
	epoch int64
	// stopped: the situation that ends this one is open for the same queue.
	stopped bool
	// held: a maintenance window is open; phases move on, nothing is done.
	held bool
}

// outcome is what a step led to, beside the new state.
type outcome struct {
	edge Edge // empty for none
	// removed: the queue is gone, and the item with it.
	removed bool
	// ended: until ended it, although its condition holds; stopped: because of
	// another situation.
	ended, stopped bool
	// suppressed is the edge that a maintenance window keeps back.
	suppressed Edge
}

// step advances an item by one sample. What happens is the difference between
// the condition as it is confirmed now and what was last acted on, so an edge can
// be neither lost nor doubled, whatever lies between.
func step(l *limits, s State, in input) (State, outcome) {
	switch in.verdict {
	case Unknown:
		return s, outcome{}
	case Gone:
		return stepGone(s, in)
	case True, False, Hold:
	}
	s.Gone = 0
	s.age(l, in)
	moved := s.advance(l, in)
	ended := s.end(l, in)
	s.flap(moved || ended)
	s.keepTime(in)
	out := s.settle(l, in)
	out.ended, out.stopped = ended, ended && in.stopped
	return s, out
}

// stepGone counts samples that the queue is missing from. What acted is
// forgotten with the item: there is nothing left to act on.
func stepGone(s State, in input) (State, outcome) {
	if in.scheduled {
		s.Gone++
	}
	if s.Gone < goneAfter {
		return s, outcome{}
	}
	return State{}, outcome{removed: true}
}

// age adds the time since the last good sample to what was held, or begins anew
// when too much is unknown in between: two samples an hour apart do not make a
// condition that held for an hour.
func (s *State) age(l *limits, in input) {
	if s.Phase != Pending && s.Phase != Recovering {
		return
	}
	if in.ticks > maxGap {
		s.Count, s.Held, s.LastGood = 0, 0, in.at
		return
	}
	gap := max(in.at.Sub(s.LastGood), 0)
	s.Held += min(gap, l.interval*3/2)
}

// advance moves the phase and says whether the condition was confirmed anew.
func (s *State) advance(l *limits, in input) bool {
	if in.verdict == False {
		s.Disarmed = false
	}
	switch in.verdict {
	case True:
		if (s.Disarmed || in.stopped) && !s.isOpen() {
			s.fallBack()
			return false
		}
		switch s.Phase {
		case Inactive:
			s.Phase, s.Count, s.Held = Pending, 0, 0
			return s.confirm(l.open, in, Open)
		case Pending:
			return s.confirm(l.open, in, Open)
		case Recovering:
			s.Phase, s.Count, s.Held = Open, 0, 0
		case Open:
		}
	case Hold:
		s.fallBack()
	case False:
		switch s.Phase {
		case Pending:
			s.Phase, s.Count, s.Held = Inactive, 0, 0
		case Open:
			s.Phase, s.Count, s.Held = Recovering, 0, 0
			return s.confirm(l.clear, in, Inactive)
		case Recovering:
			return s.confirm(l.clear, in, Inactive)
		case Inactive:
		}
	case Unknown, Gone:
	}
	return false
}

// end closes what is open when until says so. Else it would open again with the
// next sample: it does so only after its formula was false once.
func (s *State) end(l *limits, in input) bool {
	over := l.until > 0 && in.at.Sub(s.Opened) >= l.until
	if !s.isOpen() || !in.stopped && !over {
		return false
	}
	s.Phase, s.Count, s.Held, s.Opened = Inactive, 0, 0, time.Time{}
	s.Disarmed = in.verdict != False
	return true
}

// fallBack is what neither true nor false does: whatever was being confirmed is not.
func (s *State) fallBack() {
	switch s.Phase {
	case Pending:
		s.Phase, s.Count, s.Held = Inactive, 0, 0
	case Recovering:
		s.Phase, s.Count, s.Held = Open, 0, 0
	case Inactive, Open:
	}
}

// confirm counts a sample toward the next phase and goes there when it suffices.
func (s *State) confirm(p Persistence, in input, next Phase) bool {
	if in.scheduled {
		s.Count++
	}
	enough := p.Samples <= 1 || s.Count >= p.Samples
	if !enough || s.Held < p.Duration {
		return false
	}
	s.Phase, s.Count, s.Held = next, 0, 0
	if next == Open {
		s.Opened = in.at
	} else {
		s.Opened = time.Time{}
	}
	return true
}

// flap keeps the confirmed changes among the last good samples.
func (s *State) flap(moved bool) {
	s.History = s.History << 1 & (1<<flapWindow - 1)
	if moved {
		s.History |= 1
	}
	switch n := bits.OnesCount32(s.History); {
	case n >= flapHigh:
		s.Flapping = true
	case n <= flapLow:
		s.Flapping = false
	}
}

// keepTime remembers the sample while something is being confirmed.
func (s *State) keepTime(in input) {
	s.LastGood = time.Time{}
	if s.Phase == Pending || s.Phase == Recovering {
		s.LastGood = in.at
	}
}

// settle gives the edge between what is and what was acted on.
func (s *State) settle(l *limits, in input) outcome {
	want := s.isOpen()
	edge := Edge("")
	switch {
	case want && !s.Acted:
		edge = EdgeOpen
	case !want && s.Acted:
		edge = EdgeClear
	case want && in.verdict == True && s.again(l, in):
		edge = EdgeRepeat
	}
	if s.Epoch == 0 && s.Phase != Inactive {
		s.Epoch = in.epoch
	}
	if edge == "" {
		return outcome{}
	}
	if in.held {
		return outcome{suppressed: edge}
	}
	s.Acted = want
	s.Sequence++
	s.LastActed = in.at
	return outcome{edge: edge}
}

// again reports whether act_again asks for another action of an open item.
func (s *State) again(l *limits, in input) bool {
	switch {
	case l.again.EverySample:
		return in.scheduled
	case l.again.After > 0:
		return in.at.Sub(s.LastActed) >= l.again.After
	}
	return false
}

func (s *State) isOpen() bool { return s.Phase == Open || s.Phase == Recovering }
