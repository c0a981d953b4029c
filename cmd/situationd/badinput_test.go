package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/situationd/situationd/mqengine/mqsc"
)

// said is what a command did that was called with something wrong.
type said struct {
	code           int
	stdout, stderr string
}

// call runs a command line in this process; line[0] may be a link's name.
func call(t *testing.T, data string, line ...string) said {
	t.Helper()
	var out, talk bytes.Buffer
	env := &cliEnv{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, UID: os.Getuid(), Environ: []string{"SITUATIOND_DATA=" + data}}
	if _, link := links[line[0]]; !link {
		line = append([]string{"situationd"}, line...)
	}
	return said{run(t.Context(), line, env), out.String(), talk.String()}
}

// wantOneLine holds the promise of every verb: what is wrong is told in one
// line that a person can read on any terminal.
func wantOneLine(t *testing.T, got said, code int) {
	t.Helper()
	if got.code != code {
		t.Errorf("exit %d, want %d: %s", got.code, code, got.stderr)
	}
	line, ok := strings.CutSuffix(got.stderr, "\n")
	if !ok || line == "" || strings.Contains(line, "\n") {
		t.Errorf("not one line: %q", got.stderr)
	}
	if !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
		t.Errorf("a terminal would obey this: %q", line)
	}
	if n := utf8.RuneCountInString(line); n > lineMax+100 {
		t.Errorf("%d characters", n)
	}
	for _, foreign := range []string{"goroutine", ".go:", "%!", "context canceled"} {
		if strings.Contains(line, foreign) {
			t.Errorf("it speaks of the program, not of the fault: %q", line)
		}
	}
	who, text, ok := strings.Cut(line, ": ")
	if verb, link := links[who]; !ok || !link && who != "situationd" || link && strings.HasPrefix(text, verb+": ") {
		t.Errorf("it does not say once who speaks: %q", line)
	}
}

