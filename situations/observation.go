package situations

import "time"

// Observation is one sample of one queue manager: the same snapshot feeds every
// situation of a tick. It is immutable once handed on.
type Observation struct {
	QMgr string
	QMID string
	At   time.Time
	// Err: the sample failed. Rows is then empty and every item is unknown.
	Err error
	// Started is when the queue manager started, zero if unknown; a change is a restart.
	Started time.Time
	// Connected is when this connection to it was made; a change is a reconnect.
	Connected time.Time
	// Complete: the reply named every queue there is, so a queue without a row is gone.
	Complete bool
	// Repository: at least one full repository is reachable (or it is one itself).
	Repository bool
	Rows       []Row // sorted by Queue; handles of the daemon's own programs are not counted in them
	// Others are the channels and the queue manager itself, sorted by Queue. A
	// group without any row was not asked for.
	Others []Row
}

// Row is one item in an Observation: a local queue (or clustered alias over
// one), a channel, or the queue manager.
type Row struct {
	Queue    string // the item's name: see Group.Item
	Clusters []string
	// Base is the queue whose handles and depth count; equal to Queue but for an alias.
	Base string
	Type string // QLOCAL, QALIAS, QREMOTE
	// Env holds the attributes for formulas, boxed once; its type is Attributes,
	// ChannelAttributes or QMgrAttributes, by value.
	Env any
	// Missing are formula names that have no value in this row (MONQ off, blank, not answered).
	Missing []string
	// Instances are all instances of the clustered queue as this queue manager
	// sees them, itself included; nil with InstancesKnown false until the repository answered.
	Instances      []Instance
	InstancesKnown bool
	// V6: the queue manager weighs instances in the order of MQ 6 and 7.
	V6      bool
	Readers []Reader
	// Absent: the queue must exist and does not; only its name is known.
	Absent bool
	// System, Dynamic and Transmission queues, and system channels, are only
	// watched when named exactly.
	System, Dynamic, Transmission bool
	// Suspended are the clusters that the queue manager, as an item, is suspended from.
	Suspended []string
}

// Reader is one handle open for input, not the daemon's own.
type Reader struct{ ApplTag string }

// Instance is one instance of a cluster queue, seen from the observed queue manager.
type Instance struct {
	QMgr, QMID  string
	Cluster     string
	Local       bool
	Put         bool
	ClwlRank    int
	ClwlPrty    int
	ChannelRank int
	ChannelPrty int
	DefBind     string
	Suspended   bool
	// Reachable: the channel is not RETRYING, PAUSED or STOPPED (INACTIVE is reachable); true for the local one.
	Reachable bool
	// Readers is first-hand knowledge of a peer daemon; ReadersKnown false otherwise.
	Readers      int
	ReadersKnown bool
}

// Attributes are the names a formula may use, in MQSC's spelling. It is passed
// by value: expr evaluates a boxed struct without allocating. Times are whole
// seconds. A name listed in Row.Missing must not be read.
type Attributes struct {
	QUEUE, QMGR, CLUSTER, TYPE, DESCR string

	IPPROCS, OPPROCS, CURDEPTH, MAXDEPTH, MAXMSGL, UNCOM int
	MSGAGE, LGETAGE, LPUTAGE                             int
	CLWLRANK, CLWLPRTY, DEFPRTY, BOTHRESH                int
	QDEPTHHI, QDEPTHLO                                   int

	PUT, GET, TRIGGER, SHARE           string // ENABLED|DISABLED; YES|NO
	CLWLUSEQ, DEFBIND, DEFPSIST, USAGE string
	DEFTYPE, MONQ                      string

	READY_ELSEWHERE, READERS_ELSEWHERE int
}

// ChannelAttributes are the names a formula over channels may use.
type ChannelAttributes struct {
	CHANNEL, QMGR, CLUSTER, CHLTYPE, DEFTYPE, DESCR string
	CONNAME, XMITQ, RQMNAME, QMTYPE, SUSPEND        string
	STATUS, SUBSTATE, INDOUBT, MONCHL               string

	INSTANCES, MSGS, CURMSGS, BATCHES, BYTSSENT, BYTSRCVD int
	LSTMSGAGE, CHSTAAGE, SHORTRTS, LONGRTS, RETRIES       int
	XQMSGSA, XQTIME, NETTIME                              int
	CLWLRANK, CLWLPRTY, CLWLWGHT                          int
	BATCHSZ, SHORTRTY, LONGRTY, DISCINT                   int
}

// QMgrAttributes are the names a formula over the queue manager may use.
type QMgrAttributes struct {
	QMGR, QMID, CLUSTER, DESCR, STATUS, CHINIT, CMDSERV string
	SUSPEND, QMTYPE, REPOS, REPOSITORY                  string
	DEADQ, DEFXMITQ, CLWLUSEQ, MONQ, MONCHL, PERFMEV    string

	CONNS, UPTIME, CHANNELS, RETRYING, STOPPED, INDOUBT int
	DEADQDEPTH, CLWLMRUC, MAXMSGL                       int
}
