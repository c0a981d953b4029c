package mqsc

import (
	"slices"
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

// MaxCommand is the longest command in bytes, continuation lines included.
const MaxCommand = 1 << 20

const tooLong = "The command is longer than 1048576 bytes"

// Parse reads one complete logical command; a semicolon may end it.
func Parse(text string) (*Command, *Error) {
	p := &parser{text: text}
	if len(text) > MaxCommand {
		return nil, &Error{ID: idLength, Text: tooLong, Segment: clip(text)}
	}
	items, err := p.items()
	if err != nil {
		return nil, err
	}
	f, c, err := p.head(items)
	if err != nil {
		return nil, err
	}
	c.Text = text
	rest := items[2:]
	switch {
	case c.Absent != "":
		err = p.absentCommand(c, items[1], rest)
	case f.verb == "DISPLAY":
		err = p.display(f, c, rest)
	default:
		err = p.command(f, c, rest)
	}
	if err == nil && c.Absent == "" && f.check != nil {
		err = f.check(p, c)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// head finds the form by verb and noun, and reads the name.
func (p *parser) head(items []item) (*form, *Command, *Error) {
	if len(items) == 0 {
		return nil, nil, p.missing(verbs(), "The command is blank; it begins with one of %s", strings.Join(verbs(), ", "))
	}
	verb := canonicalVerb(items[0].key.text)
	if !slices.Contains(verbs(), verb) && !isAbsentVerb(verb) || items[0].paren {
		at := items[0].key
		e := p.failValid(idVerb, at, verbs(), "%s is not a command", clip(at.text))
		return nil, nil, e
	}
	nouns := nounsOf(verb)
	if len(nouns) == 0 && !isAbsentVerb(verb) {
		return nil, nil, p.fail(idParser, items[0].key, "%s ends an input and is nothing that a queue manager carries out", verb)
	}
	if len(items) == 1 {
		return nil, nil, p.missing(nouns, "%s needs one of %s", verb, strings.Join(nouns, ", "))
	}
	it := items[1]
	noun := canonicalNoun(it.key.text)
	i := slices.IndexFunc(forms, func(f form) bool { return f.verb == verb && f.noun == noun })
	if why := absent(verb, noun); i < 0 && why != "" {
		return nil, &Command{Verb: verb, Noun: noun, Absent: why}, nil
	}
	if i < 0 {
		return nil, nil, p.failValid(idKeyword, it.key, nouns, "%s cannot follow %s", clip(it.key.text), verb)
	}
	f := &forms[i]
	c := &Command{Verb: verb, Noun: noun}
	if len(f.kinds) == 1 || verb != "DISPLAY" && verb != "DEFINE" && verb != "ALTER" {
		c.Kind = object.ParseKind(noun)
	}
	return f, c, p.name(f, c, it)
}

func verbs() []string {
	return []string{"ALTER", "CLEAR", "DEFINE", "DELETE", "DISPLAY", "END", "PING", "REFRESH", "RESET", "RESOLVE", "RESUME", "START", "STOP", "SUSPEND"}
}

// nounsOf lists what may follow a verb; where nothing of it is here, what MQ has.
func nounsOf(verb string) []string {
	var out []string
	for _, f := range forms {
		if f.verb == verb {
			out = append(out, f.noun)
		}
	}
	if slices.Contains(verbs(), verb) {
		return out
	}
	for _, a := range absentNouns {
		if slices.Contains(strings.Fields(a.verbs), verb) {
			out = append(out, a.noun)
		}
	}
	return out
}

// name reads what is in the brackets of the noun.
func (p *parser) name(f *form, c *Command, it item) *Error {
	if f.name == noName {
		if it.paren {
			return p.fail(idName, it.span(), "%s %s takes no name: there is one queue manager", c.Verb, c.Noun)
		}
		return nil
	}
	if f.name == allName {
		if it.paren && (len(it.args) != 1 || it.args[0].text != "*") {
			return p.fail(idName, it.span(), "%s %s takes no name but *", c.Verb, c.Noun)
		}
		return nil
	}
	if len(it.args) == 0 {
		return p.fail(idMissing, it.span(), "%s %s needs a name in brackets", c.Verb, c.Noun)
	}
	if len(it.args) > 1 {
		return p.fail(idName, it.args[1], "%s %s takes one name", c.Verb, c.Noun)
	}
	at := it.args[0]
	name := strings.TrimRight(at.text, " ")
	plain, generic := strings.CutSuffix(name, "*")
	if generic && f.name == exactName {
		return p.fail(idName, at, "%s %s needs an exact name, not %s", c.Verb, c.Noun, clip(name))
	}
	if name == "" {
		return p.fail(idName, at, "%s %s: the name is blank", c.Verb, c.Noun)
	}
	if err := checkPlain(f.nameType, plain); err != nil {
		return p.fail(nameID(f.nameType, plain), at, "%s(%s): %s is needed%s", f.noun, clip(name), nameWant(f.nameType), genericHint(f, plain))
	}
	c.Name = name
	return nil
}

// checkPlain checks a name without its asterisk.
func checkPlain(a *object.Attr, plain string) error {
	if a.Type == object.String && strings.Contains(plain, "*") {
		return errAsterisk
	}
	_, err := a.Canonical([]string{plain})
	return err
}

var errAsterisk = &object.ValueError{Fault: object.FaultName, Want: "an asterisk at the end only"}

// nameWant is what a name must be; unlike an attribute it cannot be blank.
func nameWant(a *object.Attr) string {
	return strings.TrimSuffix(a.Want(), ", or ' '")
}

func nameID(a *object.Attr, plain string) string {
	if len(plain) > a.MaxLen {
		return idLength
	}
	return idName
}

func genericHint(f *form, plain string) string {
	switch {
	case f.name == genericName && strings.ContainsAny(plain, "*?"):
		return "; an asterisk may stand at the end only"
	case f.name == genericName:
		return "; it may end in *"
	}
	return ""
}
