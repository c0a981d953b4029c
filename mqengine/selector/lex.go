package selector

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// tokenKind says what a token is.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokLiteral
	tokSymbol  // an operator or bracket, in text
	tokKeyword // in upper case, in text
)

type token struct {
	kind  tokenKind
	text  string
	value Value
	at    int // byte offset
}

// SyntaxError tells where a selection string is wrong.
type SyntaxError struct {
	At   int // byte offset
	Text string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at character %d: %s", e.At+1, e.Text) }

func wrong(at int, format string, args ...any) *SyntaxError {
	return &SyntaxError{At: at, Text: fmt.Sprintf(format, args...)}
}

func isKeyword(upper string) bool {
	switch upper {
	case "AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE":
		return true
	}
	return false
}

// lexer cuts a selection string into tokens.
type lexer struct {
	text string
	at   int
}

func (l *lexer) next() (token, error) {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n\f", l.text[l.at]) >= 0 {
		l.at++
	}
	if l.at == len(l.text) {
		return token{at: l.at}, nil
	}
	switch c := l.text[l.at]; {
	case c == '\'':
		return l.quoted()
	case c == '"':
		return l.bytes()
	case isDigit(c), c == '.' && l.at+1 < len(l.text) && isDigit(l.text[l.at+1]):
		return l.number()
	case isNameStart(c):
		return l.name(), nil
	}
	return l.symbol()
}

func (l *lexer) symbol() (token, error) {
	t := token{kind: tokSymbol, at: l.at}
	rest := l.text[l.at:]
	for _, s := range [...]string{"<>", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "(", ")", ","} {
		if strings.HasPrefix(rest, s) {
			t.text = s
			l.at += len(s)
			return t, nil
		}
	}
	return t, wrong(l.at, "character %q has no meaning here", []rune(rest)[0])
}

// quoted reads a string; a quote in it is doubled.
func (l *lexer) quoted() (token, error) {
	t := token{kind: tokLiteral, at: l.at}
	var b strings.Builder
	for i := l.at + 1; i < len(l.text); i++ {
		if l.text[i] != '\'' {
			b.WriteByte(l.text[i])
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		l.at = i + 1
		t.value = Value{Kind: String, Str: b.String()}
		return t, nil
	}
	return t, wrong(l.at, "a string without its closing quote")
}

// bytes reads a byte string: "0x" and hexadecimal digits in double quotes.
func (l *lexer) bytes() (token, error) {
	t := token{kind: tokLiteral, at: l.at}
	inside, _, ok := strings.Cut(l.text[l.at+1:], `"`)
	if !ok {
		return t, wrong(l.at, "a byte string without its closing quote")
	}
	digits, ok := strings.CutPrefix(strings.ToLower(inside), "0x")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return t, wrong(l.at, `a byte string is "0x" with pairs of hexadecimal digits; strings take single quotes`)
	}
	l.at += len(inside) + 2
	t.value = Value{Kind: Bytes, Str: string(raw)}
	return t, nil
}

func (l *lexer) number() (token, error) {
	start := l.at
	if rest := l.text[start:]; len(rest) > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X') {
		l.at += 2
		l.skip(func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' })
		return l.whole(start, l.text[start+2:l.at], 16)
	}
	l.skip(isDigit)
	exact := true
	if l.peek() == '.' {
		exact = false
		l.at++
		l.skip(isDigit)
	}
	if c := l.peek(); c == 'e' || c == 'E' {
		exact = false
		l.at++
		if c := l.peek(); c == '+' || c == '-' {
			l.at++
		}
		l.skip(isDigit)
	}
	if exact {
		if c := l.peek(); c == 'l' || c == 'L' {
			t, err := l.whole(start, l.text[start:l.at], 10)
			l.at++
			return t, err
		}
		return l.whole(start, l.text[start:l.at], 10)
	}
	text := l.text[start:l.at]
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || isNameStart(l.peek()) {
		return token{}, wrong(start, "%s is not a number", text)
	}
	return token{kind: tokLiteral, at: start, value: Value{Kind: Float, Float: f}}, nil
}

func (l *lexer) whole(start int, digits string, base int) (token, error) {
	n, err := strconv.ParseInt(digits, base, 64)
	if c := l.peek(); err != nil || isNameStart(c) && c != 'l' && c != 'L' {
		return token{}, wrong(start, "%s is not a whole number of 64 bits", l.text[start:l.at])
	}
	return token{kind: tokLiteral, at: start, value: Value{Kind: Int, Int: n}}, nil
}

func (l *lexer) name() token {
	start := l.at
	l.skip(func(c byte) bool { return isNameStart(c) || isDigit(c) || c == '.' })
	t := token{kind: tokName, text: l.text[start:l.at], at: start}
	if upper := strings.ToUpper(t.text); isKeyword(upper) {
		t.kind, t.text = tokKeyword, upper
	}
	return t
}

func (l *lexer) skip(ok func(byte) bool) {
	for l.at < len(l.text) && ok(l.text[l.at]) {
		l.at++
	}
}

// peek is the next byte; 0 at the end.
func (l *lexer) peek() byte {
	if l.at < len(l.text) {
		return l.text[l.at]
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNameStart: letters, also of other alphabets, underscore and dollar.
func isNameStart(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}
