//go:build unix

package actions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// programs is a folder with a script, and an Exec that may run it.
func programs(t *testing.T, script string) (x *Exec, path string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755))
	path = filepath.Join(dir, "fix.sh")
	// No other test may fork while the file is open for writing: its child would
	// hold it open until its exec, and running it would be refused as busy.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755)
	syscall.ForkLock.RUnlock()
	must(t, err)
	return NewExec(ExecOptions{
		Allow: []string{dir}, BinDir: "/the/bin", Dir: dir, Data: "/the/data", Home: "/the/home", Lang: "C", Owner: "token",
		Grace: 200 * time.Millisecond,
	}), path
}

func runIt(t *testing.T, x *Exec, timeout time.Duration, args ...string) Ended {
	t.Helper()
	return x.Run(t.Context(), Program{Args: args, Timeout: timeout, Attempt: "id.0 1"}, nil)
}

func TestExecEnvironment(t *testing.T) {
	t.Parallel()
	x, path := programs(t, "env | grep -v -e '^PWD=' -e '^_=' -e '^SHLVL=' -e '^OLDPWD=' | sort; cat; echo \"args: $*\"; echo to stderr >&2")
	got := runIt(t, x, time.Minute, path, "a b", "$HOME;")
	want := strings.Join([]string{
		"HOME=/the/home", "LANG=C", "PATH=/the/bin:" + systemPath, "SITUATIOND_ATTEMPT=id.0 1", "SITUATIOND_DATA=/the/data", "SITUATIOND_OWNER=token",
		"args: a b $HOME;", "to stderr",
	}, "\n")
	if got.Exit != 0 || got.Err != nil || got.Output != want {
		t.Errorf("%+v, want output %q", got, want)
	}
}

func TestExecExit(t *testing.T) {
	t.Parallel()
	x, path := programs(t, "echo no; exit 7")
	if got := runIt(t, x, time.Minute, path); got.Exit != 7 || got.Output != "no" || got.Err != nil {
		t.Errorf("%+v", got)
	}
}

func TestExecKeepsTheEndOfTheOutput(t *testing.T) {
	t.Parallel()
	x, path := programs(t, "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done")
	got := runIt(t, x, time.Minute, path)
	if len(got.Output) > outputKept+3 || !strings.HasSuffix(got.Output, "line 1999") || !strings.HasPrefix(got.Output, "...") {
		t.Errorf("%d bytes, %q", len(got.Output), got.Output)
	}
}

func TestExecTimeout(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"ends on TERM": "echo begun; sleep 60",
		"ignores TERM": "trap '' TERM; echo begun; sleep 60 & wait; sleep 60",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, path := programs(t, script)
			var p Process
			start := time.Now()
			got := x.Run(t.Context(), Program{Args: []string{path}, Timeout: time.Second}, func(q Process) { p = q })
			if !got.Timeout || got.Output != "begun" {
				t.Errorf("%+v", got)
			}
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("took %s", d)
			}
			goneGroup(t, p.PID)
		})
	}
}

// goneGroup waits until no process of a group is left.
func goneGroup(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "no process of the group is left", func() bool { return syscall.Kill(-pid, 0) != nil })
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not yet: %s", what)
		}
	}
}

