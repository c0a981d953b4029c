package proctest

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Process is a command in the background. It owns the goroutine that waits for
// its end; its methods are for one goroutine.
type Process struct {
	cmd    *exec.Cmd
	ended  chan struct{}
	stderr output
}

// Spawn starts a command in the background, until Kill or Stop or the end of the
// test. What it prints on stdout is dropped.
func Spawn(tb testing.TB, cmd *exec.Cmd) *Process {
	tb.Helper()
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &p.stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is asked of its state
		close(p.ended)
	}()
	tb.Cleanup(func() {
		p.Kill()
		if tb.Failed() {
			tb.Logf("%v said on stderr:\n%s", cmd.Args, tail(p.stderr.String(), 6000))
		}
	})
	return p
}

// Kill is kill -9: nothing of the process runs any more when it returns.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.ended
}

// Signal sends the process a signal.
func (p *Process) Signal(tb testing.TB, s syscall.Signal) {
	tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		tb.Fatal(fmt.Errorf("%v: %w", p.cmd.Args, err))
	}
}

// Stop ends the process in order; another exit status than 0 fails the test.
func (p *Process) Stop(tb testing.TB) {
	tb.Helper()
	p.Signal(tb, syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(Patience):
		tb.Fatalf("%v has not ended after %v", p.cmd.Args, Patience)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		tb.Errorf("%v ended with exit status %d: %s", p.cmd.Args, code, tail(p.stderr.String(), 2000))
	}
}
