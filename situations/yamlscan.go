package situations

import (
	"strings"
	"unicode"
)

// Bounds of a file.
const (
	maxFileBytes = 1 << 20
	maxNesting   = 32
)

// yamlScanner reads a file as YAML does, only far enough to know where values
// begin, and finds what people write that YAML takes for something else. The
// parser's own errors name a line at best, and for some of these there is none.
type yamlScanner struct {
	d       *document
	anchors map[string]bool
	line    int // from 1
	rs      []rune
	i       int
	flow    []flowMark // open [ and {
	parent  int        // indentation of the last key or dash, for block scalars
	lastKey string     // the key of the value being read
	folded  bool       // a text without quotes may go on in the next line
	quote   *place     // an open quote
	// suspects matter only if the parser fails too.
	suspects []finding
	found    []finding
	deep     bool
}

type flowMark struct {
	r  rune
	at place
}

type finding struct {
	at      place
	code    string
	message string
	help    string
}

func scanYAML(d *document) *yamlScanner {
	s := &yamlScanner{d: d, anchors: map[string]bool{}}
	for s.line = 1; s.line <= len(d.lines) && !s.deep; s.line++ {
		s.rs, s.i = []rune(d.line(s.line)), 0
		s.scanLine()
	}
	if s.quote != nil {
		s.suspect(*s.quote, "", "this quote is never closed")
	}
	for _, f := range s.flow {
		s.suspect(f.at, "", "this "+string(f.r)+" is never closed")
	}
	return s
}

func (s *yamlScanner) find(at place, help, message string) {
	s.found = append(s.found, finding{at, "yaml", message, help})
}

func (s *yamlScanner) suspect(at place, help, message string) {
	s.suspects = append(s.suspects, finding{at, "yaml", message, help})
}

// here is a place on the current line, from and to in characters from 0.
func (s *yamlScanner) here(from, to int) place { return place{s.line, from + 1, max(to-from, 1)} }

func (s *yamlScanner) scanLine() {
	switch {
	case s.quote != nil:
		if !s.quoted(s.rs) {
			return
		}
		s.afterQuote()
	case len(s.flow) == 0:
		if s.indentation() {
			return
		}
	}
	s.value()
}

// indentation reads the blanks that begin a line, and says whether there is
// nothing else on it.
func (s *yamlScanner) indentation() bool {
	end := runWhile(s.rs, 0, func(r rune) bool { return r == ' ' || r == '\t' })
	if end == len(s.rs) || s.rs[end] == '#' {
		return true
	}
	for i, r := range s.rs[:end] {
		if r == '\t' {
			s.find(s.here(i, i+1), "", "this line is indented with a tab; YAML wants spaces")
			break
		}
	}
	if s.rs[end] == '%' && end == 0 || strings.HasPrefix(string(s.rs), "---") || strings.HasPrefix(string(s.rs), "...") {
		return true // a directive or a document mark; the loader has its say on them
	}
	if s.folded && end > s.parent {
		return true // more of the text that the line before began
	}
	s.i, s.parent, s.lastKey, s.folded = end, end, "", false
	return false
}

// value reads from a place where a value or a key may begin to the end of the line.
func (s *yamlScanner) value() {
	for s.i < len(s.rs) {
		s.blanks()
		if s.i >= len(s.rs) || s.comment() {
			return
		}
		r := s.rs[s.i]
		switch {
		case len(s.flow) == 0 && (r == '-' || r == '?') && s.endsAt(s.i+1):
			if s.lastKey != "" {
				s.indicatorAsValue(r)
				return
			}
			s.parent = s.i
			s.i++
		case len(s.flow) == 0 && (r == '|' || r == '>') && s.blockHeader():
			s.skipBlock()
			return
		case r == '"' || r == '\'':
			s.quote = &place{s.line, s.i + 1, 1}
			s.i++
			if !s.quoted(s.rs) {
				return
			}
			s.afterQuote()
		case r == '[' || r == '{':
			s.open(r)
		case len(s.flow) > 0 && (r == ']' || r == '}'):
			s.close()
		case len(s.flow) > 0 && (r == ',' || r == ':'):
			s.i++
			if r == ',' {
				s.lastKey = ""
			}
		case r == '&' && s.anchor():
		default:
			s.plain()
		}
	}
}

