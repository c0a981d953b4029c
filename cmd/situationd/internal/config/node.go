package config

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// key is one key of a mapping and what reads its value.
type key struct {
	name string
	read func(*yaml.Node)
}

// mapping hands the value of every known key to its reader; what names the
// mapping in messages. Unknown and repeated keys are errors.
func (r *reader) mapping(n *yaml.Node, what string, keys ...key) {
	n = r.plain(n)
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.errorf(n, "type", "", "%s is a mapping of keys to values", what)
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if line, twice := seen[name.Value]; twice {
			r.errorf(name, "twice", "", "%s stands in %s twice; the first is on line %d", name.Value, what, line)
			continue
		}
		seen[name.Value] = name.Line
		at := slices.IndexFunc(keys, func(k key) bool { return k.name == name.Value })
		if at < 0 {
			r.unknownKey(name, what, keys)
			continue
		}
		keys[at].read(value)
	}
}

func (r *reader) unknownKey(name *yaml.Node, what string, keys []key) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	if near := nearest(name.Value, names); near != "" {
		r.errorf(name, "unknown-key", "", "%s has no key %s; did you mean %s?", what, name.Value, near)
		return
	}
	sort.Strings(names)
	r.errorf(name, "unknown-key", "keys: "+strings.Join(names, " "), "%s has no key %s", what, name.Value)
}

// plain follows an alias and refuses tags, which would change a value silently.
func (r *reader) plain(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.errorf(n, "yaml", "put the value in quotes", "a value that starts with ! is a tag to YAML and would be lost")
		return nil
	}
	return n
}

// text reads a scalar; an empty value is an error.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	n = r.plain(n)
	if n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode {
		r.errorf(n, "type", "", "%s is one value, not a list or a mapping", what)
		return "", false
	}
	if n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		r.errorf(n, "missing", "", "%s has no value", what)
		return "", false
	}
	return n.Value, true
}

// choice reads one of a few words.
func (r *reader) choice(n *yaml.Node, what string, into *string, words ...string) {
	value, ok := r.text(n, what)
	if !ok {
		return
	}
	if !slices.Contains(words, value) {
		list := strings.Join(words, ", ")
		if near := nearest(value, words); near != "" {
			r.errorf(n, "unknown-value", "", "%s is one of %s, not %s; did you mean %s?", what, list, value, near)
			return
		}
		r.errorf(n, "unknown-value", "", "%s is one of %s, not %s", what, list, value)
		return
	}
	*into = value
}

func (r *reader) duration(n *yaml.Node, what string, least time.Duration, into *time.Duration) bool {
	value, ok := r.text(n, what)
	if !ok {
		return false
	}
	if number, err := strconv.ParseFloat(value, 64); err == nil && number != 0 {
		r.errorf(n, "duration", "write "+value+"s or "+value+"m", "%s has no unit", value)
		return false
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		r.errorf(n, "duration", "write for example 90s, 10m or 1h30m", "%s is not a duration", value)
		return false
	}
	if d < least {
		r.errorf(n, "range", "", "%s is at least %v", what, least)
		return false
	}
	*into = d
	return true
}

func (r *reader) number(n *yaml.Node, what string, least, most int, into *int) {
	value, ok := r.text(n, what)
	if !ok {
		return
	}
	number, err := strconv.Atoi(value)
	if err != nil || number < least || number > most {
		r.errorf(n, "range", "", "%s is a whole number from %d to %d, not %s", what, least, most, value)
		return
	}
	*into = number
}

// list hands every item of a list to read.
func (r *reader) list(n *yaml.Node, what string, read func(*yaml.Node)) {
	n = r.plain(n)
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.errorf(n, "type", "write ["+strings.TrimSpace(n.Value)+"]", "%s is a list", what)
		return
	}
	for _, item := range n.Content {
		read(item)
	}
}

// nearest is the candidate that was probably meant, "" if none is near.
func nearest(typed string, candidates []string) string {
	best, bestDistance := "", 3
	if len(typed) > 64 {
		return ""
	}
	for _, candidate := range candidates {
		if d := editDistance(strings.ToLower(typed), strings.ToLower(candidate)); d < bestDistance && d < len(candidate) {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours.
func editDistance(a, b string) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}
