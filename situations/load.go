package situations

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Bounds of a rule set.
const (
	maxSituations = 5000
	maxActions    = 32
	maxListItems  = 1000
	maxNames      = 100_000 // of all lists together: one list can stand behind many aliases
	maxTextBytes  = 4096
)

const defaultSample = 5 * time.Minute

// Load reads rule files and gives the rules, or nil, and everything that is
// wrong with them. Warnings alone do not keep rules from being used.
func Load(files ...File) (*RuleSet, []Problem) { return loadWithin(maxWork, files...) }

// loadWithin is Load with so much work for what concerns several situations.
func loadWithin(work int, files ...File) (*RuleSet, []Problem) {
	rs := &RuleSet{}
	digest := sha256.New()
	var docs []*document
	for _, f := range files {
		d := newDocument(f)
		docs = append(docs, d)
		rs.Files = append(rs.Files, f.Name)
		fmt.Fprintf(digest, "%d %s\n%s", len(f.Data), f.Name, f.Data)
		if d.readYAML(f.Data) {
			l := loader{document: d, rules: rs}
			l.file()
		}
	}
	rs.Revision = hex.EncodeToString(digest.Sum(nil))[:12]
	checkTogether(rs, work)
	var problems []Problem
	for _, d := range docs {
		problems = append(problems, d.done()...)
	}
	if HasErrors(problems) {
		return nil, problems
	}
	return rs, problems
}

// loader reads one file.
type loader struct {
	*document
	rules    *RuleSet
	loc      *time.Location
	defaults common
	group    Group // of the situation that is read
}

// common are the keys that defaults and situations share.
type common struct {
	schedule     Schedule
	distribution Names
	firstItem    bool
	actAgain     ActAgain
}

func (l *loader) file() {
	top := l.mapping(l.root, placeTop, "a rule file begins with: version: 1")
	if top == nil {
		return
	}
	l.version(top)
	l.loc = time.Local
	if n := top.get("timezone"); n != nil {
		l.zone(n)
	}
	l.defaults = common{schedule: Schedule{Every: defaultSample}, distribution: NewNames()}
	if n := top.get("defaults"); n != nil {
		l.defaults = l.common(l.mapping(n, placeDefaults, "write: defaults: {sample: 5m}"), l.defaults)
	}
	n := top.get("situations")
	if n == nil {
		if top.key("situations") == nil {
			l.fail(l.at(l.root), "missing", "write: situations: and a list of them", "the file has no situations")
		}
		return
	}
	list := follow(n)
	if list.Kind != yaml.SequenceNode {
		l.fail(l.at(n), "type", "write: - name: ... for each", "situations is a list; this is %s", l.kindOf(list))
		return
	}
	for _, item := range list.Content {
		if len(l.rules.Situations) >= maxSituations {
			l.fail(l.at(item), "too-long", "", "there are more than %d situations", maxSituations)
			return
		}
		l.situation(item)
	}
}

func (l *loader) version(top entries) {
	n := top.get("version")
	if n == nil {
		l.fail(place{l.root.Line, l.root.Column, 1}, "missing", "write: version: 1", "the file does not say its version")
		return
	}
	if s, ok := l.scalar(n, "version", "write: version: 1"); ok && s != "1" {
		l.fail(l.at(n), "version", "write: version: 1", "this release reads version 1, not %s", s)
	}
}

func (l *loader) zone(n *yaml.Node) {
	s, ok := l.scalar(n, "timezone", "write: timezone: Europe/Zurich")
	if !ok {
		return
	}
	loc, err := time.LoadLocation(s)
	if err != nil || s == "" {
		l.fail(l.at(n), "timezone", "write a name like Europe/Zurich or UTC", "%s is not a time zone", s)
		return
	}
	l.loc = loc
}

// common reads the keys that defaults and situations share, over what was said before.
func (l *loader) common(es entries, c common) common {
	if n := es.get("sample"); n != nil {
		if s, ok := l.sample(n); ok {
			c.schedule = s
		}
	}
	if n := es.get("distribution"); n != nil {
		c.distribution = l.names(n, "distribution", true)
	}
	if n := es.get("act_on"); n != nil {
		c.firstItem = l.oneOf(n, "act_on", []string{"each_item", "first_item"}) == "first_item"
	}
	if n := es.get("act_at"); n != nil {
		l.oneOf(n, "act_at", []string{"managed_system"})
	}
	if n := es.get("act_again"); n != nil {
		c.actAgain = l.actAgain(n)
	}
	return c
}

