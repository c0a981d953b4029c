package redistribute

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Routes say where a message would go that were put to the queue's name now, not bound.
type Routes struct {
	Here string // the queue manager that messages are taken from
	// Share is the part of many messages that each queue manager gets, by the
	// workload algorithm; empty if a put would fail.
	Share  map[string]float64
	Reason string // what a put would get
	// Remedy says what takes the local instance out of the balancing.
	Remedy string
}

// Forecast says what a run that began now would move, where to, and what would
// stay and why. Nothing moved for it. On a queue that nobody else works on
//
//	Depth = Movable + Skipped + Uncommitted + Expired
type Forecast struct {
	// Prevents is why no run would begin, nil if one would. The counts are then of
	// what could move if that were not so; nothing has a destination.
	Prevents    *End
	Depth       int
	Movable     int
	To          map[string]int // movable messages by queue manager, as the shares allot them
	Share       map[string]float64
	Skipped     Skipped
	Uncommitted int // puts, and what a browser has locked; what is got and not committed is not in the depth
	Expired     int // and still there
}

// Prevented says what keeps a run from beginning, from a look and the routes:
// what Begin says, and that messages would land where they come from.
func Prevented(rules Rules, s State, r Routes) *End {
	if end := refusal(rules, s); end != nil {
		return end
	}
	if s.Readers > 0 {
		return &End{Outcome: Reader, Reason: "an application has the queue open for input"}
	}
	if end := halt(s); end != nil {
		return end
	}
	if part := r.Share[r.Here]; part > 0 {
		text := fmt.Sprintf("messages put here land here again (%.3g %% of them)", part*100)
		if r.Remedy != "" {
			text += "; " + r.Remedy
		}
		return &End{Outcome: Refused, Reason: text}
	}
	if len(r.Share) == 0 {
		return &End{Outcome: Waiting, Reason: "nobody would get a message: " + cmp.Or(r.Reason, "no instance can be chosen")}
	}
	return nil
}

// Allot shares n messages out: each gets its part, and what rounding leaves over
// goes to those who lost most by it.
func Allot(n int, share map[string]float64) map[string]int {
	type part struct {
		name string
		lost float64
	}
	out := make(map[string]int, len(share))
	parts := make([]part, 0, len(share))
	left := n
	for name, p := range share {
		exact := p * float64(n)
		out[name] = int(math.Floor(exact))
		left -= out[name]
		parts = append(parts, part{name, exact - math.Floor(exact)})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(a.name, b.name)) })
	for i := 0; i < len(parts) && left > 0; i++ {
		out[parts[i].name]++
		left--
	}
	return out
}
