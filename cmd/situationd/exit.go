package main

import (
	"errors"
	"fmt"
)

// The exit codes of every verb but mqsc and q, which have those of the commands
// that they stand for.
const (
	exitOK          = 0
	exitFailed      = 1 // errors found, or the run failed
	exitUsage       = 2 // wrong usage, or input that cannot be read
	exitUnreachable = 4 // queue manager or daemon unreachable
	exitRefused     = 5 // not allowed, or somebody else holds it
)

// exitError ends the process with Code. Err is printed as one line; nil prints
// nothing, for verbs that said everything already.
type exitError struct {
	Code int
	Err  error
}

func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *exitError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error {
	return &exitError{Code: exitUsage, Err: fmt.Errorf(format, args...)}
}

func failedf(format string, args ...any) error {
	return &exitError{Code: exitFailed, Err: fmt.Errorf(format, args...)}
}

func unreachablef(format string, args ...any) error {
	return &exitError{Code: exitUnreachable, Err: fmt.Errorf(format, args...)}
}

func refusedf(format string, args ...any) error {
	return &exitError{Code: exitRefused, Err: fmt.Errorf(format, args...)}
}

// exitSilently ends with code; what there was to say has been said.
func exitSilently(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{Code: code}
}

// exitCode is the code of an error, and whether it still has to be printed.
func exitCode(err error) (code int, say bool) {
	if err == nil {
		return exitOK, false
	}
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.Code, exit.Err != nil
	}
	return exitFailed, true
}