func TestExecEndsWithTheDaemon(t *testing.T) {
	t.Parallel()
	x, path := programs(t, "sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	var p Process
	got := x.Run(ctx, Program{Args: []string{path}, Timeout: time.Minute}, func(q Process) { p = q; cancel() })
	if !got.Killed || got.Timeout {
		t.Errorf("%+v", got)
	}
	goneGroup(t, p.PID)
}

func TestExecDoesNotWaitForTheBackground(t *testing.T) {
	t.Parallel()
	x, path := programs(t, "sleep 30 & echo done")
	var p Process
	start := time.Now()
	got := x.Run(t.Context(), Program{Args: []string{path}, Timeout: time.Minute}, func(q Process) { p = q })
	syscall.Kill(-p.PID, syscall.SIGKILL)
	if got.Exit != 0 || got.Err != nil || got.Output != "done" {
		t.Errorf("%+v", got)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestExecEndsWhatAnEarlierRunLeft(t *testing.T) {
	t.Parallel()
	x, path := programs(t, "sleep 60")
	started := make(chan Process, 1)
	ended := make(chan Ended, 1)
	go func() {
		ended <- x.Run(context.Background(), Program{Args: []string{path}, Timeout: time.Minute}, func(p Process) { started <- p })
	}()
	var p Process
	select {
	case p = <-started:
	case got := <-ended:
		t.Fatalf("not started: %+v", got)
	}
	if p.Started == 0 {
		t.Skip("this system does not tell when a process was started")
	}
	x.End("id.0 1", &Process{PID: p.PID, Started: p.Started + 1}) // somebody else's by now
	if processOf(p.PID).Started != p.Started {
		t.Fatal("a process with another start time was ended")
	}
	x.End("id.0 1", &p)
	if got := <-ended; got.Exit == 0 {
		t.Errorf("%+v", got)
	}
}

// The daemon ended before it could note which process it had begun: the program
// is found by its attempt, and only that one. What gave itself a session lives on.
func TestExecEndsWhatAnEarlierRunJustBegan(t *testing.T) {
	t.Parallel()
	x, path := programs(t, `[ "$1" = leave ] && { setsid sleep 60 & echo $! >"$2"; }; exec sleep 60`)
	id := fmt.Sprintf("%s:%d.0 ", t.Name(), os.Getpid()) // another run of the tests is not to be ended
	left := filepath.Join(filepath.Dir(path), "left")
	begin := func(attempt string, args ...string) (Process, chan Ended) {
		started, ended := make(chan Process, 1), make(chan Ended, 1)
		go func() {
			p := Program{Args: append([]string{path}, args...), Timeout: 20 * time.Second, Attempt: attempt}
			ended <- x.Run(context.Background(), p, func(p Process) { started <- p })
		}()
		return <-started, ended
	}
	mine, ended := begin(id+"1", "leave", left)
	other, alsoEnded := begin(id + "11")
	if mine.Started == 0 {
		t.Skip("this system does not tell when a process was started")
	}
	var free int
	eventually(t, "the program began", func() bool {
		text, err := os.ReadFile(left)
		if err != nil || !strings.HasSuffix(string(text), "\n") {
			return false
		}
		free, err = strconv.Atoi(strings.TrimSpace(string(text)))
		must(t, err)
		return true
	})
	eventually(t, "it has a session of its own", func() bool {
		sid, err := unix.Getsid(free)
		return err == nil && sid == free
	})
	x.End(id+"1", nil)
	if got := <-ended; got.Exit == 0 || got.Timeout {
		t.Errorf("%+v", got)
	}
	if processOf(other.PID).Started != other.Started {
		t.Error("the program of another attempt was ended")
	}
	if processOf(free).Started == 0 {
		t.Error("what left the program's session was ended")
	}
	syscall.Kill(free, syscall.SIGKILL)
	x.End("", &other)
	<-alsoEnded
}

func TestExecAllowed(t *testing.T) {
	t.Parallel()
	x, path := programs(t, "exit 0")
	dir := filepath.Dir(path)
	outside := filepath.Join(t.TempDir(), "other.sh")
	must(t, os.WriteFile(outside, []byte("#!/bin/sh\n"), 0o755))
	link := filepath.Join(dir, "link.sh")
	must(t, os.Symlink(outside, link))
	inward := filepath.Join(t.TempDir(), "inward.sh")
	must(t, os.Symlink(path, inward))
	open := filepath.Join(dir, "open.sh")
	must(t, os.WriteFile(open, []byte("#!/bin/sh\n"), 0o755))
	must(t, os.Chmod(open, 0o777))
	shared := filepath.Join(dir, "shared")
	must(t, os.Mkdir(shared, 0o755))
	must(t, os.Chmod(shared, 0o777))
	inShared := filepath.Join(shared, "a.sh")
	must(t, os.WriteFile(inShared, []byte("#!/bin/sh\n"), 0o755))
	sibling := dir + "2"
	must(t, os.Mkdir(sibling, 0o755))
	inSibling := filepath.Join(sibling, "a.sh")
	must(t, os.WriteFile(inSibling, []byte("#!/bin/sh\n"), 0o755))
	tests := []struct {
		name, program, want string // want: part of the error, blank for none
	}{
		{"listed by its folder", path, ""},
		{"a link to a listed one", inward, ""},
		{"not listed", outside, "exec.allow"},
		{"a link out of the folder", link, "exec.allow"},
		{"a folder with the same beginning", inSibling, "exec.allow"},
		{"up and out", filepath.Join(dir, "..", filepath.Base(sibling), "a.sh"), "exec.allow"},
		{"everybody may write it", open, "everybody may write the file"},
		{"everybody may write its folder", inShared, "everybody may write its folder"},
		{"a folder", dir, "it is not a file"},
		{"not there", filepath.Join(dir, "none.sh"), "no such file"},
		{"relative", "./fix.sh", "whole path"},
		{"by name, not allowed", "true", "exec.allow"},
		{"by name, not there", "no-such-program-anywhere", "not exist"},
	}
	for _, tc := range tests {
		_, err := x.Allowed(tc.program)
		if (tc.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	if got := runIt(t, x, time.Minute, outside); !errors.Is(got.Err, ErrNotAllowed) || got.Exit != -1 {
		t.Errorf("%+v", got)
	}
	file := NewExec(ExecOptions{Allow: []string{path}})
	if _, err := file.Allowed(path); err != nil {
		t.Errorf("listed itself: %v", err)
	}
	if _, err := NewExec(ExecOptions{}).Allowed(path); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("with an empty list: %v", err)
	}
}

func TestExecFindsProgramsByName(t *testing.T) {
	t.Parallel()
	x, path := programs(t, "echo \"called $0\"")
	bin := t.TempDir()
	must(t, os.Symlink(path, filepath.Join(bin, "runmqsc")))
	x.opt.BinDir = bin
	got := runIt(t, x, time.Minute, "runmqsc")
	if got.Exit != 0 || got.Err != nil {
		t.Errorf("%+v", got)
	}
}
