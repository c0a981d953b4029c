package actions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// The alerts of the daemon's own, by name, so that an inhibition can tell them
// from those of rules.
const (
	AlertBlind    = "Blind"         // an item, or the queue manager, cannot be judged
	AlertFlapping = "Flapping"      // an item changes too often; lowering is held
	AlertBlocked  = "ActionBlocked" // a guard holds an action for more than an interval
	AlertConflict = "Conflict"      // two rules hold one attribute at different values
	AlertFailed   = "ActionFailed"  // an action failed three times in a row
)

// failedTimes is how many failures in a row are worth an alert.
const failedTimes = 3

// OwnAlert makes an alert about an item; the zero item is the queue manager as a
// whole, which is what cannot be sampled.
func OwnAlert(name string, k situations.Key, since time.Time, summary, description string) Alert {
	a := Alert{
		Labels:      map[string]string{nameLabel: name, severityName: "warning", "qmgr": k.QMgr},
		Annotations: map[string]string{"summary": summary}, StartsAt: since,
	}
	if name == AlertFailed {
		a.Labels[severityName] = "critical"
	}
	if description != "" {
		a.Annotations["description"] = description
	}
	// Blank ones are left out when it is sent.
	a.Labels["situation"], a.Labels["queue"], a.Labels["channel"] = k.Situation, situations.QueueOf(k.Queue), situations.ChannelOf(k.Queue)
	return a
}

// Place is an item in a sentence: DCQ1 on QM2, CHANNEL(TO.QM1) on QM2, or QM2.
func Place(k situations.Key) string {
	if g, _ := situations.GroupOf(k.Queue); g == situations.GroupQMgr || k.Queue == "" {
		return k.QMgr
	}
	return k.Queue + " on " + k.QMgr
}

// ActionAlerts are the alerts about actions that failed several times in a row.
func ActionAlerts(failing []Failure) []Alert {
	var out []Alert
	for _, f := range failing {
		if f.Tries < failedTimes {
			continue
		}
		out = append(out, OwnAlert(AlertFailed, f.Key, f.Since,
			fmt.Sprintf("%s of %s failed %d times in a row", f.Action, Place(f.Key), f.Tries), f.Reason))
	}
	return out
}

// BlockedAlerts are the alerts about actions that a guard holds.
func BlockedAlerts(blocked []Blocked) []Alert {
	out := make([]Alert, 0, len(blocked))
	for _, b := range blocked {
		name := AlertBlocked
		if b.Conflict {
			name = AlertConflict
		}
		out = append(out, OwnAlert(name, b.Key, b.Since, fmt.Sprintf("%s of %s is held", b.Action, Place(b.Key)), b.Reason))
	}
	return out
}

// Blocked is an action that guards have held for more than an interval.
type Blocked struct {
	Key      situations.Key
	Action   string
	Reason   string
	Conflict bool // by another rule of ours
	Since    time.Time
}

// expected are the holds that somebody asked for, that pass by themselves in a
// moment, or that have an alert of their own.
var expected = []Code{HoldUnknown, HoldGrace, HoldPerson, HoldMaintenance, HoldDwell, HoldFlapping}

// blockage is what holds an intent that a person should know of; zero for nothing.
type blockage struct {
	since    time.Time
	why      string
	conflict bool
}

// hold notes what holds an intent now, and since when something does that a
// person should know of. The lock is held.
func (en *entry) hold(holds []Hold, now time.Time) {
	en.holds = holds
	stuck := slices.ContainsFunc(holds, func(h Hold) bool { return !slices.Contains(expected, h.Code) })
	unknown := slices.ContainsFunc(holds, func(h Hold) bool { return h.Code == HoldUnknown })
	switch {
	case stuck:
		if en.blocked.since.IsZero() {
			en.blocked.since = now
		}
		en.blocked.why = sentence(holds)
		en.blocked.conflict = slices.ContainsFunc(holds, func(h Hold) bool { return h.Code == HoldConflict })
	case !stuck && !unknown: // a sample that is missed says nothing of the guards
		en.blocked = blockage{}
	}
}

// Blocked lists the actions that guards have held for more than an interval, by item.
func (e *Engine) Blocked(now time.Time) []Blocked {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []Blocked
	for _, en := range e.entries {
		a := en.action()
		if a == nil || en.superseded != "" || en.blocked.since.IsZero() || now.Sub(en.blocked.since) < en.in.Interval {
			continue
		}
		out = append(out, Blocked{
			Key: en.in.Key, Action: describe(a, &en.in.Row), Reason: en.blocked.why, Conflict: en.blocked.conflict, Since: en.blocked.since,
		})
	}
	slices.SortFunc(out, func(a, b Blocked) int {
		return strings.Compare(a.Key.QMgr+"\x00"+a.Key.Queue+"\x00"+a.Key.Situation, b.Key.QMgr+"\x00"+b.Key.Queue+"\x00"+b.Key.Situation)
	})
	return out
}
