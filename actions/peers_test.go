package actions

import (
	"context"
	"errors"
	"testing"

	"github.com/situationd/situationd/situations"
	"pgregory.net/rapid"
)

// lowerBoth lets the daemon of QM3 lower at the moment ours does.
func lowerBoth(w *world) {
	w.onSet = func(c setCall) {
		if c.values[0].Value == disabled && c.values[0].Attr == attrPut {
			w.others[0].Put = false
		}
	}
}

func TestTwoDaemonsLowerAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		qmid string
		wait int // intervals until ours is put back
	}{
		{"lowest", "QM2_A", 2},
		{"second", "QM4_Z", 3}, // seen at the first sample, two intervals later its turn
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(w *world) { w.qmid = tc.qmid; lowerBoth(w) }, func(t *testing.T, w *world) {
				w.depth, w.mover.perSecond = 100, 1
				w.tick(w.intent("D", open, disableAll...))
				w.want(attrPut, disabled)
				w.pass(tc.wait - 1)
				w.want(attrPut, disabled)
				w.pass(1)
				w.want(attrPut, enabled)
				w.wantHeld("D", HoldDwell, HoldLastInstance)
				lines := w.journal.all()
				guard := lines[len(lines)-2]
				if guard.Edge != situations.EdgeGuard || guard.Action != "put ENABLED" || guard.Result != resultDone {
					t.Errorf("line %+v", guard)
				}
				w.pass(5)
				w.want(attrPut, enabled)
				w.wantHeld("D", HoldLastInstance)
				w.mu.Lock()
				w.onSet, w.others[0].Put = nil, true
				w.mu.Unlock()
				w.pass(1)
				w.want(attrPut, disabled) // deferred, not dropped
			})
		})
	}
}

func TestTheOtherPutsBackFirst(t *testing.T) {
	bubble(t, func(w *world) { w.qmid = "QM4_Z"; lowerBoth(w) }, func(_ *testing.T, w *world) {
		w.tick(w.intent("D", open, put(disabled)))
		w.pass(1)
		w.others[0].Put = true
		w.pass(5)
		w.want(attrPut, disabled)
	})
}

func TestPutBackGivesUpAClaim(t *testing.T) {
	bubble(t, func(w *world) { w.qmid = "QM2_A"; lowerBoth(w) }, func(t *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.pass(3)
		w.want(attrPut, enabled)
		if c := w.engine.Claims(); len(c) != 0 {
			t.Errorf("claims %v", c)
		}
		w.person(attrPut, disabled)
		w.pass(3)
		w.tick(w.intent("S", closed, revert))
		w.pass(1)
		w.want(attrPut, disabled)
	})
}

// fakePeers answers what the other daemon shows.
type fakePeers struct {
	intents []PeerIntent
	rows    []PeerInstance
	err     error
	asked   int
	onAsk   func()
}

func (p *fakePeers) Look(context.Context, string) (PeerLook, error) {
	p.asked++
	if p.onAsk != nil {
		p.onAsk()
	}
	return PeerLook{Intents: p.intents, Instances: p.rows}, p.err
}

