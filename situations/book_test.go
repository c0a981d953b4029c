package situations

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// bench is a book with a store, for tests that look at what is recorded.
type bookBench struct {
	t     testing.TB
	group Group
	rules *RuleSet
	book  *book
	store map[Key][]byte
	sent  []Intent
	at    time.Time
	n     int
}

var benchStart = time.Unix(2_000_000_000, 0).UTC()

func newBookBench(t testing.TB, rules string) *bookBench {
	b := &bookBench{t: t, group: GroupQueue, rules: mustLoad(t, rules), store: map[Key][]byte{}, at: benchStart}
	if len(b.rules.Situations) > 0 {
		b.group = b.rules.Situations[0].Watch.group()
	}
	b.restart()
	return b
}

func (b *bookBench) restart() {
	b.book = newBook("QM2", b.rules, b.at)
	var records []ItemRecord
	for k, v := range b.store {
		records = append(records, ItemRecord{k, v})
	}
	if err := b.book.restore(records); err != nil {
		b.t.Fatal(err)
	}
}

// queueRow is a queue with so many readers; -1 leaves the count unknown.
func queueRow(name string, readers int) Row {
	r := Row{
		Queue: name, Base: name, Type: "QLOCAL", Clusters: []string{"C1"}, InstancesKnown: true,
		Env: Attributes{QUEUE: name, QMGR: "QM2", CLUSTER: "C1", IPPROCS: readers, CURDEPTH: 7, PUT: "ENABLED"},
	}
	if readers < 0 {
		r.Missing = []string{"IPPROCS"}
	}
	return r
}

func completeSample(at time.Time, rows ...Row) *Observation {
	return &Observation{QMgr: "QM2", QMID: "QM2", At: at, Complete: true, Repository: true, Rows: rows}
}

// observation turns a letter into a sample: T no reader, F a reader, U no answer, G no queue.
func (b *bookBench) observation(letter rune) *Observation {
	other := queueRow("OTHER.A", 1)
	third := queueRow("OTHER.B", 1)
	switch letter {
	case 'U':
		return &Observation{QMgr: "QM2", At: b.at, Err: errors.New("no answer")}
	}
	if b.group != GroupQueue {
		obs := completeSample(b.at, other, third)
		obs.Others = otherRows(b.group, letter)
		return obs
	}
	switch letter {
	case 'G':
		return completeSample(b.at, other, third)
	case 'T':
		return completeSample(b.at, queueRow("DCQ1", 0), other, third)
	}
	return completeSample(b.at, queueRow("DCQ1", 1), other, third)
}

// otherRows are the channels, or the queue manager, of a sample: T trouble, F
// none, G not there; a queue manager that is not there cannot be sampled at all,
// so that its group is missing.
func otherRows(g Group, letter rune) []Row {
	if g == GroupQMgr {
		if letter == 'G' {
			return nil
		}
		env := QMgrAttributes{QMGR: "QM2", CLUSTER: "C1", CHINIT: map[rune]string{'T': "STOPPED", 'F': "RUNNING"}[letter], SUSPEND: No}
		return []Row{{Queue: g.Item("QM2"), Clusters: []string{"C1"}, Env: env}}
	}
	var rows []Row
	for _, name := range []string{"OTHER.A", "OTHER.B", "TO.QM1"} {
		env := ChannelAttributes{CHANNEL: name, QMGR: "QM2", CLUSTER: "C1", CHLTYPE: "CLUSRCVR", STATUS: "RUNNING", CLWLWGHT: 50}
		if name == "TO.QM1" && letter == 'G' {
			continue
		}
		if name == "TO.QM1" && letter == 'T' {
			env.STATUS = "RETRYING"
		}
		rows = append(rows, Row{Queue: g.Item(name), Clusters: []string{"C1"}, Env: env})
	}
	return rows
}

