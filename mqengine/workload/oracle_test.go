package workload

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
	"pgregory.net/rapid"
)

// The oracle is the reference's list of steps written down a second time, as
// plainly as it can be: lists of survivors, one function a step.

// stage is one step of the oracle: who of those that are in stays in.
type stage struct {
	step StepName
	keep func(req *Request, cands []Candidate, in []int) []int
}

// highest keeps those with the highest value; whom exempt names is neither compared nor dropped.
func highest(value func(Candidate) int, exempt func(Candidate) bool) func(*Request, []Candidate, []int) []int {
	return func(_ *Request, cands []Candidate, in []int) []int {
		var values []int
		for _, i := range in {
			if !exempt(cands[i]) {
				values = append(values, value(cands[i]))
			}
		}
		var out []int
		for _, i := range in {
			if exempt(cands[i]) || value(cands[i]) == slices.Max(values) {
				out = append(out, i)
			}
		}
		return out
	}
}

func nobody(Candidate) bool      { return false }
func queueless(c Candidate) bool { return c.Alias }
func enabled(c Candidate) bool   { return c.Put || c.Alias }
func ofGroup(c Candidate) (g int) {
	if c.Local {
		return 4
	}
	for i, states := range [][]Status{
		{mqi.MQCHS_REQUESTING, mqi.MQCHS_PAUSED, mqi.MQCHS_STOPPED}, {mqi.MQCHS_RETRYING},
		{mqi.MQCHS_BINDING, mqi.MQCHS_INITIALIZING, mqi.MQCHS_STARTING, mqi.MQCHS_STOPPING}, {mqi.MQCHS_INACTIVE, mqi.MQCHS_RUNNING},
	} {
		if slices.Contains(states, c.Status) {
			g = i + 1
		}
	}
	return g
}

// those keeps who fulfils a condition, or everybody if nobody does.
func those(condition func(Candidate) bool) func(*Request, []Candidate, []int) []int {
	return func(_ *Request, cands []Candidate, in []int) []int {
		var out []int
		for _, i := range in {
			if condition(cands[i]) {
				out = append(out, i)
			}
		}
		if len(out) == 0 {
			return in
		}
		return out
	}
}

func oracleLocal(req *Request, cands []Candidate, in []int) []int {
	for _, i := range in {
		if cands[i].Local && (!req.UseAny || req.FromCluster) {
			return []int{i}
		}
	}
	return in
}

func oracleNet(_ *Request, cands []Candidate, in []int) []int {
	best := map[string]int{}
	for _, i := range in {
		best[cands[i].QMID] = max(best[cands[i].QMID], cands[i].NetPrty)
	}
	var out []int
	for _, i := range in {
		if cands[i].NetPrty == best[cands[i].QMID] {
			out = append(out, i)
		}
	}
	return out
}

func oracleMRU(req *Request, cands []Candidate, in []int) []int {
	if req.MRUC <= 0 || len(in) <= req.MRUC {
		return in
	}
	recent := slices.Clone(in)
	slices.SortStableFunc(recent, func(a, b int) int { return cmp.Compare(cands[b].Seq, cands[a].Seq) })
	recent = recent[:req.MRUC]
	slices.Sort(recent)
	return recent
}

func oracleLRU(_ *Request, cands []Candidate, in []int) []int {
	return []int{slices.MinFunc(in, func(a, b int) int {
		x, y := cands[a], cands[b]
		return cmp.Or(cmp.Compare(x.Factor, y.Factor), cmp.Compare(x.Seq, y.Seq), cmp.Compare(x.QMgr, y.QMgr), cmp.Compare(x.Channel, y.Channel))
	})}
}