func (l *loader) sample(n *yaml.Node) (Schedule, bool) {
	m := follow(n)
	if m.Kind != yaml.MappingNode {
		return l.sampleText(n, "sample")
	}
	es := l.mapping(n, placeSample, "")
	every := es.get("every")
	if every == nil {
		l.fail(l.at(n), "missing", "write: sample: {every: 5m, on_change: true}", "sample has no every")
		return Schedule{}, false
	}
	s, ok := l.sampleText(every, "every")
	if c := es.get("on_change"); c != nil {
		s.OnChange = l.boolean(c, "on_change")
	}
	return s, ok
}

func (l *loader) sampleText(n *yaml.Node, name string) (Schedule, bool) {
	text, ok := l.scalar(n, name, "write: "+name+": 5m")
	if !ok {
		return Schedule{}, false
	}
	s, bad := parseSample(text, l.loc)
	if bad != nil {
		code := "duration"
		if isCron(text) {
			code = "cron"
		}
		l.fail(l.at(n), code, bad.help, "%s", bad.message)
		return Schedule{}, false
	}
	if s.Every > 0 && s.Every < warnSample {
		l.warn(l.at(n), "short-sample", "", "a sample every %s is a load on the queue manager; 5s or more is usual", formatDuration(s.Every))
	}
	return s, true
}

func (l *loader) actAgain(n *yaml.Node) ActAgain {
	if m := follow(n); m.Kind == yaml.MappingNode {
		es := l.mapping(n, placeActAgain, "")
		if a := es.get("after"); a != nil {
			return ActAgain{After: l.duration(a, "after")}
		}
		l.fail(l.at(n), "missing", "write: act_again: {after: 30m}", "act_again has no after")
		return ActAgain{}
	}
	return ActAgain{EverySample: l.oneOf(n, "act_again", []string{"after_false", "every_sample"}) == "every_sample"}
}

var (
	mqName    = regexp.MustCompile(`^[A-Za-z0-9./_%]+$`)
	mqPattern = regexp.MustCompile(`^!?[A-Za-z0-9./_%*?]+$`)
)

const maxMQName = 48

// names reads a list of names, patterns and excludes.
func (l *loader) names(n *yaml.Node, what string, all bool) Names {
	var out []string
	nodes := l.list(n, what)
	if len(nodes) > maxListItems {
		l.fail(l.at(n), "too-long", "", "%s lists more than %d names", what, maxListItems)
		return NewNames()
	}
	if l.rules.names += len(nodes); l.rules.names > maxNames {
		l.fail(l.at(n), "too-long", "use patterns", "the lists of names hold more than %d together", maxNames)
		return NewNames()
	}
	for _, item := range nodes {
		s, ok := l.scalar(item, what, "")
		if !ok {
			continue
		}
		bare := strings.TrimPrefix(s, "!")
		switch {
		case all && s == "all":
			if len(nodes) > 1 {
				l.fail(l.at(item), "value", "", "all stands alone")
			}
			return NewNames()
		case !mqPattern.MatchString(s):
			l.fail(l.nameFault(item, s), "name", "a name has letters, digits and . / _ %; a pattern also * and ?", "%q is not a name of MQ", s)
		case len(bare) > maxMQName:
			l.fail(l.at(item), "name", "", "%s has %d characters; a name of MQ has at most %d", s, len(bare), maxMQName)
		default:
			out = append(out, s)
		}
	}
	return NewNames(out...)
}

// nameFault is the first character that may not stand in a name.
func (l *loader) nameFault(n *yaml.Node, s string) place {
	for i, r := range []rune(s) {
		if !mqName.MatchString(string(r)) && !(r == '*' || r == '?' || r == '!' && i == 0) {
			return l.stretch(follow(n), i, i+1)
		}
	}
	return l.at(n)
}

