package situations

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sampleRow() Row {
	return Row{
		Queue: "DCQ1", Clusters: []string{"C1"}, InstancesKnown: true, Missing: []string{"MSGAGE", "LGETAGE", "LPUTAGE"},
		Env: Attributes{
			QUEUE: "DCQ1", QMGR: "QM2", CLUSTER: "C1", TYPE: "QLOCAL", IPPROCS: 2, OPPROCS: 0, CURDEPTH: 4100, MAXDEPTH: 5000,
			PUT: "ENABLED", GET: "ENABLED", CLWLRANK: 9, CLWLUSEQ: "QMGR", DEFBIND: "NOTFIXED", TRIGGER: "", MONQ: "OFF",
		},
		Readers: []Reader{{"ORDERS"}, {"ORDERS.BATCH"}},
		Instances: []Instance{
			{QMgr: "QM2", Local: true, Put: true, Reachable: true},
			{QMgr: "QM3", Put: true, Reachable: true, Readers: 3, ReadersKnown: true},
		},
	}
}

func TestFormula_Eval(t *testing.T) {
	t.Parallel()
	cases := []struct {
		src  string
		want Verdict
	}{
		{"IPPROCS == 2", True},
		{"IPPROCS == 0", False},
		{"IPPROCS > 0 and CURDEPTH > 0.8 * MAXDEPTH", True},
		{"IPPROCS > 0 && !(CURDEPTH < 4000) || false", True},
		{"percent(CURDEPTH, MAXDEPTH) >= 82", True},
		{"percent(CURDEPTH, OPPROCS) > 0", Unknown}, // a division by zero
		{"CURDEPTH / OPPROCS > 1", Unknown},
		{"CURDEPTH % OPPROCS == 1", Unknown},
		{"OPPROCS > 0 and CURDEPTH / OPPROCS > 1", False}, // the guard keeps it from being computed
		{"CURDEPTH % 3 == 2", True},
		{"CURDEPTH - 4000 == 100 and -CURDEPTH < 0 and +CURDEPTH > 0", True},
		{"CURDEPTH / 1000 == 4.1", True},
		{`PUT == "ENABLED" and GET != "DISABLED"`, True},
		{`PUT in ["ENABLED"] and IPPROCS in [1, 2, 3]`, True},
		{`IPPROCS not in [1, 3]`, True},
		{`QUEUE startsWith "DC" and QUEUE endsWith "Q1" and QUEUE contains "CQ" and QUEUE matches "^D.Q[0-9]$"`, True},
		{`QUEUE < "E"`, True},
		{`READERS("ORDERS") == 1 and READERS("ORDERS*") == 2 and READERS("*") == 2 and READERS("X*") == 0`, True},
		{"MSGAGE > 60", Unknown},
		{"IPPROCS == 2 or MSGAGE > 60", Unknown}, // what is named must be known
		{"known(MSGAGE) and MSGAGE > 60", False},
		{"not known(MSGAGE) or MSGAGE > 60", True},
		{"known(MSGAGE) or MSGAGE > 60", Unknown},
		{"known(IPPROCS)", True},
		{`TRIGGER == "NO"`, Unknown}, // blank is no value
		{"READY_ELSEWHERE == 1 and READERS_ELSEWHERE == 3", True},
		{"(IPPROCS > 0) == true", True},
		{"1 < IPPROCS < 3", True},
		{"IPPROCS > 0 // a comment", True},
		{"IPPROCS > 0 /* a\n comment */ and CURDEPTH > 1_000", True},
	}
	row := sampleRow()
	for _, c := range cases {
		t.Run(c.src, func(t *testing.T) {
			t.Parallel()
			f, err := NewFormula(c.src, Lever{})
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Eval(&row); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestFormula_UnknownWithoutASample(t *testing.T) {
	t.Parallel()
	f, err := NewFormula("IPPROCS == 0", Lever{})
	if err != nil {
		t.Fatal(err)
	}
	row := Row{Queue: "DCQ1"}
	if got := f.Eval(&row); got != Unknown {
		t.Errorf("no environment: %s", got)
	}
}

func TestFormula_InstancesNotAnsweredYet_Unknown(t *testing.T) {
	t.Parallel()
	f, err := NewFormula("READY_ELSEWHERE > 0", Lever{})
	if err != nil {
		t.Fatal(err)
	}
	row := sampleRow()
	row.InstancesKnown = false
	if got := f.Eval(&row); got != Unknown {
		t.Errorf("the repository has not answered: %s", got)
	}
}

func TestReadyElsewhere(t *testing.T) {
	t.Parallel()
	ours := Instance{QMgr: "QM2", Local: true, Put: true, Reachable: true, ClwlRank: 9, ClwlPrty: 1}
	other := Instance{QMgr: "QM3", Put: true, Reachable: true, ClwlRank: 9, ClwlPrty: 1}
	with := func(change func(*Instance)) Instance {
		i := other
		change(&i)
		return i
	}
	put, rank, priority := Lever{Verb: VerbPut}, Lever{Verb: VerbRank}, Lever{Verb: VerbPriority}
	cases := []struct {
		name  string
		lever Lever
		other Instance
		want  int
	}{
		{"served alike", put, other, 1},
		{"put disabled", put, with(func(i *Instance) { i.Put = false }), 0},
		{"suspended", put, with(func(i *Instance) { i.Suspended = true }), 0},
		{"channel retrying", put, with(func(i *Instance) { i.Reachable = false }), 0},
		{"of lower rank: every put would be 2268", put, with(func(i *Instance) { i.ClwlRank = 5 }), 0},
		{"of higher rank", put, with(func(i *Instance) { i.ClwlRank = 10 }), 1},
		{"of lower priority may be chosen all the same", put, with(func(i *Instance) { i.ClwlPrty = 0 }), 1},
		{"rank leaves it above ours", rank, other, 1},
		{"rank: as low as ours will be", rank, with(func(i *Instance) { i.ClwlRank = 0 }), 0},
		{"priority leaves it above ours", priority, other, 1},
		{"priority: as low as ours will be", priority, with(func(i *Instance) { i.ClwlPrty = 0 }), 0},
		{"the channel's rank counts first", put, with(func(i *Instance) { i.ChannelRank = 1; i.ClwlRank = 0 }), 1},
		{"the channel's priority counts first", priority, with(func(i *Instance) { i.ChannelPrty = 1; i.ClwlPrty = 0 }), 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			row := Row{Instances: []Instance{ours, c.other}}
			if got := ReadyElsewhere(&row, c.lever); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
			row.V6 = true
			want := c.want
			if c.lever.Verb == VerbPut && c.other.ClwlRank < ours.ClwlRank && c.other.Put {
				want = 1 // ours is out before ranks are compared
			}
			if got := ReadyElsewhere(&row, c.lever); got != want {
				t.Errorf("in the order of MQ 6: %d, want %d", got, want)
			}
		})
	}
}

func TestFormula_Mistakes(t *testing.T) {
	t.Parallel()
	cases := []struct{ src, want string }{
		{"", "column 1: a formula is empty"},
		{"IPPROCS ==", "column 10: the formula ends too early; something must follow here"},
		{"IPPROCS == 0 CURDEPTH > 1", "column 14: CURDEPTH does not belong here; join two conditions with and or or"},
		{"(IPPROCS == 0", "column 1: this ( is never closed"},
		{"IPPROCS == 0)", "column 13: this ) closes nothing"},
		{"IPPROCS <> 0", "column 9: <> is not an operator here; write !="},
		{"IPPROCS =< 0", "column 9: =< is not an operator here; write <="},
		{"IPPROCS === 0", "column 11: === does not compare; write =="},
		{"IPPROCS EQ 0", "column 9: EQ is not an operator here; write =="},
		{"NOT IPPROCS == 0", "column 1: NOT is not an operator here; write not"},
		{"MSGAGE > 5m", "column 10: 5m is not a number; times in a formula are whole seconds"},
		{"CURDEPTH > 10k", "column 12: 10k is not a number"},
		{`DESCR == "abc`, "column 10: this text has no closing quote"},
		{"PUT == “ENABLED”", "column 8: “ is not a quote here; write \""},
		{"${IPPROCS} == 0", "column 1: a formula has names without ${}; write IPPROCS"},
		{"&{Queue_Data.Input_Opens} == 0", "column 1: a formula has names without &{}; write IPPROCS"},
		{"Queue_Data.Input_Opens == 0", "column 1: Queue_Data.Input_Opens is called IPPROCS here"},
		{"IPPROCS == 0 ? true : false", "column 14: a formula has no ? and :; join conditions with and, or, not"},
		{"let x = 1; x == 1", "column 1: let is not part of a formula; a formula is one condition"},
		{"IPPROCS == nil", "column 12: nil is not a value; ask with known() whether there is one"},
		{"all([1], # > 0)", "column 1: all is not a function here; there are READERS, known and percent"},
		{"now() > 1", "column 1: now is not a function here; there are READERS, known and percent"},
		{"readers(\"X\") == 0", "column 1: the function is spelled READERS"},
		{"READERS(QUEUE) == 0", "column 1: READERS wants one pattern of application names, in quotes"},
		{"known(1)", "column 1: known wants the name of one attribute"},
		{"percent(CURDEPTH) > 1", "column 1: percent wants two numbers, the part and the whole"},
		{"GETRATE > 1", "column 1: GETRATE comes with a later release"},
		{"AVG(CURDEPTH) > 1", "column 1: AVG comes with a later release"},
		{"CURDEPTH in 1..5", "column 13: a formula has no ranges; compare with both ends"},
		{"CURDEPTH in PUT", "column 13: after in comes a list in [ ]"},
		{"CURDEPTH in []", "column 13: the list after in is empty"},
		{`CURDEPTH in ["a"]`, "column 14: the list after in holds constants of the same type as CURDEPTH"},
		{`PUT in ["ENABLE"]`, `column 9: PUT is never "ENABLE"; it is ENABLED or DISABLED; did you mean ENABLED?`},
		{`PUT == "enabled"`, `column 8: PUT is never "enabled"; it is ENABLED or DISABLED; did you mean ENABLED?`},
		{`DESCR matches "["`, `column 15: "[" is not a regular expression`},
		{"CURDEPTH / 0 > 1", "column 12: a division by 0 has no result"},
		{"CURDEPTH + PUT > 1", "column 12: PUT is a text, not a number"},
		{"IPPROCS and CURDEPTH > 1", "column 1: and joins conditions; IPPROCS is a number"},
		{"not IPPROCS == 0", "column 1: not turns a condition round; IPPROCS is a number"},
		{"IPPROCS == true", "column 9: a number is compared with a condition"},
		{"CURDEPTH ** 2 > 1", "column 10: ** has no meaning in a formula"},
		{"IPPROCS ?? 0 == 0", "column 9: ?? has no meaning in a formula"},
		{"USAGE == XMIT", "column 10: USAGE is never XMIT; it is NORMAL or XMITQ"},
		{"IPPROCS == 99999999999999999999", "column 12: this number is too large"},
		{"IPPROCS == 0 #", "column 14: # does not belong here; join two conditions with and or or"},
		{"a.b.c", "column 1: a formula has plain names only, nothing with . or [ ]"},
		{strings.Repeat("IPPROCS == 0 or ", 60) + "true", "column 1: a formula has at most 200 operands and operators; split this one into several situations"},
		{strings.Repeat("(", 5000), "column 1: a formula has at most 4096 bytes; this has 5000"},
	}
	for _, c := range cases {
		name := c.src
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := NewFormula(c.src, Lever{})
			got := "no mistake"
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for _, word := range []string{"*ast", "expr.", "interface", "float64", "situations.", "reflect", "panic"} {
				if strings.Contains(got, word) {
					t.Errorf("the message speaks of Go: %s", got)
				}
			}
		})
	}
}

func TestFormula_Explain(t *testing.T) {
	t.Parallel()
	f, err := NewFormula(`IPPROCS == 2 and (CURDEPTH > 0.8 * MAXDEPTH or PUT == "DISABLED") and MSGAGE > 1`, Lever{})
	if err != nil {
		t.Fatal(err)
	}
	row := sampleRow()
	var got []string
	for _, p := range f.Explain(&row) {
		got = append(got, p.String())
	}
	want := []string{
		"IPPROCS == 2 (2 == 2) -> true",
		"CURDEPTH > 0.8 * MAXDEPTH (4100 > 0.8 * 5000) -> true",
		`PUT == "DISABLED" ("ENABLED" == "DISABLED") -> false`,
		"MSGAGE > 1 (? > 1) -> unknown",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantValues := map[string]any{"IPPROCS": 2, "CURDEPTH": 4100, "MAXDEPTH": 5000, "PUT": "ENABLED", "MSGAGE": nil}
	if d := cmp.Diff(wantValues, f.Values(&row)); d != "" {
		t.Error(d)
	}
}

// conditionGen draws formulas that compile, of the kinds that expr evaluates too.
func conditionGen(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		number := func() string {
			return rapid.SampledFrom([]string{
				"IPPROCS", "CURDEPTH", "MAXDEPTH", "OPPROCS", "0", "1", "2", "0.5", "4100", "CURDEPTH - IPPROCS", "IPPROCS * 3",
				"(CURDEPTH + 1)", "-IPPROCS", "CURDEPTH % 7", "MAXDEPTH / 3",
			}).Draw(t, "number")
		}
		text := func() string {
			return rapid.SampledFrom([]string{"QUEUE", "QMGR", `"DCQ1"`, `"X"`, "DESCR"}).Draw(t, "text")
		}
		switch n := rapid.IntRange(0, 8).Draw(t, "kind"); {
		case depth > 0 && n < 2:
			return "(" + conditionGen(depth-1).Draw(t, "left") + ") and (" + conditionGen(depth-1).Draw(t, "right") + ")"
		case depth > 0 && n < 4:
			return "(" + conditionGen(depth-1).Draw(t, "left") + ") or (" + conditionGen(depth-1).Draw(t, "right") + ")"
		case depth > 0 && n == 4:
			return "not (" + conditionGen(depth-1).Draw(t, "inner") + ")"
		case n == 5:
			return text() + " " + rapid.SampledFrom([]string{"==", "!=", "<", ">=", "contains", "startsWith", "endsWith"}).Draw(t, "op") + " " + text()
		case n == 6:
			return number() + " in [1, 2, 4100]"
		}
		return number() + " " + rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">="}).Draw(t, "op") + " " + number()
	})
}

