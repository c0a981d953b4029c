package actions

import (
	"strconv"

	"github.com/situationd/situationd/situations"
)

// Attributes that a lever moves.
const (
	attrPut      = "PUT"
	attrRank     = "CLWLRANK"
	attrPriority = "CLWLPRTY"
	attrUseQ     = "CLWLUSEQ"

	enabled  = "ENABLED"
	disabled = "DISABLED"
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

// LeverOf finds the lever of an action list: its first put, rank or priority.
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

func attrOf(v situations.Verb) string {
	switch v {
	case situations.VerbPut:
		return attrPut
	case situations.VerbRank:
		return attrRank
	case situations.VerbPriority:
		return attrPriority
	default:
		return ""
	}
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
	if attr == attrPut {
		if to == disabled {
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
	env, isAttributes := row.Env.(situations.Attributes)
	if !isAttributes {
		return "", false
	}
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
	return value, value != ""
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