// situation reads one item of the list.
func (l *loader) situation(n *yaml.Node) {
	es := l.mapping(n, placeSituation, "write: - name: ...")
	if es == nil {
		return
	}
	if es.key("availability") != nil {
		l.availability(n, es)
		return
	}
	s := &Situation{Enabled: true, File: l.name, Line: n.Line, Column: n.Column, doc: l.document}
	l.identity(n, s, es)
	who := "a situation"
	if s.Name != "" {
		who = "situation " + s.Name
	}
	c := l.common(es, l.defaults)
	s.Schedule, s.Distribution, s.FirstItem, s.ActAgain = c.schedule, c.distribution, c.firstItem, c.actAgain
	l.group = GroupQueue
	if w := es.get("watch"); w != nil {
		s.Watch = l.watch(w)
		l.group = s.Watch.group()
	} else if es.key("watch") == nil {
		l.fail(place{n.Line, n.Column, 1}, "missing", "write: watch: {queue: DCQ1}", "%s watches nothing", who)
	}
	if d := es.get("description"); d != nil {
		s.Description = l.text(d, "description")
	}
	s.For, s.ClearFor = l.persistence(es, "for"), l.persistence(es, "clear_for")
	s.lever = leverOf(es)
	if f := es.get("formula"); f != nil {
		s.Formula = l.formula(f, "formula", s.lever)
		s.formulaNode = follow(f)
	} else if es.key("expect") != nil && es.key("formula") == nil {
		s.Formula = l.ownFormula("false", s.lever) // it is only about queues being there
	} else {
		l.fail(place{n.Line, n.Column, 1}, "missing", "", "%s has no formula, so it could never become true", who)
	}
	l.conditions(s, es)
	l.effects(s, es)
	if n := es.get("sample"); n != nil && s.Schedule.OnChange && l.group == GroupChannel {
		l.warn(l.at(n), "on-change", "", "no queue manager tells of what its channels do, so they are looked at %s only", s.Schedule.yamlEvery())
	}
	l.rules.Situations = append(l.rules.Situations, s)
	l.lintSituation(s, es)
}

// identity reads what the situation is called.
func (l *loader) identity(n *yaml.Node, s *Situation, es entries) {
	s.nameNode = n
	if name := es.get("name"); name != nil {
		s.Name = l.situationName(name)
		s.nameNode = name
	} else {
		l.fail(place{n.Line, n.Column, 1}, "missing", "write: name: MQQueueDisable", "a situation has no name")
	}
	if e := es.get("enabled"); e != nil {
		s.Enabled = l.boolean(e, "enabled")
	}
}

// effects reads what the situation does.
func (l *loader) effects(s *Situation, es entries) {
	revert := false
	if n := es.get("on_clear"); n != nil {
		if m := follow(n); m.Kind == yaml.ScalarNode {
			revert = l.oneOf(n, "on_clear", []string{"revert"}) == "revert"
			if revert {
				s.OnClear = []Action{{Verb: VerbRevert}}
			}
		} else {
			s.OnClear, s.clearNodes = l.actions(n, "on_clear", s.lever)
		}
	}
	if n := es.get("actions"); n != nil {
		s.Actions, s.actionNodes = l.actions(n, "actions", s.lever)
	}
	if revert {
		claimed := false
		for i := range s.Actions {
			if s.Actions[i].Verb.Attr() != "" {
				s.Actions[i].Claim, claimed = true, true
			}
		}
		if !claimed {
			l.fail(l.at(es.get("on_clear")), "nothing-to-revert", "revert gives back what "+orList(l.group.levers())+" changed",
				"the actions of this situation change nothing that could be given back")
		}
	}
	s.Alert = l.alert(s, es)
}

const maxSituationName = 256

func (l *loader) situationName(n *yaml.Node) string {
	s, ok := l.scalar(n, "name", "write: name: MQQueueDisable")
	if !ok {
		return ""
	}
	if len(s) > maxSituationName || s == "" {
		l.fail(l.at(n), "name", "", "a situation's name has 1 to %d characters", maxSituationName)
		return ""
	}
	for i, r := range []rune(s) {
		if r <= ' ' || r == 0x7f || strings.ContainsRune("\"'`\\:", r) || r == utf8.RuneError {
			l.fail(l.stretch(follow(n), i, i+1), "name", "", "a situation's name has no blanks, quotes, colons or backslashes")
			return ""
		}
	}
	return s
}

