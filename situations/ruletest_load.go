package situations

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Bounds of a rule test.
const (
	maxColumns = 10000
	maxTests   = 1000
)

// ruleTest is one test, read and checked.
type ruleTest struct {
	name    string
	line    int
	step    time.Duration
	items   []testItem // by queue manager, then queue
	columns int
	expects []expectation
}

// testItem is one item of one queue manager and what the samples find there.
type testItem struct {
	qmgr, queue string              // queue is the item's name: see Group.Item
	series      map[string][]string // by attribute, one text a column
}

type expectation struct {
	at       place
	time     time.Duration
	timeText string
	item     string
	active   *[]string
	actions  *[]string
	skipped  *[]string
	alerts   *[]map[string]string
	stale    *bool
}

// testLoader reads a rule-test file.
type testLoader struct {
	*document
	opts         TestOptions
	rules        *RuleSet
	ruleProblems []Problem
	sample       time.Duration
	grace        time.Duration
	tests        []ruleTest
}

const defaultTestSample = time.Minute

func (l *testLoader) file() {
	top := l.mapping(l.root, placeTestFile, "a rule-test file begins with: rule_files: [rules.yaml]")
	if top == nil {
		return
	}
	l.sample = defaultTestSample
	if n := top.get("sample"); n != nil {
		l.sample = max(l.duration(n, "sample"), MinSample)
	}
	if n := top.get("startup_grace"); n != nil {
		l.grace = l.duration(n, "startup_grace")
	}
	l.ruleFiles(top)
	n := top.get("tests")
	if n == nil {
		l.fail(place{l.root.Line, l.root.Column, 1}, "missing", "write: tests: and a list of them", "the file has no tests")
		return
	}
	for _, item := range l.list(n, "tests") {
		if len(l.tests) >= maxTests {
			l.fail(l.at(item), "too-long", "", "there are more than %d tests", maxTests)
			return
		}
		l.test(item)
	}
}

func (l *testLoader) ruleFiles(top entries) {
	n := top.get("rule_files")
	if n == nil {
		l.fail(place{l.root.Line, l.root.Column, 1}, "missing", "write: rule_files: [rules.yaml]", "the file names no rules")
		return
	}
	var files []File
	for _, item := range l.list(n, "rule_files") {
		name, ok := l.scalar(item, "rule_files", "")
		if !ok {
			continue
		}
		full := name
		if !path.IsAbs(name) {
			full = path.Join(path.Dir(l.name), name)
		}
		data, err := l.opts.Read(full)
		if err != nil {
			l.fail(l.at(item), "unreadable", "", "%s cannot be read: %v", full, err)
			continue
		}
		files = append(files, File{Name: full, Data: data})
	}
	l.rules, l.ruleProblems = Load(files...)
}

func (l *testLoader) test(n *yaml.Node) {
	es := l.mapping(n, placeTest, "write: - name: ...")
	if es == nil {
		return
	}
	t := ruleTest{line: n.Line, step: l.sample}
	if x := es.get("name"); x != nil {
		t.name, _ = l.scalar(x, "name", "")
	}
	if x := es.get("sample"); x != nil {
		t.step = max(l.duration(x, "sample"), MinSample)
	}
	if x := es.get("items"); x != nil {
		l.items(&t, x)
	} else {
		l.fail(place{n.Line, n.Column, 1}, "missing", "write: items: {QM2/DCQ1: {IPPROCS: 1 0 1}}", "the test has no items")
	}
	if x := es.get("expect"); x != nil {
		for _, item := range l.list(x, "expect") {
			l.expect(&t, item)
		}
	} else {
		l.fail(place{n.Line, n.Column, 1}, "missing", "write: expect: and a list", "the test expects nothing")
	}
	l.tests = append(l.tests, t)
}

func (l *testLoader) items(t *ruleTest, n *yaml.Node) {
	m := follow(n)
	if m.Kind != yaml.MappingNode {
		l.fail(l.at(n), "type", "write: items: {QM2/DCQ1: {IPPROCS: 1 0 1}}", "items is a map; this is %s", l.kindOf(m))
		return
	}
	var lengths []*yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		lengths = append(lengths, l.item(t, m.Content[i], m.Content[i+1])...)
	}
	sort.Slice(t.items, func(i, j int) bool {
		a, b := &t.items[i], &t.items[j]
		return a.qmgr < b.qmgr || a.qmgr == b.qmgr && a.queue < b.queue
	})
	for _, v := range lengths {
		if got := len(expandSeries(v.Value)); got != t.columns && got != 1 {
			l.fail(l.at(v), "series", fmt.Sprintf("write %d values, or one that holds throughout", t.columns),
				"this series has %d values, another has %d", got, t.columns)
		}
	}
	t.fill()
}

