package situations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
)

// binary compiles an operator with two sides.
func (c *compiler) binary(n *ast.BinaryNode) term {
	switch n.Operator {
	case "in":
		return c.part(n, c.in(n))
	case "and", "&&", "or", "||":
		return c.junction(n)
	}
	if bad, isBad := c.bareValue(n); isBad {
		return bad
	}
	left, right := c.compile(n.Left), c.compile(n.Right)
	if left.kind == kindBad || right.kind == kindBad {
		return term{}
	}
	switch n.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
		return c.part(n, c.comparison(n, left, right))
	case "contains", "startsWith", "endsWith", "matches":
		return c.part(n, c.textTest(n, left, right))
	case "+", "-", "*", "/", "%":
		return c.arithmetic(n, left, right)
	}
	return c.failAt(n.Location().From, n.Location().To, "syntax", "", "%s has no meaning in a formula", n.Operator)
}

// part remembers a comparison for explaining.
func (c *compiler) part(n ast.Node, t term) term {
	if t.kind == kindBool {
		c.parts = append(c.parts, formulaPart{text: c.source(n), uses: c.namesIn(n), eval: t.boolean})
	}
	return t
}

func (c *compiler) namesIn(n ast.Node) uint64 {
	v := &nameVisitor{table: c.table}
	ast.Walk(&n, v)
	return v.uses
}

type nameVisitor struct {
	table *attributeTable
	uses  uint64
}

func (v *nameVisitor) Visit(n *ast.Node) {
	if id, ok := (*n).(*ast.IdentifierNode); ok {
		if a := v.table.named(id.Value); a != nil {
			v.uses |= a.bit
		}
	}
}

// junction is and or or; both sides must be conditions.
func (c *compiler) junction(n *ast.BinaryNode) term {
	left, right := c.compile(n.Left), c.compile(n.Right)
	for _, side := range []term{left, right} {
		if side.kind != kindBad && side.kind != kindBool {
			help := ""
			if side.kind.numeric() {
				help = "write: " + c.source(side.node) + " > 0"
			}
			return c.fail(side.node, "type", help, "%s joins conditions; %s is %s", n.Operator, c.source(side.node), side.kind)
		}
	}
	if left.kind == kindBad || right.kind == kindBad {
		return term{}
	}
	l, r := left.boolean, right.boolean
	if n.Operator == "and" || n.Operator == "&&" {
		return term{kind: kindBool, boolean: func(e *evaluation) bool { return l(e) && r(e) }}
	}
	return term{kind: kindBool, boolean: func(e *evaluation) bool { return l(e) || r(e) }}
}

// bareValue finds PUT == ENABLED, where the quotes are missing.
func (c *compiler) bareValue(n *ast.BinaryNode) (term, bool) {
	pairs := [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}}
	for _, p := range pairs {
		name, ok := p[0].(*ast.IdentifierNode)
		value, ok2 := p[1].(*ast.IdentifierNode)
		if !ok || !ok2 || c.table.named(value.Value) != nil {
			continue
		}
		a := c.table.named(name.Value)
		if a == nil || len(a.Values) == 0 || slices.Contains(laterNames, value.Value) {
			continue
		}
		if !slices.Contains(a.Values, strings.ToUpper(value.Value)) {
			hint := ""
			if near := nearest(strings.ToUpper(value.Value), a.Values); near != "" {
				hint = fmt.Sprintf("write: %s %s %q", a.Name, n.Operator, near)
			}
			return c.fail(value, "unknown-value", hint, "%s is never %s; it is %s", a.Name, value.Value, orList(a.Values)), true
		}
		return c.fail(value, "quote-value", fmt.Sprintf("write: %s %s %q", a.Name, n.Operator, strings.ToUpper(value.Value)),
			"%s is a value of %s, so it needs quotes", value.Value, a.Name), true
	}
	return term{}, false
}

