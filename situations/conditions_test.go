package situations

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// conditions runs a word of samples and gives its edges: O, C, R, x for removed,
// E for a clear by until, s for a suppressed edge.
func conditions(l limits, word string, stopped, held func(i int) bool) string {
	w := newWalk(l)
	var out strings.Builder
	for i, v := range word {
		w.now++
		w.at = time.Unix(1_000_000, 0).UTC().Add(time.Duration(w.now) * minute)
		ticks := 0
		if !w.state.LastGood.IsZero() {
			ticks = (&Schedule{Every: minute}).ticks(w.state.LastGood, w.at, time.Unix(1_000_000, 0), maxGap+1)
		}
		in := input{verdict: verdictLetters[v], at: w.at, scheduled: true, ticks: ticks, epoch: int64(i + 1)}
		in.stopped, in.held = stopped != nil && stopped(i), held != nil && held(i)
		var o outcome
		w.state, o = step(&w.l, w.state, in)
		switch {
		case o.ended:
			out.WriteByte('E')
		case o.suppressed != "":
			out.WriteByte('s')
		default:
			out.WriteByte(edgeLetter(o))
		}
	}
	return out.String()
}

func between(from, to int) func(int) bool { return func(i int) bool { return i >= from && i < to } }

// TestMachine_Until: what until ended opens again only after it was false.
func TestMachine_Until(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, word, want string
		after            time.Duration
		stopped          func(int) bool
	}{
		{"after", "TTTTTFT", "O..E..O", 3 * minute, nil},
		{"after, counted over unknown samples, decided by a good one", "TUUUUTT", "O....E.", 3 * minute, nil},
		{"after, in the hysteresis band", "THHHHHF", "O..E...", 3 * minute, nil},
		{"another opens", "TTTTTFT", "O.E...O", 0, between(2, 4)},
		{"another is open before", "TTTTT", "..O..", 0, between(0, 2)},
		{"another opens with the false sample", "TTFTT", "O.CO.", 0, between(2, 3)},
		{"gone ends it for good", "TTTTGGT", "O..E.xO", 3 * minute, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := conditions(limits{until: tc.after}, tc.word, tc.stopped, nil); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.word, got, tc.want)
			}
		})
	}
}

// TestMachine_Maintenance: in a window nothing fires, and after it at most one
// edge, which is the difference.
func TestMachine_Maintenance(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ word, want string }{
		{"FTTTTTT", ".sssO.."}, // opens in it and stays
		{"FTTFTTT", ".ss.O.."},
		{"FTTFFFF", ".ss...."}, // over before it ends
		{"FTTTUUT", ".sss..O"}, // the first good sample after it
	} {
		if got := conditions(limits{}, tc.word, nil, between(1, 4)); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.word, got, tc.want)
		}
	}
	if got := conditions(limits{}, "TFFFTF", nil, between(1, 3)); got != "OssCOC" {
		t.Errorf("a clear in the window: %s", got)
	}
	if got := conditions(limits{again: ActAgain{EverySample: true}}, "TTTTT", nil, between(1, 3)); got != "OssRR" {
		t.Errorf("repeats in the window: %s", got)
	}
}

// Property 7: no action inside a window, and with property 6 one that is right after it.
func TestProperty_NoActionInsideAWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limitsGen(t)
		word := string(walkGen(t, "TFHUG"))
		from := rapid.IntRange(0, len(word)).Draw(t, "from")
		to := rapid.IntRange(from, len(word)).Draw(t, "to")
		got := conditions(l, word, nil, between(from, to))
		if i := strings.IndexAny(got[from:to], "OCR"); i >= 0 {
			t.Fatalf("%s: %s acts in the window %d to %d", word, got, from, to)
		}
	})
}

