package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// routeRequest asks where a message for a cluster name goes.
type routeRequest struct {
	Name string // queue; blank when only the queue manager matters
	QMgr string // queue manager that was named, already through the aliases; blank to choose
	Bind bindType
	// Open: asked by MQOPEN. With bindNotFixed only existence counts, and nothing is chosen.
	Open bool
	// Deadline: the time that an open may wait for the repository is over; routeWait is no answer.
	Deadline bool
	// FromCluster: the message came in over a cluster channel.
	FromCluster bool
	// ExcludeLocal: the local instance is not to be chosen.
	ExcludeLocal bool
	// ForMove: asked by a redistribution.
	ForMove bool
	// Peek: nothing will be put, so the choice must not count for the next one.
	Peek bool
}

// routeStatus says what route found.
type routeStatus uint8

const (
	// routeFailed: Reason says why.
	routeFailed routeStatus = iota
	// routeLocal: Queue is the local queue.
	routeLocal
	// routeTransmit: put to XmitQ with Channel, TargetQ and TargetQMgr.
	routeTransmit
	// routeWait: the full repositories were asked; resumeOpens tells when they answered.
	routeWait
)

// routeResult is route's answer.
type routeResult struct {
	Status      routeStatus
	Queue       *queue // routeLocal
	Channel     string // routeTransmit: the cluster sender; blank on an ordinary transmission queue
	XmitQ       *queue // routeTransmit
	TargetQ     string // queue name at the destination
	TargetQMgr  string // queue manager chosen
	DefBind     bindType
	DefPersist  bool // defaults of the instance, for puts that ask for the queue's
	DefPriority int32
	Reason      mqi.Reason
}

// route resolves a name through the cluster. Without one, a local queue is the only instance.
func (m *Machine) route(_ time.Time, _ *Effects, rq routeRequest) routeResult {
	if rq.QMgr != "" && rq.QMgr != m.name {
		return routeResult{Reason: mqi.MQRC_UNKNOWN_REMOTE_Q_MGR}
	}
	if q := m.localQueue(rq.Name); q != nil && !rq.ExcludeLocal {
		return routeResult{
			Status: routeLocal, Queue: q, TargetQ: q.name, TargetQMgr: m.name, DefBind: q.attr.defBind,
			DefPersist: q.attr.defPersist, DefPriority: q.attr.defPriority,
		}
	}
	return routeResult{Reason: mqi.MQRC_UNKNOWN_OBJECT_NAME}
}

// objectChanged is told of every DEFINE, ALTER and DELETE, also of QMGR. old or new may be nil.
func (m *Machine) objectChanged(now time.Time, fx *Effects, old, new *object.Object) {}

// messageAvailable is told when a message became visible on a queue with USAGE(XMITQ).
func (m *Machine) messageAvailable(now time.Time, fx *Effects, q *queue, msg *message) {}

// clusterCommand carries out the commands of clusters and channels; false: not one of them.
func (m *Machine) clusterCommand(now time.Time, fx *Effects, cmd *mqsc.Command) (mqsc.Result, bool) {
	return mqsc.Result{}, false
}

// channelEvent gets the Link events.
func (m *Machine) channelEvent(now time.Time, fx *Effects, ev Event) {}

// clusterDeadline is when clusterTick must be called at the latest; zero for never.
func (m *Machine) clusterDeadline() time.Time { return time.Time{} }

// clusterTick lets the deadlines of clusters and channels pass.
func (m *Machine) clusterTick(now time.Time, fx *Effects) {}

// clusterRecord takes back a record of the cluster or the channels; false: not one of them.
func (m *Machine) clusterRecord(key string, value []byte) (bool, error) { return false, nil }

// clusterStart runs once at the start, after every object and message is there.
func (m *Machine) clusterStart(now time.Time, fx *Effects) {}

// instances answers InstancesReq.
func (m *Machine) instances(now time.Time, fx *Effects, req InstancesReq) *InstancesResult {
	return &InstancesResult{Known: make([]bool, len(req.Queues))}
}
