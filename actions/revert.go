package actions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/situationd/situationd/situations"
)

// givesAllBack says that an intent is a person's word to give a queue back: it
// ends everything else that is under way or waits for it.
func givesAllBack(in *situations.Intent) bool {
	return len(in.Actions) == 1 && in.Actions[0].Verb == situations.VerbRevert && in.Actions[0].All
}

// decideAll gives back everything of ours on a queue, whichever rule wanted it.
// It is a person's wish, so no guard holds it.
func decideAll(in *situations.Intent, f *Facts) decision {
	d := decision{Kind: kindRaising, Owner: in.Key.Situation}
	for _, attr := range attributesOf(f.Target, &f.Row, f.Claims, f.Outs) {
		cl, out := f.Claims.get(f.Target, attr), f.Outs.get(f.Target, attr)
		if cl == nil && out == nil {
			continue
		}
		cur, ok := current(&f.Row, attr)
		if !ok {
			return unknown("%s has no value in this sample", attr)
		}
		ours, before := "", ""
		switch {
		case cl != nil && !cl.Foreign:
			ours, before = cl.Set, cl.Baseline
		case cl == nil:
			ours, before = out.After, out.Before
		}
		d.Drop = append(d.Drop, attr)
		if cur == ours && cur != before {
			base := attr == attrUseQ && f.Row.Type == "QALIAS" && f.Row.Base != f.Row.Queue
			d.Changes = append(d.Changes, change{Attr: attr, Before: cur, After: before, Base: base})
		}
	}
	d.Do = doAct
	if len(d.Changes) == 0 {
		d.Do, d.Reason = doNoChange, "nothing of ours is there any more"
	}
	return d
}

// Revert gives back what this daemon changed: of one queue, or of all with "".
// It returns when that is done, or has failed, or ctx ends: what is not done then
// goes on. ErrEnding comes with what was recorded for the next start, nil if nothing was. What is still standing is for Lowered to tell.
func (e *Engine) Revert(ctx context.Context, by, queue string) ([]Standing, error) {
	e.mu.Lock()
	wanted, ending := e.standing(), e.stopping
	e.mu.Unlock()
	if ending {
		return nil, ErrEnding
	}
	if queue != "" {
		wanted = slices.DeleteFunc(wanted, func(s Standing) bool { return s.Target.Queue != queue })
	}
	now := time.Now()
	var waits []chan struct{}
	e.mu.Lock()
	begun := map[Target]bool{}
	for i := range wanted {
		t := wanted[i].Target
		if begun[t] {
			continue
		}
		begun[t] = true
		en := e.giveBack(t, by, now)
		waits = append(waits, en.over)
	}
	e.mu.Unlock()
	if err := e.trySave(); err != nil {
		return nil, fmt.Errorf("give back: %w", err)
	}
	e.mu.Lock()
	for t := range begun {
		e.kick(e.targetOf(t), now)
	}
	e.mu.Unlock()
	e.poke()
	for _, over := range waits {
		select {
		case <-over:
		case <-e.done:
			return wanted, ErrEnding
		case <-ctx.Done():
			return wanted, ctx.Err()
		}
	}
	return wanted, nil
}

// giveBack makes the intent of a person who wants a queue given back. The lock is held.
func (e *Engine) giveBack(t Target, by string, now time.Time) *entry {
	in := situations.Intent{
		ID:  fmt.Sprintf("%s:%s:revert:%d.1", t.QMgr, t.Queue, now.UnixNano()),
		Key: situations.Key{QMgr: t.QMgr, Queue: t.Queue}, Edge: situations.EdgeManual, At: now.UTC(), By: by,
		Actions: []situations.Action{{Verb: situations.VerbRevert, All: true}}, Row: situations.Row{Queue: t.Queue},
	}
	en := &entry{in: in, after: e.view.taken, over: make(chan struct{})}
	e.asked = append(e.asked, in)
	e.admit(en)
	return en
}
