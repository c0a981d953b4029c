package situations

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// testStart is when every test begins: a Saturday at midnight, so that cron
// lines have something to go by.
var testStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// world is the cluster of one test.
type world struct {
	test    *ruleTest
	rules   *RuleSet
	queues  []*testQueue
	daemons []*testDaemon
	now     time.Time
	column  int
}

// testQueue is one item: its series, and what actions have made of it.
type testQueue struct {
	*testItem
	group   Group
	name    string
	cluster string
	set     map[string]string // attributes that are tracked, by name
}

// testDaemon is the daemon of one queue manager.
type testDaemon struct {
	qmgr     string
	book     *book
	actor    Actor
	outcomes []ActionOutcome // of this column
}

// tracked are the attributes that actions set and samples then show.
func (q *testQueue) tracked() []string {
	switch q.group {
	case GroupChannel:
		return []string{AttrWeight, AttrRank, AttrPriority, AttrStatus}
	case GroupQMgr:
		return []string{AttrSuspend}
	case GroupQueue:
	}
	return []string{AttrPut, AttrRank, AttrPriority}
}

// asFound are the values of what is tracked, before anybody changes them.
func asFound(g Group) map[string]string {
	switch g {
	case GroupChannel:
		return map[string]string{AttrWeight: "50", AttrRank: "0", AttrPriority: "0", AttrStatus: "RUNNING"}
	case GroupQMgr:
		return map[string]string{AttrSuspend: No}
	case GroupQueue:
	}
	return map[string]string{AttrPut: Enabled, AttrRank: "0", AttrPriority: "0"}
}

func runTest(l *testLoader, t *ruleTest) TestResult {
	w := newWorld(l, t)
	res := TestResult{Name: t.name, Line: t.line, Failures: []TestFailure{}}
	for w.column = range t.columns {
		w.now = testStart.Add(time.Duration(w.column) * t.step)
		w.persons()
		for _, d := range w.daemons {
			w.turn(d)
		}
		for i := range t.expects {
			if x := &t.expects[i]; x.time == w.now.Sub(testStart) {
				res.Checked++
				for _, f := range w.compare(x) {
					f.File, f.Line, f.Column = l.name, x.at.line, x.at.col
					res.Failures = append(res.Failures, f)
				}
			}
		}
	}
	return res
}

func newWorld(l *testLoader, t *ruleTest) *world {
	w := &world{test: t, rules: l.rules.sampledEvery(t.step), now: testStart}
	for i := range t.items {
		it := &t.items[i]
		q := &testQueue{testItem: it, cluster: w.clusterOf(it)}
		q.group, q.name = GroupOf(it.queue)
		q.set = asFound(q.group)
		w.queues = append(w.queues, q)
		if n := len(w.daemons); n > 0 && w.daemons[n-1].qmgr == it.qmgr {
			continue
		}
		w.daemons = append(w.daemons, &testDaemon{
			qmgr: it.qmgr, book: newBook(it.qmgr, w.rules, testStart), actor: l.opts.Actor(it.qmgr, l.grace),
		})
	}
	return w
}

// sampledEvery gives rules of which none is sampled more often than a test has
// columns: one column is one sample.
func (rs *RuleSet) sampledEvery(step time.Duration) *RuleSet {
	out := &RuleSet{Files: rs.Files, Revision: rs.Revision}
	for _, s := range rs.Situations {
		c := *s
		if s.Schedule.Interval(testStart) < step {
			c.Schedule = Schedule{Every: step}
		}
		out.Situations = append(out.Situations, &c)
	}
	return out
}

// clusterOf is the cluster that a test does not say: the one its rules watch.
func (w *world) clusterOf(it *testItem) string {
	if s := it.series["CLUSTER"]; len(s) > 0 {
		return s[0]
	}
	group, name := GroupOf(it.queue)
	for _, s := range w.rules.Situations {
		if s.Watch.group() == group && s.Watch.names().Match(name) && len(s.Watch.Cluster.exact) > 0 {
			return s.Watch.Cluster.exact[0]
		}
	}
	return ""
}

// persons sets what a series changes by itself: somebody altered the queue.
func (w *world) persons() {
	for _, q := range w.queues {
		for _, name := range q.tracked() {
			s := q.series[name]
			if len(s) == 0 || s[w.column] == noAnswer || s[w.column] == noValue || s[w.column] == noQueue {
				continue
			}
			if w.column == 0 || s[w.column] != s[w.column-1] {
				q.set[name] = s[w.column]
			}
		}
	}
}

