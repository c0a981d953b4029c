package situations

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Severity of a Problem.
type Severity string

// An error keeps a rule file from being loaded, a warning does not.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is one finding of check, with the place where a person can mend it.
// Lines and columns count from 1, columns and length in characters.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Length   int      `json:"length"`
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Help     []string `json:"help"`
	// Source is the line the problem is on, for the text form.
	Source string `json:"-"`
}

// String gives the first line of the text form, which greps and which editors open.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", p.File, p.Line, p.Column, p.Severity, shortened(p.Message), p.Code)
}

// maxShown is how many characters of a message or of a line are shown.
const maxShown = 400

// shortened leaves out the middle of what is too long to be read: a message
// repeats what it found.
func shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	runes := []rune(text)
	if len(runes) <= maxShown {
		return text
	}
	return string(runes[:maxShown*3/4]) + " ... " + string(runes[len(runes)-maxShown/4:])
}

// HasErrors reports whether any of the problems keeps the files from being used.
func HasErrors(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == SeverityError })
}

// FormatText gives problems as a person reads them: sentence, line, carets, fix.
func FormatText(ps []Problem) []byte {
	var b strings.Builder
	for i := range ps {
		ps[i].text(&b)
	}
	return []byte(b.String())
}

func (p *Problem) text(b *strings.Builder) {
	b.WriteString(p.String())
	b.WriteByte('\n')
	if p.Source != "" {
		line, column := excerpt([]rune(strings.TrimRight(p.Source, "\r\n")), p.Column)
		fmt.Fprintf(b, "%5d | %s\n", p.Line, printable(line))
		fmt.Fprintf(b, "      | %s%s\n", indentLike(line, column-1), strings.Repeat("^", caretCells(line, column, p.Length)))
	}
	for _, h := range p.Help {
		fmt.Fprintf(b, "      = %s\n", h)
	}
}

// excerpt is what is shown of a line, and where the column is in it.
func excerpt(line []rune, column int) ([]rune, int) {
	if len(line) <= maxShown {
		return line, column
	}
	const mark = "..."
	from := max(0, min(column-1-maxShown/4, len(line)-maxShown))
	to := min(from+maxShown, len(line))
	out := []rune{}
	if from > 0 {
		out = append(out, []rune(mark)...)
	}
	column += len(out) - from
	if out = append(out, line[from:to]...); to < len(line) {
		out = append(out, []rune(mark)...)
	}
	return out, column
}

// caretCells is how many carets to draw: one per terminal cell, at least one,
// none past the end of the line.
func caretCells(line []rune, column, length int) int {
	from, to := min(max(column-1, 0), len(line)), min(max(column-1, 0)+length, len(line))
	n := 0
	for _, r := range line[from:max(from, to)] {
		n += cells(r)
	}
	return max(n, 1)
}

// indentLike gives white space as wide as the first n characters of line: tabs
// stay tabs, so that the carets stand right whatever a terminal makes of a tab.
func indentLike(line []rune, n int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i < len(line) && line[i] == '\t':
			b.WriteByte('\t')
		case i < len(line):
			b.WriteString(strings.Repeat(" ", cells(line[i])))
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// printable replaces what a terminal would obey rather than show, and keeps one
// character for one, so that columns stay true.
func printable(line []rune) string {
	out := slices.Clone(line)
	for i, r := range out {
		if r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfeff) {
			out[i] = '?'
		}
	}
	return string(out)
}

// cells is the width of a character on a terminal: combining marks none, East
// Asian wide characters and pictographs two.
func cells(r rune) int {
	switch {
	case r >= 0x300 && r <= 0x36f, r == 0x200d, r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// FormatJSON gives problems as one JSON array.
func FormatJSON(ps []Problem) []byte {
	out := make([]Problem, len(ps))
	for i, p := range ps {
		out[i] = p.withHelp()
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil { // strings and integers only: cannot fail
		return []byte("[]\n")
	}
	return append(b, '\n')
}

// FormatJSONLines gives problems as one JSON object a line.
func FormatJSONLines(ps []Problem) []byte {
	var out []byte
	for _, p := range ps {
		b, err := json.Marshal(p.withHelp())
		if err != nil {
			continue
		}
		out = append(append(out, b...), '\n')
	}
	return out
}

// withHelp makes an absent help list an empty one: a list is never null to readers.
func (p Problem) withHelp() Problem {
	if p.Help == nil {
		p.Help = []string{}
	}
	return p
}

// FormatGitHub gives problems as workflow commands, which GitHub shows beside the line.
func FormatGitHub(ps []Problem) []byte {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	prop := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for _, p := range ps {
		text := p.Message
		for _, h := range p.Help {
			text += "\n" + h
		}
		fmt.Fprintf(&b, "::%s file=%s,line=%d,col=%d,endColumn=%d,title=%s::%s\n", p.Severity,
			prop.Replace(p.File), p.Line, p.Column, p.Column+max(p.Length, 1), prop.Replace(p.Code), data.Replace(text))
	}
	return []byte(b.String())
}
