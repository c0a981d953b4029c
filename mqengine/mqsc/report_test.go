package mqsc

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummaryWords(t *testing.T) {
	for _, tt := range []struct {
		read, syntax, failed int
		verify               bool
		want                 string
		exit                 int
	}{
		{0, 0, 0, false, "No MQSC commands read.\nNo commands have a syntax error.\nAll valid MQSC commands were processed.\n", 0},
		{1, 1, 0, false, "One MQSC command read.\nOne command has a syntax error.\nAll valid MQSC commands were processed.\n", 10},
		{3, 0, 1, false, "3 MQSC commands read.\nNo commands have a syntax error.\nOne valid MQSC command could not be processed.\n", 10},
		{9, 2, 3, false, "9 MQSC commands read.\n2 commands have a syntax error.\n3 valid MQSC commands could not be processed.\n", 10},
		{2, 0, 0, true, "2 MQSC commands read.\nNo commands have a syntax error.\n", 0},
	} {
		var b strings.Builder
		p := NewPrinter(&b, false)
		for i := range tt.read {
			p.Echo(Item{Number: i + 1, Lines: []Line{{i + 1, "not echoed"}}})
		}
		p.Echo(Item{Number: tt.read + 1, End: true}) // END is not counted
		for range tt.syntax {
			p.syntax++
		}
		for range tt.failed {
			p.Result(Result{Failed: true})
		}
		p.Summary(tt.verify)
		if d := cmp.Diff(tt.want, b.String()); d != "" {
			t.Error(d)
		}
		if p.ExitCode() != tt.exit {
			t.Errorf("exit %d, want %d", p.ExitCode(), tt.exit)
		}
		if r, s, f := p.Counts(); r != tt.read || s != tt.syntax || f != tt.failed {
			t.Errorf("counts %d %d %d", r, s, f)
		}
	}
}

// What a report says when there is no queue manager to send commands to.
func TestNoQueueManager(t *testing.T) {
	var b strings.Builder
	p := NewPrinter(&b, true)
	p.Responses(Reply("AMQ8118E"))
	p.Summary(false)
	want := "AMQ8118E: IBM MQ queue manager does not exist.\nNo MQSC commands read.\nNo commands have a syntax error.\nAll valid MQSC commands were processed.\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

func TestCells(t *testing.T) {
	ninetynine := strings.Repeat("x", 99)
	for _, tt := range []struct {
		name   string
		id     string
		fields []Field
		want   []string
	}{
		{"39 characters share a line", "AMQ8409I",
			[]Field{{Key: "CONNAME", Values: []string{"partner.example.internal(1414)"}}, {Key: "CURRENT", Bare: true}},
			[]string{"   CONNAME(partner.example.internal(1414)) CURRENT"}},
		{"40 do not", "AMQ8409I",
			[]Field{{Key: "QUEUE", Values: []string{"SYSTEM.ADMIN.TRACE.ACTIVITY.QUEUE"}}, {Key: "TYPE", Values: []string{"QLOCAL"}}},
			[]string{"   QUEUE(SYSTEM.ADMIN.TRACE.ACTIVITY.QUEUE)", "   TYPE(QLOCAL)                         "}},
		{"a long cell leaves its left neighbour alone", "AMQ8409I",
			[]Field{{Key: "A", Values: []string{"1"}}, {Key: "B", Values: []string{ninetynine}}, {Key: "C", Values: []string{""}}, {Key: "D", Values: []string{"2"}}},
			[]string{"   A(1)                                 ", "   B(" + ninetynine + ")", "   C( )                                    D(2)"}},
		{"pairs and blanks", "AMQ8450I",
			[]Field{{Key: "QTIME", Values: []string{"", ""}}, {Key: "QTIME", Values: []string{"10404", "8223"}}, {Key: "COMPHDR", Values: []string{"NONE", "NONE"}}},
			[]string{"   QTIME( , )                              QTIME(10404, 8223)", "   COMPHDR(NONE,NONE)                   "}},
		{"a list", "AMQ8550I",
			[]Field{{Key: "NAMELIST", Values: []string{"N"}}, {Key: "NAMCOUNT", Values: []string{"2"}}, {Key: "NAMES", Values: []string{"A", "B"}}},
			[]string{"   NAMELIST(N)                          ", "   NAMCOUNT(2)                          ", "   NAMES(A                              ", "        ,B)                             "}},
		{"a list of one or none is a cell", "AMQ8550I",
			[]Field{{Key: "NAMES", Values: []string{"A"}}, {Key: "NAMES", Values: []string{""}}},
			[]string{"   NAMES(A)                                NAMES( )"}},
		{"a connection", "AMQ8276I",
			[]Field{{Key: "CONN", Values: []string{"577C425321295301"}}, {Key: "EXTCONN", Values: []string{"414D5143514D31202020202020202020"}}, {Key: "TYPE", Values: []string{"CONN"}}, {Key: "PID", Values: []string{"9740"}}},
			[]string{"   CONN(577C425321295301)               ", "   EXTCONN(414D5143514D31202020202020202020)", "   TYPE(CONN)                           ", "   PID(9740)                            "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Reply(tt.id)
			r.Fields = tt.fields
			lines := strings.Split(strings.TrimSuffix(r.String(), "\n"), "\n")
			if d := cmp.Diff(tt.want, lines[1:]); d != "" {
				t.Error(d)
			}
		})
	}
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errors.New("the pipe is closed")
	}
	return len(b), nil
}

func TestPrinterKeepsTheFirstError(t *testing.T) {
	w := &failingWriter{left: 1}
	p := NewPrinter(w, true)
	p.Header("QM1")
	p.Result(Result{Responses: []Response{Reply("AMQ8006I"), Reply("AMQ8006I")}})
	p.Echo(Item{Number: 1, Lines: []Line{{1, "DIS QMGR"}}})
	p.Summary(false)
	if p.Err() == nil || w.left != -1 {
		t.Errorf("error %v, %d writes after it", p.Err(), -1-w.left)
	}
}
