package selector

import (
	"strconv"
	"unicode/utf8"
)

// Bounds of a selection string.
const (
	// MaxLength is MQ_SELECTOR_LENGTH.
	MaxLength = 10240
	maxDepth  = 200
)

// Selector is a selection string ready for use.
type Selector struct {
	text string
	root node
}

// Text is the string that the selector was made of.
func (s *Selector) Text() string { return s.text }

// Matches reports whether the message meets the condition; unknown is no.
func (s *Selector) Matches(src Source) bool { return s.root.eval(src).truth() == True }

// Compile reads a selection string. The error is a *SyntaxError.
func Compile(text string) (*Selector, error) {
	if len(text) > MaxLength {
		return nil, wrong(MaxLength, "a selection string has %d bytes at most", MaxLength)
	}
	if !utf8.ValidString(text) {
		return nil, wrong(0, "a selection string is UTF-8")
	}
	p := parser{lex: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, wrong(p.tok.at, "%s is not expected here", p.tok.describe())
	}
	if !conditional(root) {
		return nil, wrong(0, "the whole string must be a condition, not a value")
	}
	return &Selector{text: text, root: root}, nil
}

type parser struct {
	lex   lexer
	tok   token
	depth int
}

func (t *token) describe() string {
	switch t.kind {
	case tokEnd:
		return "the end"
	case tokLiteral:
		return "a literal"
	default:
		return strconv.Quote(t.text)
	}
}

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *parser) is(kind tokenKind, text string) bool {
	return p.tok.kind == kind && p.tok.text == text
}