// item reads one queue; it gives the nodes of its series, for their lengths.
func (l *testLoader) item(t *ruleTest, k, v *yaml.Node) []*yaml.Node {
	qmgr, queue, ok := testItemName(k.Value)
	if !ok {
		l.fail(l.at(k), "name", "write: QM2/DCQ1, QM2/CHANNEL(TO.QM1), or QM2 for the queue manager itself", "an item is a queue manager, a slash and a queue")
		return nil
	}
	for i := range t.items {
		if t.items[i].qmgr == qmgr && t.items[i].queue == queue {
			l.fail(l.at(k), "twice", "", "%s stands here twice", k.Value)
			return nil
		}
	}
	m := follow(v)
	if m.Kind != yaml.MappingNode {
		l.fail(l.at(v), "type", "write: {IPPROCS: 1 0 1}", "an item is a map of attributes and series")
		return nil
	}
	group, _ := GroupOf(queue)
	it := testItem{qmgr: qmgr, queue: queue, series: map[string][]string{}}
	var nodes []*yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		name, value := m.Content[i], follow(m.Content[i+1])
		if s := l.series(tableOf(group), name, value); s != nil {
			it.series[name.Value] = s
			nodes = append(nodes, value)
			t.columns = max(t.columns, len(s))
		}
	}
	t.items = append(t.items, it)
	if l.rules != nil && !l.watched(queue) {
		l.warn(l.at(k), "not-watched", "", "no situation watches %s", queue)
	}
	return nodes
}

func (l *testLoader) watched(queue string) bool {
	group, name := GroupOf(queue)
	return slices.ContainsFunc(l.rules.Situations, func(s *Situation) bool {
		counts := group == GroupQueue && s.TakesAway(&Row{Queue: queue, Clusters: []string{""}}) // where it asks for others
		return counts || s.Watch.group() == group && s.Watch.names().Match(name)
	})
}

// testItemName reads QM2/DCQ1, QM2/CHANNEL(TO.QM1) and QM2, which stands for the
// queue manager itself.
func testItemName(s string) (qmgr, item string, ok bool) {
	qmgr, item, ok = strings.Cut(s, "/")
	if !ok {
		item = GroupQMgr.Item(qmgr)
	}
	group, name := GroupOf(item)
	ok = mqName.MatchString(qmgr) && mqName.MatchString(name) && (group != GroupQMgr || name == qmgr)
	return qmgr, item, ok
}

// applTag is the one name of a series that is no attribute: what the readers call
// themselves.
const applTag = "APPLTAG"

// series reads the values of one attribute.
func (l *testLoader) series(table *attributeTable, name, value *yaml.Node) []string {
	a := table.named(name.Value)
	if a == nil && (name.Value != applTag || table != queueTable) {
		message, help := table.unknown(strings.ToUpper(name.Value), name.Value)
		l.fail(l.at(name), "unknown-attribute", help, "%s", message)
		return nil
	}
	if value.Kind != yaml.ScalarNode || strings.TrimSpace(value.Value) == "" {
		l.fail(l.at(value), "type", "write: "+name.Value+": 1 1 0", "a series is a row of values")
		return nil
	}
	out := expandSeries(value.Value)
	if len(out) > maxColumns {
		l.fail(l.at(value), "too-long", "", "a series has at most %d values", maxColumns)
		return nil
	}
	for _, s := range out {
		if s == noAnswer || s == noValue || s == noQueue || a == nil {
			continue
		}
		if _, err := strconv.Atoi(s); a.Type == typeNumber && err != nil {
			l.fail(l.at(value), "series", "a series holds numbers, _ for no answer, ? for no value, - for no queue, and 1x6 for six times 1", "%s is not a number", s)
			return nil
		}
		if len(a.Values) > 0 && !slices.Contains(a.Values, s) {
			l.fail(l.at(value), "unknown-value", "", "%s is never %q; it is %s", a.Name, s, orList(a.Values))
			return nil
		}
	}
	return out
}

const (
	noAnswer = "_"
	noValue  = "?"
	noQueue  = "-"
)

var repeated = regexp.MustCompile(`^(.+)x([0-9]{1,5})$`)

// expandSeries reads "1x3 0" as 1 1 1 0.
func expandSeries(s string) []string {
	var out []string
	for _, word := range strings.Fields(s) {
		n := 1
		if m := repeated.FindStringSubmatch(word); m != nil {
			word = m[1]
			n, _ = strconv.Atoi(m[2]) // at most five digits
		}
		for range n {
			if out = append(out, word); len(out) > maxColumns {
				return out
			}
		}
	}
	return out
}