// Our evaluation and expr's machine must agree wherever expr gives an answer:
// expr's language is what the documents promise.
func TestProperty_EvaluatesAsExprDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := conditionGen(3).Draw(t, "formula")
		f, err := NewFormula(src, Lever{})
		if err != nil {
			t.Skip(err)
		}
		row := sampleRow()
		a := row.Env.(Attributes)
		a.IPPROCS, a.CURDEPTH = rapid.IntRange(0, 5).Draw(t, "IPPROCS"), rapid.IntRange(0, 5000).Draw(t, "CURDEPTH")
		row.Env = a
		program, err := expr.Compile(src, expr.Env(Attributes{}), expr.AsBool())
		if err != nil {
			t.Fatalf("%s compiles here and not there: %v", src, err)
		}
		theirs, err := expr.Run(program, a)
		if err != nil {
			t.Fatal(err)
		}
		want := False
		if theirs.(bool) {
			want = True
		}
		if got := f.Eval(&row); got != want {
			t.Fatalf("%s: %s here, %s there", src, got, want)
		}
	})
}

// Property 17: whatever value a formula names is taken away, the verdict is unknown.
func TestProperty_MissingValue_Unknown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := conditionGen(3).Draw(t, "formula")
		f, err := NewFormula(src, Lever{})
		if err != nil {
			t.Skip(err)
		}
		for i := range queueTable.list {
			if f.uses&queueTable.list[i].bit == 0 {
				continue
			}
			row := sampleRow()
			row.Missing = append(row.Missing, queueTable.list[i].Name)
			if got := f.Eval(&row); got != Unknown {
				t.Fatalf("%s without %s: %s", src, queueTable.list[i].Name, got)
			}
		}
	})
}

