package situations

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// plainActor does what the contract says of plain actions, and no more: enough
// to test the tests with. The command wires in the real decisions.
type plainActor struct {
	waiting []Intent
	base    map[Key]string // found values of claims
}

func newPlainActor(string, time.Duration) Actor { return &plainActor{base: map[Key]string{}} }

func (p *plainActor) Simulate(_ time.Time, obs *Observation, intents []Intent, _ ActorItems) []ActionOutcome {
	var out []ActionOutcome
	for _, in := range intents {
		p.waiting = slices.DeleteFunc(p.waiting, func(w Intent) bool { return w.Key == in.Key })
	}
	queue := slices.Concat(p.waiting, intents)
	p.waiting = nil
	for _, in := range queue {
		row := in.Row
		for _, r := range obs.Rows {
			if r.Queue == in.Key.Queue {
				row = r
			}
		}
		held := false
		for i := range in.Actions {
			a := &in.Actions[i]
			if held {
				break
			}
			o := p.act(in.Key, in.Edge, a, &row)
			out = append(out, o)
			if o.Result == "blocked" && (a.Verb.Attr() != "") {
				held = true
			}
			attrs, _ := row.Env.(Attributes)
			if a.Verb == VerbPut && o.Result == "done" {
				attrs.PUT = a.Value
				row.Env = attrs
			}
		}
		if held {
			p.waiting = append(p.waiting, in)
		}
	}
	return out
}

func (p *plainActor) act(k Key, edge Edge, a *Action, row *Row) ActionOutcome {
	o := ActionOutcome{Key: k, Edge: edge, Verb: a.Verb, Value: a.Value, Action: fmt.Sprintf("%s %s", a.Verb, a.Value), Result: "done"}
	attrs, _ := row.Env.(Attributes)
	now := map[Verb]string{VerbPut: attrs.PUT, VerbRank: strconv.Itoa(attrs.CLWLRANK), VerbPriority: strconv.Itoa(attrs.CLWLPRTY)}[a.Verb]
	block := func(reason string) ActionOutcome {
		o.Result, o.Reason = "blocked", reason
		return o
	}
	if a.OnlyIf != nil && a.OnlyIf.Eval(row) != True {
		if a.Verb == VerbRedistribute {
			o.Action = "redistribute"
		}
		return block("only_if: " + a.OnlyIf.Explain(row)[0].String())
	}
	switch a.Verb {
	case VerbRevert:
		base, ok := p.base[a.ClaimKey(k)]
		if !ok {
			o.Result, o.Action = "no_change", "revert"
			return o
		}
		delete(p.base, a.ClaimKey(k))
		o.Verb, o.Value, o.Action = VerbPut, base, "put "+base
	case VerbRedistribute:
		o.Action = "redistribute"
		if o.Moved = attrs.CURDEPTH; o.Moved == 0 {
			o.Result = "no_change"
		}
	case VerbPut, VerbRank, VerbPriority:
		if now == a.Value {
			o.Result = "no_change"
			return o
		}
		if a.Value < now && !a.AllowLast && a.Value != "ENABLED" && ReadyElsewhere(row, Lever{Verb: VerbPut}) == 0 {
			return block("last enabled instance")
		}
		if a.Claim {
			if _, ok := p.base[a.ClaimKey(k)]; !ok {
				p.base[a.ClaimKey(k)] = now
			}
		}
	case VerbExec, VerbEvent:
	}
	return o
}