// inGroup draws what a rule over DCQ1 watches instead, and gives the rule and
// the item's name.
func inGroup(rt *rapid.T, rules string) (string, string) {
	return groupRule(rapid.SampledFrom(Groups()).Draw(rt, "group"), rules)
}

// groupRule is a rule over DCQ1 as one of a group, and the item's name.
func groupRule(g Group, rules string) (string, string) {
	name, watch := "DCQ1", ""
	var pairs []string
	switch g {
	case GroupChannel:
		name, watch = "TO.QM1", "channel: TO.QM1"
		pairs = []string{"IPPROCS == 0", `STATUS == "RETRYING"`, "IPPROCS > 0", `STATUS != "RETRYING"`,
			"put: DISABLED", "weight: 1", "put: ENABLED", "weight: 50"}
	case GroupQMgr:
		name, watch = "QM2", "qmgr: QM2"
		pairs = []string{"IPPROCS == 0", `CHINIT != "RUNNING"`, "IPPROCS > 0", `CHINIT == "RUNNING"`,
			"put: DISABLED", "suspend: C1", "put: ENABLED", "resume: C1"}
	case GroupQueue:
		return rules, name
	}
	return strings.NewReplacer(append(pairs, "queue: DCQ1", watch)...).Replace(rules), g.Item(name)
}

// evaluate runs a due tick a minute later and gives what it wants recorded.
func (b *bookBench) evaluate(obs *Observation) batch {
	for _, s := range b.book.live {
		s.due = true
	}
	return b.book.tick(obs, b.at)
}

func (b *bookBench) commit(out *batch) {
	for _, c := range slices.Concat(b.book.owed.changes, out.changes) {
		if c.Data == nil {
			delete(b.store, c.Key)
		} else {
			b.store[c.Key] = c.Data
		}
	}
	b.sent = append(b.sent, slices.Concat(b.book.owed.intents, out.intents)...)
}

func (b *bookBench) tick(letter rune) {
	b.n++
	b.at = benchStart.Add(time.Duration(b.n) * 5 * time.Minute)
	out := b.evaluate(b.observation(letter))
	b.commit(&out)
	b.book.apply(&out)
}

func (b *bookBench) edges() string {
	var s []string
	for _, in := range b.sent {
		s = append(s, in.Key.Situation+" "+string(in.Edge))
	}
	return strings.Join(s, ", ")
}

const idleRule = `version: 1
situations:
  - name: idle
    watch: {queue: DCQ1, cluster: C1}
    formula: IPPROCS == 0
    for: %d samples
    clear_for: %d samples
    actions: [{put: DISABLED}]
    on_clear: revert
`

// Property 4: a crash at any point, before or after a tick is recorded, changes
// neither the edges nor their order, and no id comes twice.
func TestProperty_CrashLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rules, _ := inGroup(rt, fmt.Sprintf(idleRule, rapid.IntRange(1, 3).Draw(rt, "for"), rapid.IntRange(1, 3).Draw(rt, "clear")))
		walk := walkGen(rt, "TFUG")
		calm, stormy := newBookBench(t, rules), newBookBench(t, rules)
		for _, letter := range walk {
			calm.tick(letter)
			switch rapid.IntRange(0, 3).Draw(rt, "crash") {
			case 0: // evaluated, never recorded; the new process samples again
				stormy.n++
				stormy.at = benchStart.Add(time.Duration(stormy.n) * 5 * time.Minute)
				stormy.evaluate(stormy.observation(letter))
				stormy.restart()
				stormy.n--
				stormy.tick(letter)
			case 1: // recorded, then crashed before anything else
				stormy.n++
				stormy.at = benchStart.Add(time.Duration(stormy.n) * 5 * time.Minute)
				out := stormy.evaluate(stormy.observation(letter))
				stormy.commit(&out)
				stormy.restart()
			default:
				stormy.tick(letter)
			}
		}
		if calm.edges() != stormy.edges() {
			rt.Fatalf("walk %s\ncalm:   %s\nstormy: %s", string(walk), calm.edges(), stormy.edges())
		}
		for _, b := range []*bookBench{calm, stormy} {
			ids := map[string]bool{}
			for _, in := range b.sent {
				if ids[in.ID] {
					rt.Fatalf("the id %s came twice", in.ID)
				}
				ids[in.ID] = true
			}
		}
	})
}