// turn lets one daemon sample and act. The next one in the order of names sees
// what it did.
func (w *world) turn(d *testDaemon) {
	obs := w.observe(d.qmgr)
	for _, s := range d.book.live {
		s.due = w.column == 0 || !s.next.IsZero() && !s.next.After(w.now)
		if s.due {
			s.next = s.Schedule.Next(w.now, testStart)
		}
	}
	out := d.book.tick(obs, w.now)
	intents := slices.Concat(d.book.owed.intents, out.intents)
	d.book.apply(&out)
	d.outcomes = d.suppressed()
	d.outcomes = append(d.outcomes, d.actor.Simulate(w.now, obs, intents, tickItems{d.book, w.now})...)
	for _, o := range d.outcomes {
		if q := w.queue(o.Key.QMgr, o.Key.Queue); q != nil && o.happened() && o.Verb.Attr() != "" {
			q.set[o.Verb.Attr()] = q.shown(o)
		}
	}
}

// shown is how a sample shows what an action set: a channel that was started runs.
func (q *testQueue) shown(o ActionOutcome) string {
	if o.Verb.Attr() == AttrStatus && o.Value == Started {
		return "RUNNING"
	}
	return o.Value
}

// suppressed are the actions that maintenance windows keep back now.
func (d *testDaemon) suppressed() []ActionOutcome {
	var out []ActionOutcome
	for _, sl := range d.book.slots {
		for _, it := range sl.items {
			if it == nil {
				continue
			}
			for i := range it.keptBack() {
				a := &it.keptBack()[i]
				out = append(out, ActionOutcome{
					Key: d.book.key(it.sit, it.queue), Edge: it.suppressed, Action: a.String(), Verb: a.Verb, Value: a.Value,
					Result: "blocked", Reason: "a maintenance window is open",
				})
			}
		}
	}
	return out
}

func (w *world) queue(qmgr, queue string) *testQueue {
	for _, q := range w.queues {
		if q.qmgr == qmgr && q.queue == queue {
			return q
		}
	}
	return nil
}

// observe builds the sample that a queue manager would give now.
func (w *world) observe(qmgr string) *Observation {
	obs := &Observation{QMgr: qmgr, QMID: qmgr, At: w.now, Started: testStart, Connected: testStart, Complete: true, Repository: true}
	for _, q := range w.queues {
		if q.qmgr != qmgr {
			continue
		}
		for _, s := range q.series {
			if s[w.column] == noAnswer {
				obs.Err, obs.Rows = errors.New("the queue manager did not answer"), nil
				return obs
			}
		}
		switch {
		case w.missing(q):
		case q.group == GroupQueue:
			obs.Rows = append(obs.Rows, w.row(q))
		default:
			obs.Others = append(obs.Others, w.otherRow(q))
		}
	}
	w.complete(obs, qmgr)
	return obs
}

// missing says that the queue does not exist in this column.
func (w *world) missing(q *testQueue) bool {
	for _, s := range q.series {
		if s[w.column] == noQueue {
			return true
		}
	}
	return false
}

// row gives the attributes of a queue, as MQ has them unless the test says otherwise.
func (w *world) row(q *testQueue) Row {
	a := Attributes{
		QUEUE: q.queue, QMGR: q.qmgr, CLUSTER: q.cluster, TYPE: "QLOCAL",
		MAXDEPTH: 5000, MAXMSGL: 4194304, QDEPTHHI: 80, QDEPTHLO: 20,
		PUT: q.set["PUT"], GET: "ENABLED", TRIGGER: "NO", SHARE: "YES", CLWLUSEQ: "QMGR", DEFBIND: "NOTFIXED",
		DEFPSIST: "NO", USAGE: "NORMAL", DEFTYPE: "PREDEFINED", MONQ: "QMGR",
		CLWLRANK: number0(q.set["CLWLRANK"]), CLWLPRTY: number0(q.set["CLWLPRTY"]),
	}
	row := Row{Queue: q.queue, Base: q.queue, Type: "QLOCAL", InstancesKnown: true}
	if q.cluster != "" {
		row.Clusters = []string{q.cluster}
	}
	w.fillRow(q, &row, reflect.ValueOf(&a).Elem())
	tag := ""
	if s := q.series[applTag]; len(s) > 0 {
		tag = s[w.column]
	}
	for range min(a.IPPROCS, 1000) {
		row.Readers = append(row.Readers, Reader{ApplTag: tag})
	}
	row.Env = a
	w.instances(q, &row)
	return row
}