func (c *compiler) comparison(n *ast.BinaryNode, left, right term) term {
	switch {
	case left.kind.numeric() && right.kind.numeric():
		return compareNumbers(n.Operator, left, right)
	case left.kind == kindText && right.kind == kindText:
		if !c.possible(left, right) || !c.possible(right, left) {
			return term{}
		}
		return compareTexts(n.Operator, left, right)
	case left.kind == kindBool && right.kind == kindBool && (n.Operator == "==" || n.Operator == "!="):
		l, r, same := left.boolean, right.boolean, n.Operator == "=="
		return term{kind: kindBool, boolean: func(e *evaluation) bool { return (l(e) == r(e)) == same }}
	}
	at := n.Location().From
	if left.kind.numeric() && right.kind == kindText || left.kind == kindText && right.kind.numeric() {
		return c.failAt(at, at+1, "type", c.numberHelp(left, right), "a number is compared with text")
	}
	return c.failAt(at, at+1, "type", "", "%s is compared with %s", left.kind, right.kind)
}

// numberHelp says how to write the side that is the wrong type.
func (c *compiler) numberHelp(left, right term) string {
	lit, other := right, left
	if left.kind == kindText {
		lit, other = left, right
	}
	s, isLiteral := lit.node.(*ast.StringNode)
	if !isLiteral {
		if lit.attr != nil {
			return fmt.Sprintf("%s is a text: write the other side in quotes", lit.attr.Name)
		}
		return ""
	}
	if d, err := time.ParseDuration(s.Value); err == nil && !isNumber(s.Value) && other.attr != nil && other.attr.Unit == "seconds" {
		return "times are whole seconds: write " + strconv.Itoa(int(d/time.Second))
	}
	return "write the number without quotes"
}

// possible checks a text against the values that the attribute on the other side has.
func (c *compiler) possible(name, value term) bool {
	s, ok := value.node.(*ast.StringNode)
	if !ok || name.attr == nil || len(name.attr.Values) == 0 || slices.Contains(name.attr.Values, s.Value) {
		return true
	}
	hint := ""
	if near := nearest(strings.ToUpper(s.Value), name.attr.Values); near != "" {
		hint = "; did you mean " + near + "?"
	}
	c.fail(value.node, "unknown-value", "", "%s is never %q; it is %s%s", name.attr.Name, s.Value, orList(name.attr.Values), hint)
	return false
}

// orList reads "A, B or C".
func orList(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

func compareNumbers(op string, left, right term) term {
	if left.kind == kindInt && right.kind == kindInt {
		return term{kind: kindBool, boolean: compare(op, left.integer, right.integer)}
	}
	return term{kind: kindBool, boolean: compare(op, left.float, right.float)}
}

func compareTexts(op string, left, right term) term {
	return term{kind: kindBool, boolean: compare(op, left.text, right.text)}
}

func compare[T int | float64 | string](op string, l, r func(*evaluation) T) func(*evaluation) bool {
	switch op {
	case "==":
		return func(e *evaluation) bool { return l(e) == r(e) }
	case "!=":
		return func(e *evaluation) bool { return l(e) != r(e) }
	case "<":
		return func(e *evaluation) bool { return l(e) < r(e) }
	case "<=":
		return func(e *evaluation) bool { return l(e) <= r(e) }
	case ">":
		return func(e *evaluation) bool { return l(e) > r(e) }
	}
	return func(e *evaluation) bool { return l(e) >= r(e) }
}

// textTest is contains, startsWith, endsWith or matches.
func (c *compiler) textTest(n *ast.BinaryNode, left, right term) term {
	if left.kind != kindText || right.kind != kindText {
		return c.failAt(n.Location().From, n.Location().To, "type", "", "%s compares texts; here it stands between %s and %s", n.Operator, left.kind, right.kind)
	}
	l, r := left.text, right.text
	switch n.Operator {
	case "contains":
		return term{kind: kindBool, boolean: func(e *evaluation) bool { return strings.Contains(l(e), r(e)) }}
	case "startsWith":
		return term{kind: kindBool, boolean: func(e *evaluation) bool { return strings.HasPrefix(l(e), r(e)) }}
	case "endsWith":
		return term{kind: kindBool, boolean: func(e *evaluation) bool { return strings.HasSuffix(l(e), r(e)) }}
	}
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		return c.fail(n.Right, "type", "", "the pattern after matches must be a text in quotes")
	}
	re, err := compileRegexp(pattern.Value)
	if err != nil {
		return c.fail(n.Right, "pattern", "", "%v", err)
	}
	return term{kind: kindBool, boolean: func(e *evaluation) bool { return re.MatchString(l(e)) }}
}