// fill makes every series as long as the test.
func (t *ruleTest) fill() {
	for i := range t.items {
		for name, s := range t.items[i].series {
			for len(s) < t.columns {
				s = append(s, s[len(s)-1])
			}
			t.items[i].series[name] = s
		}
	}
}

func (l *testLoader) expect(t *ruleTest, n *yaml.Node) {
	es := l.mapping(n, placeExpect, "write: - {at: 5m, item: QM2/DCQ1, actions: []}")
	if es == nil {
		return
	}
	m := follow(n)
	x := expectation{at: place{m.Line, m.Column, 1}}
	if at := es.get("at"); at != nil {
		l.expectAt(t, &x, at)
	} else {
		l.fail(x.at, "missing", "write: at: 5m", "the expectation does not say at what time")
	}
	if it := es.get("item"); it != nil {
		x.item, _ = l.scalar(it, "item", "")
		if qmgr, name, ok := testItemName(x.item); ok {
			x.item = qmgr + "/" + name
		}
		known := slices.ContainsFunc(t.items, func(i testItem) bool { return i.qmgr+"/"+i.queue == x.item })
		if x.item != "" && !known {
			l.fail(l.at(it), "name", "", "%s is not one of the test's items", x.item)
		}
	}
	x.active, x.actions, x.skipped = l.words(es, "active"), l.words(es, "actions"), l.words(es, "skipped")
	if a := es.get("alerts"); a != nil {
		x.alerts = l.expectAlerts(a)
	}
	if s := es.get("stale"); s != nil {
		v := l.boolean(s, "stale")
		x.stale = &v
	}
	if x.item == "" && (x.active != nil || x.stale != nil) {
		l.fail(x.at, "missing", "write: item: QM2/DCQ1", "active and stale are of one item")
	}
	if x.active != nil && l.rules != nil {
		l.activeNames(es.get("active"), *x.active)
	}
	t.expects = append(t.expects, x)
}

func (l *testLoader) activeNames(n *yaml.Node, names []string) {
	var all []string
	for _, s := range l.rules.Situations {
		all = append(all, s.Name)
	}
	for _, name := range names {
		if slices.Contains(all, name) {
			continue
		}
		hint := ""
		if near := nearest(name, all); near != "" {
			hint = "; did you mean " + near + "?"
		}
		l.fail(l.at(n), "name", "", "no situation is called %s%s", name, hint)
	}
}

func (l *testLoader) expectAt(t *ruleTest, x *expectation, n *yaml.Node) {
	s, ok := l.scalar(n, "at", "write: at: 5m")
	if !ok {
		return
	}
	x.timeText = s
	d, bad := parseDuration(s)
	if s == "0" {
		d, bad = 0, nil
	}
	switch {
	case bad != nil:
		l.fail(l.at(n), "duration", bad.help, "%s", bad.message)
	case t.step <= 0 || d%t.step != 0:
		l.fail(l.at(n), "time", "", "%s falls between two columns; they are %s apart", s, formatDuration(t.step))
	case t.columns > 0 && d >= time.Duration(t.columns)*t.step:
		l.fail(l.at(n), "time", "", "%s is after the last column, which is at %s", s, formatDuration(time.Duration(t.columns-1)*t.step))
	}
	x.time = d
}

// words reads a list of texts; a missing key is not checked, an empty list is.
func (l *testLoader) words(es entries, name string) *[]string {
	n := es.get(name)
	if n == nil {
		return nil
	}
	out := []string{}
	m := follow(n)
	nodes := m.Content
	if m.Kind == yaml.ScalarNode {
		nodes = []*yaml.Node{m}
	}
	for _, item := range nodes {
		if s, ok := l.scalar(item, name, ""); ok {
			out = append(out, strings.Join(strings.Fields(s), " "))
		}
	}
	return &out
}

func (l *testLoader) expectAlerts(n *yaml.Node) *[]map[string]string {
	m := follow(n)
	if m.Kind != yaml.SequenceNode {
		l.fail(l.at(n), "type", "write: alerts: [{alertname: MQQueueDisable}], or []", "alerts is a list")
		return nil
	}
	out := []map[string]string{}
	for _, item := range m.Content {
		labels := map[string]string{}
		am := follow(item)
		if am.Kind != yaml.MappingNode {
			l.fail(l.at(item), "type", "write: {alertname: MQQueueDisable}", "an alert is a map of labels")
			continue
		}
		for i := 0; i+1 < len(am.Content); i += 2 {
			if s, ok := l.scalar(am.Content[i+1], am.Content[i].Value, ""); ok {
				labels[am.Content[i].Value] = s
			}
		}
		out = append(out, labels)
	}
	return &out
}