// text reads a text for people, with names to replace.
func (l *loader) text(n *yaml.Node, name string, allowed ...string) string {
	s, ok := l.scalar(n, name, "")
	if !ok {
		return ""
	}
	if len(s) > maxTextBytes {
		l.fail(l.at(n), "too-long", "", "%s has %d bytes; the most is %d", name, len(s), maxTextBytes)
		return ""
	}
	for _, e := range tableOf(l.group).textErrors(s, allowed...) {
		l.fail(l.stretch(follow(n), e.from, e.to), e.code, strings.Join(e.help, "\n"), "%s", e.message)
	}
	return s
}

// watch reads which items are looked at: those of one group.
func (l *loader) watch(n *yaml.Node) Watch {
	es := l.mapping(n, placeWatch, "write: watch: {queue: DCQ1}")
	w := Watch{Group: GroupQueue, Queue: NewNames(), Channel: NewNames(), QMgr: NewNames(), Cluster: NewNames()}
	if es == nil {
		return w
	}
	var said []string
	for _, g := range Groups() {
		v := es.get(string(g))
		if v == nil {
			continue
		}
		if said = append(said, string(g)); len(said) > 1 {
			l.fail(l.at(es.key(string(g))), "two-groups", "write a situation for each",
				"a situation watches one kind of item; this one watches %s and %s", said[0], said[1])
			break
		}
		w.Group = g
		*w.names() = l.names(v, string(g), false)
		if g != GroupQMgr {
			l.lintSystem(g, v)
		}
	}
	if len(said) == 0 && len(es) == len(follow(n).Content)/2 { // not one that comes later
		l.fail(l.at(n), "missing", `write: queue: "*"`, "watch names no queue")
	}
	if c := es.get("cluster"); c != nil {
		w.Cluster = l.names(c, "cluster", false)
	}
	return w
}

func (l *loader) lintSystem(g Group, q *yaml.Node) {
	m := follow(q)
	nodes := m.Content
	if m.Kind == yaml.ScalarNode {
		nodes = []*yaml.Node{m}
	}
	for _, n := range nodes {
		if strings.HasPrefix(n.Value, "SYSTEM.") && isPattern(n.Value) {
			l.warn(l.at(n), "system-pattern", "name the "+string(g)+" exactly", "SYSTEM %ss are watched only when named exactly, so this pattern finds none", g)
		}
	}
}

func (l *loader) persistence(es entries, name string) Persistence {
	out := Persistence{Samples: 1}
	n := es.get(name)
	if n == nil {
		return out
	}
	s, ok := l.scalar(n, name, "write: "+name+": 2 samples")
	if !ok {
		return out
	}
	p, bad := parsePersistence(s)
	if bad != nil {
		l.fail(l.at(n), "duration", bad.help, "%s", bad.message)
		return out
	}
	return p
}

// formula compiles a formula and shows its mistakes where they stand.
func (l *loader) formula(n *yaml.Node, name string, lever Lever) *Formula {
	m := follow(n)
	if m.Kind == yaml.ScalarNode && (m.Tag == "!!bool" || m.Tag == "!!int" || m.Tag == "!!float") && m.Value == "" {
		return nil
	}
	s, ok := l.scalar(n, name, "write: "+name+": "+l.group.sample())
	if !ok {
		return nil
	}
	f, bad := compileFormula(l.group, s, lever)
	for _, e := range bad {
		l.fail(l.stretch(m, e.from, e.to), e.code, strings.Join(e.help, "\n"), "%s", e.message)
	}
	return f
}

// leverOf finds what the situation's actions turn down, before they are read:
// READY_ELSEWHERE in the formula depends on it.
func leverOf(es entries) Lever {
	n := follow(es.get("actions"))
	if n == nil || n.Kind != yaml.SequenceNode {
		return Lever{}
	}
	for _, item := range n.Content {
		m := follow(item)
		if m.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			verb := Verb(m.Content[i].Value)
			if slices.Contains([]Verb{VerbPut, VerbRank, VerbPriority}, verb) {
				v := 0
				if s := m.Content[i+1].Value; len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
					v = int(s[0] - '0')
				}
				return Lever{Verb: verb, Value: v}
			}
		}
	}
	return Lever{}
}