// indicatorAsValue is a - or ? after a key, where neither can stand.
func (s *yamlScanner) indicatorAsValue(r rune) {
	at := s.here(s.i, len(s.rs))
	if r == '-' {
		s.suspect(at, "write the list in lines of its own, or in [ ]", "a list with - does not begin on the line of its key")
		return
	}
	s.suspect(at, "write: "+s.withKey(quoteYAML(strings.TrimSpace(string(s.rs[s.i:])))), "a value cannot start with ? in YAML; put it in quotes")
}

func (s *yamlScanner) blanks() {
	s.i = runWhile(s.rs, s.i, func(r rune) bool { return r == ' ' || r == '\t' })
}

func (s *yamlScanner) comment() bool {
	return s.rs[s.i] == '#' && (s.i == 0 || s.rs[s.i-1] == ' ' || s.rs[s.i-1] == '\t')
}

func (s *yamlScanner) endsAt(i int) bool { return i >= len(s.rs) || s.rs[i] == ' ' || s.rs[i] == '\t' }

func (s *yamlScanner) open(r rune) {
	s.flow = append(s.flow, flowMark{r, s.here(s.i, s.i+1)})
	s.i++
	if len(s.flow) > maxNesting {
		s.found = append(s.found, finding{s.here(s.i-1, s.i), "too-deep", "this is nested too deeply", ""})
		s.deep = true
		s.i, s.flow = len(s.rs), nil
	}
}

func (s *yamlScanner) close() {
	s.i++
	last := s.flow[len(s.flow)-1].r
	if closing := s.rs[s.i-1]; last == '[' && closing != ']' || last == '{' && closing != '}' {
		s.suspect(s.here(s.i-1, s.i), "", "this "+string(closing)+" closes nothing")
		return
	}
	s.flow = s.flow[:len(s.flow)-1]
	if len(s.flow) == 0 {
		s.blanks()
		if s.i < len(s.rs) && !s.comment() && s.rs[s.i] != ':' {
			s.suspect(s.here(s.i, len(s.rs)), "", "something stands after the closing bracket")
			s.i = len(s.rs)
		} else if s.i < len(s.rs) && s.rs[s.i] == ':' {
			s.i++
		}
	}
}

// quoted reads on to the end of a quoted text and says whether it ends on this line.
func (s *yamlScanner) quoted(rs []rune) bool {
	mark := []rune(s.d.line(s.quote.line))[s.quote.col-1]
	for ; s.i < len(rs); s.i++ {
		switch {
		case mark == '"' && rs[s.i] == '\\':
			s.i++
		case rs[s.i] == mark && mark == '\'' && s.i+1 < len(rs) && rs[s.i+1] == '\'':
			s.i++
		case rs[s.i] == mark:
			s.i++
			s.quote = nil
			return true
		}
	}
	return false
}

// afterQuote looks at what follows a closing quote.
func (s *yamlScanner) afterQuote() {
	from := s.i
	s.blanks()
	switch {
	case s.i >= len(s.rs), s.comment():
	case s.rs[s.i] == ':':
		s.i++
	case len(s.flow) > 0 && (s.rs[s.i] == ',' || s.rs[s.i] == ']' || s.rs[s.i] == '}'):
	default:
		s.suspect(s.here(from, len(s.rs)), "", "something stands after the closing quote; put all of it into the quotes")
		s.i = len(s.rs)
	}
}

// blockHeader reports whether the | or > here begins a block of text.
func (s *yamlScanner) blockHeader() bool {
	rest := strings.TrimLeft(string(s.rs[s.i+1:]), "+-0123456789")
	rest = strings.TrimSpace(rest)
	return rest == "" || strings.HasPrefix(rest, "#")
}

// skipBlock steps over the lines of a block of text: whatever is in it is text.
func (s *yamlScanner) skipBlock() {
	content := -1
	for n := s.line + 1; n <= len(s.d.lines); n++ {
		line := s.d.line(n)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if strings.TrimSpace(line) == "" {
			continue
		}
		if content < 0 {
			content = indent
		}
		if content <= s.parent || indent < content {
			return
		}
		s.line = n
	}
}

// anchor steps over &name, which marks a value for *name.
func (s *yamlScanner) anchor() bool {
	end := runWhile(s.rs, s.i+1, inAnchor)
	if end == s.i+1 || !s.endsAt(end) {
		return false
	}
	s.anchors[string(s.rs[s.i+1:end])] = true
	s.i = end
	return true
}

