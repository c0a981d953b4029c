package actions

import (
	"fmt"

	"github.com/situationd/situationd/situations"
)

// do is what a decision says.
type do int

const (
	doHold     do = iota // wait; Holds say for what
	doNoChange           // there is nothing to do, the next action may go
	doAct
)

// change is one attribute to alter, with what the sample found.
type change struct {
	Attr   string `json:"attr"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Base: the attribute is altered on the queue behind a clustered alias.
	Base bool `json:"base,omitempty"`
}

// decision is what an action comes to on the freshest sample.
type decision struct {
	Do      do
	Holds   []Hold
	Reason  string
	Kind    kind
	Changes []change
	// What happens to claims: Own before the act, the rest when it is done or at
	// once where there is nothing to do.
	Own     []string // attributes to claim under Owner; the rest of Changes is only explained
	Join    []string // claimed by another rule of ours already: hold it too
	Drop    []string // somebody else's now, or back as it was
	Release []string // given back by Owner, or left to the others
	Owner   string
}

func held(holds ...Hold) decision { return decision{Do: doHold, Holds: holds} }

func unknown(format string, args ...any) decision {
	return held(Hold{Code: HoldUnknown, Text: fmt.Sprintf(format, args...)})
}

// decide says what to do about one action of an intent now. Pure.
func decide(in *situations.Intent, index int, f *Facts) decision {
	a := &in.Actions[index]
	if !f.Sampled {
		return unknown("waiting for a sample")
	}
	if !f.Present {
		if !in.Row.Absent || changes(a) || a.Verb == situations.VerbRedistribute {
			return unknown("the sample has no row of %s", f.Target.Queue)
		}
		f.Row = in.Row // that it is not there is what the situation is about
	}
	if holds := standing(f); len(holds) > 0 && in.By == "" && (a.Verb != situations.VerbEvent || f.Maintained) {
		return held(holds...)
	}
	if a.OnlyIf != nil {
		if d, ok := onlyIf(a, f); !ok {
			return d
		}
	}
	switch a.Verb {
	case situations.VerbPut, situations.VerbRank, situations.VerbPriority:
		return decideSet(in, a, f)
	case situations.VerbWeight, situations.VerbStartChannel, situations.VerbStopChannel, situations.VerbSuspend, situations.VerbResume:
		return decideOf(in, a, f)
	case situations.VerbRevert:
		if a.All {
			return decideAll(in, f)
		}
		return decideRevert(in, a, f)
	case situations.VerbRedistribute:
		switch {
		case a.Never || f.NeverMove:
			return decision{Do: doNoChange, Reason: "redistribute: never is said for this queue"}
		case f.Cancelled != "":
			return decision{Do: doNoChange, Reason: "cancelled by " + f.Cancelled}
		case f.Person != nil: // of a person's run, too
			return held(standing(f)...)
		}
		return decideOther(in, a, f, kindNeither)
	case situations.VerbEvent:
		return decideOther(in, a, f, kindFree)
	case situations.VerbExec, situations.VerbMQSC, situations.VerbWebhook:
		if _, err := arguments(a, &f.Row); err != nil {
			return unknown("%v", err)
		}
		return decideOther(in, a, f, kindNeither)
	default:
		return decideOther(in, a, f, kindNeither)
	}
}

// onlyIf reports whether an action's condition lets it go on; else the decision.
// It is asked once, when the action's turn comes; moving messages is watched on
// and asks again.
func onlyIf(a *situations.Action, f *Facts) (decision, bool) {
	switch a.OnlyIf.Eval(&f.Row) {
	case situations.True:
		return decision{}, true
	case situations.Unknown:
		return unknown("only_if %s is unknown", a.OnlyIf), false
	default:
		return decision{Do: doNoChange, Reason: fmt.Sprintf("only_if %s is false", a.OnlyIf)}, false
	}
}

func decideOther(in *situations.Intent, a *situations.Action, f *Facts, k kind) decision {
	if holds := guard(f, k, a, Lever{}, in); len(holds) > 0 {
		return held(holds...)
	}
	return decision{Do: doAct, Kind: k}
}

func decideSet(in *situations.Intent, a *situations.Action, f *Facts) decision {
	if g, _ := situations.GroupOf(f.Target.Queue); g != situations.GroupQueue {
		return decideOf(in, a, f)
	}
	attr, owner := attrOf(a.Verb), a.ClaimKey(in.Key).Situation
	cur, ok := current(&f.Row, attr)
	if !ok {
		return unknown("%s has no value in this sample", attr)
	}
	cl := f.Claims.get(f.Target, attr)
	if a.Claim && cl != nil && !cl.Foreign {
		if other := cl.disputes(owner, a.Value); other != nil {
			return held(Hold{Code: HoldConflict, Text: fmt.Sprintf("%s holds %s(%s), and this wants %s", other.Owner, attr, other.Value, a.Value)})
		}
	}
	if a.Claim && cl != nil && cl.Foreign {
		d := decision{Do: doNoChange, Reason: fmt.Sprintf("somebody else set %s(%s), which stays", attr, cur)}
		if in.Edge != situations.EdgeRepeat {
			d.Drop = []string{attr}
		}
		return d
	}
	d := decision{Owner: owner}
	dir := directionOf(attr, cur, a.Value)
	if cur != a.Value {
		d.Changes = append(d.Changes, change{Attr: attr, Before: cur, After: a.Value})
	}
	useq, err := decideUseQ(a, f, dir)
	if err != "" {
		return unknown("%s", err)
	}
	d.Drop = useq.Drop
	d.Changes = append(d.Changes, useq.Changes...)
	if len(d.Changes) == 0 {
		d.Do, d.Reason = doNoChange, fmt.Sprintf("%s(%s) already", attr, cur)
		if a.Claim && cl != nil && !cl.Foreign {
			d.Join = []string{attr}
		}
		return d
	}
	d.Kind = kindRaising
	if dir == lowering || dir == neither && a.Lowest() {
		d.Kind = kindLowering
	}
	if holds := guard(f, d.Kind, a, leverOf(a, f.V6), in); len(holds) > 0 {
		return held(holds...)
	}
	d.Do = doAct
	if a.Claim && cur != a.Value {
		d.Own = append(d.Own, attr)
	}
	d.Own = append(d.Own, useq.Own...)
	return d
}

// decideUseQ adds what `useq: any` asks for: CLWLUSEQ(ANY) goes with a lowering,
// else putters at this queue manager stay with the local instance; what was
// there comes back with the raising of the same lever.
func decideUseQ(a *situations.Action, f *Facts, dir direction) (d decision, problem string) {
	cl := f.Claims.get(f.Target, attrUseQ)
	goesDown := dir == lowering || dir == neither && a.Lowest()
	if cl == nil && (a.UseQ == "" || !goesDown) {
		return d, ""
	}
	cur, ok := current(&f.Row, attrUseQ)
	if !ok {
		return d, attrUseQ + " has no value in this sample"
	}
	base := f.Row.Type == "QALIAS" && f.Row.Base != f.Row.Queue
	switch {
	case goesDown && a.UseQ != "" && cur != useAny:
		d.Changes = []change{{Attr: attrUseQ, Before: cur, After: useAny, Base: base}}
		d.Own = []string{attrUseQ}
	case !goesDown && cl != nil && cl.Foreign:
		d.Drop = []string{attrUseQ}
	case !goesDown && cl != nil && cur != cl.Baseline:
		d.Changes = []change{{Attr: attrUseQ, Before: cur, After: cl.Baseline, Base: base}}
		d.Drop = []string{attrUseQ}
	}
	return d, ""
}

func decideRevert(in *situations.Intent, a *situations.Action, f *Facts) decision {
	owner := a.ClaimKey(in.Key).Situation
	d := decision{Owner: owner, Kind: kindRaising}
	lever := Lever{V6: f.V6}
	claims := f.Claims.of(f.Target, owner)
	if len(claims) == 0 {
		return decision{Do: doNoChange, Reason: "nothing of ours to give back"}
	}
	var reason string
	for _, cl := range claims {
		cur, ok := current(&f.Row, cl.Attr)
		if !ok {
			return unknown("%s has no value in this sample", cl.Attr)
		}
		want := cl.without(owner)
		switch {
		case cl.Foreign:
			d.Drop = append(d.Drop, cl.Attr)
			reason = fmt.Sprintf("somebody else set %s(%s), which stays", cl.Attr, cur)
			continue
		case want == cur:
			d.Release = append(d.Release, cl.Attr)
			continue
		}
		base := cl.Attr == attrUseQ && f.Row.Type == "QALIAS" && f.Row.Base != f.Row.Queue
		d.Changes = append(d.Changes, change{Attr: cl.Attr, Before: cur, After: want, Base: base})
		d.Release = append(d.Release, cl.Attr)
		if directionOf(cl.Attr, cur, want) == lowering {
			d.Kind = kindLowering
			lever = leverOf(&situations.Action{Verb: verbOf(cl.Attr, want), Value: want}, f.V6)
			// What was found is given back if another instance is at least as high: were
			// it to be higher, the last of several daemons could never give back.
			lever.Value--
		}
	}
	if len(d.Changes) == 0 {
		d.Do, d.Reason = doNoChange, reason
		if reason == "" {
			d.Reason = "already as it was found"
		}
		return d
	}
	f.Clusters = clustersIn(d.Changes)
	if holds := guard(f, d.Kind, a, lever, in); len(holds) > 0 {
		return held(holds...)
	}
	d.Do = doAct
	return d
}

// verbOf is the verb that sets an attribute to a value.
func verbOf(attr, value string) situations.Verb {
	switch baseAttr(attr) {
	case attrWeight:
		return situations.VerbWeight
	case attrStatus:
		if value == situations.Stopped {
			return situations.VerbStopChannel
		}
		return situations.VerbStartChannel
	case attrSuspend:
		if value == situations.Yes {
			return situations.VerbSuspend
		}
		return situations.VerbResume
	case attrRank:
		return situations.VerbRank
	case attrPriority:
		return situations.VerbPriority
	default:
		return situations.VerbPut
	}
}
