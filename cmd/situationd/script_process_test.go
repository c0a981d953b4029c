package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/situationd/situationd/mqengine/transport/tlstest"
)

// patience is how long anything may take on a machine that does much else.
const patience = 60 * time.Second

// crewKey is where a script keeps its background processes.
type crewKey struct{}

// crew are the background processes of one script. Unlike those of exec & their
// output can be read while they run, and their death is awaited.
type crew struct {
	dir   string
	procs map[string]*crewProcess
	marks map[string]time.Time
	// authorities give out certificates, by the names that the script calls them.
	authorities map[string]*tlstest.Authority
}

// crewProcess is one of them; it owns the goroutine that waits for its end.
type crewProcess struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser // nil: it has none
	ended chan struct{}
}

// newCrew makes the crew of a script. When the script ends all are killed, and
// after a failure what they said is shown.
func newCrew(e *testscript.Env) {
	c := &crew{dir: e.WorkDir, procs: map[string]*crewProcess{}, marks: map[string]time.Time{}, authorities: map[string]*tlstest.Authority{}}
	e.Values[crewKey{}] = c
	e.Defer(func() {
		for _, p := range c.procs {
			_ = p.cmd.Process.Kill() // it may have ended by itself
			<-p.ended
		}
		if t, ok := e.T().(interface{ Failed() bool }); ok && t.Failed() {
			c.show(e.T())
		}
	})
}

func (c *crew) show(t testscript.T) {
	for _, name := range sortedNames(c.procs) {
		if said, _ := os.ReadFile(c.file(name, ".err")); len(said) > 0 {
			t.Log(fmt.Sprintf("%s said on stderr:\n%s", name, said[max(0, len(said)-4000):]))
		}
	}
}

func sortedNames(procs map[string]*crewProcess) []string {
	var names []string
	for name := range procs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *crew) file(name, suffix string) string { return filepath.Join(c.dir, name+suffix) }

func crewOf(ts *testscript.TestScript) *crew {
	c, ok := ts.Value(crewKey{}).(*crew)
	if !ok {
		ts.Fatalf("this script has no crew")
	}
	return c
}

func (c *crew) named(ts *testscript.TestScript, name string) *crewProcess {
	p := c.procs[name]
	if p == nil {
		ts.Fatalf("no process %q was started", name)
	}
	return p
}

// spawn starts a process in the background: spawn [-in] NAME COMMAND ARG... Its
// output goes to the files NAME.out and NAME.err; with -in it reads what feed gives it.
func spawn(ts *testscript.TestScript, neg bool, args []string) {
	fed := len(args) > 0 && args[0] == "-in"
	if fed {
		args = args[1:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: spawn [-in] name command args...")
	}
	c, name := crewOf(ts), args[0]
	if p := c.procs[name]; p != nil && !p.over() {
		ts.Fatalf("%s runs already", name)
	}
	cmd := scriptCommand(ts, args[1:])
	var err error
	p := &crewProcess{cmd: cmd, ended: make(chan struct{})}
	if fed {
		p.stdin, err = cmd.StdinPipe()
		ts.Check(err)
	}
	out, err := os.Create(c.file(name, ".out"))
	ts.Check(err)
	defer out.Close()
	said, err := os.Create(c.file(name, ".err"))
	ts.Check(err)
	defer said.Close()
	cmd.Stdout, cmd.Stderr = out, said
	// A test that is killed must not leave processes behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ts.Check(cmd.Start())
	c.procs[name] = p
	go func() {
		_ = cmd.Wait() // how it ended is asked of its state
		close(p.ended)
	}()
}

func (p *crewProcess) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// feed writes a line to the standard input of a process: feed NAME TEXT.
func feed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: feed name text")
	}
	p := crewOf(ts).named(ts, args[0])
	if p.stdin == nil {
		ts.Fatalf("%s was not started with -in", args[0])
	}
	_, err := io.WriteString(p.stdin, args[1]+"\n")
	ts.Check(err)
}

var crewSignals = map[string]syscall.Signal{
	"-KILL": syscall.SIGKILL, "-TERM": syscall.SIGTERM, "-INT": syscall.SIGINT,
	"-STOP": syscall.SIGSTOP, "-CONT": syscall.SIGCONT,
}

