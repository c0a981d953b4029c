package actions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// Out is a lowering of ours that stands: what was there before, and who wanted it.
type Out struct {
	Target    Target    `json:"target"`
	Attr      string    `json:"attr"`
	Before    string    `json:"before"`
	After     string    `json:"after"`
	Situation string    `json:"situation"`
	Action    string    `json:"action"` // in the journal's words
	ID        string    `json:"id"`     // of its lines in the journal
	At        time.Time `json:"at"`
	// Program: a program that a rule ran was at work when it changed.
	Program bool `json:"program,omitempty"`
	// Restored: the state was lost, and the journal tells of it.
	Restored bool `json:"restored,omitempty"`
}

// outs are all standing lowerings of a daemon, claimed or not.
type outs struct {
	m     map[claimKey]*Out
	dirty map[claimKey]struct{}
}

func newOuts(stored []Out) outs {
	o := outs{m: make(map[claimKey]*Out, len(stored)), dirty: map[claimKey]struct{}{}}
	for i := range stored {
		out := stored[i]
		o.m[claimKey{out.Target, out.Attr}] = &out
	}
	return o
}

func (o *outs) get(t Target, attr string) *Out { return o.m[claimKey{t, attr}] }

// altered notes what a change of ours did.
func (o *outs) altered(s *step, now time.Time) {
	out := Out{
		Target: s.tg.Target, Situation: s.en.in.Key.Situation,
		Action: describe(s.action(), &s.row), ID: s.en.id(s.index), At: now.UTC(),
	}
	for _, c := range s.d.Changes {
		o.changed(c, out)
	}
}

// changed follows one change; out says whose it is. A lowering stands until
// something raises the attribute again to what it was.
func (o *outs) changed(c change, out Out) {
	k := claimKey{out.Target, c.Attr}
	switch old := o.m[k]; directionOf(c.Attr, c.Before, c.After) {
	case lowering:
		o.lower(c, out)
	case raising:
		if old != nil && directionOf(c.Attr, c.After, old.Before) != raising {
			o.drop(out.Target, c.Attr)
		} else if old != nil {
			old.After = c.After
			o.dirty[k] = struct{}{}
		}
	case neither:
	}
}

func (o *outs) lower(c change, out Out) {
	k := claimKey{out.Target, c.Attr}
	out.Attr, out.Before, out.After = c.Attr, c.Before, c.After
	if old := o.m[k]; old != nil && old.After == c.Before {
		out.Before = old.Before // lowered further: what was there before all
	}
	o.put(k, &out)
}

func (o *outs) put(k claimKey, out *Out) {
	o.m[k] = out
	o.dirty[k] = struct{}{}
}

func (o *outs) drop(t Target, attr string) {
	k := claimKey{t, attr}
	if _, ok := o.m[k]; ok {
		delete(o.m, k)
		o.dirty[k] = struct{}{}
	}
}

// observe compares with a sample that was asked for while nothing of ours ran.
// A value that is not ours any more is somebody else's. What was lowered while a
// program of ours ran is that program's doing.
func (o *outs) observe(tg *target, attr, value string, ours bool) {
	k := claimKey{tg.Target, attr}
	seen := tg.seen[attr]
	if tg.seen == nil {
		tg.seen = map[string]string{}
	}
	tg.seen[attr] = value
	out := o.m[k]
	switch {
	case out != nil && out.After != value:
		o.drop(tg.Target, attr)
	case out == nil && ours && seen != "" && directionOf(attr, seen, value) == lowering && tg.ran != nil:
		by := *tg.ran
		by.Target, by.Attr, by.Before, by.After, by.Program = tg.Target, attr, seen, value, true
		o.put(k, &by)
	}
}

func (o *outs) flush() (put, del []Out) {
	for k := range o.dirty {
		if out := o.m[k]; out != nil {
			put = append(put, *out)
		} else {
			del = append(del, Out{Target: k.target, Attr: k.attr})
		}
	}
	clear(o.dirty)
	return put, del
}

