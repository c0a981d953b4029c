package mqsc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a token with its place in the command.
type word struct {
	text   string // folded to upper case unless quoted
	quoted bool
	pos    int
	end    int
}

// item is KEYWORD or KEYWORD(arguments).
type item struct {
	key   word
	args  []word
	paren bool
	end   int
}

// span is the whole item as one token, for errors.
func (it item) span() word { return word{text: it.key.text, pos: it.key.pos, end: it.end} }

type parser struct {
	text string
	at   int
}

func isSeparator(c byte) bool {
	return c == ' ' || c == ',' || c == '\t' || c == '\n' || c == '\r'
}

func (p *parser) skipSeparators() {
	for p.at < len(p.text) && isSeparator(p.text[p.at]) {
		p.at++
	}
}

// items splits the command into its keywords with their arguments.
func (p *parser) items() ([]item, *Error) {
	if err := p.checkText(); err != nil {
		return nil, err
	}
	var out []item
	for {
		p.skipSeparators()
		if p.at == len(p.text) {
			return out, nil
		}
		if p.text[p.at] == ';' {
			return out, p.checkEnd()
		}
		it, err := p.item()
		if err != nil {
			return nil, err
		}
		out = append(out, it)
	}
}

// checkText refuses bytes that are not text; separators may be tabs and ends of lines.
func (p *parser) checkText() *Error {
	for i, r := range p.text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(p.text[i:], string(utf8.RuneError)) {
			return p.fail(idParser, word{pos: i, end: i + 1}, "Byte %d of the command is not UTF-8 text", i+1)
		}
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return p.fail(idParser, word{pos: i, end: i + size}, "Character %d of the command is the control character U+%04X", i+1, r)
		}
	}
	return nil
}

// checkEnd refuses text behind the semicolon.
func (p *parser) checkEnd() *Error {
	rest := strings.TrimRight(p.text[p.at:], "; \t\r\n")
	if rest == "" {
		return nil
	}
	return p.fail(idParser, word{pos: p.at, end: p.at + len(rest)}, "There is text behind the semicolon that ends the command")
}

func (p *parser) item() (item, *Error) {
	key, err := p.word()
	if err != nil {
		return item{}, err
	}
	if key.quoted {
		return item{}, p.fail(idParser, key, "%s is in apostrophes where a keyword is needed", clip(p.text[key.pos:key.end]))
	}
	it := item{key: key, end: key.end}
	p.skipBlanks()
	if p.at == len(p.text) || p.text[p.at] != '(' {
		return it, nil
	}
	it.paren = true
	open := p.at
	p.at++
	for {
		p.skipSeparators()
		if p.at == len(p.text) || p.text[p.at] == ';' {
			return item{}, p.fail(idParser, word{pos: open, end: p.at}, "The bracket after %s is not closed", clip(key.text))
		}
		if p.text[p.at] == ')' {
			p.at++
			it.end = p.at
			return it, nil
		}
		arg, err := p.word()
		if err != nil {
			return item{}, err
		}
		it.args = append(it.args, arg)
	}
}

// skipBlanks passes what may stand between a keyword and its bracket.
func (p *parser) skipBlanks() {
	for p.at < len(p.text) && isSeparator(p.text[p.at]) && p.text[p.at] != ',' {
		p.at++
	}
}

// word reads a word or a text in apostrophes.
func (p *parser) word() (word, *Error) {
	start := p.at
	switch c := p.text[p.at]; c {
	case '\'':
		return p.quoted()
	case '(':
		return word{}, p.fail(idParser, word{pos: start, end: start + 1},
			"A bracket is where a word is needed: a value that holds brackets goes in apostrophes, as in CONNAME('host(1414)')")
	case ')':
		return word{}, p.fail(idParser, word{pos: start, end: start + 1}, "A bracket is closed that was not opened")
	case '"':
		return word{}, p.fail(idParser, word{pos: start, end: start + 1}, "MQSC takes apostrophes ('), not quotation marks")
	}
	for p.at < len(p.text) && !isSeparator(p.text[p.at]) && !strings.ContainsRune("()';\"", rune(p.text[p.at])) {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '\'' {
		return word{}, p.fail(idParser, word{pos: start, end: p.at + 1}, "An apostrophe is inside the word %s", clip(p.text[start:p.at]))
	}
	return word{text: strings.ToUpper(p.text[start:p.at]), pos: start, end: p.at}, nil
}

func (p *parser) quoted() (word, *Error) {
	start := p.at
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		if c == '\n' || c == '\r' || c == '\t' {
			return word{}, p.fail(idParser, word{pos: start, end: p.at}, "A text in apostrophes holds a tab or an end of line")
		}
		if c != '\'' {
			b.WriteByte(c)
			continue
		}
		if p.at+1 == len(p.text) || p.text[p.at+1] != '\'' {
			p.at++
			return word{text: b.String(), quoted: true, pos: start, end: p.at}, nil
		}
		p.at++
		b.WriteByte('\'')
	}
	return word{}, p.fail(idParser, word{pos: start, end: len(p.text)}, "The text that begins with %s has no closing apostrophe", clip(p.text[start:]))
}
