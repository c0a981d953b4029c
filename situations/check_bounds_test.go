package situations

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// many writes a rule file of n situations.
func many(n int, format string) string {
	var b strings.Builder
	b.WriteString("version: 1\ndefaults: {sample: 5s}\nsituations:\n")
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// However much the situations of a file have to do with each other, a check
// comes to an end soon and says why it refuses.
func TestLoad_TooMuchTogether_Refused(t *testing.T) {
	t.Parallel()
	names := make([]string, 900)
	for i := range names {
		names[i] = fmt.Sprintf("Q%d", i)
	}
	aliases := "version: 1\nsituations:\n  - {name: S, watch: {queue: &q [" + strings.Join(names, ",") + "]}, formula: IPPROCS == 0}\n"
	for name, test := range map[string]struct{ text, want string }{
		"one queue, one lever": {
			many(400, "  - {name: S%d, watch: {queue: Q}, formula: IPPROCS == 0, actions: [put: DISABLED], on_clear: revert}\n"),
			"too many situations watch the same queues",
		},
		"formulas that are never true together": {
			many(80, "  - {name: S%[1]d, watch: {queue: Q}, formula: CURDEPTH == %[1]d and IPPROCS == %[1]d and OPPROCS == %[1]d, actions: [rank: 1]}\n"+
				"  - {name: T%[1]d, watch: {queue: Q}, formula: CURDEPTH == 1%[1]d and IPPROCS == 1%[1]d and OPPROCS == 1%[1]d, actions: [rank: 2]}\n"),
			"too many situations watch the same queues",
		},
		"patterns": {
			many(400, "  - {name: S%[1]d, watch: {queue: ['A*%[1]d*B', '*C%[1]d*']}, formula: IPPROCS == 0, alert: {severity: critical, summary: x}}\n"),
			"too many situations watch the same queues",
		},
		"one list behind many aliases": {
			aliases + strings.TrimPrefix(many(120, "  - {name: T%d, watch: {queue: *q}, formula: IPPROCS == 0}\n"), "version: 1\ndefaults: {sample: 5s}\nsituations:\n"),
			"the lists of names hold more than 100000 together",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules, problems := loadWithin(1_000_000, File{Name: "rules.yaml", Data: []byte(test.text)})
			if rules != nil || !HasErrors(problems) {
				t.Fatal("it was loaded")
			}
			if said := string(FormatText(problems)); !strings.Contains(said, test.want) {
				t.Errorf("%q is missing in\n%s", test.want, said)
			}
		})
	}
}

// What many rule files are like stays far from the bound.
func TestLoad_ManyIndependentSituations_Accepted(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a queue each":      many(1000, "  - {name: S%[1]d, watch: {queue: Q%[1]d}, formula: IPPROCS == 0, actions: [put: DISABLED], on_clear: revert}\n"),
		"availability each": many(500, "  - availability: {queue: Q%d, cluster: C, by: put}\n"),
		"patterns":          many(300, "  - {name: S%[1]d, watch: {queue: 'A%[1]d.*'}, formula: IPPROCS == 0, actions: [put: DISABLED], on_clear: revert}\n"),
	} {
		if rules, problems := Load(File{Name: "rules.yaml", Data: []byte(text)}); rules == nil {
			t.Errorf("%s:\n%.1000s", name, FormatText(problems))
		}
	}
}

// However long a line or a message is: what is shown of it is short, and the
// carets stand under the place.
func TestFormatText_LongLine_ShowsThePlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, maxShown, maxShown + 1, 5000, 1_000_000}).Draw(t, "length")
		column := rapid.IntRange(1, n).Draw(t, "column")
		line := strings.Repeat("a", column-1) + "X" + strings.Repeat("b", n-column)
		p := Problem{File: "f", Line: 1, Column: column, Length: rapid.IntRange(1, n).Draw(t, "caret"), Code: "c", Severity: SeverityError, Message: line, Source: line}
		text := string(FormatText([]Problem{p}))
		if len(text) > 3*(maxShown+50) {
			t.Fatalf("%d bytes are shown", len(text))
		}
		lines := strings.Split(text, "\n")
		if at := strings.IndexByte(lines[2], '^'); at < 0 || lines[1][at] != 'X' {
			t.Fatalf("the caret is elsewhere:\n%s", text)
		}
		if len(lines[2]) > len(lines[1]) {
			t.Fatalf("carets past the end:\n%s", text)
		}
	})
}