func inAnchor(r rune) bool {
	return r == '_' || r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// plain reads a text without quotes, a key or a value, and judges it.
func (s *yamlScanner) plain() {
	from := s.i
	end, isKey := s.plainEnd(from)
	raw := strings.TrimRight(string(s.rs[from:end]), " \t")
	to := from + len([]rune(raw))
	if isKey {
		if s.lastKey != "" && len(s.flow) == 0 {
			s.suspect(s.here(end, end+1), "", "a colon followed by a blank begins a value; put the text in quotes")
		}
		if len(s.flow) == 0 {
			s.parent = from
		}
		s.lastKey, s.i = raw, end+1
		s.judge(raw, from, to)
		s.missingBlank(raw, from)
		return
	}
	s.i, s.folded = end, len(s.flow) == 0
	s.judge(raw, from, to)
	if len(s.flow) == 0 && s.lastKey == "" {
		s.missingBlank(raw, from)
	}
}

// missingBlank finds key:value, which is one word to YAML.
func (s *yamlScanner) missingBlank(raw string, from int) {
	if name, value, ok := strings.Cut(raw, ":"); ok && isKeyName(name) && !strings.HasPrefix(value, "/") {
		at := from + len([]rune(name))
		s.suspect(s.here(at, at+1), "write: "+name+": ...", "a blank is missing after this colon")
	}
}

func isKeyName(s string) bool {
	for _, k := range keyTable {
		if k.Name == s {
			return true
		}
	}
	return false
}

// plainEnd finds where a text without quotes ends, and whether as a key.
func (s *yamlScanner) plainEnd(i int) (int, bool) {
	for ; i < len(s.rs); i++ {
		r := s.rs[i]
		switch {
		case r == ':' && s.endsAt(i+1), r == ':' && len(s.flow) > 0 && strings.ContainsRune(",[]{}", s.rs[i+1]):
			return i, true
		case r == '#' && i > 0 && (s.rs[i-1] == ' ' || s.rs[i-1] == '\t'):
			return i, false
		case len(s.flow) > 0 && (r == '$' || r == '&') && i+1 < len(s.rs) && s.rs[i+1] == '{':
			if n := strings.IndexRune(string(s.rs[i:]), '}'); n > 0 {
				i += len([]rune(string(s.rs[i:])[:n])) // the name belongs to the text that was meant
			}
		case len(s.flow) > 0 && strings.ContainsRune(",[]{}", r):
			return i, false
		}
	}
	return len(s.rs), false
}

// judge looks at the beginning of a text without quotes.
func (s *yamlScanner) judge(raw string, from, to int) {
	if raw == "" {
		return
	}
	quoted := "write: " + s.withKey(quoteYAML(raw))
	switch raw[0] {
	case '*':
		if !s.anchors[raw[1:]] {
			s.find(s.here(from, to), quoted, "a bare * means something else to YAML; put the pattern in quotes")
		}
	case '!':
		s.find(s.here(from, to), quoted, "a value that starts with ! is a tag to YAML and would be lost; put it in quotes")
	case '&':
		what := "a value that starts with & is an anchor to YAML; put it in quotes"
		s.find(s.here(from, to), quoted, what)
	case '%', '@', '`':
		s.suspect(s.here(from, to), quoted, "a value cannot start with "+raw[:1]+" in YAML; put it in quotes")
	default:
		switch {
		case len(s.flow) == 0:
		case strings.Contains(raw, "${"), strings.Contains(raw, "&{"):
			s.find(s.here(from, to), quoted, "a brace inside [ ] or { } is read by YAML; put the text in quotes")
		case strings.Contains(raw, "?"):
			s.find(s.here(from, to), quoted, "a ? inside [ ] or { } is read by YAML; put the text in quotes")
		}
	}
}

// withKey puts the key in front, if the value has one.
func (s *yamlScanner) withKey(value string) string {
	if s.lastKey == "" || s.lastKey == strings.Trim(value, `"'`) {
		return value
	}
	return s.lastKey + ": " + value
}

// quoteYAML writes a text in double quotes, or in single ones if it has those itself.
func quoteYAML(s string) string {
	if strings.ContainsAny(s, `"\`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return `"` + s + `"`
}