func TestIntent_SurvivesAnOutbox(t *testing.T) {
	t.Parallel()
	f, err := NewFormula("READY_ELSEWHERE > 0", Lever{Verb: VerbRank, Value: 3})
	if err != nil {
		t.Fatal(err)
	}
	in := Intent{
		ID: "QM2:DCQ1:idle:1.1", Key: Key{"idle", "QM2", "DCQ1"}, Edge: EdgeOpen, At: benchStart,
		Actions: []Action{{Verb: VerbRank, Value: "3", Claim: true, ClaimName: "DCQ1"}, {Verb: VerbRedistribute, OnlyIf: f}},
		Row:     sampleRow(), Interval: minute,
	}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var got Intent
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(in, got, cmp.Comparer(func(a, b *Formula) bool {
		return a == nil && b == nil || a != nil && b != nil && a.source == b.source && a.lever == b.lever
	})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got.Actions[1].OnlyIf.Eval(&got.Row) != in.Actions[1].OnlyIf.Eval(&in.Row) {
		t.Error("the stored formula judges otherwise")
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	row := sampleRow()
	cases := []struct{ in, want string }{
		{"plain", "plain"},
		{"${QUEUE} on ${QMGR}: ${CURDEPTH}", "DCQ1 on QM2: 4100"},
		{"&{Queue_Data.Queue_Name} &{Queue_Data.MQ_Manager_Name} &{Queue_Data.Input_Opens} &{Queue_Data.Current_Depth}", "DCQ1 QM2 2 4100"},
		{"age ${MSGAGE}", "age unknown"},
		{"$5 ${ & {", "$5 ${ & {"},
		{"${QUEUE", "${QUEUE"},
	}
	for _, c := range cases {
		if got := Expand(c.in, &row); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
	args, err := ExpandArgs([]string{"/opt/x", "${QUEUE}; rm -rf /", "a b"}, &row)
	if err != nil || fmt.Sprintf("%q", args) != `["/opt/x" "DCQ1; rm -rf /" "a b"]` {
		t.Errorf("arguments %q, %v", args, err)
	}
	if _, err := ExpandArgs([]string{"/opt/x", "${MSGAGE}"}, &row); err == nil {
		t.Error("an argument without a value is no error")
	}
}
