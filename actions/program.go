package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/situationd/situationd/situations"
)

const programTimeout = 10 * time.Minute

// Program is a program to run.
type Program struct {
	Args    []string
	Timeout time.Duration
	// Attempt names the attempt that runs it. Its environment has that name.
	Attempt string
}

// Process names a running program over a restart of the daemon.
type Process struct {
	PID int `json:"pid"`
	// Started is the kernel's start time of the process, so that another one with
	// the same id is not taken for it; 0 where the system does not tell.
	Started uint64 `json:"started"`
}

// Ended is how a program ended.
type Ended struct {
	Exit    int    // exit status; -1 if a signal ended it or it did not start
	Output  string // the last part of what it wrote
	Timeout bool
	Killed  bool  // the daemon ended it because it ends itself
	Err     error // it could not be started, or was not allowed to
}

// Programs runs programs in process groups of their own.
type Programs interface {
	// Run starts a program and waits. started is told of the process at once. A
	// cancelled ctx ends the program.
	Run(ctx context.Context, p Program, started func(Process)) Ended
	// End ends the program of an attempt that an earlier run of the daemon left
	// behind, if it is still there. known is nil if the daemon ended before it
	// could note which process it is.
	End(attempt string, known *Process)
}

// exec runs a program; exit status 0 is done. A reversed edge lets it finish.
func (e *Engine) exec(s *step) {
	a := s.action()
	if e.opt.Programs == nil {
		e.failed(s, errors.New("no program may be run here"))
		return
	}
	args, err := arguments(a, &s.row)
	if err != nil {
		e.failed(s, err)
		return
	}
	if !e.acquireProgram(s) {
		return
	}
	defer func() { <-e.heavy }()
	flight := flightOf(s)
	if err := e.begin(s, flight, nil); err != nil {
		return
	}
	timeout := a.Timeout
	if timeout <= 0 {
		timeout = programTimeout
	}
	res := e.opt.Programs.Run(e.work, Program{Args: args, Timeout: timeout, Attempt: s.attempt()}, func(p Process) {
		e.mu.Lock()
		s.en.p.Flight.Program = &p
		e.mu.Unlock()
		e.save(s.en)
	})
	e.mu.Lock()
	e.ran(s)
	e.mu.Unlock()
	e.ended(s, res)
}

// acquireProgram waits for room; a reversed edge ends the wait, not the program.
// Whoever has said otherwise meanwhile is heard.
func (e *Engine) acquireProgram(s *step) bool {
	ctx, cancel := context.WithCancel(e.work)
	defer cancel()
	ok := e.interruptible(s, cancel) && acquire(ctx, e.heavy)
	e.mu.Lock()
	defer e.mu.Unlock()
	s.en.interrupt = nil
	if ok && !e.stands(s) {
		<-e.heavy
		ok = false
	}
	if !ok {
		e.refund(s)
	}
	return ok
}

func (e *Engine) ended(s *step, res Ended) {
	switch {
	case res.Err == nil && res.Exit == 0 && !res.Timeout && !res.Killed:
		e.journal(s, resultDone, res.Output)
		e.mu.Lock()
		e.advance(s.en)
		e.mu.Unlock()
		e.save(s.en)
	case res.Killed:
		e.doubt(s, tail("the daemon ended while "+running(situations.VerbExec), res.Output))
	case res.Timeout:
		e.failed(s, errors.New(tail("ended after its timeout", res.Output)))
	case res.Err != nil:
		e.failed(s, res.Err)
	default:
		e.failed(s, errors.New(tail(fmt.Sprintf("exit %d", res.Exit), res.Output)))
	}
}

func tail(what, output string) string {
	if output == "" {
		return what
	}
	return what + ": " + output
}