// Property 11: a reload without a change leaves every stored byte as it was, and
// gives no edge.
func TestProperty_SameRulesReloaded_ChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rules, _ := inGroup(rt, fmt.Sprintf(idleRule, 2, 2))
		b, plain := newBookBench(t, rules), newBookBench(t, rules)
		for _, letter := range walkGen(rt, "TFUG") {
			b.tick(letter)
			plain.tick(letter)
			if rapid.Bool().Draw(rt, "reload") {
				before := maps.Clone(b.store)
				b.book.reload(mustLoad(t, rules), b.at)
				if len(b.book.owed.changes) > 0 || len(b.book.owed.intents) > 0 {
					rt.Fatalf("the reload wants %v recorded", b.book.owed)
				}
				if !maps.EqualFunc(before, b.store, func(a, b []byte) bool { return string(a) == string(b) }) {
					rt.Fatal("the reload changed the store")
				}
			}
		}
		if b.edges() != plain.edges() || !maps.EqualFunc(b.store, plain.store, func(a, b []byte) bool { return string(a) == string(b) }) {
			rt.Fatalf("with reloads %s, without %s", b.edges(), plain.edges())
		}
	})
}

// Property 20: other numbers, texts and severities never act by themselves.
func TestProperty_EditedNumbers_DoNotAct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := rapid.SampledFrom(Groups()).Draw(rt, "group")
		first, _ := groupRule(g, fmt.Sprintf(idleRule, 1, 1))
		b := newBookBench(t, first)
		last := 'F'
		for _, letter := range walkGen(rt, "TFU") {
			b.tick(letter)
			if letter != 'U' {
				last = letter
			}
			open := strings.HasSuffix(b.edges(), "open")
			text, _ := groupRule(g, fmt.Sprintf(idleRule, rapid.IntRange(1, 3).Draw(rt, "for"), rapid.IntRange(1, 3).Draw(rt, "clear")))
			b.rules = mustLoad(t, text+"    severity: "+rapid.SampledFrom(severities).Draw(rt, "severity")+"\n")
			b.book.reload(b.rules, b.at)
			n := len(b.sent)
			if open && last == 'T' {
				b.tick('T') // still true: nothing to do
				if len(b.sent) != n {
					rt.Fatalf("an edit of an open situation acted: %s", b.edges())
				}
			}
		}
	})
}

func TestBook_RemovedRule_GivesBackOnce(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, fmt.Sprintf(idleRule, 1, 1))
	b.tick('F')
	b.tick('T')
	b.rules = mustLoad(t, "version: 1\nsituations: []\n")
	b.book.reload(b.rules, b.at)
	b.tick('T')
	b.tick('T')
	if got, want := b.edges(), "idle open, idle clear"; got != want {
		t.Fatalf("edges %s, want %s", got, want)
	}
	last := b.sent[len(b.sent)-1]
	if len(last.Actions) != 1 || last.Actions[0].Verb != VerbRevert || last.Reason == "" || last.Row.Env != nil {
		t.Errorf("the removal's intent is %+v", last)
	}
	if len(b.store) != 0 {
		t.Errorf("records are left: %v", b.store)
	}
}

