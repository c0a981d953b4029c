package enginetest

import (
	"math/rand/v2"
	"time"
)

// config is what a seed draws first: runs differ in kind, not only in order.
// A time that is zero means that the thing never happens in this run.
type config struct {
	shape
	disks
	links
	load
	operators

	skew      time.Duration // clocks differ by up to this
	jumpEvery time.Duration // a clock is set
	jumpMax   time.Duration // forward by up to this
	duration  time.Duration // of the faulty phase
	crash     float64       // per event of a queue manager
	// crashInRelease is per effect that leaves the process.
	crashInRelease float64
	downMax        time.Duration
	ages           bool    // a month goes by at the end
	oracle         float64 // share of choices that are computed again
}

// shape is how the cluster is built.
type shape struct {
	members   int
	fulls     int
	overlap   bool // some are in a second cluster too
	queues    int
	hosts     int  // instances of a queue when the run begins
	modern    bool // order of the workload algorithm
	defBind   string
	maxDepth  int
	useDLQ    bool
	batchSize int
	retry     int // SHORTTMR in seconds
	heartbeat int // HBINT in seconds
	idle      int // DISCINT in seconds
	npmSpeed  string
	batchInt  int // milliseconds
	mrRty     int // each try after 300 ms
}

// disks is how fast disks are, and when they have no room.
type disks struct {
	diskMin, diskMax time.Duration
	turnDelay        time.Duration // how long a turn takes in more steps
	fullEvery        time.Duration // the disk reserve is reached for a while
	slowDiskEvery    time.Duration // a disk takes slowFactor times as long for a while
}

// links is what happens between queue managers.
type links struct {
	wireMin, wireMax time.Duration
	cutEvery         time.Duration
	stall            float64       // share of cuts that links do not notice
	oneWay           float64       // share of cuts in one direction only, which links never notice at once
	splitEvery       time.Duration // the cluster falls apart into two halves
	loseEvery        time.Duration // a link loses what is on its way and breaks
	slowEvery        time.Duration // the way between two is slowFactor times as long for a while
}

// slowFactor is how much longer slow things take.
const slowFactor = 20

// load is what applications do.
type load struct {
	putters, getters int
	messages         int // per putter
	thinkMax         time.Duration
	syncpoint        float64 // share of units under syncpoint
	persistent       float64
	onOpen           float64 // share of handles that bind on open
	grouped          float64 // of handles that put groups
	addressed        float64 // of handles that name a queue manager
	expiring         float64 // of messages that may expire
	moveEvery        time.Duration
}

// operators is what people do to the cluster.
type operators struct {
	alterEvery   time.Duration
	stopEvery    time.Duration // STOP and START CHANNEL
	suspendEvery time.Duration // SUSPEND, RESUME and REFRESH
	defineEvery  time.Duration // instances come and go
	memberEvery  time.Duration // members leave and join
	resetEvery   time.Duration // RESET CLUSTER
}

// pick draws one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func drawConfig(r *rand.Rand) config {
	const ms, s = time.Millisecond, time.Second
	c := config{
		shape: drawShape(r),
		disks: disks{
			diskMin: pick(r, 0, 50*time.Microsecond, ms), diskMax: pick(r, 200*time.Microsecond, 5*ms, 50*ms),
			turnDelay: pick(r, 0, 100*time.Microsecond, 2*ms), fullEvery: pick(r, 0, 0, 10*s), slowDiskEvery: pick(r, 0, 0, 5*s),
		},
		links: links{
			wireMin: pick(r, 20*time.Microsecond, ms), wireMax: pick(r, ms, 20*ms, 300*ms),
			cutEvery: pick(r, 0, 2*s, 10*s), stall: pick(r, 0, 0.5, 1), oneWay: pick(r, 0, 0.3, 0.6),
			splitEvery: pick(r, 0, 0, 20*s), loseEvery: pick(r, 0, s, 5*s), slowEvery: pick(r, 0, 0, 5*s),
		},
		load: load{
			putters: 1 + r.IntN(4), getters: r.IntN(5), messages: pick(r, 20, 60, 150), thinkMax: pick(r, 5*ms, 100*ms, 2*s),
			syncpoint: pick(r, 0, 0.5, 1), persistent: pick(r, 0.5, 0.9, 1),
			onOpen: pick(r, 0, 0.3, 1), grouped: pick(r, 0, 0, 0.3), addressed: pick(r, 0, 0, 0.2),
			expiring: pick(r, 0, 0, 0.3), moveEvery: pick(r, 0, 2*s, 5*s),
		},
		operators: operators{
			alterEvery: pick(r, 0, 3*s, 15*s), stopEvery: pick(r, 0, 0, 20*s), suspendEvery: pick(r, 0, 0, 10*s),
			defineEvery: pick(r, 0, 0, 5*s), memberEvery: pick(r, 0, 0, 20*s), resetEvery: pick(r, 0, 0, 0, 20*s),
		},
		skew: pick(r, 0, 0, 2*s), jumpEvery: pick(r, 0, 0, 0, 5*s), jumpMax: pick(r, s, time.Minute, 3*time.Hour),
		duration: pick(r, 20*s, 60*s, 180*s),
		crash:    pick(r, 0, 0.0005, 0.003, 0.01), crashInRelease: pick(r, 0, 0.001, 0.01),
		downMax: pick(r, 500*ms, 5*s, 30*s), ages: r.IntN(4) == 0, oracle: pick(r, 0.1, 0.5),
	}
	// More members have more events: the cluster as a whole is not to die more often.
	share := 3 / float64(c.members)
	c.crash, c.crashInRelease = c.crash*share, c.crashInRelease*share
	c.putters += c.members / 6
	c.getters += c.members / 6
	return c
}

func drawShape(r *rand.Rand) shape {
	c := shape{
		members: 3, fulls: pick(r, 2, 2, 2, 1, 3), overlap: r.IntN(3) == 0, queues: pick(r, 1, 2, 4), hosts: pick(r, 2, 2, 3, 5),
		modern: r.IntN(4) != 0, defBind: pick(r, "NOTFIXED", "NOTFIXED", "OPEN", "GROUP"), maxDepth: pick(r, 5000, 5000, 20),
		useDLQ: r.IntN(2) == 0, batchSize: pick(r, 1, 3, 10, 50), retry: pick(r, 1, 2, 10), heartbeat: pick(r, 1, 5, 30),
		idle: pick(r, 5, 6000), npmSpeed: pick(r, "FAST", "FAST", "NORMAL"), batchInt: pick(r, 0, 0, 50), mrRty: pick(r, 0, 2, 10),
	}
	switch r.IntN(6) {
	case 0, 1:
		c.members = 3
	case 2, 3:
		c.members = 4 + r.IntN(4)
	case 4:
		c.members = 8 + r.IntN(8)
	case 5:
		c.members = 16 + r.IntN(15)
	}
	return c
}
