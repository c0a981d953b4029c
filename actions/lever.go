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

// ReadyElsewhere counts the other instances that the workload algorithm could
// choose from here and that the lever leaves above ours: put-enabled, of the top
// rank, not suspended, channel not RETRYING, PAUSED or STOPPED; for rank and
// priority only those strictly higher than the value the lever sets. It is
// READY_ELSEWHERE of the formulas. Whether somebody reads there is not asked.
//
// It is right only if row.InstancesKnown.
func ReadyElsewhere(row situations.Row, lever Lever) int {
	in := row.Instances
	after := func(i *situations.Instance) (put bool, rank, prty int) {
		put, rank, prty = i.Put, i.ClwlRank, i.ClwlPrty
		if i.Local {
			switch lever.Verb {
			case situations.VerbRank:
				rank = lever.Value
			case situations.VerbPriority:
				prty = lever.Value
			default:
				put = false
			}
		}
		return put, rank, prty
	}
	alive := func(i *situations.Instance) bool {
		put, _, _ := after(i)
		return put || !lever.V6
	}
	chRank, rank := top(in, alive, func(i *situations.Instance) (int, int) {
		_, r, _ := after(i)
		return i.ChannelRank, r
	})
	usable := func(i *situations.Instance) bool {
		put, r, _ := after(i)
		return put && i.ChannelRank == chRank && r == rank && !i.Suspended && i.Reachable
	}
	chPrty, prty := 0, 0
	if lever.Verb == situations.VerbPriority {
		chPrty, prty = top(in, usable, func(i *situations.Instance) (int, int) {
			_, _, p := after(i)
			return i.ChannelPrty, p
		})
	}
	n := 0
	for k := range in {
		i := &in[k]
		if i.Local || !usable(i) {
			continue
		}
		switch lever.Verb {
		case situations.VerbRank:
			if i.ClwlRank <= lever.Value {
				continue
			}
		case situations.VerbPriority:
			if i.ChannelPrty != chPrty || i.ClwlPrty != prty || i.ClwlPrty <= lever.Value {
				continue
			}
		}
		n++
	}
	return n
}

// top gives the highest channel value among the instances that ok keeps, and the
// highest queue value among those that have it: two filters, one after the other.
func top(in []situations.Instance, ok func(*situations.Instance) bool, of func(*situations.Instance) (channel, queue int)) (channel, queue int) {
	channel, queue = -1, -1
	for k := range in {
		if !ok(&in[k]) {
			continue
		}
		c, q := of(&in[k])
		if c > channel {
			channel, queue = c, q
		} else if c == channel && q > queue {
			queue = q
		}
	}
	return channel, queue
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
