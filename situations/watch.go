package situations

import "strings"

// Names is a list of names and patterns, of which those with a leading ! exclude.
// A pattern may hold * for any characters and ? for one.
type Names struct {
	exact    []string
	patterns []string
	excluded []string
	all      bool
	written  []string // as the file has it
}

// NewNames compiles a list. An empty list, or "all", matches everything.
func NewNames(list ...string) Names {
	n := Names{written: list}
	included := false
	for _, s := range list {
		switch {
		case s == "all":
			n.all, included = true, true
		case strings.HasPrefix(s, "!"):
			n.excluded = append(n.excluded, s[1:])
		case isPattern(s):
			n.patterns, included = append(n.patterns, s), true
		default:
			n.exact, included = append(n.exact, s), true
		}
	}
	n.all = n.all || !included
	return n
}

// Empty reports whether no list was written.
func (n *Names) Empty() bool { return len(n.written) == 0 }

// Match reports whether the list covers a name.
func (n *Names) Match(name string) bool {
	return (n.Exactly(name) || n.all || matchesAny(n.patterns, name)) && !n.excludes(name)
}

// Exactly reports whether the list spells the name out.
func (n *Names) Exactly(name string) bool {
	for _, s := range n.exact {
		if s == name {
			return !n.excludes(name)
		}
	}
	return false
}

func (n *Names) excludes(name string) bool { return matchesAny(n.excluded, name) }

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if glob(p, name) {
			return true
		}
	}
	return false
}

func isPattern(s string) bool { return strings.ContainsAny(s, "*?") }

// glob matches a pattern of * and ? against a name, without backtracking
// beyond the last star, so its cost is bounded by the product of the lengths.
func glob(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// group is what the watch looks at; the zero Watch looks at queues.
func (w *Watch) group() Group {
	if w.Group == "" {
		return GroupQueue
	}
	return w.Group
}

// names are those of the watched items.
func (w *Watch) names() *Names {
	switch w.group() {
	case GroupChannel:
		return &w.Channel
	case GroupQMgr:
		return &w.QMgr
	case GroupQueue:
	}
	return &w.Queue
}

// Match reports whether the watch selects an item. SYSTEM.*, dynamic and
// transmission queues must be spelled out: a pattern never reaches them; nor does
// it reach SYSTEM.* channels.
func (w *Watch) Match(row *Row) bool {
	group, name := GroupOf(row.Queue)
	if group != w.group() {
		return false
	}
	names := w.names()
	if row.System || row.Dynamic || row.Transmission || strings.HasPrefix(name, "SYSTEM.") {
		if !names.Exactly(name) {
			return false
		}
	} else if !names.Match(name) {
		return false
	}
	if w.Cluster.Empty() {
		return true
	}
	for _, c := range row.Clusters {
		if w.Cluster.Match(c) {
			return true
		}
	}
	return false
}

// overlaps reports whether some name could be covered by both lists. Excludes
// are looked at only where one side spells its names out.
func (n *Names) overlaps(o *Names) bool {
	for _, s := range n.exact {
		if o.Match(s) && !n.excludes(s) {
			return true
		}
	}
	for _, s := range o.exact {
		if n.Match(s) && !o.excludes(s) {
			return true
		}
	}
	if n.all && (o.all || len(o.patterns) > 0) || o.all && len(n.patterns) > 0 {
		return true
	}
	for _, a := range n.patterns {
		for _, b := range o.patterns {
			if globsMeet(a, b) {
				return true
			}
		}
	}
	return false
}

// globsMeet reports whether some name matches both patterns.
func globsMeet(a, b string) bool {
	// row[j]: a[i:] and b[j:] meet, filled from the ends.
	next := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		row := make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i] == '*':
				row[j] = next[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j] == '*':
				row[j] = row[j+1] || i < len(a) && next[j]
			case i < len(a) && j < len(b):
				row[j] = (a[i] == '?' || b[j] == '?' || a[i] == b[j]) && next[j+1]
			}
		}
		next = row
	}
	return next[0]
}

func (w *Watch) overlaps(o *Watch) bool {
	return w.group() == o.group() && w.names().overlaps(o.names()) && (w.Cluster.Empty() || o.Cluster.Empty() || w.Cluster.overlaps(&o.Cluster))
}
