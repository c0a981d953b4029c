package actions

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/situations"
	"pgregory.net/rapid"
)

// availability makes the actions of the short form: idle and read share a claim.
func availability(name string, a situations.Action) situations.Action {
	a.Claim, a.ClaimName = true, name
	if a.Verb == situations.VerbRevert {
		a.Claim = false
	}
	return a
}

func TestRevertGivesBackWhatWasFound(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrRank], w.others[0].ClwlRank = "4", 9 }, func(t *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(rank("0"))))
		w.want(attrRank, "0")
		w.pass(1)
		w.tick(w.intent("S", closed, revert))
		w.want(attrRank, "4")
		w.pass(1)
		if c := w.engine.Claims(); len(c) != 0 || len(w.store.claims) != 0 {
			t.Errorf("claims left: %v", c)
		}
	})
}

func TestFoundAsWantedIsNotOurs(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrPut] = disabled }, func(_ *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.pass(1)
		w.tick(w.intent("S", closed, revert))
		w.pass(1)
		w.want(attrPut, disabled)
	})
}

func TestRevertWithoutRecordDoesNothing(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrPut] = disabled }, func(_ *testing.T, w *world) {
		w.tick(w.intent("Q.read", open, availability("Q", revert)))
		w.want(attrPut, disabled)
		w.tick(w.intent("E", open, put(enabled))) // but an explicit put acts
		w.want(attrPut, enabled)
	})
}

func TestPersonsEnableStays(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.tick(w.intent("Q.idle", open, availability("Q", put(disabled))))
		w.pass(2)
		w.person(attrPut, enabled)
		w.pass(5)
		w.want(attrPut, enabled)
		w.tick(w.intent("Q.idle", closed), w.intent("Q.read", open, availability("Q", revert)))
		w.pass(1)
		w.want(attrPut, enabled)
		if c := w.engine.Claims(); len(c) != 0 {
			t.Errorf("claims left: %v", c)
		}
		// The next edge is a new one.
		w.tick(w.intent("Q.read", closed), w.intent("Q.idle", open, availability("Q", put(disabled))))
		w.want(attrPut, disabled)
	})
}

func TestPersonsDisableStays(t *testing.T) {
	bubble(t, nil, func(_ *testing.T, w *world) {
		w.readers = 1
		w.tick(w.intent("Q.read", open, availability("Q", revert)))
		w.person(attrPut, disabled)
		w.pass(2)
		w.tick(w.intent("Q.read", closed), w.intent("Q.idle", open, availability("Q", put(disabled))))
		w.pass(2)
		w.tick(w.intent("Q.idle", closed), w.intent("Q.read", open, availability("Q", revert)))
		w.pass(2)
		w.want(attrPut, disabled)
	})
}

func TestPlainActionSetsOncePerEdge(t *testing.T) {
	bubble(t, nil, func(_ *testing.T, w *world) {
		w.tick(w.intent("D", open, put(disabled)))
		w.pass(1)
		w.person(attrPut, enabled)
		w.pass(5)
		w.want(attrPut, enabled)
		w.tick(w.intent("D", closed), w.intent("E", open, put(enabled)))
		w.pass(2)
		w.tick(w.intent("E", closed), w.intent("D", open, put(disabled)))
		w.want(attrPut, disabled)
	})
}

func TestPersonsChangeWhileTheDaemonIsDown(t *testing.T) {
	bubble(t, nil, func(_ *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.pass(1)
		w.end()
		w.person(attrPut, enabled)
		w.run()
		w.pass(3)
		w.want(attrPut, enabled)
		w.tick(w.intent("S", closed, revert))
		w.pass(1)
		w.want(attrPut, enabled)
	})
}

func TestClaimSurvivesRestart(t *testing.T) {
	bubble(t, nil, func(_ *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.pass(1)
		w.end()
		w.run()
		w.pass(3)
		w.want(attrPut, disabled)
		w.tick(w.intent("S", closed, revert))
		w.pass(1)
		w.want(attrPut, enabled)
	})
}

func TestProgramsChangeIsNotAPersons(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrRank], w.others[0].ClwlRank = "5", 9 }, func(_ *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(rank("0"))))
		w.pass(1)
		w.programs.do = func() { w.person(attrRank, "2") }
		w.tick(w.intent("T", open, script))
		w.pass(2)
		w.tick(w.intent("S", closed, revert))
		w.pass(1)
		w.want(attrRank, "5")
	})
}

