package adapt

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/redistribute"
)

// foresee says what the order that p.move gives would do.
func (p *pair) foresee(t *testing.T, change func(*actions.Order)) redistribute.Forecast {
	t.Helper()
	o := actions.Order{Queue: "DCQ1", Base: "DCQ1", Type: "QLOCAL"}
	if change != nil {
		change(&o)
	}
	f, err := NewMover(p.link, p.ledger).Foresee(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Depth != f.Movable+f.Skipped.Total()+f.Uncommitted+f.Expired {
		t.Errorf("the forecast does not add up: %+v", f)
	}
	return f
}

// TestForesee_AgreesWithTheRun: whatever lies on the queue, what was foreseen is
// what the run then does, message for message of each kind, and looking moved
// nothing. The first queue is longer than one look of the engine goes.
func TestForesee_AgreesWithTheRun(t *testing.T) {
	t.Parallel()
	p := newPair(t, "BOTHRESH(2) HARDENBO")
	seed := uint64(time.Now().UnixNano())
	for i, n := range []int{4500, 300, 40, 300} {
		seed := seed + uint64(i)
		t.Logf("seed %d, %d messages", seed, n)
		mqscRun(t, p.c2, "ALTER QLOCAL(DCQ1) PUT(ENABLED)")
		x := newPopulation(t, p, seed)
		x.draw(n)
		x.put()
		for _, s := range x.subjects {
			if s.fate == returned {
				md := &s.msg.MD
				key := redistribute.Key{MsgID: md.MsgId, CorrelID: md.CorrelId, PutDateTime: md.PutDateTime}
				if err := p.ledger.Note("DCQ1", []redistribute.Sent{{Key: key}}, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
		}
		x.mortals(n/25+1, time.Millisecond)
		eventually(t, "death of all that may die between a forecast and a run", func() bool {
			return x.count(func(s *subject) bool { return s.fate == dies && !time.Now().After(s.expires.Add(10*time.Millisecond)) }) == 0
		})
		p.lower(t)
		evenIfBound := func(o *actions.Order) { o.EvenIfBound = i == 1 }
		p.agree(t, evenIfBound)
		if err := x.getter.Back(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := x.putter.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.agree(t, evenIfBound)
		p.arrived(t)
	}
}

// agree compares a forecast with the run that follows.
func (p *pair) agree(t *testing.T, change func(*actions.Order)) {
	t.Helper()
	before := depth(t, p.c2, "DCQ1")
	f := p.foresee(t, change)
	if f.Prevents != nil || before != f.Depth || depth(t, p.c2, "DCQ1") != before {
		t.Fatalf("%+v of %d messages", f, before)
	}
	m := p.move(t, change)
	type sums struct {
		Start, Moved, Expired int
		Skipped               actions.Skipped
		To                    string
	}
	want := sums{f.Depth, f.Movable, f.Expired, actions.Skipped(f.Skipped), fmt.Sprint(f.To)}
	got := sums{m.Start, m.Moved, m.Expired, m.Skipped, fmt.Sprint(m.To)}
	if f.Movable == 0 {
		want.To = "map[]"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("foreseen and done: %s\n%+v\n%+v", diff, f, m)
	}
}

// TestForesee_WhatPrevents: a run that would be refused or would be in vain is
// said to be, with what could move if it were not so, and begins no differently.
func TestForesee_WhatPrevents(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	h := open(t, p.c2, "DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_NOT_FIXED)
	for i := range 7 {
		m := &mqengine.Message{MD: mqi.NewMD(), Body: []byte{byte(i)}}
		if _, err := p.c2.Put(t.Context(), h, m, mqi.PMO{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, commands, undo string
		outcome              redistribute.Outcome
		reason               string
	}{
		{
			"in the balancing", "ALTER QLOCAL(DCQ1) PUT(ENABLED)", "", redistribute.Refused,
			"messages put here land here again (100 % of them); take this instance out of the balancing first: ALTER QLOCAL(DCQ1) PUT(DISABLED)",
		},
		{
			"shared with the other", "ALTER QLOCAL(DCQ1) CLWLUSEQ(ANY)", "ALTER QLOCAL(DCQ1) CLWLUSEQ(QMGR)", redistribute.Refused,
			"messages put here land here again (50 % of them); take this instance out of the balancing first: ALTER QLOCAL(DCQ1) PUT(DISABLED)",
		},
		{"nothing to be got", "ALTER QLOCAL(DCQ1) GET(DISABLED)", "ALTER QLOCAL(DCQ1) GET(ENABLED)", redistribute.Refused, "the queue is GET(DISABLED)"},
		{"nobody else", "SUSPEND QMGR CLUSTER(C1)", "RESUME QMGR CLUSTER(C1)", redistribute.Waiting, "no other instance is ready"},
	} {
		at := p.c2
		if c.name == "nobody else" {
			mqscRun(t, p.c2, "ALTER QLOCAL(DCQ1) PUT(DISABLED)")
			at = p.c3
		} else {
			p.lower(t) // the other is known
			mqscRun(t, p.c2, "ALTER QLOCAL(DCQ1) PUT(ENABLED)")
		}
		mqscRun(t, at, c.commands)
		eventually(t, c.name, func() bool {
			f := p.foresee(t, nil)
			return f.Prevents != nil && f.Prevents.Outcome == c.outcome && f.Prevents.Reason == c.reason
		})
		if f := p.foresee(t, nil); f.Movable != 7 || len(f.To) != 0 {
			t.Errorf("%s: %+v", c.name, f)
		}
		o := actions.Order{Queue: "DCQ1", Base: "DCQ1", Type: "QLOCAL"}
		if end, err := NewMover(p.link, p.ledger).Prevented(t.Context(), o); err != nil || end == nil || end.Reason != c.reason {
			t.Errorf("%s: %+v, %v", c.name, end, err)
		}
		if c.undo != "" {
			mqscRun(t, at, c.undo)
		}
	}
	if n := depth(t, p.c2, "DCQ1"); n != 7 {
		t.Errorf("%d messages are left of 7", n)
	}
}
