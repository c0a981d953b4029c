package redistribute

import (
	"math"
	"time"
)

// longestUnit is how many messages a unit of work may have at most: a long group,
// or what a dry run lists at once.
const longestUnit = 10_000

// pace holds a run to its rate. In no window more messages move than the rate
// allows for it, and those of one unit of work of the usual size: half of it for
// what may go at once after a pause, half for a unit that takes its time between
// being issued and being carried out. A group that is longer goes whole, and what
// it took too much is waited for.
type pace struct {
	rate float64 // messages a second, 0 for no limit
	unit int     // messages of a unit
	next time.Time
}

// perSecond is how many units a second a slow rate is cut into.
const perSecond = 10

func newPace(rate, unit int, now time.Time) pace {
	if rate <= 0 {
		return pace{unit: unit}
	}
	return pace{rate: float64(rate), unit: min(max(rate/perSecond, 1), max(unit/2, 1)), next: now}
}

// slows says that units go one after the other.
func (p *pace) slows() bool { return p.rate > 0 }

// spend takes messages that moved into account: their time begins when the last
// ones' was over, but nothing is saved up over a pause that is longer than a unit takes.
func (p *pace) spend(now time.Time, moved int) {
	if p.rate <= 0 || moved == 0 {
		return
	}
	if earliest := now.Add(-p.takes(p.unit)); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(p.takes(moved))
}

// takes is how long the rate needs for so many messages.
func (p *pace) takes(messages int) time.Duration {
	return time.Duration(math.Ceil(float64(messages) / p.rate * float64(time.Second)))
}
