package mqsc

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files anew")

// eachGolden runs make over section `in` of every file of a folder and compares
// the result with section `out`.
func eachGolden(t *testing.T, folder string, make func(in string) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files in %s: %v", folder, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var in, want string
			for _, f := range a.Files {
				switch f.Name {
				case "in":
					in = string(f.Data)
				case "out":
					want = string(f.Data)
				}
			}
			got := make(in)
			if *update {
				a.Files = []txtar.File{{Name: "in", Data: []byte(in)}, {Name: "out", Data: []byte(got)}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("differs (-want +got):\n%s", d)
			}
		})
	}
}

// TestParseGolden: one command a line; what comes out is the canonical command,
// or behind ! the error with its token.
func TestParseGolden(t *testing.T) {
	eachGolden(t, "parse", func(in string) string {
		var b strings.Builder
		for line := range strings.Lines(in) {
			line = strings.TrimSuffix(line, "\n")
			c, err := Parse(line)
			if err != nil {
				fmt.Fprintf(&b, "! %s\n  token %q at %d\n", err, err.Token, err.Pos)
				continue
			}
			if c.Text != line {
				t.Errorf("Text is %q, typed %q", c.Text, line)
			}
			fmt.Fprintf(&b, "%s\n", c)
		}
		return b.String()
	})
}

// TestReaderGolden: every item with its number, line, echo and command. In the
// input $ ends a line that has blanks at its end, and ^M is a carriage return.
func TestReaderGolden(t *testing.T) {
	eachGolden(t, "reader", func(in string) string {
		in = strings.ReplaceAll(strings.ReplaceAll(in, "$\n", "\n"), "^M", "\r")
		var b strings.Builder
		r := NewReader(strings.NewReader(in))
		for {
			it, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					fmt.Fprintf(&b, "error: %v\n", err)
				}
				return b.String()
			}
			fmt.Fprintf(&b, "number %d line %d end %v\n", it.Number, it.Line, it.End)
			for _, l := range it.Lines {
				fmt.Fprintf(&b, "  echo %d %q\n", l.Number, l.Text)
			}
			if it.Number > 0 {
				fmt.Fprintf(&b, "  text %q\n", it.Text)
			}
		}
	})
}

// TestReportGolden runs an input as runmqsc would, with a queue manager that
// has no objects and takes every definition.
func TestReportGolden(t *testing.T) {
	eachGolden(t, "report", func(in string) string {
		var b strings.Builder
		p := NewPrinter(&b, true)
		p.Header("QM1")
		r := NewReader(strings.NewReader(in))
		for {
			it, err := r.Next()
			if err != nil {
				break
			}
			p.Echo(it)
			if it.End {
				break
			}
			if it.Number == 0 {
				continue
			}
			c, perr := Parse(it.Text)
			switch {
			case perr != nil:
				p.SyntaxError(perr)
			case c.Verb == "DISPLAY":
				name := c.Name
				if c.Generic() {
					name = ""
				}
				p.Result(Result{Failed: true, Responses: []Response{Reply("AMQ8147E", name)}})
			default:
				p.Result(Result{Responses: []Response{Reply("AMQ8008I")}})
			}
		}
		p.Summary(false)
		if p.Err() != nil {
			t.Error(p.Err())
		}
		return strings.ReplaceAll(b.String(), " \n", " $\n") + fmt.Sprintf("exit %d\n", p.ExitCode())
	})
}

// TestLayoutGolden: reports of real queue managers (shortened) and of ours are
// read and laid out again; both forms are recorded. $ marks blanks at the end of a line.
func TestLayoutGolden(t *testing.T) {
	eachGolden(t, "layout", func(in string) string {
		var b strings.Builder
		for _, r := range ParseResponses(strings.ReplaceAll(in, "$\n", "\n")) {
			for _, f := range r.Fields {
				fmt.Fprintf(&b, "# %s bare=%v %q\n", f.Key, f.Bare, f.Values)
			}
			b.WriteString(strings.ReplaceAll(r.String(), " \n", " $\n"))
		}
		return b.String()
	})
}
