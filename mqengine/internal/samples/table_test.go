package samples

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/qmgr"
)

func rowOf(number uint32, name string, depth int) *Row {
	return &Row{QueueStatus: qmgr.QueueStatus{Number: number, Name: name, Type: "QLOCAL", Counts: qmgr.QueueCounts{CurDepth: depth}}}
}

func gone(number uint32) *Row {
	return &Row{QueueStatus: qmgr.QueueStatus{Number: number}, Gone: true}
}

// Samples since a revision, applied one after the other, always give the present state.
func TestTable_Model(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table := NewTable(time.Now())
		want, have := map[string]int{}, map[string]int{}
		var since uint64
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				n := rapid.Uint32Range(1, 6).Draw(t, "queue")
				name := fmt.Sprintf("Q%d", n)
				depth := rapid.IntRange(0, 99).Draw(t, "depth")
				table.Publish([]*Row{rowOf(n, name, depth)}, make([]*Row, 1))
				want[name] = depth
			},
			"delete": func(t *rapid.T) {
				n := rapid.Uint32Range(1, 6).Draw(t, "queue")
				table.Publish([]*Row{gone(n)}, make([]*Row, 1))
				delete(want, fmt.Sprintf("Q%d", n))
			},
			"sample": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "forget") == 0 {
					since = rapid.SampledFrom([]uint64{0, 1, 1 << 63}).Draw(t, "since") // another life's
				}
				s := table.Since(since)
				if s.Full {
					clear(have)
				}
				for _, name := range s.Deleted {
					delete(have, name)
				}
				for _, q := range s.Rows {
					have[q.Name] = q.Counts.CurDepth
				}
				since = s.Revision
				if fmt.Sprint(have) != fmt.Sprint(want) {
					t.Fatalf("have %v, want %v", have, want)
				}
			},
		})
	})
}

// Whoever asks since before the oldest remembered deletion gets everything.
func TestTable_ManyDeletions_Full(t *testing.T) {
	t.Parallel()
	table := NewTable(time.Now())
	first := table.Since(0).Revision
	for n := range uint32(tombstonesMax + 10) {
		table.Publish([]*Row{rowOf(n, fmt.Sprint(n), 0)}, make([]*Row, 1))
		table.Publish([]*Row{gone(n)}, make([]*Row, 1))
	}
	if s := table.Since(first); !s.Full || len(s.Rows) != 0 {
		t.Errorf("an old revision gives full %v, %d rows", s.Full, len(s.Rows))
	}
	if len(*table.slots.Load()) != 1 {
		t.Errorf("%d slots for one queue at a time", len(*table.slots.Load()))
	}
}
