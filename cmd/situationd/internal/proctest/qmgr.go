package proctest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// Patience is how long anything may take on a machine that does much else.
const Patience = 60 * time.Second

// QMgr is a queue manager in a process of its own. Its methods are for one
// goroutine; Dial and Folder are for any.
type QMgr struct {
	Name string
	Data string

	program string
	mqsc    string // file of the creation, blank for none
	cmd     *exec.Cmd
	ended   chan struct{} // closed when the process is gone
	addr    string
	front   *Proxy // what others dial, nil for none
	stderr  *output
}

// NewQMgr describes a queue manager of the data folder and creates nothing yet.
// Its process dies with the test. front is the proxy that leads to it, or nil.
func NewQMgr(tb testing.TB, p *Program, data, name, commands string, front *Proxy) *QMgr {
	tb.Helper()
	m := &QMgr{Name: name, Data: data, program: p.Path(tb), front: front, stderr: new(output)}
	if commands != "" {
		m.mqsc = filepath.Join(tb.TempDir(), "create.mqsc")
		if err := os.WriteFile(m.mqsc, []byte(commands), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(func() {
		m.Kill()
		if tb.Failed() {
			log, _ := os.ReadFile(filepath.Join(m.Folder(), "errors", "AMQERR01.LOG"))
			tb.Logf("%s said on stderr:\n%s\nand its error log ends with:\n%s", name, tail(m.stderr.String(), 4000), tail(string(log), 6000))
		}
	})
	return m
}

func tail(s string, n int) string {
	if len(s) > n {
		return "..." + s[len(s)-n:]
	}
	return s
}

// Folder is the queue manager's folder.
func (m *QMgr) Folder() string { return filepath.Join(m.Data, "qmgrs", m.Name) }

// Start starts the process and returns when it says that it is ready. It has a
// port of its own choice, another one each time; the proxy in front knows which.
func (m *QMgr) Start(tb testing.TB, more ...string) {
	tb.Helper()
	args := []string{"strmqm", m.Name, "--create", "--data", m.Data, "--listen", "127.0.0.1:0"}
	if m.mqsc != "" {
		args = append(args, "--mqsc", m.mqsc)
	}
	m.cmd = exec.Command(m.program, append(args, more...)...)
	m.cmd.Stderr = m.stderr
	// A test that is killed must not leave processes behind.
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := m.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	m.ended = make(chan struct{})
	ready := make(chan string, 1)
	go func(cmd *exec.Cmd, ended chan struct{}) {
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		ready <- line
		_ = cmd.Wait() // how it ended does not matter to who killed it
		close(ended)
	}(m.cmd, m.ended)
	select {
	case line := <-ready:
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, addr, _ := strings.Cut(rest, " ")
		if word != "ready" || name != m.Name {
			<-m.ended
			tb.Fatalf("strmqm %s printed %q and ended with %v: %s", m.Name, line, m.cmd.ProcessState, m.stderr.String())
		}
		m.addr = addr
	case <-time.After(Patience):
		tb.Fatalf("strmqm %s is not ready after %v: %s", m.Name, Patience, m.stderr.String())
	}
	if m.front != nil {
		m.front.Point(m.addr)
	}
}

// Addr is the address of the listener of the present life.
func (m *QMgr) Addr() string { return m.addr }

// PID is the number of the process.
func (m *QMgr) PID() int { return m.cmd.Process.Pid }

// Stderr is what all lives of the queue manager said on stderr.
func (m *QMgr) Stderr() string { return m.stderr.String() }

// Kill is kill -9: nothing of the process runs any more when it returns.
func (m *QMgr) Kill() {
	if m.cmd == nil || m.ended == nil {
		return
	}
	_ = m.cmd.Process.Kill() // it may have ended by itself
	<-m.ended
	m.cmd = nil
}

// Signal sends the process a signal.
func (m *QMgr) Signal(tb testing.TB, s syscall.Signal) {
	tb.Helper()
	if err := m.cmd.Process.Signal(s); err != nil {
		tb.Fatal(err)
	}
}

// Stop ends the queue manager in order.
func (m *QMgr) Stop(tb testing.TB) {
	tb.Helper()
	m.Signal(tb, syscall.SIGTERM)
	select {
	case <-m.ended:
	case <-time.After(Patience):
		tb.Fatalf("%s has not ended after %v", m.Name, Patience)
	}
	m.cmd = nil
}

// Dial connects an application.
func (m *QMgr) Dial(ctx context.Context, tag string) (mqengine.Conn, error) {
	return mqengine.Dial(ctx, m.Folder(), m.Name, qmgr.Appl{Tag: tag})
}

// MQSC runs one command and gives the responses; a command that fails fails the test.
func (m *QMgr) MQSC(tb testing.TB, text string) []mqsc.Response {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, err := m.Dial(ctx, "mqsc")
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Disconnect(ctx)
	res, err := command(ctx, conn, text)
	if err == nil && res.Failed {
		err = fmt.Errorf("%s: %s", text, responses(res))
	}
	if err != nil {
		tb.Fatal(err)
	}
	return res.Responses
}

func command(ctx context.Context, conn mqengine.Conn, text string) (mqsc.Result, error) {
	cmd, bad := mqsc.Parse(text)
	if bad != nil {
		return mqsc.Result{}, bad
	}
	return conn.Command(ctx, cmd)
}

func responses(res mqsc.Result) string {
	var b []byte
	for _, r := range res.Responses {
		b = r.AppendText(b)
	}
	return string(bytes.ReplaceAll(b, []byte("\n"), []byte(" ")))
}

// Show gives one attribute of the first object that a DISPLAY names, blank if there is none.
func Show(ctx context.Context, conn mqengine.Conn, display, keyword string) (string, error) {
	res, err := command(ctx, conn, display)
	if err != nil {
		return "", err
	}
	for _, r := range res.Responses {
		for _, f := range r.Fields {
			if f.Key == keyword {
				return strings.Join(f.Values, ","), nil
			}
		}
	}
	return "", nil
}

// WaitFor polls until the condition holds. An error of it counts as not yet; the
// last one is told when patience ends.
func WaitFor(tb testing.TB, what string, condition func() (bool, error)) {
	tb.Helper()
	deadline := time.Now().Add(Patience)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		ok, err := condition()
		if ok && err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("after %v: not %s (%v)", Patience, what, err)
		}
		<-poll.C
	}
}

// output collects what a process writes; several goroutines may look.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// outputMax bounds what a talkative process may cost; the rest is dropped.
const outputMax = 1 << 20

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() < outputMax {
		o.buf.Write(b)
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
