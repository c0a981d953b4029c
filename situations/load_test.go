package situations

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ruleHead is the first lines of a file with one situation; line 5 is free.
const ruleHead = "version: 1\nsituations:\n  - name: idle\n    watch: {queue: DCQ1, cluster: C1}\n"

const ruleTail = "    formula: IPPROCS == 0\n    severity: minor\n"

func firstLines(text string) []string {
	var out []string
	_, ps := Load(File{Name: "r.yaml", Data: []byte(text)})
	for _, p := range ps {
		out = append(out, strings.TrimPrefix(p.String(), "r.yaml:"))
	}
	return out
}

// TestLoad_Mistakes pins one line for each kind of mistake.
func TestLoad_Mistakes(t *testing.T) {
	t.Parallel()
	one := func(line string) string { return ruleHead + "    " + line + "\n" + ruleTail }
	cases := []struct{ name, text, want string }{
		{"empty file", "", "1:1: error: the file is empty [missing]"},
		{"only a comment", "# nothing\n", "1:1: error: the file is empty [missing]"},
		{"a list", "- a\n", "1:1: error: a rule file is a map of keys and values; this is a list [type]"},
		{"no version", "situations: []\n", "1:1: error: the file does not say its version [missing]"},
		{"another version", "version: 2\nsituations: []\n", "1:10: error: this release reads version 1, not 2 [version]"},
		{"no situations", "version: 1\n", "1:1: error: the file has no situations [missing]"},
		{"situations is a map", "version: 1\nsituations: {a: b}\n", "2:13: error: situations is a list; this is a map [type]"},
		{"unknown zone", "version: 1\ntimezone: Europe/Zürich\nsituations: []\n", "2:11: error: Europe/Zürich is not a time zone [timezone]"},
		{"formula at the top", "version: 1\nformula: IPPROCS == 0\nsituations: []\n", "2:1: error: a rule file has no key formula [unknown-key]"},
		{"later top key", "version: 1\nmacros: {}\nsituations: []\n", "2:1: error: macros comes with a later release [not-in-this-version]"},
		{"until nothing", one("until: {}"), "5:12: error: until says nothing [missing]"},
		{"until nobody", one("until: {situation: Nobody}"), "5:24: error: no situation is called Nobody [name]"},
		{"until itself", one("until: {situation: idle}"), "5:24: error: until leads back to idle: idle until idle [loop]"},
		{"until for nothing", one("until: {after: 0s}"), "5:20: error: 0s is no time at all [duration]"},
		{"recovery a name", one("recovery: IPPROC > 0"), "5:15: error: IPPROC is not an attribute of a queue; did you mean IPPROCS? [unknown-attribute]"},
		{"recovery that never is", one("recovery: IPPROCS == 0"), "5:15: warning: this is never true while the formula is false, so the situation would never end [constant]"},
		{"maintenance a map", one("maintenance: {cron: \"0 3 * * *\", for: 1h}"), "5:18: error: maintenance is a list of windows; this is a map [type]"},
		{"window without start", one("maintenance: [{for: 1h}]"), "5:19: error: a window does not say when it begins [missing]"},
		{"window without end", one("maintenance: [{cron: \"0 3 * * *\"}]"), "5:19: error: a window does not say how long it is [missing]"},
		{"window of a bad line", one("maintenance: [{cron: \"61 3 * * *\", for: 1h}]"), "5:26: error: 61 3 * * *: end of range (61) above maximum (59): 61 [cron]"},
		{"window every so often", one("maintenance: [{cron: \"@every 5m\", for: 1h}]"), "5:26: error: a window begins at times of the day, not every so often [cron]"},
		{"window too long", one("maintenance: [{cron: \"0 3 * * *\", for: 8d}]"), "5:44: error: a window lasts at most 168h [duration]"},
		{"window without end in sight", one("maintenance: [{cron: \"0 3 * * *\", for: 24h}]"), "5:19: warning: this window never closes: it begins again before it ends [constant]"},
		{"window suppresses", one("maintenance: [{cron: \"0 3 * * *\", for: 1h, suppress: all}]"), "5:58: error: suppress is never all; it is act or notify [unknown-value]"},
		{"guard of less than none", one("guard: {min_available: -1}"), "5:28: error: min_available is a number of instances, or a share of them in percent, not -1 [value]"},
		{"guard of too much", one("guard: {min_available: 101%}"), "5:28: error: min_available is a number of instances, or a share of them in percent, not 101% [value]"},
		{"guard dwell", one("guard: {dwell: 2}"), "5:20: error: 2 has no unit [duration]"},
		{"guard key", one("guard: {max: 2}"), "5:13: error: guard has no key max [unknown-key]"},
		{"expect a pattern", one("expect: [DCQ*]"), "5:14: error: \"DCQ*\" is not the name of one queue [name]"},
		{"expect what is not watched", one("expect: OTHER"), "5:13: error: OTHER must exist, and is not among the queues that are watched [not-watched]"},
		{"expect nothing", one("expect: []"), "5:13: error: the list of expect is empty [missing]"},
		{"max_wait shorter than sample", one("max_wait: 1m"), "5:15: warning: it may take 5m until this is noticed, and max_wait is 1m [max-wait]"},
		{"renamed from itself", one("renamed_from: idle"), "5:19: error: idle is what it is called now [name]"},
		{"later watch", strings.Replace(one("for: 1 sample"), "queue: DCQ1", "listener: C", 1), "4:13: error: listener comes with a later release [not-in-this-version]"},
		{"key twice", one("severity: major"), "7:5: error: severity stands here twice; the first is on line 5 [twice]"},
		{"on is no boolean", one("enabled: on"), "5:14: error: enabled is true or false, not on [value]"},
		{"no value", one("description:"), "5:17: error: description has no value [missing]"},
		{"act_on", one("act_on: each"), "5:13: error: act_on is never each; it is each_item or first_item [unknown-value]"},
		{"act_again", one("act_again: {every: 3m}"), "5:17: error: act_again has no key every [unknown-key]"},
		{"for without unit", one("for: 2"), "5:10: error: 2 has no unit [duration]"},
		{"for in words", one("for: two samples"), "5:10: error: two samples is not a duration [duration]"},
		{"no samples", one("for: 0 samples"), "5:10: error: 0 samples: a number of samples is 1 to 10000 [duration]"},
		{"sample with a blank", one("sample: 5 minutes"), "5:13: error: 5 minutes is not a duration [duration]"},
		{"sample in capitals", one("sample: 5M"), "5:13: error: 5M is not a duration [duration]"},
		{"negative", one("sample: -5m"), "5:13: error: -5m is negative [duration]"},
		{"too short", one("sample: 10ms"), "5:13: error: 10ms is too short; the least interval is 100ms [duration]"},
		{"too long", one("sample: 1000d"), "5:13: error: 1000d is longer than 999 days [duration]"},
		{"a bad cron line", one(`sample: "*/5 * * *"`), "5:13: error: */5 * * *: a cron line has five fields, minute hour day month weekday; this has 4 [cron]"},
		{"cron out of range", one(`sample: "61 * * * *"`), "5:13: error: 61 * * * *: end of range (61) above maximum (59): 61 [cron]"},
		{"cron never", one(`sample: "0 0 31 2 *"`), "5:13: error: 0 0 31 2 *: no day in the calendar fits this cron line [cron]"},
		{"cron with a zone", one(`sample: "TZ=UTC 0 0 * * *"`), "5:13: error: TZ=UTC 0 0 * * *: a cron line has no time zone here; the file's timezone key sets it [cron]"},
		{"cron without quotes", one(`sample: */5 * * * *`), "5:13: error: a bare * means something else to YAML; put the pattern in quotes [yaml]"},
		{"two samples", one("sample: {on_change: true}"), "5:13: error: sample has no every [missing]"},
		{"name with a blank", strings.Replace(one("for: 1 sample"), "name: idle", "name: my rule", 1), "3:13: error: a situation's name has no blanks, quotes, colons or backslashes [name]"},
		{"queue with a blank", strings.Replace(one("for: 1 sample"), "DCQ1", "DC Q1", 1), `4:22: error: "DC Q1" is not a name of MQ [name]`},
		{"queue too long", strings.Replace(one("for: 1 sample"), "DCQ1", strings.Repeat("Q", 49), 1), "4:20: error: " + strings.Repeat("Q", 49) + " has 49 characters; a name of MQ has at most 48 [name]"},
		{"watch is a word", strings.Replace(one("for: 1 sample"), "{queue: DCQ1, cluster: C1}", "DCQ1", 1), "4:12: error: watch is a map of keys and values; this is a single value [type]"},
		{"no queue", strings.Replace(one("for: 1 sample"), "queue: DCQ1, ", "", 1), "4:12: error: watch names no queue [missing]"},
		{"all with others", one("distribution: [all, QM2]"), "5:20: error: all stands alone [value]"},
		{"an action that is a word", one("actions: [redistribute]"), "5:15: error: an action is a verb, a colon and a value [type]"},
		{"actions is a map", one("actions: {put: DISABLED}"), "5:14: error: actions is a list; this is a map [type]"},
		{"two verbs", one("actions: [{put: DISABLED, rank: 0}]"), "5:31: error: an action does one thing; this one has put and rank [two-verbs]"},
		{"no verb", one("actions: [{allow_last: true}]"), "5:15: error: this action does nothing [missing]"},
		{"unknown verb", one("actions: [{puts: DISABLED}]"), "5:16: error: an action has no key puts; did you mean put? [unknown-key]"},
		{"two kinds of item", strings.Replace(one("for: 1 sample"), "queue: DCQ1", "queue: DCQ1, channel: C", 1), "4:26: error: a situation watches one kind of item; this one watches queue and channel [two-groups]"},
		{"name of another group", strings.Replace(one("for: 1 sample"), "queue: DCQ1", "qmgr: QM1", 1), "6:14: error: IPPROCS is not an attribute of a queue manager; it is one of a queue [unknown-attribute]"},
		{"start alone", strings.Replace(one("actions: [start_channel]"), "queue: DCQ1", "channel: C", 1), "5:15: error: an action is a verb, a colon and a value [type]"},
		{"weight of nothing", strings.Replace(one("actions: [{weight: 0}]"), "queue: DCQ1", "channel: C", 1), "5:24: error: weight is a whole number from 1 to 99, not 0 [value]"},
		{"stop how", strings.Replace(one("actions: [{stop_channel: now}]"), "queue: DCQ1", "channel: C", 1), "5:30: error: stop_channel is never now; it is true, QUIESCE, FORCE or TERMINATE [unknown-value]"},
		{"suspend nothing", strings.Replace(one("actions: [{suspend: }]"), "queue: DCQ1", "qmgr: QM1", 1), "5:25: error: suspend has no value [missing]"},
		{"suspend what is no cluster", strings.Replace(one("actions: [{suspend: [C1, 'C 2']}]"), "queue: DCQ1", "qmgr: QM1", 1), "5:32: error: \"C 2\" is not the name of a cluster [name]"},
		{"expect a queue manager", strings.Replace(one("expect: [QM1]"), "queue: DCQ1", "qmgr: QM1", 1), "5:13: error: expect is about queues and channels; a daemon's own queue manager is always there [value]"},
		{"useq of a channel", strings.Replace(one("actions: [{rank: 0, useq: any}]"), "queue: DCQ1", "channel: C", 1), "5:25: error: useq means nothing beside rank [unknown-key]"},
		{"verb of another group", one("actions: [{suspend: C1}]"), "5:16: error: suspend is done to a queue manager; this situation watches a queue [wrong-group]"},
		{"mqsc a word", one("actions: [{mqsc: x}]"), "5:22: error: a command begins with a verb and what it is done to [value]"},
		{"mqsc continued", one("actions: [{mqsc: \"ALTER QLOCAL(Q) +\"}]"), "5:22: error: a command is not continued or ended here [value]"},
		{"mqsc with a quote open", one("actions: [{mqsc: \"ALTER QLOCAL(Q) DESCR('x)\"}]"), "5:22: error: a quote is not closed [value]"},
		{"webhook a path", one("actions: [{webhook: /x}]"), "5:25: error: webhook is an http or https address [url]"},
		{"webhook with a password", one("actions: [{webhook: \"http://a:b@h/\"}]"), "5:25: error: the address has a password in it; passwords do not belong in this file [secret]"},
		{"webhook to a variable host", one("actions: [{webhook: \"http://${QMGR}/\"}]"), "5:25: error: the host is named outright; names are replaced only after it [url]"},
		{"put lower case", one("actions: [{put: disabled}]"), "5:21: error: put is never disabled; it is ENABLED or DISABLED; did you mean DISABLED? [unknown-value]"},
		{"rank too high", one("actions: [{rank: 10}]"), "5:22: error: rank is a whole number from 0 to 9, not 10 [value]"},
		{"redistribute a word", one("actions: [{put: DISABLED}, {redistribute: always}]"), "5:47: error: redistribute is never always; it is true or never [unknown-value]"},
		{"a rate of nothing", one("actions: [{put: DISABLED}, {redistribute: {rate: 0}}]"), "5:54: error: rate is a whole number of messages a second, from 1 to 1000000, not 0 [value]"},
		{"a rate with a unit", one("actions: [{put: DISABLED}, {redistribute: {rate: 5/s}}]"), "5:54: error: rate is a whole number of messages a second, from 1 to 1000000, not 5/s [value]"},
		{"a rate beyond measure", one("actions: [{put: DISABLED}, {redistribute: {rate: 1000001}}]"), "5:54: error: rate is a whole number of messages a second, from 1 to 1000000, not 1000001 [value]"},
		{"modifier beside redistribute", one("actions: [{put: DISABLED}, {redistribute: true, retry: 1m}]"), "5:53: error: retry does not stand beside redistribute [unknown-key]"},
		{"useq beside put", one("actions: [{put: DISABLED, useq: any}]"), "5:31: error: useq means nothing beside put [unknown-key]"},
		{"exec a text", one("actions: [{exec: /opt/x -v}]"), "5:22: error: exec is a list of a program and its arguments; this is a single value [type]"},
		{"exec with nothing", one("actions: [{exec: []}]"), "5:22: error: exec names no program [missing]"},
		{"exec with a name as program", one(`actions: [{exec: ["${QUEUE}"]}]`), "5:23: error: the program is named outright; names are replaced only in its arguments [program]"},
		{"unknown name in an argument", one(`actions: [{exec: [/x, "-q${QEUE}"]}]`), "5:30: error: ${QEUE} is not an attribute of a queue; did you mean ${QUEUE}? [unknown-attribute]"},
		{"unknown Tivoli name", one(`actions: [{exec: [/x, "&{Queue_Data.Foo}"]}]`), "5:28: error: &{Queue_Data.Foo} is not a name that can be replaced [unknown-attribute]"},
		{"only_if with a mistake", one("actions: [{put: DISABLED, only_if: CURDEPHT > 0}]"), "5:40: error: CURDEPHT is not an attribute of a queue; did you mean CURDEPTH? [unknown-attribute]"},
		{"nothing to revert", one("on_clear: revert"), "5:15: error: the actions of this situation change nothing that could be given back [nothing-to-revert]"},
		{"severity", one("alert: {severity: fatall}"), "5:23: error: severity is never fatall; it is fatal, critical, major, minor, warning, harmless, informational or info; did you mean fatal? [unknown-value]"},
		{"alert a word", strings.Replace(one("alert: critical"), "    severity: minor\n", "", 1), "5:12: error: alert is a map of keys and values; this is a single value [type]"},
		{"severity twice", one("alert: {severity: major}"), "7:5: error: the severity is said here and in alert [twice]"},
		{"label name", one("alert: {labels: {my-label: x}}"), `5:22: error: "my-label" is not a label's name [label]`},
		{"own label", one("alert: {labels: {queue: x}}"), "5:22: error: the label queue is set for every alert [label]"},
		{"label that changes", one(`alert: {labels: {depth: "${CURDEPTH}"}}`), "5:30: error: CURDEPTH changes from sample to sample, and a label that changes makes a new alert each time [label]"},
		{"runbook", one("alert: {runbook: wiki}"), "5:22: error: runbook is a URL [value]"},
		{"put and rank", one("actions: [{put: DISABLED}, {rank: 0}]"), "5:33: error: this situation sets put of the same queue, this sets rank [put-and-rank]"},
		{"availability without by", "version: 1\nsituations:\n  - availability: {queue: DCQ1}\n", "3:19: error: availability does not say by what [missing]"},
		{"availability by what", "version: 1\nsituations:\n  - availability: {queue: DCQ1, by: pt}\n", "3:37: error: by is never pt; it is put, rank or priority; did you mean put? [unknown-value]"},
		{"availability of what", "version: 1\nsituations:\n  - availability: {by: put}\n", "3:19: error: availability names no queue [missing]"},
		{"availability of several", "version: 1\nsituations:\n  - availability: {queue: [A, B], by: put}\n", "3:27: error: availability of several queues needs a name [missing]"},
		{"availability with a name beside", "version: 1\nsituations:\n  - name: x\n    availability: {queue: A, by: put}\n", "3:5: error: name does not stand beside availability [unknown-key]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := firstLines(c.text)
			for _, line := range got {
				if line == c.want {
					return
				}
			}
			t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), c.want)
		})
	}
}

