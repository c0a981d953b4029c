package mqsc

import (
	"slices"
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

// command reads the keywords of everything but DISPLAY.
func (p *parser) command(f *form, c *Command, items []item) *Error {
	if len(f.kinds) > 1 {
		if taken, err := p.absentType(c, items); taken {
			return err
		}
	}
	items, err := p.channelType(f, c, items)
	if err != nil {
		return err
	}
	seen := map[string]string{}
	for _, it := range items {
		if f.verb == "DEFINE" && it.key.text == "LIKE" {
			if err := p.like(f, c, it, seen); err != nil {
				return err
			}
			continue
		}
		if i := slices.IndexFunc(f.options, func(o option) bool { return o.word == it.key.text || o.opposite == it.key.text }); i >= 0 {
			if err := p.option(f.options[i], c, it, seen); err != nil {
				return err
			}
			continue
		}
		a := f.param(it.key.text)
		if a == nil && c.Kind != object.KindNone && (f.verb == "DEFINE" || f.verb == "ALTER") {
			a = c.Kind.Attr(it.key.text)
		}
		if a == nil || a.Key {
			return p.unknownKeyword(f, c, it)
		}
		if a.ReadOnly || a.Live {
			return p.fail(idKeyword, it.key, "%s can be displayed, not set: the queue manager keeps it", a.Keyword)
		}
		if err := p.once(a.Keyword, it, seen); err != nil {
			return err
		}
		param, err := p.param(a, it)
		if err != nil {
			return err
		}
		c.Params = append(c.Params, param)
	}
	return nil
}

// param finds one of the form's own keywords.
func (f *form) param(keyword string) *object.Attr {
	for i := range f.params {
		a := &f.params[i]
		if a.Keyword == keyword || slices.Contains(a.Synonyms, keyword) {
			return a
		}
	}
	return nil
}

// channelType takes CHLTYPE out of the keywords: the others depend on it.
func (p *parser) channelType(f *form, c *Command, items []item) ([]item, *Error) {
	if len(f.kinds) < 2 {
		return items, nil
	}
	isType := func(it item) bool { return it.key.text == "CHLTYPE" }
	i := slices.IndexFunc(items, isType)
	var kinds []string
	for _, k := range f.kinds {
		kinds = append(kinds, k.String())
	}
	if i < 0 {
		return nil, p.missing(kinds, "%s CHANNEL needs CHLTYPE: %s", f.verb, strings.Join(kinds, ", "))
	}
	it := items[i]
	if len(it.args) != 1 {
		return nil, p.fail(idValue, it.span(), "CHLTYPE needs one of %s", strings.Join(kinds, ", "))
	}
	if !slices.Contains(kinds, it.args[0].text) {
		return nil, p.failValid(idValue, it.args[0], kinds, "%s is not a channel type here", clip(it.args[0].text))
	}
	c.Kind = object.ParseKind(it.args[0].text)
	rest := slices.Delete(slices.Clone(items), i, i+1)
	if j := slices.IndexFunc(rest, isType); j >= 0 {
		return nil, p.fail(idDuplicate, rest[j].span(), "CHLTYPE is there twice")
	}
	return rest, nil
}

func (p *parser) like(f *form, c *Command, it item, seen map[string]string) *Error {
	if err := p.once("LIKE", it, seen); err != nil {
		return err
	}
	if len(it.args) != 1 || it.args[0].text == "" {
		return p.fail(idName, it.span(), "LIKE needs the name of one object of the same type")
	}
	at := it.args[0]
	if err := checkPlain(f.nameType, at.text); err != nil {
		return p.fail(nameID(f.nameType, at.text), at, "LIKE(%s): %s is needed", clip(at.text), nameWant(f.nameType))
	}
	c.Like = strings.TrimRight(at.text, " ")
	return nil
}

func (p *parser) option(o option, c *Command, it item, seen map[string]string) *Error {
	if it.paren {
		return p.fail(idValue, it.span(), "%s takes no value", it.key.text)
	}
	if err := p.once(o.word, it, seen); err != nil {
		return err
	}
	if it.key.text == o.word {
		o.set(c)
	}
	return nil
}

// once refuses a keyword that was there already, itself or as its NO-form.
// seen has the word that was typed, by canonical keyword.
func (p *parser) once(keyword string, it item, seen map[string]string) *Error {
	switch before, ok := seen[keyword]; {
	case ok && before == it.key.text:
		return p.fail(idDuplicate, it.span(), "%s is there twice", keyword)
	case ok:
		return p.fail(idDuplicate, it.span(), "%s and %s are the same keyword", before, it.key.text)
	}
	seen[keyword] = it.key.text
	return nil
}

// param checks KEYWORD(values) against its row of the table.
func (p *parser) param(a *object.Attr, it item) (Param, *Error) {
	if a.Type == object.Flag {
		if it.paren {
			return Param{}, p.fail(idValue, it.span(), "%s takes %s", a.Keyword, a.Want())
		}
		if it.key.text == a.NoForm() {
			return Param{Keyword: a.NoForm()}, nil
		}
		return Param{Keyword: a.Keyword}, nil
	}
	if !it.paren {
		return Param{}, p.fail(idMissing, it.key, "%s needs a value in brackets: %s", a.Keyword, a.Want())
	}
	if len(it.args) > 1 && a.Type != object.List {
		return Param{}, p.fail(idValue, it.args[1], "%s takes one value; one that holds blanks or commas goes in apostrophes", a.Keyword)
	}
	if len(it.args) == 0 && a.Type != object.List && a.Type != object.String && a.Type != object.Name {
		return Param{}, p.fail(idMissing, it.span(), "%s needs a value: %s", a.Keyword, a.Want())
	}
	values := make([]string, len(it.args))
	for i, arg := range it.args {
		values[i] = arg.text
		// A list is checked name by name so that the error points at the right one.
		if _, err := a.Canonical([]string{arg.text}); err != nil {
			return Param{}, p.badValue(arg, a, err)
		}
	}
	canonical, err := a.Canonical(values)
	if err != nil {
		return Param{}, p.badValue(it.span(), a, err)
	}
	return Param{Keyword: a.Keyword, Values: canonical}, nil
}

func (p *parser) unknownKeyword(f *form, c *Command, it item) *Error {
	what := f.verb + " " + f.noun
	var valid []string
	for i := range f.params {
		valid = append(valid, f.params[i].Keyword)
	}
	if f.verb == "DEFINE" || f.verb == "ALTER" {
		if c.Kind.IsChannel() {
			what += " CHLTYPE(" + c.Kind.String() + ")"
		}
		for _, a := range object.Attrs(c.Kind) {
			if a.Settable() {
				valid = append(valid, a.Keyword)
			}
			if a.Settable() && a.Type == object.Flag {
				valid = append(valid, a.NoForm())
			}
		}
	}
	if f.verb == "DEFINE" {
		valid = append(valid, "LIKE")
	}
	for _, o := range f.options {
		valid = append(valid, o.word)
	}
	if len(valid) == 0 {
		return p.fail(idKeyword, it.key, "%s is not a keyword of %s, which takes none", clip(it.key.text), what)
	}
	return p.failValid(idKeyword, it.key, valid, "%s is not a keyword of %s", clip(it.key.text), what)
}
