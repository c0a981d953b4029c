package qmgr

import "github.com/situationd/situationd/mqengine/mqi"

// ownUse reports whether the queue manager itself works with a queue. In MQ its
// processes have such a queue open, so that nobody deletes it, clears it or
// gives it another use: the repository manager and the channel initiator have
// theirs for as long as the queue manager runs, a sender its transmission queue
// while it does. Here they have no handles.
func (m *Machine) ownUse(q *queue) bool {
	switch q.name {
	case sharedTransmitQ, commandQueue, "SYSTEM.CLUSTER.REPOSITORY.QUEUE", channelInitQ, "SYSTEM.CHANNEL.SYNCQ":
		return true
	}
	for _, s := range m.cluster.channels.senders {
		if s.queue != q {
			continue
		}
		switch s.machine.Status() {
		case mqi.MQCHS_INACTIVE, mqi.MQCHS_STOPPED, mqi.MQCHS_RETRYING:
		default:
			return true
		}
	}
	return false
}
