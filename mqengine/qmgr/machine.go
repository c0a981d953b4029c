package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/workload"
)

// Config is what a queue manager is made of besides its records.
type Config struct {
	Name string
	// QMID may be blank: the records say it.
	QMID  string
	Order workload.Order
	// IDSeed is where the counter in message ids begins; it must differ between
	// starts. 0 takes StartTime in nanoseconds.
	IDSeed    uint64
	StartTime time.Time
	// ConnName is where other queue managers reach this one, host(port), for a CLUSRCVR without CONNAME.
	ConnName string
	// Listen is the address, host:port, on which the shell takes channels, for DISPLAY LSSTATUS; blank for none.
	Listen string
	// PID is the process and Host the name of its computer, for displays.
	PID  int
	Host string
	// Creating: the scripts of the creation are being run, there is no network yet.
	Creating bool
	// NewBody numbers a body that the machine has made of another (Effects.Copies).
	// Without it reports carry no data and no message is cut into segments.
	NewBody func() store.BodyID
	// MaxPending limits the bytes of messages in all units of work; 0 for 1 GiB.
	MaxPending int64
	// MaxConns limits connections; 0 for 10,000.
	MaxConns int
	// ExpiryInterval is how often expired messages are looked for; 0 for five minutes, as in MQ.
	ExpiryInterval time.Duration
}

// Defaults of Config.
const (
	defaultMaxConns       = 10_000
	defaultExpiryInterval = 5 * time.Minute
)

// Machine is one queue manager. Its methods are for one goroutine.
type Machine struct {
	cfg  Config
	name string
	qmid string

	catalog catalog
	limits  limits

	conns   map[ConnID]*conn
	refused map[ConnID]mqi.Reason // not connected, and why: what their calls are answered with
	waiting []*parked             // calls that wait for the repository, in order

	timers  timers
	making  makings
	expiry  expirySweep
	cluster clusters

	listeners listeners

	seq       uint64 // last position given to a message on any queue
	spaceLow  bool
	spaceRoom int64   // bytes that may be written before it is low; 0: not known
	pending   pending // of all units of work
	quiescing bool    // a controlled end has begun
	refresh   refreshes
	ids       idSource
	chunks    chunkPool
	headers   arena
	parts     []*message // scratch of give
	words     interner
	restore   *restoring // until Start
}

// limits are the attributes of the queue manager that calls are checked against.
type limits struct {
	maxHandles, maxUncommitted, maxMsgL int
	maxPropL                            int // -1 for no limit
	monQ, monQNone                      bool
	perfmEvents, inhibitEvents          bool
	trigInt                             int
	deadQ, defXmitQ                     string
}

// New makes a queue manager without any object. Restore its records and messages, then Start it.
func New(cfg Config) *Machine {
	if cfg.MaxConns <= 0 {
		cfg.MaxConns = defaultMaxConns
	}
	if cfg.MaxPending <= 0 {
		cfg.MaxPending = defaultMaxPending
	}
	if cfg.ExpiryInterval <= 0 {
		cfg.ExpiryInterval = defaultExpiryInterval
	}
	m := &Machine{
		cfg: cfg, name: cfg.Name, qmid: cfg.QMID, conns: map[ConnID]*conn{}, refused: map[ConnID]mqi.Reason{},
		restore: &restoring{queues: map[uint32]*queue{}},
	}
	m.catalog.init()
	m.listeners.init()
	m.setQMgr(object.New(object.QMgr, cfg.Name))
	return m
}

// setQMgr puts the queue manager's own definition in force.
func (m *Machine) setQMgr(o *object.Object) {
	m.catalog.qmgr = o
	if id := o.Str("QMID"); id != "" {
		m.qmid = id
	}
	monQ := o.Str("MONQ")
	m.limits = limits{
		maxHandles: o.Int("MAXHANDS"), maxUncommitted: o.Int("MAXUMSGS"), maxMsgL: o.Int("MAXMSGL"),
		maxPropL: o.Int("MAXPROPL"),
		monQ:     monQ != "OFF" && monQ != "NONE", monQNone: monQ == "NONE",
		perfmEvents: o.Str("PERFMEV") == "ENABLED", inhibitEvents: o.Str("INHIBTEV") == "ENABLED", trigInt: o.Int("TRIGINT"),
		deadQ: o.Str("DEADQ"), defXmitQ: o.Str("DEFXMITQ"),
	}
}

// Name is the queue manager's name.
func (m *Machine) Name() string { return m.name }

