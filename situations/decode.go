package situations

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// readYAML fills d.root, or reports why it cannot.
func (d *document) readYAML(data []byte) bool {
	if len(data) > maxFileBytes {
		d.fail(place{1, 1, 1}, "too-long", "", "the file has %d bytes; the most is %d", len(data), maxFileBytes)
		return false
	}
	if !d.readable(data) {
		return false
	}
	scan := scanYAML(d)
	for _, f := range scan.found {
		d.fail(f.at, f.code, f.help, "%s", f.message)
	}
	if len(scan.found) > 0 {
		return false // what YAML would make of it is not what was meant
	}
	root, err := parseYAML(d.text())
	if err != nil {
		for _, f := range scan.suspects {
			d.fail(f.at, f.code, f.help, "%s", f.message)
		}
		if len(scan.suspects) == 0 {
			d.yamlError(err)
		}
		return false
	}
	if root == nil {
		d.fail(place{1, 1, 1}, "missing", "a rule file begins with: version: 1", "the file is empty")
		return false
	}
	d.root = root
	return d.sound(root, 0)
}

// readable refuses what is not text in UTF-8 and characters that would move
// lines or hide.
func (d *document) readable(data []byte) bool {
	if len(data) >= 2 && (data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff) {
		d.lines = []string{""}
		d.fail(place{1, 1, 1}, "encoding", "save it as UTF-8", "this file is UTF-16; rule files are UTF-8")
		return false
	}
	ok := true
	for i, line := range d.lines {
		col := 0
		for at, r := range line {
			col++
			switch {
			case r == utf8.RuneError && !utf8.ValidString(line[at:min(at+3, len(line))]) && !strings.HasPrefix(line[at:], "\ufffd"):
				d.lines[i] = strings.ToValidUTF8(line, "?")
				d.fail(place{i + 1, col, 1}, "encoding", "save the file as UTF-8", "this is not UTF-8")
			case r == 0x85 || r == 0x2028 || r == 0x2029:
				d.fail(place{i + 1, col, 1}, "encoding", "remove it", "an invisible character breaks the line here")
			case r < ' ' && r != '\t', r == 0x7f, r == 0xfeff:
				d.fail(place{i + 1, col, 1}, "encoding", "remove it", "a control character stands here")
			default:
				continue
			}
			ok = false
			break
		}
		if len(d.problems) > maxProblems {
			break
		}
	}
	return ok
}

// parseYAML gives the root of the only document, nil if there is none.
func parseYAML(text string) (root *yaml.Node, err error) {
	defer func() {
		if recover() != nil { // the parser is not ours, and not maintained
			root, err = nil, errors.New("yaml: this cannot be read")
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, err
	}
	return nil, &secondDocument{second.Line}
}

type secondDocument struct{ line int }

func (e *secondDocument) Error() string { return "a second document" }

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// yamlError gives the parser's own words, where nothing better is known.
func (d *document) yamlError(err error) {
	var second *secondDocument
	if errors.As(err, &second) {
		line := second.line
		for line > 1 && !strings.HasPrefix(d.line(line), "---") {
			line--
		}
		d.fail(place{line, 1, utf8.RuneCountInString(d.line(line))}, "yaml", "put the second one into a file of its own", "a file holds one document; --- begins another")
		return
	}
	line, words := 1, "this cannot be read"
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		words = m[2]
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			line = min(max(n, 1), len(d.lines))
		}
	}
	text := []rune(d.line(line))
	from := runWhile(text, 0, func(r rune) bool { return r == ' ' || r == '\t' })
	d.fail(place{line, from + 1, max(len(text)-from, 1)}, "yaml", "", "YAML cannot read this: %s", words)
}

// sound refuses tags and nesting without end; scanning found the rest.
func (d *document) sound(n *yaml.Node, depth int) bool {
	if depth > maxNesting {
		d.fail(d.at(n), "too-deep", "", "this is nested too deeply")
		return false
	}
	if n.Style&yaml.TaggedStyle != 0 {
		d.fail(d.at(n), "yaml", "", "a tag (!) has no meaning here")
		return false
	}
	for _, sub := range n.Content {
		if !d.sound(sub, depth+1) {
			return false
		}
	}
	return true
}

// entry is one key with its value.
type entry struct {
	name  string
	key   *yaml.Node
	value *yaml.Node
}

// entries are the known keys of one mapping.
type entries []entry

func (es entries) get(name string) *yaml.Node {
	for i := range es {
		if es[i].name == name {
			return es[i].value
		}
	}
	return nil
}

func (es entries) key(name string) *yaml.Node {
	for i := range es {
		if es[i].name == name {
			return es[i].key
		}
	}
	return nil
}

// follow gives what an alias stands for. The number of steps is bounded, since
// an alias may stand inside what it refers to.
func follow(n *yaml.Node) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.AliasNode && i < maxNesting; i++ {
		n = n.Alias
	}
	return n
}

