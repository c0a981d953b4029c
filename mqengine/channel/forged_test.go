package channel

import (
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// taker takes every message.
type taker struct{ seqs []uint64 }

func (k *taker) Deliver(m *Message, _ bool) (Outcome, mqi.Reason) {
	k.seqs = append(k.seqs, m.Seq)
	return Delivered, mqi.MQRC_NONE
}

// Numbers that are not next are taken only as far as a real sender's can be
// missing; a partner that jumps, or somebody who says he is the partner, is refused,
// so that nothing that the real one sends is thrown away as received before.
func TestReceiver_JumpOfNumbers_Refused(t *testing.T) {
	t.Parallel()
	const last = 10
	for name, test := range map[string]struct {
		hello uint64 // what the sender says is its next
		seqs  []uint64
		taken int
	}{
		"next":                              {11, []uint64{11, 12, 13}, 3},
		"again, some missing":               {20, []uint64{11, 14, 19, 20}, 4},
		"again, the last missing":           {20, []uint64{20, 21}, 2},
		"again, all but old ones":           {20, []uint64{9, 10, 11}, 1},
		"sender with another partner's":     {900, []uint64{11, 12}, 2},
		"gap in new ones":                   {11, []uint64{11, 13}, 1},
		"gap behind what was in doubt":      {20, []uint64{20, 22}, 1},
		"far jump":                          {1 << 60, []uint64{1 << 60}, 0},
		"farther than anybody is in doubt":  {last + maxAhead + 5, []uint64{last + maxAhead + 1}, 0},
		"as far as somebody can be":         {last + maxAhead, []uint64{last + maxAhead}, 1},
		"last number there is":              {^uint64(0), []uint64{^uint64(0)}, 0},
		"first of a sender that lost count": {1, []uint64{11}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := new(taker)
			var fx Effects
			r := NewReceiver(time.Unix(0, 0), ReceiverParams{Name: "TO.QM1"}, k, &Frame{Kind: FrameHello, QMgr: "QM2", Seq: test.hello}, last, &fx)
			f := &Frame{Kind: FrameBatch, Batch: 1}
			for _, seq := range test.seqs {
				f.Messages = append(f.Messages, Message{Seq: seq, Persistent: true})
			}
			fx.Reset()
			r.Step(time.Unix(1, 0), FrameIn{Frame: f}, &fx)
			if len(k.seqs) != test.taken {
				t.Errorf("took %v", k.seqs)
			}
			refused := test.taken == 0 || k.seqs[test.taken-1] != test.seqs[len(test.seqs)-1]
			if fx.Close != refused {
				t.Errorf("link closed: %v", fx.Close)
			}
			if want := uint64(last); test.taken == 0 && r.Last() != want {
				t.Errorf("the receiver has %d, want %d", r.Last(), want)
			}
			if refused && (len(fx.Log) == 0 || !strings.HasPrefix(fx.Log[0].ID, "AMQ9526")) {
				t.Errorf("log: %v", fx.Log)
			}
		})
	}
}

// A heartbeat interval that no definition can have does not keep a dead link for ever.
func TestHeartbeatInterval_Bounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	for _, hb := range []int{maxHBInt + 1, 1 << 32, 1 << 40, 1<<63 - 1} {
		var fx Effects
		r := NewReceiver(now, ReceiverParams{Name: "TO.QM1", HBInt: 300}, new(taker), &Frame{Kind: FrameHello, HBInt: hb}, 0, &fx)
		if at := r.NextDeadline(); !at.After(now) || at.After(now.Add(silence(maxHBInt*time.Second))) {
			t.Errorf("HBINT %d: the deadline is %v", hb, at)
		}
	}
}
