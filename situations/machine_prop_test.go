package situations

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// limitsGen draws what a situation may ask of its items.
func limitsGen(t *rapid.T) limits {
	l := limits{
		open:  Persistence{Samples: rapid.IntRange(1, 4).Draw(t, "open")},
		clear: Persistence{Samples: rapid.IntRange(1, 4).Draw(t, "clear")},
	}
	switch rapid.IntRange(0, 3).Draw(t, "again") {
	case 0:
		l.again.EverySample = true
	case 1:
		l.again.After = time.Duration(rapid.IntRange(1, 4).Draw(t, "after")) * minute
	}
	return l
}

// walkGen draws verdicts in runs, as queues live.
func walkGen(t *rapid.T, letters string) []rune {
	var out []rune
	for range rapid.IntRange(1, 25).Draw(t, "runs") {
		v := rune(letters[rapid.IntRange(0, len(letters)-1).Draw(t, "verdict")])
		for range rapid.IntRange(1, 5).Draw(t, "length") {
			out = append(out, v)
		}
	}
	return out
}

type fired struct {
	index int
	edge  Edge
	id    string
}

// run gives every edge of a walk, with the id that the intent would have.
func run(l limits, walk []rune) []fired {
	w := newWalk(l)
	var out []fired
	for i, v := range walk {
		if o := w.sample(v); o.edge != "" {
			out = append(out, fired{i, o.edge, intentID(Key{}, w.state.Epoch, w.state.Sequence)})
		}
	}
	return out
}

// Property 1: per epoch, open and clear alternate, open first; ids never repeat.
func TestProperty_OpenAndClearAlternate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limitsGen(t)
		w := newWalk(l)
		open := false
		seen := map[string]bool{}
		for _, v := range walkGen(t, "TFHUGtf") {
			o := w.sample(v)
			if o.edge != "" {
				id := intentID(Key{}, w.state.Epoch, w.state.Sequence)
				if seen[id] {
					t.Fatalf("the id %s came twice", id)
				}
				seen[id] = true
			}
			switch {
			case o.removed:
				open = false
			case o.edge == EdgeOpen && open, o.edge == EdgeClear && !open, o.edge == EdgeRepeat && !open:
				t.Fatalf("edge %s while open is %v", o.edge, open)
			case o.edge == EdgeOpen:
				open = true
			case o.edge == EdgeClear:
				open = false
			}
			if w.state.Acted != open {
				t.Fatalf("the latch says %v, the edges say %v", w.state.Acted, open)
			}
		}
	})
}

// Property 2: taking all unknown samples out, where no gap is longer than allowed,
// changes no edge.
func TestProperty_UnknownChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limitsGen(t)
		l.again.After = 0 // counted in time, which unknown samples take
		var with, without []rune
		for _, v := range walkGen(t, "TFH") {
			for range rapid.IntRange(0, maxGap-1).Draw(t, "unknown") {
				with = append(with, 'U')
			}
			with, without = append(with, v), append(without, v)
		}
		a, b := run(l, with), run(l, without)
		if len(a) != len(b) {
			t.Fatalf("%d edges with unknown samples, %d without", len(a), len(b))
		}
		for i := range a {
			if a[i].edge != b[i].edge {
				t.Fatalf("edge %d is %s with unknown samples, %s without", i, a[i].edge, b[i].edge)
			}
		}
	})
}

// Properties 3 and 3b: an edge comes with exactly the N-th of N consecutive good
// samples of its kind, neither before nor after.
func TestProperty_EdgeAtTheNthSample(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limitsGen(t)
		l.again = ActAgain{}
		walk := walkGen(t, "TFH")
		got := run(l, walk)
		var want []fired
		open := false
		streak := 0
		for i, v := range walk {
			counts := v == 'T' && !open || v == 'F' && open
			if !counts {
				streak = 0
				continue
			}
			streak++
			switch {
			case !open && streak == l.open.Samples:
				want, open, streak = append(want, fired{i, EdgeOpen, ""}), true, 0
			case open && streak == l.clear.Samples:
				want, open, streak = append(want, fired{i, EdgeClear, ""}), false, 0
			}
		}
		same := slices.EqualFunc(got, want, func(a, b fired) bool { return a.index == b.index && a.edge == b.edge })
		if !same {
			t.Fatalf("walk %s: got %v, want %v", string(walk), got, want)
		}
	})
}

// Property 5: a hold sample gives no edge, and neither does an unknown one.
func TestProperty_HoldAndUnknownGiveNoEdge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWalk(limitsGen(t))
		for _, v := range walkGen(t, "TFHU") {
			if o := w.sample(v); o.edge != "" && (v == 'H' || v == 'U') {
				t.Fatalf("edge %s at a sample %c", o.edge, v)
			}
		}
	})
}

// Property 6: whatever came before, a constant condition settles: latch and last
// edge agree with it, and flapping ends.
func TestProperty_ConstantConditionSettles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limitsGen(t)
		l.again = ActAgain{}
		w := newWalk(l)
		last := Edge("")
		feed := func(v rune) {
			if o := w.sample(v); o.edge != "" {
				last = o.edge
			}
		}
		for _, v := range walkGen(t, "TFHU") {
			feed(v)
		}
		final := rapid.SampledFrom([]rune{'T', 'F'}).Draw(t, "final")
		for range flapWindow + l.open.Samples + l.clear.Samples {
			feed(final)
		}
		if w.state.Acted != (final == 'T') || w.state.isOpen() != (final == 'T') || w.state.Flapping {
			t.Fatalf("after %c for long: %+v", final, w.state)
		}
		if final == 'T' && last != EdgeOpen || final == 'F' && last == EdgeOpen {
			t.Fatalf("after %c for long the last edge is %q", final, last)
		}
	})
}

// Property 10: a missing queue never acts; one missing sample changes nothing;
// after a removal the first edge is open.
func TestProperty_GoneNeverActs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limitsGen(t)
		w := newWalk(l)
		first := false
		for _, v := range walkGen(t, "TFHUG") {
			before := w.state
			o := w.sample(v)
			if v == 'G' {
				if o.edge != "" {
					t.Fatalf("edge %s at a missing queue", o.edge)
				}
				after := w.state
				after.Gone = before.Gone
				if !o.removed && after != before {
					t.Fatalf("a missing sample changed %+v to %+v", before, after)
				}
			}
			if first && o.edge != "" && o.edge != EdgeOpen {
				t.Fatalf("the first edge after a removal is %s", o.edge)
			}
			first = o.removed || first && o.edge == ""
		}
	})
}
