package simtest

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// still keeps the scheduler from taking the processor away from a goroutine in the
// middle of its work, which would happen at other places in every run of a seed.
const still = "asyncpreemptoff=1"

// TestMain begins again with the setting, which counts from a process's start only.
func TestMain(m *testing.M) {
	if now := os.Getenv("GODEBUG"); !strings.Contains(now, still) {
		if self, err := os.Executable(); err == nil {
			env := append(os.Environ(), "GODEBUG="+strings.Trim(now+","+still, ","))
			_ = syscall.Exec(self, os.Args, env) // if it cannot, seeds are harder to repeat
		}
	}
	os.Exit(m.Run())
}
