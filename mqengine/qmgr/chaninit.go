package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// channelInitQ is the initiation queue that the channel initiator reads. It is
// part of the queue manager here: a trigger event starts the channel, and no
// trigger message is ever seen on the queue.
const channelInitQ = "SYSTEM.CHANNEL.INITQ"

// initiate starts the sender of a transmission queue that triggers: the one that
// TRIGDATA names, or USERDATA of its process, or else one that takes from the
// queue. False: it runs already, which has the queue open, or there is none.
func (m *Machine) initiate(now time.Time, fx *Effects, q *queue, process *object.Object) bool {
	if m.cluster.repo == nil || m.cluster.channels.quiescing {
		return false
	}
	for _, s := range m.cluster.channels.senders {
		if s.queue == q && s.linked() {
			return false
		}
	}
	name := q.attr.trigData
	if name == "" && process != nil {
		name = process.Str("USERDATA")
	}
	if name == "" {
		name = m.senderFrom(q)
	}
	s := m.senderNamed(now, fx, name)
	switch {
	case s == nil:
		logf(fx, "AMQ9519E", "Channel '%s' not found: the transmission queue '%s' triggered it.", name, q.name)
		return false
	case s.machine.Status() != mqi.MQCHS_INACTIVE:
		return false // it is retrying, or a person has stopped it
	}
	m.markDirty(s)
	return true
}

// senderFrom is the first sender channel that takes from a transmission queue.
func (m *Machine) senderFrom(q *queue) string {
	for _, o := range m.objectsOf(object.Sender) {
		if o.Str("XMITQ") == q.name {
			return o.Name
		}
	}
	return ""
}

// initiatePending is what the channel initiator finds when it starts: messages
// on transmission queues that trigger.
func (m *Machine) initiatePending(now time.Time, fx *Effects) {
	m.catalog.findTriggered()
	for _, q := range m.catalog.triggered[channelInitQ] {
		m.triggerClose(now, fx, q)
	}
}
