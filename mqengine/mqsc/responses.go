package mqsc

import (
	"regexp"
	"strings"
)

var (
	recordLine  = regexp.MustCompile(`^(AMQ\d{4}[A-Z]?): ?(.*)$`)
	echoLine    = regexp.MustCompile(`^(?: {0,5}\d+ : | {7}:)`)
	summaryLine = regexp.MustCompile(`^(?:No|One|\d+) (?:MQSC commands?|commands?|valid MQSC commands?) |^All valid MQSC commands `)
)

// ParseResponses reads a report of runmqsc back: every AMQ record with its
// fields, in one or two columns. Banner, echo, summary and everything it does
// not know are skipped; no input makes it fail.
//
// Brackets are matched, so a value may hold balanced ones. For one that does
// not (a free text), the last closing bracket before two blanks, the second
// column or the end of the line ends the value.
func ParseResponses(text string) []Response {
	var out []Response
	var body []string // lines of the last record
	flush := func() {
		if len(out) > 0 && len(body) > 0 {
			out[len(out)-1].Fields = parseFields(body)
		}
		body = nil
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
			out[len(out)-1].Text += "\n" + line
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
			out = append(out, makeField(key, s.value()))
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

// value reads up to the matching bracket; a list goes on in lines that begin with a comma.
func (s *fieldScanner) value() string {
	var b strings.Builder
	for {
		line := s.lines[s.row]
		rest := line[s.col:]
		if end := matching(rest); end >= 0 {
			b.WriteString(rest[:end])
			s.col += end + 1
			return b.String()
		}
		if s.row+1 < len(s.lines) && strings.HasPrefix(strings.TrimLeft(s.lines[s.row+1], " "), ",") {
			b.WriteString(strings.TrimRight(rest, " ") + "\n")
			s.row++
			next := s.lines[s.row]
			s.col = len(next) - len(strings.TrimLeft(next, " ")) + 1
			continue
		}
		end := s.lastBracket(rest)
		b.WriteString(rest[:end])
		s.col = min(s.col+end+1, len(line))
		return b.String()
	}
}

// matching finds the bracket that closes the one before s; -1 if there is none.
func matching(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
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

// lastBracket ends a value whose brackets do not match: at the last ) before
// two blanks or the end of the line.
func (s *fieldScanner) lastBracket(rest string) int {
	stop := len(rest)
	if i := strings.Index(rest, ")  "); i >= 0 {
		stop = i + 1
	}
	if i := strings.LastIndexByte(rest[:stop], ')'); i >= 0 {
		return i
	}
	return len(strings.TrimRight(rest, " "))
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
