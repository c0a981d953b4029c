package qmgr

import "github.com/situationd/situationd/mqengine/object"

// queueAttr is a queue's definition in the form in which the hot path wants it.
// It is immutable: a change of the definition makes a new one.
type queueAttr struct {
	public      *QueueAttributes
	put, get    bool
	xmit        bool // USAGE(XMITQ)
	share       bool
	defExcl     bool // DEFSOPT(EXCL)
	fifo        bool // MSGDLVSQ(FIFO)
	hardenBO    bool
	temporary   bool // DEFTYPE(TEMPDYN)
	dynamic     bool // DEFTYPE(TEMPDYN) or (PERMDYN)
	monQ        monitoring
	defBind     bindType
	defPersist  bool
	defPriority int32
	maxDepth    int
	maxMsgL     int
	maxBytes    int64 // MAXFSIZE
	boThresh    int32
	capExpiry   int64  // CAPEXPRY in milliseconds; 0 for no limit
	target      string // QALIAS: TARGET
	rname       string // QREMOTE
	rqmname     string
	xmitq       string
	events      depthEvents
	triggerAttributes
}

// monitoring is MONQ as the queue says it.
type monitoring uint8

const (
	monInherit monitoring = iota
	monOff
	monOn
)

// attributesOf prepares a queue's definition. names gives the names in a namelist.
func attributesOf(o *object.Object, names func(namelist string) []string) *queueAttr {
	a := &queueAttr{
		put:         o.Str("PUT") == "ENABLED",
		get:         true,
		defPriority: int32(o.Int("DEFPRTY")),
		defPersist:  o.Str("DEFPSIST") == "YES",
		defBind:     bindNotFixed,
	}
	if n := o.Int("CAPEXPRY"); n > 0 {
		a.capExpiry = int64(n) * 100
	}
	p := &QueueAttributes{
		Put: a.put, Get: true, DefPrty: int(a.defPriority), DefPsist: o.Str("DEFPSIST"), Descr: o.Str("DESCR"),
	}
	a.public = p
	if o.Has("GET") {
		a.get = o.Str("GET") == "ENABLED"
		p.Get = a.get
	}
	if o.Has("CLUSTER") {
		a.clusterAttributes(o, names)
	}
	switch o.Kind() {
	case object.QLocal, object.QModel:
		a.localAttributes(o)
	case object.QAlias:
		a.target = o.Str("TARGET")
	case object.QRemote:
		a.rname, a.rqmname, a.xmitq = o.Str("RNAME"), o.Str("RQMNAME"), o.Str("XMITQ")
	default: // no other kind is a queue
	}
	return a
}

func (a *queueAttr) clusterAttributes(o *object.Object, names func(string) []string) {
	p := a.public
	p.DefBind = o.Str("DEFBIND")
	a.defBind = bindOf(p.DefBind)
	p.ClwlRank, p.ClwlPrty = o.Int("CLWLRANK"), o.Int("CLWLPRTY")
	p.Cluster, p.ClusNL = o.Str("CLUSTER"), o.Str("CLUSNL")
	switch {
	case p.Cluster != "":
		p.Clusters = []string{p.Cluster}
	case p.ClusNL != "":
		p.Clusters = names(p.ClusNL)
	}
}

func (a *queueAttr) localAttributes(o *object.Object) {
	a.share, a.defExcl = o.Flag("SHARE"), o.Str("DEFSOPT") == "EXCL"
	a.fifo, a.hardenBO = o.Str("MSGDLVSQ") == "FIFO", o.Flag("HARDENBO")
	a.maxDepth, a.maxMsgL, a.boThresh = o.Int("MAXDEPTH"), o.Int("MAXMSGL"), int32(o.Int("BOTHRESH"))
	a.maxBytes = int64(o.Int("MAXFSIZE")) << 20
	a.xmit = o.Str("USAGE") == "XMITQ"
	defType := o.Str("DEFTYPE")
	a.temporary = defType == "TEMPDYN"
	a.dynamic = a.temporary || defType == "PERMDYN"
	switch o.Str("MONQ") {
	case "QMGR":
		a.monQ = monInherit
	case "OFF":
		a.monQ = monOff
	default:
		a.monQ = monOn
	}
	a.events, a.triggerAttributes = depthEventsOf(o), triggering(o)
	p := a.public
	p.Trigger, p.Share = o.Flag("TRIGGER"), a.share
	p.MaxDepth, p.MaxMsgL, p.BoThresh = a.maxDepth, a.maxMsgL, int(a.boThresh)
	p.QDepthHi, p.QDepthLo = o.Int("QDEPTHHI"), o.Int("QDEPTHLO")
	p.Usage, p.DefType, p.MonQ = o.Str("USAGE"), defType, o.Str("MONQ")
	if o.Has("CLWLUSEQ") {
		p.ClwlUseQ = o.Str("CLWLUSEQ")
	}
}

func bindOf(defBind string) bindType {
	switch defBind {
	case "OPEN":
		return bindOnOpen
	case "GROUP":
		return bindOnGroup
	}
	return bindNotFixed
}

// clustered reports whether the queue is advertised in any cluster.
func (a *queueAttr) clustered() bool { return len(a.public.Clusters) > 0 }