// TestLoad_YAMLTraps shows what YAML would take for something else, in every
// place where it can stand.
func TestLoad_YAMLTraps(t *testing.T) {
	t.Parallel()
	action := func(s string) string { return ruleHead + ruleTail + "    actions:\n      - exec: " + s + "\n" }
	alert := func(s string) string { return ruleHead + "    formula: IPPROCS == 0\n    alert: " + s + "\n" }
	cases := []struct{ name, text, want string }{
		{"name in a list", action("[/opt/x, &{Queue_Data.Queue_Name}]"), "8:24: error: a value that starts with & is an anchor to YAML; put it in quotes [yaml]"},
		{"name in a list, the other form", action("[/opt/x, ${QUEUE}]"), "8:24: error: a brace inside [ ] or { } is read by YAML; put the text in quotes [yaml]"},
		{"name within an argument", action("[/opt/x, -q${QUEUE}]"), "8:24: error: a brace inside [ ] or { } is read by YAML; put the text in quotes [yaml]"},
		{"name in a block list", action("\n          - /opt/x\n          - &{Queue_Data.Queue_Name}"), "10:13: error: a value that starts with & is an anchor to YAML; put it in quotes [yaml]"},
		{"name in a flow map", alert("{severity: minor, summary: ${QUEUE} is idle}"), "6:39: error: a brace inside [ ] or { } is read by YAML; put the text in quotes [yaml]"},
		{"name at the start of a text", alert("{severity: minor, summary: &{Queue_Data.Queue_Name} is idle}"), "6:39: error: a value that starts with & is an anchor to YAML; put it in quotes [yaml]"},
		{"list over several lines", action("[/opt/x,\n             &{Queue_Data.Queue_Name}]"), "9:14: error: a value that starts with & is an anchor to YAML; put it in quotes [yaml]"},
		{"star in a list", strings.Replace(action("[/opt/x]"), "DCQ1", "[DCQ1, *]", 1), "4:27: error: a bare * means something else to YAML; put the pattern in quotes [yaml]"},
		{"star with letters", strings.Replace(action("[/opt/x]"), "DCQ1", "*Q1", 1), "4:20: error: a bare * means something else to YAML; put the pattern in quotes [yaml]"},
		{"exclamation mark in a list", strings.Replace(action("[/opt/x]"), "DCQ1", "[D*, !DCQ9]", 1), "4:25: error: a value that starts with ! is a tag to YAML and would be lost; put it in quotes [yaml]"},
		{"question mark in a list", strings.Replace(action("[/opt/x]"), "DCQ1", "[DCQ?]", 1), "4:21: error: a ? inside [ ] or { } is read by YAML; put the text in quotes [yaml]"},
		{"question mark in a map", strings.Replace(action("[/opt/x]"), "DCQ1", "DCQ?", 1), "4:20: error: a ? inside [ ] or { } is read by YAML; put the text in quotes [yaml]"},
		{"question mark as a value", ruleHead + "    description: ? idle\n" + ruleTail, "5:18: error: a value cannot start with ? in YAML; put it in quotes [yaml]"},
		{"a list on the key's line", ruleHead + "    distribution: - QM2\n" + ruleTail, "5:19: error: a list with - does not begin on the line of its key [yaml]"},
		{"another bracket", ruleHead + "    distribution: [QM2, QM3}\n" + ruleTail, "5:28: error: this } closes nothing [yaml]"},
		{"colon in a text", ruleHead + "    description: idle: nobody reads\n" + ruleTail, "5:22: error: a colon followed by a blank begins a value; put the text in quotes [yaml]"},
		{"no blank after a colon", ruleHead + "    severity:minor\n    formula: IPPROCS == 0\n", "5:13: error: a blank is missing after this colon [yaml]"},
		{"quote not closed", ruleHead + "    description: \"idle\n" + ruleTail, "5:18: error: this quote is never closed [yaml]"},
		{"text after a quote", ruleHead + "    description: \"idle\" queue\n" + ruleTail, "5:24: error: something stands after the closing quote; put all of it into the quotes [yaml]"},
		{"bracket not closed", ruleHead + "    distribution: [QM2, QM3\n" + ruleTail, "5:19: error: this [ is never closed [yaml]"},
		{"reserved character", ruleHead + "    description: @idle\n" + ruleTail, "5:18: error: a value cannot start with @ in YAML; put it in quotes [yaml]"},
		{"a tab", ruleHead + "\tseverity: minor\n", "5:1: error: this line is indented with a tab; YAML wants spaces [yaml]"},
		{"a tab after blanks", ruleHead + "  \tseverity: minor\n", "5:3: error: this line is indented with a tab; YAML wants spaces [yaml]"},
		{"a tag", ruleHead + "    description: !!str x\n" + ruleTail, "5:18: error: a value that starts with ! is a tag to YAML and would be lost; put it in quotes [yaml]"},
		{"a merge", ruleHead + "    <<: {severity: minor}\n    formula: IPPROCS == 0\n", "5:5: error: maps are not merged here [yaml]"},
		{"two documents", ruleHead + ruleTail + "---\nversion: 1\n", "7:1: error: a file holds one document; --- begins another [yaml]"},
		{"nesting", ruleHead + "    distribution: " + strings.Repeat("[", 100) + "\n", "5:51: error: this is nested too deeply [too-deep]"},
		{"nesting in blocks", "version: 1\nsituations:\n" + nested(60), "18:33: error: this is nested too deeply [too-deep]"},
		{"not UTF-8", ruleHead + "    description: caf\xe9\n", "5:21: error: this is not UTF-8 [encoding]"},
		{"UTF-16", "\xff\xfev\x00", "1:1: error: this file is UTF-16; rule files are UTF-8 [encoding]"},
		{"a control character", ruleHead + "    description: a\x00b\n", "5:19: error: a control character stands here [encoding]"},
		{"an invisible line break", ruleHead + "    description: a\u2028b\n", "5:19: error: an invisible character breaks the line here [encoding]"},
		{"huge", "version: 1\n#" + strings.Repeat("x", maxFileBytes), "1:1: error: the file has 1048588 bytes; the most is 1048576 [too-long]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{c.text, strings.ReplaceAll(c.text, "\n", "\r\n")} {
				if c.name == "huge" && text != c.text {
					continue
				}
				got := firstLines(text)
				found := false
				for _, line := range got {
					found = found || line == c.want
				}
				if !found {
					t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), c.want)
				}
			}
		})
	}
}