func TestAvailabilityByRankSharesItsClaim(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrRank], w.others[0].ClwlRank = "3", 9 }, func(t *testing.T, w *world) {
		read, idle := availability("Q", rank("9")), availability("Q", rank("0"))
		w.readers = 1
		w.tick(w.intent("Q.read", open, read))
		w.want(attrRank, "9")
		w.pass(3)
		w.tick(w.intent("Q.read", closed), w.intent("Q.idle", open, idle))
		w.want(attrRank, "0")
		w.pass(3)
		w.tick(w.intent("Q.idle", closed), w.intent("Q.read", open, read))
		w.want(attrRank, "9")
		c := w.engine.Claims()
		if len(c) != 1 || c[0].Baseline != "3" || c[0].Set != "9" || len(c[0].Holders) != 1 {
			t.Fatalf("claims %+v", c)
		}
		w.pass(3)
		// The rule is removed: the value found first comes back.
		gone := w.intent("Q.read", closed, availability("Q", revert))
		gone.Row.Env, gone.Reason = nil, "situation removed"
		w.tick(gone)
		w.want(attrRank, "3")
		lines := w.journal.all()
		if l := lines[len(lines)-1]; l.Reason != "situation removed" || l.Action != "revert" || *l.Before != "9" || *l.After != "3" {
			t.Errorf("line %+v", l)
		}
	})
}

func TestTwoRulesHoldOneValue(t *testing.T) {
	bubble(t, nil, func(_ *testing.T, w *world) {
		w.tick(w.intent("A", open, claimed(put(disabled))))
		w.tick(w.intent("B", open, claimed(put(disabled))))
		w.pass(1)
		w.tick(w.intent("A", closed, revert))
		w.pass(1)
		w.want(attrPut, disabled) // B still holds it
		w.tick(w.intent("B", closed, revert))
		w.pass(1)
		w.want(attrPut, enabled)
	})
}

func TestUseQComesAndGoesWithTheLever(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrPriority], w.others[0].ClwlPrty = "1", 1 }, func(t *testing.T, w *world) {
		down := priority("0")
		down.UseQ = "any"
		w.tick(w.intent("D", open, down))
		w.want(attrPriority, "0")
		w.want(attrUseQ, useAny)
		if n := len(w.sets); n != 1 {
			t.Errorf("%d commands, want one for both attributes", n)
		}
		w.pass(1)
		w.tick(w.intent("D", closed), w.intent("E", open, priority("1")))
		w.want(attrPriority, "1")
		w.want(attrUseQ, "QMGR")
		w.pass(3)
		w.tick(w.intent("E", closed), w.intent("D", open, down))
		w.pass(1)
		w.person(attrUseQ, "LOCAL")
		w.pass(1)
		w.tick(w.intent("D", closed), w.intent("E", open, priority("1")))
		w.want(attrUseQ, "LOCAL")
	})
}

