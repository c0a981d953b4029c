package enginetest

import (
	"math/rand/v2"
	"time"
)

// config is what a seed draws first: runs differ in kind, not only in order.
type config struct {
	// Disk and network.
	diskMin, diskMax  time.Duration
	wireMin, wireMax  time.Duration
	turnDelay         time.Duration // how long a turn takes in more steps
	skew              time.Duration // clocks differ by up to this
	batchSize         int           // BATCHSZ
	retry             int           // SHORTTMR in seconds
	heartbeat         int           // HBINT in seconds
	modern            bool          // order of the workload algorithm
	putterAtFullRepos bool
	defBind           string
	duration          time.Duration // of the faulty phase
	putters, getters  int
	messages          int // per putter
	thinkMax          time.Duration
	syncpoint         float64 // share of units under syncpoint
	persistent        float64
	onOpen            float64 // share of putters that bind on open
	crash             float64 // per event of a queue manager
	crashInRelease    float64 // per effect that leaves it
	cutEvery          time.Duration
	stall             float64 // share of cuts that only stall
	alterEvery        time.Duration
	moveEvery         time.Duration
	stopEvery         time.Duration // STOP and START CHANNEL
	maxDepth          int           // of DCQ1
	downMax           time.Duration
	useDLQ            bool
	suspendEvery      time.Duration // SUSPEND, RESUME and REFRESH
	fullEvery         time.Duration // the disk reserve is reached for a while
	jumpEvery         time.Duration // a clock is set
	jumpMax           time.Duration // forward by up to this
}

// pick draws one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func drawConfig(r *rand.Rand) config {
	const ms, s = time.Millisecond, time.Second
	c := config{
		diskMin: pick(r, 0, 50*time.Microsecond, ms), diskMax: pick(r, 200*time.Microsecond, 5*ms, 50*ms),
		wireMin: pick(r, 20*time.Microsecond, ms), wireMax: pick(r, ms, 20*ms, 300*ms),
		turnDelay: pick(r, 0, 100*time.Microsecond, 2*ms),
		skew:      pick(r, 0, 0, 2*s),
		batchSize: pick(r, 1, 3, 10, 50), retry: pick(r, 1, 2, 10), heartbeat: pick(r, 1, 5, 30),
		modern:   r.IntN(4) != 0,
		defBind:  pick(r, "NOTFIXED", "NOTFIXED", "OPEN"),
		duration: pick(r, 20*s, 60*s, 180*s),
		putters:  1 + r.IntN(4), getters: r.IntN(4), messages: pick(r, 20, 60, 150),
		thinkMax:  pick(r, 5*ms, 100*ms, 2*s),
		syncpoint: pick(r, 0, 0.5, 1), persistent: pick(r, 0.5, 0.9, 1),
		onOpen: pick(r, 0, 0.3, 1),
		crash:  pick(r, 0, 0.0005, 0.003, 0.01), crashInRelease: pick(r, 0, 0.0005, 0.005),
		cutEvery: pick(r, 0, 2*s, 10*s), stall: pick(r, 0, 0.5, 1),
		alterEvery: pick(r, 0, 3*s, 15*s), moveEvery: pick(r, 0, 2*s, 5*s), stopEvery: pick(r, 0, 0, 20*s),
		maxDepth: pick(r, 5000, 5000, 20), downMax: pick(r, 500*ms, 5*s, 30*s),
	}
	c.putterAtFullRepos = r.IntN(3) != 0
	c.useDLQ = r.IntN(2) == 0
	c.suspendEvery, c.fullEvery = pick(r, 0, 0, 10*s), pick(r, 0, 0, 10*s)
	c.jumpEvery, c.jumpMax = pick(r, 0, 0, 0, 5*s), pick(r, time.Second, time.Minute, 3*time.Hour)
	return c
}
