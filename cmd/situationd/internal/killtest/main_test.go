package killtest

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
)

var (
	rounds = flag.Int("kill.rounds", 0, "kills per test; 0 is the short form")
	seed   = flag.Uint64("kill.seed", 0, "seed of the moments and victims; 0 chooses one")
)

// program is the binary under test, built once.
var program proctest.Program

func TestMain(m *testing.M) {
	proctest.BecomeStopped()
	code := m.Run()
	program.Remove()
	os.Exit(code)
}

// chance is a test's own randomness; the seed is printed, so that a failure can be tried again.
func chance(t *testing.T) *rand.Rand {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-kill.seed=%d", s)
	return rand.New(rand.NewPCG(s, 1))
}

// roundsOr is the number of kills: of the flag, or of the short form.
func roundsOr(short int) int {
	if *rounds > 0 {
		return *rounds
	}
	return short
}

// dataFolder is short: the path of a socket has room for 107 bytes.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sit")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// pause lets the processes run for a while before the next blow. Nothing waits
// for its length: the moment of a kill is the input of these tests.
func pause(d time.Duration) { <-time.After(d) }

// between is a random time.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}
