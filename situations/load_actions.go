package situations

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// actions reads a list of actions; nodes are their places.
func (l *loader) actions(n *yaml.Node, what string, lever Lever) ([]Action, []*yaml.Node) {
	list := follow(n)
	if list.Kind != yaml.SequenceNode {
		l.fail(l.at(n), "type", "write each as a list item: - put: DISABLED", "%s is a list; this is %s", what, l.kindOf(list))
		return nil, nil
	}
	var out []Action
	var nodes []*yaml.Node
	for i, item := range list.Content {
		if i >= maxActions {
			l.fail(l.at(item), "too-long", "", "%s holds more than %d actions", what, maxActions)
			break
		}
		if a, ok := l.action(item, lever); ok {
			out, nodes = append(out, a), append(nodes, follow(item))
		}
	}
	return out, nodes
}

// action reads one item, which has exactly one verb.
func (l *loader) action(n *yaml.Node, lever Lever) (Action, bool) {
	if m := follow(n); m.Kind == yaml.ScalarNode {
		l.scalarAction(n, m.Value)
		return Action{}, false
	}
	before := len(l.problems)
	es := l.mapping(n, placeAction, "write: - put: DISABLED")
	if es == nil {
		return Action{}, false
	}
	var verbs []entry
	for _, e := range es {
		if slices.Contains(actionVerbs, e.name) {
			verbs = append(verbs, e)
		}
	}
	switch {
	case len(verbs) > 1:
		l.fail(l.at(verbs[1].key), "two-verbs", "write: - "+verbs[1].name+": as an item of its own", "an action does one thing; this one has %s and %s", verbs[0].name, verbs[1].name)
		return Action{}, false
	case len(verbs) == 0 && len(l.problems) > before:
		return Action{}, false // an unknown or later verb, and said so
	case len(verbs) == 0:
		l.fail(l.at(n), "missing", "its verb is "+orList(actionVerbs), "this action does nothing")
		return Action{}, false
	}
	a := Action{Verb: Verb(verbs[0].name)}
	if !a.Verb.fits(l.group) {
		l.fail(l.at(verbs[0].key), "wrong-group", a.Verb.instead(l.group), "%s is done to %s; this situation watches %s", a.Verb, orList(a.Verb.nouns()), l.group.noun())
		return Action{}, false
	}
	l.verb(&a, verbs[0].value, lever)
	l.modifiers(&a, es, lever)
	return a, len(l.problems) == before || !HasErrors(l.problems[before:])
}

// scalarAction answers `- put DISABLED` and `- redistribute`.
func (l *loader) scalarAction(n *yaml.Node, s string) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(s), " ")
	help := "write: - put: DISABLED"
	if slices.Contains(actionVerbs, verb) {
		alone := []Verb{VerbRedistribute, VerbSuspend, VerbResume, VerbStartChannel, VerbStopChannel}
		if rest = strings.TrimSpace(rest); rest == "" && slices.Contains(alone, Verb(verb)) {
			rest = "true"
		}
		if rest != "" {
			help = "write: - " + verb + ": " + rest
		}
	}
	l.fail(l.at(n), "type", help, "an action is a verb, a colon and a value")
}

func (l *loader) verb(a *Action, n *yaml.Node, lever Lever) {
	switch a.Verb {
	case VerbPut:
		a.Value = l.oneOf(n, "put", []string{"ENABLED", "DISABLED"})
	case VerbRank, VerbPriority:
		a.Value = l.digit(n, string(a.Verb))
	case VerbWeight:
		a.Value = l.weight(n)
	case VerbStartChannel, VerbStopChannel:
		a.Value = l.mode(n, a.Verb)
	case VerbSuspend, VerbResume:
		a.Clusters = l.clusters(n, string(a.Verb))
	case VerbRedistribute:
		l.redistribute(a, n, lever)
	case VerbExec:
		a.Args = l.program(n)
	case VerbMQSC:
		a.Value = l.command(n)
	case VerbWebhook:
		a.Value = l.address(n)
	case VerbEvent:
		a.Value = l.text(n, "event")
	case VerbRevert:
	}
}

