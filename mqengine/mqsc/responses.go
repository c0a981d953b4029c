package mqsc

import (
	"regexp"
	"strings"
)

var (
	recordLine  = regexp.MustCompile(`^(AMQ\d{4}[A-Z]?): ?(.*)$`)
	echoLine    = regexp.MustCompile(`^(?: {0,5}\d+ : | {7}:)`)
	nextCell    = regexp.MustCompile(`^[A-Z][A-Z0-9]*(?:\(| *$)`)
	summaryLine = regexp.MustCompile(`^(?:No|One|\d+) (?:MQSC commands?|commands?|valid MQSC commands?) |^All valid MQSC commands `)
)

// ParseResponses reads a report of runmqsc back: every AMQ record with its
// fields, in one or two columns. Banner, echo, summary and everything it does
// not know are skipped; no input makes it fail.
//
// Brackets are matched, so a value may hold balanced ones. Where that ends in
// the middle of a text (DESCR(smile :) and more)), the columns of the layout
// decide; a text that holds both is read as far as can be told.
func ParseResponses(text string) []Response {
	var out []Response
	var body, more []string // lines of the last record: fields, and more of its text
	flush := func() {
		if len(out) > 0 && len(body) > 0 {
			out[len(out)-1].Fields = parseFields(body)
		}
		if len(out) > 0 && len(more) > 0 {
			out[len(out)-1].Text += "\n" + strings.Join(more, "\n")
		}
		body, more = nil, nil
	}
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		m := recordLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			flush()
			out = append(out, Response{ID: m[1], Text: m[2]})
			open = true
		case echoLine.MatchString(line) || summaryLine.MatchString(line):
			flush()
			open = false
		case open && strings.HasPrefix(line, indent):
			body = append(body, line)
		case open && len(body) == 0 && textGoesOn(out[len(out)-1].ID):
			more = append(more, line)
		case strings.TrimSpace(line) != "":
			flush()
			open = false
		}
	}
	flush()
	return out
}

// textGoesOn: these messages repeat the command or list words in the lines behind them.
func textGoesOn(id string) bool {
	return strings.HasPrefix(id, "AMQ8405") || strings.HasPrefix(id, "AMQ8426") || strings.HasPrefix(id, "AMQ8427")
}

// fieldScanner reads cells off the lines of one record.
type fieldScanner struct {
	lines []string
	row   int
	col   int
}

func parseFields(lines []string) []Field {
	s := &fieldScanner{lines: lines}
	var out []Field
	for s.row < len(s.lines) {
		key := s.key()
		switch {
		case key == "":
			s.skip()
		case s.peek() == '(':
			s.col++
			out = append(out, makeField(key, s.value(key)))
		default:
			out = append(out, Field{Key: key, Bare: true})
		}
	}
	return out
}

func (s *fieldScanner) peek() byte {
	if s.row < len(s.lines) && s.col < len(s.lines[s.row]) {
		return s.lines[s.row][s.col]
	}
	return 0
}

// skip passes a character that begins no key, or the end of a line.
func (s *fieldScanner) skip() {
	if s.col < len(s.lines[s.row]) {
		s.col++
		return
	}
	s.row, s.col = s.row+1, 0
}

func (s *fieldScanner) key() string {
	line := s.lines[s.row]
	start := s.col
	for s.col < len(line) && isKeyByte(line[s.col], s.col > start) {
		s.col++
	}
	return line[start:s.col]
}

func isKeyByte(c byte, inside bool) bool {
	return c >= 'A' && c <= 'Z' || inside && c >= '0' && c <= '9'
}

// value reads what stands in the brackets behind the key; a list goes on in
// lines that begin with a comma.
func (s *fieldScanner) value(key string) string {
	var b strings.Builder
	start := s.col - len(key) - 1
	for {
		line := s.lines[s.row]
		end := matching(line, s.col)
		if end < 0 || !cellEnds(line, end+1) {
			// A free text may hold brackets of its own: trust the columns.
			if byColumn := cellEnd(line, start) - 1; byColumn >= s.col && line[byColumn] == ')' {
				end = byColumn
			}
		}
		if end >= 0 {
			b.WriteString(line[s.col:end])
			s.col = end + 1
			return b.String()
		}
		if s.row+1 == len(s.lines) || !strings.HasPrefix(strings.TrimLeft(s.lines[s.row+1], " "), ",") {
			b.WriteString(strings.TrimRight(line[s.col:], " "))
			s.col = len(line)
			return b.String()
		}
		b.WriteString(strings.TrimRight(line[s.col:], " ") + "\n")
		s.row++
		next := s.lines[s.row]
		s.col = len(next) - len(strings.TrimLeft(next, " ")) + 1
		start = s.col
	}
}

// cellEnds reports whether a cell may end before column at: nothing, two blanks or another cell follows.
func cellEnds(line string, at int) bool {
	rest := line[at:]
	return strings.TrimSpace(rest) == "" || strings.HasPrefix(rest, "  ") ||
		strings.HasPrefix(rest, " ") && nextCell.MatchString(rest[1:])
}

// cellEnd is where the cell that begins at start ends by the layout.
func cellEnd(line string, start int) int {
	second := secondColumn(line)
	if start < second && line[second-1] == ' ' && nextCell.MatchString(line[second:]) {
		line = line[:second]
	}
	return len(strings.TrimRight(line, " "))
}

// secondColumn is where the right cell of a line begins: columns are
// characters, not bytes.
func secondColumn(line string) int {
	column := 0
	for i := range line {
		if column == len(indent)+cellWidth {
			return i
		}
		column++
	}
	return len(line)
}

// matching finds the bracket that closes the one before column from; -1 if there is none.
func matching(line string, from int) int {
	depth := 0
	for i := from; i < len(line); i++ {
		switch line[i] {
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// makeField splits what stood in the brackets.
func makeField(key, inside string) Field {
	switch {
	case strings.Contains(inside, "\n"):
		return Field{Key: key, Values: trimAll(strings.Split(inside, "\n"))}
	case isPair(key) && strings.Contains(inside, ","):
		return Field{Key: key, Values: trimAll(strings.SplitN(inside, ",", 2))}
	case isList(key) && strings.Contains(inside, ","):
		return Field{Key: key, Values: trimAll(strings.Split(inside, ","))}
	case strings.TrimSpace(inside) == "":
		return Field{Key: key, Values: []string{""}}
	}
	return Field{Key: key, Values: []string{strings.TrimRight(inside, " ")}}
}

func trimAll(list []string) []string {
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}
