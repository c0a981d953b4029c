package situations

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestItem: names of items go there and back, and the three never meet.
func TestItem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9./_%]{1,48}`).Draw(rt, "name")
		for _, g := range Groups() {
			item := g.Item(name)
			if got, bare := GroupOf(item); got != g || bare != name {
				rt.Fatalf("%s of %s is %s, which is %s of %s", name, g, item, bare, got)
			}
			for _, o := range Groups() {
				if c := compareItems(item, o.Item(name)); (c == 0) != (g == o) || c != 0 && (c < 0) != (g.index() < o.index()) {
					rt.Fatalf("%s against %s: %d", item, o.Item(name), c)
				}
			}
		}
		if QueueOf(GroupChannel.Item(name)) != "" || ChannelOf(name) != "" || ChannelOf(GroupChannel.Item(name)) != name {
			rt.Fatal("a queue's name for a channel, or the other way round")
		}
	})
}

// A channel that two complete samples do not have is gone; the queue manager
// never is; and a group that was not sampled at all tells nothing.
func TestBook_GoneByGroup(t *testing.T) {
	t.Parallel()
	for _, g := range Groups() {
		rules, name := groupRule(g, strings.Replace(idleRule, "%d samples", "1 sample", 2))
		b := newBookBench(t, rules)
		for _, letter := range "TTGG" {
			b.tick(letter)
		}
		it := b.book.find(Key{"idle", "QM2", name})
		if gone := it == nil; gone == (g == GroupQMgr) {
			t.Errorf("%s: gone is %v", name, gone)
		}
		if g == GroupQMgr && it.verdict != Unknown {
			t.Errorf("%s is %s", name, it.verdict)
		}
		if g != GroupChannel {
			continue
		}
		b = newBookBench(t, rules)
		b.tick('T')
		for range 4 { // queues were sampled, channels were not
			b.n++
			b.at = benchStart.Add(time.Duration(b.n) * 5 * time.Minute)
			out := b.evaluate(completeSample(b.at, queueRow("OTHER.A", 1)))
			b.commit(&out)
			b.book.apply(&out)
		}
		if it := b.book.find(Key{"idle", "QM2", name}); it == nil || it.verdict != Unknown || it.blind < blindAfter {
			t.Errorf("channels were not sampled: %+v", it)
		}
		if b.edges() != "idle open" {
			t.Errorf("edges %s", b.edges())
		}
	}
}

// A pattern of one kind reaches no item of another, and no system object.
func TestWatch_ByGroup(t *testing.T) {
	t.Parallel()
	load := func(watch string) *Watch {
		rs := mustLoad(t, "version: 1\nsituations:\n  - name: A\n    watch: {"+watch+"}\n    formula: QMGR == \"QM2\"\n    severity: minor\n")
		return &rs.Situations[0].Watch
	}
	rows := []Row{
		{Queue: "TO.QM1"}, {Queue: GroupChannel.Item("TO.QM1"), Clusters: []string{"C1"}}, {Queue: GroupChannel.Item("SYSTEM.DEF.SENDER")},
		{Queue: GroupQMgr.Item("QM2"), Clusters: []string{"C1"}},
	}
	for watch, want := range map[string]string{
		`queue: "*"`: "x...", `channel: "*"`: ".x..", `qmgr: "*"`: "...x", `channel: [SYSTEM.DEF.SENDER]`: "..x.",
		`channel: "*", cluster: C1`: ".x..", `channel: "*", cluster: C2`: "....", `channel: ["*", "!TO.*"]`: "....", `qmgr: QM3`: "....", `qmgr: [QM2, QM3]`: "...x",
	} {
		got := ""
		for i := range rows {
			got += map[bool]string{true: "x", false: "."}[load(watch).Match(&rows[i])]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", watch, got, want)
		}
	}
}

// A formula sees rows of its own group only.
func TestFormula_OfAnotherGroup_Unknown(t *testing.T) {
	t.Parallel()
	f, err := NewFormulaOf(GroupChannel, `QMGR == "QM2"`, Lever{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  any
		want Verdict
	}{
		{ChannelAttributes{QMGR: "QM2"}, True}, {QMgrAttributes{QMGR: "QM2"}, Unknown}, {Attributes{QMGR: "QM2"}, Unknown}, {nil, Unknown},
	} {
		row := Row{Queue: GroupChannel.Item("A"), Env: c.env}
		if got := f.Eval(&row); got != c.want {
			t.Errorf("%T: %s", c.env, got)
		}
		f.Explain(&row)
		f.Values(&row)
	}
	data, err := f.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back Formula
	if err := back.UnmarshalJSON(data); err != nil || back.table != channelTable {
		t.Errorf("stored and read: %v", err)
	}
}

// TestGroups_Warnings: what is hardly meant, of channels and queue managers.
func TestGroups_Warnings(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"watch: {qmgr: QM2}\n    formula: SUSPEND == \"NO\"\n    actions: [{suspend: C1}]":                                                         "no-way-back",
		"watch: {qmgr: QM2}\n    formula: DEADQDEPTH > 9\n    actions: [{suspend: C1}]\n    on_clear: [{resume: C1}]":                              "",
		"watch: {qmgr: QM2}\n    formula: DEADQDEPTH > 9\n    actions: [{suspend: C1}]\n    on_clear: revert":                                      "",
		"watch: {channel: C}\n    formula: INDOUBT == \"YES\"\n    actions: [{stop_channel: FORCE}]":                                               "no-way-back",
		"watch: {channel: C}\n    formula: INDOUBT == \"YES\"\n    actions: [{stop_channel: FORCE}]\n    on_clear: [{mqsc: \"START CHANNEL(C)\"}]": "",
		"watch: {qmgr: QM2}\n    formula: DEADQDEPTH > 9\n    actions: [{suspend: C1}]\n    on_clear: [{exec: [/bin/resume]}]":                     "",
		"watch: {qmgr: QM2}\n    formula: DEADQDEPTH > 9\n    actions: [{suspend: C1}]\n    on_clear: [{event: over}]":                             "no-way-back",
		"watch: {channel: C}\n    formula: STATUS == \"PAUSED\"\n    actions: [{weight: 1}]\n    on_clear: revert":                                 "",
		"watch: {channel: C}\n    sample: {every: 1h, on_change: true}\n    formula: STATUS == \"PAUSED\"\n    severity: minor":                    "on-change",
		"watch: {channel: C}\n    formula: STATUS == \"PAUSED\" and STATUS == \"RUNNING\"\n    severity: minor":                                    "constant",
		"watch: {channel: \"SYSTEM.*\"}\n    formula: STATUS == \"PAUSED\"\n    severity: minor":                                                   "system-pattern",
		"watch: {channel: C}\n    formula: XQMSGSA > 5\n    max_wait: 1m\n    sample: {every: 5m, on_change: true}\n    severity: minor":           "max-wait on-change",
	} {
		rs, ps := Load(File{Name: "r.yaml", Data: []byte("version: 1\nsituations:\n  - name: A\n    " + rule + "\n")})
		var codes []string
		for _, p := range ps {
			codes = append(codes, p.Code)
		}
		slices.Sort(codes)
		if got := strings.Join(codes, " "); rs == nil || got != want {
			t.Errorf("%s: %q, want %q\n%s", rule, got, want, FormatText(ps))
		}
	}
}
