package qmgr

import (
	"slices"
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
	ch.reroute, ch.rerouting = nil, true
	defer func() { ch.rerouting = false }()
	for _, b := range list {
		if !m.inTrouble(now, b.key.channel) {
			continue
		}
		left := rerouteStep
		withdrawn := m.cluster.repo.Withdrawn(b.key.channel)
		def, _ := m.senderDefinition(now, b.key.channel)
		gone := def == nil
		for _, msg := range b.all() {
			if !b.waits(msg) {
				continue
			}
			if msg.bind != bindNotFixed || msg.addressed || msg.payload != nil || msg.targetQMgr != "" {
				switch {
				case withdrawn:
					m.strand(now, fx, b.key.queue, msg)
				case gone && msg.payload == nil && msg.targetQMgr != "":
					m.ask(now, fx, msg.targetQMgr) // forgotten by REFRESH CLUSTER; its answer defines the channel again
				}
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

// interruptReroute ends the reallocation of what waits for a channel: STOP
// CHANNEL with MODE(FORCE) or MODE(TERMINATE). What has another way by then keeps it.
func (m *Machine) interruptReroute(b *backlog) {
	ch := &m.cluster.channels
	ch.reroute = slices.DeleteFunc(ch.reroute, func(x *backlog) bool { return x == b })
}

// inTrouble reports whether a cluster sender cannot deliver now, or is gone.
func (m *Machine) inTrouble(now time.Time, name string) bool {
	if name == "" {
		return false
	}
	status := m.senderStatus(name)
	if !reachable(status) {
		return true
	}
	def, _ := m.senderDefinition(now, name)
	return def == nil && status == mqi.MQCHS_INACTIVE
}

// strand ends the wait of a bound message whose channel was withdrawn from the
// cluster: as in MQ it goes to the dead-letter queue, if there is one. A
// command for a repository that is gone has no purpose any more.
func (m *Machine) strand(now time.Time, fx *Effects, q *queue, msg *message) {
	if msg.payload != nil {
		m.removeMessage(fx, q, msg)
		return
	}
	m.takeMessage(fx, q, msg)
	if m.undeliverable(now, fx, msg, mqi.MQFB_BIND_OPEN_CLUSRCVR_DEL, true) == mqi.MQRC_NONE {
		return
	}
	m.putBack(now, fx, q, msg)
}

// reallocate sends one waiting message another way if there is a better one.
func (m *Machine) reallocate(now time.Time, fx *Effects, b *backlog, msg *message) bool {
	q := b.key.queue
	to := m.route(now, fx, routeRequest{Name: msg.targetQ, Bind: bindNotFixed, Deadline: true})
	switch {
	case to.Status == routeTransmit && to.Channel != b.key.channel && to.XmitQ == q:
		msg.channel, msg.targetQ = to.Channel, to.TargetQ
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

// rerouteOrphans looks at what waits for channels after their definitions
// changed: where nothing defines the channel any more another way is looked
// for, where it is defined again it starts.
func (m *Machine) rerouteOrphans(now time.Time, fx *Effects) {
	ch := &m.cluster.channels
	for _, k := range sortedBacklogs(ch.backlogs) {
		b := ch.backlogs[k]
		if k.channel == "" || !b.ready() {
			continue
		}
		if def, _ := m.senderDefinition(now, k.channel); def == nil {
			m.rerouteLater(b)
		} else if ch.senders[k.channel] == nil {
			m.wake(now, fx, k.channel)
		}
	}
}
