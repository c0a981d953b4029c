package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
	"pgregory.net/rapid"
)

// at is an instance with every value at its default.
func at(qm string, change ...func(*Candidate)) Candidate {
	c := Candidate{QMgr: qm, QMID: qm + "_ID", Cluster: "C1", Channel: "TO." + qm, Put: true, Status: mqi.MQCHS_RUNNING, ChlWght: 50}
	for _, f := range change {
		f(&c)
	}
	return c
}

func local(c *Candidate)               { c.Local = true }
func disabled(c *Candidate)            { c.Put = false }
func suspended(c *Candidate)           { c.Suspended = true }
func alias(c *Candidate)               { c.Alias = true }
func rank(n int) func(*Candidate)      { return func(c *Candidate) { c.QRank = n } }
func chlRank(n int) func(*Candidate)   { return func(c *Candidate) { c.ChlRank = n } }
func prty(n int) func(*Candidate)      { return func(c *Candidate) { c.QPrty = n } }
func chlPrty(n int) func(*Candidate)   { return func(c *Candidate) { c.ChlPrty = n } }
func netPrty(n int) func(*Candidate)   { return func(c *Candidate) { c.NetPrty = n } }
func factor(n int64) func(*Candidate)  { return func(c *Candidate) { c.Factor = n } }
func seq(n uint64) func(*Candidate)    { return func(c *Candidate) { c.Seq = n } }
func status(s Status) func(*Candidate) { return func(c *Candidate) { c.Status = s } }
func via(ch string) func(*Candidate)   { return func(c *Candidate) { c.Channel = ch } }

