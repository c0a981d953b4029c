package redistribute

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the shares, everything is allotted, and nobody is more than one
// message away from his part.
func TestAllot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 100_000).Draw(t, "n")
		weights := rapid.SliceOfN(rapid.IntRange(1, 99), 1, 12).Draw(t, "weights")
		sum := 0
		for _, w := range weights {
			sum += w
		}
		share := map[string]float64{}
		for i, w := range weights {
			share[fmt.Sprint("QM", i)] = float64(w) / float64(sum)
		}
		total := 0
		for name, got := range Allot(n, share) {
			total += got
			if exact := share[name] * float64(n); math.Abs(exact-float64(got)) > 1 {
				t.Fatalf("%s gets %d, and its part is %f", name, got, exact)
			}
		}
		if total != n {
			t.Fatalf("%d of %d are allotted", total, n)
		}
	})
}

// scouted is a fake queue that says where its messages go.
type scouted struct {
	*fakeQueue
	routes Routes
	err    error
}

func (s scouted) Routes(context.Context) (Routes, error) { return s.routes, s.err }

func TestForesee(t *testing.T) {
	t.Parallel()
	there := Routes{Here: "QM2", Share: map[string]float64{"QM3": 1}}
	for _, c := range []struct {
		name    string
		set     func(*fakeQueue)
		rules   Rules
		routes  Routes
		outcome Outcome // blank: nothing prevents it
		reason  string
		movable int
	}{
		{name: "all", routes: there, movable: 30},
		{name: "some stay", routes: there, set: func(q *fakeQueue) { q.here[3].addressed, q.here[4].bound = true, true }, movable: 28},
		{name: "bound and told so", routes: there, rules: Rules{EvenIfBound: true}, set: func(q *fakeQueue) { q.here[4].bound = true }, movable: 30},
		{name: "never", routes: there, rules: Rules{Never: true}, outcome: Refused, reason: "never", movable: 30},
		{name: "reader", routes: there, set: func(q *fakeQueue) { q.readers = 1 }, outcome: Reader, reason: "open for input", movable: 30},
		{name: "nobody", routes: there, set: func(q *fakeQueue) { q.ready = 0 }, outcome: Waiting, reason: "no other instance", movable: 30},
		{
			name: "it comes back", routes: Routes{Here: "QM2", Share: map[string]float64{"QM3": 0.75, "QM2": 0.25}, Remedy: "do that"},
			outcome: Refused, reason: "(25 % of them); do that", movable: 30,
		},
		{name: "no way", routes: Routes{Here: "QM2", Reason: "2189"}, outcome: Waiting, reason: "2189", movable: 30},
	} {
		q := newFakeQueue(30)
		if c.set != nil {
			c.set(q)
		}
		f, err := job(q, c.rules).Foresee(t.Context(), scouted{q, c.routes, nil})
		if err != nil {
			t.Fatal(err)
		}
		if (f.Prevents == nil) != (c.outcome == "") || f.Prevents != nil && (f.Prevents.Outcome != c.outcome || !strings.Contains(f.Prevents.Reason, c.reason)) {
			t.Errorf("%s: prevented by %+v", c.name, f.Prevents)
		}
		if f.Movable != c.movable || f.Depth != 30 || f.Movable+f.Skipped.Total() != 30 {
			t.Errorf("%s: %+v", c.name, f)
		}
		if f.Prevents == nil && f.To["QM3"] != c.movable {
			t.Errorf("%s: to %v", c.name, f.To)
		}
		if len(q.here) != 30 || q.dry == 0 || q.dry != q.units {
			t.Errorf("%s: %d messages left, %d units of which %d dry", c.name, len(q.here), q.units, q.dry)
		}
	}
}

// What is not known is no forecast.
func TestForesee_Fails(t *testing.T) {
	t.Parallel()
	there := Routes{Here: "QM2", Share: map[string]float64{"QM3": 1}}
	q := newFakeQueue(3)
	if _, err := job(q, Rules{}).Foresee(t.Context(), scouted{q, there, errDown}); err == nil {
		t.Error("routes that are not known")
	}
	q.fault = func(int) (error, bool) { return errDown, false }
	if _, err := job(q, Rules{}).Foresee(t.Context(), scouted{q, there, nil}); err == nil {
		t.Error("a queue that cannot be looked through")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := job(newFakeQueue(3), Rules{}).Foresee(ctx, scouted{newFakeQueue(3), there, nil}); err == nil {
		t.Error("a caller who is gone")
	}
}

// With a limit as many messages move as it says, if there are so many that may,
// however many units are under way and whatever has to stay.
func TestRunLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		depth := rapid.IntRange(0, 400).Draw(rt, "depth")
		limit := rapid.IntRange(1, 450).Draw(rt, "limit")
		q := newFakeQueue(depth)
		q.inFlight = rapid.IntRange(1, 4).Draw(rt, "in flight")
		movable := 0
		for _, m := range q.here {
			m.addressed = rapid.IntRange(0, 9).Draw(rt, "addressed") < 3
			if !m.addressed {
				movable++
			}
		}
		r := job(q, Rules{Limit: limit, UnitSize: rapid.IntRange(1, 60).Draw(rt, "unit")}).Run(t.Context())
		if want := min(limit, movable); r.Moved != want || len(q.there) != want {
			rt.Fatalf("%d moved, %d arrived, want %d: %+v", r.Moved, len(q.there), want, r)
		}
		if reached := r.Outcome == Left && strings.Contains(r.Reason, "limit"); reached != (limit <= movable && depth > limit) {
			rt.Fatalf("%d of %d movable, limit %d: %+v", r.Moved, movable, limit, r)
		}
	})
}