func (c *compiler) arithmetic(n *ast.BinaryNode, left, right term) term {
	if !left.kind.numeric() || !right.kind.numeric() {
		bad := left
		if left.kind.numeric() {
			bad = right
		}
		return c.fail(bad.node, "type", "", "%s is %s, not a number", c.source(bad.node), bad.kind)
	}
	if lit, ok := n.Right.(*ast.IntegerNode); ok && lit.Value == 0 && (n.Operator == "/" || n.Operator == "%") {
		return c.fail(n.Right, "division", "", "a division by 0 has no result")
	}
	if n.Operator == "/" {
		l, r := left.float, right.float
		return term{kind: kindFloat, float: func(e *evaluation) float64 { return e.finite(l(e) / r(e)) }}
	}
	if left.kind == kindInt && right.kind == kindInt {
		return intArithmetic(n.Operator, left.integer, right.integer)
	}
	l, r := left.float, right.float
	switch n.Operator {
	case "+":
		return term{kind: kindFloat, float: func(e *evaluation) float64 { return e.finite(l(e) + r(e)) }}
	case "-":
		return term{kind: kindFloat, float: func(e *evaluation) float64 { return e.finite(l(e) - r(e)) }}
	case "*":
		return term{kind: kindFloat, float: func(e *evaluation) float64 { return e.finite(l(e) * r(e)) }}
	}
	return c.fail(n, "type", "", "%% wants whole numbers")
}

func intArithmetic(op string, l, r func(*evaluation) int) term {
	switch op {
	case "+":
		return intTerm(func(e *evaluation) int { return l(e) + r(e) })
	case "-":
		return intTerm(func(e *evaluation) int { return l(e) - r(e) })
	case "*":
		return intTerm(func(e *evaluation) int { return l(e) * r(e) })
	}
	return intTerm(func(e *evaluation) int {
		d := r(e)
		if d == 0 {
			e.failed = true
			return 0
		}
		return l(e) % d
	})
}

// in is a test against a list of constants.
func (c *compiler) in(n *ast.BinaryNode) term {
	left := c.compile(n.Left)
	list, ok := n.Right.(*ast.ArrayNode)
	if !ok {
		return c.fail(n.Right, "syntax", `write: PUT in ["ENABLED", "DISABLED"]`, "after in comes a list in [ ]")
	}
	if left.kind == kindBad {
		return term{}
	}
	if len(list.Nodes) == 0 {
		return c.fail(n.Right, "syntax", "", "the list after in is empty")
	}
	var texts []string
	var numbers []float64
	for _, item := range list.Nodes {
		t := c.compile(item)
		if t.kind == kindBad {
			return term{}
		}
		if !isConstant(item) || t.kind == kindBool || (t.kind == kindText) != (left.kind == kindText) {
			return c.fail(item, "type", "", "the list after in holds constants of the same type as %s", c.source(n.Left))
		}
		if t.kind == kindText {
			if !c.possible(left, t) {
				return term{}
			}
			texts = append(texts, t.text(nil))
			continue
		}
		numbers = append(numbers, t.float(nil))
	}
	if left.kind == kindText {
		l := left.text
		return term{kind: kindBool, boolean: func(e *evaluation) bool { return slices.Contains(texts, l(e)) }}
	}
	if !left.kind.numeric() {
		return c.fail(n.Left, "type", "", "in looks a number or a text up in a list; %s is %s", c.source(n.Left), left.kind)
	}
	l := left.float
	return term{kind: kindBool, boolean: func(e *evaluation) bool { return slices.Contains(numbers, l(e)) }}
}

func isConstant(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return true
	case *ast.UnaryNode:
		return n.Operator == "-" && isConstant(n.Node)
	}
	return false
}
