package qmgr

// Reader is a handle open for input.
type Reader struct {
	Tag   string // APPLTAG
	Owner string // owner token of the program; blank for everybody else's
}

// QueueCounts is what changes with every message and handle. Readers is
// immutable: a change makes a new slice.
type QueueCounts struct {
	CurDepth int
	Uncom    int
	OpProcs  int
	OwnOut   []Reader // output handles that carry an owner token (subtract one's own from OpProcs)
	Readers  []Reader // len is IPPROCS
	// Unix milliseconds, 0 for never (or MONQ off): last get, last put, put time of the oldest message.
	LGet, LPut, Oldest int64
	MonQ               bool // MONQ in force: without it LGet, LPut and Oldest are unknown
}

// QueueAttributes is what a formula can see of the definition. Immutable: ALTER makes a new one.
type QueueAttributes struct {
	Put, Get, Trigger, Share                        bool
	ClwlRank, ClwlPrty, MaxDepth, MaxMsgL, BoThresh int
	QDepthHi, QDepthLo, DefPrty                     int
	ClwlUseQ, DefBind, DefPsist, Usage, DefType     string
	Cluster, ClusNL, Descr, MonQ                    string
	Clusters                                        []string // CLUSTER, or the names in CLUSNL
}