func nested(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s- a:\n", strings.Repeat("  ", i))
	}
	return b.String()
}

// TestLoad_WhatYAMLTakesRightly shows texts that look alike and are fine.
func TestLoad_WhatYAMLTakesRightly(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, line string }{
		{"a name in a block text", "alert: \n      severity: minor\n      summary: ${QUEUE} on ${QMGR}"},
		{"a Tivoli name within a block text", "description: queue &{Queue_Data.Queue_Name} is idle"},
		{"quoted names", `alert: {severity: minor, summary: "${QUEUE} & &{Queue_Data.Queue_Name}"}`},
		{"single quotes", `alert: {severity: minor, summary: 'it''s ${QUEUE}'}`},
		{"a literal block", "description: |\n      * ! &{x ${QUEUE} : [\n      \t{ tab"},
		{"a folded block", "description: >-\n      * ! &x\n      : ["},
		{"a folded text", "description: one\n      * two ! three"},
		{"quotes over lines", "description: \"one\n      * two\n      three\""},
		{"a quoted pattern", `distribution: ["QM*", "!QM9"]`},
		{"a list over lines", "distribution: [\n      QM2,  # the first\n      \"QM3\"\n    ]"},
		{"a URL", "alert: {severity: minor, runbook: \"https://x.example/a?b=c\"}"},
		{"a comment with traps", "for: 1 sample # * ! &{x} [ {"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := ruleHead + "    " + c.line + "\n    formula: IPPROCS == 0\n    actions: [{event: x}]\n"
			for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
				if got := firstLines(text); len(got) > 0 {
					t.Errorf("findings: %v", got)
				}
			}
		})
	}
}

