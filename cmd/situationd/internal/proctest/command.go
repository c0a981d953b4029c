package proctest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Outcome is how a command ended.
type Outcome struct {
	Exit   int // 128 and the signal's number for one that was killed
	Stdout string
	Stderr string
}

// Command prepares a command as a person would type it on a host with the data
// folder: the binary and its links are the first in PATH.
func (p *Program) Command(tb testing.TB, data, name string, args ...string) *exec.Cmd {
	tb.Helper()
	bin := p.Bin(tb)
	path := bin + string(os.PathListSeparator) + os.Getenv("PATH")
	full, err := lookPath(name, path)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(full, args...)
	cmd.Args[0] = name
	cmd.Env = []string{"PATH=" + path, "SITUATIOND_DATA=" + data, "HOME=" + tb.TempDir(), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func lookPath(name, path string) (string, error) {
	for _, dir := range strings.Split(path, string(os.PathListSeparator)) {
		if full, err := exec.LookPath(dir + "/" + name); err == nil {
			return full, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Do runs a command to its end with the given input.
func Do(tb testing.TB, cmd *exec.Cmd, stdin string) Outcome {
	tb.Helper()
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &said
	o := Outcome{}
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			tb.Fatal(err)
		}
		o.Exit = exit.ExitCode()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			o.Exit = 128 + int(ws.Signal())
		}
	}
	o.Stdout, o.Stderr = out.String(), said.String()
	return o
}
