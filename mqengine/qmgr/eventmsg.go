package qmgr

import (
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// Queues that event messages go to.
const (
	qmgrEventQ  = "SYSTEM.ADMIN.QMGR.EVENT"
	perfmEventQ = "SYSTEM.ADMIN.PERFM.EVENT"
)

// Commands (MQCMD_*) and reasons of events.
const (
	cmdQMgrEvent  int32 = 44
	cmdPerfmEvent int32 = 45

	reasonDepthHigh mqi.Reason = 2224
	reasonDepthLow  mqi.Reason = 2225
)

// depthEvents are the switches of a queue's depth events. The definition sets
// them; an event turns itself off and its counterpart on.
type depthEvents struct{ high, low, full bool }

func depthEventsOf(o *object.Object) depthEvents {
	on := func(keyword string) bool { return o.Str(keyword) == "ENABLED" }
	return depthEvents{high: on("QDPHIEV"), low: on("QDPLOEV"), full: on("QDPMAXEV")}
}

// perfmStats are what performance events tell of a queue since the last one.
type perfmStats struct {
	since      int64 // Unix milliseconds
	high       int   // greatest depth
	put, taken int   // messages
}

// depthRose follows a put: it may be time for a depth-high event.
func (m *Machine) depthRose(now time.Time, q *queue) {
	q.stats.put++
	q.stats.high = max(q.stats.high, q.depth)
	if q.events.high && m.limits.perfmEvents && q.depth >= q.attr.percent(q.attr.public.QDepthHi) {
		q.events.high, q.events.low = false, true
		m.perfmEvent(now, q, reasonDepthHigh)
	}
}

// depthFell follows a get.
func (m *Machine) depthFell(now time.Time, q *queue) {
	q.stats.taken++
	if q.events.low && m.limits.perfmEvents && q.depth <= q.attr.percent(q.attr.public.QDepthLo) {
		q.events.low, q.events.high, q.events.full = false, true, true
		m.perfmEvent(now, q, reasonDepthLow)
	}
}

// queueFull follows a put that failed with 2053.
func (m *Machine) queueFull(now time.Time, q *queue) {
	if q.events.full && m.limits.perfmEvents {
		q.events.full, q.events.low = false, true
		m.perfmEvent(now, q, mqi.MQRC_Q_FULL)
	}
}

// percent is a part of MAXDEPTH.
func (a *queueAttr) percent(n int) int { return a.maxDepth/100*n + a.maxDepth%100*n/100 }

// perfmEvent makes a performance event message. Event queues have none themselves.
func (m *Machine) perfmEvent(now time.Time, q *queue, reason mqi.Reason) {
	if isEventQueue(q.name) {
		return
	}
	s := &q.stats
	if s.since == 0 {
		s.since = m.cfg.StartTime.UnixMilli()
	}
	e := newPCF(cmdPerfmEvent, reason)
	e.text(pcfQMgrName, m.name, 48)
	e.text(pcfBaseObjectName, q.name, 48)
	e.number(pcfTimeSinceReset, max(now.UnixMilli()-s.since, 0)/1000)
	e.number(pcfHighDepth, int64(s.high))
	e.number(pcfEnqueued, int64(s.put))
	e.number(pcfDequeued, int64(s.taken))
	m.event(now, perfmEventQ, e)
	*s = perfmStats{since: now.UnixMilli(), high: q.depth}
}

func isEventQueue(name string) bool {
	return strings.HasPrefix(name, "SYSTEM.ADMIN.") && strings.HasSuffix(name, ".EVENT")
}

// inhibited makes the event of a put that failed with 2051.
func (m *Machine) inhibited(now time.Time, d *destination, c *conn, to *routeResult) {
	name := d.name
	for _, q := range d.path {
		if q != nil && !q.attr.put {
			name = q.name
			break
		}
	}
	if to.Queue != nil && !to.Queue.attr.put {
		name = to.Queue.name
	}
	m.inhibitEvent(now, c, mqi.MQRC_PUT_INHIBITED, name)
}

// inhibitEvent makes a put-inhibited or get-inhibited event.
func (m *Machine) inhibitEvent(now time.Time, c *conn, reason mqi.Reason, name string) {
	if !m.limits.inhibitEvents || isEventQueue(name) {
		return
	}
	e := newPCF(cmdQMgrEvent, reason)
	e.text(pcfQMgrName, m.name, 48)
	e.text(pcfQName, name, 48)
	e.number(pcfApplType, int64(applTypeUnix))
	e.text(pcfApplName, c.applName(), maxPutApplName)
	m.event(now, qmgrEventQ, e)
}

func (m *Machine) event(now time.Time, queue string, e *pcf) {
	if !m.roomToMake() {
		return
	}
	msg := m.ownMessage(now, mqi.MQFMT_EVENT)
	msg.head = e.bytes()
	m.putLater(made{msg: msg, q: queue, qmgr: m.name})
}