func TestSteps(t *testing.T) {
	tests := []struct {
		name  string
		req   Request
		cands []Candidate
		want  string // channel of the winner, or the reason
	}{
		{"none", Request{}, nil, "MQRC_NO_DESTINATIONS_AVAILABLE"},
		{"channel rank beats queue rank", Request{}, []Candidate{at("A", chlRank(1)), at("B", rank(9))}, "TO.A"},
		{"queue rank", Request{}, []Candidate{at("A"), at("B", rank(1))}, "TO.B"},
		{"rank beats local", Request{}, []Candidate{at("A", local), at("B", rank(1))}, "TO.B"},
		{"rank before put", Request{}, []Candidate{at("A"), at("B", rank(1), disabled)}, "MQRC_CLUSTER_PUT_INHIBITED"},
		{"put", Request{}, []Candidate{at("A", disabled), at("B")}, "TO.B"},
		{"local put-disabled goes remote", Request{}, []Candidate{at("A", disabled, local), at("B")}, "TO.B"},
		{"all put-disabled", Request{}, []Candidate{at("A", disabled), at("B", disabled, local)}, "MQRC_CLUSTER_PUT_INHIBITED"},
		{"local", Request{}, []Candidate{at("A"), at("B", local)}, "TO.B"},
		{"local stays with lower priority", Request{}, []Candidate{at("A", prty(9)), at("B", local)}, "TO.B"},
		{"any leaves the local one no advantage", Request{UseAny: true}, []Candidate{at("A"), at("B", local)}, "TO.A"},
		{"any, lower priority", Request{UseAny: true}, []Candidate{at("A", prty(1)), at("B", local)}, "TO.A"},
		{"from a cluster channel stays here whatever CLWLUSEQ", Request{UseAny: true, FromCluster: true}, []Candidate{at("A"), at("B", local)}, "TO.B"},
		{"from a cluster channel, put-disabled here", Request{FromCluster: true}, []Candidate{at("A"), at("B", local, disabled)}, "TO.A"},
		{"suspend", Request{}, []Candidate{at("A", suspended, prty(9)), at("B")}, "TO.B"},
		{"suspend before channel status", Request{}, []Candidate{at("A", suspended), at("B", status(mqi.MQCHS_RETRYING))}, "TO.B"},
		{"all suspended", Request{}, []Candidate{at("A", suspended), at("B", suspended, prty(1))}, "TO.B"},
		{"inactive is as good as running", Request{}, []Candidate{at("A", factor(1)), at("B", status(mqi.MQCHS_INACTIVE))}, "TO.B"},
		{"starting beats retrying", Request{}, []Candidate{at("A", status(mqi.MQCHS_RETRYING), prty(9)), at("B", status(mqi.MQCHS_BINDING))}, "TO.B"},
		{"retrying beats stopped", Request{}, []Candidate{at("A", status(mqi.MQCHS_STOPPED), prty(9)), at("B", status(mqi.MQCHS_RETRYING))}, "TO.B"},
		{"stopped is used when alone", Request{}, []Candidate{at("A", status(mqi.MQCHS_STOPPED))}, "TO.A"},
		{"rank ignores channel status", Request{}, []Candidate{at("A", rank(9), status(mqi.MQCHS_STOPPED)), at("B")}, "TO.A"},
		{"priority looks at channel status", Request{}, []Candidate{at("A", prty(9), status(mqi.MQCHS_STARTING)), at("B")}, "TO.B"},
		{"local counts as available", Request{UseAny: true}, []Candidate{at("A", status(mqi.MQCHS_STOPPED)), at("B", local, status(mqi.MQCHS_STOPPED))}, "TO.B"},
		{"net priority per queue manager", Request{}, []Candidate{at("A", netPrty(1), via("A1")), at("A", netPrty(2), via("A2"), factor(5)), at("B", factor(9))}, "A2"},
		{"net priority is not across queue managers", Request{}, []Candidate{at("A", netPrty(9), factor(1)), at("B")}, "TO.B"},
		{"channel priority", Request{}, []Candidate{at("A", prty(9)), at("B", chlPrty(1))}, "TO.B"},
		{"queue priority", Request{}, []Candidate{at("A"), at("B", prty(1), factor(100))}, "TO.B"},
		{"most recently used", Request{MRUC: 1}, []Candidate{at("A", seq(1)), at("B", seq(2), factor(100))}, "TO.B"},
		{"factor", Request{}, []Candidate{at("A", factor(20), seq(1)), at("B", factor(10), seq(2))}, "TO.B"},
		{"sequence number", Request{}, []Candidate{at("A", seq(2)), at("B", seq(1))}, "TO.B"},
		{"alias exempt from queue rank", Request{}, []Candidate{at("A", rank(9), factor(1)), at("B", alias)}, "TO.B"},
		{"alias exempt from PUT", Request{}, []Candidate{at("A", disabled), at("B", alias, disabled)}, "TO.B"},
		{"alias exempt from queue priority", Request{}, []Candidate{at("A", prty(3), factor(1)), at("B", alias)}, "TO.B"},
		// The table "legacy and modern" of the reference, both sides.
		{"v6: local before rank", Request{Order: V6}, []Candidate{at("A", local), at("B", rank(9))}, "TO.A"},
		{"v6: ANY lets rank decide", Request{Order: V6, UseAny: true}, []Candidate{at("A", local), at("B", rank(9))}, "TO.B"},
		{"v6: put before rank", Request{Order: V6}, []Candidate{at("A"), at("B", rank(1), disabled)}, "TO.A"},
		{"v6: local priority stays", Request{Order: V6}, []Candidate{at("A", local), at("B", prty(9))}, "TO.A"},
		{"v6: local put-disabled goes remote", Request{Order: V6}, []Candidate{at("A", local, disabled), at("B")}, "TO.B"},
		{"v6: all put-disabled", Request{Order: V6}, []Candidate{at("A", disabled), at("B", disabled)}, "MQRC_CLUSTER_PUT_INHIBITED"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var tr Trace
			got, reason := Choose(&tc.req, tc.cands, &tr)
			plain, plainReason := Choose(&tc.req, tc.cands, nil)
			if plain != got || plainReason != reason {
				t.Fatalf("without trace %d %v, with %d %v", plain, plainReason, got, reason)
			}
			word := reason.String()
			if got >= 0 {
				word = tc.cands[got].Channel
			}
			if word != tc.want {
				t.Errorf("chose %s, want %s\n%s", word, tc.want, show(&tr))
			}
		})
	}
}

func show(tr *Trace) string {
	var b strings.Builder
	for _, s := range tr.Steps {
		fmt.Fprintf(&b, "%s: %s\n", s.Step, s.Rule)
		for _, v := range s.Candidates {
			fmt.Fprintf(&b, "  %s %s kept=%v: %s\n", v.QMgr, v.Value, v.Kept, v.Why)
		}
	}
	return b.String()
}