func (l *loader) digit(n *yaml.Node, name string) string {
	s, ok := l.scalar(n, name, "write: "+name+": 0")
	if ok && (len(s) != 1 || s[0] < '0' || s[0] > '9') {
		l.fail(l.at(n), "value", "", "%s is a whole number from 0 to 9, not %s", name, s)
		return ""
	}
	return s
}

func (l *loader) redistribute(a *Action, n *yaml.Node, lever Lever) {
	m := follow(n)
	if m.Kind == yaml.ScalarNode && m.Tag != "!!null" {
		a.Never = l.oneOf(n, "redistribute", []string{"true", "never"}) == "never"
		return
	}
	es := l.mapping(n, placeRedistribute, "write: redistribute: true")
	if f := es.get("only_if"); f != nil {
		a.OnlyIf = l.formula(f, "only_if", lever)
	}
	if r := es.get("retry"); r != nil {
		a.Retry = l.duration(r, "retry")
	}
	if t := es.get("timeout"); t != nil {
		a.Timeout = l.duration(t, "timeout")
	}
	if b := es.get("even_if_bound"); b != nil {
		a.EvenIfBound = l.boolean(b, "even_if_bound")
	}
	if r := es.get("rate"); r != nil {
		a.Rate = l.rate(r)
	}
}

// MaxRate is the most messages a second that a rate may say.
const MaxRate = 1_000_000

// rate reads how many messages a second may move.
func (l *loader) rate(n *yaml.Node) int {
	const help = "write: rate: 100; without it there is no limit"
	text, ok := l.scalar(n, "rate", help)
	if !ok {
		return 0
	}
	text = strings.TrimSpace(text)
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > MaxRate || text != strconv.Itoa(number) {
		l.fail(l.at(n), "value", help, "rate is a whole number of messages a second, from 1 to %d, not %s", MaxRate, text)
		return 0
	}
	return number
}

const maxArgs = 64

// program reads exec's list: a program and its arguments.
func (l *loader) program(n *yaml.Node) []string {
	list := follow(n)
	if list.Kind != yaml.SequenceNode {
		help := "write: exec: [/opt/MQScripts/disable.sh, \"${QUEUE}\"]"
		if list.Kind == yaml.ScalarNode && list.Value != "" {
			help = "no shell reads it; write: exec: [" + strings.Join(quoteArgs(strings.Fields(list.Value)), ", ") + "]"
		}
		l.fail(l.at(n), "type", help, "exec is a list of a program and its arguments; this is %s", l.kindOf(list))
		return nil
	}
	if len(list.Content) == 0 {
		l.fail(l.at(n), "missing", "write: exec: [/opt/MQScripts/disable.sh]", "exec names no program")
		return nil
	}
	if len(list.Content) > maxArgs {
		l.fail(l.at(n), "too-long", "", "exec has more than %d arguments", maxArgs)
		return nil
	}
	var args []string
	for i, item := range list.Content {
		s := ""
		if m := follow(item); m.Kind == yaml.ScalarNode && m.Tag == "!!null" && m.Value == "" {
			l.fail(l.at(item), "missing", `write: "" for an empty argument`, "this argument has no value")
		} else if i == 0 {
			s = l.programName(item)
		} else {
			s = l.text(item, "argument")
		}
		args = append(args, s)
	}
	return args
}

