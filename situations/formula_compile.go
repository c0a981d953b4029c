package situations

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// compileFormula turns source into a Formula, or says everything that is wrong
// with it. expr parses and has the last word on types. Evaluating is our own:
// its machine boxes every result of arithmetic, and gives no sign when a
// division went to infinity on the way to a plain true or false.
func compileFormula(g Group, source string, lever Lever) (*Formula, []formulaError) {
	end := utf8.RuneCountInString(source)
	if strings.TrimSpace(source) == "" {
		return nil, []formulaError{{to: end, code: "missing", message: "a formula is empty", help: []string{"write: " + g.sample()}}}
	}
	if len(source) > maxFormula {
		return nil, []formulaError{{to: 1, code: "too-long",
			message: fmt.Sprintf("a formula has at most %d bytes; this has %d", maxFormula, len(source))}}
	}
	if slips := findSlips(source); len(slips) > 0 {
		return nil, slips
	}
	tree, bad := parseFormula(source)
	if bad != nil {
		return nil, []formulaError{*bad}
	}
	c := &compiler{runes: []rune(source), table: tableOf(g)}
	t := c.condition(tree)
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	if bad := c.exprAgrees(source); bad != nil {
		return nil, []formulaError{*bad}
	}
	f := &Formula{source: source, table: c.table, lever: lever, uses: c.uses, needs: c.uses &^ c.guarded, opaque: c.opaque,
		eval: t.boolean, parts: c.parts}
	return f, nil
}

func parseFormula(source string) (node ast.Node, bad *formulaError) {
	defer func() {
		if recover() != nil {
			node, bad = nil, &formulaError{to: 1, code: "syntax", message: "this formula cannot be read"}
		}
	}()
	config := conf.CreateNew()
	config.MaxNodes = maxNodes
	tree, err := parser.ParseWithConfig(source, config)
	if err != nil {
		return nil, translate(source, err)
	}
	return tree.Node, nil
}

// exprAgrees compiles the formula in expr with everything shut that can be: what
// passed our own checks must be a condition there too.
func (c *compiler) exprAgrees(source string) (bad *formulaError) {
	defer func() {
		if recover() != nil {
			bad = &formulaError{to: 1, code: "syntax", message: "this formula cannot be compiled"}
		}
	}()
	none := func(...any) (any, error) { return 0, nil }
	_, err := expr.Compile(source, expr.Env(c.table.env()), expr.AsBool(), expr.WarnOnAny(), expr.MaxNodes(maxNodes),
		expr.DisableAllBuiltins(), expr.Optimize(false),
		expr.Function("READERS", none, new(func(string) int)),
		expr.Function("percent", none, new(func(float64, float64) float64), new(func(int, int) float64),
			new(func(int, float64) float64), new(func(float64, int) float64)),
		expr.Function("known", none, new(func(string) bool), new(func(int) bool)))
	if err != nil {
		return translate(source, err)
	}
	return nil
}

// env is what the formula's names are fields of.
func (t *attributeTable) env() any {
	switch t.group {
	case GroupChannel:
		return ChannelAttributes{}
	case GroupQMgr:
		return QMgrAttributes{}
	case GroupQueue:
	}
	return Attributes{}
}

// translate puts the parser's error into our words, with its place.
func translate(source string, err error) *formulaError {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return &formulaError{to: 1, code: "syntax", message: "this formula cannot be read"}
	}
	end := utf8.RuneCountInString(source)
	from := min(max(fe.From, 0), max(end-1, 0))
	out := &formulaError{from: from, to: min(max(fe.To, from+1), max(end, 1)), code: "syntax"}
	switch msg := fe.Message; {
	case strings.Contains(msg, "exceeds maximum allowed nodes"):
		out.from, out.to, out.code = 0, 1, "too-long"
		out.message = fmt.Sprintf("a formula has at most %d operands and operators; split this one into several situations", maxNodes)
	case strings.Contains(msg, "unexpected token EOF"), strings.Contains(msg, "unexpected end"):
		out.from, out.to = max(end-1, 0), max(end, 1)
		out.message = "the formula ends too early; something must follow here"
	case strings.Contains(msg, "unexpected token"):
		out.message = "this does not belong here"
		if word := string([]rune(source)[out.from:out.to]); strings.TrimSpace(word) != "" {
			out.message = word + " does not belong here; join two conditions with and or or"
		}
	case strings.Contains(msg, "unrecognized character"):
		out.message = string([]rune(source)[from:from+1]) + " has no meaning in a formula"
	case strings.Contains(msg, "too large"), strings.Contains(msg, "out of range"):
		out.message = "this number is too large"
	case strings.Contains(msg, "literal not terminated"):
		out.message = "this text has no closing quote"
	default:
		out.message = "this part of the formula cannot be read"
	}
	return out
}
