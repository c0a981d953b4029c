package channel

import (
	"slices"
	"testing"
	"time"
)

// A message in doubt that is on the queue no more, for whatever reason, is in
// doubt no more once the other end has said what it has: else the channel would
// hold it, and RESET and RESOLVE up, for ever.
func TestSender_InDoubtMessageIsGone_IsForgotten(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string][]uint64{
		"the first": {1}, "one between": {2}, "the last": {4}, "the last two": {3, 4}, "all": {1, 2, 3, 4}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, rp := defaults()
			w := newPair(t, p, rp)
			for range 4 {
				w.putOne()
			}
			w.connect()
			for len(w.sender.InDoubt()) < 4 {
				if !w.advance() {
					t.Fatalf("only %v are in doubt", w.sender.InDoubt())
				}
			}
			w.cut() // what was sent does not arrive
			w.out.messages = slices.DeleteFunc(slices.Clone(w.out.messages), func(p uint64) bool { return slices.Contains(gone, p) })
			want := slices.Clone(w.out.messages)
			for range 200 {
				if !w.advance() {
					w.stepSender(Wake{})
					w.pass(time.Second)
				}
			}
			if left := w.sender.InDoubt(); len(left) > 0 || len(w.out.messages) > 0 {
				t.Errorf("%v in doubt and %v on the queue after all was sent", left, w.out.messages)
			}
			if !slices.Equal(w.in.got, want) {
				t.Errorf("arrived %v, want %v", w.in.got, want)
			}
		})
	}
}