// mapping reads the keys of a map and reports those that the place does not
// know. It gives nil if this is not a map.
func (d *document) mapping(n *yaml.Node, where, help string) entries {
	n = follow(n)
	if n.Kind != yaml.MappingNode {
		d.fail(d.at(n), "type", help, "%s is a map of keys and values; this is %s", where, d.kindOf(n))
		return nil
	}
	es := entries{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.fail(d.at(k), "yaml", "", "a key is a plain word")
			continue
		}
		if before := es.key(k.Value); before != nil {
			d.fail(d.at(k), "twice", "", "%s stands here twice; the first is on line %d", k.Value, before.Line)
			continue
		}
		if d.knownKey(k, v, where) {
			es = append(es, entry{k.Value, k, v})
		}
	}
	return es
}

func (d *document) knownKey(k, v *yaml.Node, where string) bool {
	known := keysAt(where)
	names := make([]string, 0, len(known))
	for _, key := range known {
		if key.Name == k.Value {
			if key.Later {
				d.fail(d.at(k), "not-in-this-version", "", "%s comes with a later release", k.Value)
			}
			return !key.Later
		}
		if !key.Later {
			names = append(names, key.Name)
		}
	}
	if k.Value == "<<" {
		d.fail(d.at(k), "yaml", "write the keys out, or use defaults", "maps are not merged here")
		return false
	}
	if near := nearest(strings.ToLower(k.Value), names); near != "" {
		d.fail(d.at(k), "unknown-key", "", "%s has no key %s; did you mean %s?", where, k.Value, near)
		return false
	}
	help := "its keys are " + strings.Join(names, ", ")
	if elsewhere := placesOf(k.Value); len(elsewhere) > 0 {
		help = k.Value + " belongs to " + orList(elsewhere)
	} else if v.Kind == yaml.ScalarNode && v.Value == "" && v.Style == 0 && v.Line == k.Line && strings.ContainsAny(d.line(k.Line), "{,") {
		help = "a comma inside { } begins the next key; put the text in quotes"
	}
	d.fail(d.at(k), "unknown-key", help, "%s has no key %s", where, k.Value)
	return false
}

// kindOf names what a node is, for people.
func (d *document) kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return "a single value"
	}
	return "something else"
}

// scalar reads a single value; ok is false if it is something else or nothing.
func (d *document) scalar(n *yaml.Node, name, help string) (string, bool) {
	m := follow(n)
	if m.Kind == yaml.ScalarNode && m.Tag != "!!null" {
		return m.Value, true
	}
	if m.Kind == yaml.ScalarNode {
		d.fail(d.at(n), "missing", help, "%s has no value", name)
		return "", false
	}
	d.fail(d.at(n), "type", help, "%s is a single value; this is %s", name, d.kindOf(m))
	return "", false
}

func (d *document) boolean(n *yaml.Node, name string) bool {
	s, ok := d.scalar(n, name, "write: "+name+": true")
	if !ok {
		return false
	}
	switch s {
	case "true":
		return true
	case "false":
		return false
	}
	help := "write true or false"
	switch strings.ToLower(s) {
	case "yes", "on", "y", "true", "1":
		help = "write: " + name + ": true"
	case "no", "off", "n", "false", "0":
		help = "write: " + name + ": false"
	}
	d.fail(d.at(n), "value", help, "%s is true or false, not %s", name, s)
	return false
}

// oneOf reads a word of a list.
func (d *document) oneOf(n *yaml.Node, name string, words []string) string {
	s, ok := d.scalar(n, name, "write "+orList(words))
	if !ok {
		return ""
	}
	if slices.Contains(words, s) {
		return s
	}
	hint := ""
	for _, w := range words {
		if strings.EqualFold(w, s) {
			hint = "; did you mean " + w + "?"
		}
	}
	if near := nearest(s, words); hint == "" && near != "" {
		hint = "; did you mean " + near + "?"
	}
	d.fail(d.at(n), "unknown-value", "", "%s is never %s; it is %s%s", name, s, orList(words), hint)
	return ""
}

// duration reads a duration that is more than nothing.
func (d *document) duration(n *yaml.Node, name string) (out time.Duration) {
	s, ok := d.scalar(n, name, "write: "+name+": 5m")
	if !ok {
		return out
	}
	v, bad := parseDuration(s)
	if bad == nil && v == 0 {
		bad = &mistake{s + " is no time at all", ""}
	}
	if bad != nil {
		d.fail(d.at(n), "duration", bad.help, "%s", bad.message)
		return out
	}
	return v
}

// list reads a list, or a single value as a list of one.
func (d *document) list(n *yaml.Node, name string) []*yaml.Node {
	m := follow(n)
	switch {
	case m.Kind == yaml.SequenceNode:
		if len(m.Content) == 0 {
			d.fail(d.at(n), "missing", "", "the list of %s is empty", name)
		}
		return m.Content
	case m.Kind == yaml.ScalarNode && m.Tag != "!!null":
		return []*yaml.Node{m}
	case m.Kind == yaml.ScalarNode:
		d.fail(d.at(n), "missing", "", "%s has no value", name)
	default:
		d.fail(d.at(n), "type", "", "%s is a list; this is %s", name, d.kindOf(m))
	}
	return nil
}
