package qmgr

import "github.com/situationd/situationd/mqengine/object"

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

// QueueStatus is what a shell samples of one queue.
type QueueStatus struct {
	Number     uint32
	Name       string
	Type       string // QLOCAL, QALIAS
	Base       string // alias: TARGET
	Attributes *QueueAttributes
	Counts     QueueCounts
}

// Status is the present state of the queue with that number: a local queue, or
// a clustered alias with the counts of its base; false if there is none (any more).
func (m *Machine) Status(number uint32) (QueueStatus, bool) {
	q := m.catalog.byNumber[number]
	if q == nil {
		return QueueStatus{}, false
	}
	s := QueueStatus{Number: number, Name: q.name, Attributes: q.attr.public}
	switch q.def.Kind() {
	case object.QLocal:
		s.Type = "QLOCAL"
	case object.QAlias:
		base := m.localQueue(q.attr.target)
		if base == nil || !q.attr.clustered() {
			return QueueStatus{}, false
		}
		s.Type, s.Base = "QALIAS", base.name
		q = base
	default:
		return QueueStatus{}, false
	}
	s.Counts = q.counts(m.monitored(q))
	return s, true
}

func (q *queue) counts(monitored bool) QueueCounts {
	c := QueueCounts{
		CurDepth: q.depth, Uncom: q.uncommitted, OpProcs: q.outputs, OwnOut: q.ownOut, Readers: q.readers, MonQ: monitored,
	}
	if monitored {
		c.LGet, c.LPut, c.Oldest = q.lastGet, q.lastPut, q.oldest()
	}
	return c
}

// monitored reports whether MONQ is in force for a queue.
func (m *Machine) monitored(q *queue) bool {
	switch q.attr.monQ {
	case monOn:
		return !m.limits.monQNone
	case monInherit:
		return m.limits.monQ
	default:
		return false
	}
}
