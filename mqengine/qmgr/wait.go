package qmgr

import (
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// maxWaiters is how many gets of one connection may wait at a time.
const maxWaiters = 1024

// waiter is an MQGET that waits for a message.
type waiter struct {
	getCall
	conn  *conn
	timer timer
}

// wait keeps a get until a message comes or the interval, in milliseconds, is over.
func (m *Machine) wait(now time.Time, c *conn, g *getCall, interval int32) {
	w := &waiter{getCall: *g, conn: c}
	c.waiters = append(c.waiters, w)
	g.handle.busy = true
	q := g.handle.queue
	q.waiters = append(q.waiters, w)
	if interval != mqi.MQWI_UNLIMITED {
		w.timer.what = w
		m.timers.set(&w.timer, now.UnixNano()+int64(interval)*int64(time.Millisecond))
	}
}

// timeout ends the wait: 2033.
func (w *waiter) timeout(m *Machine, _ time.Time, fx *Effects) {
	m.stopWaiting(w)
	w.conn.fail(fx, w.tag, mqi.MQRC_NO_MSG_AVAILABLE)
}

// stopWaiting forgets a waiting get; the answer is the caller's.
func (m *Machine) stopWaiting(w *waiter) {
	m.timers.stop(&w.timer)
	q := w.handle.queue
	q.waiters = without(q.waiters, w)
	w.conn.waiters = without(w.conn.waiters, w)
	w.handle.busy = slices.ContainsFunc(w.conn.waiters, func(x *waiter) bool { return x.handle == w.handle })
}

// without takes one element out and keeps the order.
func without[T comparable](list []T, x T) []T {
	if i := slices.Index(list, x); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// offer gives a message that became available to the first waiting get that it
// is for; waiting browses before it see it too.
func (m *Machine) offer(now time.Time, fx *Effects, q *queue, msg *message) {
	ms := now.UnixMilli()
	for i := 0; i < len(q.waiters) && msg.available() && !msg.expired(ms); {
		w := q.waiters[i]
		chosen := msg
		if w.has(groupOptions) {
			chosen, _ = m.choose(now, fx, &w.getCall)
		} else if !w.want.matches(msg) || !w.reaches(msg) {
			chosen = nil
		}
		if chosen == nil {
			i++
			continue
		}
		m.stopWaiting(w)
		c, reason := w.conn, w.handle.mayGet()
		if w.options&browseOptions == 0 && w.underSyncpoint(chosen) && m.full(&c.unit) {
			reason = mqi.MQRC_SYNCPOINT_LIMIT_REACHED
		}
		if reason != mqi.MQRC_NONE {
			c.fail(fx, w.tag, reason)
			continue
		}
		m.give(now, fx, c, &w.getCall, chosen)
	}
}

// reaches reports whether a waiting BROWSE_NEXT would come to the message.
func (w *waiter) reaches(msg *message) bool {
	at := w.handle.cursor
	return !w.has(mqi.MQGMO_BROWSE_NEXT) || at.seq == 0 ||
		int(msg.lane) < at.lane || int(msg.lane) == at.lane && msg.seq > at.seq
}

// refuseWaiters answers every waiting get of a queue, as when GET(DISABLED) is set.
func (m *Machine) refuseWaiters(fx *Effects, q *queue, reason mqi.Reason) {
	for len(q.waiters) > 0 {
		w := q.waiters[0]
		m.stopWaiting(w)
		w.conn.fail(fx, w.tag, reason)
	}
}
