//go:build unix

package actions

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Run runs one program in a process group of its own.
func (x *Exec) Run(ctx context.Context, p Program, started func(Process)) Ended {
	file, err := x.Allowed(p.Args[0])
	if err != nil {
		return Ended{Exit: -1, Err: err}
	}
	var out lastBytes
	cmd := exec.Command(file, p.Args[1:]...)
	cmd.Args[0] = p.Args[0] // a program with several names looks at the one it was called by
	cmd.Env, cmd.Dir = x.environment(p.Attempt), x.opt.Dir
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = pipeWait
	if err := cmd.Start(); err != nil {
		return Ended{Exit: -1, Err: fmt.Errorf("exec %s: %w", p.Args[0], err)}
	}
	if started != nil {
		started(processOf(cmd.Process.Pid))
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	timer := time.NewTimer(p.Timeout)
	defer timer.Stop()
	var res Ended
	select {
	case err = <-done:
	case <-timer.C:
		res.Timeout = true
		err = x.end(cmd.Process.Pid, done)
	case <-ctx.Done():
		res.Killed = true
		err = x.end(cmd.Process.Pid, done)
	}
	res.Exit, res.Output = cmd.ProcessState.ExitCode(), out.String()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		res.Err = fmt.Errorf("exec %s: %w", p.Args[0], err)
	}
	return res
}

// end asks a process group to end, and makes it. What is left of the group
// after its leader went is killed too.
func (x *Exec) end(pid int, done <-chan error) error {
	signalGroup(pid, syscall.SIGTERM)
	timer := time.NewTimer(x.opt.Grace)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
	case <-timer.C:
		signalGroup(pid, syscall.SIGKILL)
		return <-done
	}
	signalGroup(pid, syscall.SIGKILL)
	return err
}

// signalGroup signals all processes of a group; one that is gone is what we want.
func signalGroup(pid int, sig syscall.Signal) bool { return syscall.Kill(-pid, sig) == nil }

// End ends a program that an earlier run of the daemon left behind.
func (x *Exec) End(attempt string, known *Process) {
	if known != nil {
		x.endProcess(*known)
		return
	}
	for _, p := range programsOf(attempt) {
		x.endProcess(p)
	}
}

func (x *Exec) endProcess(p Process) {
	if p.PID <= 1 || p.Started == 0 || processOf(p.PID).Started != p.Started {
		return // gone, or the id belongs to somebody else now
	}
	if !signalGroup(p.PID, syscall.SIGTERM) {
		return
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(x.opt.Grace)
	defer deadline.Stop()
	for processOf(p.PID).Started == p.Started {
		select {
		case <-tick.C:
		case <-deadline.C:
			signalGroup(p.PID, syscall.SIGKILL)
			return
		}
	}
	signalGroup(p.PID, syscall.SIGKILL)
}
