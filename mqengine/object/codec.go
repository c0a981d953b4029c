package object

import (
	"fmt"
	"slices"

	"github.com/situationd/situationd/mqengine/internal/wire"
)

// formatVersion is the first byte of an encoded object. The table's defaults
// belong to the format: values equal to them are not written, so a changed
// default needs a new version that knows the old one.
const formatVersion = 1

// stray is an attribute that the table does not know: written by a newer
// release, kept so that going back and forth loses nothing.
type stray struct {
	keyword string
	values  []string
}

// AppendBinary appends the object's stored form.
func (o *Object) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, formatVersion)
	b = wire.AppendString(b, o.kind.String())
	b = wire.AppendString(b, o.Name)
	b = wire.AppendUint(b, uint64(len(o.set)+len(o.strays)))
	for _, e := range o.set {
		keyword, values := e.attr.Keyword, []string(nil)
		switch {
		case e.attr.Type == Flag && e.n == 0:
			keyword = e.attr.NoForm()
		case e.attr.Type != Flag:
			values = e.attr.words(e.value)
		}
		b = appendEntry(b, keyword, values)
	}
	for _, s := range o.strays {
		b = appendEntry(b, s.keyword, s.values)
	}
	return b, nil
}

func appendEntry(b []byte, keyword string, values []string) []byte {
	b = wire.AppendString(b, keyword)
	b = wire.AppendUint(b, uint64(len(values)))
	for _, v := range values {
		b = wire.AppendString(b, v)
	}
	return b
}

// Decode reads what AppendBinary wrote.
func Decode(b []byte) (*Object, error) {
	r := wire.NewReader(b)
	if v := r.Byte(); r.Err() == nil && v != formatVersion {
		return nil, fmt.Errorf("object: format version %d is not known here: a newer release wrote it", v)
	}
	word, name := r.String(), r.String()
	k := ParseKind(word)
	if r.Err() == nil && k == KindNone {
		return nil, fmt.Errorf("object: unknown kind %q", word)
	}
	o := New(k, name)
	for range r.Count(2) {
		keyword := r.String()
		values := make([]string, 0, min(r.Len(), 1))
		for range r.Count(1) {
			values = append(values, r.String())
		}
		if r.Err() != nil {
			break
		}
		if err := o.restore(keyword, values); err != nil {
			return nil, fmt.Errorf("object: %s %s: %w", k, name, err)
		}
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	return o, nil
}

func (o *Object) restore(keyword string, values []string) error {
	if o.kind.Attr(keyword) == nil {
		if slices.ContainsFunc(o.strays, func(s stray) bool { return s.keyword == keyword }) {
			return fmt.Errorf("attribute %q is there twice", keyword)
		}
		o.strays = append(o.strays, stray{keyword, values})
		return nil
	}
	return o.SetFixed(keyword, values...)
}
