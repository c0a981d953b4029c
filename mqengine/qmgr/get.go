package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

const (
	browseOptions = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_BROWSE_NEXT | mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR
	syncOptions   = mqi.MQGMO_SYNCPOINT | mqi.MQGMO_NO_SYNCPOINT | mqi.MQGMO_SYNCPOINT_IF_PERSISTENT
	groupOptions  = mqi.MQGMO_LOGICAL_ORDER | mqi.MQGMO_COMPLETE_MSG | mqi.MQGMO_ALL_MSGS_AVAILABLE | mqi.MQGMO_ALL_SEGMENTS_AVAILABLE
	cursorOptions = mqi.MQGMO_MSG_UNDER_CURSOR | mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR

	knownGetOptions = browseOptions | syncOptions | groupOptions | mqi.MQGMO_WAIT | mqi.MQGMO_ACCEPT_TRUNCATED_MSG |
		mqi.MQGMO_MSG_UNDER_CURSOR | mqi.MQGMO_FAIL_IF_QUIESCING | mqi.MQGMO_LOCK
	knownMatchOptions = mqi.MQMO_MATCH_MSG_ID | mqi.MQMO_MATCH_CORREL_ID | mqi.MQMO_MATCH_GROUP_ID |
		mqi.MQMO_MATCH_MSG_SEQ_NUMBER | mqi.MQMO_MATCH_OFFSET
)

// getCall is an MQGET under way.
type getCall struct {
	tag       uint64
	handle    *handle
	want      matcher
	options   int32
	maxLength int32
}

func (g *getCall) has(option int32) bool { return g.options&option != 0 }

// underSyncpoint reports whether getting msg belongs to the unit of work.
func (g *getCall) underSyncpoint(msg *message) bool {
	return g.has(mqi.MQGMO_SYNCPOINT) || g.has(mqi.MQGMO_SYNCPOINT_IF_PERSISTENT) && msg.persistent()
}

// get is MQGET.
func (m *Machine) get(now time.Time, fx *Effects, c *conn, tag uint64, req *GetReq) {
	h, reason := c.handleOf(req.Handle)
	if reason == mqi.MQRC_NONE && req.GMO.Options&mqi.MQGMO_UNLOCK != 0 {
		m.unlockCall(now, fx, c, tag, h, &req.GMO)
		return
	}
	if reason == mqi.MQRC_NONE {
		reason = checkGet(h, &req.GMO)
	}
	if reason == mqi.MQRC_NONE {
		reason = h.mayGet()
	}
	if reason != mqi.MQRC_NONE {
		if reason == mqi.MQRC_GET_INHIBITED {
			m.inhibitEvent(now, c, reason, h.queue.name)
		}
		c.fail(fx, tag, reason)
		return
	}
	g := getCall{
		tag: tag, handle: h, want: matcherOf(req.GMO.MatchOptions, &req.MD),
		options: req.GMO.Options, maxLength: req.GMO.MaxLength,
	}
	g.want.selection = h.selection
	msg, reason := m.choose(now, fx, &g)
	if reason == mqi.MQRC_NO_MSG_AVAILABLE && g.has(browseOptions) {
		m.unlock(now, fx, h)
	}
	switch {
	case reason == mqi.MQRC_NO_MSG_AVAILABLE && g.has(mqi.MQGMO_WAIT):
		if len(c.waiters) >= maxWaiters {
			c.fail(fx, tag, mqi.MQRC_RESOURCE_PROBLEM)
			return
		}
		m.wait(now, c, &g, req.GMO.WaitInterval)
	case reason != mqi.MQRC_NONE:
		c.fail(fx, tag, reason)
	default:
		m.give(now, fx, c, &g, msg)
	}
}

