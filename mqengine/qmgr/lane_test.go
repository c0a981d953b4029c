package qmgr

import (
	"testing"

	"pgregory.net/rapid"
)

// TestLaneAgainstSlice drives a lane and a plain slice with the same operations.
func TestLaneAgainstSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var pool chunkPool
		var l lane
		var model []*message
		seq := uint64(0)
		pick := func(t *rapid.T) int { return rapid.IntRange(0, len(model)-1).Draw(t, "which") }
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 3, chunkSize + 7}).Draw(t, "many") {
					seq += rapid.SampledFrom([]uint64{1, 1, 5}).Draw(t, "gap")
					msg := &message{seq: seq, state: msgAvailable}
					l.push(&pool, msg)
					model = append(model, msg)
				}
			},
			"remove": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i := pick(t)
				for n := min(rapid.SampledFrom([]int{1, 2, 200}).Draw(t, "many"), len(model)-i); n > 0; n-- {
					l.remove(&pool, model[i])
					model = append(model[:i:i], model[i+1:]...)
				}
			},
			"hold or free": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				msg := model[pick(t)]
				if msg.state == msgAvailable {
					msg.state = msgGot
					return
				}
				msg.state = msgAvailable
				l.freed(msg.seq)
			},
			"after": func(t *rapid.T) {
				from := rapid.Uint64Range(0, seq).Draw(t, "from")
				var want *message
				for _, msg := range model {
					if msg.seq > from {
						want = msg
						break
					}
				}
				if got := l.after(from); got != want {
					t.Fatalf("after(%d): got %v, want %v", from, got, want)
				}
			},
			"": func(t *rapid.T) {
				var want *message
				for _, msg := range model {
					if msg.available() {
						want = msg
						break
					}
				}
				if got := l.firstAvailable(); got != want {
					t.Fatalf("first available: got %v, want %v", got, want)
				}
				i := 0
				for msg := l.after(0); msg != nil; msg = l.after(msg.seq) {
					if i >= len(model) || msg != model[i] {
						t.Fatalf("entry %d is not the model's", i)
					}
					i++
				}
				if i != len(model) || l.live != len(model) {
					t.Fatalf("walked %d, live %d, want %d", i, l.live, len(model))
				}
			},
		})
	})
}

// TestLaneMemoryIsBounded: a queue through which a million messages passed while
// one stayed does not hold a million places.
func TestLaneMemoryIsBounded(t *testing.T) {
	t.Parallel()
	var pool chunkPool
	var l lane
	stay := &message{seq: 1, state: msgGot}
	l.push(&pool, stay)
	for seq := uint64(2); seq < 1_000_000; seq++ {
		msg := &message{seq: seq, state: msgAvailable}
		l.push(&pool, msg)
		if l.firstAvailable() != msg {
			t.Fatal("not the next message")
		}
		l.remove(&pool, msg)
	}
	places := 0
	for _, c := range l.chunks {
		places += cap(c.entries)
	}
	if places > 4*chunkSize {
		t.Errorf("%d places for one message", places)
	}
}
