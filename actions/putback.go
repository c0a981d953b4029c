package actions

import (
	"slices"
	"time"
)

// putBack takes a lowering of ours back since nobody is left, and puts the
// intent back before it: it is decided again on every sample.
func (e *Engine) putBack(s *step) {
	e.mu.Lock()
	l := s.en.p.Lowered[0]
	s.d = decision{Kind: kindRaising, Owner: s.action().ClaimKey(s.en.in.Key).Situation}
	for _, c := range l.Changes {
		s.d.Changes = append(s.d.Changes, change{Attr: c.Attr, Before: c.After, After: c.Before, Base: c.Base})
		s.d.Release = append(s.d.Release, c.Attr)
	}
	e.mu.Unlock()
	if err := e.begin(s, flightOf(s), func() { e.beginClaims(s) }); err != nil {
		return // a raising goes on without the journal, so this does not happen
	}
	if err := e.alter(s); err != nil {
		if !unavailable(err) {
			e.mu.Lock()
			e.rose(s.tg.Target, time.Now())
			e.mu.Unlock()
		}
		e.failed(s, err)
		return
	}
	now := time.Now()
	e.mu.Lock()
	e.altered(s, now)
	e.mu.Unlock()
	e.journal(s, resultDone, "no other instance of the queue could be chosen")
	e.mu.Lock()
	e.deferAgain(s.en, s.index)
	e.mu.Unlock()
	e.save(s.en)
}

// deferAgain puts an intent back before the lowering that was taken back: it is
// held, and decided again on every sample. The lock is held.
func (e *Engine) deferAgain(en *entry, index int) {
	en.p.Lowered = slices.DeleteFunc(en.p.Lowered, func(l Lowered) bool { return l.Action == index })
	en.putBack = len(en.p.Lowered) > 0
	en.lone = lonely{}
	en.p.Next = min(en.p.Next, index)
	en.p.Attempt, en.p.Tries, en.p.Flight, en.reported, en.failure = 0, 0, nil, "", ""
	en.retryAt, en.move = time.Time{}, moveMemory{}
}
