package transport

import (
	"testing"

	"pgregory.net/rapid"
)

func (s *share) granted() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// Shares are granted in the order in which they were asked for, never more than
// the budget holds but for one frame that is alone; nobody waits without need, and
// all comes back.
func TestBudget_Model(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const size = 10
		b := NewBudget(size)
		var waiting, holding []*share
		settle := func(t *rapid.T) {
			for len(waiting) > 0 && waiting[0].granted() {
				holding = append(holding, waiting[0])
				waiting = waiting[1:]
			}
			taken := 0
			for _, h := range holding {
				taken += h.bytes
			}
			if taken > size && len(holding) > 1 {
				t.Fatalf("%d bytes are held by %d frames, the budget is %d", taken, len(holding), size)
			}
			for i, w := range waiting {
				if w.granted() {
					t.Fatalf("number %d was served before those that waited longer", i)
				}
			}
			if len(waiting) > 0 && (taken == 0 || taken+waiting[0].bytes <= size) {
				t.Fatalf("%d bytes wait although only %d are taken", waiting[0].bytes, taken)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				waiting = append(waiting, b.ask(rapid.IntRange(1, 15).Draw(t, "bytes")))
			},
			"give": func(t *rapid.T) {
				if len(holding) > 0 {
					i := rapid.IntRange(0, len(holding)-1).Draw(t, "who")
					b.give(holding[i].bytes)
					holding = append(holding[:i], holding[i+1:]...)
				}
			},
			"leave": func(t *rapid.T) {
				if len(waiting) > 0 {
					i := rapid.IntRange(0, len(waiting)-1).Draw(t, "who")
					b.leave(waiting[i])
					waiting = append(waiting[:i], waiting[i+1:]...)
				}
			},
			"leave when it is granted": func(t *rapid.T) {
				if len(holding) > 0 {
					b.leave(holding[0])
					holding = holding[1:]
				}
			},
			"": settle,
		})
		for len(holding)+len(waiting) > 0 {
			settle(t)
			b.give(holding[0].bytes)
			holding = holding[1:]
		}
		if b.taken != 0 {
			t.Fatalf("%d bytes are still taken", b.taken)
		}
	})
}

func TestBudget_None_NoLimit(t *testing.T) {
	t.Parallel()
	for _, b := range []*Budget{nil, {}} {
		if !b.take(1<<40, nil) {
			t.Error("refused")
		}
		b.give(1 << 40)
	}
}
