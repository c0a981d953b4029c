package qmgr

import (
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// maxQueuedCalls is how many calls of one connection may wait behind one that
// waits for the repository.
const maxQueuedCalls = 1024

// conn is one local application's connection.
type conn struct {
	id      ConnID
	appl    Appl
	unit    unitOfWork
	handles []*handle // handle n is at n-1; nil: free
	free    []uint32  // numbers of closed handles
	waiters []*waiter // gets that wait
	parked  *parked   // a call that waits for the repository
	queued  []Call    // calls behind it
}

func (m *Machine) connect(ev Connect) {
	if m.quiescing {
		m.refused[ev.Conn] = mqi.MQRC_Q_MGR_QUIESCING
		return
	}
	if len(m.conns) >= m.cfg.MaxConns {
		m.refused[ev.Conn] = mqi.MQRC_MAX_CONNS_LIMIT_REACHED
		return
	}
	m.conns[ev.Conn] = &conn{id: ev.Conn, appl: ev.Appl}
}

// disconnect ends a connection: MQDISC commits, death backs out.
func (m *Machine) disconnect(now time.Time, fx *Effects, ev Disconnect) {
	delete(m.refused, ev.Conn)
	c := m.conns[ev.Conn]
	if c == nil {
		return
	}
	delete(m.conns, ev.Conn)
	if p := c.parked; p != nil {
		m.unpark(p)
		discard(fx, p.req)
	}
	for _, call := range c.queued {
		discard(fx, call.Request)
	}
	for len(c.waiters) > 0 {
		m.stopWaiting(c.waiters[0])
	}
	if ev.Abrupt {
		m.backout(now, fx, &c.unit)
	} else {
		m.commit(now, fx, &c.unit)
	}
	for i, h := range c.handles {
		if h != nil {
			m.closeHandle(now, fx, c, uint32(i)+1)
		}
	}
}

// cancel ends a waiting MQGET or MQOPEN.
func (m *Machine) cancel(now time.Time, fx *Effects, c *conn, tag uint64) {
	for _, w := range c.waiters {
		if w.tag == tag {
			m.stopWaiting(w)
			c.fail(fx, tag, mqi.MQRC_NO_MSG_AVAILABLE)
			return
		}
	}
	if p := c.parked; p != nil && p.tag == tag {
		m.unpark(p)
		discard(fx, p.req)
		c.fail(fx, tag, mqi.MQRC_CLUSTER_RESOLUTION_ERROR)
		m.runQueued(now, fx, c)
		return
	}
	for i, call := range c.queued {
		if call.Tag == tag {
			discard(fx, call.Request)
			c.queued = slices.Delete(c.queued, i, i+1)
			c.fail(fx, tag, mqi.MQRC_CLUSTER_RESOLUTION_ERROR)
			return
		}
	}
}

// runQueued carries out the calls that waited behind a parked one.
func (m *Machine) runQueued(now time.Time, fx *Effects, c *conn) {
	for len(c.queued) > 0 && c.parked == nil {
		call := c.queued[0]
		c.queued = slices.Delete(c.queued, 0, 1)
		m.perform(now, fx, c, call.Tag, call.Request, false)
	}
	if len(c.queued) == 0 {
		c.queued = nil
	}
}

func (c *conn) reply(fx *Effects, tag uint64, reason mqi.Reason, result any) {
	r := Reply{Conn: c.id, Tag: tag, Reason: reason, Result: result}
	switch reason {
	case mqi.MQRC_NONE:
	case mqi.MQRC_TRUNCATED_MSG_ACCEPTED, mqi.MQRC_TRUNCATED_MSG_FAILED, mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM:
		r.CompCode = mqi.MQCC_WARNING
	case mqi.MQRC_INCOMPLETE_GROUP, mqi.MQRC_INCOMPLETE_MSG: // with a result it is only said
		r.CompCode = mqi.MQCC_WARNING
		if result == nil {
			r.CompCode = mqi.MQCC_FAILED
		}
	default:
		r.CompCode, r.Result = mqi.MQCC_FAILED, nil
	}
	fx.Replies = append(fx.Replies, r)
}

func (c *conn) ok(fx *Effects, tag uint64, result any) {
	fx.Replies = append(fx.Replies, Reply{Conn: c.id, Tag: tag, Result: result})
}

// closed answers an MQCLOSE: of an incomplete group it only warns.
func (c *conn) closed(fx *Effects, tag uint64, reason mqi.Reason) {
	if reason == mqi.MQRC_INCOMPLETE_GROUP || reason == mqi.MQRC_INCOMPLETE_MSG {
		fx.Replies = append(fx.Replies, Reply{Conn: c.id, Tag: tag, CompCode: mqi.MQCC_WARNING, Reason: reason})
		return
	}
	c.fail(fx, tag, reason)
}

func (c *conn) fail(fx *Effects, tag uint64, reason mqi.Reason) {
	c.reply(fx, tag, reason, nil)
}

// handleOf finds an open handle.
func (c *conn) handleOf(n uint32) (*handle, mqi.Reason) {
	if n == 0 || int(n) > len(c.handles) || c.handles[n-1] == nil {
		return nil, mqi.MQRC_HOBJ_ERROR
	}
	h := c.handles[n-1]
	switch {
	case h.queue != nil && h.queue.deleted:
		return h, mqi.MQRC_Q_DELETED
	case h.changed:
		return h, mqi.MQRC_OBJECT_CHANGED
	}
	return h, mqi.MQRC_NONE
}

// newHandle gives h a number.
func (c *conn) newHandle(h *handle) uint32 {
	if n := len(c.free); n > 0 {
		number := c.free[n-1]
		c.free = c.free[:n-1]
		c.handles[number-1] = h
		return number
	}
	c.handles = append(c.handles, h)
	return uint32(len(c.handles))
}

// open handles of the connection.
func (c *conn) openHandles() int { return len(c.handles) - len(c.free) }