// QMID is the queue manager's identifier, known after its records are restored.
func (m *Machine) QMID() string { return m.qmid }

// Step takes one event.
func (m *Machine) Step(now time.Time, ev Event, fx *Effects) {
	switch ev := ev.(type) {
	case Call:
		m.call(now, fx, ev)
	case Connect:
		m.connect(ev)
	case Disconnect:
		m.disconnect(now, fx, ev)
	case ListenerUp:
		m.listenerUp(now, fx, ev)
	case ListenerDown:
		m.listenerDown(fx, ev)
	case Space:
		m.spaceLow, m.spaceRoom = ev.Low, ev.Room
	case Quiesce:
		m.quiesce(now, fx)
	case EndChannels:
		m.endChannels(now, fx)
	case KeysRead:
		m.keysRead(now, fx, ev)
	case Tick:
	default:
		m.channelEvent(now, fx, ev)
	}
	m.tick(now, fx)
	m.putMade(now, fx)
	if m.quiescing && m.quiesced() {
		fx.Ended = true
	}
	fx.ChannelsEnded = fx.ChannelsEnded || m.channelsEnded()
}

// tick lets every deadline up to now pass.
func (m *Machine) tick(now time.Time, fx *Effects) {
	for t := m.timers.next(); t != nil && t.when <= now.UnixNano(); t = m.timers.next() {
		m.timers.stop(t)
		t.what.timeout(m, now, fx)
	}
	if d := m.clusterDeadline(); !d.IsZero() && !d.After(now) {
		m.clusterTick(now, fx)
	}
}

// NextDeadline is when a Tick is due at the latest; zero for never.
func (m *Machine) NextDeadline() time.Time {
	next := m.clusterDeadline()
	if t := m.timers.next(); t != nil {
		if at := time.Unix(0, t.when); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// call carries out one request, or keeps it until the calls before it are done.
func (m *Machine) call(now time.Time, fx *Effects, ev Call) {
	c := m.conns[ev.Conn]
	if c == nil {
		reason := mqi.MQRC_HCONN_ERROR
		if why, ok := m.refused[ev.Conn]; ok {
			reason = why
		}
		discard(fx, ev.Request)
		fx.Replies = append(fx.Replies, Reply{Conn: ev.Conn, Tag: ev.Tag, CompCode: mqi.MQCC_FAILED, Reason: reason})
		return
	}
	if cancel, ok := ev.Request.(CancelReq); ok {
		m.cancel(now, fx, c, cancel.Tag)
		return
	}
	if c.parked != nil {
		if len(c.queued) >= maxQueuedCalls {
			discard(fx, ev.Request)
			c.fail(fx, ev.Tag, mqi.MQRC_RESOURCE_PROBLEM)
			return
		}
		c.queued = append(c.queued, ev)
		return
	}
	m.perform(now, fx, c, ev.Tag, ev.Request, false)
}

// discard lets go of the body of a request that will not be carried out.
func discard(fx *Effects, req Request) {
	if put, ok := req.(PutReq); ok && put.Body.ID != 0 {
		fx.Drop = append(fx.Drop, put.Body.ID)
	}
}

// perform carries out a request. last: it waited for the repository as long as it may.
func (m *Machine) perform(now time.Time, fx *Effects, c *conn, tag uint64, req Request, last bool) {
	if m.quiescing && failsNow(req) {
		discard(fx, req)
		c.fail(fx, tag, mqi.MQRC_Q_MGR_QUIESCING)
		return
	}
	switch req := req.(type) {
	case PutReq:
		m.put(now, fx, c, tag, &req, last)
	case GetReq:
		m.get(now, fx, c, tag, &req)
	case CommitReq:
		m.commit(now, fx, &c.unit)
		c.ok(fx, tag, nil)
	case BackReq:
		m.backout(now, fx, &c.unit)
		c.ok(fx, tag, nil)
	case OpenReq:
		m.open(now, fx, c, tag, &req, last)
	case CloseReq:
		c.closed(fx, tag, m.close(now, fx, c, req.Handle, req.Options))
	case CommandReq:
		m.commandCall(now, fx, c, tag, req.Command)
	case MoveReq:
		m.moveCall(now, fx, c, tag, &req)
	case ExplainReq:
		m.explain(now, fx, c, tag, &req, last)
	case InstancesReq:
		c.ok(fx, tag, m.instances(now, fx, req))
	default:
		c.fail(fx, tag, mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	}
}
