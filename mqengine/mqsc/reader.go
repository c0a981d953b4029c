package mqsc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Line is one raw line and how to echo it: with the command's number, or 0 for
// a continuation, comment or blank line.
type Line struct {
	Number int
	Text   string
}

// Item is a command of an input, or one comment or blank line between commands.
type Item struct {
	Lines  []Line
	Text   string // the logical command; blank if there is none
	Number int    // the command's number; 0 if there is none
	Line   int    // line in the input where the item begins, from 1
	End    bool   // END, EXIT or QUIT: nothing behind it is to be run
	Err    *Error // the command is too long to read
}

// Reader splits an input into commands by the rules of runmqsc: * in the first
// column is a comment, a last + continues at the first non-blank of the next
// line, a last - at its first column, a semicolon ends a command. What stands
// behind a semicolon on the same line is the next command.
type Reader struct {
	in     *bufio.Reader
	line   int    // lines read so far
	number int    // commands so far
	rest   string // what stands behind a semicolon
	restAt int    // its line
	max    int
}

// NewReader reads from r. It reads no further than the end of the line that
// ends a command, so it can serve a person at a terminal.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReader(r), max: MaxCommand}
}

// Next gives the next item; io.EOF at the end. Another error is that of the input.
func (r *Reader) Next() (Item, error) {
	g := gathering{max: r.max}
	if rest := strings.TrimLeft(r.rest, "; \t"); rest != "" {
		r.rest = ""
		r.begin(&g, r.restAt)
		if r.take(&g, rest) {
			return g.finish(), nil
		}
	}
	r.rest = ""
	for {
		raw, long, err := r.readLine()
		if err != nil {
			if errors.Is(err, io.EOF) && g.started {
				return g.finish(), nil // the input ended inside a continued command
			}
			return Item{}, err
		}
		silent := strings.HasPrefix(raw, "*") || strings.TrimSpace(raw) == ""
		switch {
		case !g.started && silent:
			return Item{Lines: []Line{{Text: raw}}, Line: r.line}, nil
		case !g.started:
			r.begin(&g, r.line)
			g.echo(r.number, raw)
		default:
			g.echo(0, raw)
		}
		if silent {
			continue
		}
		if long {
			g.tooLong()
			return g.finish(), nil
		}
		if r.take(&g, raw) {
			return g.finish(), nil
		}
	}
}

func (r *Reader) begin(g *gathering, line int) {
	r.number++
	g.started = true
	g.item.Number, g.item.Line = r.number, line
}

// take adds a line to the command and reports whether the command is complete.
func (r *Reader) take(g *gathering, line string) bool {
	if g.join == '+' {
		line = strings.TrimLeft(line, " \t")
	}
	if end := g.terminator(line); end >= 0 {
		r.rest, r.restAt = line[end+1:], r.line
		g.add(line[:end])
		return true
	}
	trimmed := strings.TrimRight(line, " \t")
	if n := len(trimmed); n > 0 && (trimmed[n-1] == '+' || trimmed[n-1] == '-') {
		g.join = trimmed[n-1]
		g.add(trimmed[:n-1])
		return false
	}
	g.add(line)
	return true
}

// readLine gives a line without its end. Of a line longer than a command may
// be, the rest is skipped, so memory stays bounded.
func (r *Reader) readLine() (line string, long bool, err error) {
	var buf []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if room := r.max + 2 - len(buf); len(part) > room {
			part, long = part[:max(room, 0)], true
		}
		buf = append(buf, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(buf) == 0) {
			return "", false, err
		}
		break
	}
	r.line++
	if r.line == 1 {
		buf = bytes.TrimPrefix(buf, []byte("\ufeff")) // a byte order mark of a Windows editor
	}
	buf = bytes.TrimSuffix(bytes.TrimSuffix(buf, []byte("\n")), []byte("\r"))
	return string(buf), long, nil
}

// gathering is a command whose lines are still coming.
type gathering struct {
	item    Item
	text    strings.Builder
	started bool
	inQuote bool
	join    byte // + or -: how the last line is continued
	size    int  // bytes of all lines, dropped ones too
	max     int
	over    bool
}

func (g *gathering) echo(number int, raw string) {
	g.size += len(raw) + 1
	if g.size > g.max {
		g.tooLong()
		return
	}
	g.item.Lines = append(g.item.Lines, Line{Number: number, Text: raw})
}

func (g *gathering) add(s string) {
	if g.over || g.text.Len()+len(s) > g.max {
		g.tooLong()
		return
	}
	for i := range len(s) {
		if s[i] == '\'' {
			g.inQuote = !g.inQuote
		}
	}
	g.text.WriteString(s)
}

func (g *gathering) tooLong() {
	g.over = true
	g.text.Reset()
}

// terminator finds the first semicolon outside apostrophes. A doubled
// apostrophe closes and opens again, which comes to the same.
func (g *gathering) terminator(line string) int {
	in := g.inQuote
	for i := range len(line) {
		switch line[i] {
		case '\'':
			in = !in
		case ';':
			if !in {
				return i
			}
		}
	}
	return -1
}

func (g *gathering) finish() Item {
	it := g.item
	if g.over {
		first := ""
		if len(it.Lines) > 0 {
			first = clip(it.Lines[0].Text)
		}
		it.Err = &Error{ID: idLength, Text: fmt.Sprintf("The command that begins in line %d is longer than %d bytes.", it.Line, g.max), Segment: first}
		return it
	}
	it.Text = g.text.String()
	switch strings.ToUpper(strings.Trim(it.Text, " \t")) {
	case "END", "EXIT", "QUIT":
		it.End = true
	}
	return it
}
