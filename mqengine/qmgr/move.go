package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// Bounds of one MoveReq.
const (
	maxMoveUnit = 10_000
	// moveScan is how many messages one unit looks at: a queue full of messages
	// that must stay is passed in several units, and puts are served in between.
	moveScan = 4096
)

// Why a move stopped, in MoveResult.Stopped, besides reason codes' names.
const (
	stoppedLanded     = "landed here"
	stoppedNoInstance = "no instance"
)

// move is one unit of a redistribution under way. First everything is planned,
// then carried out in the same step: nothing can come between.
type move struct {
	req    *MoveReq
	from   *queue
	skip   map[MoveKey]struct{}
	res    *MoveResult
	stayed stayed
	plan   []planned
	budget int
	// families are the groups met by this unit, by how that ended.
	families map[mqi.MsgId]familyFate
}

// planned is one message and where it goes.
type planned struct {
	msg *message
	to  *routeResult
	// together is how many messages, from this one on, go together or not at all; 0 inside a group.
	together int
	// before is the place in front of it, or of the member that its group was met
	// at; stayed is what the unit had counted by then.
	before MoveCursor
	stayed stayed
}

// stayed counts the messages that may not move.
type stayed struct{ addressed, bound, grouped, poison, returned int }

func (m *Machine) moveCall(now time.Time, fx *Effects, c *conn, tag uint64, req *MoveReq) {
	if req.Max < 1 || req.Max > maxMoveUnit || req.Group < 0 || req.Group > maxMoveUnit {
		c.fail(fx, tag, mqi.MQRC_OPTIONS_ERROR)
		return
	}
	from := m.localQueue(req.From)
	if from == nil {
		c.fail(fx, tag, mqi.MQRC_UNKNOWN_OBJECT_NAME)
		return
	}
	v := &move{req: req, from: from, res: &MoveResult{Horizon: req.Until}, budget: moveScan}
	if req.Until == 0 {
		v.res.Horizon = m.seq
	}
	if !from.attr.get {
		v.stop(mqi.MQRC_GET_INHIBITED)
	}
	if from.attr.get || req.DryRun {
		m.runMove(now, fx, v)
	}
	m.finishMove(v, c)
	c.ok(fx, tag, v.res)
}

// stop ends the unit where it is.
func (v *move) stop(reason mqi.Reason) {
	v.res.Reason, v.res.Stopped = reason, reason.String()
	switch reason {
	case mqi.MQRC_CLUSTER_PUT_INHIBITED, mqi.MQRC_NO_DESTINATIONS_AVAILABLE, mqi.MQRC_UNKNOWN_OBJECT_NAME,
		mqi.MQRC_CLUSTER_RESOLUTION_ERROR, mqi.MQRC_PUT_INHIBITED:
		v.res.Stopped = stoppedNoInstance
	default:
	}
}

func (m *Machine) runMove(now time.Time, fx *Effects, v *move) {
	if len(v.req.Skip) > 0 {
		v.skip = make(map[MoveKey]struct{}, len(v.req.Skip))
		for _, k := range v.req.Skip {
			v.skip[k] = struct{}{}
		}
	}
	at := headOfQueue
	if v.req.After.Valid {
		at = position{int(min(max(v.req.After.Priority, 0), maxPriority)), v.req.After.Seq}
	}
	v.res.Next = v.req.After
	if q := m.catalog.queues[v.name()]; q != nil && !q.attr.clustered() {
		v.stop(mqi.MQRC_UNKNOWN_OBJECT_NAME)
		return
	}
	at = m.planMove(now, fx, v, at)
	if v.res.Stopped == stoppedLanded && !v.req.DryRun {
		return // the whole unit is backed out: nothing was looked at
	}
	v.res.Next = MoveCursor{Priority: int32(at.lane), Seq: at.seq, Valid: at != headOfQueue}
	m.carryOut(now, fx, v)
	r, n := v.res, v.stayed
	r.Addressed, r.Bound, r.Grouped, r.Poison, r.Returned = n.addressed, n.bound, n.grouped, n.poison, n.returned
}

// name is what the cluster is asked for.
func (v *move) name() string {
	if v.req.To == "" {
		return v.from.name
	}
	return v.req.To
}

// planMove walks the queue from at and decides for each message; it gives the
// place of the last one that it decided about.
func (m *Machine) planMove(now time.Time, fx *Effects, v *move, at position) position {
	ms := now.UnixMilli()
	for v.budget > 0 && len(v.plan) < v.req.Max {
		msg := v.from.nextUntil(at, v.res.Horizon)
		if msg == nil {
			break
		}
		v.budget--
		switch {
		case !msg.available():
			if msg.state == msgPut || msg.state == msgLocked {
				v.res.Held++
			}
		case msg.expired(ms):
			if v.req.DryRun {
				v.res.Dead++
			} else {
				m.expire(now, fx, v.from, msg)
			}
		default:
			group := v.eligible(msg, ms)
			if len(group) == 0 {
				break
			}
			if len(v.plan)+len(group) > v.req.Max && len(v.plan) > 0 {
				// A group goes whole: with the next unit.
				return at
			}
			if !m.routeMove(now, fx, v, msg, group) {
				return at
			}
		}
		at = msg.position()
	}
	return at
}