func TestPeers(t *testing.T) {
	t.Parallel()
	other := func(qmid string) []PeerIntent {
		return []PeerIntent{{QMgr: "QM3", QMID: qmid, Queue: queueName}}
	}
	t.Run("nobody else", func(t *testing.T) {
		p := &fakePeers{}
		var published int
		bubble(t, func(w *world) {
			w.opt.Peers = p
			p.onAsk = func() { published = max(published, len(w.engine.Publishing())) }
		}, func(t *testing.T, w *world) {
			w.tick(w.intent("D", open, put(disabled)))
			w.want(attrPut, disabled)
			if published != 1 {
				t.Error("the intent was not published before the peers were asked")
			}
			if n := len(w.engine.Publishing()); n != 1 {
				t.Errorf("%d intents shown just after, want 1 for one interval", n)
			}
			w.pass(2)
			if n := len(w.engine.Publishing()); n != 0 {
				t.Errorf("%d intents shown two intervals later", n)
			}
		})
	})
	t.Run("a lower QMID wants it", func(t *testing.T) {
		p := &fakePeers{intents: other("QM1_A")}
		bubble(t, func(w *world) { w.opt.Peers = p }, func(t *testing.T, w *world) {
			w.tick(w.intent("D", open, put(disabled)))
			w.pass(3)
			w.want(attrPut, enabled)
			w.wantHeld("D", HoldPeers)
			if n := len(w.engine.Publishing()); n != 0 {
				t.Error("still published while the other goes first")
			}
			p.intents = nil
			w.pass(1)
			w.want(attrPut, disabled)
		})
	})
	t.Run("a higher QMID wants it", func(t *testing.T) {
		p := &fakePeers{intents: other("QM3_C")}
		bubble(t, func(w *world) { w.opt.Peers = p }, func(t *testing.T, w *world) {
			w.tick(w.intent("D", open, put(disabled)))
			w.want(attrPut, enabled)
			if n := len(w.engine.Publishing()); n != 1 {
				t.Error("not published, so the other would never withdraw")
			}
			p.intents = nil
			w.pass(1)
			w.want(attrPut, disabled)
		})
	})
	t.Run("lowered a moment ago, and not heard of yet", func(t *testing.T) {
		p := &fakePeers{rows: []PeerInstance{{QMgr: "QM3", QMID: "QM3_C", Put: false}}}
		bubble(t, func(w *world) { w.opt.Peers = p }, func(t *testing.T, w *world) {
			w.tick(w.intent("D", open, put(disabled)))
			w.pass(2)
			w.want(attrPut, enabled)
			w.wantHeld("D", HoldLastInstance)
			if n := len(w.engine.Publishing()); n != 0 {
				t.Error("still published, so the other would wait for it")
			}
			p.rows[0].Put = true
			w.pass(1)
			w.want(attrPut, disabled)
		})
	})
	t.Run("unreachable: raising only", func(t *testing.T) {
		p := &fakePeers{err: errors.New("connection refused")}
		bubble(t, func(w *world) { w.opt.Peers = p }, func(_ *testing.T, w *world) {
			w.tick(w.intent("D", open, put(disabled)))
			w.pass(3)
			w.want(attrPut, enabled)
			w.wantHeld("D", HoldPeers)
			w.tick(w.intent("D", closed), w.intent("A", open, last(put(disabled))))
			w.want(attrPut, disabled) // allow_last takes no part
			w.pass(1)
			w.tick(w.intent("A", closed), w.intent("E", open, put(enabled)))
			w.want(attrPut, enabled)
		})
	})
}

// TestPeersNeverBothLower runs the protocol of two daemons in every order.
func TestPeersNeverBothLower(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type daemon struct {
			qmid             string
			step             int // 0 look, 1 publish, 2 ask, 3 lowered
			published, lower bool
		}
		ds := []*daemon{{qmid: "A"}, {qmid: "B"}}
		ask := func(i int) peerStep {
			var seen []PeerIntent
			if o := ds[1-i]; o.published {
				seen = []PeerIntent{{QMID: o.qmid, Queue: "Q"}}
			}
			v, _ := weigh(ds[i].qmid, "Q", seen)
			return v
		}
		for range 60 {
			i := rapid.IntRange(0, 1).Draw(t, "who")
			d := ds[i]
			switch d.step {
			case 0:
				if v := ask(i); d.published || v != peersWithdraw {
					d.step = 1
				}
			case 1:
				d.published = true
				d.step = 2
			case 2:
				switch ask(i) {
				case peersGo:
					d.lower, d.step = true, 3
				case peersWithdraw:
					d.published, d.step = false, 0
				case peersWait:
					d.step = 1
				}
			}
			if ds[0].lower && ds[1].lower {
				t.Fatal("both lowered")
			}
		}
	})
}
