package qmgr

import (
	"cmp"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// unitOfWork is what one connection put and got under syncpoint and has not
// yet committed.
type unitOfWork struct {
	entries []*message // puts and gets in order; the state of each says which
	spare   []*message // the memory of the unit before
	started int64      // Unix milliseconds of the first one
	pending pending
	places  []placeBefore
}

// full reports whether MAXUMSGS is reached.
func (m *Machine) full(u *unitOfWork) bool { return len(u.entries) >= m.limits.maxUncommitted }

func (u *unitOfWork) add(now time.Time, msg *message) {
	if len(u.entries) == 0 {
		u.started = now.UnixMilli()
	}
	u.entries = append(u.entries, msg)
	msg.unit = u
}

// keptEntries is how many entries a finished unit keeps room for.
const keptEntries = 64

// end empties the unit and gives its entries, to be read before release. A
// waiting get may put the first entry into the next unit before that.
func (u *unitOfWork) end() []*message {
	done := u.entries
	u.entries, u.spare = u.spare, nil
	return done
}

func (u *unitOfWork) release(done []*message) {
	clear(u.places)
	u.places = u.places[:0]
	if cap(done) <= keptEntries {
		clear(done)
		u.spare = done[:0]
	}
}

// endUnit empties a unit of work, and gives what was in it.
func (m *Machine) endUnit(u *unitOfWork) []*message {
	m.pending.take(u.pending)
	u.pending = pending{}
	return u.end()
}

// commit makes a unit of work true: one unit for the store, then everybody sees it.
func (m *Machine) commit(now time.Time, fx *Effects, u *unitOfWork) {
	entries := m.endUnit(u)
	shown := entries[:0] // the puts; every entry is read before its place is written
	for _, msg := range entries {
		switch q := msg.queue; {
		case q == nil: // its dynamic queue was deleted meanwhile
		case msg.state == msgPut:
			q.uncommitted--
			msg.unit = nil
			m.storeMessage(fx, msg)
			msg.state = msgAvailable
			q.lanes[msg.lane].freed(msg.seq)
			m.arrive(now, fx, q, msg)
			shown = append(shown, msg)
		default:
			m.delivered(now, fx, msg)
			fx.Unit.Sync = fx.Unit.Sync || msg.stored
			m.removeMessage(fx, q, msg)
		}
	}
	m.show(now, fx, shown)
	u.release(entries)
}

// backout undoes a unit of work: puts vanish, gets are back in their places.
func (m *Machine) backout(now time.Time, fx *Effects, u *unitOfWork) {
	entries := m.endUnit(u)
	for _, b := range u.places {
		*b.place = b.was
	}
	shown := entries[:0]
	for _, msg := range entries {
		switch q := msg.queue; {
		case q == nil:
		case msg.state == msgPut:
			m.removeMessage(fx, q, msg)
		default:
			msg.unit = nil
			msg.md.BackoutCount++
			if msg.stored && q.attr.hardenBO {
				m.rewriteMessage(fx, q, msg)
				fx.Unit.Sync = true
			}
			q.uncommitted--
			q.depth++
			msg.state = msgAvailable
			q.lanes[msg.lane].freed(msg.seq)
			shown = append(shown, msg)
		}
	}
	m.show(now, fx, shown)
	u.release(entries)
}

// show tells everybody who waits of messages that became available together:
// the best first on each queue.
func (m *Machine) show(now time.Time, fx *Effects, shown []*message) {
	if len(shown) > 1 {
		slices.SortStableFunc(shown, func(a, b *message) int {
			return cmp.Or(int(b.lane)-int(a.lane), cmp.Compare(a.seq, b.seq))
		})
	}
	for _, msg := range shown {
		if q := msg.queue; q != nil && msg.available() {
			m.announce(now, fx, q, msg)
		}
	}
}

// announce tells of one message that became available.
func (m *Machine) announce(now time.Time, fx *Effects, q *queue, msg *message) {
	m.touch(fx, q)
	if q.attr.xmit {
		m.messageAvailable(now, fx, q, msg)
	}
	if len(q.waiters) > 0 && msg.available() {
		m.offer(now, fx, q, msg)
	}
}

// storeMessage writes a persistent message to the store.
func (m *Machine) storeMessage(fx *Effects, msg *message) {
	if !msg.persistent() {
		return
	}
	fx.Unit.SetMessage(msg.queue.number, msg.seq, m.headers.header(msg))
	if msg.body.ID != 0 && !msg.bodyStored {
		fx.Unit.SetBody(msg.body.ID)
		msg.bodyStored = true
	}
	msg.stored = true
	fx.Unit.Sync = true
}

// admits checks whether a queue takes one more message of that kind.
func (m *Machine) admits(q *queue, msg *message) mqi.Reason {
	a := q.attr
	switch {
	case q.deleted:
		return mqi.MQRC_Q_DELETED
	case !a.put:
		return mqi.MQRC_PUT_INHIBITED
	case q.depth >= a.maxDepth:
		return mqi.MQRC_Q_FULL
	case msg.length() > a.maxMsgL:
		return mqi.MQRC_MSG_TOO_BIG_FOR_Q
	case q.bytes+int64(msg.length()) > a.maxBytes:
		return mqi.MQRC_Q_SPACE_NOT_AVAILABLE
	case m.spaceLow && msg.payload == nil && !msg.bodyStored:
		// The reserve is there for what the cluster has to know; what is stored already only moves.
		return mqi.MQRC_Q_SPACE_NOT_AVAILABLE
	case a.temporary && msg.persistent():
		return mqi.MQRC_PERSISTENT_NOT_ALLOWED
	}
	return mqi.MQRC_NONE
}

// putMessage puts a message on a local queue: under unit, or at once if unit is
// nil. The queue's limits are checked; on failure nothing has happened. The
// message's descriptor must be complete, its persistence and priority decided.
func (m *Machine) putMessage(now time.Time, fx *Effects, unit *unitOfWork, q *queue, msg *message) mqi.Reason {
	if reason := m.admits(q, msg); reason != mqi.MQRC_NONE {
		if reason == mqi.MQRC_Q_FULL {
			m.queueFull(now, q)
		}
		return reason
	}
	if unit != nil && m.full(unit) {
		return mqi.MQRC_SYNCPOINT_LIMIT_REACHED
	}
	pends := msg.pends()
	if unit != nil && pends.all > 0 {
		if reason := m.holds(pends); reason != mqi.MQRC_NONE {
			return reason
		}
	}
	msg.capExpiry(now, q.attr.capExpiry)
	m.join(now, q, msg)
	if unit != nil {
		msg.state = msgPut
		unit.add(now, msg)
		unit.pending.add(pends)
		m.pending.add(pends)
		q.uncommitted++
		m.insert(q, msg)
		m.touch(fx, q)
		return mqi.MQRC_NONE
	}
	m.place(now, fx, q, msg)
	return mqi.MQRC_NONE
}

// capExpiry ends a message's life at a queue's CAPEXPRY at the latest; 0 is no limit.
func (msg *message) capExpiry(now time.Time, limit int64) {
	if limit == 0 {
		return
	}
	if at := now.UnixMilli() + limit; msg.expiresAt == 0 || msg.expiresAt > at {
		msg.expiresAt = at
	}
}

// putBack puts a message that was just taken off a queue on it again, at its end
// and whatever has become of the queue's limits: it may not be lost.
func (m *Machine) putBack(now time.Time, fx *Effects, q *queue, msg *message) {
	m.join(now, q, msg)
	m.place(now, fx, q, msg)
}

// join gives a message its place at the end of a queue.
func (m *Machine) join(now time.Time, q *queue, msg *message) {
	m.seq++
	msg.seq, msg.lane, msg.arrived = m.seq, q.laneFor(msg.md.Priority), now.UnixMilli()
	q.lastPut = msg.arrived
	q.depth++
	q.arrived++
	m.depthRose(now, q)
}

// place makes a message that joined available to everybody.
func (m *Machine) place(now time.Time, fx *Effects, q *queue, msg *message) {
	msg.state = msgAvailable
	m.insert(q, msg)
	m.storeMessage(fx, msg)
	m.arrive(now, fx, q, msg)
	m.announce(now, fx, q, msg)
}

// lockMessage reserves an available message for a channel: in doubt, it counts
// as an uncommitted get. False: somebody else has it, or it is gone.
func (m *Machine) lockMessage(fx *Effects, q *queue, msg *message) bool {
	if msg.queue != q || msg.state != msgAvailable {
		return false
	}
	m.hold(fx, q, msg)
	return true
}

// hold takes an available message out of everybody's reach.
func (m *Machine) hold(fx *Effects, q *queue, msg *message) {
	msg.state = msgGot
	q.depth--
	q.uncommitted++
	m.touch(fx, q)
}

// unlockMessage gives a locked message back to its place.
func (m *Machine) unlockMessage(now time.Time, fx *Effects, q *queue, msg *message) {
	if msg.queue != q || msg.state != msgGot || msg.unit != nil {
		return
	}
	msg.state = msgAvailable
	q.depth++
	q.uncommitted--
	q.lanes[msg.lane].freed(msg.seq)
	m.announce(now, fx, q, msg)
}

// removeMessage ends a message in any state: header and body go. It does not
// ask for a sync: what may not come back after a crash is the caller's to say.
func (m *Machine) removeMessage(fx *Effects, q *queue, msg *message) {
	if msg.queue != q {
		return
	}
	m.takeMessage(fx, q, msg)
	if msg.body.ID == 0 {
		return
	}
	if msg.bodyStored {
		fx.Unit.DeleteBody(msg.body.ID)
		msg.bodyStored = false
	}
	fx.Drop = append(fx.Drop, msg.body.ID)
}

// takeMessage takes a message off its queue and keeps its body, so that it can
// be put elsewhere in the same unit.
func (m *Machine) takeMessage(fx *Effects, q *queue, msg *message) {
	if msg.queue != q {
		return
	}
	switch msg.state {
	case msgAvailable, msgLocked:
		q.depth--
	case msgPut:
		q.depth--
		q.uncommitted--
	case msgGot:
		q.uncommitted--
	case msgFree: // it would be on no queue
	}
	if msg.stored {
		fx.Unit.DeleteMessage(q.number, msg.seq)
		msg.stored = false
	}
	m.extract(q, msg)
	msg.state, msg.unit = msgFree, nil
	m.touch(fx, q)
}

// rewriteMessage writes a message's header again after fields of it changed.
func (m *Machine) rewriteMessage(fx *Effects, q *queue, msg *message) {
	if msg.stored {
		fx.Unit.SetMessage(q.number, msg.seq, m.headers.header(msg))
	}
}
