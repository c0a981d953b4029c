package situations

import (
	"reflect"
	"strings"
)

// Group is what a situation watches, in Tivoli's sense: a kind of row with
// attributes of its own.
type Group string

// The groups of this release.
const (
	GroupQueue   Group = "queue"
	GroupChannel Group = "channel"
	GroupQMgr    Group = "qmgr"
)

// Groups lists them, in the order of the documentation.
func Groups() []Group { return []Group{GroupQueue, GroupChannel, GroupQMgr} }

const (
	channelItem = "CHANNEL("
	qmgrItem    = "QMGR("
)

// Item is the name that an item has in keys, rows, holds and tests: that of a
// queue bare, others as MQSC writes them, CHANNEL(TO.QM1) and QMGR(QM2). No
// queue's name has a parenthesis, so the three never meet.
func (g Group) Item(name string) string {
	switch g {
	case GroupChannel:
		return channelItem + name + ")"
	case GroupQMgr:
		return qmgrItem + name + ")"
	case GroupQueue:
	}
	return name
}

// GroupOf gives an item's group and its bare name.
func GroupOf(item string) (Group, string) {
	if !strings.HasSuffix(item, ")") {
		return GroupQueue, item
	}
	if name, ok := strings.CutPrefix(item, channelItem); ok {
		return GroupChannel, name[:len(name)-1]
	}
	if name, ok := strings.CutPrefix(item, qmgrItem); ok {
		return GroupQMgr, name[:len(name)-1]
	}
	return GroupQueue, item
}

// index orders the groups, and numbers them for arrays of groupCount.
func (g Group) index() int {
	switch g {
	case GroupChannel:
		return 1
	case GroupQMgr:
		return 2
	case GroupQueue:
	}
	return 0
}

func groupIndex(item string) int {
	g, _ := GroupOf(item)
	return g.index()
}

const groupCount = 3

// compareItems is the order of items: queues, then channels, then the queue
// manager; each by name.
func compareItems(a, b string) int {
	if c := groupIndex(a) - groupIndex(b); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// QueueOf is the queue of an item, empty for one of another group: what the key
// "queue" of a document for programs has.
func QueueOf(item string) string { return bareIn(GroupQueue, item) }

// ChannelOf is the channel of an item, empty for one of another group.
func ChannelOf(item string) string { return bareIn(GroupChannel, item) }

func bareIn(want Group, item string) string {
	if g, name := GroupOf(item); g == want {
		return name
	}
	return ""
}

// noun is what messages call a thing of the group.
func (g Group) noun() string {
	switch g {
	case GroupChannel:
		return "a channel"
	case GroupQMgr:
		return "a queue manager"
	case GroupQueue:
	}
	return "a queue"
}

// sample is a formula over the group, for messages.
func (g Group) sample() string {
	switch g {
	case GroupChannel:
		return `STATUS == "RETRYING"`
	case GroupQMgr:
		return `CHINIT != "RUNNING"`
	case GroupQueue:
	}
	return "IPPROCS == 0"
}

// command is an MQSC command over the group, for messages.
func (g Group) command() string {
	switch g {
	case GroupChannel:
		return `write: mqsc: "START CHANNEL(${CHANNEL})"`
	case GroupQMgr:
		return `write: mqsc: "START LISTENER('TCP')"`
	case GroupQueue:
	}
	return `write: mqsc: "ALTER QLOCAL(${QUEUE}) DESCR('idle')"`
}

// Sample is a row of a group in which every name has a value, to try texts on.
func Sample(g Group, name string) Row {
	table := tableOf(g)
	v := reflect.New(reflect.TypeOf(table.env())).Elem()
	for i := range table.list {
		a := &table.list[i]
		switch {
		case a.Type != typeText:
		case len(a.Values) > 0:
			v.FieldByName(a.Name).SetString(a.Values[0])
		default:
			v.FieldByName(a.Name).SetString(name)
		}
	}
	return Row{Queue: g.Item(name), InstancesKnown: true, Env: v.Interface()}
}
