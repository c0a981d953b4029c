package qmgr

import (
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// failIfQuiescing is the bit of MQOO_, MQPMO_ and MQGMO_FAIL_IF_QUIESCING.
const failIfQuiescing = mqi.MQGMO_FAIL_IF_QUIESCING

// quiesce begins a controlled end: nobody new may connect, and calls that ask to
// fail then do, also those that wait. What goes on without asking has its time.
func (m *Machine) quiesce(now time.Time, fx *Effects) {
	m.quiescing = true
	for _, c := range m.sortedConns() {
		for i := 0; i < len(c.waiters); {
			if w := c.waiters[i]; w.has(failIfQuiescing) {
				m.stopWaiting(w)
				c.fail(fx, w.tag, mqi.MQRC_Q_MGR_QUIESCING)
				continue
			}
			i++
		}
		if p := c.parked; p != nil && failsNow(p.req) {
			m.unpark(p)
			discard(fx, p.req)
			c.fail(fx, p.tag, mqi.MQRC_Q_MGR_QUIESCING)
			m.runQueued(now, fx, c)
		}
	}
}

// failsNow reports whether a call is one that a controlled end lets fail.
func failsNow(req Request) bool {
	switch req := req.(type) {
	case OpenReq:
		return req.Options&failIfQuiescing != 0
	case PutReq:
		return req.PMO.Options&failIfQuiescing != 0
	case GetReq:
		return req.GMO.Options&failIfQuiescing != 0
	case MoveReq:
		return true
	}
	return false
}

// quiesced reports whether nobody has work under way: an open object, a unit of
// work, a call. Who is only connected loses nothing.
func (m *Machine) quiesced() bool {
	for _, c := range m.conns {
		if c.openHandles() > 0 || len(c.unit.entries) > 0 || c.parked != nil {
			return false
		}
	}
	return true
}

// stopConn is STOP CONN: the application loses its connection, and what it did
// not commit is backed out.
func (m *Machine) stopConn(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	name := strings.ToUpper(cmd.Name)
	if ext := param(cmd, "EXTCONN"); ext == "" || strings.EqualFold(ext, m.extConn()) {
		for _, c := range m.conns {
			if c.identifier() == name {
				m.disconnect(now, fx, Disconnect{Conn: c.id, Abrupt: true})
				fx.Stopped = append(fx.Stopped, c.id)
				return done("AMQ8457I")
			}
		}
	}
	return failed("AMQ8147E", cmd.Name)
}
