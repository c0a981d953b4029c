package object

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"
)

// Kind is the type of an object that a store keeps.
type Kind uint8

// The kinds. Channel types are kinds of their own since their attributes differ.
const (
	KindNone Kind = iota
	QLocal
	QAlias
	QRemote
	QModel
	Sender
	Receiver
	ClusSdr
	ClusRcvr
	SvrConn
	Namelist
	Process
	Listener
	QMgr
)

// IsQueue reports whether the kind is a queue.
func (k Kind) IsQueue() bool { return k >= QLocal && k <= QModel }

// IsChannel reports whether the kind is a channel.
func (k Kind) IsChannel() bool { return k >= Sender && k <= SvrConn }

// Object is one definition. Only values that differ from the table's defaults
// take memory, so that tens of thousands of queues stay cheap.
//
// Reading an attribute that the kind does not have is a mistake of the
// programmer and panics; what a user types goes through Set, which gives errors.
type Object struct {
	Name string
	kind Kind
	set  []entry // sorted by attr.order, none equal to its default
	// strays came from the store of a newer release.
	strays []stray
}

type entry struct {
	attr *Attr
	value
}

// New makes an object with the table's defaults.
func New(k Kind, name string) *Object {
	return &Object{Name: name, kind: k}
}

// Kind is the object's kind.
func (o *Object) Kind() Kind { return o.kind }

// Clone copies the object.
func (o *Object) Clone() *Object {
	c := *o
	c.set = slices.Clone(o.set)
	return &c
}

func (o *Object) mustAttr(keyword string) *Attr {
	a := o.kind.Attr(keyword)
	if a == nil {
		panic(fmt.Sprintf("object: %s has no attribute %s", o.kind, keyword))
	}
	return a
}

func (o *Object) find(a *Attr) (int, bool) {
	for i := range o.set {
		switch {
		case o.set[i].attr == a:
			return i, true
		case o.set[i].attr.order > a.order:
			return i, false
		}
	}
	return len(o.set), false
}

func (o *Object) get(a *Attr) value {
	if i, ok := o.find(a); ok {
		return o.set[i].value
	}
	return tables.kinds[o.kind].defaults[a]
}

func (o *Object) put(a *Attr, v value) {
	i, ok := o.find(a)
	switch isDefault := v.equal(tables.kinds[o.kind].defaults[a]); {
	case ok && isDefault:
		o.set = slices.Delete(o.set, i, i+1)
	case ok:
		o.set[i].value = v
	case !isDefault:
		o.set = slices.Insert(o.set, i, entry{attr: a, value: v})
	}
}

// Has reports whether the object's kind has the attribute.
func (o *Object) Has(keyword string) bool { return o.kind.Attr(keyword) != nil }

// Int is the value of a number attribute (a word such as NOLIMIT has a negative number).
func (o *Object) Int(keyword string) int { return o.get(o.mustAttr(keyword)).n }

// Flag is whether a bare pair is in its set form: Flag("TRIGGER").
func (o *Object) Flag(keyword string) bool { return o.get(o.mustAttr(keyword)).n != 0 }

// List is the value of a list attribute. The caller must not write it.
func (o *Object) List(keyword string) []string { return o.get(o.mustAttr(keyword)).l }

// Str is the value of any attribute as one text: the word of an enumeration,
// the digits of a number; lists with commas.
func (o *Object) Str(keyword string) string {
	a := o.mustAttr(keyword)
	if a.Type == String || a.Type == Name {
		return o.textOf(a)
	}
	_, values, bare := o.Field(keyword)
	if bare {
		if o.Flag(keyword) {
			return a.Keyword
		}
		return a.NoForm()
	}
	if a.Type == List {
		return strings.Join(o.List(keyword), ",")
	}
	return values[0]
}

func (o *Object) textOf(a *Attr) string {
	switch {
	case a.Key && a.Keyword == o.kind.NameKeyword():
		return o.Name
	case a.Key:
		return o.kind.String()
	}
	return o.get(a).s
}

// Set gives an attribute a value as a user types it: checked for kind, type,
// range, length and words, stored canonically. A bare pair is set by its word
// alone: Set("NOTRIGGER"). The error is a *ValueError.
func (o *Object) Set(keyword string, values ...string) error {
	a := o.kind.Attr(keyword)
	if a == nil {
		return &ValueError{Fault: FaultUnknown, Keyword: keyword, Want: o.kind.String()}
	}
	if !a.Settable() {
		return &ValueError{Fault: FaultReadOnly, Keyword: keyword}
	}
	return o.SetFixed(keyword, values...)
}