func TestLoad_AnchorsAndAliases(t *testing.T) {
	t.Parallel()
	rs := mustLoad(t, "version: 1\nsituations:\n  - name: a\n    watch: &w {queue: DCQ1}\n    formula: &f IPPROCS == 0\n    severity: minor\n"+
		"  - name: b\n    watch: *w\n    formula: *f\n    severity: minor\n")
	if got := rs.Situations[1].Formula.String(); got != "IPPROCS == 0" {
		t.Errorf("the alias gave %q", got)
	}
}

func TestLoad_FormulaPlaces_InEveryStyle(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, formula, want string }{
		{"plain", "IPPROCS == 0 and CURDEPHT > 1", "5:31"},
		{"double quotes", `"IPPROCS == 0 and CURDEPHT > 1"`, "5:32"},
		{"single quotes", `'PUT == ''x'' or CURDEPHT > 1'`, "5:31"},
		{"escapes", `"PUT == \"ENABLED\" and CURDEPHT > 1"`, "5:38"},
		{"a literal block", "|\n      IPPROCS == 0\n      and CURDEPHT > 1", "7:11"},
		{"a folded block", ">-\n      IPPROCS == 0\n      and CURDEPHT > 1", "7:11"},
		{"an indented block", "|2\n        IPPROCS == 0 and\n        CURDEPHT > 1", "7:9"},
		{"plain over two lines", "IPPROCS == 0 and\n      CURDEPHT > 1", "6:7"},
		{"quotes over two lines", "\"IPPROCS == 0 and\n      CURDEPHT > 1\"", "6:7"},
		{"after wide letters", "\"DESCR == '日本' and CURDEPHT > 1\"", "5:33"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := ruleHead + "    formula: " + c.formula + "\n    severity: minor\n"
			for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
				for _, line := range firstLines(text) {
					if strings.Contains(line, "CURDEPHT") {
						if !strings.HasPrefix(line, c.want+":") {
							t.Errorf("got %s, want it at %s", line, c.want)
						}
						return
					}
				}
				t.Errorf("no finding: %v", firstLines(text))
			}
		})
	}
}

