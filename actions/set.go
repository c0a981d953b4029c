package actions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

const setTimeout = 30 * time.Second

// settleMost is well above what a change needs to be known in the cluster.
const settleMost = 500 * time.Millisecond

// set alters attributes and reads them back: done means seen, not accepted.
func (e *Engine) set(s *step) {
	var exposed []*situations.Row // of which the peers know, if there are any
	if s.d.Kind == kindLowering && e.opt.Peers != nil {
		e.mu.Lock()
		exposed = e.exposed(s)
		e.mu.Unlock()
	}
	if len(exposed) > 0 && !e.agree(s, exposed) || !e.goes(s) {
		return
	}
	if err := e.begin(s, flightOf(s), func() { e.beginClaims(s) }); err != nil {
		e.mu.Lock()
		e.undoClaims(s)
		e.unpublish(s.tg.Target)
		e.mu.Unlock()
		return
	}
	err := e.alter(s)
	now := time.Now()
	e.mu.Lock()
	if err == nil {
		e.altered(s, now)
	} else if s.d.Kind == kindRaising && !unavailable(err) {
		e.rose(s.tg.Target, now) // it may have been made all the same
	}
	if err == nil {
		// Shown until the others must have seen the lowered instance itself.
		e.publish(s.tg.Target, exposed, publication{until: now.Add(s.en.in.Interval), made: now})
	}
	e.unpublish(s.tg.Target)
	e.mu.Unlock()
	if err != nil {
		e.failed(s, err)
		return
	}
	e.journal(s, resultDone, "")
	e.mu.Lock()
	e.advance(s.en)
	if s.d.Kind == kindLowering {
		s.en.settled = now.Add(settleTime(s.en.in.Interval))
	}
	e.mu.Unlock()
	e.save(s.en)
}

// goes says that a change may still be made; agreeing with the peers takes its time.
func (e *Engine) goes(s *step) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stands(s) {
		return true
	}
	e.refund(s)
	e.unpublish(s.tg.Target)
	return false
}

// settleTime is how long messages stay after the instance was lowered. What ends
// the reader of one instance often ends those of others: their daemons lower in
// the same moment, and what is on its way to them by then arrives where nothing
// is taken any more, which stops the channel or loses messages. A propagation
// later it is known who is still there.
func settleTime(interval time.Duration) time.Duration { return min(interval/2, settleMost) }

// alter sets what the step decided, and reads it back.
func (e *Engine) alter(s *step) error {
	ctx, cancel := e.deadline(s.action(), setTimeout)
	defer cancel()
	for _, onBase := range []bool{false, true} {
		var values []Value
		var attrs []string
		for _, c := range s.d.Changes {
			if c.Base == onBase {
				values = append(values, Value{Attr: c.Attr, Value: c.After})
				attrs = append(attrs, c.Attr)
			}
		}
		if len(values) == 0 {
			continue
		}
		queue, typ := s.tg.Queue, s.row.Type
		if onBase {
			queue, typ = s.row.Base, "QLOCAL"
		}
		if s.en.p.Tries > 0 && !s.awakes() && e.readBack(ctx, queue, typ, attrs, values) == nil {
			continue // the attempt before worked, though it looked as if it had not
		}
		if err := e.opt.Manager.Set(ctx, queue, typ, slices.Concat(values, s.how())); err != nil {
			return err
		}
		if err := e.readBack(ctx, queue, typ, attrs, values); err != nil {
			return err
		}
	}
	return nil
}

// how is the way in which a channel is to be stopped, nothing for the usual one.
func (s *step) how() []Value {
	a := s.action()
	if s.kind == stepPutBack || a.Verb != situations.VerbStopChannel || a.Value == "" {
		return nil
	}
	return []Value{{Attr: "MODE", Value: a.Value}}
}

// awakes says that the step starts a channel that nobody stopped, which reading
// back cannot tell from one that is as it was.
func (s *step) awakes() bool {
	return slices.ContainsFunc(s.d.Changes, func(c change) bool {
		return c.Attr == attrStatus && c.After == situations.Started && c.Before != situations.Stopped
	})
}

func (e *Engine) readBack(ctx context.Context, queue, typ string, attrs []string, want []Value) error {
	got, err := e.opt.Manager.ReadBack(ctx, queue, typ, attrs)
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	var wrong []string
	for _, v := range want {
		if i := slices.IndexFunc(got, func(g Value) bool { return g.Attr == v.Attr }); i < 0 {
			wrong = append(wrong, v.Attr+" has no value")
		} else if got[i].Value != v.Value {
			wrong = append(wrong, fmt.Sprintf("%s(%s)", v.Attr, got[i].Value))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the change was accepted, but read back is %s", strings.Join(wrong, " "))
	}
	return nil
}

// beginClaims remembers what was found before it is changed. The lock is held.
func (e *Engine) beginClaims(s *step) {
	now := s.at.UTC()
	for _, c := range s.d.Changes {
		if slices.Contains(s.d.Own, c.Attr) {
			e.claims.hold(s.tg.Target, c.Attr, s.d.Owner, c.Before, c.After, now)
		} else {
			e.claims.explain(s.tg.Target, c.Attr, c.Before, c.After)
		}
	}
}

// undoClaims says that a change begun was not made. The lock is held.
func (e *Engine) undoClaims(s *step) {
	for _, c := range s.d.Changes {
		e.claims.settle(s.tg.Target, c.Attr, c.Before)
	}
}

// settleClaims applies a decision's claims once changes were made. The lock is held.
func (e *Engine) settleClaims(s *step, made []change) {
	for _, c := range made {
		e.claims.settle(s.tg.Target, c.Attr, c.After)
	}
	for _, attr := range s.d.Join {
		e.claims.join(s.tg.Target, attr, s.d.Owner, s.at.UTC())
	}
	for _, attr := range s.d.Release {
		e.claims.release(s.tg.Target, attr, s.d.Owner)
	}
	for _, attr := range s.d.Drop {
		e.claims.drop(s.tg.Target, attr)
	}
}

// altered notes a change that was read back. The lock is held.
func (e *Engine) altered(s *step, now time.Time) {
	e.settleClaims(s, s.d.Changes)
	s.tg.changed = now
	s.tg.known = s.tg.known[:0:0]
	for _, c := range s.d.Changes {
		s.tg.known = append(s.tg.known, Value{Attr: c.Attr, Value: c.After})
	}
	if s.d.Kind == kindRaising {
		e.rose(s.tg.Target, now)
	}
	e.outs.altered(s, now)
	a := s.action()
	if s.d.Kind == kindLowering && baseAttr(s.d.Changes[0].Attr) == attrOf(a.Verb) && len(e.exposed(s)) > 0 {
		s.en.p.Lowered = append(s.en.p.Lowered, Lowered{Action: s.index, Changes: s.d.Changes, At: now.UTC()})
		s.en.lone = lonely{}
	}
}

// rose starts the dwell time of a target. The lock is held.
func (e *Engine) rose(t Target, now time.Time) {
	e.raised[t] = now.UTC()
	e.unsaved[t] = true
}
