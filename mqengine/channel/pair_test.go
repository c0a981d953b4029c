package channel

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/store"
	"pgregory.net/rapid"
)

// disk is a store in which everything after the last sync may be lost in a
// crash: versions are whole states, the first is the durable one.
type disk[T any] struct{ versions []T }

func (d *disk[T]) write(v T, sync bool) {
	d.versions = append(d.versions, v)
	if sync {
		d.versions = d.versions[len(d.versions)-1:]
	}
}

func (d *disk[T]) crash(t *rapid.T) T {
	d.versions = d.versions[:rapid.IntRange(1, len(d.versions)).Draw(t, "survives")]
	d.versions = d.versions[len(d.versions)-1:]
	return d.versions[0]
}

// outbox is a sending queue manager: its transmission queue and its record.
type outbox struct {
	messages []uint64 // positions, ascending; what is put is durable at once
	record   []byte
}

type inbox struct {
	got    []uint64
	record []byte
}

// tester is what a pair needs of a test, be it a plain one or one of rapid.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// pair is a sender and a receiver with a link that can be cut at any point.
type pair struct {
	t        tester
	now      time.Time
	params   SenderParams
	rparams  ReceiverParams
	sdisk    disk[outbox]
	rdisk    disk[inbox]
	out      outbox
	in       inbox
	locked   map[uint64]bool
	sender   *Sender
	receiver *Receiver
	dialled  bool
	up       bool
	toR, toS [][]byte
	put      uint64
	fail     func(seq uint64, final bool) Outcome
	sfx, rfx Effects
}

func newPair(t tester, p SenderParams, rp ReceiverParams) *pair {
	w := &pair{t: t, now: time.Unix(1e9, 0), params: p, rparams: rp}
	w.sdisk.write(outbox{}, true)
	w.rdisk.write(inbox{}, true)
	w.startSender()
	return w
}

func (w *pair) startSender() {
	w.locked = map[uint64]bool{}
	s, err := NewSender(w.params, (*pairQueue)(w), w.out.record)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, pos := range s.InDoubt() {
		w.locked[pos] = true
	}
	w.sender = s
	if s.WasActive() {
		w.stepSender(Start{})
	}
}

type pairQueue pair

func (q *pairQueue) Take(n, bytes, _ int) (items []Item) {
	for _, pos := range q.out.messages {
		if len(items) < n && !q.locked[pos] {
			q.locked[pos] = true
			items = append(items, q.item(pos))
		}
	}
	return items
}

func (q *pairQueue) item(pos uint64) Item {
	return Item{Pos: pos, Persistent: true, Header: []byte{byte(pos)}, Body: BodyRef{ID: store.BodyID(pos), Len: 8}}
}

func (q *pairQueue) Item(pos uint64) (Item, bool) {
	return q.item(pos), slices.Contains(q.out.messages, pos)
}

func (q *pairQueue) Ready() bool {
	return slices.ContainsFunc(q.out.messages, func(pos uint64) bool { return !q.locked[pos] })
}

type pairSink pair

func (q *pairSink) Deliver(m *Message, final bool) (Outcome, mqi.Reason) {
	if q.fail != nil {
		if o := q.fail(m.Seq, final); o != Delivered {
			return o, mqi.MQRC_Q_FULL
		}
	}
	q.in.got = append(slices.Clone(q.in.got), uint64(m.Body.ID))
	return Delivered, mqi.MQRC_NONE
}

func (w *pair) stepSender(ev Event) {
	w.sfx.Reset()
	w.sender.Step(w.now, ev, &w.sfx)
	fx := &w.sfx
	if len(fx.Removed) > 0 {
		w.out.messages = slices.DeleteFunc(slices.Clone(w.out.messages), func(p uint64) bool { return slices.Contains(fx.Removed, p) })
	}
	for _, p := range fx.Released {
		delete(w.locked, p)
	}
	if fx.Record != nil {
		w.out.record = fx.Record
	}
	w.sdisk.write(w.out, fx.Sync)
	for _, f := range fx.Frames {
		if w.up {
			w.toR = append(w.toR, encode(f))
		}
	}
	if fx.Close {
		w.linkEnds(true)
	}
	if fx.Dial != "" {
		w.dialled = true
	}
}

