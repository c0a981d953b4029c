package qmgr

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/mqi"
)

// TestIndexAgreesWithScan: a get by id finds the same message with an index as by looking at every message.
func TestIndexAgreesWithScan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := New(Config{Name: "QM1"})
		q := &queue{name: "Q", attr: &queueAttr{}}
		q.index = newMatchIndex(q)
		id := func(name string) mqi.MsgId { return mqi.MsgId{byte(rapid.IntRange(1, 4).Draw(t, name))} }
		var all []*message
		for range rapid.IntRange(indexFrom, 100).Draw(t, "messages") {
			m.seq++
			msg := &message{seq: m.seq, lane: uint8(rapid.IntRange(0, 2).Draw(t, "lane")), state: msgAvailable}
			msg.md.MsgId, msg.md.CorrelId, msg.md.GroupId = id("msgid"), id("correlid"), id("groupid")
			m.insert(q, msg)
			if q.index == nil {
				q.index = newMatchIndex(q)
			}
			all = append(all, msg)
			if rapid.IntRange(0, 3).Draw(t, "fate") == 0 {
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				m.extract(q, all[i])
				all = append(all[:i], all[i+1:]...)
			}
			if len(all) > 0 && rapid.Bool().Draw(t, "hold") {
				all[rapid.IntRange(0, len(all)-1).Draw(t, "which")].state = msgGot
			}
		}
		w := matcherOf(rapid.SampledFrom([]int32{1, 2, 3, 5, 6, 7}).Draw(t, "match"), &mqi.MD{MsgId: id("msgid"), CorrelId: id("correlid"), GroupId: id("groupid")})
		p := position{rapid.IntRange(0, 9).Draw(t, "lane"), rapid.Uint64Range(0, m.seq).Draw(t, "after")}
		var want *message
		for msg := q.next(p); msg != nil && want == nil; msg = q.next(msg.position()) {
			if msg.available() && w.matches(msg) {
				want = msg
			}
		}
		if q.index == nil && len(all) > 0 {
			q.index = newMatchIndex(q)
		}
		if len(all) == 0 {
			return
		}
		if got := q.findIndexed(&w, p); got != want {
			t.Fatalf("index finds %+v, a scan %+v", got, want)
		}
	})
}
