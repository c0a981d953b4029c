package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// lock hides a browsed message from everybody but the handle that browses. It
// still counts in CURDEPTH.
func (h *handle) lock(msg *message) {
	msg.state = msgLocked
	h.locked = msg
}

// holds reports whether the handle has locked the message.
func (h *handle) holds(msg *message) bool {
	return msg != nil && h.locked == msg && msg.state == msgLocked
}

// unlock shows the handle's locked message to everybody again; false: there is none.
func (m *Machine) unlock(now time.Time, fx *Effects, h *handle) bool {
	msg := h.locked
	h.locked = nil
	if msg == nil || msg.state != msgLocked {
		return false
	}
	msg.state = msgAvailable
	msg.queue.lanes[msg.lane].freed(msg.seq)
	m.announce(now, fx, msg.queue, msg)
	return true
}

// unlockCall is an MQGET with MQGMO_UNLOCK: it gives no message.
func (m *Machine) unlockCall(now time.Time, fx *Effects, c *conn, tag uint64, h *handle, gmo *mqi.GMO) {
	switch {
	case gmo.Options&^(mqi.MQGMO_UNLOCK|mqi.MQGMO_NO_SYNCPOINT|mqi.MQGMO_FAIL_IF_QUIESCING) != 0:
		c.fail(fx, tag, mqi.MQRC_OPTIONS_ERROR)
	case !h.has(mqi.MQOO_BROWSE):
		c.fail(fx, tag, mqi.MQRC_NOT_OPEN_FOR_BROWSE)
	case !m.unlock(now, fx, h):
		c.fail(fx, tag, mqi.MQRC_NO_MSG_LOCKED)
	default:
		c.ok(fx, tag, &GetResult{MD: mqi.NewMD(), ResolvedQName: h.queue.name})
	}
}

// withOwn lets the handle see the message that it has locked itself, for one look at the queue.
func (h *handle) withOwn(look func()) {
	msg := h.locked
	if !h.holds(msg) {
		look()
		return
	}
	msg.state = msgAvailable
	msg.queue.lanes[msg.lane].freed(msg.seq)
	look()
	if msg.queue != nil {
		msg.state = msgLocked
	}
}
