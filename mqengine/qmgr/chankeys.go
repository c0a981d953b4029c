package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/channel"
)

// refreshes are the REFRESH SECURITY TYPE(SSL) commands that wait until the
// shell has read the key repository.
type refreshes struct {
	last    uint64
	waiting map[uint64]waitingCall
}

// waitingCall is who gets the answer.
type waitingCall struct {
	conn *conn
	tag  uint64
}

// refreshesMax is how many may wait.
const refreshesMax = 100

func (m *Machine) refreshKeys(fx *Effects, c *conn, tag uint64) {
	r := &m.refresh
	folder := m.qmgrObject().Str("SSLKEYR")
	switch {
	case folder == "":
		c.ok(fx, tag, failedText("AMQ9657E", "The queue manager has no key repository: set SSLKEYR to a folder with cert.pem, key.pem and ca.pem."))
		return
	case len(r.waiting) >= refreshesMax:
		c.ok(fx, tag, failedText("AMQ9710E", "Too many REFRESH SECURITY commands are under way."))
		return
	case r.waiting == nil:
		r.waiting = map[uint64]waitingCall{}
	}
	r.last++
	r.waiting[r.last] = waitingCall{c, tag}
	fx.Keys = append(fx.Keys, KeyChange{Folder: folder, Refresh: r.last})
}

// keysRead answers a REFRESH SECURITY. As in MQ channels with TLS connect again,
// so that what is no longer believed ends, after the batches under way:
// senders call again, and so do the partners of receivers.
func (m *Machine) keysRead(now time.Time, fx *Effects, ev KeysRead) {
	w, asked := m.refresh.waiting[ev.Refresh]
	if !asked {
		return // a change of SSLKEYR: links that are up stay
	}
	delete(m.refresh.waiting, ev.Refresh)
	res := done("AMQ8560I")
	if ev.Reason != "" {
		res = failedText("AMQ9657E", "The key repository could not be opened: "+ev.Reason+". Channels go on with what was read before.")
	} else {
		m.renewLinks(now, fx)
	}
	if m.conns[w.conn.id] == w.conn {
		w.conn.ok(fx, w.tag, res)
	}
}

func (m *Machine) renewLinks(now time.Time, fx *Effects) {
	if m.cluster.repo == nil {
		return
	}
	ch := &m.cluster.channels
	for _, name := range sortedStrings(ch.senders) {
		switch s := ch.senders[name]; {
		case s.linked() && s.security != nil:
			m.runSender(now, fx, s, channel.Renew{})
		case !s.linked() && s.def.Str("SSLCIPH") != "":
			m.runSender(now, fx, s, channel.Kick{}) // it may have failed for what is mended now
		}
	}
	for _, k := range sortedReceivers(ch.receivers) {
		if r := ch.receivers[k]; r.security != nil {
			m.runReceiver(now, fx, r, channel.Stop{Keep: true})
		}
	}
}
