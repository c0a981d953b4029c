package actions

import (
	"cmp"
	"slices"
	"time"

	"github.com/situationd/situationd/situations"
)

// flightOf is what must be stored of a step to finish it after a restart.
func flightOf(s *step) *Flight {
	return &Flight{
		At: time.Now().UTC(), Kind: s.d.Kind, Owner: s.d.Owner, Changes: s.d.Changes,
		Drop: s.d.Drop, Release: s.d.Release, Guard: s.kind == stepPutBack,
		Moving: s.action().Verb == situations.VerbRedistribute, Index: s.index,
	}
}

// decision is the decision that a flight was made from.
func (f *Flight) decision() decision {
	return decision{Do: doAct, Kind: f.Kind, Owner: f.Owner, Changes: f.Changes, Drop: f.Drop, Release: f.Release}
}

// resume closes the attempts at programs and moves that the last run of the
// daemon left open: nobody knows how they ended. A change is resolved by the
// first sample.
func (e *Engine) resume() {
	e.mu.Lock()
	var open []*step
	for _, en := range e.entries {
		if e.opt.Manual && !en.byHand() {
			continue
		}
		if en.p.Flight != nil && len(en.p.Flight.Changes) == 0 {
			open = append(open, e.flown(en))
		}
	}
	e.mu.Unlock()
	slices.SortFunc(open, func(a, b *step) int { return cmp.Compare(a.en.seq, b.en.seq) })
	for _, s := range open {
		if e.closed(s) {
			continue
		}
		flight := s.en.p.Flight
		reason := "the daemon ended while messages were moved"
		if !flight.Moving {
			reason = "the daemon ended while " + running(s.action().Verb)
			if s.action().Verb == situations.VerbExec && e.opt.Programs != nil {
				e.opt.Programs.End(s.attempt(), flight.Program)
			}
			e.mu.Lock()
			s.tg.program = time.Now()
			e.mu.Unlock()
		}
		e.doubt(s, reason)
	}
}

// closed takes over how an attempt ended that the journal knows of.
func (e *Engine) closed(s *step) bool {
	result := e.endOf(s)
	if result == "" {
		return false
	}
	e.mu.Lock()
	s.en.p.Flight = nil
	if result == resultDone && !s.again {
		e.advance(s.en)
	}
	e.mu.Unlock()
	e.save(s.en)
	return true
}

// flown makes the step of a flight again. The lock is held.
func (e *Engine) flown(en *entry) *step {
	f := en.p.Flight
	s := &step{tg: e.targets[en.target], en: en, index: f.Index, at: f.At, d: f.decision(), again: f.Index < en.p.Next}
	if f.Guard {
		s.kind = stepPutBack
	}
	return s
}

// doubt closes an attempt whose end is not known. What it was to do is decided again.
func (e *Engine) doubt(s *step, reason string) {
	e.journal(s, resultInDoubt, reason)
	e.mu.Lock()
	s.en.p.Flight = nil
	s.en.told = s.en.told || s.en.byHand()
	e.mu.Unlock()
	e.save(s.en)
}

// nextFlight resolves a change that was begun before a restart by what the sample shows.
func (e *Engine) nextFlight(tg *target, en *entry, now time.Time) *step {
	f := e.facts(tg, en, &en.in.Actions[en.p.Flight.Index], now)
	if !f.Sampled || !f.Present {
		return nil
	}
	made := !slices.ContainsFunc(en.p.Flight.Changes, func(c change) bool { return !made(&f.Row, c) })
	s := e.flown(en)
	s.row = f.Row
	s.kind = stepDoubt
	switch e.endOf(s) {
	case resultDone:
		s.kind, s.told = stepAdopt, true
		if !made { // somebody changed it since, and it is his
			s.d.Changes, s.kind = nil, stepClosed
		}
	case resultFailed, resultInDoubt:
		if s.kind, s.told = stepClosed, true; made {
			s.kind = stepAdopt
		}
	default:
		if made {
			s.kind = stepAdopt
		}
	}
	return s
}

// adopt takes a change that was made before a restart as done.
func (e *Engine) adopt(s *step) {
	guard := s.en.p.Flight.Guard
	if guard {
		s.kind = stepPutBack
	}
	if !s.told || e.endOf(s) != resultDone {
		e.journal(s, resultDone, "found after a restart")
	}
	e.mu.Lock()
	e.altered(s, time.Now())
	if guard {
		e.deferAgain(s.en, s.index)
	} else {
		e.advance(s.en)
	}
	e.mu.Unlock()
	e.save(s.en)
}