func TestUseQOfAnAliasIsItsBases(t *testing.T) {
	bubble(t, func(w *world) { w.typ, w.values[attrPriority], w.others[0].ClwlPrty = "QALIAS", "1", 1 }, func(t *testing.T, w *world) {
		down := priority("0")
		down.UseQ = "any"
		w.tick(w.intent("D", open, down))
		var got [][]Value
		for _, s := range w.sets {
			got = append(got, s.values)
		}
		want := [][]Value{{{attrPriority, "0"}}, {{attrUseQ, useAny}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLastEdgeWins(t *testing.T) {
	bubble(t, func(w *world) { w.others[0].Put = false }, func(t *testing.T, w *world) {
		w.tick(w.intent("D", open, put(disabled)))
		w.wantHeld("D", HoldLastInstance)
		w.pass(1)
		w.tick(w.intent("E", open, put(enabled))) // D stays open, as overlapping rules may
		w.others[0].Put = true
		w.pass(5)
		w.want(attrPut, enabled)
		if held := w.held("D"); len(held) != 0 {
			t.Errorf("D is still held: %v", held)
		}
	})
}

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

func TestResumeFindsTheChangeMade(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		// begin: save, journal; set; then nothing more gets out.
		w.gate.set(4)
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.end()
		w.want(attrPut, disabled)
		w.run()
		w.pass(1)
		want := []string{"put DISABLED started", "put DISABLED done"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
		w.tick(w.intent("S", closed, revert))
		w.want(attrPut, enabled)
	})
}

func TestResumeRedoesTheChangeNotMade(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.gate.set(3)
		w.tick(w.intent("S", open, claimed(put(disabled))))
		w.end()
		w.want(attrPut, enabled)
		w.run()
		w.pass(1)
		want := []string{"put DISABLED started", "put DISABLED in_doubt", "put DISABLED started", "put DISABLED done"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
		if l := w.journal.all(); l[1].Attempt != 1 || l[2].Attempt != 2 {
			t.Errorf("attempts %d, %d", l[1].Attempt, l[2].Attempt)
		}
	})
}

func TestProgramInDoubtIsEndedAndRunsAgain(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.programs.takes = time.Hour
		w.tick(w.intent("S", open, script))
		w.pass(2)
		w.crash()
		w.programs.takes = 0
		w.run()
		if len(w.programs.ended) != 1 || w.programs.ended[0].PID != 4711 {
			t.Errorf("ended %v", w.programs.ended)
		}
		w.pass(1)
		want := []string{"exec /opt/fix DCQ1 started", "exec /opt/fix DCQ1 in_doubt", "exec /opt/fix DCQ1 started", "exec /opt/fix DCQ1 done"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMovingGoesOnAfterARestart(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.depth, w.mover.perSecond = 100, 10
		w.tick(w.intent("D", open, disableAll...))
		w.pass(3)
		w.crash()
		w.run()
		w.pass(10)
		if w.depth != 0 {
			t.Errorf("depth %d", w.depth)
		}
		want := []string{
			"put DISABLED started", "put DISABLED done",
			"redistribute started", "redistribute in_doubt", "redistribute started", "redistribute done",
		}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEndStopsProgramsInTime(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		w.programs.takes = time.Hour
		w.tick(w.intent("S", open, script))
		start := time.Now()
		w.end()
		if d := time.Since(start); d != defaultDrain {
			t.Errorf("the end took %s", d)
		}
		w.programs.takes = 0
		w.run()
		w.pass(1)
		if n := w.programs.count(); n != 2 {
			t.Errorf("%d runs", n)
		}
	})
}

func TestStateThatCannotBeStoredHoldsLowering(t *testing.T) {
	bubble(t, nil, func(_ *testing.T, w *world) {
		in := w.intent("S", open, put(disabled))
		w.store.setBad(true)
		w.tick(in)
		w.pass(3)
		w.want(attrPut, enabled)
		w.wantHeld("S", HoldJournal)
		w.store.setBad(false)
		w.pass(3)
		w.want(attrPut, disabled)
	})
}

func TestPersonsRankStaysOverOneEdge(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrRank], w.others[0].ClwlRank = "9", 9 }, func(t *testing.T, w *world) {
		read, idle := availability("Q", rank("9")), availability("Q", rank("0"))
		w.tick(w.intent("Q.idle", open, idle))
		w.want(attrRank, "0")
		w.pass(1)
		w.person(attrRank, "5")
		w.pass(2)
		w.tick(w.intent("Q.idle", closed), w.intent("Q.read", open, read))
		w.pass(1)
		w.want(attrRank, "5") // the edge drops the claim and leaves the value
		if c := w.engine.Claims(); len(c) != 0 {
			t.Errorf("claims %v", c)
		}
		w.tick(w.intent("Q.read", closed), w.intent("Q.idle", open, idle))
		w.want(attrRank, "0") // the one after is a new one
	})
}

func TestRevertLeavesAPersonsValue(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrRank], w.others[0].ClwlRank = "4", 9 }, func(_ *testing.T, w *world) {
		w.tick(w.intent("S", open, claimed(rank("0"))))
		w.pass(1)
		w.person(attrRank, "7")
		w.pass(1)
		w.person(attrRank, "0") // back to what we had set, but he was there
		w.pass(1)
		w.tick(w.intent("S", closed, revert))
		w.pass(1)
		w.want(attrRank, "0")
	})
}

func TestPlainActionOverridesAPerson(t *testing.T) {
	bubble(t, func(w *world) { w.values[attrRank], w.others[0].ClwlRank = "9", 9 }, func(_ *testing.T, w *world) {
		w.tick(w.intent("D", open, rank("0")))
		w.pass(1)
		w.person(attrRank, "5")
		w.pass(2)
		w.want(attrRank, "5")
		w.tick(w.intent("D", closed), w.intent("E", open, rank("9")))
		w.want(attrRank, "9")
	})
}

func TestIntentsStoredBeforeACrashAreSettledAmongThemselves(t *testing.T) {
	bubble(t, func(w *world) { w.others[0].Put = false }, func(_ *testing.T, w *world) {
		w.tick(w.intent("D", open, put(disabled)))
		w.wantHeld("D", HoldLastInstance)
		// The tick with the opposite edge was committed, but never dispatched.
		w.intent("D", closed)
		w.crash()
		w.others[0].Put = true
		w.run()
		w.pass(5)
		w.want(attrPut, enabled)
		if n := w.store.left(); n != 0 {
			w.t.Errorf("%d intents left", n)
		}
	})
}

// fakePeers answers what the other daemon shows.
type fakePeers struct {
	intents []PeerIntent
	err     error
	asked   int
	onAsk   func()
}

func (p *fakePeers) Intents(context.Context, string) ([]PeerIntent, error) {
	p.asked++
	if p.onAsk != nil {
		p.onAsk()
	}
	return p.intents, p.err
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
