package repository

import (
	"testing"
	"time"
)

// history is one queue's life as its owner publishes it.
func history(now time.Time) []*Record {
	var all []*Record
	for i, put := range []string{"ENABLED", "DISABLED", "", "ENABLED"} {
		rec := &Record{
			Kind: QueueRecord, Cluster: "C1", QMID: "QM2_ID", QMgr: "QM2", Name: "Q", Seq: uint64(10 + i),
			Published: now.UnixMilli(), Expires: now.Add(Lifetime), Deleted: put == "",
		}
		if put != "" {
			o := queue("Q", "C1")
			mustSet(o, "PUT", put)
			rec.Object = o
		}
		all = append(all, rec)
	}
	return all
}

// Whatever order the versions of a record come in, also twice: the one with the
// highest number is what is known, be it a tombstone, and a late one changes nothing.
func TestReceive_LateVersions_ChangeNothing(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{true, false} {
		for newest := range 4 {
			for late := range newest + 1 {
				w := newNetwork(t)
				n := w.add("QM1")
				n.join("", full)
				ask := func(rec *Record) *Effects {
					c := Command{Op: OpPublish, Cluster: "C1", FromQMID: "QM3_ID", FromQMgr: "QM3", Full: true, Records: []*Record{rec}}
					return n.do(func(fx *Effects) {
						for _, payload := range c.encode(w.now) {
							if err := n.repo.Receive(w.now, payload, fx); err != nil {
								t.Fatal(err)
							}
						}
					})
				}
				all := history(w.now)
				ask(all[0])
				ask(all[newest])
				fx := ask(all[late])
				if len(fx.Sets)+len(fx.Deletes) > 0 || fx.Workload {
					t.Errorf("full %v: version %d after %d counts", full, late, newest)
				}
				got := n.repo.Instances(w.now, "Q")
				if all[newest].Deleted {
					if len(got) != 0 {
						t.Errorf("full %v: version %d came after the tombstone and is back", full, late)
					}
					continue
				}
				if len(got) != 1 || got[0].Seq != all[newest].Seq || got[0].Workload.Put != (all[newest].Object.Str("PUT") == "ENABLED") {
					t.Errorf("full %v: after versions %d and %d there is %+v", full, newest, late, got)
				}
			}
		}
	}
}

// Who is restored from a backup with a clock that is behind counts once more the
// numbers that it has given before. What it publishes then is taken all the same.
func TestSameNumbersOnceMore(t *testing.T) {
	for _, owner := range []string{"QM2", "QM3"} { // a full repository and a partial one
		for _, gone := range []bool{false, true} {
			w, _, _, _ := article(t)
			qm4 := w.add("QM4")
			qm4.join("QM1", false)
			qm4.ask("DCQ1")
			w.settle()
			n := w.nodes[owner]
			alter := func(rank string) {
				o := queue("DCQ1", "C1")
				mustSet(o, "CLWLRANK", rank)
				n.define(o)
				w.settle()
			}
			n.skew = time.Hour
			alter("1")
			before := n.backup()
			n.skew = 0
			if gone {
				n.drop("DCQ1")
				w.settle()
			} else {
				alter("2")
			}
			published := n.repo.records[recordKey{QueueRecord, "C1", "DCQ1", owner + "_ID"}].Seq
			n.restore(before, 0)
			alter("3")
			if seq := n.repo.Instance("C1", "DCQ1", owner+"_ID").Seq; seq != published+1 {
				t.Errorf("%s has published %d and then, after the restore, %d", owner, published, seq)
			}
			want := truth(w, "DCQ1")
			for _, name := range w.names {
				if got := view(w.nodes[name], "DCQ1"); got != want {
					t.Errorf("%s, gone %v: %s sees\n%s\nwant\n%s", owner, gone, name, got, want)
				}
			}
		}
	}
}