// What a rule without claims still waits for, retries or watches over must not
// go on without the rule.
func TestBook_RemovedPlainRule_EndsWhatItBegan(t *testing.T) {
	t.Parallel()
	plain := strings.Replace(fmt.Sprintf(idleRule, 1, 1), "    on_clear: revert\n", "", 1)
	none := mustLoad(t, "version: 1\nsituations: []\n")
	for _, tt := range []struct{ name, walk, want string }{
		{"open", "FT", "idle open, idle clear"},
		{"over already", "FTF", "idle open, idle clear"},
		{"never open", "FF", ""},
	} {
		for _, down := range []bool{false, true} {
			b := newBookBench(t, plain)
			for _, v := range tt.walk {
				b.tick(v)
			}
			b.rules = none
			if down {
				b.restart()
			} else {
				b.book.reload(b.rules, b.at)
			}
			b.tick('T')
			b.tick('T')
			if got := b.edges(); got != tt.want {
				t.Errorf("%s, down %v: edges %q, want %q", tt.name, down, got, tt.want)
			}
			if n := len(b.sent); tt.name == "open" && n > 0 && (len(b.sent[n-1].Actions) != 0 || b.sent[n-1].Reason == "") {
				t.Errorf("down %v: the removal's intent is %+v", down, b.sent[n-1])
			}
		}
	}
}

func TestBook_RuleRemovedWhileDown_GivesBack(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, fmt.Sprintf(idleRule, 1, 1))
	b.tick('T')
	b.rules = mustLoad(t, "version: 1\nsituations: []\n")
	b.restart()
	b.tick('T')
	if got, want := b.edges(), "idle open, idle clear"; got != want {
		t.Fatalf("edges %s, want %s", got, want)
	}
}

func TestBook_DisabledRule_KeepsItsState(t *testing.T) {
	t.Parallel()
	on := fmt.Sprintf(idleRule, 1, 1)
	off := strings.Replace(on, "    formula", "    enabled: false\n    formula", 1)
	b := newBookBench(t, on)
	b.tick('T')
	for _, text := range []string{off, on} {
		b.rules = mustLoad(t, text)
		b.book.reload(b.rules, b.at)
		b.tick('T')
		b.restart()
		b.tick('T')
	}
	if got, want := b.edges(), "idle open"; got != want {
		t.Fatalf("edges %s, want %s", got, want)
	}
	b.tick('F')
	if got, want := b.edges(), "idle open, idle clear"; got != want {
		t.Fatalf("edges %s, want %s", got, want)
	}
}

func TestBook_EditedFormula_KeepsTheLatch(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, fmt.Sprintf(idleRule, 1, 1))
	b.tick('T')
	b.rules = mustLoad(t, strings.Replace(fmt.Sprintf(idleRule, 1, 1), "IPPROCS == 0", "IPPROCS < 1", 1))
	b.book.reload(b.rules, b.at)
	b.tick('T')
	if got, want := b.edges(), "idle open"; got != want {
		t.Fatalf("edges %s, want %s", got, want)
	}
	b.tick('F')
	if got, want := b.edges(), "idle open, idle clear"; got != want {
		t.Fatalf("edges %s, want %s", got, want)
	}
}

// A count that was begun with one formula is not finished with another.
func TestBook_EditedFormula_CountsAnew(t *testing.T) {
	t.Parallel()
	edited := strings.Replace(fmt.Sprintf(idleRule, 2, 2), "IPPROCS == 0", "IPPROCS < 1", 1)
	for _, restart := range []bool{false, true} {
		b := newBookBench(t, fmt.Sprintf(idleRule, 2, 2))
		b.tick('T')
		b.rules = mustLoad(t, edited)
		if restart {
			b.restart()
		} else {
			b.book.reload(b.rules, b.at)
		}
		b.tick('T')
		if got := b.edges(); got != "" {
			t.Errorf("restart %v: edges %q after one sample of the new formula", restart, got)
		}
		b.tick('T')
		if got := b.edges(); got != "idle open" {
			t.Errorf("restart %v: edges %q after two", restart, got)
		}
	}
}

