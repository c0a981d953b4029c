package selector

import "unicode/utf8"

// maxLike is the longest string that LIKE looks at: longer ones are unknown, so
// that one message cannot hold up a queue manager.
const maxLike = 64 << 10

// pattern is a LIKE pattern: literal characters and wildcards.
type pattern []rune

// Wildcards in a pattern; no character has these values.
const (
	anyRun rune = -1 // %
	anyOne rune = -2 // _
)

// newPattern reads a pattern; escape is blank or one character. False: an escape
// character before something that needs none.
func newPattern(text, escape string) (pattern, bool) {
	esc := utf8.RuneError
	if escape != "" {
		esc, _ = utf8.DecodeRuneInString(escape)
	}
	var p pattern
	escaped := false
	for _, c := range text {
		switch {
		case escaped:
			if c != '%' && c != '_' && c != esc {
				return nil, false
			}
			p, escaped = append(p, c), false
		case escape != "" && c == esc:
			escaped = true
		case c == '%':
			if len(p) == 0 || p[len(p)-1] != anyRun {
				p = append(p, anyRun)
			}
		case c == '_':
			p = append(p, anyOne)
		default:
			p = append(p, c)
		}
	}
	return p, !escaped
}

// matches goes through s once; at a mismatch it goes back to the last % only,
// which is enough, since an earlier one could not do better.
func (p pattern) matches(s string) bool {
	at, star, again := 0, -1, 0
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case at < len(p) && p[at] == anyRun:
			star, again = at, i
			at++
		case at < len(p) && (p[at] == anyOne || p[at] == c):
			at++
			i += size
		case star >= 0:
			_, size = utf8.DecodeRuneInString(s[again:])
			again += size
			at, i = star+1, again
		default:
			return false
		}
	}
	for at < len(p) && p[at] == anyRun {
		at++
	}
	return at == len(p)
}
