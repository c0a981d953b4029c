package mqsc

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{"DEF QL(A)", "SET AUTHREC PROFILE('x') AUTHADD(A,B) Y()", "DEF CHL(C) CHLTYPE(SVR) REPLACE", "alter ql( X ) put( disabled )", "DIS QS(*) WHERE(PID EQ 148477) type(handle) all",
		"DEF CHL(C) CHLTYPE(SDR) CONNAME('h(1)') XMITQ(X)", "DEF NL(N) NAMES(A,B 'c')", "DEF QL(A) DESCR('it''s", "DIS QMGR;;", "'", "((", "DEF QL(\xff)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			if err.Text == "" || err.ID == "" || err.Pos < 0 || err.Pos > len(text) || len(err.Token) > 100 || len(err.Segment) > maxSegment+10 {
				t.Fatalf("a poor error: %+v", err)
			}
			return
		}
		checkCanonical(t, c)
	})
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"* c\n\nDEF QL(A) +\n  DESCR('x-\ny');\nend\n", "DIS QMGR; DIS QMGR\r\n", "\ufeffDIS QMGR", "a+\n+\n-\n", "';\n;'", ";;;\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := NewReader(strings.NewReader(text))
		r.max = 64
		number, line, raw := 0, 0, 0
		for steps := 0; ; steps++ {
			it, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil || steps > len(text)+1 {
				t.Fatalf("step %d: %v", steps, err)
			}
			if it.Number > 0 {
				if number++; it.Number != number {
					t.Fatalf("number %d follows %d", it.Number, number-1)
				}
			} else if it.Text != "" || it.End {
				t.Fatalf("a command without a number: %+v", it)
			}
			if it.Line < line || len(it.Text) > r.max {
				t.Fatalf("line %d after %d, %d bytes", it.Line, line, len(it.Text))
			}
			line = it.Line
			for _, l := range it.Lines {
				raw += len(l.Text)
			}
			if raw > len(text) {
				t.Fatal("more is echoed than was read")
			}
		}
	})
}

func FuzzParseResponses(f *testing.F) {
	for _, s := range []string{
		"AMQ8409I: Display Queue details.\n   QUEUE(A)                                TYPE(QLOCAL)\n   DESCR(smile :) x)  NOTRIGGER\n",
		"AMQ8550I: x\n   NAMES(A   \n        ,B)    \n", "AMQ8405I: s\nDIS\n\n", "AMQ8450I: x\n   QTIME( , )\n   A(((\n   ,\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size := 0
		for _, r := range ParseResponses(text) {
			for _, fl := range r.Fields {
				if fl.Key == "" || fl.Bare != (fl.Values == nil) {
					t.Fatalf("an impossible field: %+v", fl)
				}
				size += len(fl.Key)
				for _, v := range fl.Values {
					size += len(v)
				}
			}
		}
		if size > len(text) {
			t.Fatalf("%d bytes of fields out of %d bytes of text", size, len(text))
		}
	})
}
