package mqsc

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Whatever an application or another queue manager says that it is called: a
// report has its lines and nothing that a terminal would obey.
func TestAppendText_AnyWords_Printable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := func(label string) string {
			return string(rapid.SliceOfN(rapid.SampledFrom([]byte("aB.\x00\x07\x1b\n\r\t\x7f\x9b\xc2\x9b\xff")), 0, 60).Draw(t, label))
		}
		r := Response{ID: "AMQ8450I", Text: "Display queue status details.", Fields: []Field{
			{Key: "APPLTAG", Values: []string{word("tag")}}, {Key: "CHANNEL", Values: []string{word("channel")}},
			{Key: "NAMES", Values: []string{word("one"), word("two")}},
		}}
		before := strings.Join(r.Fields[2].Values, "|")
		text := string(r.AppendText(nil))
		if !utf8.ValidString(text) || strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl) {
			t.Fatalf("%q", text)
		}
		if n := strings.Count(text, "\n"); n > 5 {
			t.Fatalf("%d lines: %q", n, text)
		}
		if strings.Join(r.Fields[2].Values, "|") != before {
			t.Fatal("the response itself was changed")
		}
	})
}
