package qmgr

import (
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// Request is one call of an application.
type Request interface{ request() }

type (
	// OpenReq is MQOPEN. The reply carries OpenResult.
	OpenReq struct {
		OD      mqi.OD
		Options int32
		// Selection is a selection string; empty for none.
		Selection string
	}
	// CloseReq is MQCLOSE.
	CloseReq struct {
		Handle  uint32
		Options int32
	}
	// PutReq is MQPUT, or with Handle 0 an MQPUT1 to OD. The reply carries PutResult.
	PutReq struct {
		Handle uint32
		OD     mqi.OD
		MD     mqi.MD
		PMO    mqi.PMO
		Props  []mqi.Property
		Body   BodyRef
	}
	// GetReq is MQGET. The reply carries GetResult, possibly after a wait. MD holds the ids to match.
	GetReq struct {
		Handle uint32
		MD     mqi.MD
		GMO    mqi.GMO
	}
	// CommitReq is MQCMIT.
	CommitReq struct{}
	// BackReq is MQBACK.
	BackReq struct{}
	// CancelReq ends a waiting MQGET or MQOPEN of this connection: its reply is 2033 or 2189.
	CancelReq struct{ Tag uint64 }
	// CommandReq is one MQSC command. The reply carries mqsc.Result.
	CommandReq struct{ Command *mqsc.Command }
	// MoveReq is one unit of work of gets and puts. The reply carries MoveResult.
	MoveReq struct {
		From string // local queue
		To   string // object name to put to: the same name, or the clustered alias over it; bind not fixed
		// Max is the number of messages of the unit (1..10000); a message counts when it moves.
		Max int
		// Group is how many messages of a group that is longer than Max may go together, alone in their unit (0..10000); 0 for no more than Max.
		Group int
		// After skips to messages behind this position, the last MoveResult's Next; the zero cursor starts at the head.
		After MoveCursor
		// Until bounds the run: only messages that were there when the run began move (MoveResult.Horizon of the first call).
		Until uint64
		// EvenIfBound also moves messages that were put with bind on open.
		EvenIfBound bool
		// Skip are keys (MsgId + CorrelId + PutDateTime) that moved and came back.
		Skip []MoveKey
		// DryRun plans only: nothing is changed. Where no message could go anywhere,
		// Stopped says why, and Moved still lists what might have moved.
		DryRun bool
	}
	// InstancesReq asks for every instance of cluster queues as this queue
	// manager sees them. With Subscribe a queue that is not known yet is asked
	// for at the full repositories, and its subscription stays in use.
	// The reply carries InstancesResult at once.
	InstancesReq struct {
		Queues    []string
		Since     uint64
		Subscribe bool
	}
)

func (OpenReq) request()      {}
func (CloseReq) request()     {}
func (PutReq) request()       {}
func (GetReq) request()       {}
func (CommitReq) request()    {}
func (BackReq) request()      {}
func (CancelReq) request()    {}
func (CommandReq) request()   {}
func (MoveReq) request()      {}
func (InstancesReq) request() {}

// Reply answers a Call. Result's type depends on the request; nil where there is none.
type Reply struct {
	Conn     ConnID
	Tag      uint64
	CompCode mqi.CompCode
	Reason   mqi.Reason
	Detail   string // a sentence for a person, may be empty
	Result   any    // OpenResult, PutResult, *GetResult, mqsc.Result, *MoveResult, *InstancesResult, *Explanation
}

// OpenResult is what MQOPEN gives back.
type OpenResult struct {
	Handle           uint32
	ResolvedQName    string
	ResolvedQMgrName string
}

// PutResult is what MQPUT gives back in MQMD and MQPMO.
type PutResult struct {
	MsgId            mqi.MsgId
	CorrelId         mqi.MsgId
	PutDateTime      int64
	Priority         int32
	Persistence      int32
	ResolvedQName    string
	ResolvedQMgrName string
	// What became of the fields of groups and segments.
	GroupId                        mqi.MsgId
	MsgSeqNumber, Offset, MsgFlags int32
}

// GetResult is a message: Head, then Body, then More, which the shell puts
// together with Whole. Length is the whole message's even if it was truncated.
type GetResult struct {
	MD            mqi.MD
	Props         []mqi.Property
	Head          []byte // what the queue manager wrote in front of the body: MQDLH, trigger messages, events
	Body          BodyRef
	More          []BodyRef // further segments of a message that was put together
	Length        int
	ResolvedQName string
}

// MoveKey is a message's identity across a move.
type MoveKey struct {
	MsgId, CorrelId mqi.MsgId
	PutDateTime     int64
}

// MoveCursor is a position in a queue's delivery order.
type MoveCursor struct {
	Priority int32
	Seq      uint64
	Valid    bool
}

// Moved is one message that moved.
type Moved struct {
	Key  MoveKey
	QMgr string // where it went
}

// MoveResult reports a unit. Counts are of this unit only.
type MoveResult struct {
	Moved     []Moved
	Addressed int    // put to one queue manager by name
	Bound     int    // bound on open
	Grouped   int    // messages of groups, and segments of messages, that could not go whole
	Poison    int    // over BOTHRESH
	Returned  int    // in Skip
	Stopped   string // why the unit ended early: "", "landed here", "no instance", or a reason code's name
	Reason    mqi.Reason
	Next      MoveCursor
	Horizon   uint64 // highest position in the queue at the start
	// Arrived and Expired count the messages that came to the queue, and that expired
	// on it, since the queue manager started: what else became less was taken.
	Arrived, Expired uint64
	Depth            int // CURDEPTH after the unit
	Uncom            int // uncommitted puts and gets after the unit
	// Held counts the messages that were passed because nobody can have them now: their
	// puts are not committed, or a browser has locked them. Dead are those that expired
	// and are still there, which only a dry run leaves.
	Held, Dead int
	Readers    int  // IPPROCS now, not counting the caller's owner
	More       bool // there are messages after Next
}

// Instance is one instance of a cluster queue, seen from here.
type Instance struct {
	Queue     string
	Cluster   string
	QMgr      string
	QMID      string
	Local     bool
	Type      string // CLUSQT: QLOCAL QALIAS QREMOTE
	Put       bool
	Rank      int
	Prty      int
	ChlRank   int
	ChlPrty   int
	DefBind   string
	Suspended bool
	Channel   string
	Status    mqi.ChannelStatus
	// Usable: the workload algorithm could choose it from here now: put-enabled,
	// not suspended, top rank among all, channel not RETRYING, PAUSED or STOPPED.
	Usable bool
}

// InstancesResult answers InstancesReq.
type InstancesResult struct {
	Revision  uint64 // give it as Since next time
	Unchanged bool   // nothing changed since Since; Instances is nil
	Instances []Instance
	// Known has, per asked queue, whether the repository has answered (true also for "no such queue").
	Known []bool
	// Repository: at least one full repository is reachable, or this queue manager is one.
	Repository bool
}
