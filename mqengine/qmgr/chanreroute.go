package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// rerouteStep is how many messages one round of a Step sends another way.
const rerouteStep = 500

// rerouteLater asks, for the end of this Step, to look for other ways for what waits.
func (m *Machine) rerouteLater(b *backlog) {
	m.cluster.channels.reroute = append(m.cluster.channels.reroute, b)
	m.cluster.later()
}

// reallocateSome runs the messages that wait for a channel which failed just
// now through the workload algorithm again: those that are not bound and not
// in doubt. As in MQ this happens at the moment of the failure, and when the
// channel is gone.
func (m *Machine) reallocateSome(now time.Time, fx *Effects) {
	ch := &m.cluster.channels
	list := ch.reroute
	ch.reroute = nil
	for _, b := range list {
		if !m.inTrouble(now, b.key.channel) {
			continue
		}
		left := rerouteStep
		for _, msg := range b.all() {
			if !b.waits(msg) || msg.bind != bindNotFixed || msg.addressed || msg.payload != nil || msg.targetQMgr != "" {
				continue
			}
			if left == 0 {
				m.rerouteLater(b)
				break
			}
			if m.reallocate(now, fx, b, msg) {
				left--
			}
		}
	}
}

// inTrouble reports whether a cluster sender cannot deliver now, or is gone.
func (m *Machine) inTrouble(now time.Time, name string) bool {
	if name == "" {
		return false
	}
	if s := m.cluster.channels.senders[name]; s != nil {
		return !reachable(s.machine.Status())
	}
	def, _ := m.senderDefinition(now, name)
	return def == nil
}

// reallocate sends one waiting message another way if there is a better one.
func (m *Machine) reallocate(now time.Time, fx *Effects, b *backlog, msg *message) bool {
	q := b.key.queue
	to := m.route(now, fx, routeRequest{Name: msg.targetQ, Bind: bindNotFixed, Deadline: true})
	switch {
	case to.Status == routeTransmit && to.Channel != b.key.channel && to.XmitQ == q:
		msg.channel = to.Channel
		m.rewriteMessage(fx, q, msg)
		m.messageAvailable(now, fx, q, msg)
		return true
	case to.Status == routeLocal && m.admits(to.Queue, msg) == mqi.MQRC_NONE:
		m.takeMessage(fx, q, msg)
		msg.targetQ, msg.targetQMgr, msg.channel = "", "", ""
		return m.putMessage(now, fx, nil, to.Queue, msg) == mqi.MQRC_NONE // admitted just now
	}
	return false
}

// rerouteOrphans looks at what waits for channels that nothing defines any more.
func (m *Machine) rerouteOrphans() {
	ch := &m.cluster.channels
	for _, k := range sortedBacklogs(ch.backlogs) {
		if b := ch.backlogs[k]; k.channel != "" && ch.senders[k.channel] == nil && b.ready() {
			m.rerouteLater(b)
		}
	}
}
