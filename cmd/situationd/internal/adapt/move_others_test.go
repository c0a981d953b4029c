package adapt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/redistribute"
	"github.com/situationd/situationd/situations"
)

// byRank lowers QM2's instance by rank: it goes on taking what is addressed to it.
func (p *pair) byRank(t *testing.T) func(*actions.Order) {
	t.Helper()
	mqscRun(t, p.c3, "ALTER QLOCAL(DCQ1) CLWLRANK(9)")
	lever := actions.LeverOf([]situations.Action{{Verb: situations.VerbRank, Value: "0"}}, false)
	p.elsewhere(t, "QM3's rank", func(in *qmgr.Instance) bool { return in.Usable && in.Rank == 9 })
	return func(o *actions.Order) { o.Lever = lever }
}

// TestMove_OthersTakeAndBring has others get and put while messages move, between
// one unit of work and the next, and holds the report to what they did.
func TestMove_OthersTakeAndBring(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	p := newPair(t, "BOTHRESH(9)")
	h := open(t, p.c2, "DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_NOT_FIXED)
	in := open(t, p.c2, "DCQ1", mqi.MQOO_INPUT_SHARED)
	held := appl(t, p.qm2, token) // has messages in a unit of work
	in2 := open(t, held, "DCQ1", mqi.MQOO_INPUT_SHARED)
	ctx := t.Context()
	put := func(qmgr string) {
		md := mqi.NewMD()
		md.Priority, md.Persistence = int32(rng.IntN(10)), mqi.MQPER_PERSISTENT
		m := mqengine.Message{MD: md, Body: []byte(fmt.Sprint(rng.Uint64()))}
		if _, err := p.c2.Put1(ctx, mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: qmgr}, &m, mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT}); err != nil {
			t.Fatal(err)
		}
	}
	get := func(conn mqengine.Conn, h mqengine.Handle, options int32) int {
		_, err := conn.Get(ctx, h, mqi.NewMD(), mqi.GMO{Options: options, MaxLength: -1})
		if r := mqi.ReasonOf(err); r != mqi.MQRC_NONE && r != mqi.MQRC_NO_MSG_AVAILABLE {
			t.Fatal(err)
		} else if r == mqi.MQRC_NO_MSG_AVAILABLE {
			return 0
		}
		return 1
	}
	lever := p.byRank(t)
	for round := range 8 {
		mqscRun(t, p.c3, "ALTER QLOCAL(DCQ1) PUT(DISABLED)") // now they stay with QM2
		for range 200 + rng.IntN(200) {
			put("QM2") // addressed: only what is put without a name moves
		}
		p.elsewhere(t, "QM2 alone", func(in *qmgr.Instance) bool { return !in.Put })
		mqscRun(t, p.c2, "ALTER QLOCAL(DCQ1) CLWLRANK(9)")
		for range 300 {
			m := mqengine.Message{MD: mqi.NewMD(), Body: []byte(fmt.Sprint(rng.Uint64()))}
			m.MD.Priority = int32(rng.IntN(10))
			if _, err := p.c2.Put(ctx, h, &m, mqi.PMO{}); err != nil {
				t.Fatal(err)
			}
		}
		mqscRun(t, p.c2, "ALTER QLOCAL(DCQ1) CLWLRANK(0)")
		mqscRun(t, p.c3, "ALTER QLOCAL(DCQ1) PUT(ENABLED)")
		p.byRank(t)
		waiting := 0
		for range rng.IntN(5) {
			waiting += get(held, in2, mqi.MQGMO_SYNCPOINT)
		}
		took, brought := 0, 0
		o := actions.Order{Queue: "DCQ1", Base: "DCQ1", Type: "QLOCAL"}
		lever(&o)
		m := NewMover(p.link, redistribute.NewLedger(0, nil)).Move(ctx, o, func() error { return nil }, func(actions.Moved) {
			switch rng.IntN(5) {
			case 0:
				for range rng.IntN(20) {
					took += get(p.c2, in, mqi.MQGMO_NO_SYNCPOINT)
				}
			case 1:
				for range rng.IntN(20) {
					put("QM2")
					brought++
				}
			case 2: // in a unit of work: gone as well, for now
				n := get(held, in2, mqi.MQGMO_SYNCPOINT)
				took, waiting = took+n, waiting+n
			case 3:
				if err := held.Back(ctx); err != nil {
					t.Fatal(err)
				}
				took, waiting = took-waiting, 0
			}
		})
		if m.Outcome != actions.MoveLeft || m.Moved == 0 {
			t.Errorf("round %d: %+v", round, m)
		}
		if m.Taken != took || m.Arrived != brought || m.Start+m.Arrived != m.Moved+m.Expired+m.Taken+m.Remaining {
			t.Errorf("round %d: others took %d and brought %d, and the report says %+v", round, took, brought, m)
		}
		if now := depth(t, p.c2, "DCQ1"); m.Remaining != now {
			t.Errorf("round %d: %d remain, the report says %d", round, now, m.Remaining)
		}
		if err := held.Back(ctx); err != nil {
			t.Fatal(err)
		}
		p.arrived(t)
	}
}

