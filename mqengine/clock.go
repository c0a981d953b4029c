package mqengine

import "time"

// clock is the time of one queue manager. It follows the system's clock, but
// never goes back: every deadline of the machine would wait until the system's
// clock had made up for it. Instead it runs slower until the two agree again.
// It belongs to the actor.
type clock struct {
	read  time.Time // when it was read last, with the system's monotonic reading
	shown time.Time // what it showed then
}

// slowdown is what part of the passing time a clock that is ahead leaves out.
const slowdown = 10

func newClock(now time.Time) *clock { return &clock{read: now, shown: now.Round(0)} }

// now reads the clock.
func (c *clock) now() time.Time {
	now := time.Now()
	c.shown = steady(c.shown, now.Sub(c.read), now.Round(0))
	c.read = now
	return c.shown
}

// until is how long it takes at least until the clock shows that time.
func (c *clock) until(at time.Time) time.Duration { return at.Sub(c.now()) }

// steady is what a clock shows after some time has passed, when the system's shows wall.
func steady(shown time.Time, passed time.Duration, wall time.Time) time.Time {
	next := shown.Add(passed)
	if !wall.Before(next) {
		return wall
	}
	if slower := next.Add(-passed / slowdown); slower.After(wall) {
		return slower
	}
	return wall
}
