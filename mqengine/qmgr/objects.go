package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// addQueue makes a queue object of a definition whose name is free.
func (m *Machine) addQueue(now time.Time, fx *Effects, o *object.Object) *queue {
	q := &queue{name: o.Name, number: m.catalog.number + 1, def: o, attr: attributesOf(o, m.catalog.names)}
	q.events, q.stats.since = q.attr.events, now.UnixMilli()
	m.catalog.add(q)
	m.saveQueue(fx, q)
	m.linkAlias(q)
	q.aliases = m.catalog.aliases[q.name]
	m.touch(fx, q)
	m.objectChanged(now, fx, nil, o)
	return q
}

// saveQueue writes the queue's record; a temporary dynamic queue has none.
func (m *Machine) saveQueue(fx *Effects, q *queue) {
	if !q.attr.temporary || q.def.Kind() == object.QModel {
		saveObject(fx, q.def, q.number)
	}
}

// changeQueue gives a queue a new definition of the same kind.
func (m *Machine) changeQueue(now time.Time, fx *Effects, q *queue, o *object.Object) {
	old, oldAttr := q.def, q.attr
	m.unlinkAlias(q)
	q.def, q.attr = o, attributesOf(o, m.catalog.names)
	m.catalog.triggered = nil
	if q.attr.events != oldAttr.events {
		q.events = q.attr.events
	}
	m.linkAlias(q)
	m.saveQueue(fx, q)
	m.touch(fx, q)
	if !q.attr.get {
		m.refuseWaiters(fx, q, mqi.MQRC_GET_INHIBITED)
	}
	if q.attr.xmit && !oldAttr.xmit {
		defer m.announceAll(now, fx, q)
	}
	m.objectChanged(now, fx, old, o)
}

// announceAll tells the channels of the messages of a queue that became a transmission queue.
func (m *Machine) announceAll(now time.Time, fx *Effects, q *queue) {
	for msg := q.next(headOfQueue); msg != nil; msg = q.next(msg.position()) {
		if msg.available() {
			m.messageAvailable(now, fx, q, msg)
		}
	}
}

// deleteQueue ends a queue with every message on it. Handles that are still open
// on it get 2052 from then on, waiting gets at once.
func (m *Machine) deleteQueue(now time.Time, fx *Effects, q *queue) {
	m.purge(fx, q)
	m.refuseWaiters(fx, q, mqi.MQRC_Q_DELETED)
	q.deleted = true
	m.unlinkAlias(q)
	m.catalog.remove(q)
	if !q.attr.temporary || q.def.Kind() == object.QModel {
		fx.Unit.DeleteRecord(objectKey(q.def))
		fx.Unit.Sync = true
	}
	m.touch(fx, q)
	m.objectChanged(now, fx, q.def, nil)
}

// purge removes every message, also those of units of work, which forget them.
func (m *Machine) purge(fx *Effects, q *queue) {
	for msg := q.next(headOfQueue); msg != nil; msg = q.next(headOfQueue) {
		fx.Unit.Sync = fx.Unit.Sync || msg.stored
		m.removeMessage(fx, q, msg)
	}
}

// linkAlias makes the base of a clustered alias know it, for their samples.
func (m *Machine) linkAlias(q *queue) {
	if q.def.Kind() == object.QAlias && q.attr.clustered() {
		m.setAliases(q.attr.target, append(m.catalog.aliases[q.attr.target], q))
	}
}

func (m *Machine) unlinkAlias(q *queue) {
	if q.def.Kind() == object.QAlias {
		m.setAliases(q.attr.target, without(m.catalog.aliases[q.attr.target], q))
	}
}

func (m *Machine) setAliases(target string, aliases []*queue) {
	if len(aliases) == 0 {
		delete(m.catalog.aliases, target)
		aliases = nil
	} else {
		m.catalog.aliases[target] = aliases
	}
	if base := m.localQueue(target); base != nil {
		base.aliases = aliases
	}
}

// setOther puts an object that is no queue in force.
func (m *Machine) setOther(now time.Time, fx *Effects, o *object.Object) {
	s := spaceOf(o.Kind())
	old := m.catalog.others[s][o.Name]
	m.catalog.others[s][o.Name] = o
	saveObject(fx, o, 0)
	if s == spaceNamelist {
		m.namelistChanged(fx, o.Name)
	}
	m.objectChanged(now, fx, old, o)
}

// deleteOther ends an object that is no queue.
func (m *Machine) deleteOther(now time.Time, fx *Effects, o *object.Object) {
	s := spaceOf(o.Kind())
	delete(m.catalog.others[s], o.Name)
	fx.Unit.DeleteRecord(objectKey(o))
	fx.Unit.Sync = true
	if s == spaceNamelist {
		m.namelistChanged(fx, o.Name)
	}
	m.objectChanged(now, fx, o, nil)
}

// namelistChanged: queues shared in the clusters of a namelist follow it.
func (m *Machine) namelistChanged(fx *Effects, name string) {
	for _, q := range m.catalog.sortedQueues() {
		if q.attr.public.ClusNL == name {
			m.unlinkAlias(q)
			q.attr = attributesOf(q.def, m.catalog.names)
			m.linkAlias(q)
			m.touch(fx, q)
		}
	}
}

// changeQMgr puts a new definition of the queue manager in force.
func (m *Machine) changeQMgr(now time.Time, fx *Effects, o *object.Object) {
	old, monitored := m.catalog.qmgr, m.limits.monQ
	m.setQMgr(o)
	saveObject(fx, o, 0)
	if folder := o.Str("SSLKEYR"); folder != old.Str("SSLKEYR") {
		fx.Keys = append(fx.Keys, KeyChange{Folder: folder})
	}
	if m.limits.monQ != monitored {
		for _, q := range m.catalog.sortedQueues() {
			m.touch(fx, q)
		}
	}
	m.objectChanged(now, fx, old, o)
}