// checkGet checks the options of a get against each other and against the handle.
func checkGet(h *handle, gmo *mqi.GMO) mqi.Reason {
	o := gmo.Options
	browse, sync := o&browseOptions, o&syncOptions
	switch {
	case o&^knownGetOptions != 0, browse&(browse-1) != 0, sync&(sync-1) != 0,
		browse != 0 && o&mqi.MQGMO_MSG_UNDER_CURSOR != 0,
		browse != 0 && sync&^mqi.MQGMO_NO_SYNCPOINT != 0:
		return mqi.MQRC_OPTIONS_ERROR
	case o&mqi.MQGMO_LOCK != 0 && browse == 0, o&cursorOptions != 0 && o&groupOptions&^mqi.MQGMO_COMPLETE_MSG != 0:
		return mqi.MQRC_OPTIONS_ERROR
	case gmo.MatchOptions&^knownMatchOptions != 0:
		return mqi.MQRC_MATCH_OPTIONS_ERROR
	case gmo.Selection != "": // a selection string belongs to the open
		return mqi.MQRC_FUNCTION_NOT_SUPPORTED
	case (browse != 0 || o&mqi.MQGMO_MSG_UNDER_CURSOR != 0) && !h.has(mqi.MQOO_BROWSE):
		return mqi.MQRC_NOT_OPEN_FOR_BROWSE
	case browse == 0 && h.input == 0:
		return mqi.MQRC_NOT_OPEN_FOR_INPUT
	case o&mqi.MQGMO_WAIT != 0 && gmo.WaitInterval < mqi.MQWI_UNLIMITED:
		return mqi.MQRC_WAIT_INTERVAL_ERROR
	case o&mqi.MQGMO_BROWSE_NEXT != 0 && h.cursor.seq != 0 && h.browsing.logical != (o&mqi.MQGMO_LOGICAL_ORDER != 0):
		return mqi.MQRC_INCONSISTENT_BROWSE
	}
	return mqi.MQRC_NONE
}

// mayGet checks GET(ENABLED) along the path.
func (h *handle) mayGet() mqi.Reason {
	if !h.queue.attr.get || !h.object.attr.get {
		return mqi.MQRC_GET_INHIBITED
	}
	return mqi.MQRC_NONE
}

// choose finds the message that a get is for, and discards what expired on the way.
func (m *Machine) choose(now time.Time, fx *Effects, g *getCall) (*message, mqi.Reason) {
	h := g.handle
	q, ms := h.queue, now.UnixMilli()
	if g.options&browseOptions == 0 && g.options&syncOptions&^mqi.MQGMO_NO_SYNCPOINT != 0 && m.full(&h.conn.unit) {
		return nil, mqi.MQRC_SYNCPOINT_LIMIT_REACHED
	}
	if g.has(cursorOptions) {
		msg := q.at(h.cursor)
		if msg == nil || !msg.available() && !h.holds(msg) || msg.expired(ms) || !g.want.matches(msg) ||
			g.has(mqi.MQGMO_COMPLETE_MSG) && !g.fits(q.grouping(), msg, ms) {
			return nil, mqi.MQRC_NO_MSG_UNDER_CURSOR
		}
		return msg, mqi.MQRC_NONE
	}
	if g.has(groupOptions) {
		return m.chooseLogical(now, fx, g)
	}
	from := headOfQueue
	if g.has(mqi.MQGMO_BROWSE_NEXT) && h.cursor.seq != 0 {
		from = h.cursor
	}
	var msg *message
	if h.locked == nil {
		msg = m.findLive(now, fx, q, &g.want, from)
	} else {
		msg = m.findOwn(now, fx, g, from)
	}
	if msg == nil {
		return nil, mqi.MQRC_NO_MSG_AVAILABLE
	}
	return msg, mqi.MQRC_NONE
}

// findOwn is findLive for a handle that has locked a message.
func (m *Machine) findOwn(now time.Time, fx *Effects, g *getCall, from position) (msg *message) {
	g.handle.withOwn(func() { msg = m.findLive(now, fx, g.handle.queue, &g.want, from) })
	return msg
}

