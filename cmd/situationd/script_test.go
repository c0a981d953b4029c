package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// longScripts has the scripts do everything in the numbers that are asked of the
// program. Without it they do the same with less.
var longScripts = flag.Bool("script.long", false, "run scripts in their long form")

// TestMain lets scripts call the program by its own name and by its links: the
// test binary is each of them.
func TestMain(m *testing.M) {
	// Scripts wait more than they compute: more of them run at a time than there
	// are processors. A flag of the command line still wins, it is parsed later.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	commands := map[string]func(){"situationd": main}
	for link := range links {
		commands[link] = main
	}
	testscript.Main(m, commands)
}

// TestScript runs what users type: every file of testdata/script is one session.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scriptParams("testdata/script"))
}

func scriptParams(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			// A short data folder: the path of a socket has room for 107 bytes.
			data, err := os.MkdirTemp("", "sit")
			if err != nil {
				return err
			}
			e.Defer(func() { _ = os.RemoveAll(data) })
			e.Setenv("SITUATIOND_DATA", data)
			e.Setenv("HOME", e.WorkDir)
			examples, err := filepath.Abs("../../examples")
			if err != nil {
				return err
			}
			e.Setenv("EXAMPLES", examples)
			newCrew(e)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "long" {
				return *longScripts, nil
			}
			return false, fmt.Errorf("no condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": waitFor,
			"status":  exitStatus,
			"hangup":  hangUp,

			"mark":     mark,
			"spawn":    spawn,
			"feed":     feed,
			"slay":     slay,
			"await":    await,
			"lasting":  lasting,
			"rest":     rest,
			"waitfile": waitFile,
			"waitpage": waitPage,

			"pace":        pace,
			"pager":       pager,
			"ports":       ports,
			"justsampled": justSampled,
			"expand":      expand,
			"replace":     replace,
			"capture":     capture,
			"bodies":      bodies,
			"waitlines":   waitLines,
			"sameset":     sameSet,
			"beyond":      beyond,
			"issue":       issue,
		},
	}
}

// waitFor polls a command until its stdout matches: waitfor [-TIMEOUT[@MARK]]
// REGEXP COMMAND ARG... With ! it waits until stdout does not match. A command that fails counts as one without output.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	begin := time.Now()
	end, args := deadline(ts, args, patience)
	if len(args) < 2 {
		ts.Fatalf("usage: waitfor [-timeout] regexp command args...")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	poll := time.NewTicker(25 * time.Millisecond)
	defer poll.Stop()
	for {
		out, _ := scriptCommand(ts, args[1:]).Output()
		if want.Match(out) != neg {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("after %v the output of %v is\n%s", time.Since(begin), args[1:], out)
		}
		<-poll.C
	}
}

// exitStatus runs a command and checks its exit status: status CODE COMMAND
// ARG... Its output becomes the script's stdout and stderr for later checks.
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status code command args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v: %v", args[1:], err)
		}
		got = strings.TrimPrefix(exit.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%v: exit status %s, want %s", args[1:], got, args[0])
	}
}

// scriptCommand prepares a command with the script's folder and environment.
func scriptCommand(ts *testscript.TestScript, args []string) *exec.Cmd {
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "SITUATIOND_DATA", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

// hangUp sends SIGHUP to the process whose number a file holds: hangup FILE.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hangup file")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	process, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(process.Signal(syscall.SIGHUP))
}
