package selector

// node is a part of an expression.
type node interface{ eval(src Source) Value }

type (
	constant struct{ v Value }
	property struct{ name string }
	// logical is AND or OR.
	logical struct {
		a, b node
		on   Truth // the value of a with which b decides: True for AND, False for OR
	}
	negated  struct{ x node }
	compared struct {
		op   string
		a, b node
	}
	computed struct {
		op   byte
		a, b node
	}
	nullTest struct {
		x   node
		not bool
	}
	among struct {
		x    node
		list []string
	}
	liked struct {
		x   node
		pat pattern
	}
)

// conditional reports whether a part may stand as a condition. A property may:
// it can be a boolean.
func conditional(n node) bool {
	switch x := n.(type) {
	case constant:
		return x.v.Kind == Bool
	case computed:
		return false
	default:
		return true
	}
}

func (c constant) eval(Source) Value     { return c.v }
func (p property) eval(src Source) Value { return src.Property(p.name) }

func (l logical) eval(src Source) Value {
	a := l.a.eval(src).truth()
	if a == l.on.not() {
		return a.value()
	}
	b := l.b.eval(src).truth()
	if a == Unknown && b == l.on {
		b = Unknown
	}
	return b.value()
}

func (n negated) eval(src Source) Value { return n.x.eval(src).truth().not().value() }

func (n nullTest) eval(src Source) Value {
	return truth((n.x.eval(src).Kind == Null) != n.not).value()
}

func (c compared) eval(src Source) Value {
	a, b := c.a.eval(src), c.b.eval(src)
	if a.Kind == Null || b.Kind == Null {
		return Value{}
	}
	if c.op == "=" || c.op == "<>" {
		same, like := equal(a, b)
		return truth(like && same == (c.op == "=")).value()
	}
	if !a.numeric() || !b.numeric() {
		return truth(false).value()
	}
	o := order(a, b)
	switch c.op {
	case "<":
		return truth(o < 0).value()
	case "<=":
		return truth(o <= 0).value()
	case ">":
		return truth(o > 0).value()
	default:
		return truth(o >= 0).value()
	}
}

// eval computes; what is no number, or has no result, is unknown.
func (c computed) eval(src Source) Value {
	a, b := c.a.eval(src), c.b.eval(src)
	switch {
	case !a.numeric() || !b.numeric():
		return Value{}
	case a.Kind == Int && b.Kind == Int:
		return c.whole(a.Int, b.Int)
	}
	x, y, r := a.float(), b.float(), 0.0
	switch c.op {
	case '+':
		r = x + y
	case '-':
		r = x - y
	case '*':
		r = x * y
	default:
		r = x / y
	}
	return Value{Kind: Float, Float: r}
}

func (c computed) whole(x, y int64) Value {
	v := Value{Kind: Int}
	switch c.op {
	case '+':
		v.Int = x + y
	case '-':
		v.Int = x - y
	case '*':
		v.Int = x * y
	default:
		if y == 0 {
			return Value{}
		}
		v.Int = x / y
	}
	return v
}

func (a among) eval(src Source) Value {
	v := a.x.eval(src)
	if v.Kind == Null {
		return Value{}
	}
	for _, s := range a.list {
		if v.Kind == String && v.Str == s {
			return truth(true).value()
		}
	}
	return truth(false).value()
}

func (l liked) eval(src Source) Value {
	v := l.x.eval(src)
	if v.Kind == Null || len(v.Str) > maxLike {
		return Value{}
	}
	return truth(v.Kind == String && l.pat.matches(v.Str)).value()
}
