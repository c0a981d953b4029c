package main

import (
	"io"
	"strings"
)

// cliEnv is what a verb gets from its process. Verbs use nothing else of it, so
// that tests can run a verb with an environment of their own.
type cliEnv struct {
	Stdin   io.Reader
	Stdout  io.Writer // data
	Stderr  io.Writer // talk
	Environ []string  // NAME=value, as os.Environ gives it
	UID     int
	// Link is the name of the link by which the program was called (runmqsc, q,
	// strmqm ...), blank for situationd itself.
	Link string
}

// Getenv is os.Getenv over Environ: the last setting counts, "" is unset.
func (e *cliEnv) Getenv(name string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}
