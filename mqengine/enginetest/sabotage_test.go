package enginetest

import (
	"strings"
	"testing"
)

// A checker that finds nothing in a broken cluster checks nothing.
func TestSimulation_BrokenShell_IsFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		broken sabotage
		want   []string // any of them
	}{
		"answers before the disk":     {sabotage{answersEarly: true}, []string{"is lost"}},
		"loses a synced message":      {sabotage{losesHeader: true}, []string{"is lost"}},
		"writes too late what it has": {sabotage{lateLast: true}, []string{"which was read before", "in its unit of work", "was read 2 times"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const seeds = 100
			for seed := range uint64(seeds) {
				for _, f := range run(seed, nil, test.broken).Failures {
					for _, want := range test.want {
						if strings.Contains(f, want) {
							t.Logf("seed %d: %s", seed, f)
							return
						}
					}
				}
			}
			t.Errorf("%d seeds did not find it", seeds)
		})
	}
}

// A run that depends on more than its seed has another hash.
func TestSimulation_HiddenRandomness_ChangesTheHash(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		once, again := run(seed, nil, sabotage{tossesCoins: true}), run(seed, nil, sabotage{tossesCoins: true})
		if once.Hash != again.Hash {
			return
		}
	}
	t.Error("20 seeds had the same hash twice although coins were tossed")
}

func TestSimulation_OtherSeed_OtherRun(t *testing.T) {
	t.Parallel()
	if a, b := Run(1, nil), Run(2, nil); a.Hash == b.Hash {
		t.Errorf("seeds 1 and 2 have the same hash %016x", a.Hash)
	}
}
