package situations

import "slices"

// What comparing costs, in units of some nanoseconds, and how much of it a rule
// set may cost: files that compare all with all would keep check, and a daemon
// that reloads, busy for hours.
const (
	costPair    = 30
	costPattern = 30 // of one pattern with another
	costPoint   = 200
	maxWork     = 60_000_000
)

// work is how much comparing is left.
type work struct{ left int }

// watchesMeet reports whether two situations may watch an item of one name.
func (w *work) watchesMeet(a, b *Situation) bool {
	w.left -= costPair
	if a.Watch.group() != b.Watch.group() {
		return false
	}
	w.left -= a.Watch.names().cost(b.Watch.names()) + a.Watch.Cluster.cost(&b.Watch.Cluster)
	return a.Watch.overlaps(&b.Watch)
}

// meet reports whether they may do so on one queue manager.
func (w *work) meet(a, b *Situation) bool {
	w.left -= a.Distribution.cost(&b.Distribution)
	return w.watchesMeet(a, b) && a.Distribution.overlaps(&b.Distribution)
}

// cost is roughly what overlaps costs.
func (n *Names) cost(o *Names) int {
	patterns, others := len(n.patterns)+len(n.excluded), len(o.patterns)+len(o.excluded)
	return len(n.exact)*len(o.exact) + costPattern*(patterns*others+patterns*len(o.exact)+others*len(n.exact))
}

// checkTogether looks for what situations say against one another.
func checkTogether(rs *RuleSet, budget int) {
	checkNames(rs.Situations)
	checkUntil(rs.Situations)
	checkRenamed(rs.Situations)
	w := &work{left: budget}
	idx := indexWatches(rs.Situations, func(*Situation) bool { return true })
	takers := indexWatches(rs.Situations, func(s *Situation) bool { return takesBack(s.Actions) || takesBack(s.OnClear) })
	for i, s := range rs.Situations {
		if !s.Enabled {
			continue
		}
		for _, j := range idx.near(s, i) {
			if t := rs.Situations[j]; w.left > 0 && w.meet(s, t) {
				checkLevers(t, s)
				w.checkContradiction(t, s)
			}
		}
		w.checkPartner(rs.Situations, takers, i)
		checkLevers(s, s)
		if w.left <= 0 {
			s.doc.fail(s.doc.at(s.nameNode), "too-long", "give queues that are treated alike one situation, and split files that have nothing in common",
				"too many situations watch the same queues to be checked against one another")
			break
		}
	}
	for _, s := range rs.Situations { // the texts are not needed any more
		s.doc, s.nameNode, s.formulaNode, s.actionNodes, s.clearNodes = nil, nil, nil, nil, nil
		s.recoveryNode, s.untilNode, s.renamedNode = nil, nil, nil
	}
}

// watchIndex finds the situations that might watch the same queues without
// comparing all with all. Its lists are in the order of the situations.
type watchIndex struct {
	exact map[string][]int
	loose []int // with patterns
	all   []int
}

// indexWatches indexes the enabled situations that are wanted.
func indexWatches(list []*Situation, wanted func(*Situation) bool) *watchIndex {
	x := &watchIndex{exact: map[string][]int{}}
	for i, s := range list {
		if !s.Enabled || !wanted(s) {
			continue
		}
		x.all = append(x.all, i)
		q := s.Watch.names()
		if q.all || len(q.patterns) > 0 {
			x.loose = append(x.loose, i)
			continue
		}
		for _, name := range q.exact {
			name = s.Watch.group().Item(name)
			x.exact[name] = append(x.exact[name], i)
		}
	}
	return x
}

// near gives those before the situation with number end that might watch an item
// that s watches.
func (x *watchIndex) near(s *Situation, end int) []int {
	q := s.Watch.names()
	if q.all || len(q.patterns) > 0 {
		return before(x.all, end)
	}
	out := slices.Clone(before(x.loose, end))
	for _, name := range q.exact {
		out = append(out, before(x.exact[s.Watch.group().Item(name)], end)...)
	}
	if len(q.exact) > 1 || len(x.loose) > 0 {
		slices.Sort(out)
	}
	return slices.Compact(out)
}

// before is the part of an ascending list that is below end.
func before(list []int, end int) []int {
	n, _ := slices.BinarySearch(list, end)
	return list[:n]
}
