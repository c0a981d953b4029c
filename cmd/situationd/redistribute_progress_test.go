package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// Where no terminal is a line comes every few seconds, and none for a short run.
func TestMoveProgress_Lines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	begin := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	p := newMoveProgress(&out, false, begin)
	for i := range 50 {
		r := httpapi.Redistribution{Queue: "DCQ1", State: "moving", Moved: i * 10, Remaining: 500 - i*10, Rate: 100}
		p.step(&r, begin.Add(time.Duration(i)*100*time.Millisecond))
	}
	p.end()
	want := "DCQ1: moving, 200 moved, 300 remain, 100 a second\nDCQ1: moving, 400 moved, 100 remain, 100 a second\n"
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

// On a terminal there is a bar, of what may still move, and it is taken away before the report.
func TestMoveProgress_Bar(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newMoveProgress(&out, true, time.Now())
	p.step(&httpapi.Redistribution{Queue: "DCQ1", State: "waiting to begin", Reason: "a sample"}, time.Now())
	for !strings.Contains(out.String(), "50/190") { // it draws now and then only
		p.step(&httpapi.Redistribution{Queue: "DCQ1", State: "moving", Moved: 50, Remaining: 150, Skipped: httpapi.Left{Addressed: 10}}, time.Now())
		if out.Len() > 1<<20 {
			t.Fatal("no such bar comes")
		}
	}
	p.end()
	if text := out.String(); !strings.HasSuffix(text, "\r") && !strings.HasSuffix(text, "\x1b[2K\r") {
		t.Errorf("the bar is still there: %q", text[max(0, len(text)-40):])
	}
}

// The table adds up, and a forecast names every reason.
func TestPrintRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := httpapi.Redistribution{
		Queue: "DCQ1", QMgr: "QM2", State: "reader", Reason: "a reader is back", Over: true, Start: 100, Arrived: 5, Moved: 60,
		Expired: 2, Taken: 3, Remaining: 40, Uncommit: 4, To: map[string]int{"QM3": 20, "QM4": 40},
		Skipped: httpapi.Left{Addressed: 1, Bound: 2, Grouped: 3, Poison: 4, Returned: 5}, Rate: 123.4, InDoubt: true,
	}
	if err := printRun(&out, "table", &r); err != nil {
		t.Fatal(err)
	}
	want := `DCQ1 on QM2: 60 messages moved, 123 a second
100 at the start + 5 that came = 60 moved + 2 expired + 3 taken by others + 40 there now
       40  moved to QM4
       20  moved to QM3
        1  stay: addressed to QM2 by who put them
        2  stay: bound to this instance when their queue was opened; --even-if-bound moves them
        3  stay: of groups that are not all here, or cannot go whole
        4  stay: backed out as often as BOTHRESH says, or more
        5  stay: moved lately and came back
        4  put or got, and not committed
of one unit of work it is not known whether it moved; nothing is lost, and the depths tell
ended: a reader is back
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

// A run that nobody could begin says nothing of a queue that nobody looked at; one
// that found it empty does.
func TestPrintRun_NothingSeen(t *testing.T) {
	t.Parallel()
	for state, sum := range map[string]bool{"cancelled": false, "failed": false, "empty": true, "refused": true} {
		var out bytes.Buffer
		r := httpapi.Redistribution{Queue: "DCQ1", QMgr: "QM2", State: state, Reason: "the daemon ends", Over: true}
		if err := printRun(&out, "table", &r); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "there now") != sum || !strings.HasPrefix(out.String(), "DCQ1 on QM2: 0 messages moved\n") {
			t.Errorf("%s:\n%s", state, out.String())
		}
	}
}
