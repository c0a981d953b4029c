package redistribute

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

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

// going says where messages go, or fails.
func going(r Routes, err error) func(context.Context) (Routes, error) {
	return func(context.Context) (Routes, error) { return r, err }
}

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
		f, err := job(q, c.rules).Foresee(t.Context(), going(c.routes, nil))
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
	if _, err := job(q, Rules{}).Foresee(t.Context(), going(there, errDown)); err == nil {
		t.Error("routes that are not known")
	}
	q.fault = func(int) (error, bool) { return errDown, false }
	if _, err := job(q, Rules{}).Foresee(t.Context(), going(there, nil)); err == nil {
		t.Error("a queue that cannot be looked through")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := job(newFakeQueue(3), Rules{}).Foresee(ctx, going(there, nil)); err == nil {
		t.Error("a caller who is gone")
	}
}

// With a limit as many messages move as it says, if there are so many that may,
// however many units are under way and whatever has to stay. A group that would
// exceed it stays whole.
func TestRunLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups := newFakeQueue(650)
		for i, m := range groups.here[50:] {
			m.group = 1 + i/150
		}
		runLimit(t, groups, 300, UnitSize)
		// Without the type: rapid would ask a *testing.T for its deadline, which a bubble forbids.
		rapid.Check(struct{ testing.TB }{t}, func(t *rapid.T) {
			q := limited(t)
			runLimit(t, q, rapid.IntRange(1, len(q.here)+20).Draw(t, "limit"), rapid.IntRange(1, 60).Draw(t, "unit"))
		})
	})
}

// limited is a queue of groups and single messages, some of which must stay.
func limited(t *rapid.T) *fakeQueue {
	q := newFakeQueue(0)
	id, longest := 0, rapid.SampledFrom([]int{1, 20, 60}).Draw(t, "longest group")
	for stretch := range rapid.IntRange(0, 12).Draw(t, "stretches") {
		together := rapid.IntRange(1, longest).Draw(t, "together")
		for range rapid.IntRange(0, 20).Draw(t, "singles") + together {
			m := q.put(id)
			id++
			stay := 300 // of a thousand
			if together > 1 {
				m.group, stay = 1+stretch, 2
				together--
			}
			m.addressed = rapid.IntRange(0, 999).Draw(t, "addressed") < stay
		}
	}
	if rapid.Bool().Draw(t, "between one another") {
		q.here = rapid.Permutation(q.here).Draw(t, "order")
		for i, m := range q.here {
			m.seq = uint64(i + 1)
		}
	}
	return q
}

func runLimit(t rapid.TB, q *fakeQueue, limit, unit int) {
	q.inFlight = MaxInFlight
	depth, want := len(q.here), withinLimit(q.here, limit)
	j := job(q, Rules{Limit: limit, UnitSize: unit})
	j.Queue = &slowQueue{fakeQueue: q}
	r := j.Run(context.Background())
	if r.Moved != want || len(q.there) != want {
		t.Fatalf("%d moved, %d arrived, want %d of %d at a limit of %d: %+v", r.Moved, len(q.there), want, depth, limit, r)
	}
	if reached := r.Outcome == Left && strings.Contains(r.Reason, "limit"); reached != (want == limit && depth > limit) {
		t.Fatalf("%d moved, limit %d: %+v", r.Moved, limit, r)
	}
}

// withinLimit is how many messages move if each goes for which there is room,
// with all of its group.
func withinLimit(queue []*message, limit int) int {
	members, stays, decided := map[int]int{}, map[int]bool{}, map[int]bool{}
	for _, m := range queue {
		members[m.group]++
		stays[m.group] = stays[m.group] || m.addressed
	}
	members[0] = 1
	moved := 0
	for _, m := range queue {
		if m.addressed || m.group > 0 && (stays[m.group] || decided[m.group]) {
			continue
		}
		decided[m.group] = true
		if moved+members[m.group] <= limit {
			moved += members[m.group]
		}
	}
	return moved
}
