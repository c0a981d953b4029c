package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// printForecast prints what a run would do.
func printForecast(w io.Writer, format string, f *httpapi.Forecast) error {
	switch format {
	case "json":
		return writeJSON(w, f)
	case "jsonl":
		return writeJSONLine(w, f)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s on %s: %s", f.Queue, f.QMgr, plural(f.Depth, "message"))
	if f.Prevented == nil {
		fmt.Fprintf(&b, ", %d would move, %d would stay\n", f.Move, f.Depth-f.Move)
	} else {
		fmt.Fprintf(&b, ", none would move: %s\n", oneLine(f.Prevented.Reason))
	}
	if f.Prevented == nil {
		for _, name := range byShare(f.Share) {
			fmt.Fprintf(&b, "%9d  to %s (%.3g %%)\n", f.To[name], name, f.Share[name]*100)
		}
	} else if f.Move > 0 {
		fmt.Fprintf(&b, "%9d  could move if it were not so\n", f.Move)
	}
	writeLeft(&b, "stay", f.QMgr, &f.Skipped)
	count := func(n int, what string) {
		if n > 0 {
			fmt.Fprintf(&b, "%9d  %s\n", n, what)
		}
	}
	count(f.Uncommit, "uncommitted: they stay until their units of work end")
	count(f.Expired, "expired: they go when somebody comes upon them")
	_, err := b.WriteTo(w)
	return err
}

// byShare gives the names, the greatest part first.
func byShare(share map[string]float64) []string {
	return slices.SortedFunc(maps.Keys(share), func(a, b string) int {
		return cmp.Or(cmp.Compare(share[b], share[a]), strings.Compare(a, b))
	})
}

// writeLeft writes why messages stay, with their numbers.
func writeLeft(w io.Writer, verb, qmgr string, l *httpapi.Left) {
	for _, r := range []struct {
		n    int
		what string
	}{
		{l.Addressed, "addressed to " + qmgr + " by who put them"},
		{l.Bound, "bound to this instance when their queue was opened; --even-if-bound moves them"},
		{l.Grouped, "of groups that are not all here, or cannot go whole"},
		{l.Poison, "backed out as often as BOTHRESH says, or more"},
		{l.Returned, "moved lately and came back"},
	} {
		if r.n > 0 {
			fmt.Fprintf(w, "%9d  %s: %s\n", r.n, verb, r.what)
		}
	}
}

// printRun prints the final report of a run.
func printRun(w io.Writer, format string, r *httpapi.Redistribution) error {
	switch format {
	case "json":
		return writeJSON(w, r)
	case "jsonl":
		return writeJSONLine(w, r)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s on %s: %s moved", r.Queue, r.QMgr, plural(r.Moved, "message"))
	if r.Moved > 0 {
		fmt.Fprintf(&b, ", %.0f a second", r.Rate)
	}
	b.WriteString("\n")
	if !unseen(r) {
		b.WriteString(sum(r))
	}
	for _, name := range slices.SortedFunc(maps.Keys(r.To), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.To[b], r.To[a]), strings.Compare(a, b))
	}) {
		fmt.Fprintf(&b, "%9d  moved to %s\n", r.To[name], name)
	}
	writeLeft(&b, "stay", r.QMgr, &r.Skipped)
	if r.Uncommit > 0 {
		fmt.Fprintf(&b, "%9d  put or got, and not committed\n", r.Uncommit)
	}
	if r.InDoubt {
		b.WriteString("of one unit of work it is not known whether it moved; nothing is lost, and the depths tell\n")
	}
	if r.State == "reader" {
		fmt.Fprintf(&b, "ended: %s\n", oneLine(r.Reason))
	}
	_, err := b.WriteTo(w)
	return err
}

// unseen says that a run ended before anybody had looked at the queue: its numbers
// are of nothing.
func unseen(r *httpapi.Redistribution) bool {
	return (r.State == "cancelled" || r.State == "failed") && r.Start == 0 && r.Arrived == 0 && r.Moved == 0 && r.Remaining == 0
}

// sum says how the numbers add up.
func sum(r *httpapi.Redistribution) string {
	parts := []string{}
	add := func(n int, what string) {
		if n != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.Moved, "moved")
	add(r.Expired, "expired")
	add(r.Taken, "taken by others")
	parts = append(parts, fmt.Sprintf("%d there now", r.Remaining))
	before := fmt.Sprintf("%d at the start", r.Start)
	if r.Arrived > 0 {
		before += fmt.Sprintf(" + %d that came", r.Arrived)
	}
	return fmt.Sprintf("%s = %s\n", before, strings.Join(parts, " + "))
}