func (o *outs) redo(put, del []Out) {
	for _, list := range [][]Out{put, del} {
		for i := range list {
			o.dirty[claimKey{list[i].Target, list[i].Attr}] = struct{}{}
		}
	}
}

// Standing is what a daemon changed and what it would give back.
type Standing struct {
	Out
	// Claimed: the rule gives it back by itself when its situation is over.
	Claimed bool
	Rules   []string // that hold it, or the one that set it
}

// Lowered lists what this daemon changed and would give back, by queue and attribute.
func (e *Engine) Lowered() []Standing {
	e.mu.Lock()
	defer e.mu.Unlock()
	return standingOf(e.claims.All(), e.outs.m)
}

// Touched is when an action or a program of ours last ended on a queue, zero if
// a sample was taken since.
func (e *Engine) Touched(queue string) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	tg := e.targets[Target{QMgr: e.opt.QMgr, Queue: queue}]
	switch {
	case tg == nil:
		return time.Time{}
	case tg.program.After(tg.changed):
		return tg.program
	}
	return tg.changed
}

// Lowered lists what the daemon whose state this is changed and would give back,
// and what it was lowering when it died: nobody has looked yet whether that was made.
func (s *Stored) Lowered() []Standing {
	outs := newOuts(s.Out)
	for i := range s.Intents {
		in := &s.Intents[i].Intent
		outs.underWay(Target{QMgr: in.Key.QMgr, Queue: in.Key.Queue}, in, s.Intents[i].Progress.Flight)
	}
	return standingOf(s.Claims, outs.m)
}

// standing is what a person who wants everything back means. Beside a daemon that
// died that is also what was under way; a daemon that runs ends that itself. The
// lock is held.
func (e *Engine) standing() []Standing {
	if !e.opt.Manual {
		return standingOf(e.claims.All(), e.outs.m)
	}
	outs := outs{m: maps.Clone(e.outs.m), dirty: map[claimKey]struct{}{}}
	for _, en := range e.entries {
		outs.underWay(en.target, &en.in, en.p.Flight)
	}
	return standingOf(e.claims.All(), outs.m)
}

// underWay adds the lowering that an attempt had begun.
func (o *outs) underWay(t Target, in *situations.Intent, f *Flight) {
	if f == nil || f.Index >= len(in.Actions) {
		return
	}
	for _, c := range f.Changes {
		if directionOf(c.Attr, c.Before, c.After) == lowering && o.get(t, c.Attr) == nil {
			o.put(claimKey{t, c.Attr}, &Out{
				Target: t, Attr: c.Attr, Before: c.Before, After: c.After, Situation: in.Key.Situation,
				Action: describe(&in.Actions[f.Index], &in.Row), ID: fmt.Sprintf("%s.%d", in.ID, f.Index), At: f.At,
			})
		}
	}
}

// standingOf joins claims and lowerings.
func standingOf(claims []Claim, outs map[claimKey]*Out) []Standing {
	var list []Standing
	done := map[claimKey]bool{}
	for i := range claims {
		c := &claims[i]
		if c.Foreign || c.Set == c.Baseline {
			continue
		}
		k := claimKey{c.Target, c.Attr}
		done[k] = true
		s := Standing{Claimed: true, Out: Out{Target: c.Target, Attr: c.Attr, Before: c.Baseline, After: c.Set}}
		if out := outs[k]; out != nil {
			s.Out = *out
			s.Before = c.Baseline
		}
		for _, h := range c.Holders {
			s.Rules = append(s.Rules, h.Owner)
			if s.At.IsZero() {
				s.At, s.Situation = h.Since, h.Owner
			}
		}
		list = append(list, s)
	}
	for k, out := range outs {
		if !done[k] {
			list = append(list, Standing{Out: *out, Rules: []string{out.Situation}})
		}
	}
	slices.SortFunc(list, func(a, b Standing) int {
		return strings.Compare(a.Target.QMgr+"\x00"+a.Target.Queue+"\x00"+a.Attr, b.Target.QMgr+"\x00"+b.Target.Queue+"\x00"+b.Attr)
	})
	return list
}
