package situations

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// lintSituation warns of what one situation says and hardly means.
func (l *loader) lintSituation(s *Situation, es entries) {
	if s.Formula != nil && s.formulaNode != nil {
		l.lintConstant(s)
	}
	if s.Formula != nil && s.Recovery != nil {
		l.lintRecovery(s)
	}
	lowered := false
	for i := range s.Actions {
		a := &s.Actions[i]
		lowered = lowered || a.Verb.Attr() != "" && !raises(a)
		switch {
		case a.Verb == VerbRedistribute && !a.Never && !lowered:
			l.warn(verbPlace(l.document, s.actionNodes[i]), "redistribute-alone", "write before it: - put: DISABLED, or - rank: 0",
				"nothing lowers this instance first, so messages could come straight back")
		case a.Verb == VerbPriority && !raises(a) && a.UseQ == "" && s.Watch.group() == GroupQueue:
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
	return !a.Lowest()
}

// lintRecovery warns of a situation that never ends: where its formula is false
// its recovery is, too.
func (l *loader) lintRecovery(s *Situation) {
	p := pointsOf(s.Formula, s.Recovery)
	if p == nil {
		return
	}
	ends := false
	p.each(func(row *Row, _ []int) bool {
		ends = s.Formula.Eval(row) == False && s.Recovery.Eval(row) == True
		return !ends
	})
	if !ends {
		l.warn(l.at(s.recoveryNode), "constant", "", "this is never true while the formula is false, so the situation would never end")
	}
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

// leverUsed gives the first action with a lever, and its node, which may be nil.
func (s *Situation) leverUsed(verb Verb) (*Action, *yaml.Node) {
	lists := [2][]Action{s.Actions, s.OnClear}
	nodes := [2][]*yaml.Node{s.actionNodes, s.clearNodes}
	for k, list := range lists {
		for i := range list {
			if list[i].Verb != verb {
				continue
			}
			if i < len(nodes[k]) {
				return &list[i], nodes[k][i]
			}
			return &list[i], nil
		}
	}
	return nil, nil
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
		x, _ := a.leverUsed(pair[0])
		y, node := b.leverUsed(pair[1])
		if x == nil || y == nil {
			continue
		}
		at := b.doc.at(b.nameNode)
		if node != nil {
			at = verbPlace(b.doc, node)
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
func (w *work) checkContradiction(a, b *Situation) {
	if a.Formula == nil || b.Formula == nil {
		return
	}
	for i := range a.Actions {
		for j := range b.Actions {
			x, y := &a.Actions[i], &b.Actions[j]
			if !x.Opposes(y) {
				continue
			}
			if when := w.bothTrue(a, x, b, y); when != "" {
				at := b.doc.at(b.nameNode)
				if b.formulaNode != nil {
					at = b.doc.at(b.formulaNode)
				}
				where := fmt.Sprintf("on line %d", a.formulaLine())
				if a.File != b.File {
					where += " of " + a.File
				}
				b.doc.fail(at, "contradiction", fmt.Sprintf("the other formula is %s: %s", where, a.Formula),
					"%s (%s) and %s (%s) are both true when %s", a.Name, x, b.Name, y, when)
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
func (w *work) bothTrue(a *Situation, x *Action, b *Situation, y *Action) string {
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
		w.left -= costPoint
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

// waysBack are the lowerings that only another action takes back, and what to
// say where there is none.
var waysBack = map[Verb][2]string{
	VerbPut:         {"put: ENABLED", "nothing enables the queue again when an application comes back"},
	VerbSuspend:     {"resume: true", "nothing resumes the queue manager again"},
	VerbStopChannel: {"start_channel: true", "nothing starts the channel again"},
}

// checkPartner warns of a lowering that nothing ever takes back.
func (w *work) checkPartner(list []*Situation, takers *watchIndex, i int) {
	s := list[i]
	for k := range s.Actions {
		a := &s.Actions[k]
		back, known := waysBack[a.Verb]
		if !known || raises(a) || a.Claim || takesBack(s.OnClear) {
			continue
		}
		for _, j := range takers.near(s, len(list)) {
			if w.left <= 0 || j != i && w.watchesMeet(list[j], s) {
				return
			}
		}
		if k < len(s.actionNodes) {
			s.doc.warn(verbPlace(s.doc, s.actionNodes[k]), "no-way-back", "write: on_clear: revert, or a situation with "+back[0], "%s", back[1])
		}
		return
	}
}

// takesBack: exec and mqsc aside, only put: ENABLED enables a queue, resume a
// queue manager, start_channel a channel; what a program or a command does is not
// for us to know.
func takesBack(list []Action) bool {
	return slices.ContainsFunc(list, func(a Action) bool {
		_, lever := waysBack[a.Verb]
		return lever && raises(&a) || a.Verb == VerbResume || a.Verb == VerbStartChannel ||
			a.Verb == VerbExec || a.Verb == VerbMQSC
	})
}
