package situations

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"
)

// State is what must be known of an item beyond one sample. The zero value is an
// item without history, which has no record.
type State struct {
	Phase Phase
	// Count of scheduled good samples and Held time toward the next phase.
	Count    int
	Held     time.Duration
	LastGood time.Time // while something is being confirmed, else zero
	Opened   time.Time // when it opened, zero while it is not open
	// Acted: the open edge was handed out and the clear edge was not yet.
	Acted     bool
	LastActed time.Time
	// Epoch and Sequence make intent ids that never come again.
	Epoch    int64
	Sequence int
	Gone     int
	History  uint32 // confirmed changes among the last good samples, newest lowest
	Flapping bool
	// Disarmed: until ended it; it opens again only after its formula was false.
	Disarmed bool
	// Claim is the name under which actions may hold a found value, else empty.
	Claim string
	// Fingerprint of the formula that the phase was confirmed with.
	Fingerprint uint64
	// Cluster, Summary and Description are the alert as it was when it opened,
	// for as long as no sample says better.
	Cluster     string
	Summary     string
	Description string
}

// pristine reports whether forgetting the state would change nothing. An epoch
// alone is no history: the next one is later.
func (s *State) pristine() bool {
	return s.Phase == Inactive && !s.Acted && s.History == 0 && !s.Flapping && !s.Disarmed && s.Gone == 0 && s.Claim == ""
}

// worthStoring reports whether a change must be recorded before anything else
// happens. History alone ages with every sample; it is stored along with the next
// change, since a little too much of it does no harm.
func worthStoring(before, after *State) bool {
	a, b := *before, *after
	a.History, b.History = 0, 0
	return a != b
}

// stateVersion is the version of the stored form.
const stateVersion = 1

// storedState is a State in the store: times in nanoseconds, so that encoding
// the same state gives the same bytes.
type storedState struct {
	Version     int    `json:"v"`
	Phase       Phase  `json:"phase,omitempty"`
	Count       int    `json:"count,omitempty"`
	Held        int64  `json:"held,omitempty"`
	LastGood    int64  `json:"good,omitempty"`
	Opened      int64  `json:"opened,omitempty"`
	Acted       bool   `json:"acted,omitempty"`
	LastActed   int64  `json:"acted_at,omitempty"`
	Epoch       int64  `json:"epoch,omitempty"`
	Sequence    int    `json:"seq,omitempty"`
	Gone        int    `json:"gone,omitempty"`
	History     uint32 `json:"hist,omitempty"`
	Flapping    bool   `json:"flap,omitempty"`
	Disarmed    bool   `json:"disarmed,omitempty"`
	Claim       string `json:"claim,omitempty"`
	Fingerprint uint64 `json:"fp,omitempty"`
	Cluster     string `json:"cluster,omitempty"`
	Summary     string `json:"summary,omitempty"`
	Description string `json:"descr,omitempty"`
}

// encode gives the stored form.
func (s *State) encode() ([]byte, error) {
	b, err := json.Marshal(storedState{
		Version: stateVersion, Phase: s.Phase, Count: s.Count, Held: int64(s.Held),
		LastGood: nanos(s.LastGood), Opened: nanos(s.Opened), Acted: s.Acted, LastActed: nanos(s.LastActed),
		Epoch: s.Epoch, Sequence: s.Sequence, Gone: s.Gone, History: s.History, Flapping: s.Flapping,
		Disarmed: s.Disarmed, Claim: s.Claim, Fingerprint: s.Fingerprint, Cluster: s.Cluster, Summary: s.Summary, Description: s.Description,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the state of an item: %w", err)
	}
	return b, nil
}

// errState marks a stored state that this release cannot use.
var errState = errors.New("the stored state of an item is not readable")

// decodeState reads the stored form and refuses what no machine can have written.
func decodeState(b []byte) (State, error) {
	var s storedState
	if err := json.Unmarshal(b, &s); err != nil {
		return State{}, fmt.Errorf("%w: %w", errState, err)
	}
	switch {
	case s.Version != stateVersion:
		return State{}, fmt.Errorf("%w: it has version %d, this release reads %d", errState, s.Version, stateVersion)
	case s.Phase > Recovering || s.Count < 0 || s.Held < 0 || s.Gone < 0 || s.Sequence < 0:
		return State{}, fmt.Errorf("%w: its numbers are out of range", errState)
	}
	return State{
		Phase: s.Phase, Count: s.Count, Held: time.Duration(s.Held), LastGood: instant(s.LastGood),
		Opened: instant(s.Opened), Acted: s.Acted, LastActed: instant(s.LastActed), Epoch: s.Epoch, Sequence: s.Sequence,
		Gone: s.Gone, History: s.History & (1<<flapWindow - 1), Flapping: s.Flapping, Disarmed: s.Disarmed, Claim: s.Claim,
		Fingerprint: s.Fingerprint, Cluster: s.Cluster, Summary: s.Summary, Description: s.Description,
	}, nil
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// fingerprint tells formulas apart, so that a count begun with one is not
// finished with another.
func (s *Situation) fingerprint() uint64 {
	h := fnv.New64a()
	for _, f := range []*Formula{s.Formula, s.Recovery} {
		if f != nil {
			fmt.Fprint(h, f.source)
		}
		fmt.Fprint(h, "\x00")
	}
	return h.Sum64()
}

// adopt fits a state to the situation as it reads now. Phase and latch stay, so a
// changed threshold does not act by itself; what was only being confirmed begins anew.
func (s *State) adopt(fingerprint uint64) {
	if s.Fingerprint == fingerprint {
		return
	}
	s.Fingerprint = fingerprint
	s.fallBack()
	s.LastGood = time.Time{}
}
