package adapt

import (
	"bytes"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/redistribute"
)

var (
	moveMessages = flag.Int("move.messages", 2500, "how many messages of every kind TestMove_EveryKind strands on QM2")
	moveSeed     = flag.Uint64("move.seed", 0, "seed of TestMove_EveryKind; 0 takes the time")
)

// TestMove_EveryKind strands messages of every kind on QM2 and has them moved
// over a real channel. What moves is what may; the report adds up, reason by
// reason; no message changes but for where it is.
func TestMove_EveryKind(t *testing.T) {
	t.Parallel()
	seed := *moveSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-move.seed=%d", seed)
	p := newPair(t, "BOTHRESH(2) HARDENBO")
	x := newPopulation(t, p, seed)
	x.draw(*moveMessages)
	begun := time.Now()
	x.put()
	var keys []redistribute.Sent
	for _, s := range x.subjects {
		if s.fate == returned {
			md := &s.msg.MD
			keys = append(keys, redistribute.Sent{Key: redistribute.Key{MsgID: md.MsgId, CorrelID: md.CorrelId, PutDateTime: md.PutDateTime}})
		}
	}
	if err := p.ledger.Note("DCQ1", keys, time.Now()); err != nil {
		t.Fatal(err)
	}
	before := map[int]*mqengine.Message{} // as an application would get them
	for _, m := range content(t, p.c2, "DCQ1") {
		before[number(m)] = m
	}
	x.mortals(*moveMessages/25, time.Second+time.Duration(*moveMessages)*200*time.Microsecond)
	p.lower(t)
	eventually(t, "death", func() bool { return time.Now().After(x.subjects[len(x.subjects)-1].expires) })
	t.Logf("%d messages put in %s", len(x.subjects), time.Since(begun).Round(time.Millisecond))

	moved, expired := x.run(t, "while others have some in units of work", x.count(func(s *subject) bool {
		return s.fate == foreign && s.family > 0 && !s.gotten && !s.unended // waits for another of its group
	}), func(m actions.Moved) {
		if want := x.count(func(s *subject) bool { return s.gotten || s.unended }); m.Uncommitted != want || !strings.Contains(m.Reason, "uncommitted") {
			t.Errorf("uncommitted %d (%s), want %d", m.Uncommitted, m.Reason, want)
		}
	})
	p.arrived(t)
	x.compare(t, before, false)

	if err := x.getter.Back(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.putter.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, gone := x.run(t, "when their units of work are over", 0, func(m actions.Moved) {
		if m.Uncommitted != 0 {
			t.Errorf("uncommitted %d", m.Uncommitted)
		}
	})
	moved, expired = moved+again, expired+gone
	p.arrived(t)
	x.compare(t, before, true)
	late := moved - x.with(goes) - x.with(foreign)
	if want := x.with(dies); late+expired != want {
		t.Errorf("%d of the mortal moved and %d expired here, want %d together", late, expired, want)
	}
	t.Logf("%d moved, of them %d to expire elsewhere; %d expired here", moved, late, expired)
}

// run has messages moved until a run finds nothing more, and checks the report
// of that one against what was put.
func (x *population) run(t *testing.T, when string, waiting int, check func(actions.Moved)) (moved, expired int) {
	t.Helper()
	for range 5 {
		m := x.p.move(t, nil)
		if m.Taken != 0 || m.Arrived != 0 || m.Err != nil || m.Doubt {
			t.Errorf("%s: nobody else took or brought anything: %+v", when, m)
		}
		moved, expired = moved+m.Moved, expired+m.Expired
		t.Logf("%s: %+v", when, m)
		if m.Moved > 0 {
			continue
		}
		want := actions.Skipped{
			Addressed: x.with(addressed), Bound: x.with(bound), Grouped: x.with(grouped) + waiting,
			Poison: x.with(poison), Returned: x.with(returned),
		}
		if diff := cmp.Diff(want, m.Skipped); diff != "" || m.Outcome != actions.MoveLeft {
			t.Errorf("%s: %s, what stays by reason: %s", when, m.Outcome, diff)
		}
		check(m)
		return moved, expired
	}
	t.Errorf("%s: messages move and move", when)
	return moved, expired
}

// compare looks where every message is, and whether it is what it was.
func (x *population) compare(t *testing.T, before map[int]*mqengine.Message, ended bool) {
	t.Helper()
	at := map[int]string{}
	family := map[int]string{}
	for _, site := range []struct {
		name string
		conn mqengine.Conn
	}{{"QM2", x.p.c2}, {"QM3", x.p.c3}} {
		for _, m := range content(t, site.conn, "DCQ1") {
			n := number(m)
			if at[n] != "" {
				t.Fatalf("message %d is at %s and at %s", n, at[n], site.name)
			}
			at[n] = site.name
			s := x.subjects[n]
			x.same(t, n, s, before[n], m)
			if s.family == 0 {
				continue
			}
			if other := family[s.family]; other != "" && other != site.name && (ended || s.fate != foreign) {
				t.Errorf("the group of message %d (%s) is torn", n, s.fate)
			}
			family[s.family] = site.name
		}
	}
	for n, s := range x.subjects {
		want := "QM2"
		switch s.fate {
		case goes:
			want = "QM3"
		case foreign:
			if ended {
				want = "QM3"
			} else if s.gotten || s.unended {
				want = ""
			}
		case dies:
			if at[n] == "QM2" && time.Now().After(s.expires.Add(time.Second)) && ended {
				t.Errorf("message %d should be dead", n)
			}
			continue
		}
		if at[n] != want {
			t.Errorf("message %d (%s, in family %d) is at %q, want %q", n, s.fate, s.family, at[n], want)
		}
	}
}

// same says that a message is what it was, but for what is left of its life.
func (x *population) same(t *testing.T, n int, s *subject, before, now *mqengine.Message) {
	t.Helper()
	was := s.msg
	if before != nil {
		was = *before
	}
	wasMD, isMD := was.MD, now.MD
	if left := time.Duration(isMD.Expiry) * 100 * time.Millisecond; wasMD.Expiry > 0 {
		if isMD.Expiry <= 0 || isMD.Expiry > wasMD.Expiry {
			t.Errorf("message %d: %s of its life are left of %d/10s", n, left, wasMD.Expiry)
		}
		isMD.Expiry = wasMD.Expiry
	}
	if s.gotten {
		isMD.BackoutCount = wasMD.BackoutCount // backed out since
	}
	if wasMD != isMD {
		t.Errorf("message %d (%s) has changed: %s", n, s.fate, cmp.Diff(wasMD, isMD))
	}
	if !bytes.Equal(was.Body, now.Body) {
		t.Errorf("message %d (%s) has another body", n, s.fate)
	}
	if !slices.EqualFunc(was.Props, now.Props, func(a, b mqi.Property) bool {
		return a.Name == b.Name && a.Type == b.Type && bytes.Equal(a.Value, b.Value)
	}) {
		t.Errorf("message %d (%s) has other properties: %v, was %v", n, s.fate, now.Props, was.Props)
	}
}
