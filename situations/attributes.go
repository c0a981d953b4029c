package situations

import "slices"

// Attribute is one name that a formula may use. The table of attributes drives
// check, evaluation, `situationd attributes` and docs/rules.md.
type Attribute struct {
	Name string `json:"name"`
	// Type is "number" or "text".
	Type string `json:"type"`
	// Unit of a number: messages, seconds, bytes, handles, instances; else empty.
	Unit string `json:"unit"`
	// Values are all that a text can be; empty if it can be anything.
	Values []string `json:"values"`
	// Command is the MQSC command whose reply carries it.
	Command string `json:"command"`
	// Monitoring: it has a value only while MONQ, or MONCHL, is not OFF.
	Monitoring bool   `json:"monitoring"`
	Doc        string `json:"doc"`
	Group      Group  `json:"group"`

	number func(*evaluation) int
	text   func(*evaluation) string
	bit    uint64
}

// attributeTable are the names of one group.
type attributeTable struct {
	group Group
	list  []Attribute
	index map[string]*Attribute
}

// tableOf is the table of a group; the zero group is that of queues.
func tableOf(g Group) *attributeTable {
	switch g {
	case GroupChannel:
		return channelTable
	case GroupQMgr:
		return qmgrTable
	case GroupQueue:
	}
	return queueTable
}

// newTable numbers the attributes. A name's place gives its bit, so there may be 64.
func newTable(g Group, list []Attribute) *attributeTable {
	t := &attributeTable{group: g, list: list, index: make(map[string]*Attribute, len(list))}
	for i := range list {
		list[i].Group, list[i].bit = g, 1<<i
		if list[i].Values == nil {
			list[i].Values = []string{}
		}
		t.index[list[i].Name] = &list[i]
	}
	return t
}

const (
	typeNumber = "number"
	typeText   = "text"

	fromQueue   = "DISPLAY QUEUE"
	fromStatus  = "DISPLAY QSTATUS TYPE(QUEUE)"
	fromHandles = "DISPLAY QSTATUS TYPE(HANDLE)"
	fromCluster = "DISPLAY QCLUSTER"
	fromPeers   = "the other daemons"
)

// AttributeTable lists every name that a formula over a group may use, in the
// order of the documentation. The caller owns the slice.
func AttributeTable(g Group) []Attribute { return slices.Clone(tableOf(g).list) }

func number(name, unit, command, doc string, get func(*Attributes) int) Attribute {
	return Attribute{Name: name, Type: typeNumber, Unit: unit, Command: command, Doc: doc,
		number: func(e *evaluation) int { return get(e.attrs) }}
}

func monitored(a Attribute) Attribute {
	a.Monitoring = true
	return a
}

func text(name, command, doc string, get func(*Attributes) string, values ...string) Attribute {
	return Attribute{Name: name, Type: typeText, Command: command, Doc: doc, Values: values,
		text: func(e *evaluation) string { return get(e.attrs) }}
}

func elsewhere(name, command, doc string, get func(*evaluation) int) Attribute {
	return Attribute{Name: name, Type: typeNumber, Unit: "instances", Command: command, Doc: doc, number: get}
}