// SetFixed is Set for the queue manager itself: read-only attributes too.
func (o *Object) SetFixed(keyword string, values ...string) error {
	a := o.kind.Attr(keyword)
	if a == nil {
		return &ValueError{Fault: FaultUnknown, Keyword: keyword, Want: o.kind.String()}
	}
	if a.Live || a.Key {
		return &ValueError{Fault: FaultReadOnly, Keyword: keyword}
	}
	if a.Type == Flag && len(values) == 0 {
		o.put(a, value{n: flagValue(keyword != a.NoForm())})
		return nil
	}
	v, err := a.parse(values)
	if err != nil {
		return err
	}
	o.put(a, v)
	return nil
}

// SetTimes stamps ALTDATE and ALTTIME, and with a created time that is not zero
// CRDATE and CRTIME, in the zone that the times carry: MQ shows its host's.
func (o *Object) SetTimes(altered, created time.Time) {
	stamp := func(date, clock string, t time.Time) {
		if a := o.kind.Attr(date); a != nil && !t.IsZero() {
			o.put(a, value{s: t.Format("2006-01-02")})
			o.put(o.mustAttr(clock), value{s: t.Format("15.04.05")})
		}
	}
	stamp("ALTDATE", "ALTTIME", altered)
	stamp("CRDATE", "CRTIME", created)
}

// QMID is the identifier of a queue manager made at a time: name, date and time,
// within MQ's 48 characters. A longer name is cut, and a checksum of all of it
// takes the end of its place: names of one cluster tend to differ at their ends,
// and queue managers that one script creates are often of the same second.
func QMID(name string, created time.Time) string {
	const stamp = "_2006-01-02_15.04.05"
	if most := MaxName - len(stamp); len(name) > most {
		sum := fmt.Sprintf("%08X", crc32.ChecksumIEEE([]byte(name)))
		name = name[:most-len(sum)] + sum
	}
	return name + created.Format(stamp)
}

// IsDefault reports whether the attribute has the table's default.
func (o *Object) IsDefault(keyword string) bool {
	_, ok := o.find(o.mustAttr(keyword))
	return !ok
}

// Lack is what an attribute's value asks for that is not here. Refuse: the value
// must not be set, since who relies on it would come to harm.
type Lack struct {
	Keyword, Value string
	Why            string
	Refuse         bool
}

func (l *Lack) Error() string {
	if l.Refuse {
		return fmt.Sprintf("%s(%s) is refused: %s here", l.Keyword, l.Value, l.Why)
	}
	return fmt.Sprintf("%s(%s) is kept and does nothing: %s here", l.Keyword, l.Value, l.Why)
}

// Lack tells what the value of an attribute asks for that is not here; nil if it is all there.
func (o *Object) Lack(keyword string) *Lack {
	a := o.mustAttr(keyword)
	if a.Absent == "" && a.Idle == "" || o.IsDefault(keyword) {
		return nil
	}
	return &Lack{Keyword: a.Keyword, Value: o.Str(keyword), Why: a.Absent + a.Idle, Refuse: a.Absent != ""}
}

// Equal reports whether two objects have the same kind, name and values, times included.
func (o *Object) Equal(p *Object) bool {
	return o.kind == p.kind && o.Name == p.Name && slices.EqualFunc(o.set, p.set, func(a, b entry) bool {
		return a.attr == b.attr && a.value.equal(b.value)
	}) && slices.EqualFunc(o.strays, p.strays, func(a, b stray) bool {
		return a.keyword == b.keyword && slices.Equal(a.values, b.values)
	})
}

// Field is one attribute as DISPLAY shows it: the key with its values, or a
// bare word. Live attributes are blank here: who knows them fills them in.
func (o *Object) Field(keyword string) (key string, values []string, bare bool) {
	a := o.mustAttr(keyword)
	switch {
	case a.Key:
		return a.Keyword, []string{o.textOf(a)}, false
	case a.Keyword == "NAMCOUNT":
		return a.Keyword, []string{fmt.Sprint(len(o.List("NAMES")))}, false
	case a.Live:
		return a.Keyword, []string{""}, false
	case a.Type == Flag:
		if o.Flag(keyword) {
			return a.Keyword, nil, true
		}
		return a.NoForm(), nil, true
	}
	return a.Keyword, a.words(o.get(a)), false
}
