package situations

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Bounds of what a situation says of when it holds.
const (
	maxWindows   = 50
	maxWindowFor = 7 * 24 * time.Hour
	maxAvailable = 1000
)

// conditions reads what else decides about a situation beside its formula.
func (l *loader) conditions(s *Situation, es entries) {
	if n := es.get("recovery"); n != nil {
		s.Recovery = l.formula(n, "recovery", s.lever)
		s.recoveryNode = follow(n)
	}
	if n := es.get("until"); n != nil {
		l.until(s, n)
	}
	if n := es.get("maintenance"); n != nil {
		l.maintenance(s, n)
	}
	if n := es.get("guard"); n != nil {
		l.guard(s, n)
	}
	if n := es.get("expect"); n != nil {
		l.expect(s, n)
	}
	if n := es.get("max_wait"); n != nil {
		if s.MaxWait = l.duration(n, "max_wait"); s.MaxWait > 0 {
			l.checkWait(s, l.at(n))
		}
	}
	if n := es.get("renamed_from"); n != nil {
		s.RenamedFrom = l.situationName(n)
		s.renamedNode = follow(n)
	}
}

func (l *loader) until(s *Situation, n *yaml.Node) {
	es := l.mapping(n, placeUntil, "write: until: {after: 1h}")
	if es == nil {
		return
	}
	if v := es.get("situation"); v != nil {
		s.Until.Situation = l.situationName(v)
		s.untilNode = follow(v)
	}
	if v := es.get("after"); v != nil {
		s.Until.After = l.duration(v, "after")
	}
	if len(es) == 0 && len(follow(n).Content) == 0 {
		l.fail(l.at(n), "missing", "write: until: {after: 1h}, or until: {situation: Other}", "until says nothing")
	}
}

func (l *loader) maintenance(s *Situation, n *yaml.Node) {
	list := follow(n)
	if list.Kind != yaml.SequenceNode {
		l.fail(l.at(n), "type", `write: - {cron: "0 3 * * 0", for: 2h, suppress: act} for each`, "maintenance is a list of windows; this is %s", l.kindOf(list))
		return
	}
	if len(list.Content) > maxWindows {
		l.fail(l.at(n), "too-long", "", "there are more than %d windows", maxWindows)
		return
	}
	for _, item := range list.Content {
		if w, ok := l.window(item); ok {
			s.Maintenance = append(s.Maintenance, w)
		}
	}
}

func (l *loader) window(n *yaml.Node) (w Window, ok bool) {
	es := l.mapping(n, placeMaintenance, `write: - {cron: "0 3 * * 0", for: 2h}`)
	if es == nil {
		return w, false
	}
	before := len(l.problems)
	if v := es.get("cron"); v == nil {
		l.fail(l.at(n), "missing", `write: cron: "0 3 * * 0"`, "a window does not say when it begins")
	} else if text, good := l.scalar(v, "cron", `write: cron: "0 3 * * 0"`); good {
		start, err := ParseCron(text, l.loc)
		switch {
		case err != nil:
			l.fail(l.at(v), "cron", `write: cron: "0 3 * * 0"`, "%s: %s", text, err)
		case start.Cron == "":
			l.fail(l.at(v), "cron", `write: cron: "0 3 * * 0"`, "a window begins at times of the day, not every so often")
		}
		w.Start = start
	}
	if v := es.get("for"); v == nil {
		l.fail(l.at(n), "missing", "write: for: 2h", "a window does not say how long it is")
	} else if w.For = l.duration(v, "for"); w.For > maxWindowFor {
		l.fail(l.at(v), "duration", "", "a window lasts at most %s", formatDuration(maxWindowFor))
	} else if w.For <= 0 && len(l.problems) == before {
		l.fail(l.at(v), "duration", "write: for: 2h", "a window lasts longer than that")
	}
	if v := es.get("suppress"); v != nil {
		w.Notify = l.oneOf(v, "suppress", []string{"act", "notify"}) == "notify"
	}
	if ok = len(l.problems) == before; ok && w.always() {
		l.warn(l.at(n), "constant", "", "this window never closes: it begins again before it ends")
	}
	return w, ok
}

