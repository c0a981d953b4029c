package workload

import "github.com/situationd/situationd/mqengine/mqi"

// Order selects the order of evaluation.
type Order int

// The two orders (reference: "The cluster workload management algorithm").
const (
	Modern Order = iota // MQ 8.0 and later: rank, PUT, local preference, ...
	V6                  // 6.0 to 7.5: put-disabled out first, local preference before rank
)

// Status is a channel's state as the algorithm groups it.
type Status = mqi.ChannelStatus

// Candidate is one instance of a cluster queue together with the route to it.
// All values are those in force at the choosing queue manager.
type Candidate struct {
	QMgr, QMID string
	Cluster    string
	Channel    string // the CLUSRCVR's name; for the local instance a pseudo channel
	Local      bool
	Alias      bool // a queue-manager alias candidate (queue rank and PUT do not apply)
	Put        bool // PUT(ENABLED)
	Suspended  bool
	Status     Status
	NetPrty    int
	ChlRank    int // channel CLWLRANK
	ChlPrty    int
	ChlWght    int // 1..99
	QRank      int // queue CLWLRANK
	QPrty      int
	Factor     int64  // destination sequence factor
	Seq        uint64 // destination sequence number
}

// Request is what the choice depends on besides the candidates.
type Request struct {
	Order Order
	// UseAny is CLWLUSEQ(ANY) in force: the queue's, or the queue manager's if the queue says QMGR.
	UseAny bool
	// FromCluster: the message came in over a cluster channel, so a local instance is taken.
	FromCluster bool
	MRUC        int // CLWLMRUC; 0 for no limit
}