// queueTable has what is known of a queue.
var queueTable = newTable(GroupQueue, []Attribute{
	text("QUEUE", fromQueue, "name of the queue", func(a *Attributes) string { return a.QUEUE }),
	text("QMGR", fromQueue, "name of the queue manager", func(a *Attributes) string { return a.QMGR }),
	text("CLUSTER", fromQueue, "name of its cluster, empty if it is in none", func(a *Attributes) string { return a.CLUSTER }),
	text("TYPE", fromQueue, "kind of queue", func(a *Attributes) string { return a.TYPE }, "QLOCAL", "QALIAS", "QREMOTE"),
	text("DESCR", fromQueue, "its description", func(a *Attributes) string { return a.DESCR }),

	number("IPPROCS", "handles", fromHandles, "handles open for input, without the daemon's own", func(a *Attributes) int { return a.IPPROCS }),
	number("OPPROCS", "handles", fromHandles, "handles open for output, without the daemon's own", func(a *Attributes) int { return a.OPPROCS }),
	number("CURDEPTH", "messages", fromStatus, "messages on the queue, uncommitted puts included", func(a *Attributes) int { return a.CURDEPTH }),
	number("MAXDEPTH", "messages", fromQueue, "messages the queue can hold", func(a *Attributes) int { return a.MAXDEPTH }),
	number("MAXMSGL", "bytes", fromQueue, "longest message it takes", func(a *Attributes) int { return a.MAXMSGL }),
	number("UNCOM", "messages", fromStatus, "messages put or got and not yet committed", func(a *Attributes) int { return a.UNCOM }),
	monitored(number("MSGAGE", "seconds", fromStatus, "age of the oldest message", func(a *Attributes) int { return a.MSGAGE })),
	monitored(number("LGETAGE", "seconds", fromStatus, "time since the last get", func(a *Attributes) int { return a.LGETAGE })),
	monitored(number("LPUTAGE", "seconds", fromStatus, "time since the last put", func(a *Attributes) int { return a.LPUTAGE })),
	number("CLWLRANK", "", fromQueue, "rank of this instance, 0 to 9", func(a *Attributes) int { return a.CLWLRANK }),
	number("CLWLPRTY", "", fromQueue, "priority of this instance, 0 to 9", func(a *Attributes) int { return a.CLWLPRTY }),
	number("DEFPRTY", "", fromQueue, "priority of messages put without one", func(a *Attributes) int { return a.DEFPRTY }),
	number("BOTHRESH", "", fromQueue, "backout threshold, 0 for none", func(a *Attributes) int { return a.BOTHRESH }),
	number("QDEPTHHI", "percent", fromQueue, "depth that counts as high, in percent of MAXDEPTH", func(a *Attributes) int { return a.QDEPTHHI }),
	number("QDEPTHLO", "percent", fromQueue, "depth that counts as low, in percent of MAXDEPTH", func(a *Attributes) int { return a.QDEPTHLO }),

	text("PUT", fromQueue, "whether messages may be put", func(a *Attributes) string { return a.PUT }, "ENABLED", "DISABLED"),
	text("GET", fromQueue, "whether messages may be got", func(a *Attributes) string { return a.GET }, "ENABLED", "DISABLED"),
	text("TRIGGER", fromQueue, "whether the queue triggers", func(a *Attributes) string { return a.TRIGGER }, "YES", "NO"),
	text("SHARE", fromQueue, "whether several applications may read it", func(a *Attributes) string { return a.SHARE }, "YES", "NO"),
	text("CLWLUSEQ", fromQueue, "whether a put here may go to another instance", func(a *Attributes) string { return a.CLWLUSEQ }, "QMGR", "LOCAL", "ANY"),
	text("DEFBIND", fromQueue, "binding of puts that leave it open", func(a *Attributes) string { return a.DEFBIND }, "OPEN", "NOTFIXED", "GROUP"),
	text("DEFPSIST", fromQueue, "persistence of messages put without one", func(a *Attributes) string { return a.DEFPSIST }, "YES", "NO"),
	text("USAGE", fromQueue, "ordinary or transmission queue", func(a *Attributes) string { return a.USAGE }, "NORMAL", "XMITQ"),
	text("DEFTYPE", fromQueue, "how the queue came to be", func(a *Attributes) string { return a.DEFTYPE }, "PREDEFINED", "TEMPDYN", "PERMDYN"),
	text("MONQ", fromQueue, "monitoring of the queue", func(a *Attributes) string { return a.MONQ }, "QMGR", "OFF", "LOW", "MEDIUM", "HIGH"),

	elsewhere("READY_ELSEWHERE", fromCluster, "other instances that messages from here could go to", (*evaluation).readyElsewhere),
	elsewhere("READERS_ELSEWHERE", fromPeers, "applications that read the other instances, as their own daemons see it", (*evaluation).readersElsewhere),
})

// laterNames are the names that a later release brings.
var laterNames = []string{
	"GETRATE", "PUTRATE", "CHANGE", "PCTCHANGE", "AVG", "MIN", "MAX", "PROBE", "PROCESSES", "HOST", "SITUATION",
}

// named finds a name of the table, nil if there is none.
func (t *attributeTable) named(name string) *Attribute { return t.index[name] }

// withValue are those that can have this value.
func (t *attributeTable) withValue(value string) []*Attribute {
	var out []*Attribute
	for i := range t.list {
		if slices.Contains(t.list[i].Values, value) {
			out = append(out, &t.list[i])
		}
	}
	return out
}

func (t *attributeTable) names() []string {
	out := make([]string, len(t.list))
	for i := range t.list {
		out[i] = t.list[i].Name
	}
	return out
}

// elsewhere finds a name in the other tables, for a message about a name that is not in this one.
func (t *attributeTable) elsewhere(name string) (Group, bool) {
	for _, g := range Groups() {
		if g != t.group && tableOf(g).named(name) != nil {
			return g, true
		}
	}
	return "", false
}

// unknown says that a name is not in the table, and what might have been meant.
// near is the name to look for others by.
func (t *attributeTable) unknown(near, name string) (message, help string) {
	message = name + " is not an attribute of " + t.group.noun()
	if g, ok := t.elsewhere(near); ok && near == name {
		message += "; it is one of " + g.noun()
	} else if n := nearest(near, t.names()); n != "" {
		message += "; did you mean " + n + "?"
	}
	return message, "list them: situationd attributes " + string(t.group)
}
