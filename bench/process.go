package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// readyMax is how long a server may take to be ready, endMax to end after SIGKILL.
	readyMax = 60 * time.Second
	endMax   = 20 * time.Second
	pollStep = 2 * time.Millisecond
)

// process is a child in a process group of its own, with what it printed.
type process struct {
	cmd   *exec.Cmd
	out   *tail
	ended chan struct{} // closed when it was waited for
	err   error         // set before
}

// startProcess starts a child. Its group is killed by kill, which every caller defers.
func startProcess(env []string, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), out: new(tail), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = time.Second // a grandchild may keep the pipe
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// kill ends the group at once and waits for the child.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may be gone
	select {
	case <-p.ended:
	case <-time.After(endMax):
	}
}

// until waits for ok; not longer than the process lives, readyMax or ctx.
func (p *process) until(ctx context.Context, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, readyMax)
	defer cancel()
	for !ok() {
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended before it was ready: %w\n%s", what, p.err, p.out)
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", what, ctx.Err(), p.out)
		case <-time.After(pollStep):
		}
	}
	return nil
}

// tail keeps the first and the last of what is written to it.
type tail struct {
	mu    sync.Mutex
	bytes []byte
}

const tailMax = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, b...)
	if over := len(t.bytes) - tailMax; over > 0 {
		t.bytes = append(t.bytes[:tailMax/2], t.bytes[tailMax/2+over:]...)
	}
	return len(b), nil
}

func (t *tail) contains(s string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(t.bytes, []byte(s))
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.bytes)
}

// runLines runs this program again as a client and gives the fields key=value of its line.
func runClient(ctx context.Context, limit time.Duration, args ...string) (map[string]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(nil, self, args...)
	if err != nil {
		return nil, err
	}
	defer p.kill()
	select {
	case <-p.ended:
	case <-time.After(limit):
		return nil, fmt.Errorf("%v: not done in %v", args, limit)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.err != nil {
		return nil, fmt.Errorf("%v: %w: %s", args, p.err, p.out)
	}
	fields := make(map[string]string)
	for _, word := range strings.Fields(p.out.String()) {
		if key, value, ok := strings.Cut(word, "="); ok {
			fields[key] = value
		}
	}
	return fields, nil
}

// number reads a field, 0 where it is missing.
func number(fields map[string]string, key string) float64 {
	n, err := strconv.ParseFloat(fields[key], 64)
	if err != nil {
		return 0
	}
	return n
}

// freePort is a port of loopback that nobody has at the moment.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func answers(network, address string) bool {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// family is a process and all that it started and that still has a parent in it.
func family(pid int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	parent := make(map[int]int)
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			return nil, err
		}
		// pid (name) state parent; the name may hold anything.
		id, rest, _ := strings.Cut(string(text), " ")
		fields := strings.Fields(rest[strings.LastIndex(rest, ")")+1:])
		child, err := strconv.Atoi(id)
		if err != nil || len(fields) < 2 {
			continue
		}
		if parent[child], err = strconv.Atoi(fields[1]); err != nil {
			continue
		}
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		for child, of := range parent {
			if of == all[i] {
				all = append(all, child)
			}
		}
	}
	return all, nil
}

// resident is VmRSS of a process in KiB.
func resident(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(text), "VmRSS:")
	if fields := strings.Fields(rest); ok && len(fields) > 0 {
		return strconv.Atoi(fields[0])
	}
	return 0, fmt.Errorf("process %d has no VmRSS", pid)
}
