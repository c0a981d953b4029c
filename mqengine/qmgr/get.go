package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

const (
	browseOptions = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_BROWSE_NEXT | mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR
	syncOptions   = mqi.MQGMO_SYNCPOINT | mqi.MQGMO_NO_SYNCPOINT | mqi.MQGMO_SYNCPOINT_IF_PERSISTENT
	// Browse locks, whole groups and selection come in a later release.
	laterGetOptions = mqi.MQGMO_LOCK | mqi.MQGMO_UNLOCK | mqi.MQGMO_LOGICAL_ORDER | mqi.MQGMO_COMPLETE_MSG |
		mqi.MQGMO_ALL_MSGS_AVAILABLE | mqi.MQGMO_ALL_SEGMENTS_AVAILABLE
	knownGetOptions = browseOptions | syncOptions | laterGetOptions | mqi.MQGMO_WAIT | mqi.MQGMO_ACCEPT_TRUNCATED_MSG |
		mqi.MQGMO_MSG_UNDER_CURSOR | mqi.MQGMO_FAIL_IF_QUIESCING
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
	if reason == mqi.MQRC_NONE {
		reason = checkGet(h, &req.GMO)
	}
	if reason == mqi.MQRC_NONE {
		reason = h.mayGet()
	}
	if reason != mqi.MQRC_NONE {
		c.fail(fx, tag, reason)
		return
	}
	g := getCall{
		tag: tag, handle: h, want: matcherOf(req.GMO.MatchOptions, &req.MD),
		options: req.GMO.Options, maxLength: req.GMO.MaxLength,
	}
	msg, reason := m.choose(now, fx, &g)
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
	case o&laterGetOptions != 0 || gmo.Selection != "":
		return mqi.MQRC_FUNCTION_NOT_SUPPORTED
	case (browse != 0 || o&mqi.MQGMO_MSG_UNDER_CURSOR != 0) && !h.has(mqi.MQOO_BROWSE):
		return mqi.MQRC_NOT_OPEN_FOR_BROWSE
	case browse == 0 && h.input == 0:
		return mqi.MQRC_NOT_OPEN_FOR_INPUT
	case o&mqi.MQGMO_WAIT != 0 && gmo.WaitInterval < mqi.MQWI_UNLIMITED:
		return mqi.MQRC_WAIT_INTERVAL_ERROR
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
	if g.has(mqi.MQGMO_MSG_UNDER_CURSOR | mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR) {
		msg := q.at(h.cursor)
		if msg == nil || !msg.available() || msg.expired(ms) || !g.want.matches(msg) {
			return nil, mqi.MQRC_NO_MSG_UNDER_CURSOR
		}
		return msg, mqi.MQRC_NONE
	}
	from := headOfQueue
	if g.has(mqi.MQGMO_BROWSE_NEXT) && h.cursor.seq != 0 {
		from = h.cursor
	}
	for {
		msg := q.find(&g.want, from)
		if msg == nil {
			return nil, mqi.MQRC_NO_MSG_AVAILABLE
		}
		if !msg.expired(ms) {
			return msg, mqi.MQRC_NONE
		}
		m.removeMessage(fx, q, msg)
	}
}

// give answers a get with a message: it goes, or joins the unit of work, or the cursor moves.
func (m *Machine) give(now time.Time, fx *Effects, c *conn, g *getCall, msg *message) {
	h, q, reason := g.handle, g.handle.queue, mqi.MQRC_NONE
	browse := g.options&browseOptions != 0
	if g.maxLength >= 0 && int(g.maxLength) < msg.length() {
		if reason = mqi.MQRC_TRUNCATED_MSG_ACCEPTED; !g.has(mqi.MQGMO_ACCEPT_TRUNCATED_MSG) {
			// Nothing happens to the message or the cursor; the application sees how long it is.
			c.reply(fx, g.tag, mqi.MQRC_TRUNCATED_MSG_FAILED, g.result(now, msg))
			return
		}
	}
	c.reply(fx, g.tag, reason, g.result(now, msg))
	if browse {
		h.cursor = msg.position()
		return
	}
	if h.has(mqi.MQOO_SAVE_ALL_CONTEXT) {
		h.saved = contextOf(&msg.md)
	}
	q.got(now, msg)
	if g.underSyncpoint(msg) {
		m.hold(fx, q, msg)
		c.unit.add(now, msg)
		return
	}
	fx.Unit.Sync = fx.Unit.Sync || msg.stored
	m.removeMessage(fx, q, msg)
}

// result is the message as an application gets it.
func (g *getCall) result(now time.Time, msg *message) *GetResult {
	r := &GetResult{
		MD: msg.descriptor(), Props: msg.props, Head: msg.front(), Body: msg.body, Length: msg.length(),
		ResolvedQName: g.handle.queue.name,
	}
	r.cut(int(g.maxLength))
	r.MD.Expiry = mqi.MQEI_UNLIMITED
	if msg.expiresAt != 0 {
		r.MD.Expiry = int32(min(max((msg.expiresAt-now.UnixMilli()+99)/100, 1), 1<<31-1))
	}
	return r
}
