package redistribute

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// departure is messages that moved together.
type departure struct {
	at    time.Time
	moved int
}

// paced runs a plan against a queue that takes its time: each unit moves
// somewhere between being issued and being answered.
func paced(t *rapid.T, rules Rules, depth, longest int, slowest time.Duration) (out []departure, took time.Duration) {
	start := time.Unix(1_800_000_000, 0)
	now := start
	state := State{Depth: depth, Ready: 1, ReadyKnown: true, UseQ: "ANY", DefBind: "NOTFIXED", BindShown: true, Horizon: uint64(depth)}
	plan, end := Begin(now, rules, state)
	if end != nil {
		t.Fatalf("the run does not begin: %+v", end)
	}
	left := depth
	latency := func(what string) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(slowest)).Draw(t, what))
	}
	for step := 0; !plan.Over(now); step++ {
		if step > 10*depth+1000 {
			t.Fatalf("no end in sight after %s, %d left", now.Sub(start), left)
		}
		u, number, ok := plan.Next(now)
		if !ok {
			now = now.Add(max(plan.Wait(now), 1))
			continue
		}
		if _, _, second := plan.Next(now); second {
			t.Fatal("two units at once in spite of a rate")
		}
		moved := min(u.Max, left)
		if group := rapid.IntRange(0, 2*longest).Draw(t, "group"); group > u.Max && group <= longest {
			moved = min(group, left)
		}
		now = now.Add(latency("until it moves"))
		out = append(out, departure{now, moved})
		left -= moved
		now = now.Add(latency("until its answer"))
		state.Depth = left
		r := Result{Moved: make([]Sent, moved), Next: Cursor{Seq: uint64(depth - left), Valid: true}, More: left > 0}
		plan.Answer(now, number, u, r, nil, state, nil)
	}
	if left > 0 {
		t.Fatalf("it ended with %d of %d left: %+v", left, depth, plan.end)
	}
	return out, now.Sub(start)
}

// TestRateIsNeverExceeded: whichever window is looked at, no more messages moved
// in it than the rate allows and one unit of work; a group that is longer than a
// unit counts with its length.
func TestRateIsNeverExceeded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(1, 5000).Draw(t, "rate")
		depth := rapid.IntRange(1, 400).Draw(t, "depth")
		longest := rapid.SampledFrom([]int{0, 0, 60, 300}).Draw(t, "longest group")
		slowest := time.Duration(rapid.IntRange(0, 2000).Draw(t, "slowest")) * time.Millisecond
		out, _ := paced(t, Rules{Rate: rate}, depth, longest, slowest)
		allowed := UnitSize + longest
		for i := range out {
			sum := 0
			for j := i; j < len(out); j++ {
				sum += out[j].moved
				window := out[j].at.Sub(out[i].at).Seconds()
				if most := float64(rate)*window + float64(allowed) + 1e-6; float64(sum) > most {
					t.Fatalf("%d messages in %.3fs at a rate of %d, at most %.1f", sum, window, rate, most)
				}
			}
		}
	})
}

// TestRateIsReached: a queue that is quick enough is emptied at the rate, and
// not at a tenth of it.
func TestRateIsReached(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(1, 2000).Draw(t, "rate")
		depth := rapid.IntRange(50, 400).Draw(t, "depth")
		_, took := paced(t, Rules{Rate: rate}, depth, 0, 0)
		if most := float64(depth)/float64(rate) + 0.01; took.Seconds() > most {
			t.Fatalf("%d messages took %s at a rate of %d", depth, took, rate)
		}
		if least := float64(depth-UnitSize) / float64(rate); took.Seconds() < least {
			t.Fatalf("%d messages took only %s at a rate of %d", depth, took, rate)
		}
	})
}

// TestRateInTime runs a job: it waits between units, which go one after the other.
func TestRateInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(1000)
		q.inFlight = MaxInFlight
		start := time.Now()
		rep := job(q, Rules{Rate: 20}).Run(t.Context())
		if rep.Outcome != Empty || rep.Moved != 1000 || q.mostFlying != 1 {
			t.Errorf("got %+v, %d units at once", rep, q.mostFlying)
		}
		if took := time.Since(start); took < 49*time.Second || took > 50*time.Second {
			t.Errorf("1000 messages at 20 a second took %s", took)
		}
		if r := rep.Rate(); r > 21 || r < 19 {
			t.Errorf("reported rate %.1f", r)
		}
	})
}

// TestRateLooksWhileItWaits: a reader, a timeout or a cancel ends the waiting, and
// so does what makes it useless.
func TestRateLooksWhileItWaits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		rules Rules
		want  Outcome
		after time.Duration // at which the run ends
		do    func(q *fakeQueue, cancel func())
	}{
		// A group of 600 costs a minute of waiting; what happens in it is seen within a second.
		{"a reader", Rules{Rate: 10}, Reader, 11 * time.Second, func(q *fakeQueue, _ func()) { q.readers = 1 }},
		{"the other instance goes", Rules{Rate: 10}, Waiting, 11 * time.Second, func(q *fakeQueue, _ func()) { q.ready = 0 }},
		{"the timeout", Rules{Rate: 10, Timeout: 20 * time.Second}, Left, 20 * time.Second, func(*fakeQueue, func()) {}},
		{"a cancel", Rules{Rate: 10}, Cancelled, 10*time.Second + time.Millisecond, func(_ *fakeQueue, cancel func()) { cancel() }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newFakeQueue(1000)
				for _, m := range q.here[:600] {
					m.group = 1
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				start := time.Now()
				time.AfterFunc(10*time.Second+time.Millisecond, func() {
					q.mu.Lock()
					defer q.mu.Unlock()
					tc.do(q, cancel)
				})
				rep := job(q, tc.rules).Run(ctx)
				if rep.Outcome != tc.want || rep.Moved != 600 {
					t.Errorf("got %+v, want %s with 600 moved", rep, tc.want)
				}
				if took := time.Since(start); took > tc.after {
					t.Errorf("it ended after %s, want %s at the latest", took, tc.after)
				}
			})
		})
	}
}

// What a crash forgets of the ledger is bounded: by units where they are quick,
// by time where a rate makes them slow.
func TestLedgerIsStoredWhileARunGoesOn(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{0, 10} {
		synctest.Test(t, func(t *testing.T) {
			store := &fakeStore{}
			j := job(newFakeQueue(2500), Rules{Rate: rate})
			if rate > 0 {
				j = job(newFakeQueue(300), Rules{Rate: rate})
			}
			j.Ledger = NewLedger(0, store)
			most := flushEvery * UnitSize
			if rate > 0 {
				most = 2 * rate
			}
			worst := 0
			j.Progress = func(r Report) { worst = max(worst, r.Moved-len(store.entries["DCQ1"])) }
			rep := j.Run(t.Context())
			if rep.Outcome != Empty || len(store.entries["DCQ1"]) != rep.Moved {
				t.Errorf("rate %d: %+v, %d stored", rate, rep, len(store.entries["DCQ1"]))
			}
			if worst > most || worst == 0 {
				t.Errorf("rate %d: %d messages moved that were not stored, at most %d", rate, worst, most)
			}
		})
	}
}
