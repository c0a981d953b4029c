package channel

import (
	"slices"
	"testing"
)

// A nonpersistent message does not outlive its queue manager, and its place may
// be another message's afterwards: a sender that starts from its record has in
// doubt what is persistent, and nothing else.
func TestNewSender_ForgetsNonpersistentMessages(t *testing.T) {
	t.Parallel()
	for _, kinds := range [][]bool{{true}, {false}, {true, false, true}, {false, true, false, false}, {false, false}, {true, true, false}} {
		st := state{partner: "QM2_ID", next: uint64(len(kinds)) + 1}
		var want []uint64
		for i, persistent := range kinds {
			e := entry{seq: uint64(i + 1), pos: uint64(100 + i), persistent: persistent}
			st.window = append(st.window, e)
			if persistent {
				want = append(want, e.pos)
			}
		}
		s, err := NewSender(SenderParams{Name: "TO.QM2"}, nil, st.encode())
		if err != nil {
			t.Fatal(err)
		}
		if got := s.InDoubt(); !slices.Equal(got, want) {
			t.Errorf("of %v sent, %v are in doubt after a restart, want %v", kinds, got, want)
		}
		if got := s.Stats().LastSeq; got != uint64(len(kinds)) {
			t.Errorf("the number of the last one is %d after a restart, want %d: a number is given once", got, len(kinds))
		}
	}
}
