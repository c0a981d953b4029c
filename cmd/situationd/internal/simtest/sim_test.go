package simtest

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/mqengine/enginetest"
)

// seeds are the flags of TestDaemons.
var seeds = enginetest.SeedFlags("daemons", 3)

// fullRun is from how many seeds on everything must have happened.
const fullRun = 40

// TestDaemons runs seeds and prints what happened in them.
func TestDaemons(t *testing.T) {
	// With one processor the daemons' goroutines take turns alike in every run of a seed.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if seeds.One != 0 {
		runOne(t, seeds.One)
		return
	}
	var total counts
	t.Run("seeds", func(t *testing.T) {
		for i := range seeds.Count {
			seed := seeds.First + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				c := run(t, seed, nil)
				enginetest.AddCounts(&total, &c)
			})
		}
	})
	t.Logf("%d seeds: %s", seeds.Count, enginetest.CountsText(&total))
	if seeds.Count >= fullRun {
		for _, name := range enginetest.ZeroCounts(&total) {
			t.Errorf("%s never happened in %d seeds: the runs do not reach it", name, seeds.Count)
		}
	}
}

func runOne(t *testing.T, seed uint64) {
	var c counts
	end, err := seeds.Tell(func(w io.Writer) { c = run(t, seed, &locked{w: w}) })
	if err != nil {
		t.Fatal(err)
	}
	t.Log(enginetest.CountsText(&c))
	if t.Failed() {
		t.Logf("the end of the run (-daemons.log=FILE writes all of it):\n%s", end)
	}
}

// locked is a writer for many.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// folder is where the disks are: in memory if the machine has a place for that, for
// a kill leaves what was written there as well.
func folder(t *testing.T) string {
	t.Helper()
	base := ""
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "simtest")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// run runs one seed.
func run(t *testing.T, seed uint64, text io.Writer) (c counts) {
	dir := folder(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, seed, dir, text)
		w.printf("shape %+v", w.shape)
		w.build()
		w.trouble()
		w.watchHolds()
		w.keepPutting()
		w.runFor(w.shape.duration, nil)
		if !w.failed() {
			w.heal()
			w.alone()
			w.judge()
		}
		w.finish()
		w.counts.QMgrCrashes, w.counts.QMgrCrashesInRelease = w.cluster.Crashes()
		w.counts.UnknownMoves = int(w.unknownMoves.Load())
		w.counts.AlertsSent, w.counts.AlertsRefused = w.alerts, w.refused
		c = w.counts
		t.Logf("seed %d: hash %016x after %s", seed, w.trace.Sum64(), time.Since(w.start).Truncate(time.Second))
		for _, f := range append(w.failures, w.cluster.Failures()...) {
			t.Errorf("seed %d: %s", seed, f)
		}
		if t.Failed() {
			t.Logf("repeat it: go test ./cmd/situationd/internal/simtest -run 'TestDaemons$' -v -daemons.seed=%d", seed)
		}
	})
	return c
}

// build makes the cluster and its daemons, without faults.
func (w *world) build() {
	for _, q := range queues {
		n := 2
		if q == queueFlap || w.chance(0.5) {
			n = 3
		}
		for _, i := range w.rng.Perm(len(w.hosts))[:n] {
			w.hosts[i].queues[q] = newInstance()
		}
	}
	for _, h := range w.hosts {
		for _, text := range h.definitions() {
			h.command(byNobody, text, func(err error) {
				if err != nil {
					w.fail("%v", err)
				}
			})
		}
		h.writeRules(variant{label: "the first"})
	}
	w.runFor(15*time.Second, nil)
	for _, h := range w.hosts {
		for _, q := range queues {
			if h.queues[q] != nil {
				w.addReader(h, q).start()
			}
		}
		h.startDaemon()
	}
	w.runFor(20*time.Second, nil)
}

func newInstance() *instance {
	return &instance{
		values: map[string]string{}, by: map[string]who{}, at: map[string]time.Time{}, seen: map[string]bool{},
		acts: map[string]*act{}, last: map[string]was{}, base: map[string]string{}, past: map[string][]was{}, ours: map[string]string{}, other: map[string]time.Time{},
	}
}