func TestBook_AvailabilityRemoved_GivesBackOnce(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, "version: 1\nsituations:\n  - availability: {queue: DCQ1, cluster: C1, by: rank}\n")
	for _, v := range "FTFT" {
		b.tick(v)
	}
	n := len(b.sent)
	b.rules = mustLoad(t, "version: 1\nsituations: []\n")
	b.book.reload(b.rules, b.at)
	b.tick('T')
	if len(b.sent) != n+1 || b.sent[n].Actions[0].ClaimName != "DCQ1" || b.sent[n].Actions[0].Verb != VerbRevert {
		t.Errorf("the removal gave %+v", b.sent[n:])
	}
}

// A queue that comes back is looked at by every situation again, whichever of
// them had given it up.
func TestBook_QueueComesBack_ForAllSituations(t *testing.T) {
	t.Parallel()
	for _, openFast := range []bool{false, true} {
		b := newBookBench(t, `version: 1
situations:
  - {name: fast, watch: {queue: DCQ1}, formula: IPPROCS == 0, actions: [{event: x}]}
  - {name: slow, watch: {queue: DCQ1}, sample: 1h, formula: CURDEPTH == 7, actions: [{event: x}]}
`)
		first := 'F'
		if openFast {
			first = 'T'
		}
		b.tick(first) // both are due; slow opens
		for _, v := range "GGT" {
			b.n++
			b.at = benchStart.Add(time.Duration(b.n) * 5 * time.Minute)
			for _, s := range b.book.live {
				s.due = s.Name == "fast"
			}
			out := b.book.tick(b.observation(v), b.at)
			b.commit(&out)
			b.book.apply(&out)
		}
		last := b.sent[len(b.sent)-1]
		if last.Key.Situation != "fast" || last.Edge != EdgeOpen || !last.At.Equal(b.at) {
			t.Errorf("open before %v: the last intent is %+v", openFast, last)
		}
	}
}

func TestBook_ManyMissing_AreDoubtedOnce(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, "version: 1\nsituations:\n  - name: idle\n    watch: {queue: 'Q*'}\n    formula: IPPROCS == 0\n    actions: [{put: DISABLED}]\n    on_clear: revert\n")
	all := func() *Observation {
		return completeSample(b.at, queueRow("Q1", 0), queueRow("Q2", 0), queueRow("Q3", 0))
	}
	one := func() *Observation { return completeSample(b.at, queueRow("Q3", 0)) }
	feed := func(o *Observation) {
		b.n++
		b.at = benchStart.Add(time.Duration(b.n) * 5 * time.Minute)
		o.At = b.at
		out := b.evaluate(o)
		b.commit(&out)
		b.book.apply(&out)
	}
	verdict := func(q string) string {
		it := b.book.find(Key{"idle", "QM2", q})
		if it == nil {
			return "none"
		}
		return it.verdict.String()
	}
	feed(all())
	feed(one())
	if got := verdict("Q1"); got != "unknown" {
		t.Errorf("two of three missing at once: %s, want unknown", got)
	}
	feed(one())
	if got := verdict("Q1"); got != "gone" {
		t.Errorf("the next sample agrees: %s, want gone", got)
	}
	feed(one())
	if got := verdict("Q1"); got != "none" {
		t.Errorf("gone for two samples: %s, want none", got)
	}
	for range 3 {
		feed(&Observation{Complete: true})
		if got := verdict("Q3"); got != "unknown" {
			t.Errorf("an empty reply: %s, want unknown", got)
		}
	}
	feed(all())
	if got := verdict("Q1"); got != "true" {
		t.Errorf("back again: %s, want true", got)
	}
}

