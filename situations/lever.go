package situations

import (
	"slices"
	"strconv"
)

// Attributes that levers set.
const (
	AttrPut      = "PUT"
	AttrRank     = "CLWLRANK"
	AttrPriority = "CLWLPRTY"
	AttrWeight   = "CLWLWGHT"
	AttrStatus   = "STATUS"  // of a channel: STARTED or STOPPED
	AttrSuspend  = "SUSPEND" // of the queue manager: YES or NO, for each cluster
)

// Values that levers set.
const (
	Enabled  = "ENABLED"
	Disabled = "DISABLED"
	Started  = "STARTED"
	Stopped  = "STOPPED"
	Yes      = "YES"
	No       = "NO"
)

// leverAttrs are the attributes of the verbs that set one.
var leverAttrs = map[Verb]string{
	VerbPut: AttrPut, VerbRank: AttrRank, VerbPriority: AttrPriority, VerbWeight: AttrWeight,
	VerbStartChannel: AttrStatus, VerbStopChannel: AttrStatus, VerbSuspend: AttrSuspend, VerbResume: AttrSuspend,
}

// Attr is the attribute that the verb sets, empty if it sets none.
func (v Verb) Attr() string { return leverAttrs[v] }

// Wanted is the value that the action's lever shall have.
func (a *Action) Wanted() string {
	switch a.Verb {
	case VerbStartChannel:
		return Started
	case VerbStopChannel:
		return Stopped
	case VerbSuspend:
		return Yes
	case VerbResume:
		return No
	default:
		return a.Value
	}
}

// Opposes reports whether two actions want one lever of one item at different values.
func (a *Action) Opposes(b *Action) bool {
	if attr := a.Verb.Attr(); attr == "" || attr != b.Verb.Attr() || a.Wanted() == b.Wanted() {
		return false
	}
	return len(a.Clusters) == 0 || len(b.Clusters) == 0 ||
		slices.ContainsFunc(a.Clusters, func(c string) bool { return slices.Contains(b.Clusters, c) })
}

// Lowest reports whether the action's value is the least that its lever has.
func (a *Action) Lowest() bool {
	switch a.Verb {
	case VerbPut:
		return a.Value == Disabled
	case VerbRank, VerbPriority:
		return a.Value == "0"
	case VerbWeight:
		return a.Value == strconv.Itoa(minWeight)
	case VerbStopChannel, VerbSuspend:
		return true
	default:
		return false
	}
}

// CLWLWGHT of MQ.
const (
	minWeight = 1
	maxWeight = 99
)

// verbGroups are the groups under which a verb may stand; one that is not here
// stands under all.
var verbGroups = map[Verb][]Group{
	VerbPut: {GroupQueue}, VerbRedistribute: {GroupQueue},
	VerbRank: {GroupQueue, GroupChannel}, VerbPriority: {GroupQueue, GroupChannel},
	VerbWeight: {GroupChannel}, VerbStartChannel: {GroupChannel}, VerbStopChannel: {GroupChannel},
	VerbSuspend: {GroupQMgr}, VerbResume: {GroupQMgr},
}

// fits reports whether a verb may stand under a group.
func (v Verb) fits(g Group) bool {
	list, ok := verbGroups[v]
	return !ok || slices.Contains(list, g)
}