func TestTraceTellsWhoWentWhere(t *testing.T) {
	cands := []Candidate{at("A", disabled), at("B"), at("C", rank(0), suspended)}
	var tr Trace
	Choose(&Request{}, cands, &tr)
	want := map[StepName]string{StepPut: "A", StepSuspend: "C"}
	for _, s := range tr.Steps {
		if s.Rule == "" {
			t.Errorf("step %s has no rule", s.Step)
		}
		for _, v := range s.Candidates {
			if v.Why == "" || v.Value == "" {
				t.Errorf("step %s says nothing of %s: %+v", s.Step, v.QMgr, v)
			}
			if !v.Kept && want[s.Step] != v.QMgr {
				t.Errorf("step %s dropped %s", s.Step, v.QMgr)
			}
		}
	}
	if tr.Winner != 1 || tr.Steps[len(tr.Steps)-1].Step != StepLeastUsed {
		t.Errorf("trace ends with %+v", tr)
	}
}

func genCandidates(t *rapid.T) []Candidate {
	states := []Status{mqi.MQCHS_INACTIVE, mqi.MQCHS_RUNNING, mqi.MQCHS_BINDING, mqi.MQCHS_RETRYING, mqi.MQCHS_STOPPED, mqi.MQCHS_PAUSED}
	n := rapid.IntRange(1, 12).Draw(t, "n")
	localAt := rapid.IntRange(-1, n-1).Draw(t, "local")
	cands := make([]Candidate, n)
	for i := range cands {
		cands[i] = Candidate{
			QMgr: fmt.Sprintf("QM%d", i), QMID: fmt.Sprintf("ID%d", i/2), Cluster: "C1", Channel: fmt.Sprintf("TO.QM%d", i),
			Local: i == localAt, Put: rapid.Bool().Draw(t, "put"), Suspended: rapid.Bool().Draw(t, "susp"),
			Status:  rapid.SampledFrom(states).Draw(t, "status"),
			NetPrty: rapid.IntRange(0, 2).Draw(t, "net"), ChlRank: rapid.IntRange(0, 2).Draw(t, "chlrank"),
			ChlPrty: rapid.IntRange(0, 2).Draw(t, "chlprty"), ChlWght: rapid.IntRange(1, 99).Draw(t, "wght"),
			QRank: rapid.IntRange(0, 2).Draw(t, "rank"), QPrty: rapid.IntRange(0, 2).Draw(t, "prty"),
			Factor: rapid.Int64Range(0, 3).Draw(t, "factor"), Seq: rapid.Uint64Range(0, 3).Draw(t, "seq"),
		}
	}
	return cands
}

// Nobody may ever be chosen past a better rank, put-disabled, or suspended or
// of lower priority while an equal is there.
func TestNeverViolated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cands := genCandidates(t)
		req := &Request{UseAny: rapid.Bool().Draw(t, "any"), FromCluster: rapid.Bool().Draw(t, "from")}
		got, reason := Choose(req, cands, nil)
		top := func(keep func(*Candidate) bool, val func(*Candidate) int64) int64 {
			best := int64(-1)
			for i := range cands {
				if keep(&cands[i]) {
					best = max(best, val(&cands[i]))
				}
			}
			return best
		}
		maxCR := top(func(*Candidate) bool { return true }, channelRank)
		inCR := func(c *Candidate) bool { return channelRank(c) == maxCR }
		maxQR := top(inCR, queueRank)
		ranked := func(c *Candidate) bool { return inCR(c) && queueRank(c) == maxQR }
		anyPut := top(func(c *Candidate) bool { return ranked(c) && c.Put }, func(*Candidate) int64 { return 1 }) == 1
		if (got < 0) != !anyPut || got < 0 && reason != mqi.MQRC_CLUSTER_PUT_INHIBITED {
			t.Fatalf("got %d %v, an enabled top-ranked instance exists: %v", got, reason, anyPut)
		}
		if got < 0 {
			return
		}
		w := &cands[got]
		if !ranked(w) || !w.Put {
			t.Fatalf("chose %+v against rank or PUT", *w)
		}
		open := func(c *Candidate) bool { return ranked(c) && c.Put }
		if (!req.UseAny || req.FromCluster) && top(func(c *Candidate) bool { return open(c) && c.Local }, queueRank) >= 0 {
			if !w.Local {
				t.Fatalf("passed the local instance: %+v", *w)
			}
			return
		}
		if w.Suspended {
			for i := range cands {
				if open(&cands[i]) && !cands[i].Suspended {
					t.Fatalf("chose suspended %s, %s is not", w.QMgr, cands[i].QMgr)
				}
			}
		}
		for i := range cands {
			c := &cands[i]
			if open(c) && c.Suspended == w.Suspended && statusGroup(c) > statusGroup(w) {
				t.Fatalf("chose %s %v, %s is %v", w.QMgr, w.Status, c.QMgr, c.Status)
			}
			same := open(c) && c.Suspended == w.Suspended && statusGroup(c) == statusGroup(w) && c.NetPrty == w.NetPrty
			if same && c.QMID != w.QMID && c.ChlPrty > w.ChlPrty && !beaten(cands, open, c) {
				t.Fatalf("chose %s with CLWLPRTY %d, %s has %d", w.QMgr, w.ChlPrty, c.QMgr, c.ChlPrty)
			}
		}
	})
}

