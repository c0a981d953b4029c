package situations

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxProblems is how many findings of one file are told; more help nobody.
const maxProblems = 20

// place is a stretch of a line, from 1, in characters.
type place struct {
	line, col, length int
}

// document is one YAML file with its lines, so that whatever is found in it can
// be shown where it stands.
type document struct {
	name     string
	dir      string // that programs are named from
	lines    []string
	root     *yaml.Node
	problems []Problem
}

// newDocument splits the text as editors do: at LF, CRLF and lone CR.
func newDocument(f File) *document {
	text := strings.TrimPrefix(string(f.Data), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	return &document{name: f.Name, dir: f.Dir, lines: strings.Split(text, "\n")}
}

func (d *document) text() string { return strings.Join(d.lines, "\n") }

func (d *document) line(n int) string {
	if n < 1 || n > len(d.lines) {
		return ""
	}
	return d.lines[n-1]
}

func (d *document) report(sev Severity, at place, code, message string, help ...string) {
	if at.line < 1 {
		at.line = 1
	}
	if at.line > len(d.lines) {
		at = place{line: len(d.lines), col: 1}
	}
	d.problems = append(d.problems, Problem{
		File: d.name, Line: at.line, Column: max(at.col, 1), Length: max(at.length, 1),
		Code: code, Severity: sev, Message: message, Help: help, Source: d.line(at.line),
	})
}

func (d *document) fail(at place, code, help, format string, args ...any) {
	d.report(SeverityError, at, code, fmt.Sprintf(format, args...), helps(help)...)
}

func (d *document) warn(at place, code, help, format string, args ...any) {
	d.report(SeverityWarning, at, code, fmt.Sprintf(format, args...), helps(help)...)
}

func helps(help string) []string {
	if help == "" {
		return nil
	}
	return strings.Split(help, "\n")
}

// done sorts the findings as the file reads and keeps the first of them.
func (d *document) done() []Problem {
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		switch {
		case a.Line != b.Line:
			return a.Line - b.Line
		case a.Column != b.Column:
			return a.Column - b.Column
		}
		return rankOf(a.Severity) - rankOf(b.Severity)
	})
	d.problems = mutedWarnings(d.problems)
	d.problems = slices.CompactFunc(d.problems, func(a, b Problem) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Code == b.Code && a.Message == b.Message
	})
	if more := len(d.problems) - maxProblems; more > 0 {
		// A warning must not push an error out: the file would look usable.
		slices.SortStableFunc(d.problems, func(a, b Problem) int {
			return rankOf(a.Severity) - rankOf(b.Severity)
		})
		last := d.problems[maxProblems]
		last.Code, last.Message, last.Help = "too-many", fmt.Sprintf("%d more like these are not shown", more), nil
		d.problems = append(d.problems[:maxProblems:maxProblems], last)
	}
	return d.problems
}

