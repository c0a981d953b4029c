package redistribute

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestMoving runs many runs over a queue with every fault there is and checks
// what must hold for each: nothing is lost, nothing moves twice within the
// ledger's time unless its unit was in doubt, a run is bounded, and nothing moves
// past a reader or without another instance.
func TestMoving(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := newFakeQueue(0)
		q.inFlight = rapid.IntRange(1, 4).Draw(t, "in flight")
		q.backTo = rapid.Bool().Draw(t, "back")
		store := &fakeStore{}
		ledger := NewLedger(0, store)
		doubt := map[int]bool{} // messages of units whose answer was lost
		next := 0
		for range rapid.IntRange(1, 8).Draw(t, "runs") {
			for range rapid.IntRange(0, 180).Draw(t, "arrivals") {
				m := q.put(next)
				next++
				m.addressed = rapid.IntRange(0, 9).Draw(t, "addressed") == 0
			}
			q.readers = rapid.IntRange(0, 5).Draw(t, "reader") / 5
			q.ready = min(rapid.IntRange(0, 5).Draw(t, "ready"), 1)
			faultAt := rapid.IntRange(0, 6).Draw(t, "fault at")
			after := rapid.Bool().Draw(t, "after")
			readerAt := rapid.IntRange(0, 8).Draw(t, "reader at")
			base, held := q.units, q.readers > 0 || q.ready == 0
			depth := len(q.here)
			before := map[int]int{}
			for id, n := range q.moves {
				before[id] = n
			}
			q.before = func(n int) {
				if n-base == readerAt {
					q.readers = 1
				}
			}
			q.fault = func(n int) (error, bool) {
				if n-base == faultAt {
					return errDown, after
				}
				return nil, false
			}
			j := &Job{Name: "DCQ1", Queue: q, Ledger: ledger, Rules: Rules{}}
			rep := j.Run(context.Background())

			moved := 0
			known, err := ledger.Known("DCQ1", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			noted := map[Key]bool{}
			for _, k := range known {
				noted[k] = true
			}
			for id, n := range q.moves {
				moved += n - before[id]
				if n > 1 && !doubt[id] {
					t.Fatalf("message %d moved %d times", id, n)
				}
				if n > 0 && !noted[keyOf(id)] {
					doubt[id] = true
				}
			}
			if held && moved > 0 {
				t.Fatalf("%d moved with readers %d, ready %d", moved, q.readers, q.ready)
			}
			if moved > depth {
				t.Fatalf("%d moved of %d", moved, depth)
			}
			if rep.Moved > moved {
				t.Fatalf("reported %d, moved %d", rep.Moved, moved)
			}
			if rep.Outcome != Failed && rep.Moved != moved {
				t.Fatalf("reported %d, moved %d", rep.Moved, moved)
			}
			if q.total() != next {
				t.Fatalf("%d messages, want %d", q.total(), next)
			}
			if rep.Outcome == Empty && len(q.here) > 0 {
				t.Fatalf("empty with %d messages", len(q.here))
			}
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				// A crash forgets what was not flushed; every run flushes at its end.
				ledger = NewLedger(0, store)
			}
		}
	})
}

// TestReaderStopsAtUnit: from the moment a reader is there, at most the units in
// flight move.
func TestReaderStopsAtUnit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := newFakeQueue(rapid.IntRange(1, 2000).Draw(t, "depth"))
		at := rapid.IntRange(1, 30).Draw(t, "at")
		q.inFlight = rapid.IntRange(1, 4).Draw(t, "in flight")
		q.before = func(n int) {
			if n == at {
				q.readers = 1
			}
		}
		(&Job{Name: "Q", Queue: q, Ledger: NewLedger(0, nil)}).Run(context.Background())
		if most := at + q.inFlight; q.units > most {
			t.Fatalf("%d units, the reader came in unit %d with %d in flight", q.units, at, q.inFlight)
		}
	})
}

// TestRunIsThorough: a run that nothing stops leaves no message behind that may
// move, wherever it stands: behind thousands that expired, that others have in
// units of work, or that must stay. Its report says what was met, each once.
func TestRunIsThorough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := newFakeQueue(0)
		q.inFlight = rapid.IntRange(1, 4).Draw(t, "in flight")
		q.scan = rapid.SampledFrom([]int{0, 3, 8, 50}).Draw(t, "scan")
		var want Skipped
		taken, expired, may := 0, 0, 0
		id := 0
		for range rapid.IntRange(1, 12).Draw(t, "stretches") {
			kind := rapid.IntRange(0, 5).Draw(t, "kind")
			for range rapid.IntRange(1, 30).Draw(t, "long") {
				m := q.put(id)
				id++
				switch kind {
				case 0:
					m.addressed = true
					want.Addressed++
				case 1:
					m.bound = true
					want.Bound++
				case 2:
					m.poison = true
					want.Poison++
				case 3:
					m.taken = true
					taken++
				case 4:
					m.expired = true
					expired++
				default:
					may++
				}
			}
		}
		depth := len(q.here) - taken
		rep := (&Job{Name: "Q", Queue: q, Ledger: NewLedger(0, nil), Rules: Rules{UnitSize: rapid.IntRange(1, 20).Draw(t, "unit")}}).Run(context.Background())
		if depth == 0 {
			return
		}
		if rep.Moved != may || rep.Skipped != want || rep.Expired != expired {
			t.Fatalf("moved %d of %d, expired %d of %d, skipped %+v, want %+v", rep.Moved, may, rep.Expired, expired, rep.Skipped, want)
		}
		if rep.Start != depth || rep.Taken != 0 || rep.Start+rep.Arrived != rep.Moved+rep.Expired+rep.Taken+rep.Remaining {
			t.Fatalf("it does not add up: %+v", rep)
		}
		if empty := want.Total() == 0 && taken == 0; empty != (rep.Outcome == Empty) {
			t.Fatalf("outcome %s with %d that stay and %d uncommitted", rep.Outcome, want.Total(), taken)
		}
	})
}
