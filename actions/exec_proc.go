//go:build unix

package actions

import (
	"bytes"
	"os"
	"strconv"
)

// processOf reads when the kernel started a process. Where it does not tell, the
// time is 0, and nothing is ended by its id.
func processOf(pid int) Process {
	p, _ := leaderOf(pid)
	return p
}

// leaderOf also tells whether the process leads its group as Run has it: what
// gave itself a session of its own wants to live on.
func leaderOf(pid int) (p Process, leader bool) {
	p = Process{PID: pid}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, false
	}
	// The name in field 2 may hold anything, so count from its closing parenthesis.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, group, session, startTime = 0, 2, 3, 19
	if len(fields) <= startTime || string(fields[state]) == "Z" {
		return p, false
	}
	if n, err := strconv.ParseUint(string(fields[startTime]), 10, 64); err == nil {
		p.Started = n
	}
	id := strconv.Itoa(pid)
	return p, string(fields[group]) == id && string(fields[session]) != id
}

// programsOf finds the programs of an attempt by their environment.
func programsOf(attempt string) (found []Process) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	want := []byte("\x00" + attemptVariable + attempt + "\x00")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		p, leader := leaderOf(pid)
		if !leader {
			continue
		}
		// Those of others cannot be read, and are not ours.
		if env, err := os.ReadFile("/proc/" + entry.Name() + "/environ"); err == nil && bytes.Contains(append([]byte{0}, env...), want) {
			found = append(found, p)
		}
	}
	return found
}
