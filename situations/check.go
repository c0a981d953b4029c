package situations

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// lintSituation warns of what one situation says and hardly means.
func (l *loader) lintSituation(s *Situation, es entries) {
	if s.Formula != nil {
		l.lintConstant(s)
	}
	lowered := false
	for i := range s.Actions {
		a := &s.Actions[i]
		lowered = lowered || isLever(a.Verb) && !raises(a)
		switch {
		case a.Verb == VerbRedistribute && !a.Never && !lowered:
			l.warn(verbPlace(l.document, s.actionNodes[i]), "redistribute-alone", "write before it: - put: DISABLED, or - rank: 0",
				"nothing lowers this instance first, so messages could come straight back")
		case a.Verb == VerbPriority && !raises(a) && a.UseQ == "":
			l.warn(verbPlace(l.document, s.actionNodes[i]), "useq", "write beside it: useq: any",
				"applications on this queue manager go on putting to the local instance unless CLWLUSEQ is ANY")
		}
	}
	if len(s.Actions) == 0 && s.Alert == nil && es.key("actions") == nil && es.key("alert") == nil && len(s.OnClear) == 0 {
		l.warn(place{s.Line, s.Column, 1}, "no-effect", "", "situation %s neither acts nor alerts", s.Name)
	}
}

// raises tells the values that give an instance back from those that take it away.
func raises(a *Action) bool {
	switch a.Verb {
	case VerbPut:
		return a.Value == "ENABLED"
	case VerbRank, VerbPriority:
		return a.Value != "0"
	case VerbRedistribute, VerbExec, VerbEvent, VerbRevert:
	}
	return true
}

func (l *loader) lintConstant(s *Situation) {
	p := pointsOf(s.Formula)
	if p == nil {
		return
	}
	seen := map[Verdict]bool{}
	p.each(func(row *Row, _ []int) bool {
		seen[s.Formula.Eval(row)] = true
		return len(seen) < 2
	})
	at := l.at(s.formulaNode)
	switch {
	case len(seen) != 1:
	case seen[True]:
		l.warn(at, "constant", "", "this formula is always true")
	case seen[False]:
		l.warn(at, "constant", "", "this formula is never true")
	}
}

// checkTogether looks for what situations say against one another.
func checkTogether(rs *RuleSet) {
	checkNames(rs.Situations)
	idx := indexWatches(rs.Situations)
	for i, s := range rs.Situations {
		if !s.Enabled {
			continue
		}
		for _, j := range idx.near(s) {
			if t := rs.Situations[j]; j < i && t.Enabled && s.Watch.overlaps(&t.Watch) && s.Distribution.overlaps(&t.Distribution) {
				checkLevers(t, s)
				checkContradiction(t, s)
			}
		}
		checkPartner(rs.Situations, idx, i)
		checkLevers(s, s)
	}
	for _, s := range rs.Situations { // the texts are not needed any more
		s.doc, s.nameNode, s.formulaNode, s.actionNodes, s.clearNodes = nil, nil, nil, nil, nil
	}
}

func checkNames(list []*Situation) {
	first := map[string]*Situation{}
	for _, s := range list {
		if s.Name == "" {
			continue
		}
		other := first[s.Name]
		if other == nil {
			first[s.Name] = s
			continue
		}
		where := fmt.Sprintf("on line %d", other.Line)
		if other.File != s.File {
			where += " of " + other.File
		}
		at := s.doc.at(s.nameNode)
		if s.Availability != "" {
			s.doc.fail(at, "twice", "give one of them a name of its own", "another situation is called %s already, %s", s.Name, where)
			continue
		}
		s.doc.fail(at, "twice", "", "another situation is called %s already, %s", s.Name, where)
	}
}

// watchIndex finds the situations that might watch the same queues without
// comparing all with all.
type watchIndex struct {
	exact map[string][]int
	loose []int // with patterns
	all   []int
}

func indexWatches(list []*Situation) *watchIndex {
	x := &watchIndex{exact: map[string][]int{}}
	for i, s := range list {
		x.all = append(x.all, i)
		q := &s.Watch.Queue
		if q.all || len(q.patterns) > 0 {
			x.loose = append(x.loose, i)
			continue
		}
		for _, name := range q.exact {
			x.exact[name] = append(x.exact[name], i)
		}
	}
	return x
}

