package channel

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/mqengine/store"
)

func frames() []*Frame {
	return []*Frame{
		{Kind: FrameHello, Version: 1, Channel: "TO.QM2", Type: "CLUSSDR", QMgr: "QM1", QMID: "QM1_ID", Seq: 7, HBInt: 300, MaxMsgL: 4 << 20, Reset: true, Ping: true},
		{Kind: FrameAccept, Version: 1, Channel: "TO.QM2", QMgr: "QM2", QMID: "QM2_ID", Seq: 1 << 40},
		{Kind: FrameRefuse, Code: -3, Reason: "no such channel"},
		{Kind: FrameClose, Reason: "disconnect interval"},
		{Kind: FrameConfirm, Batch: 3, Seq: 99},
		{Kind: FrameHeartbeat}, {Kind: FrameHeartbeatAck},
		{Kind: FrameBatch, Batch: 4},
		{Kind: FrameBatch, Batch: 5, Messages: []Message{
			{Seq: 8, Persistent: true, Header: []byte("head"), Body: BodyRef{ID: 1, Len: 5}},
			{Header: []byte{0}, Body: BodyRef{ID: 2, Len: 0}},
		}},
	}
}

var bodies = map[store.BodyID][]byte{1: []byte("body1"), 2: nil}

func TestFrameRoundTrip(t *testing.T) {
	for _, f := range frames() {
		b := AppendFrame(nil, f, func(r BodyRef) []byte { return bodies[r.ID] })
		next := store.BodyID(0)
		got, err := DecodeFrame(b, DefaultLimits(), func(b []byte) BodyRef {
			next++
			if !bytes.Equal(b, bodies[next]) {
				t.Errorf("body %d is %q", next, b)
			}
			return BodyRef{ID: next, Len: len(b)}
		})
		if err != nil {
			t.Errorf("%+v: %v", f, err)
			continue
		}
		if diff := cmp.Diff(f, got); diff != "" {
			t.Errorf("frame changed: %s", diff)
		}
		for i := range b {
			if _, err := DecodeFrame(b[:i], DefaultLimits(), noBody(t)); !errors.Is(err, ErrFrame) {
				t.Errorf("%d of %d bytes of %+v: %v", i, len(b), f, err)
			}
		}
		if _, err := DecodeFrame(append(b, 0), DefaultLimits(), noBody(t)); !errors.Is(err, ErrFrame) {
			t.Errorf("a byte too many of %+v: %v", f, err)
		}
	}
}

// noBody: bodies of a frame that proves bad must not be taken.
func noBody(t testing.TB) func([]byte) BodyRef {
	return func([]byte) BodyRef {
		t.Error("a body of a bad frame was taken")
		return BodyRef{}
	}
}

func TestLimits(t *testing.T) {
	f := frames()[8]
	b := AppendFrame(nil, f, func(r BodyRef) []byte { return bodies[r.ID] })
	for name, lim := range map[string]Limits{
		"frame":    {MaxFrame: len(b) - 1, MaxMessages: 9, MaxHeader: 9, MaxMsgL: 9},
		"messages": {MaxFrame: 999, MaxMessages: 1, MaxHeader: 9, MaxMsgL: 9},
		"header":   {MaxFrame: 999, MaxMessages: 9, MaxHeader: 3, MaxMsgL: 9},
		"body":     {MaxFrame: 999, MaxMessages: 9, MaxHeader: 9, MaxMsgL: 4},
	} {
		if _, err := DecodeFrame(b, lim, noBody(t)); !errors.Is(err, ErrFrame) {
			t.Errorf("limit of the %s: %v", name, err)
		}
	}
}

// Anything may come in over a port that is open to the network.
func FuzzDecodeFrame(f *testing.F) {
	for _, fr := range frames() {
		f.Add(AppendFrame(nil, fr, func(r BodyRef) []byte { return bodies[r.ID] }))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got [][]byte
		take := func(b []byte) BodyRef {
			got = append(got, b)
			return BodyRef{ID: store.BodyID(len(got)), Len: len(b)}
		}
		fr, err := DecodeFrame(b, Limits{MaxFrame: 1 << 16, MaxMessages: 100, MaxHeader: 1 << 10, MaxMsgL: 1 << 14}, take)
		if err != nil {
			if len(got) > 0 || !errors.Is(err, ErrFrame) {
				t.Fatalf("%v after taking %d bodies", err, len(got))
			}
			return
		}
		again := AppendFrame(nil, fr, func(r BodyRef) []byte { return got[r.ID-1] })
		was := got
		got = nil
		fr2, err := DecodeFrame(again, DefaultLimits(), take)
		if err != nil || !reflect.DeepEqual(fr, fr2) || len(was) != len(got) {
			t.Fatalf("%+v became %+v: %v", fr, fr2, err)
		}
	})
}

func FuzzDecodeState(f *testing.F) {
	f.Add((&state{partner: "QM2_ID", next: 9, confirmed: 4, active: true, window: []entry{{5, 17, true}, {6, 19, false}}}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeState(b)
		if err != nil {
			return
		}
		again, err := decodeState(s.encode())
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("%+v became %+v: %v", s, again, err)
		}
	})
}
