package mqsc

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, r *Reader) []Item {
	t.Helper()
	var out []Item
	for {
		it, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, it)
	}
}

// A command beyond the bound is one error; the commands behind it are read.
func TestTooLongCommands(t *testing.T) {
	long := strings.Repeat("x", MaxCommand)
	for name, in := range map[string]string{
		"one line":     "DEF QL(A) DESCR('" + long + "')\n",
		"continued":    "DEF QL(A) +\n DESCR('" + long[:MaxCommand/2] + "-\n" + long[:MaxCommand/2] + "')\n",
		"many lines":   "DEF QL(A) +\n" + strings.Repeat("+\n", MaxCommand) + "PUT(ENABLED)\n",
		"comments":     "DEF QL(A) +\n" + strings.Repeat("* comment\n", MaxCommand/5) + "PUT(ENABLED)\n",
		"far too long": "DEF QL(A) DESCR('" + strings.Repeat(long, 5) + "')\n",
	} {
		t.Run(name, func(t *testing.T) {
			items := readAll(t, NewReader(strings.NewReader(in+"\nDIS QMGR\n")))
			if len(items) != 3 && len(items) != 2 {
				t.Fatalf("%d items", len(items))
			}
			first, last := items[0], items[len(items)-1]
			if first.Err == nil || first.Err.ID != idLength || first.Number != 1 || first.Text != "" {
				t.Errorf("the long command: number %d, error %v, %d bytes", first.Number, first.Err, len(first.Text))
			}
			if last.Err != nil || last.Number != 2 || last.Text != "DIS QMGR" {
				t.Errorf("the next command: %+v", last)
			}
			size := 0
			for _, l := range first.Lines {
				size += len(l.Text)
			}
			if size > MaxCommand+10 {
				t.Errorf("%d bytes are kept for the echo", size)
			}
		})
	}
}

func TestLongCommentIsNoError(t *testing.T) {
	items := readAll(t, NewReader(strings.NewReader("*"+strings.Repeat("x", 3*MaxCommand)+"\nDIS QMGR")))
	if len(items) != 2 || items[0].Err != nil || items[1].Text != "DIS QMGR" {
		t.Errorf("%d items, error %v", len(items), items[0].Err)
	}
}

func TestByteOrderMark(t *testing.T) {
	items := readAll(t, NewReader(strings.NewReader("\ufeffDIS QMGR\n\ufeffDIS QMGR\n")))
	if items[0].Text != "DIS QMGR" || items[1].Text != "\ufeffDIS QMGR" {
		t.Errorf("%+v", items)
	}
}

func TestReaderTellsInputErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	r := NewReader(io.MultiReader(strings.NewReader("DIS QMGR\nDEF QL(A) +\n"), iotest.ErrReader(broken)))
	if it, err := r.Next(); err != nil || it.Text != "DIS QMGR" {
		t.Fatalf("%+v %v", it, err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// A person at a terminal gets an answer at the end of a line, not at the end of the input.
func TestReaderDoesNotReadAhead(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	go func() { _, _ = io.WriteString(out, "DIS QMGR\n") }()
	if it, err := NewReader(in).Next(); err != nil || it.Text != "DIS QMGR" {
		t.Errorf("%+v %v", it, err)
	}
}
