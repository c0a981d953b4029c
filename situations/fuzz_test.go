package situations

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// goWords must never reach a person who writes rules.
var goWords = []string{"yaml.Node", "interface {}", "map[string]", "situations.", "*ast.", "reflect.", "strconv.", "runtime error", "invalid memory", "goroutine"}

func seedRules(f *testing.F) {
	for _, name := range []string{"testdata/base.yaml", "testdata/availability_rank.yaml", "../examples/article.yaml", "../examples/rules.yaml", "../examples/channels.yaml"} {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(b)
		}
	}
	for _, s := range []string{
		"", "version: 1", "version: 1\nsituations: []\n", "- - - -", "[[[[[", "{a: {b: {c: *x}}}", "a: &x {b: *x}\n", "a: |\n  x\n b: >\n",
		ruleHead + ruleTail, ruleHead + "    formula: \"IPPROCS \\u003d\\x3d 0\"\n", "\ufeffversion: 1\r\n", "%YAML 1.1\n---\na: b\n...\n",
		ruleHead + "    formula: >-\n\n      IPPROCS\n\n      = 0\n", "? a\n: b\n", "a: 'x''y\n z'\n", "key: !tag *a &b\n",
	} {
		f.Add([]byte(s))
	}
}

// FuzzLoad: whatever the bytes, there are rules or errors, each with a place
// inside the file and in words for people.
func FuzzLoad(f *testing.F) {
	seedRules(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		rs, ps := Load(File{Name: "fuzz.yaml", Data: data})
		if (rs == nil) != HasErrors(ps) {
			t.Fatalf("rules %v with problems %v", rs != nil, ps)
		}
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1
		for _, p := range ps {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Length < 1 || p.Message == "" || p.Code == "" {
				t.Errorf("a problem without a place: %+v", p)
			}
			for _, w := range goWords {
				if strings.Contains(p.Message, w) && !strings.Contains(string(data), w) {
					t.Errorf("the message speaks of Go: %s", p.Message)
				}
			}
		}
		if text := FormatText(ps); !utf8.Valid(text) && utf8.Valid(data) {
			t.Errorf("the text form is not UTF-8: %q", text)
		}
		if rs == nil {
			return
		}
		printed := Print(rs)
		if back, ps := Load(File{Name: "print.yaml", Data: printed}); back == nil {
			t.Errorf("what print writes does not load:\n%s\n%s", printed, FormatText(ps))
		}
	})
}

// FuzzFormula: a formula compiles or has mistakes within it; what compiles gives
// a verdict for any row, and the same one twice.
func FuzzFormula(f *testing.F) {
	for _, s := range tenRules {
		f.Add(s, 1, 2)
	}
	for _, s := range []string{"", "IPPROCS = 0", "((((", `"a`, "1 / OPPROCS > 0", "known(MSGAGE) and MSGAGE > 1", "&{x", "not in", "a.b?.c[1:2]", "0x", "IPPROCS in [-1, 2]"} {
		f.Add(s, 0, 0)
	}
	f.Fuzz(func(t *testing.T, src string, readers, depth int) {
		got, bad := compileFormula(GroupQueue, src, Lever{Verb: VerbRank})
		if (got == nil) != (len(bad) > 0) {
			t.Fatalf("formula %v with mistakes %v", got != nil, bad)
		}
		n := utf8.RuneCountInString(src)
		for _, e := range bad {
			if e.from < 0 || e.to < e.from || e.from > n || e.message == "" || e.code == "" {
				t.Errorf("a mistake without a place in %d characters: %+v", n, e)
			}
		}
		if got == nil {
			return
		}
		row := sampleRow()
		a := row.Env.(Attributes)
		a.IPPROCS, a.CURDEPTH = readers, depth
		row.Env = a
		if once, twice := got.Eval(&row), got.Eval(&row); once != twice {
			t.Errorf("the same row gives %s and %s", once, twice)
		}
		got.Explain(&row)
		row.Missing = queueTable.names()
		row.InstancesKnown = false
		if v := got.Eval(&row); v != Unknown && got.needs != 0 {
			t.Errorf("nothing is known and the verdict is %s", v)
		}
	})
}

// FuzzCron: a line is refused, or there is always a next time after any time.
func FuzzCron(f *testing.F) {
	for _, s := range []string{
		"*/5 * * * *", "0 0 31 2 *", "TZ=0", "CRON_TZ=UTC", "TZ=", "@every 1ms", "@every -5s", "@every 5m", "@hourly", "@reboot",
		"0 0 29 2 *", "30 2 * * *", "59 23 31 12 6", "* * * * * *", "1-5,7/2 ? * JAN mon", "",
	} {
		f.Add(s, int64(946684800))
	}
	f.Fuzz(func(t *testing.T, line string, at int64) {
		s, err := ParseCron(line, time.UTC)
		if err != nil {
			return
		}
		now := time.Unix(at%(1<<36), 0)
		next := s.Next(now, now)
		if !next.IsZero() && !next.After(now) {
			t.Errorf("%q: the next time after %s is %s", line, now, next)
		}
		if s.Interval(now) <= 0 {
			t.Errorf("%q: the interval is %s", line, s.Interval(now))
		}
	})
}

// FuzzRuleTest: a rule-test file runs or is refused with a place.
func FuzzRuleTest(f *testing.F) {
	if b, err := os.ReadFile("testdata/base_test.yaml"); err == nil {
		f.Add(string(b))
	}
	f.Add("rule_files: [base.yaml]\ntests: [{items: {A/B: {IPPROCS: 0x99999}}, expect: [{at: 0}]}]\n")
	f.Add("rule_files: [base.yaml]\nsample: 1ns\ntests: [{items: {A/B: {IPPROCS: 1, PUT: ? _}}, expect: [{at: 1m, item: A/B, active: []}]}]\n")
	rules, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "x9") > 3 {
			return // long series are slow, not wrong
		}
		report, ps := RunTests(File{Name: "t.yaml", Data: []byte(text)}, TestOptions{
			Read: func(string) ([]byte, error) { return rules, nil }, Actor: newPlainActor,
		})
		if (report == nil) != HasErrors(ps) {
			t.Fatalf("report %v with problems %v", report != nil, ps)
		}
	})
}

// FuzzState: stored bytes give a state that encodes to itself, or an error.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"v":1,"phase":2,"acted":true,"epoch":5,"seq":1}`))
	f.Add([]byte(`{"v":1,"held":9223372036854775807,"good":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodeState(data)
		if err != nil {
			return
		}
		b, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeState(b); err != nil || again != s {
			t.Errorf("%+v becomes %+v (%v)", s, again, err)
		}
	})
}
