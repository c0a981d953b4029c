package enginetest

import (
	"bytes"
	"flag"
	"fmt"
	"iter"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	seedsFlag = flag.Int("sim.seeds", 6, "how many seeds TestSimulation runs")
	seedFlag  = flag.Uint64("sim.seed", 0, "run this seed only, and tell what happens in it")
	firstFlag = flag.Uint64("sim.first", 1, "the first seed")
	logFlag   = flag.String("sim.log", "", "with -sim.seed: the file that gets the whole run")
)

// everything must have happened at least once in a run of this many seeds.
const fullRun = 200

// TestSimulation runs seeds, each twice, and prints what happened in them.
func TestSimulation(t *testing.T) {
	if *seedFlag != 0 {
		runOne(t, *seedFlag)
		return
	}
	total, sizes := Counts{}, map[int]int{}
	for result := range runAll(*firstFlag, *seedsFlag) {
		if result.once.Hash != result.again.Hash {
			t.Errorf("seed %d: two runs differ, %016x and %016x: a core depends on more than its arguments", result.once.Seed, result.once.Hash, result.again.Hash)
		}
		report(t, result.once)
		total.add(result.once.Counts)
		sizes[result.once.Members]++
	}
	t.Logf("%d seeds: %s", *seedsFlag, total)
	t.Logf("runs by number of queue managers: %v", sizes)
	if *seedsFlag >= fullRun {
		for _, name := range total.zero() {
			t.Errorf("%s never happened in %d seeds: the simulation does not reach it", name, *seedsFlag)
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
	var text bytes.Buffer
	result := Run(seed, &text)
	if *logFlag != "" {
		if err := os.WriteFile(*logFlag, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("hash %016x, %s", result.Hash, result.Counts)
	if result.Failures == nil {
		return
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	t.Logf("the end of the run (-sim.log=FILE writes all of it):\n%s", strings.Join(lines[max(0, len(lines)-200):], "\n"))
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

func (c *Counts) add(o Counts) {
	to, from := reflect.ValueOf(c).Elem(), reflect.ValueOf(o)
	for i := range to.NumField() {
		to.Field(i).SetInt(to.Field(i).Int() + from.Field(i).Int())
	}
}

func (c Counts) zero() (names []string) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if v.Field(i).Int() == 0 {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	return names
}

func (c Counts) String() string {
	var b strings.Builder
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		fmt.Fprintf(&b, "%s %d ", v.Type().Field(i).Name, v.Field(i).Int())
	}
	return strings.TrimSpace(b.String())
}