// slay sends processes a signal and waits until it has done its work: slay
// [-KILL|-TERM|-INT|-STOP|-CONT] NAME... KILL is the default.
func slay(ts *testscript.TestScript, neg bool, args []string) {
	signal := syscall.SIGKILL
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		var ok bool
		if signal, ok = crewSignals[args[0]]; !ok {
			ts.Fatalf("no signal %s", args[0])
		}
		args = args[1:]
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: slay [-signal] name...")
	}
	c := crewOf(ts)
	for _, name := range args {
		if p := c.named(ts, name); p.over() {
			ts.Fatalf("%s has ended already", name)
		}
	}
	for _, name := range args {
		ts.Check(c.procs[name].cmd.Process.Signal(signal))
	}
	for _, name := range args {
		p := c.procs[name]
		switch signal {
		case syscall.SIGCONT:
		case syscall.SIGSTOP:
			until(ts, name+" stops", func() bool { return stopped(p.cmd.Process.Pid) })
		default:
			p.await(ts, name)
		}
	}
}

func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no such file: a system without one, where the signal has to do
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "T")
}

func (p *crewProcess) await(ts *testscript.TestScript, name string) {
	select {
	case <-p.ended:
	case <-time.After(patience):
		ts.Fatalf("%s has not ended after %v", name, patience)
	}
}

// await waits until processes have ended by themselves, without an error: await
// NAME... With -CODE before the names that has to be their exit status.
func await(ts *testscript.TestScript, neg bool, args []string) {
	want := 0
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		_, err := fmt.Sscanf(args[0], "-%d", &want)
		ts.Check(err)
		args = args[1:]
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: await [-code] name...")
	}
	for _, name := range args {
		p := crewOf(ts).named(ts, name)
		p.await(ts, name)
		if got := p.cmd.ProcessState.ExitCode(); got != want {
			ts.Fatalf("%s ended with exit status %d, want %d", name, got, want)
		}
	}
}

// mark notes a moment, for timeouts that count from it: mark NAME.
func mark(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mark name")
	}
	crewOf(ts).marks[args[0]] = time.Now()
}

// deadline takes the timeout off the front of a command's arguments: -DURATION
// from now, or -DURATION@MARK from a moment that mark noted.
func deadline(ts *testscript.TestScript, args []string, standard time.Duration) (time.Time, []string) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") {
		return time.Now().Add(standard), args
	}
	text, name, marked := strings.Cut(args[0][1:], "@")
	d, err := time.ParseDuration(text)
	ts.Check(err)
	from := time.Now()
	if marked {
		var ok bool
		if from, ok = crewOf(ts).marks[name]; !ok {
			ts.Fatalf("no mark %q", name)
		}
	}
	return from.Add(d), args[1:]
}

// until polls a condition.
func until(ts *testscript.TestScript, what string, condition func() bool) {
	end := time.Now().Add(patience)
	poll := time.NewTicker(25 * time.Millisecond)
	defer poll.Stop()
	for !condition() {
		if time.Now().After(end) {
			ts.Fatalf("after %v: not %s", patience, what)
		}
		<-poll.C
	}
}

// lasting checks that the output of a command matches all the time: lasting
// DURATION REGEXP COMMAND ARG... With ! it must never match.
func lasting(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: lasting duration regexp command args...")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	begin := time.Now()
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for time.Since(begin) < d {
		out, err := scriptCommand(ts, args[2:]).Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			ts.Fatalf("%v: %v", args[2:], err)
		}
		if want.Match(out) == neg {
			ts.Fatalf("after %v the output of %v is\n%s", time.Since(begin).Round(time.Millisecond), args[2:], out)
		}
		<-poll.C
	}
}

// waitFile polls a file until its content matches: waitfile [-TIMEOUT[@MARK]] REGEXP FILE.
func waitFile(ts *testscript.TestScript, neg bool, args []string) {
	begin := time.Now()
	end, args := deadline(ts, args, patience)
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitfile [-timeout] regexp file")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		content, err := os.ReadFile(ts.MkAbs(args[1]))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			ts.Check(err)
		}
		if want.Match(content) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("after %v %s is\n%s", time.Since(begin), args[1], content[max(0, len(content)-4000):])
		}
		<-poll.C
	}
}

// waitPage polls an address until what it answers matches: waitpage
// [-TIMEOUT[@MARK]] REGEXP URL.
func waitPage(ts *testscript.TestScript, neg bool, args []string) {
	begin := time.Now()
	end, args := deadline(ts, args, patience)
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitpage [-timeout] regexp url")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	client := http.Client{Timeout: 10 * time.Second}
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		page, err := fetch(&client, args[1])
		if err == nil && want.Match(page) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("after %v %s answers %v\n%s", time.Since(begin), args[1], err, page)
		}
		<-poll.C
	}
}

func fetch(client *http.Client, url string) ([]byte, error) {
	res, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}