func encode(f *Frame) []byte {
	return AppendFrame(nil, f, func(b BodyRef) []byte { return fmt.Appendf(nil, "%08d", b.ID) })
}

func decode(t tester, b []byte) *Frame {
	f, err := DecodeFrame(b, DefaultLimits(), func(b []byte) BodyRef {
		var id store.BodyID
		fmt.Sscanf(string(b), "%d", &id)
		return BodyRef{ID: id, Len: len(b)}
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (w *pair) stepReceiver(ev Event) {
	if w.receiver == nil {
		return
	}
	w.rfx.Reset()
	w.receiver.Step(w.now, ev, &w.rfx)
	w.receiverDid()
}

func (w *pair) receiverDid() {
	fx := &w.rfx
	if fx.Record != nil {
		w.in.record = fx.Record
	}
	w.rdisk.write(w.in, fx.Sync)
	for _, f := range fx.Frames {
		if w.up {
			w.toS = append(w.toS, encode(f))
		}
	}
	if fx.Close {
		// What was sent before the close still arrives.
		for len(w.toS) > 0 {
			w.deliverToSender()
		}
		w.linkEnds(false)
	}
}

func (w *pair) deliverToSender() {
	f := decode(w.t, w.toS[0])
	w.toS = w.toS[1:]
	w.stepSender(FrameIn{f})
}

// linkEnds: both sides notice; the sender only if it did not do it itself.
func (w *pair) linkEnds(bySender bool) {
	w.up, w.toR, w.toS = false, nil, nil
	w.stepReceiver(LinkDown{Reason: "cut"})
	w.receiver = nil
	if !bySender {
		w.stepSender(LinkDown{Reason: "cut"})
	}
}

func (w *pair) connect() {
	if !w.dialled {
		return
	}
	w.dialled = false
	w.up = true
	w.stepSender(LinkUp{})
}

func (w *pair) deliverToReceiver() {
	f := decode(w.t, w.toR[0])
	w.toR = w.toR[1:]
	if w.receiver != nil {
		w.stepReceiver(FrameIn{f})
		return
	}
	last, err := DecodeLast(w.in.record)
	if err != nil {
		w.t.Fatal(err)
	}
	w.rfx.Reset()
	w.receiver = NewReceiver(w.now, w.rparams, (*pairSink)(w), f, last, &w.rfx)
	w.receiverDid()
}

func (w *pair) putOne() {
	w.put++
	w.out.messages = append(slices.Clone(w.out.messages), w.put)
	w.sdisk.write(w.out, true)
	w.stepSender(Wake{})
}

func (w *pair) cut() {
	if w.up {
		w.linkEnds(false)
	} else if w.dialled {
		w.dialled = false
		w.stepSender(LinkDown{Reason: "refused"})
	}
}

func (w *pair) crashSender(t *rapid.T) {
	w.up, w.dialled, w.toR, w.toS = false, false, nil, nil
	w.stepReceiver(LinkDown{Reason: "cut"})
	w.receiver = nil
	w.out = w.sdisk.crash(t)
	w.startSender()
}

func (w *pair) crashReceiver(t *rapid.T) {
	up := w.up
	w.up, w.receiver, w.toR, w.toS = false, nil, nil, nil
	w.in = w.rdisk.crash(t)
	if up {
		w.stepSender(LinkDown{Reason: "cut"})
	}
}

func (w *pair) pass(d time.Duration) {
	w.now = w.now.Add(d)
	w.stepSender(Tick{})
	w.stepReceiver(Tick{})
}

// advance lets the next thing happen that needs no time; false: nothing is on its way.
func (w *pair) advance() bool {
	switch {
	case w.dialled:
		w.connect()
	case len(w.toR) > 0:
		w.deliverToReceiver()
	case len(w.toS) > 0:
		w.deliverToSender()
	default:
		return false
	}
	return true
}

// drain lets everything run undisturbed until nothing is left.
func (w *pair) drain() {
	for range 20000 {
		if w.advance() {
			continue
		}
		if len(w.out.messages) == 0 {
			return
		}
		w.stepSender(Wake{})
		w.pass(time.Second)
	}
	w.t.Fatalf("never drained: %d left, sender %v, in doubt %v", len(w.out.messages), w.sender.Status(), w.sender.InDoubt())
}

func (w *pair) exactlyOnce() {
	want := make([]uint64, w.put)
	for i := range want {
		want[i] = uint64(i) + 1
	}
	if !slices.Equal(w.in.got, want) {
		w.t.Fatalf("arrived %v, want 1..%d once and in order", w.in.got, w.put)
	}
}

func defaults() (SenderParams, ReceiverParams) {
	return SenderParams{
			Name: "TO.QM2", Type: "CLUSSDR", Addrs: []string{"h(1)"}, BatchSz: 3, BatchLim: 5000, DiscInt: 6000, HBInt: 300,
			ShortRty: 10, ShortTmr: 60, LongRty: 999999999, LongTmr: 1200, MaxMsgL: 4 << 20, NPMFast: true, QMgr: "QM1", QMID: "QM1_ID",
		}, ReceiverParams{
			Name: "TO.QM2", HBInt: 300, MRRty: 10, MRTmr: 1000, MaxMsgL: 4 << 20, QMgr: "QM2", QMID: "QM2_ID",
		}
}

// Whatever is cut and whoever crashes, and however much of what was not synced
// is lost: every message arrives once and in order.
func TestExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, rp := defaults()
		p.BatchSz = rapid.IntRange(1, 4).Draw(t, "batchsz")
		w := newPair(t, p, rp)
		retries := rapid.Bool().Draw(t, "target is full now and then")
		if retries {
			w.fail = func(seq uint64, final bool) Outcome {
				if !final && rapid.IntRange(0, 4).Draw(t, "full") == 0 {
					return Retry
				}
				return Delivered
			}
		}
		actions := []struct {
			weight int
			do     func()
		}{
			{6, w.putOne},
			{3, func() { w.putOne(); w.putOne(); w.putOne() }},
			{4, w.connect},
			{20, func() {
				if len(w.toR) > 0 {
					w.deliverToReceiver()
				}
			}},
			{20, func() {
				if len(w.toS) > 0 {
					w.deliverToSender()
				}
			}},
			{1, w.cut},
			{1, func() { w.crashSender(t) }},
			{1, func() { w.crashReceiver(t) }},
			{3, func() { w.pass(time.Second) }},
			{1, func() { w.pass(time.Minute) }},
			{1, func() { w.stepSender(Stop{Force: rapid.Bool().Draw(t, "force")}) }},
			{2, func() { w.stepSender(Start{}) }},
		}
		var wheel []int
		for i, a := range actions {
			wheel = append(wheel, slices.Repeat([]int{i}, a.weight)...)
		}
		for range rapid.IntRange(1, 250).Draw(t, "steps") {
			actions[rapid.SampledFrom(wheel).Draw(t, "action")].do()
			if len(w.in.got) > int(w.put) {
				t.Fatalf("%d arrived, %d were put", len(w.in.got), w.put)
			}
		}
		w.fail = nil
		for w.sender.Status() == mqi.MQCHS_STOPPING && w.advance() {
		}
		for range 30 { // a paused receiver ends its retries
			w.pass(time.Second)
		}
		w.stepSender(Start{})
		w.drain()
		w.exactlyOnce()
	})
}