func TestBook_Verdicts(t *testing.T) {
	t.Parallel()
	rules := "version: 1\nsituations:\n  - name: idle\n    watch: {queue: 'Q*'}\n    formula: IPPROCS == 0\n    severity: minor\n"
	cases := []struct {
		name string
		obs  func(at time.Time) *Observation
		want string
	}{
		{"true", func(at time.Time) *Observation { return completeSample(at, queueRow("Q1", 0)) }, "true"},
		{"false", func(at time.Time) *Observation { return completeSample(at, queueRow("Q1", 2)) }, "false"},
		{"a missing attribute", func(at time.Time) *Observation { return completeSample(at, queueRow("Q1", -1)) }, "unknown"},
		{"two rows", func(at time.Time) *Observation {
			return completeSample(at, queueRow("Q1", 0), queueRow("Q1", 0))
		}, "unknown"},
		{"no row in a partial reply", func(at time.Time) *Observation {
			o := completeSample(at, queueRow("Q2", 0))
			o.Complete = false
			return o
		}, "unknown"},
		{"no row in a complete reply", func(at time.Time) *Observation { return completeSample(at, queueRow("Q2", 0)) }, "gone"},
		{"an error", func(at time.Time) *Observation { return &Observation{At: at, Err: errors.New("x")} }, "unknown"},
		{"an old sample", func(at time.Time) *Observation {
			return completeSample(at.Add(-11*time.Minute), queueRow("Q1", 0))
		}, "unknown"},
		{"rows out of order", func(at time.Time) *Observation {
			return completeSample(at, queueRow("Q2", 0), queueRow("Q1", 0))
		}, "true"},
		{"an environment of another type", func(at time.Time) *Observation {
			r := queueRow("Q1", 0)
			r.Env = map[string]any{"IPPROCS": 0}
			return completeSample(at, r)
		}, "unknown"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBookBench(t, rules)
			out := b.evaluate(completeSample(b.at, queueRow("Q1", 1), queueRow("Q2", 1)))
			b.book.apply(&out)
			b.at = b.at.Add(5 * time.Minute)
			out = b.evaluate(c.obs(b.at))
			b.book.apply(&out)
			if got := b.book.find(Key{"idle", "QM2", "Q1"}).verdict.String(); got != c.want {
				t.Errorf("verdict %s, want %s", got, c.want)
			}
		})
	}
}

func TestBook_FirstItem_OneEventAtATime(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, "version: 1\nsituations:\n  - name: idle\n    watch: {queue: 'Q*'}\n    act_on: first_item\n    formula: IPPROCS == 0\n    actions: [{event: x}]\n")
	feed := func(readers ...int) {
		b.n++
		b.at = benchStart.Add(time.Duration(b.n) * 5 * time.Minute)
		var rows []Row
		for i, n := range readers {
			rows = append(rows, queueRow(fmt.Sprintf("Q%d", i+1), n))
		}
		out := b.evaluate(completeSample(b.at, rows...))
		b.commit(&out)
		b.book.apply(&out)
	}
	queues := func() string {
		var s []string
		for _, in := range b.sent {
			s = append(s, in.Key.Queue+" "+string(in.Edge))
		}
		return strings.Join(s, ", ")
	}
	feed(1, 0, 0)
	feed(0, 0, 0)
	b.restart()
	feed(0, 0, 0)
	if got, want := queues(), "Q2 open"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	feed(0, 1, 0) // Q2 is over; the next in order takes over in the same sample
	feed(0, 1, 0)
	if got, want := queues(), "Q2 open, Q2 clear, Q3 open"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
}

func TestBook_NeverRedistribute_MarksTheIntent(t *testing.T) {
	t.Parallel()
	b := newBookBench(t, `version: 1
situations:
  - name: idle
    watch: {queue: "DCQ*"}
    formula: IPPROCS == 0
    actions: [{put: DISABLED}, {redistribute: true}]
    on_clear: revert
  - name: keep
    watch: {queue: DCQ1}
    formula: CURDEPTH > 100000
    actions: [{redistribute: never}]
`)
	b.tick('T')
	if len(b.sent) != 1 || !b.sent[0].Actions[1].Never {
		t.Fatalf("intents: %+v", b.sent)
	}
	if b.rules.Situations[0].Actions[1].Never {
		t.Error("the rule itself was changed")
	}
}