// TestProperty_UntilAlternates: with until, too, open and clear alternate, and a
// situation that was ended does not open before it was false.
func TestProperty_UntilAlternates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := limitsGen(t)
		l.again = ActAgain{}
		l.until = time.Duration(rapid.IntRange(0, 5).Draw(t, "until")) * minute
		word := string(walkGen(t, "TFHU"))
		from := rapid.IntRange(0, len(word)).Draw(t, "from")
		got := conditions(l, word, between(from, from+rapid.IntRange(0, 6).Draw(t, "stopped")), nil)
		open, ended := false, false
		for i, c := range got {
			ended = ended && word[i] != 'F'
			switch {
			case c == 'O' && (open || ended), (c == 'C' || c == 'E') && !open:
				t.Fatalf("%s: %s at %d", word, got, i)
			case c == 'O':
				open = true
			case c == 'C' || c == 'E':
				open, ended = false, c == 'E' && word[i] != 'F'
			}
		}
	})
}

func loadConditions(t *testing.T, line string) *Situation {
	t.Helper()
	return mustLoad(t, ruleHead+"    "+line+"\n"+ruleTail).Situations[0]
}

// TestWindow_Edges: a window is open from its start to before its end, over
// midnight and over a change of the clocks.
func TestWindow_Edges(t *testing.T) {
	t.Parallel()
	rs := mustLoad(t, "timezone: Europe/Zurich\n"+ruleHead+
		"    maintenance: [{cron: \"30 23 * * 6\", for: 4h}]\n"+ruleTail)
	s := rs.Situations[0]
	zurich, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		at   string
		want bool
	}{
		{"2026-03-28 23:29:59", false}, {"2026-03-28 23:30:00", true}, {"2026-03-29 01:59:59", true},
		{"2026-03-29 04:29:59", true}, {"2026-03-29 04:30:00", false}, // an hour was skipped: four hours are four hours
		{"2026-04-04 23:30:00", true}, {"2026-04-05 03:29:59", true}, {"2026-04-05 03:30:00", false},
		{"2026-04-03 23:45:00", false},
	} {
		at, err := time.ParseInLocation(time.DateTime, tc.at, zurich)
		if err != nil {
			t.Fatal(err)
		}
		if held, _ := s.maintained(at); held != tc.want {
			t.Errorf("%s: %v", tc.at, held)
		}
	}
}

func TestGuardLimits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line  string
		need  [3]int // of 1, 3, 10 instances
		dwell time.Duration
	}{
		{"for: 1 sample", [3]int{1, 1, 1}, 10 * minute},
		{"guard: {min_available: 0}", [3]int{0, 0, 0}, 10 * minute},
		{"guard: {min_available: 2, dwell: 0s}", [3]int{2, 2, 2}, 0},
		{"guard: {min_available: 34%, dwell: 90s}", [3]int{1, 2, 4}, 90 * time.Second},
		{"guard: {min_available: 0%, dwell: 1 sample}", [3]int{0, 0, 0}, 5 * minute},
		{"guard: {dwell: 3 samples}", [3]int{1, 1, 1}, 15 * minute},
	} {
		g := loadConditions(t, tc.line).Guard
		if got := [3]int{g.Need(1), g.Need(3), g.Need(10)}; got != tc.need {
			t.Errorf("%s: needs %v, want %v", tc.line, got, tc.need)
		}
		if got := g.DwellTime(5 * minute); got != tc.dwell {
			t.Errorf("%s: dwell %s, want %s", tc.line, got, tc.dwell)
		}
	}
}

// TestPrint_KeepsConditions: what is printed loads again and prints the same.
func TestPrint_KeepsConditions(t *testing.T) {
	t.Parallel()
	text := `version: 1
situations:
  - name: Outage
    watch: {queue: "*"}
    formula: GET == "DISABLED"
  - name: New
    watch: {queue: ["ORDERS.*", "!ORDERS.OLD"], cluster: C1}
    formula: CURDEPTH > 100
    recovery: CURDEPTH < 10
    until: {situation: Outage, after: 90m}
    maintenance:
      - {cron: "0 3 * * 0", for: 2h}
      - {cron: "@daily", for: 20m, suppress: notify}
    guard: {min_available: 30%, dwell: 90s}
    expect: [ORDERS.IN, ORDERS.OUT]
    max_wait: 1h
    renamed_from: Old
    actions:
      - mqsc: "ALTER QLOCAL(${QUEUE}) DESCR('depth ${CURDEPTH}')"
      - webhook: https://example.com/hook?queue=${QUEUE}
`
	rs := mustLoad(t, text)
	printed := Print(rs)
	again, ps := Load(File{Name: "again.yaml", Data: printed})
	if again == nil {
		t.Fatalf("%s\n%s", printed, FormatText(ps))
	}
	strip := func(b []byte) string {
		lines := strings.Split(string(b), "\n")
		return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "# from") }), "\n")
	}
	if strip(printed) != strip(Print(again)) {
		t.Errorf("printed again it is\n%s\nand was\n%s", Print(again), printed)
	}
	for _, want := range []string{"recovery:", "until:", "suppress: notify", "min_available: 30%", "expect:", "max_wait: 1h", "renamed_from:", "webhook:"} {
		if !strings.Contains(string(printed), want) {
			t.Errorf("%s is not printed", want)
		}
	}
}

