package situations

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Bounds of a formula. Its cost is bounded by its length, since it can neither
// loop nor call anything that does.
const (
	maxFormula = 4096 // bytes
	maxNodes   = 200
)

// Formula is a compiled, checked condition in the language of expr-lang/expr.
// Immutable, and safe for use by several goroutines.
type Formula struct {
	source string
	table  *attributeTable
	lever  Lever
	needs  uint64 // attributes that must have a value
	uses   uint64 // all attributes it names
	opaque bool   // it also looks at what is no attribute: application names, whether a value is known
	eval   func(*evaluation) bool
	parts  []formulaPart
}

// formulaPart is one comparison of a formula, for explaining a verdict.
type formulaPart struct {
	text string
	uses uint64
	eval func(*evaluation) bool
}

// String is the formula as written.
func (f *Formula) String() string { return f.source }

// Eval gives True, False or Unknown for a row.
func (f *Formula) Eval(row *Row) Verdict {
	var e evaluation
	e.load(row, f.uses)
	return f.run(&e)
}

// run evaluates for the row that e was loaded with.
func (f *Formula) run(e *evaluation) (v Verdict) {
	if e.table != f.table {
		return Unknown // a row of another group: its bits mean other names
	}
	if f.needs&e.missing != 0 {
		return Unknown
	}
	return e.judge(f.eval, f.lever)
}

// judge runs one condition and turns whatever goes wrong into Unknown.
func (e *evaluation) judge(eval func(*evaluation) bool, lever Lever) (v Verdict) {
	defer func() {
		if recover() != nil { // a fault of ours; unknown moves nothing
			v = Unknown
		}
	}()
	e.failed, e.lever = false, lever
	yes := eval(e)
	switch {
	case e.failed:
		return Unknown
	case yes:
		return True
	}
	return False
}

// Part is one comparison of a formula and what came of it.
type Part struct {
	Text   string // as written
	Values string // the same with values in place of names
	Result Verdict
}

// String reads like `CURDEPTH > 100 (7 > 100) -> false`.
func (p Part) String() string {
	if p.Values == p.Text || p.Values == "" {
		return fmt.Sprintf("%s -> %s", p.Text, p.Result)
	}
	return fmt.Sprintf("%s (%s) -> %s", p.Text, p.Values, p.Result)
}

// Explain evaluates each comparison of the formula on its own.
func (f *Formula) Explain(row *Row) []Part {
	var e evaluation
	e.load(row, f.uses)
	out := make([]Part, 0, len(f.parts))
	for _, p := range f.parts {
		part := Part{Text: p.text, Result: Unknown}
		if e.table == f.table && p.uses&e.missing&f.needs == 0 {
			part.Result = e.judge(p.eval, f.lever)
		}
		e.lever = f.lever
		part.Values = e.insertValues(p.text)
		out = append(out, part)
	}
	return out
}

// Values gives the attributes that the formula names and their values, nil for
// one that has none.
func (f *Formula) Values(row *Row) map[string]any {
	var e evaluation
	e.load(row, f.uses)
	e.lever = f.lever
	out := make(map[string]any)
	if e.table != f.table {
		return out
	}
	for i := range f.table.list {
		if a := &f.table.list[i]; f.uses&a.bit != 0 {
			out[a.Name] = e.value(a)
		}
	}
	return out
}

// ValuesOf gives attributes of a row by name, nil for one without a value.
func ValuesOf(row *Row, names ...string) map[string]any {
	var e evaluation
	e.load(row, ^uint64(0))
	out := make(map[string]any, len(names))
	for _, name := range names {
		out[name] = nil
		if a := e.table.named(name); a != nil {
			out[name] = e.value(a)
		}
	}
	return out
}

// value is an int or a string, or nil.
func (e *evaluation) value(a *Attribute) any {
	switch {
	case e.missing&a.bit != 0:
		return nil
	case a.text != nil:
		return a.text(e)
	}
	return a.number(e)
}

// insertValues replaces the names in a piece of formula by their values.
func (e *evaluation) insertValues(src string) string {
	var b strings.Builder
	for _, t := range scanFormula(src) {
		a := e.table.named(t.text)
		if t.kind != tokenWord || a == nil {
			b.WriteString(t.text)
			continue
		}
		switch v := e.value(a).(type) {
		case nil:
			b.WriteByte('?')
		case string:
			fmt.Fprintf(&b, "%q", v)
		default:
			fmt.Fprint(&b, v)
		}
	}
	return b.String()
}

// storedFormula is a Formula in an outbox: it is compiled again when read.
type storedFormula struct {
	Source string `json:"source"`
	Verb   Verb   `json:"lever,omitempty"`
	Value  int    `json:"value,omitempty"`
	Group  Group  `json:"group,omitempty"` // of what it is a formula; empty for a queue
}

// MarshalJSON stores the formula's text.
func (f *Formula) MarshalJSON() ([]byte, error) {
	s := storedFormula{Source: f.source, Verb: f.lever.Verb, Value: f.lever.Value}
	if f.table.group != GroupQueue {
		s.Group = f.table.group
	}
	return json.Marshal(s)
}

// UnmarshalJSON compiles a stored formula.
func (f *Formula) UnmarshalJSON(b []byte) error {
	var s storedFormula
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("stored formula: %w", err)
	}
	got, err := NewFormulaOf(s.Group, s.Source, Lever{Verb: s.Verb, Value: s.Value})
	if err != nil {
		return fmt.Errorf("stored formula %q: %w", s.Source, err)
	}
	*f = *got
	return nil
}

// NewFormula compiles a formula over queues. The error names its first mistake.
func NewFormula(source string, lever Lever) (*Formula, error) {
	return NewFormulaOf(GroupQueue, source, lever)
}

// NewFormulaOf compiles a formula over rows of a group.
func NewFormulaOf(g Group, source string, lever Lever) (*Formula, error) {
	f, bad := compileFormula(g, source, lever)
	if len(bad) > 0 {
		return nil, fmt.Errorf("column %d: %s", bad[0].from+1, bad[0].message)
	}
	return f, nil
}

// formulaError is a mistake in a formula, in characters from its start.
type formulaError struct {
	from, to int
	code     string
	message  string
	help     []string
}
