package actions

import (
	"slices"
	"time"

	"github.com/situationd/situationd/situations"
)

// Lowered is a lowering that an intent made and that stands: what the
// last-instance guard puts back if it turns out that everybody lowered at once.
type Lowered struct {
	Action  int       `json:"action"`  // index in the intent
	Changes []change  `json:"changes"` // the lever first
	At      time.Time `json:"at"`
}

func (l *Lowered) main() change { return l.Changes[0] }

// tooFew says that a standing lowering left fewer instances that could be chosen
// than it must: without peers two daemons may lower at the same moment, each
// still seeing the other's instance.
func tooFew(row *situations.Row, lever Lever, need int) bool {
	return len(row.Clusters) > 0 && row.InstancesKnown && ReadyElsewhere(*row, lever) < need
}

// place is k: how many instances of the queue are on queue managers with a lower
// QMID. All daemons count alike, so that they put back one after the other.
func place(row *situations.Row, qmid string) int {
	var lower []string
	for i := range row.Instances {
		if id := row.Instances[i].QMID; id < qmid && !slices.Contains(lower, id) {
			lower = append(lower, id)
		}
	}
	return len(lower)
}

// lonely follows how long nobody has been available. A single sample does not
// count: the other daemon's put-back, or a channel that is being started, may be
// on its way.
type lonely struct {
	since time.Time // first sample that showed nobody, zero if the last showed somebody
	last  time.Time
}

// step takes one sample; true says that it is this daemon's turn to put back.
func (l *lonely) step(at time.Time, nobody bool, k int, interval time.Duration) bool {
	if !nobody {
		*l = lonely{}
		return false
	}
	if l.since.IsZero() {
		l.since, l.last = at, at
		return false
	}
	if !at.After(l.last) {
		return false
	}
	l.last = at
	return at.Sub(l.since) >= time.Duration(k)*2*interval
}
