package mqsc

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/mqengine/object"
)

// TestDocs keeps docs/mqsc.md what the tables say; -update writes it anew.
func TestDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "mqsc.md")
	got := renderDocs()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("docs/mqsc.md is stale; run go test ./mqengine/mqsc -run TestDocs -update (-file +tables):\n%s", d)
	}
}

const docsHead = `# MQSC

What the embedded queue manager understands. This file is made from the tables
of ` + "`mqengine/object` and `mqengine/mqsc`" + `; a test keeps it current
(` + "`go test ./mqengine/mqsc -run TestDocs -update`" + `).

## Rules

- A command is a verb, a noun with a name in brackets, and keywords in any order.
  Blanks and commas separate, any number of them, also around brackets.
- Text without apostrophes is folded to capitals. In apostrophes it stays as it
  is; ` + "`''`" + ` inside is one apostrophe, ` + "`' '`" + ` is blank. Lower case, blanks, commas
  and brackets need them: ` + "`CONNAME('host(1414)')`" + `.
- A name for DISPLAY may end in ` + "`*`" + `. WHERE takes one condition:
  ` + "`WHERE(CURDEPTH GT 0)`" + `. Operators: %s. LK, NL, CTG and EXG need a value
  that ends in ` + "`*`" + `; CT, EX, CTG and EXG are for lists.
- DISPLAY of an exact name shows everything, of a generic one only the keys and
  what was asked for; ALL shows everything.
- In files a ` + "`*`" + ` in the first column is a comment; a ` + "`+`" + ` at the end of a line goes on
  at the first character of the next that is not blank, a ` + "`-`" + ` at its first column;
  ` + "`;`" + ` ends a command. END, EXIT, QUIT or the end of the file end the input. A command has
  at most %d bytes.
- A mistake is answered with AMQ8405I, the command up to the mistake, and a
  message that names it and what would be right.

Short words: %s.

## Commands

`

func renderDocs() string {
	var b strings.Builder
	fmt.Fprintf(&b, docsHead, strings.Join(whereOps, " "), MaxCommand, shortWords())
	b.WriteString("| command | beside attributes |\n|---|---|\n")
	for _, f := range forms {
		fmt.Fprintf(&b, "| %s | %s |\n", f.synopsis(), f.extras())
	}
	b.WriteString("\nCommands of MQ that are read and refused when they are run (AMQ8404E):\n\n| command | why |\n|---|---|\n")
	for _, a := range absentNouns {
		fmt.Fprintf(&b, "| %s %s | %s |\n", strings.ReplaceAll(a.verbs, " ", ", "), a.noun, a.why)
	}
	fmt.Fprintf(&b, "| channels with CHLTYPE %s | they are not in this queue manager |\n", strings.Join(slices.Sorted(maps.Keys(absentChannels)), ", "))
	b.WriteString("\nA value that asks for what is not here is refused (AMQ8425E) where going without would do harm;\nelse it is kept, and a line AMQ8448W behind the answer says that it does nothing.\n")
	b.WriteString("\n## Attributes of definitions\n\nread-only: the queue manager sets it. cluster: other queue managers of the cluster learn it.\n")
	for k := object.QLocal; k <= object.QMgr; k++ {
		title := k.String()
		if k.IsChannel() {
			title = "CHANNEL CHLTYPE(" + title + ")"
		}
		fmt.Fprintf(&b, "\n### %s\n\n| attribute | values | default | |\n|---|---|---|---|\n", title)
		for _, a := range object.Attrs(k) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", attrName(a), attrValues(a), attrDefault(a, k), attrNotes(a))
		}
	}
	b.WriteString("\n## What status displays show\n")
	for _, v := range []struct {
		title string
		view  object.View
	}{
		{"QSTATUS TYPE(QUEUE)", object.ViewQueueStatus}, {"QSTATUS TYPE(HANDLE)", object.ViewHandleStatus},
		{"QCLUSTER", object.ViewQCluster}, {"CLUSQMGR", object.ViewClusQMgr}, {"CHSTATUS", object.ViewChStatus},
		{"CONN TYPE(CONN)", object.ViewConn}, {"CONN TYPE(HANDLE)", object.ViewConnHandle},
		{"QMSTATUS", object.ViewQMStatus}, {"LSSTATUS", object.ViewLsStatus},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| attribute | values | |\n|---|---|---|\n", v.title)
		for _, a := range v.view.Attrs() {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", attrName(a), attrValues(a), a.Doc)
		}
	}
	return b.String()
}

func shortWords() string {
	var out []string
	for _, m := range []map[string]string{verbSynonyms, nounSynonyms, {"TARGQ": "TARGET"}} {
		for short, long := range m {
			out = append(out, short+" "+long)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (f *form) synopsis() string {
	s := f.verb + " " + f.noun
	switch f.name {
	case exactName:
		s += "(name)"
	case genericName:
		s += "(name or name*)"
	}
	if f.verb != "DISPLAY" && len(f.kinds) > 1 {
		s += " CHLTYPE(...)"
	}
	return "`" + s + "`"
}

func (f *form) extras() string {
	var out []string
	for i := range f.params {
		a := &f.params[i]
		if a.Type == object.Flag {
			out = append(out, a.Keyword)
			continue
		}
		out = append(out, a.Keyword+"("+attrValues(a)+")")
	}
	if f.verb == "DEFINE" {
		out = append(out, "LIKE(name)")
	}
	for _, o := range f.options {
		out = append(out, o.word)
	}
	out = append(out, slices.Sorted(maps.Keys(f.groups))...)
	if f.verb == "DISPLAY" {
		out = append(out, "ALL", "WHERE")
	}
	return strings.Join(out, ", ")
}

func attrName(a *object.Attr) string {
	s := a.Keyword
	for _, synonym := range a.Synonyms {
		s += ", " + synonym
	}
	return s
}

func attrValues(a *object.Attr) string {
	switch a.Type {
	case object.Int:
		s := fmt.Sprintf("%d to %d", a.Min, a.Max)
		for _, w := range a.Words {
			s += ", " + w.Name
		}
		return s
	case object.Enum:
		return strings.TrimPrefix(strings.Join(a.Values, " "), " ")
	case object.Flag:
		return a.Keyword + " or " + a.NoForm()
	case object.List:
		return fmt.Sprintf("up to %d names", a.MaxItems)
	case object.Name:
		return fmt.Sprintf("name, %d", a.MaxLen)
	case object.Pair:
		return "two values"
	}
	return fmt.Sprintf("text, %d", a.MaxLen)
}

func attrDefault(a *object.Attr, k object.Kind) string {
	if a.Live || a.Key {
		return ""
	}
	if d := a.DefaultFor(k); d != "" {
		return d
	}
	return "blank"
}

func attrNotes(a *object.Attr) string {
	s := a.Doc
	if a.ReadOnly || a.Live {
		s += " read-only"
	}
	if a.Cluster && !a.Key {
		s += " cluster"
	}
	if a.Absent != "" {
		s += " Other values are refused: " + a.Absent + " here."
	}
	if a.Idle != "" {
		s += " Other values are kept and do nothing: " + a.Idle + " here."
	}
	if a.Force {
		s += " Needs FORCE while the object is open."
	}
	return s
}
