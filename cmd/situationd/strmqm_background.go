package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// background starts a process that hosts the queue manager, and returns when
// that is ready or has failed. What it says until then is passed on, and so is a
// signal that wants us to end.
func (r *strmqmRun) background(ctx context.Context) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	program, err := os.Executable()
	if err != nil {
		return failedf("strmqm: %w", err)
	}
	child := exec.Command(program)
	child.Args = append([]string{r.env.Link}, r.arguments()...)
	child.Env = r.env.Environ
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	said, errPipe, err := pipes(child)
	if err != nil {
		return failedf("strmqm: %w", err)
	}
	if err := child.Start(); err != nil {
		return failedf("strmqm: start the background process: %w", err)
	}
	unwatch := context.AfterFunc(ctx, func() { _ = child.Process.Signal(syscall.SIGTERM) }) // it may have ended by itself
	// The child closes its side of stderr when it is ready or dies; until then its
	// words are ours. Its stdout is one line, which fits the pipe.
	_, copyErr := io.Copy(r.env.Stderr, errPipe)
	line, readErr := bufio.NewReader(said).ReadString('\n')
	if unwatch() && strings.HasPrefix(line, "ready ") {
		_, err := fmt.Fprint(r.env.Stdout, line)
		return errors.Join(err, copyErr, child.Process.Release())
	}
	var exit *exec.ExitError
	err = child.Wait()
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exitSilently(exit.ExitCode()) // it said why
	case ctx.Err() != nil:
		return failedf("strmqm: %w", context.Cause(ctx))
	}
	return failedf("strmqm: the background process ended before it was ready (%v)", errors.Join(err, readErr))
}

func pipes(child *exec.Cmd) (stdout, stderr io.Reader, err error) {
	if stdout, err = child.StdoutPipe(); err != nil {
		return nil, nil, err
	}
	stderr, err = child.StderrPipe()
	return stdout, stderr, err
}

// arguments are those of the background process: everything resolved.
func (r *strmqmRun) arguments() []string {
	args := []string{"--detached", "--data", r.data, "--listen", r.listen, "--workload", r.order, "--log", r.logLevel}
	if r.salvage {
		args = append(args, "--salvage")
	}
	if r.create {
		args = append(args, "--create")
	}
	for _, f := range r.files {
		args = append(args, "--mqsc", f)
	}
	return append(args, "--", r.name)
}

// leaveTerminal lets go of the streams of whoever started us. From here on the
// error log in the queue manager's folder tells what happens.
func leaveTerminal() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return failedf("strmqm: %w", err)
	}
	for _, fd := range []int{0, 1, 2} {
		if err := unix.Dup3(int(null.Fd()), fd, 0); err != nil {
			return errors.Join(failedf("strmqm: %w", err), null.Close())
		}
	}
	return null.Close()
}
