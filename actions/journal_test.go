package actions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/situations"
)

func entryNamed(id string) Entry {
	return Entry{
		Time: time.Date(2026, 11, 30, 10, 5, 3, 0, time.UTC), ID: id, Attempt: 1, Situation: "S", QMgr: "QM2",
		Queue: "DCQ1", Edge: situations.EdgeOpen, Action: "put DISABLED", By: "rule", Result: resultStarted,
	}
}

func decodeAll(t *testing.T, lines []json.RawMessage) []Entry {
	t.Helper()
	out := make([]Entry, len(lines))
	for i, l := range lines {
		if err := json.Unmarshal(l, &out[i]); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	return out
}

func ids(t *testing.T, lines []json.RawMessage) []string {
	t.Helper()
	var out []string
	for _, e := range decodeAll(t, lines) {
		out = append(out, e.ID)
	}
	return out
}

func openTestJournal(t *testing.T, path string, size int64) *Journal {
	t.Helper()
	j, err := openJournal(path, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func write(t *testing.T, j *Journal, names ...string) {
	t.Helper()
	for _, n := range names {
		if err := j.Append(entryNamed(n), true); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJournalLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "actions.jsonl")
	j := openTestJournal(t, path, journalSize)
	write(t, j, "i1")
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"time":"2026-11-30T10:05:03Z","id":"i1","attempt":1,"situation":"S","qmgr":"QM2","queue":"DCQ1","edge":"open",` +
		`"action":"put DISABLED","by":"rule","before":null,"after":null,"result":"started","reason":"","seen_by":null,` +
		`"moved":0,"remaining":0,"duration_ms":0}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestJournalSurvivesATornLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "actions.jsonl")
	j := openTestJournal(t, path, journalSize)
	write(t, j, "i1", "i2")
	j.Close()
	whole, _ := os.ReadFile(path)
	for cut := 1; cut < len(whole)/2; cut += 37 {
		if err := os.WriteFile(path, whole[:len(whole)-cut], 0o640); err != nil {
			t.Fatal(err)
		}
		j, err := OpenJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, j, "i3")
		j.Close()
		page, err := ReadJournal(path, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"i1", "i3"}, ids(t, page.Lines)); diff != "" {
			t.Errorf("cut by %d: %s", cut, diff)
		}
	}
}

func TestJournalRotates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "actions.jsonl")
	line, _ := json.Marshal(entryNamed("i000"))
	j := openTestJournal(t, path, int64(3*(len(line)+1)))
	var all []string
	for i := range 25 {
		all = append(all, fmt.Sprintf("i%03d", i))
	}
	write(t, j, all...)
	page, err := ReadJournal(path, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	// Nine files of three lines; the current one and five more are kept.
	if diff := cmp.Diff(all[25-16:], ids(t, page.Lines)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(rotated(path, journalKept+1)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a sixth old file: %v", err)
	}
	tail, err := TailJournal(path, 5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all[20:], ids(t, tail)); diff != "" {
		t.Error(diff)
	}
	// A cursor stays good over a rotation, and says so when its file is gone.
	first, err := ReadJournal(path, "", 4)
	if err != nil {
		t.Fatal(err)
	}
	write(t, j, "i025", "i026")
	var got []string
	for p, next := first, first.Next; ; next = p.Next {
		got = append(got, ids(t, p.Lines)...)
		if p.Next == "" {
			break
		}
		if p, err = ReadJournal(path, next, 4); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(append(all[25-16:], "i025", "i026"), got); diff != "" {
		t.Error(diff)
	}
	for i := range 30 {
		write(t, j, fmt.Sprintf("n%03d", i))
	}
	for _, cursor := range []string{first.Next, "nonsense", "12:", "x:-1"} {
		if _, err := ReadJournal(path, cursor, 4); !errors.Is(err, ErrCursor) {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
}

func TestJournalOfNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "actions.jsonl")
	page, err := ReadJournal(path, "", 10)
	if err != nil || page.Lines == nil || len(page.Lines) != 0 || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
	if lines, err := TailJournal(path, 3); err != nil || len(lines) != 0 {
		t.Errorf("%v, %v", lines, err)
	}
	if _, err := OpenJournal(filepath.Join(path, "no", "such")); err == nil || !strings.Contains(err.Error(), "journal") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestJournalThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "actions.jsonl")
	j := openTestJournal(t, path, journalSize)
	write(t, j, "i1")
	good := j.file
	bad, err := os.Open(path) // for reading only
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	j.file = bad
	if err := j.Append(entryNamed("i2"), true); err == nil {
		t.Fatal("written to a file open for reading")
	}
	if j.Ready() || j.Err() == nil {
		t.Error("ready after a failure")
	}
	j.probed = time.Now().Add(-probeEvery)
	if j.Ready() {
		t.Error("the probe succeeded")
	}
	j.file = good
	j.probed = time.Now().Add(-probeEvery)
	if !j.Ready() {
		t.Errorf("not ready again: %v", j.Err())
	}
	write(t, j, "i3")
	page, err := ReadJournal(path, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"i1", "i3"}, ids(t, page.Lines)); diff != "" {
		t.Error(diff)
	}
	j.Close()
	if j.Ready() || j.Append(entryNamed("i4"), false) == nil {
		t.Error("a closed journal takes lines")
	}
}

// Somebody moves the journal or its folder away: lines must not go where nobody
// finds them, and without a place for them nothing may be done.
func TestJournalMovedAway(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "daemon")
	must(t, os.Mkdir(dir, 0o750))
	path := filepath.Join(dir, "actions.jsonl")
	j := openTestJournal(t, path, journalSize)
	read := func() []string {
		t.Helper()
		page, err := ReadJournal(path, "", 100)
		must(t, err)
		return ids(t, page.Lines)
	}
	write(t, j, "i1")
	must(t, os.Rename(path, path+".old")) // as a tool that rotates logs does
	write(t, j, "i2")
	if diff := cmp.Diff([]string{"i2"}, read()); diff != "" {
		t.Error("after the file was moved:", diff)
	}
	must(t, os.Rename(dir, dir+".away"))
	if err := j.Append(entryNamed("i3"), true); err == nil || j.Ready() {
		t.Errorf("without a folder: %v, ready %v", err, j.Ready())
	}
	must(t, os.Mkdir(dir, 0o750))
	write(t, j, "i4")
	if diff := cmp.Diff([]string{"i4"}, read()); diff != "" || !j.Ready() {
		t.Error("after the folder was replaced:", diff)
	}
	must(t, os.RemoveAll(dir))
	must(t, os.WriteFile(dir, nil, 0o600))
	if err := j.Append(entryNamed("i5"), true); err == nil {
		t.Error("a line went nowhere")
	}
}
