package mqsc

import (
	"maps"
	"slices"
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

// display reads the keywords of a DISPLAY.
func (p *parser) display(f *form, c *Command, items []item) *Error {
	f = f.narrowed(items)
	seen := map[string]string{}
	for _, it := range items {
		var err *Error
		switch group := f.groups[it.key.text]; {
		case it.key.text == "WHERE":
			err = p.where(f, c, it, seen)
		case it.key.text == optAll.word:
			err = p.option(optAll, c, it, seen)
		case group != nil && !it.paren:
			if err = p.once(it.key.text, it, seen); err == nil {
				c.Show = appendNew(c.Show, group...)
			}
		default:
			err = p.selectOrShow(f, c, it, seen)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// selectOrShow reads a selector such as TYPE(HANDLE), or the name of an attribute to show.
func (p *parser) selectOrShow(f *form, c *Command, it item, seen map[string]string) *Error {
	sel, attr := f.param(it.key.text), f.attr(it.key.text)
	if sel == nil && attr == nil {
		return p.failValid(idKeyword, it.key, f.displayWords(), "%s is not an attribute of DISPLAY %s", clip(it.key.text), f.noun)
	}
	var keyword string
	if attr != nil {
		keyword = attr.Keyword
	} else {
		keyword = sel.Keyword
	}
	if err := p.once(keyword, it, seen); err != nil {
		return err
	}
	if sel != nil && (it.paren || sel.Type == object.Flag) {
		param, err := p.selector(sel, it)
		if err != nil {
			return err
		}
		c.Params = append(c.Params, param)
		return nil
	}
	if it.paren {
		return p.fail(idValue, it.span(), "DISPLAY %s takes %s without a value; WHERE(%s EQ value) selects by it", f.noun, keyword, keyword)
	}
	if attr == nil {
		return p.fail(idMissing, it.key, "%s needs a value in brackets: %s", keyword, sel.Want())
	}
	c.Show = appendNew(c.Show, keyword)
	return nil
}

// selector is param, but names may be generic.
func (p *parser) selector(a *object.Attr, it item) (Param, *Error) {
	if (a.Type == object.Name || a.Type == object.String) && len(it.args) == 1 {
		plain, generic := strings.CutSuffix(it.args[0].text, "*")
		if generic {
			if err := checkPlain(a, plain); err != nil {
				return Param{}, p.badValue(it.args[0], a, err)
			}
			return Param{Keyword: a.Keyword, Values: []string{it.args[0].text}}, nil
		}
	}
	return p.param(a, it)
}

// displayWords lists what may follow DISPLAY of this form.
func (f *form) displayWords() []string {
	out := f.keywords()
	for i := range f.params {
		out = appendNew(out, f.params[i].Keyword)
	}
	out = append(out, slices.Sorted(maps.Keys(f.groups))...)
	return append(out, optAll.word, "WHERE")
}

func appendNew(list []string, words ...string) []string {
	for _, w := range words {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// Wanted picks from a DISPLAY-ordered list of attributes those that this
// DISPLAY shows: keys and what is always shown; all with ALL, or for an exact
// name without a list; else those asked for and the one of WHERE.
func (c *Command) Wanted(attrs []*object.Attr) []*object.Attr {
	all := c.All || len(c.Show) == 0 && !strings.HasSuffix(c.Name, "*") && c.Noun != "CHSTATUS"
	var out []*object.Attr
	for _, a := range attrs {
		if all || a.Key || a.Always || slices.Contains(c.Show, a.Keyword) || c.Where != nil && c.Where.Keyword == a.Keyword {
			out = append(out, a)
		}
	}
	return out
}

// Generic reports whether the name may stand for several objects.
func (c *Command) Generic() bool { return strings.HasSuffix(c.Name, "*") }