// eligible gives the messages that move together with msg: itself, its whole
// group, or none, and counts why not.
func (v *move) eligible(msg *message, ms int64) []*message {
	switch {
	case msg.addressed:
		v.stayed.addressed++
	case msg.bind == bindOnOpen && !v.req.EvenIfBound:
		v.stayed.bound++
	case v.poison(msg):
		v.stayed.poison++
	case v.came(msg):
		v.stayed.returned++
	case msg.grouped() || msg.segment():
		return v.family(msg, ms)
	default:
		return []*message{msg}
	}
	return nil
}

// poison reports whether applications backed the message out so often that they
// are to give up on it: as they do, at BOTHRESH and above.
func (v *move) poison(msg *message) bool {
	limit := v.from.attr.boThresh
	return limit > 0 && msg.md.BackoutCount >= limit
}

func (v *move) came(msg *message) bool {
	_, came := v.skip[keyOf(msg)]
	return came
}

func keyOf(msg *message) MoveKey {
	return MoveKey{MsgId: msg.md.MsgId, CorrelId: msg.md.CorrelId, PutDateTime: msg.md.PutDateTime}
}

// routeMove chooses where messages go together that were met at one of them;
// false ends the unit.
func (m *Machine) routeMove(now time.Time, fx *Effects, v *move, met *message, group []*message) bool {
	to := m.route(now, fx, routeRequest{Name: v.name(), Bind: bindNotFixed, Peek: v.req.DryRun, Deadline: true})
	if to.Status != routeTransmit {
		v.astray(&to)
		if !v.req.DryRun {
			return false
		}
	}
	together := len(group)
	for _, msg := range group {
		v.plan = append(v.plan, planned{msg, &to, together, cursorBefore(met), v.stayed})
		together = 0
	}
	v.decided(met, familyPlanned)
	return true
}

// astray stops the unit: no message can go away from here.
func (v *move) astray(to *routeResult) {
	switch to.Status {
	case routeLocal:
		v.res.Stopped = stoppedLanded
	case routeWait:
		v.stop(mqi.MQRC_CLUSTER_RESOLUTION_ERROR)
	default:
		v.stop(to.Reason)
	}
}

// carryOut moves what is planned: only headers are written, bodies stay where they are.
func (m *Machine) carryOut(now time.Time, fx *Effects, v *move) {
	for i, p := range v.plan {
		msg := p.msg
		if v.req.DryRun {
			v.res.Moved = append(v.res.Moved, Moved{Key: keyOf(msg), QMgr: p.to.TargetQMgr})
			continue
		}
		reason := m.admitsAll(v.plan[i:][:p.together])
		if reason == mqi.MQRC_NONE {
			m.takeMessage(fx, v.from, msg)
			m.depthFell(now, v.from)
			msg.rebind(p.to)
			reason = m.putMessage(now, fx, nil, p.to.XmitQ, msg)
		}
		if reason != mqi.MQRC_NONE {
			v.stop(reason)
			v.res.Next, v.stayed = p.before, p.stayed
			return
		}
		v.res.Moved = append(v.res.Moved, Moved{Key: keyOf(msg), QMgr: p.to.TargetQMgr})
	}
}

// admitsAll checks whether the transmission queue takes all of a group.
func (m *Machine) admitsAll(group []planned) mqi.Reason {
	size := int64(0)
	for _, p := range group {
		size += int64(p.msg.length())
	}
	for _, p := range group {
		if reason := m.admits(p.to.XmitQ, p.msg); reason != mqi.MQRC_NONE {
			return reason
		}
		switch q := p.to.XmitQ; {
		case q.depth+len(group) > q.attr.maxDepth:
			return mqi.MQRC_Q_FULL
		case q.bytes+size > q.attr.maxBytes:
			return mqi.MQRC_Q_SPACE_NOT_AVAILABLE
		}
	}
	return mqi.MQRC_NONE
}

// rebind addresses a message that moves. It is not fixed from now on, so that it
// is resolved again where it arrives; a group stays together and names its
// queue manager.
func (msg *message) rebind(to *routeResult) {
	if msg.grouped() || msg.segment() {
		msg.bind = bindOnGroup
	} else {
		msg.bind = bindNotFixed
	}
	msg.address(to, msg.bind)
}

// cursorBefore is the place just before a message.
func cursorBefore(msg *message) MoveCursor {
	return MoveCursor{Priority: int32(msg.lane), Seq: msg.seq - 1, Valid: true}
}

// finishMove reports the queue as the unit leaves it.
func (m *Machine) finishMove(v *move, c *conn) {
	q, r := v.from, v.res
	r.Depth, r.Uncom = q.depth, q.uncommitted
	for _, x := range q.readers {
		if x.Owner == "" || x.Owner != c.appl.Owner {
			r.Readers++
		}
	}
	at := headOfQueue
	if r.Next.Valid {
		at = position{int(r.Next.Priority), r.Next.Seq}
	}
	r.More = q.nextUntil(at, r.Horizon) != nil
	r.Arrived, r.Expired = q.arrived, q.expired
}
