package enginetest

import (
	"io"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// simSeeds are the flags of TestSimulation.
var simSeeds = SeedFlags("sim", 6)

// everything must have happened at least once in a run of this many seeds.
const fullRun = 200

// TestSimulation runs seeds, each twice, and prints what happened in them.
func TestSimulation(t *testing.T) {
	if simSeeds.One != 0 {
		runOne(t, simSeeds.One)
		return
	}
	total, sizes := Counts{}, map[int]int{}
	for result := range runAll(simSeeds.First, simSeeds.Count) {
		if result.once.Hash != result.again.Hash {
			t.Errorf("seed %d: two runs differ, %016x and %016x: a core depends on more than its arguments", result.once.Seed, result.once.Hash, result.again.Hash)
		}
		report(t, result.once)
		AddCounts(&total, &result.once.Counts)
		sizes[result.once.Members]++
	}
	t.Logf("%d seeds: %s", simSeeds.Count, CountsText(&total))
	t.Logf("runs by number of queue managers: %v", sizes)
	if simSeeds.Count >= fullRun {
		for _, name := range ZeroCounts(&total) {
			t.Errorf("%s never happened in %d seeds: the simulation does not reach it", name, simSeeds.Count)
		}
	}
}

// twice is one seed's two runs.
type twice struct{ once, again Result }

// runAll runs the seeds, as many at a time as there are processors, and gives
// the results in order.
func runAll(first uint64, seeds int) iter.Seq[twice] {
	return func(yield func(twice) bool) {
		results := make([]chan twice, seeds)
		for i := range results {
			results[i] = make(chan twice, 1)
		}
		var next atomic.Int64
		var workers sync.WaitGroup
		defer workers.Wait()
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for i := next.Add(1) - 1; i < int64(seeds); i = next.Add(1) - 1 {
					seed := first + uint64(i)
					results[i] <- twice{Run(seed, nil), Run(seed, nil)}
				}
			})
		}
		for i := range results {
			if !yield(<-results[i]) {
				next.Store(int64(seeds))
				return
			}
		}
	}
}

// runOne shows a whole run.
func runOne(t *testing.T, seed uint64) {
	var result Result
	end, err := simSeeds.Tell(func(w io.Writer) { result = Run(seed, w) })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("hash %016x, %s", result.Hash, CountsText(&result.Counts))
	if result.Failures == nil {
		return
	}
	t.Logf("the end of the run (-sim.log=FILE writes all of it):\n%s", end)
	report(t, result)
}

func report(t *testing.T, r Result) {
	t.Helper()
	for i, f := range r.Failures {
		if i == 10 {
			t.Errorf("and %d more", len(r.Failures)-i)
			break
		}
		t.Errorf("seed %d: %s", r.Seed, f)
	}
	if len(r.Failures) > 0 {
		t.Logf("repeat it: go test ./mqengine/enginetest -run 'TestSimulation$' -v -sim.seed=%d", r.Seed)
	}
}