// beaten: another channel to the same queue manager has a higher NETPRTY.
func beaten(cands []Candidate, open func(*Candidate) bool, c *Candidate) bool {
	for i := range cands {
		d := &cands[i]
		if open(d) && d.QMID == c.QMID && d.NetPrty > c.NetPrty && d.Suspended == c.Suspended && statusGroup(d) == statusGroup(c) {
			return true
		}
	}
	return false
}

// Over many choices each channel gets its share by weight.
func TestWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 4, 5, 10, 20, 25, 50}), 2, 5).Draw(t, "weights")
		counters, got, sum := NewCounters(), make([]int, len(weights)), 0
		cands := make([]Candidate, len(weights))
		for i, w := range weights {
			cands[i] = at(fmt.Sprintf("QM%d", i))
			cands[i].ChlWght = w
			sum += w
		}
		const n = 2000
		for range n {
			for i := range cands {
				counters.Fill(&cands[i])
			}
			i, _ := Choose(&Request{}, cands, nil)
			counters.Bump(&cands[i])
			got[i]++
		}
		for i, w := range weights {
			if want := float64(n) * float64(w) / float64(sum); float64(got[i]) < want-float64(len(weights)+1) || float64(got[i]) > want+float64(len(weights)+1) {
				t.Fatalf("weights %v gave %v, want about %.1f at %d", weights, got, want, i)
			}
		}
	})
}

func TestWeightsOfTheManual(t *testing.T) {
	counters := NewCounters()
	cands := []Candidate{at("A"), at("B")}
	cands[0].ChlWght, cands[1].ChlWght = 60, 20
	var got [2]int
	for range 4 {
		for i := range cands {
			counters.Fill(&cands[i])
		}
		i, _ := Choose(&Request{}, cands, nil)
		counters.Bump(&cands[i])
		got[i]++
	}
	if got != [2]int{3, 1} {
		t.Errorf("weights 60 and 20 gave %v for four messages, want 3 and 1", got)
	}
}

func TestResetRestartsTheRoundRobin(t *testing.T) {
	counters := NewCounters()
	a, b := at("A"), at("B")
	for range 10 {
		counters.Bump(&a)
	}
	counters.Reset()
	counters.Fill(&a)
	counters.Fill(&b)
	if a.Factor != 0 || a.Seq != 10 || b.Seq != 0 {
		t.Errorf("after Reset A is %d/%d, B is %d/%d", a.Factor, a.Seq, b.Factor, b.Seq)
	}
}

func TestNoAllocation(t *testing.T) {
	cands := make([]Candidate, 100)
	for i := range cands {
		cands[i] = at(fmt.Sprintf("QM%d", i))
	}
	req := &Request{MRUC: 50}
	if n := testing.AllocsPerRun(100, func() { Choose(req, cands, nil) }); n != 0 {
		t.Errorf("%v allocations for a choice", n)
	}
}

func TestManyInstances(t *testing.T) {
	cands := make([]Candidate, 2000)
	for i := range cands {
		cands[i] = at(fmt.Sprintf("QM%d", i), factor(5))
	}
	cands[1777].Factor = 0
	if i, _ := Choose(&Request{}, cands, nil); i != 1777 {
		t.Errorf("chose %d", i)
	}
}

func BenchmarkChoose(b *testing.B) {
	for _, n := range []int{2, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cands := make([]Candidate, n)
			for i := range cands {
				cands[i] = at(fmt.Sprintf("QM%d", i))
			}
			req := &Request{}
			b.ReportAllocs()
			for b.Loop() {
				Choose(req, cands, nil)
			}
		})
	}
}
