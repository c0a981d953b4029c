package selector

import "cmp"

// Kind says what a Value holds.
type Kind uint8

// The kinds of values. The zero Value is null: unknown.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Bytes
)

// Value is the value of a property or of an expression.
type Value struct {
	Kind  Kind
	Bool  bool
	Int   int64
	Float float64
	Str   string // String, and the raw bytes of Bytes
}

// Source gives the properties of one message.
type Source interface {
	// Property is the value of that name; null if the message has none.
	Property(name string) Value
}

// Truth is the result of a condition in three-valued logic.
type Truth uint8

// The three truth values.
const (
	Unknown Truth = iota
	False
	True
)

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

func (t Truth) not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	default:
		return Unknown
	}
}

func (t Truth) value() Value {
	if t == Unknown {
		return Value{}
	}
	return Value{Kind: Bool, Bool: t == True}
}

// truth reads a value as a condition: only a boolean is one.
func (v Value) truth() Truth {
	if v.Kind != Bool {
		return Unknown
	}
	return truth(v.Bool)
}

func (v Value) numeric() bool { return v.Kind == Int || v.Kind == Float }

func (v Value) float() float64 {
	if v.Kind == Int {
		return float64(v.Int)
	}
	return v.Float
}

// order compares two numbers, exactly if both are whole.
func order(a, b Value) int {
	if a.Kind == Int && b.Kind == Int {
		return cmp.Compare(a.Int, b.Int)
	}
	return cmp.Compare(a.float(), b.float())
}

// equal compares values of the same kind; like is false if they are not.
func equal(a, b Value) (same, like bool) {
	switch {
	case a.numeric() && b.numeric():
		return order(a, b) == 0, true
	case a.Kind != b.Kind:
		return false, false
	case a.Kind == Bool:
		return a.Bool == b.Bool, true
	default:
		return a.Str == b.Str, true
	}
}
