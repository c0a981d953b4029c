package mqsc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/situationd/situationd/mqengine/object"
	"pgregory.net/rapid"
)

func drawName(longest int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("ABZaz09./_%")), 1, min(longest, 8), -1)
}

// drawText draws what people put into DESCR and CONNAME.
func drawText(longest int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("aZ0 '(),;*+-äß=")), 0, min(longest, 12), longest)
}

// drawArgs draws values for an attribute as a command spells them.
func drawArgs(t *rapid.T, a *object.Attr) []string {
	switch a.Type {
	case object.Int:
		if len(a.Words) > 0 && rapid.Bool().Draw(t, "word") {
			return []string{a.Words[0].Name}
		}
		return []string{fmt.Sprint(rapid.IntRange(a.Min, a.Max).Draw(t, a.Keyword))}
	case object.Enum:
		return []string{rapid.SampledFrom(a.Values).Draw(t, a.Keyword)}
	case object.List:
		return rapid.SliceOfN(drawName(a.MaxLen), 0, 4).Draw(t, a.Keyword)
	case object.Name:
		return []string{rapid.OneOf(rapid.Just(" "), drawName(a.MaxLen)).Draw(t, a.Keyword)}
	}
	return []string{drawText(a.MaxLen).Draw(t, a.Keyword)}
}

func spellParam(t *rapid.T, a *object.Attr) string {
	if a.Type == object.Flag && a.Default == "" {
		return a.Keyword // a selector has no NO-form
	}
	if a.Type == object.Flag {
		return rapid.SampledFrom([]string{a.Keyword, a.NoForm()}).Draw(t, a.Keyword)
	}
	args := drawArgs(t, a)
	for i := range args {
		args[i] = quote(args[i])
	}
	gap := rapid.SampledFrom([]string{"", " ", "  "}).Draw(t, "gap")
	return a.Keyword + gap + "(" + gap + strings.Join(args, rapid.SampledFrom([]string{",", " ", " , "}).Draw(t, "comma")) + gap + ")"
}

// drawCommand draws the text of a valid command.
func drawCommand(t *rapid.T) string {
	f := &forms[rapid.IntRange(0, len(forms)-1).Draw(t, "form")]
	var parts []string
	if f.name == allName {
		parts = append(parts, f.noun+rapid.SampledFrom([]string{"", "(*)"}).Draw(t, "all"))
	} else if f.name != noName {
		name := drawName(f.nameType.MaxLen).Draw(t, "name")
		if f.name == genericName && rapid.Bool().Draw(t, "generic") {
			name = "*"
		}
		parts = append(parts, f.noun+"("+quote(name)+")")
	} else {
		parts = append(parts, f.noun)
	}
	some := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
	if f.verb == "DISPLAY" {
		parts = append(parts, drawDisplay(t, f, some)...)
	} else {
		parts = append(parts, drawKeywords(t, f, some)...)
	}
	if body := parts[1:]; len(body) > 1 {
		parts = append(parts[:1], rapid.Permutation(body).Draw(t, "order")...)
	}
	return f.verb + " " + strings.Join(parts, rapid.SampledFrom([]string{" ", ",", " , "}).Draw(t, "separator"))
}

func drawKeywords(t *rapid.T, f *form, some func(string) bool) []string {
	var out []string
	var kind object.Kind
	if len(f.kinds) > 0 {
		kind = rapid.SampledFrom(f.kinds).Draw(t, "kind")
		if kind.IsChannel() {
			out = append(out, "CHLTYPE("+kind.String()+")")
		}
	}
	for _, a := range object.Attrs(kind) {
		if a.Settable() && some(a.Keyword+"?") {
			out = append(out, spellParam(t, a))
		}
	}
	for i := range f.params {
		a := &f.params[i]
		switch {
		case f.verb == "RESET" && f.noun == "CLUSTER":
			if a.Keyword == "QMNAME" || a.Keyword == "QUEUES" && some("QUEUES?") {
				continue
			}
		case f.check == nil && !some(a.Keyword+"?"), a.Keyword == "CLUSNL":
			continue
		}
		out = append(out, spellParam(t, a))
	}
	for _, o := range f.options {
		if some(o.word + "?") {
			out = append(out, rapid.SampledFrom([]string{o.word, o.opposite}).Draw(t, o.word))
		}
	}
	if f.verb == "DEFINE" && some("LIKE?") {
		out = append(out, "LIKE("+quote(drawName(f.nameType.MaxLen).Draw(t, "like"))+")")
	}
	return out
}

func drawDisplay(t *rapid.T, f *form, some func(string) bool) []string {
	var out []string
	typed := ""
	if f.byType != nil && some("TYPE?") {
		typed = rapid.SampledFrom(f.param("TYPE").Values).Draw(t, "type")
		out = append(out, "TYPE("+typed+")")
		f = f.narrowed([]item{{key: word{text: "TYPE"}, args: []word{{text: typed}}}})
	} else {
		f = f.narrowed(nil)
	}
	chosen := map[string]bool{"TYPE": typed != ""}
	for _, k := range f.keywords() {
		if !chosen[k] && f.param(k) == nil && some(k+"?") {
			out = append(out, k)
		}
	}
	for i := range f.params {
		a := &f.params[i]
		if a.Keyword == "TYPE" && f.byType != nil {
			continue // chosen above: what else fits depends on it
		}
		if !chosen[a.Keyword] && f.check == nil && some(a.Keyword+"?") {
			if a.Type == object.String {
				out = append(out, a.Keyword+"("+quote(drawName(a.MaxLen).Draw(t, a.Keyword)+"*")+")")
				continue
			}
			out = append(out, spellParam(t, a))
		}
	}
	for _, g := range slices.Sorted(maps.Keys(f.groups)) {
		if some(g + "?") {
			out = append(out, g)
		}
	}
	if some("ALL?") {
		out = append(out, "ALL")
	}
	if some("WHERE?") {
		a := f.attr(rapid.SampledFrom(f.keywords()).Draw(t, "where"))
		out = append(out, "WHERE("+a.Keyword+" "+drawCondition(t, a)+")")
	}
	return out
}

