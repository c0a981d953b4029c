package situations

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// kind is the type of a term.
type kind uint8

const (
	kindBad kind = iota // an error was reported
	kindBool
	kindInt
	kindFloat
	kindText
)

func (k kind) String() string {
	switch k {
	case kindBool:
		return "a condition"
	case kindInt, kindFloat:
		return "a number"
	case kindText:
		return "a text"
	case kindBad:
	}
	return "unknown"
}

func (k kind) numeric() bool { return k == kindInt || k == kindFloat }

// term is a compiled piece of a formula; the function of its kind is set, and
// float also for an int.
type term struct {
	kind    kind
	boolean func(*evaluation) bool
	integer func(*evaluation) int
	float   func(*evaluation) float64
	text    func(*evaluation) string
	attr    *Attribute // when it is just a name
	node    ast.Node
}

// compiler turns the tree of one formula into terms.
type compiler struct {
	runes   []rune
	table   *attributeTable
	errs    []formulaError
	uses    uint64
	guarded uint64 // asked for with known(): a missing value is the author's business
	opaque  bool
	parts   []formulaPart
}

func (c *compiler) fail(n ast.Node, code, help, format string, args ...any) term {
	from, to := c.span(n)
	return c.failAt(from, to, code, help, format, args...)
}

func (c *compiler) failAt(from, to int, code, help, format string, args ...any) term {
	e := formulaError{from: from, to: to, code: code, message: fmt.Sprintf(format, args...)}
	if help != "" {
		e.help = []string{help}
	}
	c.errs = append(c.errs, e)
	return term{}
}

// source is the text of a node.
func (c *compiler) source(n ast.Node) string {
	from, to := c.span(n)
	return string(c.runes[from:to])
}

// span is where a node stands, from its first character to after its last.
func (c *compiler) span(n ast.Node) (from, to int) {
	loc := n.Location()
	from, to = loc.From, max(loc.To, loc.From+1)
	grow := func(list ...ast.Node) {
		for _, sub := range list {
			if sub != nil {
				f, t := c.span(sub)
				from, to = min(from, f), max(to, t)
			}
		}
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		grow(n.Node)
	case *ast.BinaryNode:
		grow(n.Left, n.Right)
	case *ast.CallNode:
		grow(n.Arguments...)
		to = c.after(to, ')')
	case *ast.ArrayNode:
		grow(n.Nodes...)
		to = c.after(to, ']')
	case *ast.MemberNode:
		grow(n.Node, n.Property)
	case *ast.ChainNode:
		grow(n.Node)
	}
	from = min(max(from, 0), len(c.runes))
	return from, min(max(to, from), len(c.runes))
}

// after is the place after the next closing bracket, past white space and commas only.
func (c *compiler) after(i int, closing rune) int {
	for j := i; j < len(c.runes); j++ {
		switch c.runes[j] {
		case closing:
			return j + 1
		case ' ', '\t', '\n', '\r', ',', '(', '[':
		default:
			return i
		}
	}
	return i
}

// condition compiles the whole formula, which must be true or false.
func (c *compiler) condition(n ast.Node) term {
	t := c.compile(n)
	if t.kind == kindBool || t.kind == kindBad {
		return t
	}
	help := ""
	if t.kind.numeric() {
		help = "write: " + c.source(n) + " > 0"
	}
	return c.fail(n, "not-a-condition", help, "a formula must be true or false; this one is %s", t.kind)
}

// compile refuses every kind of node but the few that a condition needs.
func (c *compiler) compile(n ast.Node) term {
	t := c.node(n)
	t.node = n
	return t
}

