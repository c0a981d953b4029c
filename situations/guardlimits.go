package situations

import (
	"strconv"
	"strings"
	"time"
)

// GuardLimits are a situation's own limits of what its lowerings may do. The
// zero value has the daemon's: one instance stays, two intervals of dwell.
type GuardLimits struct {
	// Available is how many other instances must be left that could be chosen.
	Available    int  `json:"available,omitempty"`
	Percent      bool `json:"percent,omitempty"` // of all instances, rounded up
	AvailableSet bool `json:"available_set,omitempty"`
	// Dwell is the least time between opposite changes.
	Dwell    Persistence `json:"dwell"`
	DwellSet bool        `json:"dwell_set,omitempty"`
}

// Need is how many instances must be left of so many.
func (g *GuardLimits) Need(instances int) int {
	switch {
	case !g.AvailableSet:
		return 1
	case g.Percent:
		return (g.Available*instances + 99) / 100
	}
	return g.Available
}

// DwellTime is the least time between opposite changes at an interval.
func (g *GuardLimits) DwellTime(interval time.Duration) time.Duration {
	if !g.DwellSet {
		return 2 * interval
	}
	if g.Dwell.Samples > 1 || g.Dwell.Duration == 0 {
		return time.Duration(g.Dwell.Samples) * interval
	}
	return g.Dwell.Duration
}

func (g *GuardLimits) empty() bool { return !g.AvailableSet && !g.DwellSet }

func (g *GuardLimits) yaml() string {
	var parts []string
	if g.AvailableSet {
		n := strconv.Itoa(g.Available)
		if g.Percent {
			n += "%"
		}
		parts = append(parts, "min_available: "+n)
	}
	if g.DwellSet {
		dwell := g.Dwell.yaml()
		if g.Dwell.Samples == 0 {
			dwell = "0s"
		}
		parts = append(parts, "dwell: "+dwell)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
