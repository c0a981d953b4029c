package situations

import (
	"strings"
	"unicode"
)

// tokenKind classes the pieces of a formula's text.
type tokenKind uint8

const (
	tokenSpace tokenKind = iota // also comments
	tokenWord
	tokenNumber // with whatever letters stick to it
	tokenString
	tokenOperator
)

type token struct {
	kind tokenKind
	text string
	from int // in characters
	to   int
}

// scanFormula cuts a formula into pieces that together are the whole text. It
// accepts anything: the parser under it says what is wrong with the rest, but it
// stops at the first error and does not know what people mean by = and AND.
func scanFormula(src string) []token {
	var out []token
	rs := []rune(src)
	for i := 0; i < len(rs); {
		kind, end := tokenOperator, 0
		switch r := rs[i]; {
		case unicode.IsSpace(r):
			kind, end = tokenSpace, runWhile(rs, i, unicode.IsSpace)
		case r == '/' && i+1 < len(rs) && (rs[i+1] == '/' || rs[i+1] == '*'):
			kind, end = tokenSpace, commentEnd(rs, i)
		case r == '"' || r == '\'' || r == '`':
			kind, end = tokenString, stringEnd(rs, i)
		case (r == '$' || r == '&') && i+1 < len(rs) && rs[i+1] == '{':
			end = i + 2
		case unicode.IsDigit(r):
			kind, end = tokenNumber, runWhile(rs, i, inNumber)
		case inWord(r):
			kind, end = tokenWord, runWhile(rs, i, inWord)
		default:
			end = operatorEnd(rs, i)
		}
		out = append(out, token{kind, string(rs[i:end]), i, end})
		i = end
	}
	return out
}

func inWord(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// inNumber: a range such as 1..5 is not one number, but nobody may write it anyway.
func inNumber(r rune) bool { return r == '.' || inWord(r) }

func runWhile(rs []rune, i int, ok func(rune) bool) int {
	for i < len(rs) && ok(rs[i]) {
		i++
	}
	return i
}

func commentEnd(rs []rune, i int) int {
	if rs[i+1] == '/' {
		return runWhile(rs, i, func(r rune) bool { return r != '\n' })
	}
	if n := strings.Index(string(rs[i+2:]), "*/"); n >= 0 {
		return i + 2 + len([]rune(string(rs[i+2:])[:n])) + 2
	}
	return len(rs)
}

func stringEnd(rs []rune, i int) int {
	quote := rs[i]
	for j := i + 1; j < len(rs); j++ {
		if rs[j] == '\\' && quote != '`' {
			j++
		} else if rs[j] == quote {
			return j + 1
		}
	}
	return len(rs)
}

func operatorEnd(rs []rune, i int) int {
	if i+1 < len(rs) {
		switch string(rs[i : i+2]) {
		case "==", "!=", "<=", ">=", "=<", "=>", "<>", "&&", "||", "**", "..", "?.", "??":
			return i + 2
		}
	}
	return i + 1
}