func (x *watchIndex) near(s *Situation) []int {
	q := &s.Watch.Queue
	if q.all || len(q.patterns) > 0 {
		return x.all
	}
	out := slices.Clone(x.loose)
	for _, name := range q.exact {
		out = append(out, x.exact[name]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// leversUsed gives the first action with each lever, with its place.
func (s *Situation) leversUsed(verb Verb) (*Action, place) {
	lists := [2][]Action{s.Actions, s.OnClear}
	nodes := [2][]*yaml.Node{s.actionNodes, s.clearNodes}
	for k, list := range lists {
		for i := range list {
			if list[i].Verb != verb {
				continue
			}
			if i < len(nodes[k]) {
				return &list[i], verbPlace(s.doc, nodes[k][i])
			}
			return &list[i], s.doc.at(s.nameNode)
		}
	}
	return nil, place{}
}

// verbPlace is the verb of an action, where a finding about it belongs.
func verbPlace(d *document, n *yaml.Node) place {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if slices.Contains(actionVerbs, n.Content[i].Value) {
			return d.at(n.Content[i])
		}
	}
	return d.at(n)
}

// checkLevers refuses put and rank on one queue: rank is looked at before PUT,
// so a disabled instance of the highest rank makes every put fail.
func checkLevers(a, b *Situation) {
	for _, pair := range [2][2]Verb{{VerbPut, VerbRank}, {VerbRank, VerbPut}} {
		x, _ := a.leversUsed(pair[0])
		y, at := b.leversUsed(pair[1])
		if x == nil || y == nil {
			continue
		}
		who := "this situation"
		if a != b {
			who = "situation " + a.Name
		}
		b.doc.fail(at, "put-and-rank", "use one lever for a queue: rank is weighed before PUT, and a disabled instance of the highest rank stops every put",
			"%s sets %s of the same queue, this sets %s", who, pair[0], pair[1])
		return
	}
}

// checkContradiction refuses two situations that set one lever to different
// values and can be true of one sample.
func checkContradiction(a, b *Situation) {
	if a.Formula == nil || b.Formula == nil {
		return
	}
	for i := range a.Actions {
		for j := range b.Actions {
			x, y := &a.Actions[i], &b.Actions[j]
			if x.Verb != y.Verb || !isLever(x.Verb) || x.Value == y.Value {
				continue
			}
			if when := bothTrue(a, x, b, y); when != "" {
				at := b.doc.at(b.nameNode)
				if b.formulaNode != nil {
					at = b.doc.at(b.formulaNode)
				}
				where := fmt.Sprintf("on line %d", a.formulaLine())
				if a.File != b.File {
					where += " of " + a.File
				}
				b.doc.fail(at, "contradiction", fmt.Sprintf("the other formula is %s: %s", where, a.Formula),
					"%s (%s %s) and %s (%s %s) are both true when %s", a.Name, x.Verb, x.Value, b.Name, y.Verb, y.Value, when)
				return
			}
		}
	}
}

func (s *Situation) formulaLine() int {
	if s.formulaNode != nil {
		return s.formulaNode.Line
	}
	return s.Line
}

// bothTrue finds values for which both actions would be taken.
func bothTrue(a *Situation, x *Action, b *Situation, y *Action) string {
	var fs []*Formula
	for _, f := range []*Formula{a.Formula, x.OnlyIf, b.Formula, y.OnlyIf} {
		if f != nil {
			fs = append(fs, f)
		}
	}
	p := pointsOf(fs...)
	if p == nil {
		return ""
	}
	when := ""
	p.each(func(row *Row, choice []int) bool {
		for _, f := range fs {
			if f.Eval(row) != True {
				return true
			}
		}
		when = p.describe(choice)
		if when == "" {
			when = "anything"
		}
		return false
	})
	return when
}

// checkPartner warns of a put: DISABLED that nothing ever takes back.
func checkPartner(list []*Situation, idx *watchIndex, i int) {
	s := list[i]
	for k := range s.Actions {
		a := &s.Actions[k]
		if a.Verb != VerbPut || a.Value != "DISABLED" || a.Claim || takesBack(s.OnClear) {
			continue
		}
		for _, j := range idx.near(s) {
			if t := list[j]; j != i && t.Enabled && t.Watch.overlaps(&s.Watch) && (takesBack(t.Actions) || takesBack(t.OnClear)) {
				return
			}
		}
		if k < len(s.actionNodes) {
			s.doc.warn(verbPlace(s.doc, s.actionNodes[k]), "no-way-back", "write: on_clear: revert, or a situation with put: ENABLED",
				"nothing enables the queue again when an application comes back")
		}
		return
	}
}

// takesBack: exec and redistribution aside, only put: ENABLED enables a queue,
// but what a program does is not for us to know.
func takesBack(list []Action) bool {
	return slices.ContainsFunc(list, func(a Action) bool {
		return a.Verb == VerbPut && a.Value == "ENABLED" || a.Verb == VerbExec
	})
}
