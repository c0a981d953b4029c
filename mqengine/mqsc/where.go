package mqsc

import (
	"slices"
	"strconv"
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

var whereOps = []string{"LT", "GT", "EQ", "NE", "LE", "GE", "LK", "NL", "CT", "EX", "CTG", "EXG"}

// where reads WHERE(KEYWORD OP VALUE).
func (p *parser) where(f *form, c *Command, it item, seen map[string]string) *Error {
	if err := p.once("WHERE", it, seen); err != nil {
		return err
	}
	if len(it.args) != 3 {
		return p.fail(idParser, it.span(), "WHERE needs an attribute, an operator and a value: WHERE(CURDEPTH GT 0)")
	}
	key, op, value := it.args[0], it.args[1], it.args[2]
	a := f.attr(key.text)
	if a == nil {
		return p.failValid(idKeyword, key, f.keywords(), "%s is not an attribute of DISPLAY %s", clip(key.text), f.noun)
	}
	if !slices.Contains(whereOps, op.text) {
		return p.failValid(idValue, op, whereOps, "%s is not an operator", clip(op.text))
	}
	v, err := p.whereValue(a, op, value)
	if err != nil {
		return err
	}
	c.Where = &Where{Keyword: a.Keyword, Op: op.text, Value: v}
	return nil
}

// opsFor lists the operators that go with a type.
func opsFor(t object.Type) []string {
	switch t {
	case object.Int, object.Pair:
		return []string{"EQ", "NE", "LT", "GT", "LE", "GE"}
	case object.Flag, object.Enum:
		return []string{"EQ", "NE"}
	case object.List:
		return []string{"CT", "EX", "CTG", "EXG"}
	}
	return []string{"EQ", "NE", "LT", "GT", "LE", "GE", "LK", "NL"}
}

func (p *parser) whereValue(a *object.Attr, op, value word) (string, *Error) {
	ops := opsFor(a.Type)
	if !slices.Contains(ops, op.text) {
		return "", p.failValid(idValue, op, ops, "%s does not go with %s", op.text, a.Keyword)
	}
	plain, generic := strings.CutSuffix(strings.TrimRight(value.text, " "), "*")
	switch op.text {
	case "LK", "NL", "CTG", "EXG":
		if !generic || strings.Contains(plain, "*") {
			return "", p.fail(idValue, value, "%s needs a generic value, one that ends in *", op.text)
		}
		return plain + "*", nil
	}
	switch a.Type {
	case object.Flag:
		return p.whereFlag(a, value)
	case object.List:
		// One name of the list is compared.
		item := *a
		item.Type = object.Name
		a = &item
	case object.Pair:
		item := object.Attr{Keyword: a.Keyword, Type: object.Int, Max: 999999999}
		a = &item
	}
	words, err := a.Canonical([]string{value.text})
	if err != nil {
		return "", p.badValue(value, a, err)
	}
	return words[0], nil
}

func (p *parser) whereFlag(a *object.Attr, value word) (string, *Error) {
	switch value.text {
	case "YES", a.Keyword:
		return "YES", nil
	case "NO", a.NoForm():
		return "NO", nil
	}
	return "", p.failValid(idValue, value, []string{"YES", "NO"}, "%s is not a value of %s", clip(value.text), a.Keyword)
}

// Match reports whether a field satisfies the filter. The field is the one that
// DISPLAY shows for w.Keyword: KEY(...) or, for a bare pair, either word. A
// blank number is unknown and matches nothing.
func (w *Where) Match(f Field) bool {
	if f.Bare {
		set := f.Key == w.Keyword
		return (w.Value == "YES") == set == (w.Op == "EQ")
	}
	switch w.Op {
	case "CT", "CTG":
		return slices.ContainsFunc(f.Values, w.like)
	case "EX", "EXG":
		return !slices.ContainsFunc(f.Values, w.like)
	}
	a := object.Lookup(w.Keyword)
	numeric := a != nil && (a.Type == object.Int || a.Type == object.Pair)
	return slices.ContainsFunc(f.Values, func(v string) bool {
		if numeric {
			return w.matchNumber(a, v)
		}
		return w.matchText(v)
	})
}

func (w *Where) like(v string) bool { return Generic(w.Value, v) }

func (w *Where) matchNumber(a *object.Attr, v string) bool {
	x, okX := numberOf(a, v)
	y, okY := numberOf(a, w.Value)
	if !okX || !okY {
		return false
	}
	return compare(w.Op, x-y)
}

func numberOf(a *object.Attr, v string) (int, bool) {
	for _, word := range a.Words {
		if word.Name == v {
			return word.Value, true
		}
	}
	n, err := strconv.Atoi(v)
	return n, err == nil
}

func (w *Where) matchText(v string) bool {
	switch w.Op {
	case "LK":
		return Generic(w.Value, v)
	case "NL":
		return !Generic(w.Value, v)
	}
	return compare(w.Op, strings.Compare(v, w.Value))
}

func compare(op string, order int) bool {
	switch op {
	case "LT":
		return order < 0
	case "GT":
		return order > 0
	case "EQ":
		return order == 0
	case "NE":
		return order != 0
	case "LE":
		return order <= 0
	case "GE":
		return order >= 0
	}
	return false
}

// Generic reports whether a name fits a pattern: exactly, or up to a trailing *.
func Generic(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
