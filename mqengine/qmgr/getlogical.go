package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// place is where the handle is in groups for calls of this kind.
func (g *getCall) place() *groupPlace {
	if g.options&browseOptions != 0 {
		return &g.handle.browsing
	}
	return &g.handle.getting
}

// chooseLogical finds the message for a get that minds groups or segments.
func (m *Machine) chooseLogical(now time.Time, fx *Effects, g *getCall) (*message, mqi.Reason) {
	h, place, ms := g.handle, g.place(), now.UnixMilli()
	q := h.queue
	groups := q.grouping()
	from := headOfQueue
	if g.has(mqi.MQGMO_BROWSE_NEXT) && h.cursor.seq != 0 {
		from = h.cursor
		if g.has(mqi.MQGMO_LOGICAL_ORDER) {
			from = h.resume
		}
	}
	goesOn := g.has(mqi.MQGMO_LOGICAL_ORDER) && place.open() && !g.has(mqi.MQGMO_BROWSE_FIRST)
	if goesOn && g.options&browseOptions == 0 && place.unit != g.has(mqi.MQGMO_SYNCPOINT) {
		return nil, mqi.MQRC_INCONSISTENT_UOW
	}
	var found *message
	h.withOwn(func() {
		if goesOn {
			if msg := groups.at(place.id, place.number, place.offset, ms); msg != nil && g.fits(groups, msg, ms) {
				found = msg
			}
			return
		}
		for msg := m.findLive(now, fx, q, &g.want, from); msg != nil; msg = m.findLive(now, fx, q, &g.want, msg.position()) {
			if g.begins(msg) && g.fits(groups, msg, ms) && g.all(groups, msg, ms) {
				found = msg
				return
			}
		}
	})
	if found == nil {
		return nil, mqi.MQRC_NO_MSG_AVAILABLE
	}
	return found, mqi.MQRC_NONE
}

// begins reports whether a get in logical order may begin with the message: it
// is in no group, or the first of one.
func (g *getCall) begins(msg *message) bool {
	return !g.has(mqi.MQGMO_LOGICAL_ORDER) ||
		(!msg.grouped() || msg.md.MsgSeqNumber == 1) && (!msg.segment() || msg.md.Offset == 0)
}

// fits: COMPLETE_MSG wants the first segment, with all others there.
func (g *getCall) fits(groups groupIndex, msg *message, ms int64) bool {
	return !g.has(mqi.MQGMO_COMPLETE_MSG) || groups.logical(msg, ms) != nil
}

// all: ALL_SEGMENTS_AVAILABLE and ALL_MSGS_AVAILABLE hold back what is not complete.
func (g *getCall) all(groups groupIndex, msg *message, ms int64) bool {
	switch {
	case g.has(mqi.MQGMO_ALL_MSGS_AVAILABLE):
		return groups.complete(msg, ms) != nil
	case g.has(mqi.MQGMO_ALL_SEGMENTS_AVAILABLE):
		return groups.whole(msg, ms) != nil
	}
	return true
}

// parts appends the messages on the queue that a get of msg takes: more than
// one only where it puts segments together.
func (g *getCall) parts(parts []*message, now time.Time, msg *message) []*message {
	if !g.has(mqi.MQGMO_COMPLETE_MSG) || !msg.segment() {
		return append(parts, msg)
	}
	g.handle.withOwn(func() { parts = append(parts, msg.queue.grouping().logical(msg, now.UnixMilli())...) })
	return parts
}

// moveOn notes where the handle is in groups after a get of msg. The reason is
// a warning: a group that was got in logical order is left in the middle.
func (g *getCall) moveOn(msg *message, unit bool) mqi.Reason {
	place := g.place()
	logical := g.has(mqi.MQGMO_LOGICAL_ORDER)
	if !logical && !place.logical && !place.open() {
		return mqi.MQRC_NONE
	}
	if unit {
		g.handle.conn.unit.remember(place)
	}
	if !logical {
		warning := place.incomplete()
		*place = groupPlace{}
		return warning
	}
	if !place.open() || g.has(mqi.MQGMO_BROWSE_FIRST) {
		*place = groupPlace{unit: g.has(mqi.MQGMO_SYNCPOINT)}
		g.handle.resume = msg.position()
	}
	place.logical = true
	if msg.dead == nil {
		place.past(&msg.md, msg.body.Len, g.has(mqi.MQGMO_COMPLETE_MSG))
	}
	return mqi.MQRC_NONE
}