var (
	oracleRanks = []stage{
		{StepChannelRank, highest(func(c Candidate) int { return c.ChlRank }, nobody)},
		{StepQueueRank, highest(func(c Candidate) int { return c.QRank }, queueless)},
	}
	oraclePut   = stage{StepPut, those(enabled)}
	oracleUse   = stage{StepLocal, oracleLocal}
	oracleAfter = []stage{
		{StepSuspend, those(func(c Candidate) bool { return !c.Suspended })},
		{StepChannelStatus, highest(ofGroup, nobody)},
		{StepNetPriority, oracleNet},
		{StepChannelPriority, highest(func(c Candidate) int { return c.ChlPrty }, nobody)},
		{StepQueuePriority, highest(func(c Candidate) int { return c.QPrty }, queueless)},
		{StepMRU, oracleMRU},
		{StepLeastUsed, oracleLRU},
	}
)

// oracle gives who is left after each step, and the winner.
func oracle(req *Request, cands []Candidate) (after map[StepName][]int, winner int, reason mqi.Reason) {
	stages := slices.Concat(oracleRanks, []stage{oraclePut, oracleUse}, oracleAfter)
	if req.Order == V6 {
		stages = slices.Concat([]stage{oraclePut, oracleUse}, oracleRanks, oracleAfter)
	}
	after, in := map[StepName][]int{}, []int{}
	for i := range cands {
		in = append(in, i)
	}
	for _, s := range stages {
		if s.step == StepPut && !slices.ContainsFunc(in, func(i int) bool { return enabled(cands[i]) }) {
			return after, -1, mqi.MQRC_CLUSTER_PUT_INHIBITED
		}
		in = s.keep(req, cands, in)
		after[s.step] = in
		if s.step == StepLocal && len(in) == 1 && cands[in[0]].Local && (!req.UseAny || req.FromCluster) {
			return after, in[0], mqi.MQRC_NONE
		}
	}
	return after, in[0], mqi.MQRC_NONE
}

// drawCluster draws instances with anything that may differ: also several
// channels to one queue manager, aliases of queue managers, and more instances
// than one word of the set has bits.
func drawCluster(t *rapid.T) (*Request, []Candidate) {
	states := []Status{
		mqi.MQCHS_INACTIVE, mqi.MQCHS_RUNNING, mqi.MQCHS_BINDING, mqi.MQCHS_INITIALIZING, mqi.MQCHS_STARTING, mqi.MQCHS_STOPPING,
		mqi.MQCHS_RETRYING, mqi.MQCHS_REQUESTING, mqi.MQCHS_PAUSED, mqi.MQCHS_STOPPED,
	}
	n := rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(60, 70)).Draw(t, "n")
	localAt := rapid.IntRange(-1, n-1).Draw(t, "local")
	// Few values, and often one for all, so that every step decides now and then.
	level := func(label string) func() int {
		top := rapid.IntRange(0, 2).Draw(t, label+" up to")
		return func() int { return rapid.IntRange(0, top).Draw(t, label) }
	}
	chlRank, qRank, chlPrty, qPrty, net := level("chlrank"), level("qrank"), level("chlprty"), level("qprty"), level("net")
	rarely := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
	healthy := rapid.Bool().Draw(t, "healthy")
	cands := make([]Candidate, n)
	for i := range cands {
		c := &cands[i]
		*c = Candidate{
			QMgr: fmt.Sprintf("QM%d", i/2), QMID: fmt.Sprintf("ID%d", i/2), Cluster: "C1", Channel: fmt.Sprintf("TO.QM%d.%d", i/2, i),
			Local: i == localAt, Put: !rarely("disabled"), Suspended: rarely("suspended"), Status: mqi.MQCHS_RUNNING,
			NetPrty: net(), ChlRank: chlRank(), ChlPrty: chlPrty(), ChlWght: rapid.IntRange(1, 99).Draw(t, "weight"),
			QRank: qRank(), QPrty: qPrty(), Factor: rapid.Int64Range(0, 3).Draw(t, "factor"), Seq: rapid.Uint64Range(0, 3).Draw(t, "seq"),
		}
		if !healthy {
			c.Status = rapid.SampledFrom(states).Draw(t, "status")
		}
		if c.Alias = !c.Local && rapid.IntRange(0, 9).Draw(t, "alias") == 0; c.Alias {
			c.QRank, c.QPrty = 0, 0
		}
	}
	return &Request{
		Order: rapid.SampledFrom([]Order{Modern, V6}).Draw(t, "order"), UseAny: rapid.Bool().Draw(t, "any"),
		FromCluster: rarely("from a cluster"), MRUC: rapid.IntRange(0, 5).Draw(t, "mruc"),
	}, cands
}

