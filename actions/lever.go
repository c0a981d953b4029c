package actions

import (
	"slices"
	"strconv"
	"strings"

	"github.com/situationd/situationd/situations"
)

// Attributes that a lever moves.
const (
	attrPut      = situations.AttrPut
	attrRank     = situations.AttrRank
	attrPriority = situations.AttrPriority
	attrWeight   = situations.AttrWeight
	attrStatus   = situations.AttrStatus
	attrSuspend  = situations.AttrSuspend // of one cluster: SUSPEND(C1)
	attrUseQ     = "CLWLUSEQ"

	enabled  = situations.Enabled
	disabled = situations.Disabled
	useAny   = "ANY"
)

// Lever is what a rule turns down to take an instance out of the balancing, and
// the order of the workload algorithm that decides what that does.
type Lever struct {
	situations.Lever
	// V6 is the order before MQ 8: instances that are not put-enabled leave
	// before ranks are compared.
	V6 bool
}

// LeverOf finds the lever of an action list: the first that a queue has.
// Without one the instances count that could be chosen without ours.
func LeverOf(actions []situations.Action, v6 bool) Lever {
	for i := range actions {
		if attrOf(actions[i].Verb) != "" {
			return leverOf(&actions[i], v6)
		}
	}
	return Lever{V6: v6}
}

func leverOf(a *situations.Action, v6 bool) Lever {
	l := Lever{Lever: situations.Lever{Verb: a.Verb}, V6: v6}
	if n, err := strconv.Atoi(a.Value); err == nil {
		l.Value = n // put has no number
	}
	return l
}

// ReadyElsewhere is READY_ELSEWHERE of the formulas for a lever: how many other
// instances the workload algorithm could choose from here once the lever is
// down, for rank and priority only those strictly above ours. Whether somebody
// reads there is not asked. It is right only if row.InstancesKnown.
func ReadyElsewhere(row situations.Row, lever Lever) int {
	row.V6 = row.V6 || lever.V6
	return situations.ReadyElsewhere(&row, lever.Lever)
}

func attrOf(v situations.Verb) string { return v.Attr() }

// baseAttr is an attribute without the cluster that its value is for.
func baseAttr(attr string) string {
	base, _, _ := strings.Cut(attr, "(")
	return base
}

// suspendIn is SUSPEND of the queue manager in one cluster.
func suspendIn(cluster string) string { return attrSuspend + "(" + cluster + ")" }

// clusterIn is the cluster that such an attribute is for, empty for every other.
func clusterIn(attr string) string {
	_, cluster, ok := strings.Cut(attr, "(")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(cluster, ")")
}

// attributesOf are the attributes of a target that levers set; row may be nil.
// Those of a queue manager are one for each cluster, among them some that it
// has left but that something of ours is still kept about.
func attributesOf(t Target, row *situations.Row, c *Claims, o *outs) []string {
	switch g, _ := situations.GroupOf(t.Queue); g {
	case situations.GroupChannel:
		return []string{attrWeight, attrRank, attrPriority, attrStatus}
	case situations.GroupQMgr:
		var out []string
		if row != nil {
			for _, cluster := range row.Clusters {
				out = append(out, suspendIn(cluster))
			}
		}
		if c != nil {
			out = append(out, keptOf(c.m, t)...)
		}
		if o != nil {
			out = append(out, keptOf(o.m, t)...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	default:
		return []string{attrPut, attrRank, attrPriority, attrUseQ}
	}
}

func keptOf[V any](m map[claimKey]V, t Target) []string {
	var out []string
	for k := range m {
		if k.target == t {
			out = append(out, k.attr)
		}
	}
	return out
}

// direction is how a change moves an instance in the balancing.
type direction int

const (
	neither direction = iota
	lowering
	raising
)

// directionOf compares two values of one attribute.
func directionOf(attr, from, to string) direction {
	if attr == attrUseQ || from == to {
		return neither
	}
	switch baseAttr(attr) {
	case attrPut, attrStatus, attrSuspend:
		if to == disabled || to == situations.Stopped || to == situations.Yes {
			return lowering
		}
		return raising
	}
	f, ferr := strconv.Atoi(from)
	t, terr := strconv.Atoi(to)
	if ferr != nil || terr != nil {
		return neither
	}
	if t < f {
		return lowering
	}
	return raising
}

// current reads an attribute out of a row; ok is false where the sample has no value.
func current(row *situations.Row, attr string) (value string, ok bool) {
	for _, m := range row.Missing {
		if m == attr {
			return "", false
		}
	}
	switch env := row.Env.(type) {
	case situations.Attributes:
		value = currentOfQueue(&env, attr)
	case situations.ChannelAttributes:
		value = currentOfChannel(&env, attr)
	case situations.QMgrAttributes:
		value = currentOfQMgr(row, &env, attr)
	}
	return value, value != ""
}

func currentOfQueue(env *situations.Attributes, attr string) (value string) {
	switch attr {
	case attrPut:
		value = env.PUT
	case attrRank:
		value = strconv.Itoa(env.CLWLRANK)
	case attrPriority:
		value = strconv.Itoa(env.CLWLPRTY)
	case attrUseQ:
		value = env.CLWLUSEQ
	}
	return value
}

// currentOfChannel knows of STATUS only whether the channel was stopped: what it
// does of its own is nobody's change.
func currentOfChannel(env *situations.ChannelAttributes, attr string) string {
	switch attr {
	case attrWeight:
		return strconv.Itoa(env.CLWLWGHT)
	case attrRank:
		return strconv.Itoa(env.CLWLRANK)
	case attrPriority:
		return strconv.Itoa(env.CLWLPRTY)
	case attrStatus:
		switch env.STATUS {
		case "":
			return ""
		case "STOPPED", "STOPPING":
			return situations.Stopped
		}
		return situations.Started
	}
	return ""
}

func currentOfQMgr(row *situations.Row, env *situations.QMgrAttributes, attr string) string {
	cluster := clusterIn(attr)
	switch {
	case env.SUSPEND == "" || cluster != "" && !slices.Contains(row.Clusters, cluster):
		return ""
	case cluster == "":
		return env.SUSPEND
	case slices.Contains(row.Suspended, cluster):
		return situations.Yes
	}
	return situations.No
}

// working says that a channel is at work, so that starting it changes nothing.
func working(status string) bool {
	switch status {
	case "RUNNING", "STARTING", "BINDING", "INITIALIZING", "REQUESTING", "SWITCHING":
		return true
	}
	return false
}

// made says that the sample shows a change of ours. A channel that was not
// stopped is started when it does more than it did before.
func made(row *situations.Row, c change) bool {
	if env, ok := row.Env.(situations.ChannelAttributes); ok && c.Attr == attrStatus && c.After == situations.Started && c.Before != situations.Stopped {
		return env.STATUS != c.Before && currentOfChannel(&env, attrStatus) == situations.Started
	}
	value, ok := current(row, c.Attr)
	return ok && value == c.After
}

// triggered says that the queue is a trigger queue: without a reader is how it
// waits for work, so it is left alone.
func triggered(row *situations.Row) bool {
	env, ok := row.Env.(situations.Attributes)
	if !ok || env.TRIGGER != "YES" {
		return false
	}
	for _, m := range row.Missing {
		if m == "TRIGGER" {
			return false
		}
	}
	return true
}
