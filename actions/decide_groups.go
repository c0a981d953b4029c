package actions

import (
	"fmt"

	"github.com/situationd/situationd/situations"
)

// decideOf decides about the levers of channels and of the queue manager, which
// may have several values at once: one for each cluster.
func decideOf(in *situations.Intent, a *situations.Action, f *Facts) decision {
	attrs, hold := leversOf(a, f)
	if hold != nil {
		return held(*hold)
	}
	d := decision{Owner: a.ClaimKey(in.Key).Situation, Kind: kindRaising}
	var already string
	for _, attr := range attrs {
		cur, ok := current(&f.Row, attr)
		if !ok {
			return unknown("%s has no value in this sample", attr)
		}
		cl := f.Claims.get(f.Target, attr)
		if a.Claim && cl != nil && !cl.Foreign {
			if other := cl.disputes(d.Owner, a.Wanted()); other != nil {
				return held(Hold{Code: HoldConflict, Text: fmt.Sprintf("%s holds %s(%s), and this wants %s", other.Owner, attr, other.Value, a.Wanted())})
			}
		}
		if a.Claim && cl != nil && cl.Foreign {
			already = fmt.Sprintf("somebody else set %s(%s), which stays", attr, cur)
			if in.Edge != situations.EdgeRepeat {
				d.Drop = append(d.Drop, attr)
			}
			continue
		}
		before := cur
		if a.Verb == situations.VerbStartChannel {
			before = idle(&f.Row, cur)
		}
		if before == a.Wanted() {
			already = fmt.Sprintf("%s(%s) already", attr, shown(&f.Row, attr, cur))
			if a.Claim && cl != nil && !cl.Foreign {
				d.Join = append(d.Join, attr)
			}
			continue
		}
		d.Changes = append(d.Changes, change{Attr: attr, Before: before, After: a.Wanted()})
		if directionOf(attr, cur, a.Wanted()) == lowering {
			d.Kind = kindLowering
		}
		if a.Claim && cur != a.Wanted() {
			d.Own = append(d.Own, attr)
		}
	}
	if len(d.Changes) == 0 {
		d.Do, d.Reason = doNoChange, already
		return d
	}
	f.Clusters = clustersIn(d.Changes)
	if holds := guard(f, d.Kind, a, leverOf(a, f.V6), in); len(holds) > 0 {
		return held(holds...)
	}
	d.Do = doAct
	return d
}

// leversOf are the attributes that an action sets, or why there are none.
func leversOf(a *situations.Action, f *Facts) ([]string, *Hold) {
	attr := attrOf(a.Verb)
	switch {
	case attr == attrStatus:
		return []string{attr}, nil
	case attr != attrSuspend:
		if env, ok := f.Row.Env.(situations.ChannelAttributes); ok && !receiver(&f.Row) {
			return nil, &Hold{Code: HoldChannelType, Text: fmt.Sprintf("%s is a %s: the %s that counts is that of the CLUSRCVR, at the queue manager that it leads to", f.Target.Queue, env.CHLTYPE, a.Verb)}
		}
		return []string{attr}, nil
	}
	clusters := a.Clusters
	if len(clusters) == 0 {
		clusters = f.Row.Clusters
	}
	if len(clusters) == 0 {
		return nil, &Hold{Code: HoldUnknown, Text: f.Target.QMgr + " is in no cluster"}
	}
	attrs := make([]string, len(clusters))
	for i, c := range clusters {
		attrs[i] = suspendIn(c)
	}
	return attrs, nil
}

// idle is what a channel that was not stopped and does not work does: starting
// it is worth while. cur is what current says of it.
func idle(row *situations.Row, cur string) string {
	env, ok := row.Env.(situations.ChannelAttributes)
	if !ok || cur == situations.Stopped || working(env.STATUS) {
		return cur
	}
	return env.STATUS
}

// shown is a value as DISPLAY has it.
func shown(row *situations.Row, attr, cur string) string {
	if env, ok := row.Env.(situations.ChannelAttributes); ok && attr == attrStatus {
		return env.STATUS
	}
	return cur
}
