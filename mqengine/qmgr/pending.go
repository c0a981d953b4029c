package qmgr

import "github.com/situationd/situationd/mqengine/mqi"

// defaultMaxPending is how many bytes of messages may be put under syncpoint and
// not committed, by all applications together: they are in memory until then.
const defaultMaxPending = 1 << 30

// pending are bytes of messages that were put under syncpoint and not committed.
type pending struct {
	all  int64
	disk int64 // of those which the commit writes
}

func (p *pending) add(q pending)  { p.all, p.disk = p.all+q.all, p.disk+q.disk }
func (p *pending) take(q pending) { p.all, p.disk = p.all-q.all, p.disk-q.disk }

// pends is what a message adds. One that only moves has its body in the store already.
func (msg *message) pends() pending {
	if msg.payload != nil || msg.bodyStored {
		return pending{}
	}
	p := pending{all: int64(msg.body.Len)}
	if msg.persistent() {
		p.disk = p.all
	}
	return p
}

// holds checks that what would be uncommitted with a message fits into memory,
// and its commit onto the disk: a commit that fails there would end the queue
// manager, and this put can still be refused. What is written is in the log and
// then in tables, so it takes its size twice.
func (m *Machine) holds(p pending) mqi.Reason {
	p.add(m.pending)
	switch {
	case p.all > m.cfg.MaxPending:
		return mqi.MQRC_RESOURCE_PROBLEM
	case m.spaceRoom > 0 && p.disk > m.spaceRoom/2:
		return mqi.MQRC_Q_SPACE_NOT_AVAILABLE
	}
	return mqi.MQRC_NONE
}
