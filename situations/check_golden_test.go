package situations

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// base is a good rule file; every case breaks one thing in it.
func base(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// setLine replaces a line of a text, counting from 1.
func setLine(text string, n int, to string) string {
	lines := strings.Split(text, "\n")
	lines[n-1] = to
	return strings.Join(lines, "\n")
}

func check(text string) string {
	_, ps := Load(File{Name: "rules.yaml", Data: []byte(text)})
	return string(FormatText(ps))
}

func TestBaseFile_IsClean(t *testing.T) {
	t.Parallel()
	if got := check(base(t)); got != "" {
		t.Fatalf("the good file has findings:\n%s", got)
	}
}

// TestCheck_Messages pins the words of check: people search for them, and
// editors parse the first line.
func TestCheck_Messages(t *testing.T) {
	t.Parallel()
	formula := func(f string) func(string) string {
		return func(s string) string { return setLine(s, 15, "    formula: "+f) }
	}
	block := func(queue string) func(string) string {
		return func(s string) string {
			return setLine(s, 14, "    watch:\n      queue: "+queue)
		}
	}
	cases := []struct {
		name string
		edit func(string) string
		want string
	}{
		{"no formula", func(s string) string { return setLine(s, 15, "") }, `
rules.yaml:12:5: error: situation MQQueueDisable has no formula, so it could never become true [missing]
   12 |   - name: MQQueueDisable
      |     ^
`},
		{"unknown key", func(s string) string { return setLine(s, 15, "    formual: IPPROCS == 0") }, `
rules.yaml:12:5: error: situation MQQueueDisable has no formula, so it could never become true [missing]
   12 |   - name: MQQueueDisable
      |     ^
rules.yaml:15:5: error: a situation has no key formual; did you mean formula? [unknown-key]
   15 |     formual: IPPROCS == 0
      |     ^^^^^^^
`},
		{"two unknown attributes", formula("IPROCS == 0 and CURDEPHT > 0"), `
rules.yaml:15:14: error: IPROCS is not an attribute of a queue; did you mean IPPROCS? [unknown-attribute]
   15 |     formula: IPROCS == 0 and CURDEPHT > 0
      |              ^^^^^^
      = list them: situationd attributes queue
rules.yaml:15:30: error: CURDEPHT is not an attribute of a queue; did you mean CURDEPTH? [unknown-attribute]
   15 |     formula: IPROCS == 0 and CURDEPHT > 0
      |                              ^^^^^^^^
      = list them: situationd attributes queue
`},
		{"lower case", formula("ipprocs == 0"), `
rules.yaml:15:14: error: ipprocs is not an attribute; MQSC names are in capitals [unknown-attribute]
   15 |     formula: ipprocs == 0
      |              ^^^^^^^
      = write: IPPROCS
`},
		{"single =", formula("IPPROCS = 0"), `
rules.yaml:15:22: error: a single = does not compare; write == [syntax]
   15 |     formula: IPPROCS = 0
      |                      ^
      = write: IPPROCS == 0
`},
		{"AND", formula("IPPROCS == 0 AND CURDEPTH > 0"), `
rules.yaml:15:27: error: AND is not an operator here; write and [syntax]
   15 |     formula: IPPROCS == 0 AND CURDEPTH > 0
      |                           ^^^
      = write: IPPROCS == 0 and CURDEPTH > 0
`},
		{"value without quotes", formula("IPPROCS == 0 and PUT == ENABLED"), `
rules.yaml:15:38: error: ENABLED is a value of PUT, so it needs quotes [quote-value]
   15 |     formula: IPPROCS == 0 and PUT == ENABLED
      |                                      ^^^^^^^
      = write: PUT == "ENABLED"
`},
		{"value that never is", formula(`IPPROCS == 0 and PUT == "ENABLE"`), `
rules.yaml:15:38: error: PUT is never "ENABLE"; it is ENABLED or DISABLED; did you mean ENABLED? [unknown-value]
   15 |     formula: IPPROCS == 0 and PUT == "ENABLE"
      |                                      ^^^^^^^^
`},
		{"number as text", formula(`IPPROCS == "0"`), `
rules.yaml:15:22: error: a number is compared with text [type]
   15 |     formula: IPPROCS == "0"
      |                      ^
      = write the number without quotes
`},
		{"no condition", formula("IPPROCS"), `
rules.yaml:15:14: error: a formula must be true or false; this one is a number [not-a-condition]
   15 |     formula: IPPROCS
      |              ^^^^^^^
      = write: IPPROCS > 0
`},
		{"no unit", func(s string) string {
			return setLine(s, 5, "  sample: 5                   # Sampling interval: well under the longest wait the SLA allows")
		}, `
rules.yaml:5:11: error: 5 has no unit [duration]
    5 |   sample: 5                   # Sampling interval: well under the longest wait the SLA allows
      |           ^
      = write 5s or 5m
`},
		{"bare star", block("*"), `
rules.yaml:15:14: error: a bare * means something else to YAML; put the pattern in quotes [yaml]
   15 |       queue: *
      |              ^
      = write: queue: "*"
`},
		{"name twice", func(s string) string { return setLine(s, 27, "  - name: MQQueueDisable") }, `
rules.yaml:27:11: error: another situation is called MQQueueDisable already, on line 12 [twice]
   27 |   - name: MQQueueDisable
      |           ^^^^^^^^^^^^^^
`},
		{"contradiction", func(s string) string { return setLine(s, 30, "    formula: IPPROCS >= 0") }, `
rules.yaml:30:14: error: MQQueueDisable (put DISABLED) and MQQueueEnable (put ENABLED) are both true when IPPROCS is 0 [contradiction]
   30 |     formula: IPPROCS >= 0
      |              ^^^^^^^^^^^^
      = the other formula is on line 15: IPPROCS == 0
`},
		{"percent sign", formula("CURDEPTH > 80%"), `
rules.yaml:15:27: error: % is not a unit; compare with a share of another attribute [syntax]
   15 |     formula: CURDEPTH > 80%
      |                           ^
      = write: CURDEPTH > 0.8 * MAXDEPTH
`},
		{"tab", func(s string) string {
			return setLine(s, 28, "\tdescription: At least one application has the queue open for input")
		}, "\n" +
			"rules.yaml:28:1: error: this line is indented with a tab; YAML wants spaces [yaml]\n" +
			"   28 | \tdescription: At least one application has the queue open for input\n" +
			"      | ^\n"},
		{"exclamation mark", block("!SYSTEM.*"), `
rules.yaml:15:14: error: a value that starts with ! is a tag to YAML and would be lost; put it in quotes [yaml]
   15 |       queue: !SYSTEM.*
      |              ^^^^^^^^^
      = write: queue: "!SYSTEM.*"
`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := c.edit(base(t))
			want := strings.TrimPrefix(c.want, "\n")
			if d := cmp.Diff(want, check(text)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			crlf := strings.ReplaceAll(text, "\n", "\r\n")
			if d := cmp.Diff(want, check("\ufeff"+crlf)); d != "" {
				t.Errorf("with CRLF and a byte order mark (-want +got)\n%s", d)
			}
		})
	}
}