// TestExpandMQSC: no value can become a piece of a command.
func TestExpandMQSC(t *testing.T) {
	t.Parallel()
	row := Row{Queue: "a.b", Env: Attributes{QUEUE: "a.b", DESCR: "x') PUT(DISABLED) DESCR('", CURDEPTH: 7}}
	for _, tc := range []struct{ text, want string }{
		{"ALTER QLOCAL(${QUEUE}) DESCR('n ${CURDEPTH}')", "ALTER QLOCAL('a.b') DESCR('n 7')"},
		{"ALTER QLOCAL('${QUEUE}') DESCR(${DESCR})", "ALTER QLOCAL('a.b') DESCR('x'') PUT(DISABLED) DESCR(''')"},
		{"ALTER QLOCAL('${QUEUE}') DESCR('it''s ${DESCR}')", "ALTER QLOCAL('a.b') DESCR('it''s x'') PUT(DISABLED) DESCR(''')"},
		{"START CHANNEL(TO.QM2)", "START CHANNEL(TO.QM2)"},
	} {
		if got, err := ExpandMQSC(tc.text, &row); err != nil || got != tc.want {
			t.Errorf("%s: got %s (%v), want %s", tc.text, got, err, tc.want)
		}
	}
	row.Missing = []string{"CURDEPTH"}
	if _, err := ExpandMQSC("ALTER QLOCAL(Q) DESCR('${CURDEPTH}')", &row); err == nil {
		t.Error("a command with half its text is given")
	}
	address := "https://h/${QUEUE}?d=${DESCR}"
	if got, err := ExpandAddress(address, &Row{Env: Attributes{QUEUE: "a/b", DESCR: "x&y=1"}}); err != nil || got != "https://h/a%2Fb?d=x%26y%3D1" {
		t.Errorf("%s: got %s (%v)", address, got, err)
	}
}

const oldRule = `version: 1
situations:
  - name: %s
    watch: {queue: DCQ1}
    formula: IPPROCS == 0
    actions: [{put: DISABLED}]
    on_clear: revert
%s`

// TestRename_CarriesEverything: by reload and by restart, also while disabled.
func TestRename_CarriesEverything(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"reload", "restart", "disabled", "no name"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := newBookBench(t, fmt.Sprintf(oldRule, "Old", ""))
			b.tick('T')
			extra := "    renamed_from: Old\n"
			switch how {
			case "disabled":
				b.rules = mustLoad(t, fmt.Sprintf(oldRule, "Old", "    enabled: false\n"))
				b.book.reload(b.rules, b.at)
				b.tick('T')
			case "no name":
				extra = ""
			}
			b.rules = mustLoad(t, fmt.Sprintf(oldRule, "New", extra))
			if how == "restart" {
				b.restart()
			} else {
				b.book.reload(b.rules, b.at)
			}
			var was []string
			for _, c := range b.book.owed.changes {
				if c.Was != "" {
					was = append(was, c.Was+" "+c.Key.Situation)
				}
			}
			b.tick('T')
			if how == "no name" {
				if got := b.edges(); got != "Old open, Old clear, New open" {
					t.Errorf("edges %s", got)
				}
				return
			}
			if fmt.Sprint(was) != "[Old New]" {
				t.Errorf("renamed %v", was)
			}
			b.tick('F')
			if got := b.edges(); got != "Old open, New clear" {
				t.Errorf("edges %s", got)
			}
			for k := range b.store {
				if k.Situation == "Old" {
					t.Errorf("a record of %v is left", k)
				}
			}
			b.restart() // renamed_from still stands there
			b.tick('T')
			if got := b.edges(); got != "Old open, New clear, New open" {
				t.Errorf("edges %s", got)
			}
		})
	}
}

