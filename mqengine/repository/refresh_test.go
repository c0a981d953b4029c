package repository

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whoever knows nothing but its CLUSSDR hears who the full repositories are,
// also if they know it already: after REFRESH CLUSTER REPOS(YES), and restored
// from a backup of before it joined.
func TestFullRepositoriesAreFoundAgain(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(n *node, before backup){
		"REFRESH CLUSTER REPOS(YES)": func(n *node, _ backup) { n.refresh("C1", true) },
		"restored":                   func(n *node, before backup) { n.restore(before, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, qm1, qm2, _ := article(t)
			qm4 := w.add("QM4")
			before := qm4.backup()
			qm4.join("QM1", false)
			qm4.define(queue("HERS", "C1"))
			before.member, before.queues, before.clusters = qm4.member, qm4.queues, qm4.clusters
			qm4.ask("DCQ1")
			w.settle()
			forget(qm4, before)
			if got := qm4.qmgrs(); strings.Contains(got, "QM1*") {
				t.Fatalf("QM4 has forgotten nothing: %s", got)
			}
			w.settle()
			if got := qm4.qmgrs(); !strings.Contains(got, "QM1* QM2*") {
				t.Errorf("QM4 knows %s", got)
			}
			// Both hear what changes there.
			o := queue("HERS", "C1")
			mustSet(o, "PUT", "DISABLED")
			qm4.define(o)
			if got := len(w.pending()); got != 2 {
				t.Errorf("a change goes to %d full repositories: %v", got, w.pending())
			}
			w.settle()
			w.want(qm1, "HERS", "QM4:DISABLED")
			w.want(qm2, "HERS", "QM4:DISABLED")
		})
	}
}

// What is no name is answered at once, and keeps nothing else from being heard
// of: not now, not when subscriptions are renewed, not from a full repository that is new.
func TestAsk_WhatIsNoName_HurtsNoOther(t *testing.T) {
	t.Parallel()
	w, _, _, qm3 := article(t)
	qm4 := w.add("QM4")
	qm4.join("QM1", false)
	w.settle()
	// From a store in which such a question was kept.
	old := storeAsk(askKey{"C1", "C D"}, &ask{used: true, renewAt: w.now.Add(RenewAfter), expires: w.now.Add(Lifetime)})
	qm4.stored[old.Key] = old.Value
	qm4.restart()
	for _, name := range []string{"", " ", "A B", "*", "ДА", strings.Repeat("X", 49), "A\x00B"} {
		if got := qm4.ask(name); got != KnownAnswer || qm4.repo.Asked(name) != KnownAnswer {
			t.Errorf("%q: asked, known %v", name, got)
		}
	}
	if got := qm4.ask("DCQ1"); got != KnownNo {
		t.Errorf("DCQ1: known %v before anybody has answered", got)
	}
	w.settle() // fails where a command is refused
	w.wait(RenewAfter + day(1))
	third := w.add("QM9")
	third.join("QM1", true)
	w.settle()
	w.wait(day(5)) // longer than the first subscription lived
	o := queue("DCQ1", "C1")
	mustSet(o, "PUT", "DISABLED")
	qm3.define(o)
	w.settle()
	w.want(qm4, "DCQ1", "QM2:ENABLED QM3:DISABLED")
}

// Names without end are not asked for; those that were go on being known.
func TestAsk_NamesWithoutEnd_AreBounded(t *testing.T) {
	t.Parallel()
	w, _, _, _ := article(t)
	qm4 := w.add("QM4")
	qm4.join("QM1", false)
	w.settle()
	qm4.ask("DCQ1")
	w.settle()
	before := len(qm4.repo.asks)
	var fx Effects
	for i := range MaxAsked {
		qm4.repo.Ask(w.now, fmt.Sprintf("NONE.%d", i), &fx)
		fx = Effects{}
	}
	if n := len(qm4.repo.asks); before == 0 || n != MaxAsked {
		t.Errorf("%d names asked for, then %d", before, n)
	}
	if got := qm4.repo.Ask(w.now, "ONE.MORE", &fx); got != KnownNo || len(fx.Sets)+len(fx.Sends) > 0 {
		t.Errorf("one more: %v, and it did %+v", got, fx)
	}
	if got := qm4.repo.Ask(w.now, "DCQ1", &fx); got != KnownAnswer {
		t.Errorf("what was known: %v", got)
	}
}

// Whatever of a queue manager's commands was lost before it was sent: once it has
// told everything again, everybody knows what there is.
func TestTellAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newNetwork(t)
		for i := range 4 {
			w.add(fmt.Sprintf("QM%d", i+1))
		}
		fulls := rapid.IntRange(1, 2).Draw(rt, "full repositories")
		for i, name := range w.names {
			to := "QM1"
			if i == 0 {
				to = []string{"", "QM2"}[fulls-1]
			}
			w.nodes[name].join(to, i < fulls)
		}
		w.settle()
		lossy := w.nodes[rapid.SampledFrom(w.names).Draw(rt, "lossy")]
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			n := w.nodes[rapid.SampledFrom(w.names[fulls:]).Draw(rt, "node")]
			anyone := w.nodes[rapid.SampledFrom(w.names).Draw(rt, "any node")]
			name := rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "queue")
			if rapid.IntRange(0, 4).Draw(rt, "action") < 4 {
				n.work(rt, w, name)
			} else {
				anyone.refresh("C1", false)
			}
			for len(w.pending()) > 0 {
				for _, wire := range w.pending() {
					if strings.HasPrefix(wire, lossy.name+">") && rapid.IntRange(0, 3).Draw(rt, "kept") > 0 {
						w.wires[wire] = nil
						continue
					}
					w.deliver(wire, 0)
				}
			}
			w.now = w.now.Add(time.Millisecond)
		}
		lossy.do(func(fx *Effects) { lossy.repo.TellAgain(w.now, "C1", fx) })
		w.settle()
		for _, name := range []string{"A", "B"} {
			want := truth(w, name)
			for i, node := range w.names {
				n := w.nodes[node]
				if i >= fulls && n.repo.asks[askKey{"C1", name}] == nil {
					continue // it never asked, and has heard nothing of it
				}
				if got := view(n, name); got != want {
					rt.Fatalf("%s lost commands, and %s sees %s as\n%s\nwant\n%s", lossy, node, name, got, want)
				}
				if i >= fulls && n.repo.Asked(name) != KnownAnswer {
					rt.Fatalf("%s lost commands, and %s has no answer about %s", lossy, node, name)
				}
			}
		}
	})
}
