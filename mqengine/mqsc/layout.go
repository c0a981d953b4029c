package mqsc

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/situationd/situationd/mqengine/object"
)

// The layout of runmqsc: cells begin in columns 4 and 44; a line that holds one
// short cell is padded to 40 columns.
const (
	indent    = "   "
	cellWidth = 40
)

// AppendText appends the response as runmqsc prints it: the message, then the
// fields in two columns. A cell of 40 characters or more has a line for itself.
func (r Response) AppendText(b []byte) []byte {
	b = append(b, r.ID...)
	b = append(b, ": "...)
	b = append(b, printable(r.Text, '\n')...)
	b = append(b, '\n')
	left := "" // a cell that waits for its neighbour
	alone := func(cell string) {
		b = append(b, pad(indent+cell, cellWidth)...)
		b = append(b, '\n')
	}
	flush := func() {
		if left != "" {
			alone(left)
			left = ""
		}
	}
	for _, f := range r.Fields {
		lines := f.cells()
		switch {
		case len(lines) > 1 || len([]rune(lines[0])) >= cellWidth || standsAlone(r.ID, f.Key):
			flush()
			for _, cell := range lines {
				alone(cell)
			}
		case left == "":
			left = lines[0]
		default:
			b = append(b, indent...)
			b = append(b, pad(left, cellWidth)...)
			b = append(b, lines[0]...)
			b = append(b, '\n')
			left = ""
		}
	}
	flush()
	return b
}

// standsAlone: MQ gives these a line each, though they are short.
func standsAlone(id, key string) bool {
	switch id {
	case "AMQ8276I":
		return key == "TYPE"
	case "AMQ8550I":
		return key == "NAMELIST" || key == "NAMCOUNT"
	}
	return false
}

// String is AppendText as a string.
func (r Response) String() string { return string(r.AppendText(nil)) }

func pad(s string, width int) string {
	if n := width - len([]rune(s)); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// cells is a field as text: one cell, or one per name of a list.
func (f Field) cells() []string {
	if f.Bare {
		return []string{f.Key}
	}
	f.Values = printables(f.Values)
	if len(f.Values) > 1 && isList(f.Key) {
		out := []string{f.Key + "(" + f.Values[0]}
		for _, v := range f.Values[1:] {
			out = append(out, strings.Repeat(" ", len(f.Key))+","+v)
		}
		out[len(out)-1] += ")"
		return out
	}
	return []string{f.Key + "(" + f.joined() + ")"}
}

// printable puts a full stop, as MQ does, in the place of what cannot be shown:
// an application says what it is called, and a terminal would obey it.
// The text of a reply has lines of its own.
func printable(text string, keep rune) string {
	return strings.Map(func(r rune) rune {
		if r == keep {
			return r
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return '.'
		}
		return r
	}, text)
}

// printables is printable for a list, which it leaves as it is if it can.
func printables(list []string) []string {
	for i, s := range list {
		if p := printable(s, ' '); p != s {
			list = slices.Clone(list)
			list[i] = p
		}
	}
	return list
}

// joined is what stands in the brackets: a blank for nothing, both halves of a pair.
func (f Field) joined() string {
	blank := !slices.ContainsFunc(f.Values, func(v string) bool { return v != "" })
	switch {
	case blank && len(f.Values) == 2:
		return " , "
	case blank:
		return " "
	case f.Key == "COMPHDR" || f.Key == "COMPMSG":
		return strings.Join(f.Values, ",") // the one pair that MQ prints without a blank
	}
	return strings.Join(f.Values, ", ")
}

// String is the field in one line: KEY(VALUE), or the bare word.
func (f Field) String() string {
	if f.Bare {
		return f.Key
	}
	return f.Key + "(" + f.joined() + ")"
}

func isList(key string) bool {
	a := object.Lookup(key)
	return a != nil && a.Type == object.List
}

// isPair reports whether some status display shows two values under the key.
func isPair(key string) bool {
	switch key {
	case "COMPHDR", "COMPMSG":
		return true
	}
	a := object.Lookup(key)
	return a != nil && a.Type == object.Pair
}
