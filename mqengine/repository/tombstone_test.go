package repository

import (
	"testing"
	"time"
)

// late are the publications of QM3 as a slow link would still deliver them: made
// before it was taken out, whatever the way.
func late(t *testing.T, w *network, qm3 *node) [][]byte {
	t.Helper()
	c := Command{Op: OpPublish, Cluster: "C1", FromQMID: "QM3_ID", FromQMgr: "QM3", Records: qm3.repo.ownRecords("C1")}
	return c.encode(w.now)
}

// A tombstone lives as long as what it withdraws could: what comes late does not
// bring a queue back, whoever withdrew it, at a full repository and at a partial one.
func TestTombstones_OutliveWhatComesLate(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]func(w *network, qm1, qm3 *node){
		"its owner deletes the queue": func(_ *network, _, qm3 *node) { qm3.drop("DCQ1") },
		"its owner leaves": func(_ *network, _, qm3 *node) {
			qm3.member.Channels = nil
			qm3.update()
		},
		"it is removed by force": func(w *network, qm1, _ *node) {
			qm1.do(func(fx *Effects) { qm1.repo.ForceRemove(w.now, "C1", "QM3_ID", true, fx) })
		},
	} {
		for _, after := range []time.Duration{time.Minute, time.Hour, 25 * 24 * time.Hour} {
			w, qm1, qm2, qm3 := article(t)
			old := late(t, w, qm3)
			out(w, qm1, qm3)
			w.settle()
			nodes := []*node{qm1, qm2}
			for _, n := range nodes {
				w.want(n, "DCQ1", "QM2:ENABLED")
			}
			w.now = w.now.Add(after)
			for _, n := range nodes {
				n.do(func(fx *Effects) { n.repo.Tick(w.now, fx) })
				n.restart()
				for _, payload := range old {
					n.do(func(fx *Effects) {
						if err := n.repo.Receive(w.now, payload, fx); err != nil {
							t.Fatal(err)
						}
					})
				}
				if got := n.sees("DCQ1"); got != "QM2:ENABLED" {
					t.Errorf("%s, and %v later its old publication comes to %s: it sees %q", name, after, n.name, got)
				}
			}
		}
	}
}

// A partial repository tells two full ones of each change: with one of them away
// for good the other knows all the same.
func TestPublication_GoesToTwoFullRepositories(t *testing.T) {
	t.Parallel()
	w := newNetwork(t)
	full := []*node{w.add("QM1"), w.add("QM2"), w.add("QM3")}
	full[0].join("QM2", true)
	full[1].join("QM3", true)
	full[2].join("QM1", true)
	w.settle()
	qm4 := w.add("QM4")
	qm4.join("QM1", false)
	w.settle()
	told := map[string]int{}
	qm4.define(queue("Q", "C1"))
	for _, s := range qm4.did.Sends {
		c, err := Decode(s.Payload, w.now)
		if err != nil {
			t.Fatal(err)
		}
		if c.Op == OpPublish {
			told[s.Channel]++
		}
	}
	if len(told) != 2 {
		t.Errorf("the full repositories that are told: %v, want two", told)
	}
	w.settle()
	for _, n := range full {
		w.want(n, "Q", "QM4:ENABLED")
	}
}
