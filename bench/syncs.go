package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// syncCalls are the system calls after which data is on the disk. The rest of
// the family, sync_file_range, promises nothing.
const syncCalls = "fsync,fdatasync,sync,syncfs,msync"

// countSyncs runs do while every process of the server is traced, and gives how
// often it synced. Tracing slows the server: nothing else may be measured meanwhile.
func countSyncs(ctx context.Context, s *server, dir string, do func() error) (int, error) {
	out := filepath.Join(dir, "strace")
	args := []string{"-f", "-c", "-e", "trace=" + syncCalls, "-o", out}
	pids, err := family(s.process.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	p, err := startProcess(nil, "strace", args...)
	if err != nil {
		return 0, err
	}
	defer p.kill()
	attached := func() bool { return strings.Count(p.out.String(), " attached") >= len(pids) }
	if err := p.until(ctx, "strace", attached); err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	select {
	case <-p.ended:
	case <-time.After(endMax):
		return 0, fmt.Errorf("strace does not end: %s", p.out)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return 0, err
	}
	return sumSyncs(string(text))
}

// sumSyncs adds up the calls of strace's summary: its lines are % time, seconds,
// usecs/call, calls, perhaps errors, and the name.
func sumSyncs(summary string) (int, error) {
	total := 0
	for line := range strings.Lines(summary) {
		f := strings.Fields(line)
		if len(f) < 5 || !strings.Contains(","+syncCalls+",", ","+f[len(f)-1]+",") {
			continue
		}
		n, err := strconv.Atoi(f[3])
		if err != nil {
			return 0, fmt.Errorf("strace's summary: %q", line)
		}
		total += n
	}
	return total, nil
}

// syncsNeeded is the least number of syncs with which so many answers can have
// been given: one sync can cover no more than what is outstanding at once. A few
// answers may come of what was synced before the count began.
func syncsNeeded(answers, outstanding int) int {
	return int(math.Floor(float64(max(answers-outstanding, 0)) / float64(outstanding)))
}
