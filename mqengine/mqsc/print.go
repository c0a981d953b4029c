package mqsc

import (
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

// String prints the command canonically, on one line. Parse of it gives the
// same command but for Text.
func (c *Command) String() string {
	var b strings.Builder
	b.WriteString(c.Verb + " " + c.Noun)
	if c.Name != "" {
		b.WriteString("(" + quote(c.Name) + ")")
	}
	if c.Kind.IsChannel() {
		b.WriteString(" CHLTYPE(" + c.Kind.String() + ")")
	}
	if c.Like != "" {
		b.WriteString(" LIKE(" + quote(c.Like) + ")")
	}
	for _, p := range c.Params {
		b.WriteString(" " + p.String())
	}
	for _, o := range []struct {
		on   bool
		word string
	}{{c.Replace, "REPLACE"}, {c.Purge, "PURGE"}, {c.Force, "FORCE"}, {c.All, "ALL"}} {
		if o.on {
			b.WriteString(" " + o.word)
		}
	}
	for _, s := range c.Show {
		b.WriteString(" " + s)
	}
	if w := c.Where; w != nil {
		b.WriteString(" WHERE(" + w.Keyword + " " + w.Op + " " + quote(w.Value) + ")")
	}
	return b.String()
}

// String is KEYWORD(VALUE,...), or the bare word.
func (p Param) String() string {
	if p.Values == nil {
		return p.Keyword
	}
	quoted := make([]string, len(p.Values))
	for i, v := range p.Values {
		quoted[i] = quote(v)
	}
	return p.Keyword + "(" + strings.Join(quoted, ",") + ")"
}

// quote puts a value in apostrophes unless it reads back as it is.
func quote(v string) string {
	plain := v != "" && !strings.ContainsFunc(v, func(r rune) bool {
		return !(r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("./_%*", r))
	})
	switch {
	case plain:
		return v
	case v == "":
		return "' '"
	}
	return "'" + strings.ReplaceAll(v, "'", "''") + "'"
}

// Quote is the value as a command has to spell it.
func Quote(v string) string { return quote(v) }

// Apply sets the parameters of a DEFINE or ALTER on o. The error is a *object.ValueError.
func (c *Command) Apply(o *object.Object) error {
	for _, p := range c.Params {
		if err := o.Set(p.Keyword, p.Values...); err != nil {
			return err
		}
	}
	return nil
}

// FieldOf is one attribute of an object as a reply shows it. Live attributes
// are blank: who knows them puts its own field there.
func FieldOf(o *object.Object, keyword string) Field {
	key, values, bare := o.Field(keyword)
	return Field{Key: key, Values: values, Bare: bare}
}