func TestLoad_Warnings(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"short sample", ruleHead + "    sample: 1s\n" + ruleTail, "5:13: warning: a sample every 1s is a load on the queue manager; 5s or more is usual [short-sample]"},
		{"no way back", ruleHead + "    actions: [{put: DISABLED}]\n" + ruleTail, "5:16: warning: nothing enables the queue again when an application comes back [no-way-back]"},
		{"always true", ruleHead + "    formula: IPPROCS >= 0\n    severity: minor\n", "5:14: warning: this formula is always true [constant]"},
		{"never true", ruleHead + "    formula: IPPROCS > 3 and IPPROCS < 2\n    severity: minor\n", "5:14: warning: this formula is never true [constant]"},
		{"true", ruleHead + "    formula: true\n    severity: minor\n", "5:14: warning: this formula is always true [constant]"},
		{"SYSTEM pattern", strings.Replace(ruleHead+ruleTail, "DCQ1", `"SYSTEM.*"`, 1), "4:20: warning: SYSTEM queues are watched only when named exactly, so this pattern finds none [system-pattern]"},
		{"moving without lowering", ruleHead + "    actions: [{redistribute: true}]\n" + ruleTail, "5:16: warning: nothing lowers this instance first, so messages could come straight back [redistribute-alone]"},
		{"priority without useq", ruleHead + "    actions: [{priority: 0}]\n" + ruleTail, "5:16: warning: applications on this queue manager go on putting to the local instance unless CLWLUSEQ is ANY [useq]"},
		{"no effect", ruleHead + "    formula: IPPROCS == 0\n", "3:5: warning: situation idle neither acts nor alerts [no-effect]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff([]string{c.want}, firstLines(c.text)); d != "" {
				t.Error(d)
			}
			if rs, _ := Load(File{Name: "r.yaml", Data: []byte(c.text)}); rs == nil {
				t.Error("a warning keeps the file from being used")
			}
		})
	}
}

