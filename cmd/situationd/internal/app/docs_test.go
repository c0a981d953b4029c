package app

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table of docs/operations.md has the daemon's own metrics, all and only those.
func TestApp_OwnMetrics_AreDocumented(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile+"alertmanagers: [{url: \"http://127.0.0.1:9\"}]\n", idleRules)
	d := w.start(Options{})
	w.eventually("ready", func() bool { return d.Ready() == nil })
	own := regexp.MustCompile(`^situationd_`)
	var have []string
	for _, f := range d.families() {
		if own.MatchString(f.Name) {
			have = append(have, f.Name)
		}
	}
	text, err := os.ReadFile("../../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(situationd_[a-z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(have)
	slices.Sort(documented)
	if diff := cmp.Diff(have, documented); diff != "" {
		t.Errorf("metrics (-) and docs/operations.md (+):\n%s", diff)
	}
}