// take passes a token if it is next.
func (p *parser) take(kind tokenKind, text string) (bool, error) {
	if !p.is(kind, text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) need(kind tokenKind, text string) error {
	ok, err := p.take(kind, text)
	if err == nil && !ok {
		err = wrong(p.tok.at, "%q is expected, not %s", text, p.tok.describe())
	}
	return err
}

// deeper bounds the recursion.
func (p *parser) deeper() error {
	if p.depth++; p.depth > maxDepth {
		return wrong(p.tok.at, "nested deeper than %d", maxDepth)
	}
	return nil
}

func (p *parser) or() (node, error) {
	return p.chain("OR", p.and, func(a, b node) node { return logical{a, b, False} })
}

func (p *parser) and() (node, error) {
	return p.chain("AND", p.not, func(a, b node) node { return logical{a, b, True} })
}

// chain reads operands with one connective between them. Each adds a level, so
// that evaluating is bounded too.
func (p *parser) chain(word string, operand func() (node, error), join func(a, b node) node) (node, error) {
	a, err := operand()
	for at := p.tok.at; err == nil && p.is(tokKeyword, word); at = p.tok.at {
		if err = p.advance(); err != nil {
			break
		}
		var b node
		if b, err = operand(); err != nil {
			break
		}
		if !conditional(a) || !conditional(b) {
			return nil, wrong(at, "%s joins conditions, not values", word)
		}
		a = join(a, b)
	}
	return a, err
}

func (p *parser) not() (node, error) {
	at := p.tok.at
	ok, err := p.take(tokKeyword, "NOT")
	if err != nil || !ok {
		if err != nil {
			return nil, err
		}
		return p.comparison()
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	x, err := p.not()
	p.depth--
	if err == nil && !conditional(x) {
		err = wrong(at, "NOT takes a condition")
	}
	return negated{x}, err
}

func (p *parser) comparison() (node, error) {
	a, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.tok.kind == tokSymbol {
		switch op := p.tok.text; op {
		case "=", "<>", "<", "<=", ">", ">=":
			if err := p.advance(); err != nil {
				return nil, err
			}
			b, err := p.sum()
			return compared{op, a, b}, err
		}
	}
	if p.tok.kind != tokKeyword {
		return a, nil
	}
	if ok, err := p.take(tokKeyword, "IS"); ok || err != nil {
		return p.isNull(a, err)
	}
	not, err := p.take(tokKeyword, "NOT")
	if err != nil {
		return nil, err
	}
	x, err := p.test(a, not)
	if err == nil && not {
		x = negated{x}
	}
	return x, err
}

func (p *parser) isNull(a node, err error) (node, error) {
	if err != nil {
		return nil, err
	}
	not, err := p.take(tokKeyword, "NOT")
	if err == nil {
		err = p.need(tokKeyword, "NULL")
	}
	if _, ok := a.(property); err == nil && !ok {
		err = wrong(p.tok.at, "IS NULL takes the name of a property")
	}
	return nullTest{a, not}, err
}

// test reads BETWEEN, IN or LIKE behind its operand.
func (p *parser) test(a node, needed bool) (node, error) {
	at, word := p.tok.at, p.tok.text
	switch {
	case p.tok.kind != tokKeyword || word != "BETWEEN" && word != "IN" && word != "LIKE":
		if needed {
			return nil, wrong(at, "BETWEEN, IN or LIKE is expected behind NOT, not %s", p.tok.describe())
		}
		return a, nil
	case word != "BETWEEN":
		if _, ok := a.(property); !ok {
			return nil, wrong(at, "%s takes the name of a property on its left", word)
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch word {
	case "IN":
		return p.in(a)
	case "LIKE":
		return p.like(a)
	}
	low, err := p.sum()
	if err == nil {
		err = p.need(tokKeyword, "AND")
	}
	if err != nil {
		return nil, err
	}
	high, err := p.sum()
	return logical{compared{">=", a, low}, compared{"<=", a, high}, True}, err
}

func (p *parser) in(a node) (node, error) {
	if err := p.need(tokSymbol, "("); err != nil {
		return nil, err
	}
	x := among{x: a}
	for {
		s, err := p.stringLiteral("a list")
		if err != nil {
			return nil, err
		}
		x.list = append(x.list, s)
		more, err := p.take(tokSymbol, ",")
		if err != nil {
			return nil, err
		}
		if !more {
			return x, p.need(tokSymbol, ")")
		}
	}
}

func (p *parser) like(a node) (node, error) {
	at := p.tok.at
	text, err := p.stringLiteral("LIKE")
	if err != nil {
		return nil, err
	}
	escape := ""
	ok, err := p.take(tokKeyword, "ESCAPE")
	if ok && err == nil {
		if escape, err = p.stringLiteral("ESCAPE"); err == nil && utf8.RuneCountInString(escape) != 1 {
			err = wrong(at, "ESCAPE takes one character")
		}
	}
	if err != nil {
		return nil, err
	}
	pat, good := newPattern(text, escape)
	if !good {
		return nil, wrong(at, "the escape character stands before %%, _ or itself")
	}
	return liked{a, pat}, nil
}

func (p *parser) stringLiteral(where string) (string, error) {
	if p.tok.kind != tokLiteral || p.tok.value.Kind != String {
		return "", wrong(p.tok.at, "%s takes strings, not %s", where, p.tok.describe())
	}
	s := p.tok.value.Str
	return s, p.advance()
}

func (p *parser) sum() (node, error) { return p.arithmetic("+", "-", p.product) }

func (p *parser) product() (node, error) { return p.arithmetic("*", "/", p.unary) }

func (p *parser) arithmetic(one, other string, operand func() (node, error)) (node, error) {
	a, err := operand()
	for err == nil && (p.is(tokSymbol, one) || p.is(tokSymbol, other)) {
		op := p.tok.text[0]
		if err = p.advance(); err == nil {
			var b node
			b, err = operand()
			a = computed{op, a, b}
		}
	}
	return a, err
}

func (p *parser) unary() (node, error) {
	minus := p.is(tokSymbol, "-")
	if !minus && !p.is(tokSymbol, "+") {
		return p.primary()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	x, err := p.unary()
	p.depth--
	if minus {
		x = computed{'-', constant{Value{Kind: Int}}, x}
	}
	return x, err
}

func (p *parser) primary() (node, error) {
	t := p.tok
	switch {
	case t.kind == tokLiteral:
		return constant{t.value}, p.advance()
	case t.kind == tokName:
		return property{t.text}, p.advance()
	case t.kind == tokKeyword && (t.text == "TRUE" || t.text == "FALSE"):
		return constant{Value{Kind: Bool, Bool: t.text == "TRUE"}}, p.advance()
	case !p.is(tokSymbol, "("):
		return nil, wrong(t.at, "a property, a literal or a bracket is expected, not %s", t.describe())
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	x, err := p.or()
	p.depth--
	if err != nil {
		return nil, err
	}
	return x, p.need(tokSymbol, ")")
}
