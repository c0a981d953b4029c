package actions

import (
	"github.com/situationd/situationd/situations"
)

// Rename has what an item's situation started and holds go on under its new
// name. The store knows already.
func (e *Engine) Rename(from, to situations.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, en := range e.entries {
		if en.in.Key != from {
			continue
		}
		en.in.Key = to
		if en.p.Flight != nil && en.p.Flight.Owner == from.Situation {
			en.p.Flight.Owner = to.Situation
			e.changed[en] = true
		}
	}
	t := Target{QMgr: from.QMgr, Queue: from.Queue}
	e.claims.rename(t, from.Situation, to.Situation)
	for _, attr := range attributesOf(t, nil, nil, &e.outs) {
		if out := e.outs.get(t, attr); out != nil && out.Situation == from.Situation {
			out.Situation = to.Situation
			e.outs.dirty[claimKey{t, attr}] = struct{}{}
		}
	}
	e.poke()
}

// rename lets a claim's holder be called otherwise.
func (c *Claims) rename(t Target, from, to string) {
	for _, attr := range attributesOf(t, nil, c, nil) {
		cl := c.get(t, attr)
		if cl == nil {
			continue
		}
		if i := cl.holder(from); i >= 0 {
			cl.Holders[i].Owner = to
			c.touch(cl)
		}
	}
}

// Suppress leaves a line in the journal for what a maintenance window keeps
// back. It is decided anew when the window is over.
func (e *Engine) Suppress(intents []situations.Intent) {
	for i := range intents {
		in := &intents[i]
		s := &step{en: &entry{in: *in}, row: in.Row, at: in.At}
		e.journal(s, resultBlocked, "a maintenance window is open")
	}
}
