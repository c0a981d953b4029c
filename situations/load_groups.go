package situations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// levers are the verbs under a group whose change can be given back.
func (g Group) levers() []string {
	switch g {
	case GroupChannel:
		return []string{"weight", "rank", "priority", "stop_channel"}
	case GroupQMgr:
		return []string{"suspend"}
	case GroupQueue:
	}
	return []string{"put", "rank", "priority"}
}

// identity are the names of a group that stay the same from sample to sample.
func (g Group) identity() []string {
	switch g {
	case GroupChannel:
		return []string{"CHANNEL", "QMGR", "CLUSTER"}
	case GroupQMgr:
		return []string{"QMGR", "CLUSTER"}
	case GroupQueue:
	}
	return []string{"QUEUE", "QMGR", "CLUSTER"}
}

// nouns are what a verb is done to.
func (v Verb) nouns() []string {
	var out []string
	for _, g := range verbGroups[v] {
		out = append(out, g.noun())
	}
	return out
}

// instead says what to write where a verb does not belong to what is watched.
func (v Verb) instead(g Group) string {
	var verbs []string
	for _, name := range actionVerbs {
		if Verb(name).fits(g) {
			verbs = append(verbs, name)
		}
	}
	return fmt.Sprintf("watch: {%s: ...}; under %s there are %s", verbGroups[v][0], g, strings.Join(verbs, ", "))
}

// weight reads CLWLWGHT.
func (l *loader) weight(n *yaml.Node) string {
	s, ok := l.scalar(n, "weight", "write: weight: 1")
	if !ok {
		return ""
	}
	if w, err := strconv.Atoi(s); err != nil || w < minWeight || w > maxWeight || strconv.Itoa(w) != s {
		l.fail(l.at(n), "value", "", "weight is a whole number from %d to %d, not %s", minWeight, maxWeight, s)
		return ""
	}
	return s
}

// mode reads what stands behind start_channel and stop_channel: true for the
// channel that is watched, which no other could be; and how to stop it.
func (l *loader) mode(n *yaml.Node, v Verb) string {
	allowed := []string{"true"}
	if v == VerbStopChannel {
		allowed = append(allowed, "QUIESCE", "FORCE", "TERMINATE")
	}
	if s := follow(n); s.Kind == yaml.ScalarNode && s.Value == "${CHANNEL}" {
		return ""
	}
	if s := l.oneOf(n, string(v), allowed); s != "true" {
		return s
	}
	return ""
}

// clusters reads what stands behind suspend and resume: names of clusters, or
// true or all for every one that the queue manager is in.
func (l *loader) clusters(n *yaml.Node, what string) []string {
	if s := follow(n); s.Kind == yaml.ScalarNode && (s.Value == "true" || s.Value == "all") {
		return nil
	}
	before := len(l.problems)
	nodes := l.list(n, what)
	if len(nodes) == 0 && len(l.problems) == before {
		l.fail(l.at(n), "missing", "write: "+what+": true, or the name of a cluster", "%s names no cluster", what)
	}
	var out []string
	for _, item := range nodes {
		s, ok := l.scalar(item, what, "write: "+what+": true, or the name of a cluster")
		switch {
		case !ok:
		case s == "false":
			l.fail(l.at(item), "value", "write: "+what+": true, or the name of a cluster", "%s is not %s", what, s)
		case !mqName.MatchString(s):
			l.fail(l.nameFault(item, s), "name", "write: "+what+": true, or the name of a cluster", "%q is not the name of a cluster", s)
		case len(s) > maxMQName:
			l.fail(l.at(item), "name", "", "%s has %d characters; a name of MQ has at most %d", s, len(s), maxMQName)
		case slices.Contains(out, s):
			l.fail(l.at(item), "twice", "", "%s stands here twice", s)
		default:
			out = append(out, s)
		}
	}
	if len(out) > maxListItems {
		l.fail(l.at(n), "too-long", "", "%s lists more than %d names", what, maxListItems)
		return nil
	}
	return out
}

// yamlEvery is when a schedule samples by the clock, in a sentence.
func (s *Schedule) yamlEvery() string {
	if s.Cron != "" {
		return "at " + s.Cron
	}
	return "every " + formatDuration(s.Every)
}
