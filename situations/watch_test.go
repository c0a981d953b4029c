package situations

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWatch_Match(t *testing.T) {
	t.Parallel()
	app := Row{Queue: "APP.ORDERS", Clusters: []string{"C1", "C2"}}
	cases := []struct {
		name    string
		queue   []string
		cluster []string
		row     Row
		want    bool
	}{
		{"named", []string{"APP.ORDERS"}, nil, app, true},
		{"another", []string{"APP"}, nil, app, false},
		{"generic", []string{"APP.*"}, nil, app, true},
		{"star in the middle", []string{"A*ERS"}, nil, app, true},
		{"question marks", []string{"APP.ORDER?"}, nil, app, true},
		{"everything", []string{"*"}, nil, app, true},
		{"excluded", []string{"*", "!APP.*"}, nil, app, false},
		{"only excludes", []string{"!X*"}, nil, app, true},
		{"excluded by name though named", []string{"APP.ORDERS", "!APP.ORDERS"}, nil, app, false},
		{"in the cluster", []string{"*"}, []string{"C2"}, app, true},
		{"in another cluster", []string{"*"}, []string{"C3"}, app, false},
		{"not clustered", []string{"*"}, []string{"*"}, Row{Queue: "LOCAL"}, false},
		{"SYSTEM by pattern", []string{"*"}, nil, Row{Queue: "SYSTEM.DEFAULT"}, false},
		{"SYSTEM by SYSTEM pattern", []string{"SYSTEM.*"}, nil, Row{Queue: "SYSTEM.DEFAULT"}, false},
		{"SYSTEM by name", []string{"SYSTEM.DEFAULT"}, nil, Row{Queue: "SYSTEM.DEFAULT", System: true}, true},
		{"dynamic by pattern", []string{"*"}, nil, Row{Queue: "AMQ.1", Dynamic: true}, false},
		{"transmission by pattern", []string{"*"}, nil, Row{Queue: "QM9", Transmission: true}, false},
		{"transmission by name", []string{"QM9"}, nil, Row{Queue: "QM9", Transmission: true}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := Watch{Queue: NewNames(c.queue...), Cluster: NewNames(c.cluster...)}
			if got := w.Match(&c.row); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func patternGen() *rapid.Generator[string] {
	return rapid.StringMatching(`[ab*?]{0,6}`)
}

func TestProperty_GlobIsItsRegexp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, name := patternGen().Draw(t, "pattern"), rapid.StringMatching(`[ab]{0,8}`).Draw(t, "name")
		re := "^" + strings.NewReplacer("*", ".*", "?", ".").Replace(p) + "$"
		if got, want := glob(p, name), regexp.MustCompile(re).MatchString(name); got != want {
			t.Fatalf("%q and %q: %v, want %v", p, name, got, want)
		}
	})
}

// Two patterns meet exactly if some name matches both; names of two letters up to
// the patterns' length are enough to find one.
func TestProperty_PatternsMeet(t *testing.T) {
	t.Parallel()
	var names []string
	for n := 0; n <= 8; n++ {
		for bits := range 1 << n {
			name := make([]byte, n)
			for i := range name {
				name[i] = "ab"[bits>>i&1]
			}
			names = append(names, string(name))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[ab*?]{0,4}`).Draw(t, "a"), rapid.StringMatching(`[ab*?]{0,4}`).Draw(t, "b")
		want := false
		for _, name := range names {
			want = want || glob(a, name) && glob(b, name)
		}
		if got := globsMeet(a, b); got != want {
			t.Fatalf("%q and %q: %v, want %v", a, b, got, want)
		}
	})
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	cases := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "abd", 1}, {"CURDEPHT", "CURDEPTH", 1}, {"IPROCS", "IPPROCS", 1}, {"kitten", "sitting", 3}}
	for _, c := range cases {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%s to %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := nearest("XYZZY", queueTable.names()); got != "" {
		t.Errorf("XYZZY is near to %s", got)
	}
}
