package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestArticle runs the article's test with the program's own actions: all levers
// side by side on seven queues, in every combination of who holds the queue
// manager, whose reader dies and what things are called.
func TestArticle(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		name                 string
		hosted, swap, random bool
	}{
		{name: "local"},
		{name: "hosted", hosted: true, random: true},
		{name: "swapped", swap: true, random: true},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			names := plainNames()
			if v.random {
				names = randomNames()
				t.Logf("%v", names)
			}
			// The reader that dies, and the one that lives, by their queue managers.
			names["DEAD"], names["LIVE"] = names["QM2"], names["QM3"]
			if v.swap {
				names["DEAD"], names["LIVE"] = names["QM3"], names["QM2"]
			}
			p := scriptParams("testdata/article")
			setup, condition := p.Setup, p.Condition
			p.Setup = func(e *testscript.Env) error {
				for key, value := range names {
					e.Setenv(key, value)
				}
				return setup(e)
			}
			p.Condition = func(name string) (bool, error) {
				if name == "hosted" {
					return v.hosted, nil
				}
				return condition(name)
			}
			testscript.Run(t, p)
		})
	}
}

// articleQueues are the queues by the variables that name them, one for each way
// to take an instance out of the balancing.
var articleQueues = []string{"QART", "QRANK", "QPRTY", "QAVP", "QAVR", "QAVY", "QEXEC"}

func plainNames() map[string]string {
	names := map[string]string{"CLUSTER": "C1", "CH1": "TO.QM1", "CH2": "TO.QM2", "CH3": "TO.QM3"}
	for _, q := range []string{"QM1", "QM2", "QM3"} {
		names[q] = q
	}
	for _, q := range articleQueues {
		names[q] = "DCQ." + q
	}
	return names
}

// randomNames draws every name, each another one, from all characters that names may have.
func randomNames() map[string]string {
	const first = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	const later = first + "._%/._%/"
	var taken []string
	draw := func(most int) string {
		for {
			b := []byte{first[rand.IntN(len(first))]}
			for n := 3 + rand.IntN(most-3); len(b) < n; {
				b = append(b, later[rand.IntN(len(later))])
			}
			// Names that differ in case only are two names to MQ, and one to a reader of this test.
			if name := string(b); !slices.ContainsFunc(taken, func(t string) bool { return strings.EqualFold(t, name) }) {
				taken = append(taken, name)
				return name
			}
		}
	}
	names := map[string]string{}
	for _, q := range append([]string{"QM1", "QM2", "QM3", "CLUSTER"}, articleQueues...) {
		names[q] = draw(48)
	}
	for _, c := range []string{"CH1", "CH2", "CH3"} {
		names[c] = draw(20)
	}
	return names
}