// TestMove_WhatForbidsIt asks the real queue managers for each thing that keeps
// messages where they are, and that it is gone when it is gone.
func TestMove_WhatForbidsIt(t *testing.T) {
	t.Parallel()
	p := newPair(t, "DEFPSIST(YES)")
	ctx := t.Context()
	h := open(t, p.c2, "DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_NOT_FIXED)
	for i := range 30 {
		m := mqengine.Message{MD: mqi.NewMD(), Body: []byte(fmt.Sprint(i))}
		if _, err := p.c2.Put(ctx, h, &m, mqi.PMO{}); err != nil {
			t.Fatal(err)
		}
	}
	p.lower(t)
	byPriority := func(o *actions.Order) {
		o.Lever = actions.LeverOf([]situations.Action{{Verb: situations.VerbPriority, Value: "0"}}, false)
	}
	theirs, ours := appl(t, p.qm2, ""), appl(t, p.qm2, token)
	var reader mqengine.Handle
	alter := func(c mqengine.Conn, text string) func() { return func() { mqscRun(t, c, text) } }
	want := func(what string, m actions.Moved, outcome actions.Outcome, reason string) {
		t.Helper()
		if m.Outcome != outcome || m.Moved != 0 || m.Remaining != 30 || !strings.Contains(m.Reason, reason) {
			t.Errorf("%s: %+v, want %s because of %q", what, m, outcome, reason)
		}
	}
	for _, tc := range []struct {
		what       string
		order      func(*actions.Order)
		begin, end func()
		outcome    actions.Outcome
		reason     string
	}{
		{"GET(DISABLED)", nil, alter(p.c2, "ALTER QLOCAL(DCQ1) GET(DISABLED)"), alter(p.c2, "ALTER QLOCAL(DCQ1) GET(ENABLED)"), actions.MoveRefused, "GET(DISABLED)"},
		{"a reader", nil, func() { reader = open(t, theirs, "DCQ1", mqi.MQOO_INPUT_SHARED) }, func() { _ = theirs.Close(ctx, reader, 0) }, actions.MoveReader, "reader"},
		{"local messages land here", byPriority, func() {}, func() {}, actions.MoveRefused, "CLWLUSEQ(LOCAL)"},
		{
			"none that is higher", byPriority, alter(p.c2, "ALTER QMGR CLWLUSEQ(ANY)"), alter(p.c2, "ALTER QMGR CLWLUSEQ(LOCAL)"),
			actions.MoveWaiting, "no other instance",
		},
		{
			"the other one takes none", nil,
			func() {
				mqscRun(t, p.c3, "ALTER QLOCAL(DCQ1) PUT(DISABLED)")
				p.elsewhere(t, "QM3 disabled", func(in *qmgr.Instance) bool { return !in.Put })
			},
			func() {
				mqscRun(t, p.c3, "ALTER QLOCAL(DCQ1) PUT(ENABLED)")
				p.elsewhere(t, "QM3 enabled", func(in *qmgr.Instance) bool { return in.Put })
			}, actions.MoveWaiting, "no other instance",
		},
		{"a queue that is gone", func(o *actions.Order) { o.Base = "NONE" }, func() {}, func() {}, actions.MoveFailed, ""},
	} {
		tc.begin()
		m := p.move(t, tc.order)
		if tc.outcome == actions.MoveFailed {
			if m.Outcome != tc.outcome || m.Err == nil || m.Moved != 0 {
				t.Errorf("%s: %+v", tc.what, m)
			}
		} else {
			want(tc.what, m, tc.outcome, tc.reason)
		}
		tc.end()
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	o := actions.Order{Queue: "DCQ1", Base: "DCQ1", Type: "QLOCAL"}
	if m := NewMover(p.link, p.ledger).Move(cancelled, o, func() error { return nil }, func(actions.Moved) {}); m.Outcome != actions.MoveCancelled || m.Moved != 0 {
		t.Errorf("cancelled before it began: %+v", m)
	}
	open(t, ours, "DCQ1", mqi.MQOO_INPUT_SHARED) // the daemon's own is no reader
	mqscRun(t, p.c2, "ALTER QMGR CLWLUSEQ(ANY)")
	mqscRun(t, p.c3, "ALTER QLOCAL(DCQ1) CLWLPRTY(1)")
	p.elsewhere(t, "QM3's priority", func(in *qmgr.Instance) bool { return in.Prty == 1 })
	if m := p.move(t, byPriority); m.Outcome != actions.MoveEmpty || m.Moved != 30 || m.To["QM3"] != 30 {
		t.Errorf("when nothing forbids it: %+v", m)
	}
}
