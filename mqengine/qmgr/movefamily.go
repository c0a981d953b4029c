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
	list := v.from.grouping()[msg.md.GroupId]
	if !whole(list) || len(list) > max(v.req.Max, v.req.Group) || !v.allJoin(list, ms) {
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

// whole reports whether a family in logical order is complete, and nothing is in
// it twice: numbers from 1 to the group's last, each one message or all its segments.
func whole(list []*message) bool {
	number, offset, last := int32(1), int32(0), false
	for i, msg := range list {
		flags := msg.md.MsgFlags
		if msg.grouped() != list[0].grouped() || msg.md.MsgSeqNumber != number || msg.md.Offset != offset || offset > 0 && !msg.segment() {
			return false
		}
		if offset == 0 {
			last = !msg.grouped() || flags&mqi.MQMF_LAST_MSG_IN_GROUP != 0
		}
		if msg.segment() && flags&mqi.MQMF_LAST_SEGMENT == 0 {
			if msg.body.Len == 0 {
				return false // it would be its own successor
			}
			offset += int32(msg.body.Len)
			continue
		}
		if last {
			return i == len(list)-1
		}
		number, offset = number+1, 0
	}
	return false
}
