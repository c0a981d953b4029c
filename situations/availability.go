package situations

import (
	"gopkg.in/yaml.v3"
)

// availability reads the short form and expands it to its two situations: NAME.idle
// lowers the instance that nobody reads, NAME.read gives it back. Both keep what
// they found under one name, so removing the rule restores it.
func (l *loader) availability(n *yaml.Node, es entries) {
	for _, e := range es {
		if e.name != "availability" {
			l.fail(l.at(e.key), "unknown-key", "write it inside: availability: {"+e.name+": ...}", "%s does not stand beside availability", e.name)
		}
	}
	value := es.get("availability")
	as := l.mapping(value, placeAvailability, "write: availability: {queue: DCQ1, cluster: C1, by: put}")
	if as == nil {
		return
	}
	l.group = GroupQueue
	before := len(l.problems)
	by := l.by(value, as)
	name, nameNode := l.availabilityName(value, as)
	if HasErrors(l.problems[before:]) || name == "" {
		return
	}
	c := l.common(as, l.defaults)
	watch := l.availabilityWatch(as)
	move := Action{Verb: VerbRedistribute}
	lever := Lever{Verb: by}
	if r := as.get("redistribute"); r != nil {
		l.redistribute(&move, r, lever)
	}
	if move.OnlyIf == nil && !move.Never {
		move.OnlyIf = l.ownFormula("READY_ELSEWHERE > 0", lever)
	}
	lower, raise := levers(by)
	lower.ClaimName, raise.ClaimName = name, name
	if x := as.get("allow_last"); x != nil {
		lower.AllowLast = l.boolean(x, "allow_last")
	}
	idle := l.half(n, name+".idle", "no application is ready to take messages from this queue", "IPPROCS == 0", lever, c, watch)
	idle.Actions = []Action{lower, move}
	idle.Alert = l.alert(idle, onlyKey(as, "alert"))
	read := l.half(n, name+".read", "at least one application has the queue open for input", "IPPROCS > 0", lever, c, watch)
	read.Actions = []Action{raise}
	for _, s := range []*Situation{idle, read} {
		s.Availability, s.nameNode = name, nameNode
		l.rules.Situations = append(l.rules.Situations, s)
	}
}

func onlyKey(es entries, name string) entries {
	for _, e := range es {
		if e.name == name {
			return entries{e}
		}
	}
	return nil
}

func (l *loader) half(n *yaml.Node, name, description, formula string, lever Lever, c common, w Watch) *Situation {
	return &Situation{
		Name: name, Description: description, Enabled: true, Watch: w,
		Schedule: c.schedule, Distribution: c.distribution, FirstItem: c.firstItem, ActAgain: c.actAgain,
		Formula: l.ownFormula(formula, lever), For: Persistence{Samples: 1}, ClearFor: Persistence{Samples: 1},
		File: l.name, Line: n.Line, Column: n.Column, doc: l.document, lever: lever,
	}
}

// ownFormula compiles a formula of ours, which has no mistakes.
func (l *loader) ownFormula(source string, lever Lever) *Formula {
	f, _ := compileFormula(l.group, source, lever)
	return f
}

func (l *loader) by(value *yaml.Node, as entries) Verb {
	n := as.get("by")
	if n == nil {
		l.fail(l.at(value), "missing", "write: by: put, which rejects what cannot go elsewhere, or by: rank or priority, which do not",
			"availability does not say by what")
		return ""
	}
	return Verb(l.oneOf(n, "by", []string{"put", "rank", "priority"}))
}

// availabilityName is the rule's name, or the queue's.
func (l *loader) availabilityName(value *yaml.Node, as entries) (string, *yaml.Node) {
	if n := as.get("name"); n != nil {
		return l.situationName(n), n
	}
	q := as.get("queue")
	if q == nil {
		l.fail(l.at(value), "missing", "write: availability: {queue: DCQ1, by: put}", "availability names no queue")
		return "", value
	}
	if m := follow(q); m.Kind == yaml.SequenceNode {
		l.fail(l.at(q), "missing", "write: name: orders", "availability of several queues needs a name")
		return "", q
	}
	return l.situationName(q), q
}

func (l *loader) availabilityWatch(as entries) Watch {
	w := Watch{Queue: NewNames(), Cluster: NewNames()}
	if q := as.get("queue"); q != nil {
		w.Queue = l.names(q, "queue", false)
		l.lintSystem(GroupQueue, q)
	} else {
		l.fail(l.at(as.key("by")), "missing", "write: availability: {queue: DCQ1, by: put}", "availability names no queue")
	}
	if c := as.get("cluster"); c != nil {
		w.Cluster = l.names(c, "cluster", false)
	}
	return w
}

// levers are the lowering and the raising of a lever. PUT goes back to what it
// was, since a person's PUT(DISABLED) must stay; rank and priority have a value
// for each state.
func levers(by Verb) (lower, raise Action) {
	switch by {
	case VerbRank:
		return Action{Verb: by, Value: "0", Claim: true}, Action{Verb: by, Value: "9", Claim: true}
	case VerbPriority:
		return Action{Verb: by, Value: "0", Claim: true, UseQ: "any"}, Action{Verb: by, Value: "1", Claim: true}
	default:
	}
	return Action{Verb: VerbPut, Value: "DISABLED", Claim: true}, Action{Verb: VerbRevert}
}