func TestLoad_TwoFiles(t *testing.T) {
	t.Parallel()
	a := File{Name: "a.yaml", Data: []byte(ruleHead + ruleTail)}
	b := File{Name: "b.yaml", Data: []byte(ruleHead + ruleTail)}
	_, ps := Load(a, b)
	if len(ps) != 1 || ps[0].String() != "b.yaml:3:11: error: another situation is called idle already, on line 3 of a.yaml [twice]" {
		t.Errorf("problems: %v", ps)
	}
	one, _ := Load(a)
	again, _ := Load(a)
	a.Data = append(a.Data, '\n')
	other, _ := Load(a)
	if one.Revision != again.Revision || one.Revision == other.Revision {
		t.Errorf("revisions %s, %s, %s", one.Revision, again.Revision, other.Revision)
	}
}

func TestLoad_ManyMistakes_TwentyAndACount(t *testing.T) {
	t.Parallel()
	text := "version: 1\nsituations:\n"
	for i := range 40 {
		text += fmt.Sprintf("  - name: s%d\n    watch: {queue: Q}\n    formula: IPROCS == 0\n", i)
	}
	_, ps := Load(File{Name: "r.yaml", Data: []byte(text)})
	if len(ps) != maxProblems+1 || ps[maxProblems].Message != "60 more like these are not shown" {
		t.Errorf("%d problems, the last %v", len(ps), ps[len(ps)-1])
	}
}

