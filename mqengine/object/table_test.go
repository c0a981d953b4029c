package object

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

func allRows() []*Attr {
	var out []*Attr
	seen := map[*Attr]bool{}
	add := func(attrs []*Attr) {
		for _, a := range attrs {
			if !seen[a] {
				seen[a] = true
				out = append(out, a)
			}
		}
	}
	for k := QLocal; k <= QMgr; k++ {
		add(Attrs(k))
	}
	for v := ViewQueueStatus; v < viewEnd; v++ {
		add(v.Attrs())
	}
	return out
}

func TestRowsAreSound(t *testing.T) {
	rows := allRows()
	if want := len(queueAttrs) + len(clusterAttrs) + len(channelAttrs) + len(qmgrAttrs) + len(otherAttrs) + len(statusAttrs); len(rows) != want {
		t.Errorf("%d of %d rows belong to a kind or view", len(rows), want)
	}
	kinds, views := map[string]KindSet{}, map[string]ViewSet{}
	for _, a := range rows {
		if kinds[a.Keyword]&a.Kinds != 0 || views[a.Keyword]&a.Views != 0 {
			t.Errorf("%s has two rows for one kind or view", a.Keyword)
		}
		kinds[a.Keyword] |= a.Kinds
		views[a.Keyword] |= a.Views
		if a.Keyword != strings.ToUpper(a.Keyword) || len(a.Keyword) > 10 {
			t.Errorf("%q is not a keyword", a.Keyword)
		}
		if !strings.HasSuffix(a.Doc, ".") {
			t.Errorf("%s: the text %q is no sentence", a.Keyword, a.Doc)
		}
		switch a.Type {
		case Int:
			if a.Min > a.Max || a.Max == 0 {
				t.Errorf("%s: range %d to %d", a.Keyword, a.Min, a.Max)
			}
		case Enum:
			if len(a.Values) == 0 {
				t.Errorf("%s: no values", a.Keyword)
			}
		case String, Name, List:
			if a.MaxLen == 0 {
				t.Errorf("%s: no length", a.Keyword)
			}
		}
	}
}

// WHERE compares by the first row that a keyword has, so all rows must agree
// on whether the values are numbers.
func TestRowsAgreeOnNumbers(t *testing.T) {
	numeric := func(a *Attr) bool { return a.Type == Int || a.Type == Pair }
	for _, a := range allRows() {
		if first := Lookup(a.Keyword); numeric(a) != numeric(first) && a.Keyword != "COMPHDR" && a.Keyword != "COMPMSG" {
			t.Errorf("%s is a number in one row and not in another", a.Keyword)
		}
	}
}

// The defaults are part of the stored format (codec.go): a difference here
// needs a new format version.
func TestDefaults(t *testing.T) {
	var b strings.Builder
	for k := QLocal; k <= QMgr; k++ {
		fmt.Fprintf(&b, "%s\n", k)
		o := New(k, "X")
		for _, a := range Attrs(k) {
			key, values, bare := o.Field(a.Keyword)
			note := ""
			switch {
			case a.Live:
				note = " live"
			case a.ReadOnly:
				note = " read-only"
			}
			if a.Cluster {
				note += " cluster"
			}
			if bare {
				fmt.Fprintf(&b, "  %s%s\n", key, note)
				continue
			}
			fmt.Fprintf(&b, "  %s(%s)%s\n", key, strings.Join(values, ","), note)
		}
	}
	golden(t, "defaults.golden", b.String())
}

func TestDisplayOrder(t *testing.T) {
	for k := QLocal; k <= QMgr; k++ {
		attrs := Attrs(k)
		if attrs[0].Keyword != k.NameKeyword() {
			t.Errorf("%s begins with %s", k, attrs[0].Keyword)
		}
		rest := attrs[slices.IndexFunc(attrs, func(a *Attr) bool { return !a.Key }):]
		if !slices.IsSortedFunc(rest, func(a, b *Attr) int { return strings.Compare(a.Keyword, b.Keyword) }) {
			t.Errorf("%s is not alphabetical behind its keys", k)
		}
	}
	for v := ViewQueueStatus; v < viewEnd; v++ {
		if attrs := v.Attrs(); len(attrs) == 0 || !attrs[0].Key {
			t.Errorf("view %d has no key", v)
		}
	}
	var got []string
	for _, a := range ViewClusQMgr.Attrs()[:4] {
		got = append(got, a.Keyword)
	}
	if d := cmp.Diff([]string{"CLUSQMGR", "CHANNEL", "CLUSTER", "ALTDATE"}, got); d != "" {
		t.Error(d)
	}
}

func TestLookups(t *testing.T) {
	for _, tt := range []struct {
		kind    Kind
		keyword string
		want    string
	}{
		{QLocal, "MAXDEPTH", "MAXDEPTH"},
		{QLocal, "NOTRIGGER", "TRIGGER"},
		{QAlias, "TARGQ", "TARGET"},
		{Sender, "TYPE", "CHLTYPE"},
		{QAlias, "CLWLUSEQ", ""},
		{QModel, "CLUSTER", ""},
		{QLocal, "maxdepth", ""},
		{KindNone, "DESCR", ""},
		{Kind(200), "DESCR", ""},
	} {
		got := ""
		if a := tt.kind.Attr(tt.keyword); a != nil {
			got = a.Keyword
		}
		if got != tt.want {
			t.Errorf("%s.Attr(%s) = %q, want %q", tt.kind, tt.keyword, got, tt.want)
		}
	}
	if Lookup("IPPROCS") == nil || Lookup("QTIME") == nil || Lookup("NONSENSE") != nil {
		t.Error("Lookup finds the wrong rows")
	}
	if View(0).Attr("QUEUE") != nil || View(99).Attrs() != nil || Attrs(Kind(99)) != nil {
		t.Error("what does not exist has attributes")
	}
	if DefType := ViewClusQMgr.Attr("DEFTYPE"); DefType == nil || !slices.Contains(DefType.Values, "CLUSSDRB") {
		t.Error("DEFTYPE of CLUSQMGR is not its own row")
	}
}

func TestKindWords(t *testing.T) {
	for k := QLocal; k <= QMgr; k++ {
		if got := ParseKind(strings.ToLower(k.String())); got != k {
			t.Errorf("ParseKind(%s) = %v", k, got)
		}
		if k.IsQueue() && k.IsChannel() {
			t.Errorf("%s is both", k)
		}
	}
	if ParseKind("CHANNEL") != KindNone || ParseKind("") != KindNone || KindNone.String() != "" || Kind(99).String() != "" {
		t.Error("a word that is no kind has one")
	}
	if ClusRcvr.Noun() != "CHANNEL" || ClusRcvr.NameKeyword() != "CHANNEL" || ClusRcvr.MaxNameLen() != 20 ||
		QAlias.Noun() != "QALIAS" || QMgr.NameKeyword() != "QMNAME" || Namelist.NameKeyword() != "NAMELIST" {
		t.Error("nouns or name keywords are wrong")
	}
}
