package mqengine

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/mqi"
)

func TestEscape_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := escape{
			kind: rapid.SampledFrom([]int32{cfResponse, cfCommand}).Draw(t, "kind"), command: cmdEscape,
			sequence: rapid.Int32().Draw(t, "sequence"), last: true, compCode: mqi.CompCode(rapid.IntRange(0, 2).Draw(t, "code")),
			reason: mqi.Reason(rapid.Int32().Draw(t, "reason")), text: rapid.String().Draw(t, "text"),
		}
		if want.kind == cfResponse {
			want.last = rapid.Bool().Draw(t, "last")
		}
		got, err := decodeEscape(want.encode(), 546)
		if err != nil || got != want {
			t.Fatalf("%+v comes back as %+v, %v", want, got, err)
		}
	})
}

// longs is a message of MQLONGs, with text behind them.
func longs(order binary.AppendByteOrder, text string, values ...int32) []byte {
	var b []byte
	for _, v := range values {
		b = order.AppendUint32(b, uint32(v))
	}
	return append(b, text...)
}

func TestEscape_BigEndian(t *testing.T) {
	t.Parallel()
	b := longs(binary.BigEndian, "DIS QMGR", 1, 36, 1, 38, 1, 1, 0, 0, 2, 3, 16, 1017, 1, 4, 28, 3014, 1208, 8)
	if e, err := decodeEscape(b, encodingBig); err != nil || e.text != "DIS QMGR" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := decodeEscape(b, 546); err == nil {
		t.Error("read in the wrong order of bytes")
	}
}

// malformed are command messages that are none, and the reason code that each gets.
func malformed() map[string]struct {
	body []byte
	want mqi.Reason
} {
	le := func(text string, v ...int32) []byte { return longs(binary.LittleEndian, text, v...) }
	head := func(count int32) []int32 { return []int32{1, 36, 1, 38, 1, 1, 0, 0, count} }
	typ := []int32{3, 16, 1017, 1}
	with := func(lists ...[]int32) []int32 {
		var out []int32
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	return map[string]struct {
		body []byte
		want mqi.Reason
	}{
		"nothing":                {nil, rccfMessageLength},
		"text":                   {[]byte("DISPLAY QMGR"), rccfMessageLength},
		"an event":               {le("", 7, 36, 1, 38, 1, 1, 0, 0, 0), rccfHeaderType},
		"a response":             {le("DIS QMGR", with([]int32{2, 36, 1, 38, 1, 1, 0, 0, 2}, typ, []int32{4, 28, 3014, 1208, 8})...), rccfHeaderType},
		"a header of 40 bytes":   {le("", 1, 40, 1, 38, 1, 1, 0, 0, 0), rccfHeaderLength},
		"version 9":              {le("", 1, 36, 9, 38, 1, 1, 0, 0, 0), rccfHeaderVersion},
		"not the last":           {le("", 1, 36, 1, 38, 1, 0, 0, 0, 0), rccfControl},
		"another command":        {le("", 1, 36, 1, 13, 1, 1, 0, 0, 0), rccfCommand},
		"a billion parameters":   {le("", head(1<<30)...), rccfParameterCount},
		"minus one parameter":    {le("", head(-1)...), rccfParameterCount},
		"no parameters":          {le("", head(0)...), rccfTooFew},
		"parameters that end":    {le("", head(2)...), rccfParameterCount},
		"no text":                {le("", with(head(1), typ)...), rccfTooFew},
		"type twice":             {le("", with(head(2), typ, typ)...), rccfIntegerParam},
		"another type of escape": {le("", with(head(1), []int32{3, 16, 1017, 2})...), rccfEscapeType},
		"a short integer":        {le("", with(head(1), []int32{3, 12, 1017})...), rccfIntegerLength},
		"a string longer":        {le("", with(head(1), []int32{4, 1 << 30, 3014, 1208, 4})...), rccfStringLength},
		"a string of minus one":  {le("ABCD", with(head(1), []int32{4, 24, 3014, 1208, -1})...), rccfStringLength},
		"a string beyond":        {le("ABCD", with(head(1), []int32{4, 24, 3014, 1208, 5})...), rccfStringLength},
		"a negative length":      {le("ABCD", with(head(1), []int32{4, -24, 3014, 1208, 4})...), rccfStringLength},
		"another string":         {le("ABCD", with(head(1), []int32{4, 24, 2016, 1208, 4})...), rccfStringParam},
		"a list":                 {le("", with(head(1), []int32{5, 24, 1017, 1, 1})...), rccfStructure},
		"bytes behind":           {le("ABCDEFGH", with(head(2), typ, []int32{4, 24, 3014, 1208, 4})...), rccfMessageLength},
	}
}

func TestEscape_Malformed_Refused(t *testing.T) {
	t.Parallel()
	for name, x := range malformed() {
		e, err := decodeEscape(x.body, 546)
		if name == "a response" { // which is well-formed
			if err != nil || e.kind != cfResponse {
				t.Errorf("%s: %+v, %v", name, e, err)
			}
			continue
		}
		if mqi.ReasonOf(err) != x.want {
			t.Errorf("%s: %v, want %d", name, err, x.want)
		}
	}
}

// Whatever comes is refused or means the same when it is written again.
func FuzzDecodeEscape(f *testing.F) {
	for _, x := range malformed() {
		f.Add(x.body, int32(546))
	}
	good := escape{kind: cfCommand, command: cmdEscape, sequence: 1, last: true, text: "DIS QMGR"}
	f.Add(good.encode(), int32(546))
	f.Add(longs(binary.BigEndian, "DIS QMGR", 1, 36, 1, 38, 1, 1, 0, 0, 2, 3, 16, 1017, 1, 4, 28, 3014, 1208, 8), int32(273))
	f.Fuzz(func(t *testing.T, b []byte, encoding int32) {
		e, err := decodeEscape(b, encoding)
		if err != nil {
			return
		}
		again, err := decodeEscape(e.encode(), 546)
		if err != nil || again != e {
			t.Fatalf("%x: %+v, again %+v, %v", b, e, again, err)
		}
	})
}