// findLive is the first message behind from that matches and has not expired.
func (m *Machine) findLive(now time.Time, fx *Effects, q *queue, want *matcher, from position) *message {
	for {
		msg := q.find(want, from)
		if msg == nil || !msg.expired(now.UnixMilli()) {
			return msg
		}
		m.expire(now, fx, q, msg)
	}
}

// give answers a get with a message: it goes, or joins the unit of work, or the cursor moves.
func (m *Machine) give(now time.Time, fx *Effects, c *conn, g *getCall, msg *message) {
	h, reason := g.handle, mqi.MQRC_NONE
	browse := g.options&browseOptions != 0
	m.parts = g.parts(m.parts[:0], now, msg)
	parts := m.parts
	unit := !browse && g.underSyncpoint(msg)
	if unit && len(c.unit.entries)+len(parts) > m.limits.maxUncommitted {
		c.fail(fx, g.tag, mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
		return
	}
	res := g.result(now, parts)
	if g.maxLength >= 0 && int(g.maxLength) < res.Length {
		if reason = mqi.MQRC_TRUNCATED_MSG_ACCEPTED; !g.has(mqi.MQGMO_ACCEPT_TRUNCATED_MSG) {
			// Nothing happens to the message or the cursor; the application sees how long it is.
			c.reply(fx, g.tag, mqi.MQRC_TRUNCATED_MSG_FAILED, res)
			return
		}
	}
	if warning := g.moveOn(msg, unit); warning != mqi.MQRC_NONE && reason == mqi.MQRC_NONE {
		reason = warning
	}
	c.reply(fx, g.tag, reason, res)
	if browse {
		m.browsed(now, fx, g, msg)
		return
	}
	if h.has(mqi.MQOO_SAVE_ALL_CONTEXT) {
		h.saved = contextOf(&msg.md)
	}
	if h.locked == msg {
		h.locked = nil
	}
	for _, part := range parts {
		m.hand(now, fx, c, part, unit)
	}
}

// browsed moves the cursor, and the lock with it.
func (m *Machine) browsed(now time.Time, fx *Effects, g *getCall, msg *message) {
	h := g.handle
	h.cursor = msg.position()
	if h.holds(msg) && g.has(mqi.MQGMO_LOCK) {
		return
	}
	m.unlock(now, fx, h)
	if g.has(mqi.MQGMO_LOCK) && msg.available() {
		h.lock(msg)
	}
}

// hand gives a message away: at once, or with the unit of work.
func (m *Machine) hand(now time.Time, fx *Effects, c *conn, msg *message, unit bool) {
	q := msg.queue
	q.got(now, msg)
	if unit {
		m.hold(fx, q, msg)
		c.unit.add(now, msg)
		m.depthFell(now, q)
		return
	}
	m.delivered(now, fx, msg)
	fx.Unit.Sync = fx.Unit.Sync || msg.stored
	m.removeMessage(fx, q, msg)
	m.depthFell(now, q)
}

// result is the message as an application gets it, put together of its parts.
func (g *getCall) result(now time.Time, parts []*message) *GetResult {
	msg := parts[0]
	r := &GetResult{
		MD: msg.descriptor(), Props: msg.props, Head: msg.front(), Body: msg.body, Length: msg.length(),
		ResolvedQName: g.handle.queue.name,
	}
	expiresAt := msg.expiresAt
	for _, part := range parts[1:] {
		r.More = append(r.More, part.body)
		r.Length += part.body.Len
		if part.expiresAt != 0 && (expiresAt == 0 || part.expiresAt < expiresAt) {
			expiresAt = part.expiresAt
		}
	}
	if g.has(mqi.MQGMO_COMPLETE_MSG) && msg.segment() {
		r.MD.MsgFlags &^= segmentFlags
		r.MD.Offset, r.MD.OriginalLength = 0, -1
	}
	r.cut(int(g.maxLength))
	r.MD.Expiry = mqi.MQEI_UNLIMITED
	if expiresAt != 0 {
		r.MD.Expiry = int32(min(max((expiresAt-now.UnixMilli()+99)/100, 1), 1<<31-1))
	}
	return r
}
