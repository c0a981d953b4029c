package qmgr

import (
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// trigType is TRIGTYPE of a queue with TRIGGER; trigNone for every other.
type trigType uint8

const (
	trigNone trigType = iota
	trigFirst
	trigEvery
	trigDepth
)

// triggerAttributes are what a definition says of triggering.
type triggerAttributes struct {
	trigger     trigType
	trigDepth   int
	trigMinPrty int
	initQ       string
	process     string
	trigData    string
}

func triggering(o *object.Object) triggerAttributes {
	t := triggerAttributes{
		trigDepth: o.Int("TRIGDPTH"), trigMinPrty: o.Int("TRIGMPRI"),
		initQ: o.Str("INITQ"), process: o.Str("PROCESS"), trigData: o.Str("TRIGDATA"),
	}
	if o.Flag("TRIGGER") {
		t.trigger = trigType(1 + slices.Index([]string{"FIRST", "EVERY", "DEPTH"}, o.Str("TRIGTYPE")))
	}
	return t
}

// triggerArrival decides whether the arrival of a message is a trigger event.
func (m *Machine) triggerArrival(now time.Time, fx *Effects, q *queue, msg *message) {
	a := q.attr
	if int(msg.lane) < a.trigMinPrty || msg.md.Format == mqi.MQFMT_TRIGGER && msg.md.PutApplType == applTypeQMgr {
		return // trigger messages start no chain
	}
	switch a.trigger {
	case trigEvery:
		m.trigger(now, fx, q)
	case trigFirst:
		again := q.triggered != 0 && now.UnixMilli()-q.triggered >= int64(m.limits.trigInt)
		if q.inputs == 0 && (again || !q.moreThan(1, a.trigMinPrty)) {
			m.trigger(now, fx, q)
		}
	case trigDepth:
		if q.inputs == 0 && q.liveFrom(a.trigMinPrty) >= a.trigDepth {
			m.trigger(now, fx, q)
		}
	case trigNone:
	}
}

// triggerClose: the last reader of a queue is gone, and there still is work.
func (m *Machine) triggerClose(now time.Time, fx *Effects, q *queue) {
	if q.inputs > 0 || q.deleted {
		return
	}
	switch q.attr.trigger {
	case trigFirst:
		if q.moreThan(0, q.attr.trigMinPrty) {
			m.trigger(now, fx, q)
		}
	case trigDepth:
		if q.liveFrom(q.attr.trigMinPrty) >= q.attr.trigDepth {
			m.trigger(now, fx, q)
		}
	case trigEvery, trigNone:
	}
}

// triggerPending: a trigger monitor opened an initiation queue. Queues that
// waited for it trigger now.
func (m *Machine) triggerPending(now time.Time, fx *Effects, initQ *queue) {
	if m.catalog.triggered == nil {
		m.catalog.findTriggered()
	}
	for _, q := range m.catalog.triggered[initQ.name] {
		m.triggerClose(now, fx, q)
	}
}

// findTriggered lists the queues with triggering by their initiation queue.
func (k *catalog) findTriggered() {
	k.triggered = map[string][]*queue{}
	for _, q := range k.sortedQueues() {
		if q.def.Kind() == object.QLocal && q.attr.trigger != trigNone && q.attr.initQ != "" {
			k.triggered[q.attr.initQ] = append(k.triggered[q.attr.initQ], q)
		}
	}
}

// moreThan reports whether more than n messages of that priority or above are available.
func (q *queue) moreThan(n, priority int) bool {
	for msg := q.next(headOfQueue); msg != nil && int(msg.lane) >= priority; msg = q.next(msg.position()) {
		if msg.available() {
			if n--; n < 0 {
				return true
			}
		}
	}
	return false
}

// liveFrom is the number of messages of that priority or above, uncommitted ones included.
func (q *queue) liveFrom(priority int) int {
	n := 0
	for lane := priority; q.lanes != nil && lane <= maxPriority; lane++ {
		n += q.lanes[lane].live
	}
	return n
}

// trigger makes the trigger message, if somebody reads the initiation queue.
func (m *Machine) trigger(now time.Time, fx *Effects, q *queue) {
	initQ := m.localBase(q.attr.initQ)
	if q.attr.initQ == "" || initQ == nil || !initQ.attr.get || !initQ.attr.put || initQ.attr.xmit {
		return
	}
	initiator := initQ.name == channelInitQ && q.attr.xmit
	if initQ.inputs == 0 && !initiator {
		return
	}
	var process *object.Object
	if name := q.attr.process; name != "" {
		if process = m.catalog.others[spaceProcess][name]; process == nil {
			return
		}
	}
	if initiator && !m.initiate(now, fx, q, process) {
		return
	}
	q.triggered = now.UnixMilli()
	if !initiator && !m.sendTrigger(now, q, process) {
		return
	}
	if q.attr.trigger == trigDepth {
		// As in MQ: the program that was started turns it on again.
		o := q.def.Clone()
		if err := o.Set("NOTRIGGER"); err != nil {
			panic(err)
		}
		m.changeQueue(now, fx, q, o)
	}
}

// sendTrigger puts the trigger message; false if there is no room for it.
func (m *Machine) sendTrigger(now time.Time, q *queue, process *object.Object) bool {
	if !m.roomToMake() {
		return false
	}
	msg := m.ownMessage(now, mqi.MQFMT_TRIGGER)
	msg.md.Persistence = mqi.MQPER_NOT_PERSISTENT
	msg.head = triggerMessage(q, process)
	m.putLater(made{msg: msg, q: q.attr.initQ, qmgr: m.name, letter: true})
	return true
}

// applTypes are the numbers (MQAT_*) of APPLTYPE.
var applTypes = map[string]int32{
	"CICS": 1, "MVS": 2, "IMS": 3, "OS390": 2, "DOS": 5, "UNIX": 6, "OS400": 8, "WINDOWS": 9, "WINDOWSNT": 11,
	"OPENVMS": 12, "DEF": 6, "USER": 25, "NOTESAGENT": 22,
}

// triggerMessage is an MQTM: what to start, and for which queue.
func triggerMessage(q *queue, process *object.Object) []byte {
	b := make([]byte, 0, 684)
	b = append(b, "TM  "...)
	b = appendLong(b, 1)
	b = appendField(b, q.name, 48)
	b = appendField(b, q.attr.process, 48)
	b = appendField(b, q.attr.trigData, 64)
	var applType int32
	var program, environment, user string
	if process != nil {
		applType = applTypes[process.Str("APPLTYPE")]
		program, environment, user = process.Str("APPLICID"), process.Str("ENVRDATA"), process.Str("USERDATA")
	}
	b = appendLong(b, applType)
	b = appendField(b, program, 256)
	b = appendField(b, environment, 128)
	return appendField(b, user, 128)
}
