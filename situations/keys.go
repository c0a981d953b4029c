package situations

import "slices"

// KeyDoc is one key of a rule file or of a rule-test file. The table drives
// reading, its error messages and the check that docs/rules.md is complete.
type KeyDoc struct {
	Place   string `json:"place"` // where the key stands
	Name    string `json:"name"`
	Type    string `json:"type"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
	// Later: the key is known, and comes with a later release.
	Later bool `json:"later"`
}

// Places of keys, in the words of the messages.
const (
	placeTop          = "a rule file"
	placeDefaults     = "defaults"
	placeSituation    = "a situation"
	placeWatch        = "watch"
	placeSample       = "sample"
	placeActAgain     = "act_again"
	placeAction       = "an action"
	placeRedistribute = "redistribute"
	placeAlert        = "alert"
	placeUntil        = "until"
	placeMaintenance  = "maintenance"
	placeGuard        = "guard"
	placeAvailability = "availability"
	placeTestFile     = "a rule-test file"
	placeTest         = "a test"
	placeExpect       = "an expectation"
)

// Keys lists every key, in the order of the documentation.
func Keys() []KeyDoc { return slices.Clone(keyTable) }

func key(where, name, kind, def, doc string) KeyDoc {
	return KeyDoc{Place: where, Name: name, Type: kind, Default: def, Doc: doc}
}

func later(where, name, doc string) KeyDoc {
	return KeyDoc{Place: where, Name: name, Doc: doc, Later: true}
}

var keyTable = []KeyDoc{
	key(placeTop, "version", "1", "", "version of the format"),
	key(placeTop, "timezone", "name", "the host's", "time zone of the cron lines of this file"),
	key(placeTop, "defaults", "map", "", "keys that hold for every situation of this file that does not say otherwise"),
	key(placeTop, "situations", "list", "", "the situations"),
	later(placeTop, "probes", "named checks"),
	later(placeTop, "lists", "named lists"),
	later(placeTop, "macros", "named formulas"),

	key(placeDefaults, "sample", "duration, cron line or map", "5m", "as in a situation"),
	key(placeDefaults, "distribution", "name, pattern or list", "all", "as in a situation"),
	key(placeDefaults, "act_on", "each_item or first_item", "each_item", "as in a situation"),
	key(placeDefaults, "act_at", "managed_system", "managed_system", "as in a situation"),
	key(placeDefaults, "act_again", "after_false, every_sample or map", "after_false", "as in a situation"),

	key(placeSituation, "name", "text", "", "unique; becomes the alert's name"),
	key(placeSituation, "description", "text", "", "for people"),
	key(placeSituation, "enabled", "true or false", "true", "a situation that is not enabled is not sampled and keeps its state"),
	key(placeSituation, "watch", "map", "", "which items the situation looks at"),
	key(placeSituation, "sample", "duration, cron line or map", "5m", "how often it looks"),
	key(placeSituation, "distribution", "name, pattern or list", "all", "on which queue managers"),
	key(placeSituation, "act_on", "each_item or first_item", "each_item", "act on every item, or only on the first that becomes true"),
	key(placeSituation, "act_at", "managed_system", "managed_system", "the daemon acts only on its own queue manager"),
	key(placeSituation, "act_again", "after_false, every_sample or map", "after_false", "whether to act again while it stays true"),
	key(placeSituation, "formula", "formula", "", "the condition"),
	key(placeSituation, "recovery", "formula", "the formula is false", "the condition for being over; between the two it stays as it is"),
	key(placeSituation, "for", "samples or duration", "1 sample", "how long the condition must hold"),
	key(placeSituation, "clear_for", "samples or duration", "1 sample", "how long it must be over"),
	key(placeSituation, "actions", "list", "", "what to do when it becomes true"),
	key(placeSituation, "on_clear", "list or revert", "", "what to do when it is over"),
	key(placeSituation, "alert", "map", "", "what to tell Alertmanager while it is true"),
	key(placeSituation, "severity", "severity", "", "short for an alert with this severity"),
	key(placeSituation, "availability", "map", "", "the short form, instead of a named situation"),
	key(placeSituation, "renamed_from", "text", "", "the situation's old name, whose state and claims it takes over"),
	key(placeSituation, "until", "map", "", "what else ends it"),
	key(placeSituation, "maintenance", "list", "", "windows in which it does not act, or does not alert"),
	key(placeSituation, "guard", "map", "", "limits of its own for lowering"),
	key(placeSituation, "expect", "list", "", "queues that must exist; a missing one makes it true"),
	key(placeSituation, "max_wait", "duration", "", "the longest wait the SLA allows; check compares it with the interval"),

	key(placeUntil, "situation", "name", "", "it ends when this situation is open for the same queue"),
	key(placeUntil, "after", "duration", "", "it ends when it was open for so long"),

	key(placeMaintenance, "cron", "cron line", "", "when the window begins"),
	key(placeMaintenance, "for", "duration", "", "how long it lasts"),
	key(placeMaintenance, "suppress", "act or notify", "act", "what does not happen in it"),

	key(placeGuard, "min_available", "number or percent", "1", "how many other instances must be left that could be chosen"),
	key(placeGuard, "dwell", "samples or duration", "2 samples", "the least time between opposite changes"),

	key(placeWatch, "queue", "name, pattern or list", "", "the queues"),
	key(placeWatch, "channel", "name, pattern or list", "", "instead of queues: the channels"),
	key(placeWatch, "qmgr", "name, pattern or list", "", "instead of queues: the daemon's own queue manager, if its name is among these"),
	key(placeWatch, "cluster", "name, pattern or list", "", "only items of these clusters"),
	later(placeWatch, "listener", "listeners"),
	later(placeWatch, "process", "processes"),
	later(placeWatch, "probe", "probes"),
	later(placeWatch, "host", "hosts"),

	key(placeSample, "every", "duration or cron line", "", "the interval"),
	key(placeSample, "on_change", "true or false", "false", "sample at once when the queue manager reports a change"),

	key(placeActAgain, "after", "duration", "", "act again after this long, while it stays true"),

	key(placeAction, "put", "ENABLED or DISABLED", "", "sets PUT of the queue"),
	key(placeAction, "rank", "0 to 9", "", "sets CLWLRANK of the queue or channel"),
	key(placeAction, "priority", "0 to 9", "", "sets CLWLPRTY of the queue or channel"),
	key(placeAction, "weight", "1 to 99", "", "sets CLWLWGHT of the channel"),
	key(placeAction, "start_channel", "true", "", "starts the channel"),
	key(placeAction, "stop_channel", "true, QUIESCE, FORCE or TERMINATE", "", "stops the channel"),
	key(placeAction, "suspend", "true, cluster or list", "", "suspends the queue manager from its clusters"),
	key(placeAction, "resume", "true, cluster or list", "", "resumes it"),
	key(placeAction, "redistribute", "true, never or map", "", "moves the waiting messages to other instances"),
	key(placeAction, "exec", "list", "", "runs a program with arguments"),
	key(placeAction, "mqsc", "MQSC command", "", "runs a command whose verb the daemon's file allows"),
	key(placeAction, "webhook", "URL", "", "posts what happened to an address"),
	key(placeAction, "event", "text", "", "writes a universal message to the journal and the event stream"),
	key(placeAction, "allow_last", "true or false", "false", "lower even the last instance that could take messages"),
	key(placeAction, "only_if", "formula", "", "act only if this is true too"),
	key(placeAction, "retry", "duration", "the sample interval", "wait between attempts"),
	key(placeAction, "timeout", "duration", "the verb's own", "how long one attempt may take"),
	key(placeAction, "useq", "any", "", "with priority or rank: also set CLWLUSEQ(ANY), and set it back"),

	key(placeRedistribute, "only_if", "formula", "", "move only if this is true"),
	key(placeRedistribute, "retry", "duration", "the sample interval", "wait between attempts, until the queue is empty"),
	key(placeRedistribute, "timeout", "duration", "none", "how long one attempt may take"),
	key(placeRedistribute, "even_if_bound", "true or false", "false", "move also where it cannot be seen that messages are free to go"),
	key(placeRedistribute, "rate", "number", "no limit", "how many messages a second may move at most"),

	key(placeAlert, "severity", "severity", "warning", "label severity"),
	key(placeAlert, "summary", "text", "", "annotation summary"),
	key(placeAlert, "description", "text", "the situation's", "annotation description"),
	key(placeAlert, "runbook", "URL", "", "annotation runbook_url"),
	key(placeAlert, "labels", "map", "", "more labels"),

	key(placeAvailability, "queue", "name, pattern or list", "", "the queues"),
	key(placeAvailability, "cluster", "name, pattern or list", "", "only queues of these clusters"),
	key(placeAvailability, "by", "put, rank or priority", "", "the lever"),
	key(placeAvailability, "name", "text", "the queue", "name of the pair of situations"),
	key(placeAvailability, "sample", "duration, cron line or map", "5m", "as in a situation"),
	key(placeAvailability, "distribution", "name, pattern or list", "all", "as in a situation"),
	key(placeAvailability, "alert", "map", "", "alert of the idle situation"),
	key(placeAvailability, "allow_last", "true or false", "false", "lower even the last instance that could take messages"),
	key(placeAvailability, "redistribute", "true, never or map", "true", "as in an action"),

	key(placeTestFile, "rule_files", "list", "", "the rules under test, relative to this file"),
	key(placeTestFile, "sample", "duration", "1m", "time between two columns"),
	key(placeTestFile, "startup_grace", "duration", "0", "grace of the daemon, at the start of each test"),
	key(placeTestFile, "tests", "list", "", "the tests"),

	key(placeTest, "name", "text", "", "for the report"),
	key(placeTest, "sample", "duration", "the file's", "time between two columns"),
	key(placeTest, "items", "map", "", "what the samples find, by item and attribute; an item is QMGR/QUEUE, QMGR/CHANNEL(NAME), or QMGR for the queue manager itself"),
	key(placeTest, "expect", "list", "", "what must come of it"),

	key(placeExpect, "at", "duration", "", "time since the first column"),
	key(placeExpect, "item", "QMGR/QUEUE, QMGR/CHANNEL(NAME) or QMGR", "", "of which item"),
	key(placeExpect, "active", "list", "", "the situations that are open, no others"),
	key(placeExpect, "actions", "list", "", "what was done at this time, nothing else"),
	key(placeExpect, "skipped", "list", "", "what was held back or refused at this time"),
	key(placeExpect, "alerts", "list", "", "alerts that stand, by their labels; empty for none"),
	key(placeExpect, "stale", "true or false", "", "whether the item is unknown"),
	key(placeExpect, "note", "text", "", "for people"),
}

// keysAt are the keys of one place.
func keysAt(where string) []KeyDoc {
	var out []KeyDoc
	for _, k := range keyTable {
		if k.Place == where {
			out = append(out, k)
		}
	}
	return out
}

// placesOf are the places that know a key.
func placesOf(name string) []string {
	var out []string
	for _, k := range keyTable {
		if k.Name == name && !k.Later && k.Place != placeTestFile && k.Place != placeTest && k.Place != placeExpect {
			out = append(out, k.Place)
		}
	}
	return out
}

// actionVerbs are the keys of an action of which it has exactly one.
var actionVerbs = []string{
	"put", "rank", "priority", "redistribute", "exec", "mqsc", "webhook", "event",
	"weight", "start_channel", "stop_channel", "suspend", "resume",
}

var severities = []string{"fatal", "critical", "major", "minor", "warning", "harmless", "informational", "info"}