func (l *loader) guard(s *Situation, n *yaml.Node) {
	es := l.mapping(n, placeGuard, "write: guard: {min_available: 1, dwell: 2 samples}")
	if v := es.get("min_available"); v != nil {
		l.available(&s.Guard, v)
	}
	v := es.get("dwell")
	if v == nil {
		return
	}
	text, ok := l.scalar(v, "dwell", "write: dwell: 2 samples")
	if !ok {
		return
	}
	switch text = strings.TrimSpace(text); text {
	case "0", "0 samples":
		s.Guard.DwellSet = true
	default:
		p, bad := parsePersistence(text)
		if bad != nil {
			l.fail(l.at(v), "duration", bad.help, "%s", bad.message)
			return
		}
		if p.Duration > 0 || !samplesText.MatchString(text) {
			p.Samples = 0 // a time alone
		}
		s.Guard.Dwell, s.Guard.DwellSet = p, true
	}
}

// available reads a number of instances, or a share of them.
func (l *loader) available(g *GuardLimits, n *yaml.Node) {
	text, ok := l.scalar(n, "min_available", "write: min_available: 1")
	if !ok {
		return
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	number, err := strconv.Atoi(digits)
	most := maxAvailable
	if percent {
		most = 100
	}
	if err != nil || number < 0 || number > most || digits != strconv.Itoa(number) {
		l.fail(l.at(n), "value", "write: min_available: 1, or 30%", "min_available is a number of instances, or a share of them in percent, not %s", text)
		return
	}
	g.Available, g.Percent, g.AvailableSet = number, percent, true
}

// expect reads the names that must exist; each has to be one that is watched.
func (l *loader) expect(s *Situation, n *yaml.Node) {
	if l.group == GroupQMgr {
		l.fail(l.at(n), "value", "", "expect is about queues and channels; a daemon's own queue manager is always there")
		return
	}
	nodes := l.list(n, "expect")
	if len(nodes) > maxListItems {
		l.fail(l.at(n), "too-long", "", "expect lists more than %d names", maxListItems)
		return
	}
	for _, item := range nodes {
		name, ok := l.scalar(item, "expect", "")
		switch {
		case !ok:
		case !mqName.MatchString(name):
			l.fail(l.nameFault(item, name), "name", "name each "+string(l.group)+" that must exist", "%q is not the name of one %s", name, l.group)
		case len(name) > maxMQName:
			l.fail(l.at(item), "name", "", "%s has %d characters; a name of MQ has at most %d", name, len(name), maxMQName)
		case !s.Watch.names().Match(name):
			l.fail(l.at(item), "not-watched", "add it to watch: {"+string(l.group)+": ...}", "%s must exist, and is not among the %ss that are watched", name, l.group)
		case slices.Contains(s.Expect, name):
			l.fail(l.at(item), "twice", "", "%s stands here twice", name)
		default:
			s.Expect = append(s.Expect, name)
		}
	}
}

// checkRenamed refuses old names that cannot be: the situation's state can go to
// one place only.
func checkRenamed(list []*Situation) {
	names, taken := map[string]bool{}, map[string]*Situation{}
	for _, s := range list {
		names[s.Name] = true
	}
	for _, s := range list {
		if s.RenamedFrom == "" {
			continue
		}
		at := s.doc.at(s.renamedNode)
		switch other := taken[s.RenamedFrom]; {
		case s.RenamedFrom == s.Name:
			s.doc.fail(at, "name", "name what it was called before", "%s is what it is called now", s.Name)
		case names[s.RenamedFrom]:
			s.doc.fail(at, "twice", "", "there is still a situation called %s", s.RenamedFrom)
		case other != nil:
			s.doc.fail(at, "twice", "", "%s was called %s, too", other.Name, s.RenamedFrom)
		}
		taken[s.RenamedFrom] = s
	}
}
