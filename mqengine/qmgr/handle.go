package qmgr

import (
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	sel "github.com/situationd/situationd/mqengine/selector"
)

// handle is an open object of one connection.
type handle struct {
	conn    *conn
	number  uint32
	name    string // the object as it was named
	options int32
	object  *queue // the definition that was opened; nil: a name known only in the cluster, or the queue manager
	queue   *queue // the local queue behind it, or the transmission queue it is bound to; nil: chosen for each put
	input   int32  // MQOO_INPUT_SHARED or MQOO_INPUT_EXCLUSIVE, what AS_Q_DEF meant; 0: not for input
	dest    destination
	changed bool   // what it resolves through was changed by force: 2041
	made    *queue // the dynamic queue that this open made: a temporary one goes with it

	selection *sel.Selector // which messages the handle sees; nil for all
	cursor    position      // browse cursor
	resume    position      // where browsing in logical order goes on behind a group
	locked    *message      // MQGMO_LOCK
	saved     *context      // MQOO_SAVE_ALL_CONTEXT
	busy      bool          // a get waits on it
	// Where the handle is in groups, for each kind of call.
	putting, getting, browsing groupPlace
}

func (h *handle) has(option int32) bool { return h.options&option != 0 }

// attach counts the handle on its queue.
func (m *Machine) attach(fx *Effects, h *handle) {
	q := h.queue
	if q == nil {
		return
	}
	q.handles = append(q.handles, h)
	if h.input != 0 {
		q.inputs++
		q.exclusive = h.input == mqi.MQOO_INPUT_EXCLUSIVE
	}
	if h.has(mqi.MQOO_OUTPUT) {
		q.outputs++
	}
	q.listHandles(h)
	m.touch(fx, q)
}

// detach takes the handle off its queue again.
func (m *Machine) detach(fx *Effects, h *handle) {
	q := h.queue
	if q == nil {
		return
	}
	if i := slices.Index(q.handles, h); i >= 0 {
		q.handles = slices.Delete(q.handles, i, i+1)
	}
	if len(q.handles) == 0 {
		q.handles = nil
	}
	if h.input != 0 {
		q.inputs--
		q.exclusive = false
	}
	if h.has(mqi.MQOO_OUTPUT) {
		q.outputs--
	}
	q.listHandles(h)
	m.touch(fx, q)
}

// listHandles makes the lists of readers and of putters with an owner anew,
// where the handle that came or went matters for them.
func (q *queue) listHandles(h *handle) {
	if h.input != 0 {
		q.readers = nil
		if q.inputs > 0 {
			q.readers = make([]Reader, 0, q.inputs)
		}
		for _, x := range q.handles {
			if x.input != 0 {
				q.readers = append(q.readers, Reader{Tag: x.conn.appl.Tag, Owner: x.conn.appl.Owner})
			}
		}
	}
	if h.has(mqi.MQOO_OUTPUT) && h.conn.appl.Owner != "" {
		q.ownOut = nil
		for _, x := range q.handles {
			if x.has(mqi.MQOO_OUTPUT) && x.conn.appl.Owner != "" {
				q.ownOut = append(q.ownOut, Reader{Tag: x.conn.appl.Tag, Owner: x.conn.appl.Owner})
			}
		}
	}
}

// close is MQCLOSE.
func (m *Machine) close(now time.Time, fx *Effects, c *conn, number uint32, options int32) mqi.Reason {
	h, reason := c.handleOf(number)
	if h == nil {
		return reason
	}
	if options&^(mqi.MQCO_DELETE|mqi.MQCO_DELETE_PURGE) != 0 || options == mqi.MQCO_DELETE|mqi.MQCO_DELETE_PURGE {
		return mqi.MQRC_OPTIONS_ERROR
	}
	q := h.queue
	if options != 0 {
		if reason := h.mayDelete(options); reason != mqi.MQRC_NONE {
			return reason
		}
	}
	m.closeHandle(now, fx, c, number)
	if options != 0 && !q.deleted {
		m.deleteQueue(now, fx, q)
	}
	return h.incomplete()
}

// mayDelete checks MQCO_DELETE and MQCO_DELETE_PURGE. A temporary dynamic queue is
// deleted by the handle that made it, whatever is on it. Who else has a deleted
// queue open gets 2052.
func (h *handle) mayDelete(options int32) mqi.Reason {
	q := h.queue
	switch {
	case q == nil || h.object != q || !q.attr.dynamic:
		return mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	case q.attr.temporary && h.made != q:
		return mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	case q.attr.temporary:
		return mqi.MQRC_NONE
	case q.uncommitted > 0, options == mqi.MQCO_DELETE && q.live() > 0:
		return mqi.MQRC_Q_NOT_EMPTY
	}
	return mqi.MQRC_NONE
}

// incomplete is the warning of an MQCLOSE in the middle of a group.
func (h *handle) incomplete() mqi.Reason {
	for _, p := range [...]*groupPlace{&h.putting, &h.getting, &h.browsing} {
		if reason := p.incomplete(); reason != mqi.MQRC_NONE {
			return reason
		}
	}
	return mqi.MQRC_NONE
}

// closeHandle closes a handle whatever it is doing.
func (m *Machine) closeHandle(now time.Time, fx *Effects, c *conn, number uint32) {
	h := c.handles[number-1]
	c.handles[number-1] = nil
	c.free = append(c.free, number)
	for i := 0; h.busy && i < len(c.waiters); {
		if w := c.waiters[i]; w.handle == h {
			m.stopWaiting(w)
			c.fail(fx, w.tag, mqi.MQRC_HOBJ_ERROR)
			continue
		}
		i++
	}
	m.unlock(now, fx, h)
	m.detach(fx, h)
	if h.input != 0 && h.queue != nil && h.queue.attr.trigger != trigNone {
		m.triggerClose(now, fx, h.queue)
	}
	if q := h.made; q != nil && q.attr.temporary && !q.deleted {
		m.deleteQueue(now, fx, q)
	}
}
