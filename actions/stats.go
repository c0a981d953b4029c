package actions

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// Count is how often an action came to a result.
type Count struct {
	Verb   situations.Verb
	Result Result
	N      uint64
}

// Stats are the engine's counters.
type Stats struct {
	Counts      []Count // sorted by verb, then result
	Moved       uint64  // messages
	StoreErrors uint64
	Waiting     int            // intents in the outbox
	Held        map[string]int // held actions by code, now
	Running     int
	Claims      int
}

type counters struct {
	counts      map[countKey]uint64
	moved       uint64
	storeErrors uint64
}

type countKey struct {
	verb   situations.Verb
	result Result
}

func newCounters() counters { return counters{counts: map[countKey]uint64{}} }

func (c *counters) add(v situations.Verb, r Result) { c.counts[countKey{v, r}]++ }

// Stats copies the counters out.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := Stats{
		Moved: e.stats.moved, StoreErrors: e.stats.storeErrors, Waiting: len(e.entries),
		Held: map[string]int{}, Claims: len(e.claims.m),
	}
	for _, k := range slices.SortedFunc(maps.Keys(e.stats.counts), func(a, b countKey) int {
		return strings.Compare(string(a.verb)+" "+string(a.result), string(b.verb)+" "+string(b.result))
	}) {
		st.Counts = append(st.Counts, Count{Verb: k.verb, Result: k.result, N: e.stats.counts[k]})
	}
	for _, en := range e.entries {
		if en.running {
			st.Running++
		}
		for _, h := range en.holds {
			st.Held[string(h.Code)]++
		}
	}
	return st
}

// ItemState is what the engine adds to an item's status.
type ItemState struct {
	Intent  string   // the action it is at, blank when nothing is to be done
	Held    []string // codes
	Holds   []Hold
	Reason  string // the holds, or the last failure, for a person
	Failure string // of the last attempt, blank after a good one
	Running bool
	Attempt int
}

// Snapshot is the engine's part of the status.
type Snapshot struct {
	Items   map[situations.Key]ItemState
	Jobs    []Job // sorted by queue manager and queue
	Publish []PeerIntent
}

// Snapshot copies out what the engine is at.
func (e *Engine) Snapshot() Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	snap := Snapshot{Items: make(map[situations.Key]ItemState, len(e.entries))}
	for _, tg := range e.targets {
		for _, en := range tg.entries { // a later intent of an item is the one that counts
			a := en.action()
			if a == nil || en.superseded != "" && !en.running {
				continue
			}
			st := ItemState{Intent: describe(a, &en.in.Row), Held: Codes(en.holds), Holds: slices.Clone(en.holds), Failure: en.failure, Reason: sentence(en.holds), Running: en.running, Attempt: en.p.Attempt}
			if st.Reason == "" {
				st.Reason = en.failure
			}
			snap.Items[en.in.Key] = st
		}
	}
	for _, j := range e.jobs {
		snap.Jobs = append(snap.Jobs, *j)
	}
	slices.SortFunc(snap.Jobs, func(a, b Job) int {
		return strings.Compare(a.Target.QMgr+"\x00"+a.Target.Queue, b.Target.QMgr+"\x00"+b.Target.Queue)
	})
	snap.Publish = e.publishing()
	return snap
}

// Claims lists what this daemon changed and will give back.
func (e *Engine) Claims() []Claim {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.claims.All()
}

// Failure is an action whose last attempt failed.
type Failure struct {
	Key    situations.Key
	Action string
	Reason string
	Tries  int // failed in a row
	Since  time.Time
}

// Failing lists the actions whose last attempt failed, for alerts.
func (e *Engine) Failing() []Failure {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []Failure
	for _, en := range e.entries {
		if a := en.action(); a != nil && en.failure != "" && en.superseded == "" {
			out = append(out, Failure{Key: en.in.Key, Action: describe(a, &en.in.Row), Reason: en.failure, Tries: en.p.Tries, Since: en.in.At})
		}
	}
	slices.SortFunc(out, func(a, b Failure) int {
		return strings.Compare(a.Key.QMgr+"\x00"+a.Key.Queue+"\x00"+a.Key.Situation, b.Key.QMgr+"\x00"+b.Key.Queue+"\x00"+b.Key.Situation)
	})
	return out
}
