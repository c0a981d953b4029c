package actions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/situations"
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

func TestTheLastOfSeveralDaemonsGivesBackToo(t *testing.T) {
	bubble(t, func(w *world) { w.others[0].ClwlRank = 9 }, func(_ *testing.T, w *world) {
		w.tick(w.intent("Q.read", open, availability("Q", rank("9"))))
		w.want(attrRank, "9")
		w.others[0].ClwlRank = 0 // the rule is gone there already
		w.pass(3)
		w.tick(w.intent("Q.read", closed, availability("Q", revert)))
		w.want(attrRank, "0")
	})
}
