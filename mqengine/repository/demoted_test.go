package repository

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRolesOfOthers_AreKnownToAll has queue managers become full repositories,
// give that up, leave and come back: whatever a member knows of another one is
// so. That a full repository gave up its role has to reach those who were told
// only because it had it, and so has that it left afterwards.
func TestRolesOfOthers_AreKnownToAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newNetwork(t)
		for _, n := range []string{"F1", "F2", "M1", "M2", "M3"} {
			w.add(n)
		}
		in := map[string]bool{"F1": true, "F2": true}
		w.nodes["F1"].join("F2", true)
		w.nodes["F2"].join("F1", true)
		members := w.names[2:]
		for _, n := range members {
			w.nodes[n].join("F1", false)
			in[n] = true
		}
		w.settle()
		// role gives a member the role of a full repository, or takes it away. Full
		// repositories exchange only over CLUSSDRs, so F1 has one to it meanwhile.
		role := func(n *node, full bool) {
			f1 := w.nodes["F1"]
			f1.member.Senders = slices.DeleteFunc(f1.member.Senders, func(s ManualSender) bool { return s.Channel == "TO."+n.name })
			n.member.Full = nil
			if full {
				n.member.Full = []string{"C1"}
				f1.member.Senders = append(f1.member.Senders, ManualSender{Channel: "TO." + n.name, Addr: n.name + "(1414)", Clusters: []string{"C1"}})
			}
			n.update()
			w.settle()
			f1.update()
			w.settle()
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			n := w.nodes[rapid.SampledFrom(members).Draw(rt, "node")]
			switch rapid.SampledFrom([]string{"role", "role", "leave", "restart", "suspend", "ask"}).Draw(rt, "action") {
			case "role":
				role(n, in[n.name] && len(n.member.Full) == 0)
			case "leave":
				// As the manual has it: the role is given up first.
				role(n, false)
				if in[n.name] = !in[n.name]; in[n.name] {
					n.member.Senders = nil
					n.join("F1", false)
				} else {
					n.member.Channels, n.member.Senders = nil, nil
					n.update()
				}
			case "restart":
				w.nodes[rapid.SampledFrom(w.names).Draw(rt, "any")].restart()
			case "suspend":
				if in[n.name] {
					n.do(func(fx *Effects) { n.repo.Suspend(n.now(), "C1", rapid.Bool().Draw(rt, "on"), fx) })
				}
			case "ask":
				n.ask(rapid.SampledFrom(w.names).Draw(rt, "name"))
			}
			w.settle()
		}
		for _, n := range w.names {
			if !in[n] {
				continue
			}
			for _, rec := range w.nodes[n].repo.QMgrs(w.now) {
				other := w.nodes[rec.QMgr]
				if full := slices.Contains(other.member.Full, "C1"); !in[rec.QMgr] || rec.Full != full || rec.Suspended != other.repo.suspend["C1"] {
					rt.Errorf("%s knows %s; of %s: member %v, full %v, suspended %v", n, w.nodes[n].qmgrs(), rec.QMgr, in[rec.QMgr], full, other.repo.suspend["C1"])
				}
			}
			for _, other := range w.names {
				if len(w.nodes[other].member.Full) > 0 && !strings.Contains(w.nodes[n].qmgrs(), other+"*") {
					rt.Errorf("%s knows %s, not the full repository %s", n, w.nodes[n].qmgrs(), other)
				}
			}
		}
	})
}

// A CLUSSDR that leads to no full repository makes nobody a member. The log of
// whoever it leads to says so, once for each that tries.
func TestJoiningAtAPartialRepository_IsLogged(t *testing.T) {
	w, _, _, qm3 := article(t)
	late := w.add("LATE")
	late.join("QM3", false)
	var lines []string
	for range 100 {
		p := w.pending()
		if len(p) == 0 {
			break
		}
		w.deliver(p[0], 0)
		for _, l := range qm3.did.Log {
			lines = append(lines, l.ID+" "+l.Text)
		}
		qm3.did.Log = nil
	}
	want := "AMQ9432W Query received by a non-repository queue manager: 'LATE' takes this one for a full repository of cluster 'C1'; its CLUSSDR has to lead to one."
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("logged %q", lines)
	}
	// It is one once its CLUSSDR leads to a full repository.
	late.member.Senders = nil
	late.join("QM1", false)
	w.settle()
	if got := late.qmgrs(); got != "LATE QM1* QM2*" {
		t.Errorf("then LATE knows %s", got)
	}
}