// TestExpect_MissingIsTrue: a queue that must exist is an item before any sample
// has it; one that a doubtful sample lacks is not missed.
func TestExpect_MissingIsTrue(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, `version: 1
situations:
  - name: Missing
    watch: {queue: DCQ1, cluster: C1}
    expect: DCQ1
    alert: {severity: critical, summary: "${QUEUE} is missing, ${CURDEPTH}"}
    actions: [{exec: [/opt/define, "${QUEUE}"]}]
`)
	b.tick('F')
	b.tick('U')
	if got := b.edges(); got != "" {
		t.Fatalf("edges %q while it is there or unknown", got)
	}
	b.tick('G')
	b.tick('G')
	if got := b.edges(); got != "Missing open" {
		t.Fatalf("edges %q", got)
	}
	if in := b.sent[0]; !in.Row.Absent || in.Row.Queue != "DCQ1" {
		t.Errorf("row %+v", in.Row)
	}
	alerts := b.book.alerts()
	if len(alerts) != 1 || alerts[0].Annotations["summary"] != "DCQ1 is missing, unknown" || alerts[0].Labels["cluster"] != "C1" {
		t.Errorf("alerts %+v", alerts)
	}
	b.restart()
	b.tick('G')
	b.tick('F')
	b.tick('G')
	b.restart()
	b.tick('G')
	if got := b.edges(); got != "Missing open, Missing clear, Missing open" {
		t.Errorf("edges %s", got)
	}
	row := queueRow("DCQ1", 1)
	row.Clusters = []string{"C2"}
	fresh := newBookBench(t, `version: 1
situations:
  - name: Missing
    watch: {queue: DCQ1, cluster: C1}
    expect: DCQ1
    severity: critical
`)
	out := fresh.evaluate(completeSample(fresh.at, row))
	fresh.book.apply(&out)
	if n := len(fresh.book.alerts()); n != 1 {
		t.Errorf("%d alerts for a queue outside the cluster that is watched", n)
	}
}

// TestRecovery_IsABand: between formula and recovery nothing changes, and a
// value that either of them lacks leaves the verdict open.
func TestRecovery_IsABand(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, `version: 1
situations:
  - name: deep
    watch: {queue: DCQ1}
    formula: CURDEPTH > 100
    recovery: CURDEPTH < 10 and MSGAGE < 60
    actions: [{event: deep}]
`)
	for _, tc := range []struct {
		depth int
		age   int // -1: no value
		want  Verdict
		edges string
	}{
		{50, 0, Hold, ""},
		{101, -1, Unknown, ""},
		{101, 0, True, "deep open"},
		{50, 0, Hold, "deep open"},
		{9, 90, Hold, "deep open"},
		{9, -1, Unknown, "deep open"},
		{9, 0, False, "deep open, deep clear"},
		{50, 0, Hold, "deep open, deep clear"},
	} {
		b.n++
		b.at = benchStart.Add(time.Duration(b.n) * 5 * minute)
		row := Row{Queue: "DCQ1", Base: "DCQ1", Type: "QLOCAL", Env: Attributes{QUEUE: "DCQ1", CURDEPTH: tc.depth, MSGAGE: tc.age}}
		if tc.age < 0 {
			row.Missing = []string{"MSGAGE"}
		}
		out := b.evaluate(completeSample(b.at, row))
		b.commit(&out)
		b.book.apply(&out)
		if it := b.book.find(Key{"deep", "QM2", "DCQ1"}); it.verdict != tc.want || b.edges() != tc.edges {
			t.Errorf("depth %d, age %d: %s, edges %q; want %s, %q", tc.depth, tc.age, it.verdict, b.edges(), tc.want, tc.edges)
		}
	}
}
