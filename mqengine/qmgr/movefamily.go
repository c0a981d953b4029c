package qmgr

import "github.com/situationd/situationd/mqengine/mqi"

// A family is what a move keeps together: the messages of a group, or the
// segments of one message. It goes whole, in one unit of work and to one queue
// manager, or it stays.

// familyFate is what a unit made of a family when it met it first.
type familyFate uint8

const (
	familyPlanned familyFate = iota + 1 // every member is in the plan
	familyStays                         // each member is counted when it is met
)

// decided notes what became of the family of a message, if it has one.
func (v *move) decided(msg *message, fate familyFate) {
	if !msg.grouped() && !msg.segment() {
		return
	}
	if v.families == nil {
		v.families = map[mqi.MsgId]familyFate{}
	}
	v.families[msg.md.GroupId] = fate
}

// family gives the family of a message that may move itself, in logical order;
// nil if it cannot go whole, or is gone with the member that was met before.
func (v *move) family(msg *message, ms int64) []*message {
	switch v.families[msg.md.GroupId] {
	case familyPlanned:
		return nil
	case familyStays:
		v.stayed.grouped++
		return nil
	}
	groups := v.from.grouping()
	there := len(groups[msg.md.GroupId])
	var list []*message
	if there <= max(v.req.Max, v.req.Group) {
		list = groups.complete(msg, ms)
	}
	// What is more than the complete group is a member that is there twice.
	if len(list) != there || !v.allJoin(list, ms) {
		v.decided(msg, familyStays)
		v.stayed.grouped++
		return nil
	}
	if v.req.DryRun && v.listed(list) {
		v.decided(msg, familyPlanned)
		return nil
	}
	return list
}

// allJoin reports whether every member may move.
func (v *move) allJoin(list []*message, ms int64) bool {
	for _, msg := range list {
		if !msg.available() || msg.expired(ms) || msg.seq > v.res.Horizon || msg.addressed ||
			msg.bind == bindOnOpen && !v.req.EvenIfBound || v.poison(msg) || v.came(msg) {
			return false
		}
	}
	return true
}

// listed reports whether a dry run met a member in an earlier unit: nothing
// moved then, so the others are still there.
func (v *move) listed(list []*message) bool {
	if !v.req.After.Valid {
		return false
	}
	for _, msg := range list {
		if p := msg.position(); p.lane > int(v.req.After.Priority) || p.lane == int(v.req.After.Priority) && p.seq <= v.req.After.Seq {
			return true
		}
	}
	return false
}
