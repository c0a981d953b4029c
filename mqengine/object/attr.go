package object

import (
	"slices"
	"strings"
)

// Type says what values an attribute takes.
type Type uint8

// The types of attributes.
const (
	Int    Type = iota // a number from Min to Max, or one of Words
	Enum               // one of Values
	String             // any text up to MaxLen bytes
	Name               // the name of an MQ object or cluster, or blank
	List               // a list of names
	Flag               // a bare pair KEYWORD / NOKEYWORD
	Pair               // two values of a status: QTIME(short,long)
)

// Word is a word that may stand for a number: AUTO, NOLIMIT.
type Word struct {
	Name  string
	Value int
}

// Default is a default for some kinds only.
type Default struct {
	Kinds KindSet
	Value string
}

// Attr is one row of the attribute table; nobody writes it. A keyword whose meaning differs
// between kinds has one row per meaning; their Kinds do not overlap.
type Attr struct {
	Keyword  string
	Synonyms []string
	Kinds    KindSet // kinds whose definition has it
	Views    ViewSet // status displays that show it
	Type     Type
	Min, Max int
	Words    []Word
	MaxLen   int      // String, Name, and each item of a List
	MaxItems int      // List
	Values   []string // Enum
	// Default is what a new object has; for a Flag the form that is set. Defaults overrides it per kind.
	Default  string
	Defaults []Default
	// ReadOnly attributes are set by the queue manager only (SetFixed, SetTimes).
	ReadOnly bool
	// Live attributes have no stored value: who shows the object fills them in (CURDEPTH).
	Live bool
	// Cluster attributes are advertised to the cluster with the object.
	Cluster bool
	// Force attributes may be changed on an open object only with FORCE.
	Force bool
	// Absent says why only the default is taken: what every other value asks for is not
	// here, and who sets it is refused.
	Absent string
	// Idle says what is not here that other values than the default are for, where
	// going without does no harm: they are kept and shown, and who sets one is told.
	Idle string
	// Key attributes come first in a DISPLAY, in the order of the table; they are always shown.
	Key bool
	// Always is shown whatever was asked for, at its alphabetical place.
	Always bool
	Doc    string

	order int // place in the table: the canonical order of stored values
}

// Lookup finds an attribute by keyword, synonym or NO-form among all kinds; the
// first row if several kinds give the keyword a different meaning. Nil if unknown.
func Lookup(keyword string) *Attr { return tables.any[keyword] }

// Attr finds an attribute of this kind by keyword, synonym or NO-form. Nil if it has none.
func (k Kind) Attr(keyword string) *Attr {
	if int(k) >= len(tables.kinds) {
		return nil
	}
	return tables.kinds[k].byWord[keyword]
}

// Attrs lists the attributes of a kind in DISPLAY order: keys first, then
// alphabetical with NO-forms under their base word. The slice is shared: it must
// not be written.
func Attrs(k Kind) []*Attr {
	if int(k) >= len(tables.kinds) {
		return nil
	}
	return tables.kinds[k].display
}

// DefaultFor is the default of the attribute for one kind.
func (a *Attr) DefaultFor(k Kind) string {
	for _, d := range a.Defaults {
		if d.Kinds.Has(k) {
			return d.Value
		}
	}
	return a.Default
}

// NoForm is the word of an unset Flag.
func (a *Attr) NoForm() string { return "NO" + a.Keyword }

// Settable reports whether DEFINE and ALTER take the attribute.
func (a *Attr) Settable() bool { return !a.ReadOnly && !a.Live && !a.Key }

type kindTable struct {
	byWord   map[string]*Attr
	display  []*Attr
	defaults map[*Attr]value
}

type attrTables struct {
	any   map[string]*Attr
	kinds [QMgr + 1]kindTable
	views map[View]*kindTable
}

// tables is built once and never written again.
var tables = buildTables()

func buildTables() *attrTables {
	t := &attrTables{any: map[string]*Attr{}, views: map[View]*kindTable{}}
	rows := slices.Concat(queueAttrs, clusterAttrs, channelAttrs, qmgrAttrs, otherAttrs)
	for i := range rows {
		a := &rows[i]
		a.order = i
		addWords(t.any, a)
		for _, k := range a.Kinds.Kinds() {
			t.kinds[k].add(a)
		}
	}
	status := slices.Clone(statusAttrs)
	for i := range status {
		a := &status[i]
		a.order = len(rows) + i
		addWords(t.any, a)
		for _, v := range a.Views.Views() {
			if t.views[v] == nil {
				t.views[v] = &kindTable{}
			}
			t.views[v].add(a)
		}
	}
	for k := range t.kinds {
		t.kinds[k].finish(Kind(k))
	}
	for _, v := range t.views {
		v.finish(KindNone)
	}
	return t
}

func addWords(m map[string]*Attr, a *Attr) {
	words := append([]string{a.Keyword}, a.Synonyms...)
	if a.Type == Flag {
		words = append(words, a.NoForm())
	}
	for _, w := range words {
		if m[w] == nil {
			m[w] = a
		}
	}
}

func (t *kindTable) add(a *Attr) {
	if t.byWord == nil {
		t.byWord = map[string]*Attr{}
	}
	addWords(t.byWord, a)
	t.display = append(t.display, a)
}

func (t *kindTable) finish(k Kind) {
	slices.SortStableFunc(t.display, func(a, b *Attr) int {
		switch {
		case a.Key && b.Key:
			return a.order - b.order
		case a.Key:
			return -1
		case b.Key:
			return 1
		}
		return strings.Compare(a.Keyword, b.Keyword)
	})
	t.defaults = make(map[*Attr]value, len(t.display))
	if k == KindNone {
		return
	}
	for _, a := range t.display {
		if a.Live || a.Key {
			continue
		}
		var words []string
		if d := a.DefaultFor(k); d != "" {
			words = []string{d}
		}
		if a.Type == Flag {
			t.defaults[a] = value{n: flagValue(words[0] == a.Keyword)}
			continue
		}
		v, err := a.parse(words)
		if err != nil {
			panic("object: the default of " + a.Keyword + " for " + k.String() + ": " + err.Error())
		}
		t.defaults[a] = v
	}
}