func TestLoad_Defaults(t *testing.T) {
	t.Parallel()
	rs := mustLoad(t, ruleHead+"    formula: IPPROCS == 0\n    alert: {summary: x}\n")
	s := rs.Situations[0]
	if s.Schedule.Every != 5*time.Minute || !s.Distribution.Match("ANY") || s.FirstItem || s.ActAgain != (ActAgain{}) ||
		s.For.Samples != 1 || s.ClearFor.Samples != 1 || !s.Enabled || s.Alert.Severity != "warning" {
		t.Errorf("defaults: %+v", s)
	}
}

func TestLoad_Availability_Expands(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"put", "rank", "priority"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			rs := mustLoad(t, "version: 1\nsituations:\n  - availability: {queue: DCQ1, cluster: C1, by: "+by+"}\n")
			got := string(Print(rs))
			want, err := os.ReadFile("testdata/availability_" + by + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			idle, read := rs.Situations[0], rs.Situations[1]
			k := Key{Situation: "x", QMgr: "QM2", Queue: "DCQ1"}
			if idle.Claims() != "DCQ1" || idle.Actions[0].ClaimKey(k) != read.Actions[0].ClaimKey(k) {
				t.Error("the two situations do not share their claim")
			}
		})
	}
}

// TestPrint_ReadsBack: what print writes says the same again.
func TestPrint_ReadsBack(t *testing.T) {
	t.Parallel()
	text := base(t) + `
  - name: all
    description: "quotes \" and 'these'"
    enabled: false
    watch: {queue: ["A*", "!AB*", B], cluster: "C?"}
    sample: {every: 90s, on_change: true}
    act_on: first_item
    act_again: {after: 30m}
    formula: 'PUT == "ENABLED" and CURDEPTH > 0.8 * MAXDEPTH'
    for: 3 samples
    clear_for: 1h30m
    actions:
      - priority: 0
        useq: any
        allow_last: true
        only_if: READERS("X") == 0
        retry: 30s
        timeout: 1m30s
      - exec: [/opt/x, "a b", "${QUEUE}"]
      - event: "${QUEUE}: idle"
    on_clear: [{priority: 3}]
    alert: {severity: major, summary: s, runbook: "https://x.example", labels: {service: orders}}
  - name: cron
    watch: {queue: X}
    sample: "*/5 * * * *"
    formula: IPPROCS == 0
    actions: [{rank: 0}, {redistribute: {retry: 1m, rate: 100, even_if_bound: true}}]
    on_clear: revert
  - name: keep
    watch: {queue: Y}
    formula: IPPROCS == 0
    actions: [{redistribute: never}]
`
	first := string(Print(mustLoad(t, text)))
	second := string(Print(mustLoad(t, first)))
	place := func(s string) string { // comments name other lines
		var out []string
		for _, line := range strings.Split(s, "\n") {
			if !strings.HasPrefix(line, "  # from") {
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	}
	if d := cmp.Diff(place(first), place(second)); d != "" {
		t.Errorf("(-first +second)\n%s", d)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	_, ps := Load(File{Name: "r.yaml", Data: []byte(ruleHead + "    formula: IPROCS == 0\n    severity: minor\n")})
	var list []map[string]any
	if err := json.Unmarshal(FormatJSON(ps), &list); err != nil || len(list) != 1 {
		t.Fatalf("%v: %s", err, FormatJSON(ps))
	}
	want := map[string]any{
		"file": "r.yaml", "line": 5.0, "column": 14.0, "length": 6.0, "code": "unknown-attribute", "severity": "error",
		"message": "IPROCS is not an attribute of a queue; did you mean IPPROCS?",
		"help":    []any{"list them: situationd attributes queue"},
	}
	if d := cmp.Diff(want, list[0]); d != "" {
		t.Error(d)
	}
	if got := string(FormatJSON(nil)); got != "[]\n" {
		t.Errorf("no problems: %q", got)
	}
	if n := strings.Count(string(FormatJSONLines(ps)), "\n"); n != 1 {
		t.Errorf("%d lines", n)
	}
	wantGitHub := "::error file=r.yaml,line=5,col=14,endColumn=20,title=unknown-attribute::" +
		"IPROCS is not an attribute of a queue; did you mean IPPROCS?%0Alist them: situationd attributes queue\n"
	if d := cmp.Diff(wantGitHub, string(FormatGitHub(ps))); d != "" {
		t.Error(d)
	}
}