// programName is constant, and without a leading / relative to the rule file.
func (l *loader) programName(n *yaml.Node) string {
	s, ok := l.scalar(n, "the program", "")
	switch {
	case !ok:
	case s == "":
		l.fail(l.at(n), "missing", "", "exec names no program")
	case len(tableOf(l.group).substitutions(s)) > 0:
		l.fail(l.at(n), "program", "", "the program is named outright; names are replaced only in its arguments")
	case strings.Contains(s, "/") && !path.IsAbs(s):
		dir := l.dir
		if dir == "" {
			dir = path.Dir(strings.ReplaceAll(l.document.name, `\`, "/"))
		}
		if joined := path.Join(dir, s); path.IsAbs(joined) {
			return joined
		}
		return "./" + path.Join(dir, s)
	}
	return s
}

func quoteArgs(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if strings.ContainsAny(a, "{}[],&*!#\"'%@`") {
			out[i] = quoteYAML(a)
		}
	}
	return out
}

// modifiers reads the keys beside the verb.
func (l *loader) modifiers(a *Action, es entries, lever Lever) {
	for _, e := range es {
		if a.Verb == VerbRedistribute && e.name != "redistribute" {
			help := "write: redistribute: {" + e.name + ": ...}"
			if e.name == "allow_last" || e.name == "useq" {
				help = e.name + " belongs to put, rank and priority"
			}
			l.fail(l.at(e.key), "unknown-key", help, "%s does not stand beside redistribute", e.name)
			continue
		}
		switch e.name {
		case "allow_last":
			a.AllowLast = l.boolean(e.value, "allow_last")
			l.onlyBeside(a, e, a.Verb.Attr() != "" && a.Verb != VerbStartChannel && a.Verb != VerbResume, orList(l.group.levers()))
		case "only_if":
			a.OnlyIf = l.formula(e.value, "only_if", lever)
		case "retry":
			a.Retry = l.duration(e.value, "retry")
		case "timeout":
			a.Timeout = l.duration(e.value, "timeout")
		case "useq":
			a.UseQ = l.oneOf(e.value, "useq", []string{"any"})
			l.onlyBeside(a, e, l.group == GroupQueue && (a.Verb == VerbRank || a.Verb == VerbPriority), "rank or priority of a queue")
		}
	}
}

func (l *loader) onlyBeside(a *Action, e entry, ok bool, where string) {
	if !ok {
		l.fail(l.at(e.key), "unknown-key", "it belongs to "+where, "%s means nothing beside %s", e.name, a.Verb)
	}
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// ownLabels are the labels that every alert has, and so no rule may set.
var ownLabels = []string{"alertname", "severity", "qmgr", "queue", "cluster"}

// alert reads alert and its short form severity.
func (l *loader) alert(s *Situation, es entries) *Alert {
	short := es.get("severity")
	n := es.get("alert")
	if n == nil && short == nil {
		return nil
	}
	a := &Alert{Severity: "warning", Description: s.Description}
	if n != nil {
		l.alertMap(a, n)
	}
	if short != nil {
		if m := follow(n); m != nil && m.Kind == yaml.MappingNode && hasKey(m, "severity") {
			l.fail(l.at(es.key("severity")), "twice", "", "the severity is said here and in alert")
		}
		a.Severity = l.oneOf(short, "severity", severities)
	}
	return a
}

func hasKey(m *yaml.Node, name string) bool {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return true
		}
	}
	return false
}

func (l *loader) alertMap(a *Alert, n *yaml.Node) {
	es := l.mapping(n, placeAlert, "write: alert: {severity: critical}")
	for _, e := range es {
		switch e.name {
		case "severity":
			a.Severity = l.oneOf(e.value, "severity", severities)
		case "summary":
			a.Summary = l.text(e.value, "summary")
		case "description":
			a.Description = l.text(e.value, "description")
		case "runbook":
			a.Runbook = l.text(e.value, "runbook")
			if u, err := url.Parse(a.Runbook); a.Runbook != "" && (err != nil || u.Scheme == "") {
				l.fail(l.at(e.value), "value", "write: runbook: https://...", "runbook is a URL")
			}
		case "labels":
			a.Labels = l.labels(e.value)
		}
	}
}

func (l *loader) labels(n *yaml.Node) []Label {
	m := follow(n)
	if m.Kind != yaml.MappingNode {
		l.fail(l.at(n), "type", "write: labels: {service: orders}", "labels is a map of keys and values; this is %s", l.kindOf(m))
		return nil
	}
	var out []Label
	for i := 0; i+1 < len(m.Content) && i < 2*maxListItems; i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		name := k.Value
		switch {
		case !labelName.MatchString(name) || strings.HasPrefix(name, "__"):
			l.fail(l.at(k), "label", "a label has letters, digits and _, and does not begin with a digit or __", "%q is not a label's name", name)
			continue
		case slices.Contains(ownLabels, name) || name == string(GroupChannel) && l.group == GroupChannel:
			l.fail(l.at(k), "label", "", "the label %s is set for every alert", name)
			continue
		case slices.ContainsFunc(out, func(x Label) bool { return x.Name == name }):
			l.fail(l.at(k), "twice", "", "%s stands here twice", name)
			continue
		}
		if s := l.text(v, fmt.Sprintf("the label %s", name), l.group.identity()...); s != "" {
			out = append(out, Label{name, s})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
