package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// round is what one server did in one round.
type round struct {
	perSecond, p50, p99 float64
	answers, syncs      int
	needed              int
	counted             bool // syncs is known
	busy                bool // others used the machine meanwhile
}

// void: some answers came without the guarantee.
func (r round) void() bool { return r.counted && r.syncs < r.needed }

// column is all rounds of one contender.
type column struct {
	name   string
	rounds []round
	err    error // why there are fewer
}

// valid are the rounds that count.
func (c column) valid() []round {
	var list []round
	for _, r := range c.rounds {
		if !r.void() {
			list = append(list, r)
		}
	}
	return list
}

func (c column) values(of func(round) float64) []float64 {
	var list []float64
	for _, r := range c.valid() {
		list = append(list, of(r))
	}
	slices.Sort(list)
	return list
}

// median of sorted values; of an even number the mean of the two in the middle.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// goal is how many times as fast as a contender we have to be.
type goal struct{ must, stretch float64 }

// verdict compares a ratio with a goal.
func (g goal) verdict(ratio float64) string {
	switch {
	case g.must == 0:
		return ""
	case g.stretch > 0 && ratio >= g.stretch:
		return "beyond stretch"
	case ratio >= g.must:
		return "met"
	}
	return "MISSED"
}

// printColumns writes one table: ours first, then each peer with the ratio of medians.
func printColumns(w io.Writer, title string, columns []column, goals map[string]goal) {
	fmt.Fprintf(w, "\n### %s\n\n", title)
	fmt.Fprintln(w, "| | a second: min / median / max | p50, p99 of the median round | syncs / answers (least possible) | void | busy | situationd is | goal (stretch) | |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	ours := 0.0
	for i, c := range columns {
		if c.err != nil && len(c.rounds) == 0 {
			fmt.Fprintf(w, "| %s | left out: %s | | | | | | | |\n", c.name, oneLine(c.err))
			continue
		}
		rates := c.values(func(r round) float64 { return r.perSecond })
		if i == 0 {
			ours = median(rates)
		}
		ratio, of, met := "", "", ""
		switch g := goals[c.name]; {
		case i == 0:
		case len(rates) == 0 || ours == 0:
			ratio = "no valid round"
		default:
			r := ours / median(rates)
			ratio, met = fmt.Sprintf("%.2f times", r), g.verdict(r)
			if g.must > 0 {
				of = fmt.Sprintf("%.4g", g.must)
			}
			if g.stretch > 0 {
				of += fmt.Sprintf(" (%.4g)", g.stretch)
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %d of %d | %d | %s | %s | %s |\n", c.name, spread(rates), c.latency(), c.counts(),
			len(c.rounds)-len(c.valid()), len(c.rounds), c.busy(), ratio, of, met)
	}
}

func oneLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func spread(sorted []float64) string {
	if len(sorted) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f / **%.0f** / %.0f", sorted[0], median(sorted), sorted[len(sorted)-1])
}

func (c column) latency() string {
	v := c.valid()
	if len(v) == 0 {
		return "-"
	}
	slices.SortFunc(v, func(a, b round) int { return int(a.perSecond - b.perSecond) })
	m := v[len(v)/2]
	return fmt.Sprintf("%.2f, %.1f ms", m.p50/1000, m.p99/1000)
}

// counts adds up the rounds, the void ones too.
func (c column) counts() string {
	syncs, answers, needed, counted := 0, 0, 0, false
	for _, r := range c.rounds {
		if r.counted {
			syncs, answers, needed, counted = syncs+r.syncs, answers+r.answers, needed+r.needed, true
		}
	}
	if !counted {
		return "not counted"
	}
	return fmt.Sprintf("%d / %d (%d)", syncs, answers, needed)
}

func (c column) busy() (n int) {
	for _, r := range c.rounds {
		if r.busy {
			n++
		}
	}
	return n
}
