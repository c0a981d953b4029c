package object

import (
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"pgregory.net/rapid"
)

// drawValue draws a value that the attribute takes.
func drawValue(t *rapid.T, a *Attr) []string {
	switch a.Type {
	case Int:
		if len(a.Words) > 0 && rapid.Bool().Draw(t, "word") {
			return []string{rapid.SampledFrom(a.Words).Draw(t, "which").Name}
		}
		return a.words(value{n: rapid.IntRange(a.Min, a.Max).Draw(t, a.Keyword)})
	case Enum:
		return []string{rapid.SampledFrom(a.Values).Draw(t, a.Keyword)}
	case List:
		return rapid.SliceOfN(drawName(a.MaxLen), 0, 5).Draw(t, a.Keyword)
	case Name:
		return []string{rapid.OneOf(rapid.Just(""), drawName(a.MaxLen)).Draw(t, a.Keyword)}
	}
	return []string{rapid.StringOfN(rapid.RuneFrom([]rune("aZ0 '(),;*äß")), 0, 5, min(a.MaxLen, 60)).Draw(t, a.Keyword)}
}

func drawName(longest int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("ABZaz09./_%")), 1, min(longest, 8), -1)
}

func drawObject(t *rapid.T) *Object {
	k := rapid.SampledFrom(allKinds.Kinds()).Draw(t, "kind")
	o := New(k, drawName(k.MaxNameLen()).Draw(t, "name"))
	for _, a := range Attrs(k) {
		if a.Live || a.Key || !rapid.Bool().Draw(t, a.Keyword+"?") {
			continue
		}
		if a.Type == Flag {
			if err := o.SetFixed(rapid.SampledFrom([]string{a.Keyword, a.NoForm()}).Draw(t, a.Keyword)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := o.SetFixed(a.Keyword, drawValue(t, a)...); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func TestStoredFormComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawObject(t)
		b, err := o.AppendBinary([]byte("prefix"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(b[len("prefix"):])
		if err != nil {
			t.Fatal(err)
		}
		if !o.Equal(p) {
			t.Fatalf("decoded %v, was %v", p, o)
		}
	})
}

// Setting what is shown changes nothing: DISPLAY and DEFINE agree.
func TestShownValuesCanBeSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawObject(t)
		p := New(o.Kind(), o.Name)
		for _, a := range Attrs(o.Kind()) {
			if a.Live || a.Key {
				continue
			}
			key, values, _ := o.Field(a.Keyword)
			if err := p.SetFixed(key, values...); err != nil {
				t.Fatal(err)
			}
		}
		if !o.Equal(p) {
			t.Fatalf("rebuilt %v, was %v", p, o)
		}
	})
}

// A newer release's attribute survives being stored by this one.
func TestUnknownAttributesAreKept(t *testing.T) {
	b := []byte{formatVersion}
	b = wire.AppendString(b, "QLOCAL")
	b = wire.AppendString(b, "A")
	b = wire.AppendUint(b, 2)
	b = appendEntry(b, "NEWTHING", []string{"x", "y"})
	b = appendEntry(b, "PUT", []string{"DISABLED"})
	o, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if o.Str("PUT") != "DISABLED" {
		t.Error("a known attribute beside an unknown one was lost")
	}
	again, err := o.Clone().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(again), "NEWTHING") {
		t.Error("the unknown attribute was lost")
	}
	if p, err := Decode(again); err != nil || !p.Equal(o) {
		t.Errorf("second round: %v", err)
	}
	if o.Equal(New(QLocal, "A")) {
		t.Error("objects that differ are equal")
	}
}

func TestDecodeRefuses(t *testing.T) {
	head := func(version byte, kind string) []byte {
		return wire.AppendString(wire.AppendString([]byte{version}, kind), "A")
	}
	good := wire.AppendUint(head(1, "QLOCAL"), 0)
	if _, err := Decode(good); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"empty":       {},
		"version":     wire.AppendUint(head(2, "QLOCAL"), 0),
		"kind":        wire.AppendUint(head(1, "QNONSENSE"), 0),
		"no count":    head(1, "QLOCAL"),
		"huge count":  wire.AppendUint(head(1, "QLOCAL"), 1<<60),
		"left over":   append(append([]byte{}, good...), 0),
		"bad value":   appendEntry(wire.AppendUint(head(1, "QLOCAL"), 1), "PUT", []string{"PERHAPS"}),
		"live":        appendEntry(wire.AppendUint(head(1, "QLOCAL"), 1), "CURDEPTH", []string{"1"}),
		"twice":       appendEntry(appendEntry(wire.AppendUint(head(1, "QLOCAL"), 2), "X", nil), "X", nil),
		"short entry": append(wire.AppendUint(head(1, "QLOCAL"), 1), 3, 'P', 'U'),
	} {
		if o, err := Decode(b); err == nil {
			t.Errorf("%s: decoded %v", name, o)
		}
	}
}

func FuzzDecodeObject(f *testing.F) {
	for _, o := range SystemObjects() {
		o.SetTimes(time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC())
		b, err := o.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Decode(b)
		if err != nil {
			return
		}
		again, err := o.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(again)
		if err != nil || !p.Equal(o) {
			t.Fatalf("what was decoded does not come back: %v", err)
		}
	})
}
