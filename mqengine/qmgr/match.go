package qmgr

import (
	"math/bits"

	"github.com/situationd/situationd/mqengine/mqi"
	sel "github.com/situationd/situationd/mqengine/selector"
)

// indexFrom is the number of messages from which a get by id uses an index:
// below it a scan is as fast, and most queues never need one.
const indexFrom = 16

// matcher is what a get asks of a message. The zero value takes any.
type matcher struct {
	by       int32 // MQMO_* bits that count
	msgID    mqi.MsgId
	correlID mqi.MsgId
	groupID  mqi.MsgId
	seqNo    int32
	offset   int32
	// selection is what the handle's selection string asks; nil for nothing.
	selection *sel.Selector
}

// any reports whether every message will do.
func (w *matcher) any() bool { return w.by == 0 && w.selection == nil }

// matcherOf reads the match options. An id of MQMI_NONE matches any message, as MQ has it.
func matcherOf(options int32, md *mqi.MD) matcher {
	w := matcher{msgID: md.MsgId, correlID: md.CorrelId, groupID: md.GroupId, seqNo: md.MsgSeqNumber, offset: md.Offset}
	for _, id := range [...]struct {
		bit int32
		id  *mqi.MsgId
	}{
		{mqi.MQMO_MATCH_MSG_ID, &w.msgID}, {mqi.MQMO_MATCH_CORREL_ID, &w.correlID}, {mqi.MQMO_MATCH_GROUP_ID, &w.groupID},
	} {
		if options&id.bit != 0 && !id.id.IsZero() {
			w.by |= id.bit
		}
	}
	w.by |= options & (mqi.MQMO_MATCH_MSG_SEQ_NUMBER | mqi.MQMO_MATCH_OFFSET)
	return w
}

func (w *matcher) matches(msg *message) bool {
	return w.any() ||
		(w.by&mqi.MQMO_MATCH_MSG_ID == 0 || msg.md.MsgId == w.msgID) &&
			(w.by&mqi.MQMO_MATCH_CORREL_ID == 0 || msg.md.CorrelId == w.correlID) &&
			(w.by&mqi.MQMO_MATCH_GROUP_ID == 0 || msg.md.GroupId == w.groupID) &&
			(w.by&mqi.MQMO_MATCH_MSG_SEQ_NUMBER == 0 || msg.md.MsgSeqNumber == w.seqNo) &&
			(w.by&mqi.MQMO_MATCH_OFFSET == 0 || msg.md.Offset == w.offset) &&
			(w.selection == nil || w.selection.Matches(msg))
}

// find is the first available message behind p that matches. Expired messages
// are found too: the caller discards them and asks again.
func (q *queue) find(w *matcher, p position) *message {
	if w.any() && p == headOfQueue {
		return q.firstAvailable()
	}
	if w.by&(mqi.MQMO_MATCH_MSG_ID|mqi.MQMO_MATCH_CORREL_ID) != 0 && q.live() >= indexFrom {
		if q.index == nil {
			q.index = newMatchIndex(q)
		}
		return q.findIndexed(w, p)
	}
	for msg := q.next(p); msg != nil; msg = q.next(msg.position()) {
		if msg.available() && w.matches(msg) {
			return msg
		}
	}
	return nil
}

func (q *queue) findIndexed(w *matcher, p position) *message {
	for mask := q.nonEmpty & (1<<(p.lane+1) - 1); mask != 0; {
		lane := bits.Len16(mask) - 1
		mask &^= 1 << lane
		for msg := q.index.first(w, uint8(lane)); msg != nil; msg = q.index.next(w, msg) {
			if msg.available() && w.matches(msg) && (lane < p.lane || msg.seq > p.seq) {
				return msg
			}
		}
	}
	return nil
}

// matchIndex finds messages by MsgId and by CorrelId. Chains of equal ids are
// kept per lane, so that a message is always added at the end.
type matchIndex struct {
	byMsgID, byCorrelID map[indexKey]indexChain
}

type indexKey struct {
	id   mqi.MsgId
	lane uint8
}

type indexChain struct{ head, tail *message }

// indexLinks are a message's places in its two chains.
type indexLinks struct {
	msgIDPrev, msgIDNext, correlPrev, correlNext *message
}

func newMatchIndex(q *queue) *matchIndex {
	x := &matchIndex{byMsgID: map[indexKey]indexChain{}, byCorrelID: map[indexKey]indexChain{}}
	for msg := q.next(headOfQueue); msg != nil; msg = q.next(msg.position()) {
		x.add(msg)
	}
	return x
}

func (x *matchIndex) add(msg *message) {
	msg.links = indexLinks{}
	k := indexKey{msg.md.MsgId, msg.lane}
	c := x.byMsgID[k]
	if msg.links.msgIDPrev = c.tail; c.tail == nil {
		c.head = msg
	} else {
		c.tail.links.msgIDNext = msg
	}
	c.tail = msg
	x.byMsgID[k] = c

	k.id = msg.md.CorrelId
	c = x.byCorrelID[k]
	if msg.links.correlPrev = c.tail; c.tail == nil {
		c.head = msg
	} else {
		c.tail.links.correlNext = msg
	}
	c.tail = msg
	x.byCorrelID[k] = c
}

func (x *matchIndex) remove(msg *message) {
	l := msg.links
	msg.links = indexLinks{}
	unchain(x.byMsgID, indexKey{msg.md.MsgId, msg.lane}, l.msgIDPrev, l.msgIDNext)
	if l.msgIDPrev != nil {
		l.msgIDPrev.links.msgIDNext = l.msgIDNext
	}
	if l.msgIDNext != nil {
		l.msgIDNext.links.msgIDPrev = l.msgIDPrev
	}
	unchain(x.byCorrelID, indexKey{msg.md.CorrelId, msg.lane}, l.correlPrev, l.correlNext)
	if l.correlPrev != nil {
		l.correlPrev.links.correlNext = l.correlNext
	}
	if l.correlNext != nil {
		l.correlNext.links.correlPrev = l.correlPrev
	}
}

// unchain corrects the ends of a chain when the message between prev and next goes.
func unchain(chains map[indexKey]indexChain, k indexKey, prev, next *message) {
	if prev != nil && next != nil {
		return
	}
	c := chains[k]
	if prev == nil {
		c.head = next
	}
	if next == nil {
		c.tail = prev
	}
	if c.head == nil {
		delete(chains, k)
		return
	}
	chains[k] = c
}

func (x *matchIndex) first(w *matcher, lane uint8) *message {
	if w.by&mqi.MQMO_MATCH_MSG_ID != 0 {
		return x.byMsgID[indexKey{w.msgID, lane}].head
	}
	return x.byCorrelID[indexKey{w.correlID, lane}].head
}

func (x *matchIndex) next(w *matcher, msg *message) *message {
	if w.by&mqi.MQMO_MATCH_MSG_ID != 0 {
		return msg.links.msgIDNext
	}
	return msg.links.correlNext
}