// mutedWarnings leaves warnings out where an error stands: mending that comes first.
func mutedWarnings(sorted []Problem) []Problem {
	out := sorted[:0]
	for i, p := range sorted {
		if p.Severity == SeverityWarning && i > 0 && len(out) > 0 {
			if e := out[len(out)-1]; e.Severity == SeverityError && e.Line == p.Line && e.Column == p.Column {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

func rankOf(s Severity) int {
	if s == SeverityError {
		return 0
	}
	return 1
}

// at is where a node stands, as long as its text on that line.
func (d *document) at(n *yaml.Node) place {
	if n == nil {
		return place{line: 1, col: 1, length: 1}
	}
	p := place{line: n.Line, col: n.Column, length: 1}
	if n.Kind == yaml.ScalarNode {
		p.length = d.scalarLength(n)
	}
	return p
}

// scalarLength counts quotes in, and only what stands on the first line.
func (d *document) scalarLength(n *yaml.Node) int {
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		return 1
	}
	spots := d.spots(n)
	length := utf8.RuneCountInString(n.Value)
	if len(spots) > 0 && spots[len(spots)-1].line == n.Line {
		length = spots[len(spots)-1].col + 1 - n.Column
	} else if len(spots) > 0 {
		length = utf8.RuneCountInString(strings.TrimRight(d.line(n.Line), " ")) + 1 - n.Column
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && len(spots) > 0 && spots[len(spots)-1].line == n.Line {
		length++
	}
	return max(length, 1)
}

// stretch is the place of the characters from to to of a scalar's value.
func (d *document) stretch(n *yaml.Node, from, to int) place {
	spots := d.spots(n)
	if from < 0 || from >= len(spots) {
		if len(spots) > 0 && from == len(spots) { // just after the end
			last := spots[len(spots)-1]
			return place{line: last.line, col: last.col, length: 1}
		}
		return d.at(n)
	}
	p := place{line: spots[from].line, col: spots[from].col, length: 1}
	for i := from; i < to && i < len(spots) && spots[i].line == p.line; i++ {
		p.length = spots[i].col + 1 - p.col
	}
	return p
}

type spot struct{ line, col int }

// spots finds for every character of a scalar's value where it stands in the
// file. It walks the text and the value side by side: white space that folding
// changed is skipped, escapes are read, so it holds for every style of scalar.
// It gives nothing when the two cannot be brought together.
func (d *document) spots(n *yaml.Node) []spot {
	w := walker{d: d, line: n.Line, rest: []rune(d.line(n.Line)), col: n.Column}
	style := n.Style &^ yaml.TaggedStyle
	switch style {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		w.nextLine()
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		w.col++
	}
	out := make([]spot, 0, len(n.Value))
	for _, want := range n.Value {
		s, ok := w.find(want, style)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// walker reads a scalar's characters from the file. col is of the next one.
type walker struct {
	d    *document
	line int
	col  int
	rest []rune // the whole line
}

func (w *walker) nextLine() {
	w.line++
	w.rest, w.col = []rune(w.d.line(w.line)), 1
}

// peek gives the next character, a newline at the end of a line.
func (w *walker) peek() rune {
	if w.col-1 < len(w.rest) {
		return w.rest[w.col-1]
	}
	return '\n'
}

func (w *walker) advance() {
	if w.peek() == '\n' {
		w.nextLine()
		return
	}
	w.col++
}

// find steps to the next character of the value and past it.
func (w *walker) find(want rune, style yaml.Style) (spot, bool) {
	if want == ' ' || want == '\n' || want == '\t' {
		s := spot{w.line, w.col}
		if got := w.peek(); isBlank(got) && style != yaml.DoubleQuotedStyle || got == want {
			w.advance()
			return s, true
		} else if isBlank(got) {
			w.advance()
			return s, true
		}
		if style == yaml.DoubleQuotedStyle && w.peek() == '\\' {
			return s, w.escape(want)
		}
		return s, true // a blank that folding put where several line ends stood
	}
	for isBlank(w.peek()) {
		if w.line > len(w.d.lines) {
			return spot{}, false
		}
		w.advance()
	}
	s := spot{w.line, w.col}
	switch got := w.peek(); {
	case style == yaml.DoubleQuotedStyle && got == '\\':
		if w.col < len(w.rest) && w.rest[w.col] == '\n' || w.col >= len(w.rest) { // a continued line
			w.nextLine()
			return w.find(want, style)
		}
		return s, w.escape(want)
	case got != want:
		return spot{}, false
	case style == yaml.SingleQuotedStyle && got == '\'':
		w.col += 2
	default:
		w.col++
	}
	return s, true
}

func isBlank(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }

// escape steps over one escape of a double-quoted scalar that stands for want.
func (w *walker) escape(want rune) bool {
	if w.col >= len(w.rest) {
		return false
	}
	switch w.rest[w.col] {
	case 'x':
		w.col += 4
	case 'u':
		w.col += 6
	case 'U':
		w.col += 10
	case '"', '\\', '/':
		if w.rest[w.col] != want {
			return false
		}
		w.col += 2
	default:
		w.col += 2
	}
	return true
}
