package qmgr

import (
	"cmp"
	"slices"

	"github.com/situationd/situationd/mqengine/mqi"
)

const segmentFlags = mqi.MQMF_SEGMENT | mqi.MQMF_LAST_SEGMENT

// grouped reports whether the message is part of a group; a dead letter is not,
// since its header makes it another message.
func (msg *message) grouped() bool { return msg.dead == nil && msg.md.MsgFlags&groupFlags != 0 }

// segment reports whether the message is part of a logical message.
func (msg *message) segment() bool {
	return msg.dead == nil && len(msg.head) == 0 && msg.md.MsgFlags&segmentFlags != 0
}

// groupIndex finds the messages of a group in logical order: by number in the
// group, then offset, then arrival. A queue has one once somebody asks for groups.
type groupIndex map[mqi.MsgId][]*message

func newGroupIndex(q *queue) groupIndex {
	x := groupIndex{}
	for msg := q.next(headOfQueue); msg != nil; msg = q.next(msg.position()) {
		x.add(msg)
	}
	return x
}

// grouping is the queue's index of groups, made if need be.
func (q *queue) grouping() groupIndex {
	if q.groups == nil {
		q.groups = newGroupIndex(q)
	}
	return q.groups
}

func inLogicalOrder(a, b *message) int {
	return cmp.Or(cmp.Compare(a.md.MsgSeqNumber, b.md.MsgSeqNumber), cmp.Compare(a.md.Offset, b.md.Offset), cmp.Compare(a.seq, b.seq))
}

func (x groupIndex) add(msg *message) {
	if !msg.grouped() && !msg.segment() {
		return
	}
	list := x[msg.md.GroupId]
	i, _ := slices.BinarySearchFunc(list, msg, inLogicalOrder)
	x[msg.md.GroupId] = slices.Insert(list, i, msg)
}

func (x groupIndex) remove(msg *message) {
	list := x[msg.md.GroupId]
	i, found := slices.BinarySearchFunc(list, msg, inLogicalOrder)
	if !found {
		return
	}
	if len(list) == 1 {
		delete(x, msg.md.GroupId)
		return
	}
	x[msg.md.GroupId] = slices.Delete(list, i, i+1)
}

// at is the first available message of a group with that number and offset.
func (x groupIndex) at(id mqi.MsgId, number, offset int32, ms int64) *message {
	list := x[id]
	probe := message{}
	probe.md.MsgSeqNumber, probe.md.Offset = number, offset
	i, _ := slices.BinarySearchFunc(list, &probe, inLogicalOrder)
	for ; i < len(list) && list[i].md.MsgSeqNumber == number && list[i].md.Offset == offset; i++ {
		if list[i].available() && !list[i].expired(ms) {
			return list[i]
		}
	}
	return nil
}

// logical is the logical message that begins with first: itself, or all its
// segments in order; nil if one is missing or not available.
func (x groupIndex) logical(first *message, ms int64) []*message {
	if !first.segment() {
		return []*message{first}
	}
	if first.md.Offset != 0 {
		return nil
	}
	parts := []*message{first}
	for msg := first; msg.md.MsgFlags&mqi.MQMF_LAST_SEGMENT == 0; {
		if msg.body.Len == 0 {
			return nil // it would be its own successor
		}
		msg = x.at(msg.md.GroupId, msg.md.MsgSeqNumber, msg.md.Offset+int32(msg.body.Len), ms)
		if msg == nil || !msg.segment() || msg.grouped() != first.grouped() {
			return nil
		}
		parts = append(parts, msg)
	}
	return parts
}

// whole is the logical message that a segment belongs to, or a message itself; nil
// if it is not all there.
func (x groupIndex) whole(msg *message, ms int64) []*message {
	if !msg.segment() {
		return []*message{msg}
	}
	if first := x.at(msg.md.GroupId, msg.md.MsgSeqNumber, 0, ms); first != nil {
		return x.logical(first, ms)
	}
	return nil
}

// complete is msg's group in logical order, every message with every segment; nil
// if something is missing.
func (x groupIndex) complete(msg *message, ms int64) []*message {
	if !msg.grouped() {
		return x.whole(msg, ms)
	}
	list := x[msg.md.GroupId]
	if list[0].md.MsgSeqNumber != 1 || list[len(list)-1].md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP == 0 {
		return nil
	}
	var all []*message
	for number := int32(1); ; number++ {
		first := x.at(msg.md.GroupId, number, 0, ms)
		if first == nil {
			return nil
		}
		parts := x.logical(first, ms)
		if parts == nil {
			return nil
		}
		all = append(all, parts...)
		if first.md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0 {
			return all
		}
	}
}

// groupPlace is where a handle is in a group, for puts, gets or browses.
type groupPlace struct {
	logical bool // the last call said LOGICAL_ORDER
	inGroup bool // the group goes on
	inMsg   bool // the logical message goes on
	id      mqi.MsgId
	number  int32 // of the next message
	offset  int32 // of the next segment
	last    bool  // puts: the logical message that goes on is the group's last
	unit    bool  // the first call was part of a unit of work
	persist int32 // puts: persistence of the first message
}

// open reports whether there is more to come.
func (p *groupPlace) open() bool { return p.inGroup || p.inMsg }

// incomplete is the reason that tells of an open group or message.
func (p *groupPlace) incomplete() mqi.Reason {
	switch {
	case p.inMsg:
		return mqi.MQRC_INCOMPLETE_MSG
	case p.inGroup:
		return mqi.MQRC_INCOMPLETE_GROUP
	}
	return mqi.MQRC_NONE
}

// past moves the place behind a message with these fields.
func (p *groupPlace) past(md *mqi.MD, length int, whole bool) {
	p.id, p.number, p.offset = md.GroupId, md.MsgSeqNumber, 0
	p.inMsg = !whole && md.MsgFlags&mqi.MQMF_SEGMENT != 0 && md.MsgFlags&mqi.MQMF_LAST_SEGMENT == 0
	p.last = md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0
	p.inGroup = md.MsgFlags&groupFlags != 0 && (!p.last || p.inMsg)
	if p.inMsg {
		p.offset = md.Offset + int32(length)
	} else {
		p.number++
	}
}

// placeBefore is what a handle's place was before the unit of work, for its backout.
type placeBefore struct {
	place *groupPlace
	was   groupPlace
}

// remember keeps a place for the unit's backout, once.
func (u *unitOfWork) remember(place *groupPlace) {
	if !slices.ContainsFunc(u.places, func(b placeBefore) bool { return b.place == place }) {
		u.places = append(u.places, placeBefore{place, *place})
	}
}
