package mqengine

import (
	"context"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// Handle is an open object of one connection.
type Handle = uint32

// Message is a message with its body, as MQGET gives it and MQPUT takes it.
type Message struct {
	MD    mqi.MD
	Props []mqi.Property
	Body  []byte
	// Length is the whole length of a message that was truncated.
	Length int
}

// Conn is a local application's connection: the same interface in this process
// and over qm.sock. It is safe for concurrent use; calls are carried out in the
// order in which they were made, and several may be outstanding. Errors are
// *mqi.Error; a lost queue manager gives 2009 from then on. A cancelled context
// ends a waiting call (CancelReq) and gives ctx's error.
type Conn interface {
	Open(ctx context.Context, od mqi.OD, options int32) (Handle, qmgr.OpenResult, error)
	Close(ctx context.Context, h Handle, options int32) error
	// Put and Put1: a message that was put with a warning comes with an *mqi.Error of MQCC_WARNING.
	Put(ctx context.Context, h Handle, msg *Message, pmo mqi.PMO) (qmgr.PutResult, error)
	Put1(ctx context.Context, od mqi.OD, msg *Message, pmo mqi.PMO) (qmgr.PutResult, error)
	// Get: md holds the ids to match; a truncated message comes with an *mqi.Error of MQCC_WARNING.
	Get(ctx context.Context, h Handle, md mqi.MD, gmo mqi.GMO) (*Message, error)
	Commit(ctx context.Context) error
	Back(ctx context.Context) error
	Command(ctx context.Context, cmd *mqsc.Command) (mqsc.Result, error)
	Move(ctx context.Context, req qmgr.MoveReq) (*qmgr.MoveResult, error)
	Instances(ctx context.Context, req qmgr.InstancesReq) (*qmgr.InstancesResult, error)
	// Explain tells where a message for a queue would go now, and why; nothing is put or counted.
	Explain(ctx context.Context, req qmgr.ExplainReq) (*qmgr.Explanation, error)
	// Sample gives the status of every local queue that changed after revision
	// since (0 for all), from counters read without the actor.
	Sample(ctx context.Context, since uint64) (*Sample, error)
	// Watch gives changes as they happen; slow readers see them merged per queue,
	// never miss that there was one. The channel closes with the connection or ctx.
	Watch(ctx context.Context) (<-chan Change, error)
	// QMgr is the name and QMID of the queue manager.
	QMgr() (name, qmid string)
	// Disconnect is MQDISC: it commits, closes and waits.
	Disconnect(ctx context.Context) error
}

// Sample is a snapshot of local queues.
type Sample struct {
	Revision uint64 // give it as since next time
	Full     bool   // all queues are in it; those not named are gone
	Started  int64  // when the queue manager started, Unix ms: a changed value is a restart
	Queues   []QueueStatus
	Deleted  []string // since the asked revision
}

// QueueStatus is what QSTATUS and the definition say of one local queue (or a
// clustered alias, with the counts of its base).
type QueueStatus struct {
	Name       string
	Type       string // QLOCAL, QALIAS
	Base       string // alias: TARGET
	Attributes *qmgr.QueueAttributes
	qmgr.QueueCounts
}

// ChangeKind says what a Change tells of.
type ChangeKind byte

// The kinds of Change. They may come combined as bits.
const (
	ReadersChanged ChangeKind = 1 << iota
	AttributesChanged
	DepthHigh      // CURDEPTH passed QDEPTHHI, or the queue is full
	DepthLow       // CURDEPTH came down to QDEPTHLO
	ClusterChanged // an instance somewhere changed; Queue is blank
)

// Change is one event of a watch.
type Change struct {
	Queue string
	Kind  ChangeKind
}