// fillRow sets what the test's series say in this column, and leaves out what is
// no value of the item's own but counted from the others.
func (w *world) fillRow(q *testQueue, row *Row, v reflect.Value) {
	table := tableOf(q.group)
	for i := range table.list {
		attr := &table.list[i]
		s, given := q.series[attr.Name]
		switch {
		case !given && (attr.Monitoring || attr.Name == "LSTMSGAGE"):
			row.Missing = append(row.Missing, attr.Name)
		case !given || slices.Contains(q.tracked(), attr.Name) && s[w.column] != noValue || q.group == GroupQueue && attr.Unit == "instances":
		case s[w.column] == noValue:
			row.Missing = append(row.Missing, attr.Name)
		case attr.Type == typeText:
			v.FieldByName(attr.Name).SetString(s[w.column])
		default:
			v.FieldByName(attr.Name).SetInt(int64(number0(s[w.column])))
		}
	}
}

// number0 reads a text that was checked when the test was read.
func number0(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// instances are the queues of the same name, and those that a test only counts.
func (w *world) instances(q *testQueue, row *Row) {
	for _, other := range w.queues {
		if other.queue != q.queue || w.missing(other) {
			continue
		}
		in := Instance{
			QMgr: other.qmgr, QMID: other.qmgr, Cluster: other.cluster, Local: other == q, DefBind: "NOTFIXED",
			Put: other.set["PUT"] == "ENABLED", ClwlRank: number0(other.set["CLWLRANK"]), ClwlPrty: number0(other.set["CLWLPRTY"]),
			Reachable: true, ReadersKnown: true,
		}
		if s := other.series["IPPROCS"]; len(s) > 0 {
			in.Readers, in.ReadersKnown = number0(s[w.column]), s[w.column] != noAnswer && s[w.column] != noValue
		}
		row.Instances = append(row.Instances, in)
	}
	ready, given := q.series["READY_ELSEWHERE"]
	if given {
		row.Instances = slices.DeleteFunc(row.Instances, func(i Instance) bool { return !i.Local })
		row.InstancesKnown = ready[w.column] != noValue
		for i := range number0(ready[w.column]) {
			row.Instances = append(row.Instances, Instance{QMgr: fmt.Sprintf("OTHER%d", i+1), Put: true, Reachable: true, ClwlRank: 9, ClwlPrty: 9, ReadersKnown: true})
		}
	}
	if readers, given := q.series["READERS_ELSEWHERE"]; given {
		for i := range row.Instances {
			row.Instances[i].Readers = 0
		}
		row.Instances = append(row.Instances, Instance{QMgr: "OTHER", Readers: number0(readers[w.column]), ReadersKnown: readers[w.column] != noValue})
	}
}

// compare checks one expectation.
func (w *world) compare(x *expectation) []TestFailure {
	var out []TestFailure
	say := func(what string, want, got []string) {
		out = append(out, TestFailure{
			At: x.timeText, Item: x.item, Message: fmt.Sprintf("%s: want [%s], got [%s]", what, strings.Join(want, ", "), strings.Join(got, ", ")),
			Because: w.because(x.item),
		})
	}
	if x.active != nil {
		if got := w.active(x.item); !sameSet(*x.active, got) {
			say("active", *x.active, got)
		}
	}
	if x.actions != nil {
		if got := w.actions(x.item, (*ActionOutcome).happened); !slices.Equal(*x.actions, texts(got)) {
			say("actions", *x.actions, texts(got))
		}
	}
	if x.skipped != nil {
		got := w.actions(x.item, (*ActionOutcome).skipped)
		if !skippedAs(*x.skipped, got) {
			say("skipped", *x.skipped, withReasons(got))
		}
	}
	if x.alerts != nil {
		if got := w.alerts(x.item); !alertsAs(*x.alerts, got, x.item != "") {
			say("alerts", labelTexts(*x.alerts), labelTexts(got))
		}
	}
	if x.stale != nil {
		if got := w.stale(x.item); got != *x.stale {
			say("stale", []string{strconv.FormatBool(*x.stale)}, []string{strconv.FormatBool(got)})
		}
	}
	return out
}

func (w *world) each(item string, fn func(d *testDaemon, it *item)) {
	for _, d := range w.daemons {
		for _, sl := range d.book.slots {
			if item != "" && item != d.qmgr+"/"+sl.queue {
				continue
			}
			for _, it := range sl.items {
				if it != nil {
					fn(d, it)
				}
			}
		}
	}
}

func (w *world) active(name string) []string {
	out := []string{}
	w.each(name, func(_ *testDaemon, it *item) {
		if it.state != nil && it.state.isOpen() {
			out = append(out, it.sit.Name)
		}
	})
	return out
}

func (w *world) stale(name string) bool {
	known, any := false, false
	w.each(name, func(_ *testDaemon, it *item) {
		any = true
		known = known || it.verdict != Unknown
	})
	return any && !known
}

func (w *world) actions(name string, which func(*ActionOutcome) bool) []ActionOutcome {
	var out []ActionOutcome
	for _, d := range w.daemons {
		for i := range d.outcomes {
			if o := &d.outcomes[i]; which(o) && (name == "" || name == o.Key.QMgr+"/"+o.Key.Queue) {
				out = append(out, *o)
			}
		}
	}
	return out
}

func texts(list []ActionOutcome) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].String()
	}
	return out
}

