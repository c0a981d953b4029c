package situations

import (
	"fmt"
	"testing"
	"time"
)

// tenRules are conditions as people write them: comparisons, texts, arithmetic,
// counts of readers and of other instances.
var tenRules = []string{
	"IPPROCS == 0 and CURDEPTH > 0",
	"IPPROCS > 100",
	`CURDEPTH > 0.8 * MAXDEPTH`,
	`PUT == "DISABLED" and GET == "ENABLED"`,
	"CURDEPTH > 1000 and IPPROCS < 2",
	`percent(CURDEPTH, MAXDEPTH) > 90`,
	`READERS("ORDER*") == 0 and CURDEPTH > 5`,
	`IPPROCS == 0 and READY_ELSEWHERE > 0 and CURDEPTH > 10`,
	`DEFBIND in ["OPEN", "GROUP"] and OPPROCS > 3`,
	`not (UNCOM == 0) or QUEUE endsWith ".DLQ"`,
}

func ruleText(rules []string) string {
	text := "version: 1\nsituations:\n"
	for i, f := range rules {
		text += fmt.Sprintf("  - name: S%d\n    watch: {queue: \"*\"}\n    formula: '%s'\n    severity: minor\n", i, f)
	}
	return text
}

func mustLoad(tb testing.TB, text string) *RuleSet {
	tb.Helper()
	rs, ps := Load(File{Name: "rules.yaml", Data: []byte(text)})
	if rs == nil {
		tb.Fatalf("rules do not load:\n%s", FormatText(ps))
	}
	return rs
}

func benchRows(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		name := fmt.Sprintf("APP.QUEUE.%06d", i)
		rows[i] = Row{
			Queue: name, Base: name, Type: "QLOCAL", Clusters: []string{"C1"}, InstancesKnown: true,
			Env: Attributes{QUEUE: name, QMGR: "QM1", CLUSTER: "C1", TYPE: "QLOCAL", IPPROCS: 3, OPPROCS: 2, CURDEPTH: 4 + i%3,
				MAXDEPTH: 5000, PUT: "ENABLED", GET: "ENABLED", DEFBIND: "NOTFIXED", CLWLUSEQ: "QMGR"},
			Readers:   []Reader{{"ORDERS"}, {"ORDERS"}, {"BATCH"}},
			Instances: []Instance{{QMgr: "QM1", Local: true, Put: true, Reachable: true}, {QMgr: "QM2", Put: true, Reachable: true}},
		}
	}
	return rows
}

// benchTick evaluates all rules on all rows, as one tick of the runner does.
func benchTick(b *testing.B, queues int, rules []string) {
	bk := newBook("QM1", mustLoad(b, ruleText(rules)), time.Unix(0, 0))
	at := time.Unix(1000, 0)
	obs := &Observation{QMgr: "QM1", At: at, Complete: true, Repository: true, Rows: benchRows(queues)}
	for _, s := range bk.live {
		s.due = true
	}
	out := bk.tick(obs, at)
	bk.apply(&out)
	b.ReportAllocs()
	for b.Loop() {
		out = bk.tick(obs, at)
		if len(out.changes) > 0 {
			b.Fatal("a quiet tick changed something")
		}
	}
	evaluations := float64(b.N) * float64(queues) * float64(len(rules))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/evaluations, "ns/evaluation")
	b.ReportMetric(evaluations/b.Elapsed().Seconds()/1e6, "Mevaluations/s")
}

func BenchmarkTick_10000Queues10Rules(b *testing.B) { benchTick(b, 10_000, tenRules) }

func BenchmarkTick_50000Queues50Rules(b *testing.B) {
	var rules []string
	for range 5 {
		rules = append(rules, tenRules...)
	}
	benchTick(b, 50_000, rules)
}

func BenchmarkFormula(b *testing.B) {
	row := benchRows(1)[0]
	for _, src := range tenRules {
		b.Run(src, func(b *testing.B) {
			f, err := NewFormula(src, Lever{})
			if err != nil {
				b.Fatal(err)
			}
			var e evaluation
			e.load(&row, f.uses)
			b.ReportAllocs()
			for b.Loop() {
				f.run(&e)
			}
		})
	}
}

// TestTick_Quiet_AllocatesNothingPerEvaluation pins the goal of no allocation per
// evaluation: a whole tick may allocate a few times, whatever it evaluates.
func TestTick_Quiet_AllocatesNothingPerEvaluation(t *testing.T) {
	bk := newBook("QM1", mustLoad(t, ruleText(tenRules)), time.Unix(0, 0))
	at := time.Unix(1000, 0)
	obs := &Observation{QMgr: "QM1", At: at, Complete: true, Repository: true, Rows: benchRows(200)}
	for _, s := range bk.live {
		s.due = true
	}
	out := bk.tick(obs, at)
	bk.apply(&out)
	if n := testing.AllocsPerRun(20, func() { bk.tick(obs, at) }); n > 5 {
		t.Errorf("a tick of 2000 evaluations allocates %v times", n)
	}
}
