package qmgr

import (
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

// What waits for a channel goes by priority and then by age; what is given back
// goes to its old place, and what somebody else took is passed over.
func TestBacklog_ByPriorityThenAge(t *testing.T) {
	t.Parallel()
	q := &queue{}
	b := &backlog{key: backlogKey{q, "TO.QM2"}}
	var all []*message
	for i, priority := range []uint8{4, 0, 9, 4, 9, 0, 4} {
		msg := &message{md: mqi.NewMD(), seq: uint64(i + 1), lane: priority, queue: q, channel: "TO.QM2", state: msgAvailable}
		all = append(all, msg)
		b.add(msg)
	}
	take := func() uint64 {
		msg := b.next()
		if msg == nil {
			return 0
		}
		msg.state = msgGot
		return msg.seq
	}
	for i, want := range []uint64{3, 5, 1} {
		if got := take(); got != want {
			t.Fatalf("message %d is number %d, not %d", i, got, want)
		}
	}
	all[4].state = msgAvailable // number 5 comes back
	b.add(all[4])
	all[3].state = msgGot // number 4 goes to somebody else
	for i, want := range []uint64{5, 7, 2, 6, 0} {
		if got := take(); got != want {
			t.Fatalf("message %d after one came back is number %d, not %d", i, got, want)
		}
	}
}