func withReasons(list []ActionOutcome) []string {
	out := texts(list)
	for i := range list {
		if list[i].Reason != "" {
			out[i] += " (" + list[i].Reason + ")"
		}
	}
	return out
}

func sameSet(want, got []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got)))
}

// skippedAs compares; a reason in parentheses need not be written.
func skippedAs(want []string, got []ActionOutcome) bool {
	if len(want) != len(got) {
		return false
	}
	plain, full := texts(got), withReasons(got)
	for i := range want {
		if want[i] != plain[i] && want[i] != full[i] {
			return false
		}
	}
	return true
}

func (w *world) alerts(name string) []map[string]string {
	out := []map[string]string{}
	for _, d := range w.daemons {
		for _, a := range d.book.alerts() {
			if name == "" || name == a.Key.QMgr+"/"+a.Key.Queue {
				out = append(out, a.Labels)
			}
		}
	}
	return out
}

// alertsAs: every alert that is named must stand. None may stand beside them if
// none is named, or if the expectation is of one item.
func alertsAs(want, got []map[string]string, whole bool) bool {
	if (len(want) == 0 || whole) && len(got) != len(want) {
		return false
	}
	used := make([]bool, len(got))
	for _, labels := range want {
		i := slices.IndexFunc(got, func(g map[string]string) bool {
			for k, v := range labels {
				if g[k] != v {
					return false
				}
			}
			return true
		})
		if i < 0 || used[i] && whole {
			return false
		}
		used[i] = true
	}
	return true
}

func labelTexts(list []map[string]string) []string {
	out := make([]string, len(list))
	for i, labels := range list {
		parts := make([]string, 0, len(labels))
		for _, k := range slices.Sorted(maps.Keys(labels)) {
			parts = append(parts, k+": "+labels[k])
		}
		out[i] = "{" + strings.Join(parts, ", ") + "}"
	}
	return out
}

// because tells how the formulas of an item came out, and why actions were skipped.
func (w *world) because(name string) []string {
	var out []string
	w.each(name, func(d *testDaemon, it *item) {
		if it.verdict == Unknown && it.state == nil && d.book.samples.rows == nil {
			out = append(out, it.sit.Name+": the queue manager never answered")
			return
		}
		row := d.book.lastRow(it.queue)
		if row == nil {
			return
		}
		if it.verdict == Unknown {
			out = append(out, it.sit.Name+": unknown at this time")
		}
		for _, p := range it.sit.Formula.Explain(row) {
			out = append(out, it.sit.Name+": "+p.String())
		}
	})
	for _, o := range w.actions(name, func(o *ActionOutcome) bool { return !o.happened() }) {
		line := o.Action + ": " + o.Result
		if o.Reason != "" {
			line += ", " + o.Reason
		}
		out = append(out, line)
	}
	if len(out) > maxProblems {
		out = append(out[:maxProblems], "...")
	}
	return out
}