func (c *compiler) node(n ast.Node) term {
	switch n := n.(type) {
	case *ast.BoolNode:
		v := n.Value
		return term{kind: kindBool, boolean: func(*evaluation) bool { return v }}
	case *ast.IntegerNode:
		v := n.Value
		return intTerm(func(*evaluation) int { return v })
	case *ast.FloatNode:
		v := n.Value
		return term{kind: kindFloat, float: func(*evaluation) float64 { return v }}
	case *ast.StringNode:
		v := n.Value
		return term{kind: kindText, text: func(*evaluation) string { return v }}
	case *ast.IdentifierNode:
		return c.name(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.CallNode:
		return c.call(n)
	case *ast.BuiltinNode:
		return c.noFunction(n, n.Name)
	case *ast.ConditionalNode:
		return c.fail(n, "syntax", "", "a formula has no ? and :; join conditions with and, or, not")
	case *ast.NilNode:
		return c.fail(n, "syntax", "write: known(MSGAGE)", "nil is not a value; ask with known() whether there is one")
	case *ast.ArrayNode:
		return c.fail(n, "syntax", "", "a list stands only after in")
	case *ast.MemberNode, *ast.ChainNode, *ast.SliceNode:
		return c.member(n)
	}
	return c.fail(n, "syntax", "", "this is not part of a formula")
}

// member is a.b or a[b]; people write Tivoli's names so.
func (c *compiler) member(n ast.Node) term {
	src := string(c.runes)
	for name, attr := range tivoliNames {
		if i := strings.Index(src, name); i >= 0 {
			from := len([]rune(src[:i]))
			return c.failAt(from, from+len(name), "unknown-attribute", "write: "+attr, "%s is called %s here", name, attr)
		}
	}
	return c.fail(n, "syntax", "", "a formula has plain names only, nothing with . or [ ]")
}

func intTerm(f func(*evaluation) int) term {
	return term{kind: kindInt, integer: f, float: func(e *evaluation) float64 { return float64(f(e)) }}
}

// name compiles an attribute's name.
func (c *compiler) name(n *ast.IdentifierNode) term {
	a := c.table.named(n.Value)
	if a == nil {
		return c.unknownName(n)
	}
	c.uses |= a.bit
	bit := a.bit
	if a.text != nil {
		get := a.text
		return term{kind: kindText, attr: a, text: func(e *evaluation) string {
			if e.missing&bit != 0 {
				e.failed = true
			}
			return get(e)
		}}
	}
	get := a.number
	t := intTerm(func(e *evaluation) int {
		if e.missing&bit != 0 {
			e.failed = true
			return 0
		}
		return get(e)
	})
	t.attr = a
	return t
}

func (c *compiler) unknownName(n *ast.IdentifierNode) term {
	name := n.Value
	if up := strings.ToUpper(name); c.table.named(up) != nil {
		return c.fail(n, "unknown-attribute", "write: "+up, "%s is not an attribute; MQSC names are in capitals", name)
	}
	if slices.Contains(laterNames, name) {
		return c.fail(n, "not-in-this-version", "", "%s comes with a later release", name)
	}
	if list := c.table.withValue(name); len(list) > 0 {
		return c.fail(n, "quote-value", fmt.Sprintf("write: %s == %q", list[0].Name, name),
			"%s is a value of %s, so it needs quotes", name, list[0].Name)
	}
	message, help := c.table.unknown(strings.ToUpper(name), name)
	return c.fail(n, "unknown-attribute", help, "%s", message)
}

func (c *compiler) unary(n *ast.UnaryNode) term {
	t := c.compile(n.Node)
	if t.kind == kindBad {
		return t
	}
	switch n.Operator {
	case "not", "!":
		if t.kind != kindBool {
			return c.fail(n, "type", fmt.Sprintf("write: not (%s == 0)", c.source(n.Node)),
				"%s turns a condition round; %s is %s", n.Operator, c.source(n.Node), t.kind)
		}
		f := t.boolean
		return term{kind: kindBool, boolean: func(e *evaluation) bool { return !f(e) }}
	case "-", "+":
		if !t.kind.numeric() {
			return c.fail(n, "type", "", "%s is %s, not a number", c.source(n.Node), t.kind)
		}
		if n.Operator == "+" {
			t.attr = nil
			return t
		}
		if f := t.float; t.kind == kindFloat {
			return term{kind: kindFloat, float: func(e *evaluation) float64 { return -f(e) }}
		}
		f := t.integer
		return intTerm(func(e *evaluation) int { return -f(e) })
	}
	return c.fail(n, "syntax", "", "%s has no meaning in a formula", n.Operator)
}

// call compiles the three functions a formula has.
func (c *compiler) call(n *ast.CallNode) term {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.member(n)
	}
	switch id.Value {
	case "READERS":
		return c.readers(n)
	case "known":
		return c.known(n)
	case "percent":
		return c.percent(n)
	}
	return c.noFunction(n, id.Value)
}

var functionNames = []string{"READERS", "known", "percent"}

func (c *compiler) noFunction(n ast.Node, name string) term {
	from := n.Location().From
	to := from + len([]rune(name))
	if slices.Contains(laterNames, name) {
		return c.failAt(from, to, "not-in-this-version", "", "%s comes with a later release", name)
	}
	for _, f := range functionNames {
		if strings.EqualFold(f, name) {
			return c.failAt(from, to, "unknown-function", "write: "+f, "the function is spelled %s", f)
		}
	}
	return c.failAt(from, to, "unknown-function", "", "%s is not a function here; there are READERS, known and percent", name)
}

func (c *compiler) readers(n *ast.CallNode) term {
	if c.table.group != GroupQueue {
		return c.fail(n, "unknown-function", "", "READERS counts those who read a queue; this is a formula over %s", c.table.group.noun())
	}
	if len(n.Arguments) == 1 {
		if s, ok := n.Arguments[0].(*ast.StringNode); ok {
			pattern := s.Value
			c.opaque = true
			return intTerm(func(e *evaluation) int { return e.readers(pattern) })
		}
	}
	return c.fail(n, "type", `write: READERS("ORDER*") == 0`, "READERS wants one pattern of application names, in quotes")
}

func (c *compiler) known(n *ast.CallNode) term {
	if len(n.Arguments) == 1 {
		if id, ok := n.Arguments[0].(*ast.IdentifierNode); ok {
			t := c.compile(id)
			if t.kind == kindBad {
				return t
			}
			c.guarded |= t.attr.bit
			c.opaque = true
			bit := t.attr.bit
			return term{kind: kindBool, boolean: func(e *evaluation) bool { return e.missing&bit == 0 }}
		}
	}
	return c.fail(n, "type", "write: known(MSGAGE)", "known wants the name of one attribute")
}

func (c *compiler) percent(n *ast.CallNode) term {
	if len(n.Arguments) != 2 {
		return c.fail(n, "type", "write: percent(CURDEPTH, MAXDEPTH) > 80", "percent wants two numbers, the part and the whole")
	}
	part, whole := c.compile(n.Arguments[0]), c.compile(n.Arguments[1])
	if part.kind == kindBad || whole.kind == kindBad {
		return term{}
	}
	if !part.kind.numeric() || !whole.kind.numeric() {
		return c.fail(n, "type", "write: percent(CURDEPTH, MAXDEPTH) > 80", "percent wants two numbers, the part and the whole")
	}
	return term{kind: kindFloat, float: func(e *evaluation) float64 { return e.finite(100 * part.float(e) / whole.float(e)) }}
}

// finite notes a result that is no number: a division by zero or an overflow.
func (e *evaluation) finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.failed = true
		return 0
	}
	return f
}

func compileRegexp(pattern string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s is not a regular expression", strconv.Quote(pattern))
	}
	return re, nil
}