// In both orders, at every step, the same ones are left as by the reference.
func TestChooseAgreesWithOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req, cands := drawCluster(t)
		after, winner, reason := oracle(req, cands)
		var tr Trace
		got, gotReason := Choose(req, cands, &tr)
		if got != winner || gotReason != reason {
			t.Fatalf("chose %d %v, the oracle %d %v; order %d\n%s", got, gotReason, winner, reason, req.Order, show(&tr))
		}
		if plain, _ := Choose(req, cands, nil); plain != got {
			t.Fatalf("chose %d without a trace, %d with one", plain, got)
		}
		for _, s := range tr.Steps {
			if s.Step == StepCandidates || s.Step == StepPut && reason != mqi.MQRC_NONE {
				continue
			}
			var kept []string
			for _, v := range s.Candidates {
				if v.Kept {
					kept = append(kept, v.QMgr)
				}
			}
			var want []string
			for _, i := range after[s.Step] {
				want = append(want, cands[i].QMgr)
			}
			if !slices.Equal(kept, want) {
				t.Fatalf("step %s left %v, the oracle %v", s.Step, kept, want)
			}
		}
		checkShares(t, &tr, after, cands)
	})
}

// checkShares: only who was left before the last step has a share, and the sum is one.
func checkShares(t *rapid.T, tr *Trace, after map[StepName][]int, cands []Candidate) {
	if tr.Winner < 0 {
		if tr.Shares != nil {
			t.Fatalf("shares %v without a winner", tr.Shares)
		}
		return
	}
	left := after[StepMRU]
	if left == nil {
		left = after[StepLocal]
	}
	sum := 0.0
	for i, s := range tr.Shares {
		if sum += s; (s > 0) != slices.Contains(left, i) {
			t.Fatalf("candidate %d has a share of %v, left were %v", i, s, left)
		}
	}
	if len(tr.Shares) != len(cands) || sum < 0.999 || sum > 1.001 {
		t.Fatalf("shares %v", tr.Shares)
	}
}

// The shares of a trace are what many choices come to.
func TestSharesComeTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(1, 99), 2, 5).Draw(t, "weights")
		counters, cands := NewCounters(), make([]Candidate, len(weights))
		for i, w := range weights {
			cands[i] = at(fmt.Sprintf("QM%d", i))
			cands[i].ChlWght = w
		}
		var tr Trace
		Choose(&Request{}, cands, &tr)
		const n = 2000
		got := make([]int, len(weights))
		for range n {
			for i := range cands {
				counters.Fill(&cands[i])
			}
			i, _ := Choose(&Request{}, cands, nil)
			counters.Bump(&cands[i])
			got[i]++
		}
		for i, share := range tr.Shares {
			if off := float64(got[i]) - n*share; off > float64(len(weights)) || off < -float64(len(weights)) {
				t.Fatalf("weights %v gave %v, expected shares %v", weights, got, tr.Shares)
			}
		}
	})
}

// BenchmarkChooseMixed is a choice in which every step has something to do.
func BenchmarkChooseMixed(b *testing.B) {
	for _, n := range []int{2, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cands := make([]Candidate, n)
			for i := range cands {
				cands[i] = at(fmt.Sprintf("QM%d", i), rank(min(i%5, 1)), factor(int64(i%7)), seq(uint64(n-i)))
				cands[i].Put, cands[i].Suspended = i%11 != 3, i%13 == 5
				cands[i].QPrty, cands[i].ChlPrty = min(i%3, 1), min(i%4, 1)
			}
			req := &Request{UseAny: true, MRUC: max(1, n/4)}
			b.ReportAllocs()
			for b.Loop() {
				Choose(req, cands, nil)
			}
		})
	}
}
