package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args, processEnv()))
}

// processEnv is the environment of the real process.
func processEnv() *cliEnv {
	return &cliEnv{
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Environ: os.Environ(),
		UID:     os.Getuid(),
	}
}