func drawCondition(t *rapid.T, a *object.Attr) string {
	op := rapid.SampledFrom(opsFor(a.Type)).Draw(t, "op")
	switch {
	case slices.Contains([]string{"LK", "NL", "CTG", "EXG"}, op):
		return op + " " + quote(drawName(8).Draw(t, "pattern")+"*")
	case a.Type == object.Flag:
		return op + " " + rapid.SampledFrom([]string{"YES", "NO", a.Keyword, a.NoForm()}).Draw(t, "flag")
	case a.Type == object.List:
		return op + " " + quote(drawName(8).Draw(t, "item"))
	case a.Type == object.Pair:
		return op + " " + fmt.Sprint(rapid.IntRange(0, 999999999).Draw(t, "number"))
	}
	return op + " " + quote(drawArgs(t, a)[0])
}

// Parse of what String prints is the same command, so printing is idempotent.
func TestPrintParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawCommand(t)
		c, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		checkCanonical(t, c)
	})
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func checkCanonical(t fataler, c *Command) {
	t.Helper()
	printed := c.String()
	again, err := Parse(printed)
	if err != nil {
		t.Fatalf("%q prints as %q: %v", c.Text, printed, err)
		return
	}
	if d := cmp.Diff(c, again, cmpopts.IgnoreFields(Command{}, "Text")); d != "" {
		t.Fatalf("%q prints as %q and reads back differently:\n%s", c.Text, printed, d)
	}
	if again.String() != printed {
		t.Fatalf("%q prints as %q, then as %q", c.Text, printed, again.String())
	}
}

// A command spread over lines by either continuation reads as on one line.
func TestContinuationIsTransparent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := Parse(drawCommand(t))
		if err != nil {
			t.Fatal(err)
		}
		text := c.String()
		var b strings.Builder
		for i, r := range text {
			b.WriteRune(r)
			// Only where the next character would not vanish or start a comment.
			next := i + utf8.RuneLen(r)
			if next < len(text) && text[next] != ' ' && text[next] != '*' && rapid.IntRange(0, 9).Draw(t, "break") == 0 {
				b.WriteString(rapid.SampledFrom([]string{"+\n   ", "-\n", "+\n* comment\n\n", "-\r\n"}).Draw(t, "how"))
			}
		}
		r := NewReader(strings.NewReader(b.String() + "\n"))
		it, rerr := r.Next()
		if rerr != nil {
			t.Fatal(rerr)
		}
		if it.Text != text {
			t.Fatalf("%q read as %q, want %q", b.String(), it.Text, text)
		}
	})
}

// drawField draws a field that the layout can show and the scanner can tell.
func drawField(t *rapid.T) Field {
	key := rapid.SampledFrom([]string{"QUEUE", "DESCR", "CONNAME", "CURDEPTH", "QTIME", "COMPHDR", "NAMES", "SHARE", "NOTRIGGER", "CLUSTER", "APPLTAG"}).Draw(t, "key")
	switch key {
	case "SHARE", "NOTRIGGER":
		return Field{Key: key, Bare: true}
	case "QTIME", "COMPHDR":
		if rapid.Bool().Draw(t, "blank") {
			return Field{Key: key, Values: []string{"", ""}}
		}
		return Field{Key: key, Values: []string{fmt.Sprint(rapid.Uint32().Draw(t, "a")), fmt.Sprint(rapid.Uint32().Draw(t, "b"))}}
	case "NAMES":
		names := rapid.SliceOfN(drawName(48), 0, 4).Draw(t, "names")
		if len(names) == 0 {
			names = []string{""}
		}
		return Field{Key: key, Values: names}
	}
	text := rapid.StringOfN(rapid.RuneFrom([]rune("aZ09 ä'=(,*:")), 0, 60, -1).Draw(t, "text")
	text = strings.TrimRight(text, " ")
	// Balanced brackets, no two blanks behind a closing one: the rest is free.
	return Field{Key: key, Values: []string{text + strings.Repeat(")", strings.Count(text, "("))}}
}

func TestLayoutComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Response
		for range rapid.IntRange(0, 4).Draw(t, "responses") {
			r := Reply(rapid.SampledFrom([]string{"AMQ8409I", "AMQ8450I", "AMQ8550I", "AMQ8276I", "AMQ8006I"}).Draw(t, "id"))
			for range rapid.IntRange(0, 8).Draw(t, "fields") {
				r.Fields = append(r.Fields, drawField(t))
			}
			want = append(want, r)
		}
		var b strings.Builder
		p := NewPrinter(&b, true)
		p.Header("QM1")
		p.Echo(Item{Number: 1, Lines: []Line{{1, "DIS Q(*)"}, {0, "ALL"}}})
		p.Result(Result{Responses: want})
		p.Summary(false)
		if d := cmp.Diff(want, ParseResponses(b.String())); d != "" {
			t.Fatalf("%s\n(-want +got):\n%s", b.String(), d)
		}
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, indent) && strings.Contains(line, "  ") && len([]rune(line)) > 120 {
				t.Fatalf("a line holds more than two cells: %q", line)
			}
		}
	})
}
