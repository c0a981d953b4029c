package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// publicFile is a line of testdata/public/expected.txt.
type publicFile struct {
	name                 string
	read, syntax, failed int
	line                 int // of the first error; 0 for none
}

func publicFiles(t *testing.T, dir string) []publicFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []publicFile
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		var f publicFile
		if _, err := fmt.Sscan(line, &f.name, &f.read, &f.syntax, &f.failed, &f.line); err != nil {
			t.Fatalf("expected.txt: %q: %v", line, err)
		}
		out = append(out, f)
	}
	return out
}

// MQSC as people publish it goes through a queue manager of its own: the summary
// of mqsc has the counts, and the creation of another one stops at the line of
// the first error.
func TestPublicFiles(t *testing.T) {
	t.Parallel()
	const dir = "testdata/public"
	files := publicFiles(t, dir)
	there, err := filepath.Glob(filepath.Join(dir, "*.mqsc"))
	if err != nil || len(there) != len(files) || len(files) < 25 {
		t.Fatalf("%d files, %d expectations: %v", len(there), len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(f.name, ".mqsc"), func(t *testing.T) {
			t.Parallel()
			checkPublic(t, filepath.Join(dir, f.name), f)
		})
	}
}

func checkPublic(t *testing.T, path string, want publicFile) {
	data := t.TempDir()
	host(t, data, "QM1")
	got := call(t, data, "runmqsc", "-f", path, "QM1")
	code := mqsc.ExitOK
	if want.syntax+want.failed > 0 {
		code = mqsc.ExitFailed
	}
	read, syntax, failed := closingLines(got.stdout)
	if got.code != code || read != want.read || syntax != want.syntax || failed != want.failed {
		t.Errorf("exit %d, %d read, %d syntax errors, %d failed; want %d %d %d %d:\n%s%s",
			got.code, read, syntax, failed, code, want.read, want.syntax, want.failed, got.stderr, got.stdout)
	}
	// To check alone finds the errors of syntax and no others.
	if got := call(t, data, "runmqsc", "-v", "-f", path, "QM1"); (got.code == mqsc.ExitOK) != (want.syntax == 0) {
		t.Errorf("-v exits with %d:\n%s", got.code, got.stdout)
	}
	made := call(t, data, "crtmqm", "QM2", "--mqsc", path)
	if want.line == 0 {
		if made.code != 0 {
			t.Errorf("the creation stops: %s", made.stderr)
		}
		return
	}
	if at := fmt.Sprintf("%s:%d: ", path, want.line); made.code != exitFailed || !strings.Contains(made.stderr, at) {
		t.Errorf("exit %d, want %q in %s", made.code, at, made.stderr)
	}
}

// host creates a queue manager and runs it in this process until the test ends.
func host(t *testing.T, data, name string) {
	t.Helper()
	if err := mqengine.Create(t.Context(), mqengine.CreateOptions{Data: data, Name: name}); err != nil {
		t.Fatal(err)
	}
	folder, err := mqengine.Folder(data, name)
	if err != nil {
		t.Fatal(err)
	}
	q, err := mqengine.Start(t.Context(), mqengine.Options{Name: name, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

var summaryLines = regexp.MustCompile(`(?m)^(No|One|\d+) MQSC commands? read\.\n(No|One|\d+) commands? ha(?:s|ve) a syntax error\.\n(?:(All) valid MQSC commands were|(One|\d+) valid MQSC commands? could not be) processed\.$`)

// closingLines reads the closing lines of a report; -1 for what it does not say.
func closingLines(report string) (read, syntax, failed int) {
	m := summaryLines.FindStringSubmatch(report)
	if m == nil {
		return -1, -1, -1
	}
	number := func(word string) int {
		switch word {
		case "No", "":
			return 0
		case "One":
			return 1
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			return -1
		}
		return n
	}
	return number(m[1]), number(m[2]), number(m[4])
}