func TestBadInput_OneLine(t *testing.T) {
	t.Parallel()
	long, huge := strings.Repeat("N", 49), strings.Repeat("n", 100_000)
	const odd = "Q\x1b[31m\xff\n\r\u009bX"
	data := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(data, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	garbage := write("garbage", "\x00\x1b\xff\xfe DEFINE \n"+odd)
	endless := write("endless", strings.Repeat("DEFINE QLOCAL(", 200_000))
	tooLarge := write("large", strings.Repeat("# much\n", 1<<20))
	notRun := mqsc.ExitNotRun
	for _, test := range []struct {
		code int
		line []string
	}{
		{2, []string{huge}}, {2, []string{odd}},
		{2, []string{"strmqm"}}, {2, []string{"strmqm", "A", "B"}}, {4, []string{"strmqm", "NONE"}}, {4, []string{"strmqm", odd[:1]}},
		{2, []string{"crtmqm", long}}, {2, []string{"crtmqm", huge}}, {2, []string{"crtmqm", odd}}, {2, []string{"crtmqm", ""}}, {2, []string{"crtmqm", ".."}},
		{2, []string{"crtmqm", "A", "--mqsc", "/"}}, {2, []string{"crtmqm", "A", "--mqsc", huge}}, {2, []string{"crtmqm", "A", "--mqsc", odd}},
		{1, []string{"crtmqm", "A", "--mqsc", garbage}}, {1, []string{"crtmqm", "A", "--mqsc", endless}}, {2, []string{"crtmqm", "A", "--workload", odd}},
		{1, []string{"crtmqm", "A", "--data", garbage}}, {2, []string{"crtmqm", "A", "--" + huge}},
		{4, []string{"endmqm", "NONE"}}, {2, []string{"endmqm", odd}}, {2, []string{"endmqm", "A", "--timeout", odd}},
		{4, []string{"dltmqm", "NONE"}}, {2, []string{"dltmqm", huge}}, {2, []string{"dspmq", "-m", odd}}, {2, []string{"dspmq", "-o", odd}}, {1, []string{"dspmq", "--data", garbage}},
		{2, []string{"q"}}, {2, []string{"q", "-" + odd}}, {2, []string{"q", "\u2013IQ"}}, {10, []string{"q", "-IQ", "-mNONE"}}, {10, []string{"q", "-I" + huge, "-m" + huge}}, {10, []string{"q", "-IQ", "-m" + odd}},
		{2, []string{"q", "-I" + odd, "-I" + huge}}, {2, []string{"q", "-P" + huge}},
		{notRun, []string{"mqsc", "A", "B"}}, {notRun, []string{"mqsc", "-f", "/nowhere/at/all"}}, {notRun, []string{"mqsc", "NONE"}}, {notRun, []string{"mqsc", odd}},
		{notRun, []string{"runmqsc", "-f", odd, "NONE"}}, {notRun, []string{"runmqsc", "-w", "3", "NONE"}}, {notRun, []string{"runmqsc", "--" + huge}},
		{2, []string{"run"}}, {2, []string{"run", "--config", odd}}, {2, []string{"run", "--config", "/"}}, {2, []string{"run", "--config", tooLarge}},
		{2, []string{"check"}}, {2, []string{"check", odd}}, {2, []string{"check", "/"}}, {2, []string{"check", tooLarge}},
		{2, []string{"test", odd}}, {2, []string{"test", tooLarge}},
		{4, []string{"status"}}, {4, []string{"actions"}}, {4, []string{"status", "--qmgr", "NONE"}}, {2, []string{"status", "--qmgr", odd}}, {2, []string{"status", "--url", odd}},
		{4, []string{"status", "--url", "http://127.0.0.1:1"}}, {2, []string{"status", "-o", odd}}, {2, []string{"actions", "--last", odd}},
		{2, []string{"demo", "--speed", "NaN"}}, {2, []string{"demo", "--speed", "-1"}}, {2, []string{"demo", "--rules", odd}}, {2, []string{"demo", "-o", odd}},
		{2, []string{"attributes", odd}}, {2, []string{"completion", odd}}, {2, []string{"man", odd}}, {2, []string{"version", odd}}, {2, []string{"explain", odd}},
	} {
		got := call(t, data, test.line...)
		wantOneLine(t, got, test.code)
		if t.Failed() {
			t.Fatalf("situationd %.200q", test.line)
		}
		if got.stdout != "" && !strings.Contains(test.line[0], "mqsc") { // runmqsc answers on stdout, too
			t.Errorf("%.200q says %q on stdout", test.line, got.stdout)
		}
	}
	rules := write("rules.yaml", "version: 1\nsituations: []\n")
	for name, text := range map[string]string{
		"too large a rule file": "queue_manager: {name: A}\nrules: [" + tooLarge + "]\n",
		"no web configuration":  "queue_manager: {name: A}\nrules: [" + rules + "]\nhttp: {listen: '127.0.0.1:0', web_config: " + garbage + "}\n",
	} {
		t.Log(name)
		wantOneLine(t, call(t, data, "run", "--config", write("daemon.yaml", text)), exitUsage)
	}
	if left, err := os.ReadDir(filepath.Join(data, "qmgrs")); err == nil && len(left) > 0 {
		t.Errorf("half done things are left: %v", left)
	}
}

// A folder that is not ours is refused, with MQ's reason where MQ has one.
func TestBadInput_NotAllowed_Refused(t *testing.T) {
	t.Parallel()
	if err := engineExit(&os.PathError{Op: "open", Path: "x", Err: os.ErrPermission}); exitOf(err) != exitRefused {
		t.Errorf("exit %d", exitOf(err))
	}
	if os.Getuid() == 0 {
		return // everything is allowed
	}
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "qmgrs"), 0); err != nil {
		t.Fatal(err)
	}
	for code, lines := range map[int][][]string{
		exitRefused: {{"crtmqm", "A"}, {"strmqm", "A"}, {"endmqm", "A"}, {"dltmqm", "A"}, {"dspmq"}},
		2035 % 256:  {{"q", "-IQ", "-mA"}},
	} {
		for _, line := range lines {
			wantOneLine(t, call(t, data, line...), code)
		}
	}
}

func exitOf(err error) int {
	code, _ := exitCode(err)
	return code
}

// A signal before the queue manager is there ends the start, and is what is told.
func TestStrmqm_SignalWhileItStarts_Told(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted{os.Interrupt})
	for name, err := range map[string]error{"cancelled": ctx.Err(), "wrapped": errors.Join(io.EOF, context.Canceled)} {
		if got := signalled(ctx, err).Error(); got != "ended by signal: interrupt" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := signalled(ctx, io.EOF); !errors.Is(err, io.EOF) {
		t.Errorf("another fault became %v", err)
	}
	if err := signalled(t.Context(), context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("without a signal: %v", err)
	}
}
