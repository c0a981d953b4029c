package qmgr

import (
	"fmt"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// helloWithin is how long an inbound link may be silent before it says which channel it is.
const helloWithin = time.Minute

// maxHops is how many channels a message may pass before it is not resolved
// again at a put-inhibited instance: two queue managers with old views of each
// other would pass it on for ever.
const maxHops = 8

// receiver is an inbound link and, after its hello, a receiving channel.
type receiver struct {
	link     LinkID
	remote   string
	local    string
	security *channel.Security
	since    time.Time
	key      receiverKey
	def      *object.Object
	machine  *channel.Receiver
	fx       channel.Effects

	// The Step under way, for Deliver.
	m   *Machine
	now time.Time
	out *Effects
}

func (r *receiver) linkUp(*Machine, time.Time, *Effects, LinkUp) {}

func (r *receiver) linkDown(m *Machine, now time.Time, fx *Effects, ev LinkDown) {
	if r.machine == nil {
		m.cluster.deadlineKnown = false
		return
	}
	r.link = 0
	m.runReceiver(now, fx, r, channel.LinkDown{Reason: ev.Reason})
}

func (r *receiver) linkFrame(m *Machine, now time.Time, fx *Effects, f *channel.Frame) {
	if r.machine == nil {
		m.hello(now, fx, r, f)
		return
	}
	m.runReceiver(now, fx, r, channel.FrameIn{Frame: f})
}

// hello decides whether an inbound link may be the channel that it says.
func (m *Machine) hello(now time.Time, fx *Effects, r *receiver, f *channel.Frame) {
	for i := range f.Messages {
		fx.dropBody(f.Messages[i].Body)
	}
	def, fault := m.welcome(f)
	if fault.ID == "" {
		fault = r.security.Judge(def.Str("SSLCIPH"), def.Str("SSLPEER"), def.Str("SSLCAUTH") == "REQUIRED")
		fault.Text = "channel '" + f.Channel + "' of queue manager '" + m.name + "': " + fault.Text
	}
	if fault.ID != "" {
		logf(fx, fault.ID, "Channel negotiation failed with '%s' at %s: %s.", f.QMgr, r.remote, fault.Text)
		fx.Frames = append(fx.Frames, FrameOut{Link: r.link, Frame: &channel.Frame{Kind: channel.FrameRefuse, Code: 1, Reason: fault.Text}})
		m.closeInbound(fx, r)
		return
	}
	key := receiverKey{def.Name, f.QMID}
	last, err := channel.DecodeLast(m.cluster.channels.records["r/"+def.Name+"|"+f.QMID])
	if err != nil {
		logf(fx, "AMQ9526E", "Channel '%s' from '%s' cannot be used: %v.", def.Name, f.QMgr, err)
		m.closeInbound(fx, r)
		return
	}
	if f.Ping {
		fx.Frames = append(fx.Frames, FrameOut{Link: r.link, Frame: &channel.Frame{Kind: channel.FrameAccept, Version: channel.ProtocolVersion, Channel: def.Name, QMgr: m.name, QMID: m.qmid, Ping: true}})
		return
	}
	if old := m.cluster.channels.receivers[key]; old != nil {
		// The partner would not call again if it still had the other link.
		m.endReceiver(now, fx, old)
	}
	r.key, r.def = key, def
	r.fx.Reset()
	r.m, r.now, r.out = m, now, fx
	r.machine = channel.NewReceiver(now, m.receiverParams(def), r, f, last, &r.fx)
	m.cluster.channels.receivers[key] = r
	m.afterReceiver(fx, r)
	m.kick(now, fx, f.QMID)
}

// welcome finds the definition for a hello, or says why there is no such channel.
func (m *Machine) welcome(f *channel.Frame) (*object.Object, channel.Fault) {
	no := func(format string, args ...any) (*object.Object, channel.Fault) {
		return nil, channel.Fault{ID: "AMQ9503E", Text: fmt.Sprintf(format, args...)}
	}
	want := object.ClusRcvr
	if f.Type == object.Sender.String() {
		want = object.Receiver
	}
	switch {
	case f.Kind != channel.FrameHello:
		return no("the first frame is no hello")
	case f.Type != object.Sender.String() && f.Type != object.ClusSdr.String():
		return no("a channel of type '%.20s' does not send", f.Type)
	case f.Version < 1:
		return no("version %d of the protocol is not known", f.Version)
	case object.CheckQMID(f.QMID) != nil || object.CheckQueueName(f.QMgr) != nil:
		return no("the partner does not say properly who it is")
	case f.QMID == m.qmid:
		return no("the partner is this queue manager")
	}
	def := m.objectNamed(want, f.Channel)
	switch {
	case def == nil:
		return no("channel '%s' is not defined as %s at queue manager '%s'", f.Channel, want, m.name)
	case m.cluster.channels.quiescing:
		return no("queue manager '%s' is ending", m.name)
	case m.cluster.channels.stopped[f.Channel]:
		return no("channel '%s' is stopped at queue manager '%s'", f.Channel, m.name)
	}
	return def, channel.Fault{}
}

func (m *Machine) receiverParams(o *object.Object) channel.ReceiverParams {
	return channel.ReceiverParams{
		Name: o.Name, HBInt: o.Int("HBINT"), MRRty: o.Int("MRRTY"), MRTmr: o.Int("MRTMR"), MaxMsgL: o.Int("MAXMSGL"), BatchSz: o.Int("BATCHSZ"),
		QMgr: m.name, QMID: m.qmid,
	}
}

// kick lets channels to a queue manager that was just heard of try again at
// once; also those that never learned who is at the other end: it may be this one.
func (m *Machine) kick(now time.Time, fx *Effects, qmid string) {
	ch := &m.cluster.channels
	for _, name := range sortedStrings(ch.senders) {
		s := ch.senders[name]
		if s.machine.Status() != mqi.MQCHS_RETRYING || s.linked() {
			continue
		}
		partner := s.machine.Stats().PartnerQMID
		if rec := m.cluster.repo.Channel(now, name); rec != nil {
			partner = rec.QMID
		}
		if partner == qmid || partner == "" {
			m.runSender(now, fx, s, channel.Kick{})
		}
	}
}

func (m *Machine) closeInbound(fx *Effects, r *receiver) {
	fx.Closes = append(fx.Closes, r.link)
	delete(m.cluster.channels.links, r.link)
	m.cluster.deadlineKnown = false
}

// endReceiver ends a receiving channel and its link.
func (m *Machine) endReceiver(now time.Time, fx *Effects, r *receiver) {
	if r.link != 0 {
		m.closeInbound(fx, r)
		r.link = 0
	}
	m.runReceiver(now, fx, r, channel.LinkDown{})
}

// runReceiver steps a receiver and carries out what it wants.
func (m *Machine) runReceiver(now time.Time, fx *Effects, r *receiver, ev channel.Event) {
	r.fx.Reset()
	r.m, r.now, r.out = m, now, fx
	r.machine.Step(now, ev, &r.fx)
	m.afterReceiver(fx, r)
}

func (m *Machine) afterReceiver(fx *Effects, r *receiver) {
	want := &r.fx
	m.cluster.deadlineKnown = false
	if want.Record != nil {
		m.setRecord(fx, "r/"+r.key.channel+"|"+r.key.qmid, want.Record)
	}
	fx.Unit.Sync = fx.Unit.Sync || want.Sync
	for _, b := range want.Dropped {
		fx.dropBody(b)
	}
	for _, f := range want.Frames {
		if r.link != 0 {
			fx.Frames = append(fx.Frames, FrameOut{Link: r.link, Frame: f})
		}
	}
	if want.Close && r.link != 0 {
		m.closeInbound(fx, r)
		r.link = 0
	}
	for _, l := range want.Log {
		fx.Log = append(fx.Log, LogEntry{ID: l.ID, Text: l.Text})
	}
	if r.machine.Status() == mqi.MQCHS_INACTIVE && m.cluster.channels.receivers[r.key] == r {
		delete(m.cluster.channels.receivers, r.key)
		if r.link != 0 {
			m.closeInbound(fx, r)
			r.link = 0
		}
	}
}

// temporary reasons are those for which a receiver tries again (MRRTY, MRTMR).
var temporary = []mqi.Reason{
	mqi.MQRC_PUT_INHIBITED, mqi.MQRC_CLUSTER_PUT_INHIBITED, mqi.MQRC_Q_FULL, mqi.MQRC_Q_SPACE_NOT_AVAILABLE,
	mqi.MQRC_CLUSTER_RESOLUTION_ERROR, mqi.MQRC_NO_DESTINATIONS_AVAILABLE,
}

// Deliver implements channel.Sink.
func (r *receiver) Deliver(cm *channel.Message, final bool) (channel.Outcome, mqi.Reason) {
	m := r.m
	msg, err := m.receivedMessage(r.now, cm.Header, cm.Body)
	if err != nil {
		logf(r.out, "AMQ9504E", "A protocol error was detected for channel '%s': %v.", r.key.channel, err)
		return channel.Refused, mqi.MQRC_MD_ERROR
	}
	cluster := r.def.Kind() == object.ClusRcvr
	msg.fromCluster = cluster
	if cluster && msg.payload != nil {
		m.receiveCommand(r.now, r.out, msg.payload)
		return channel.Delivered, mqi.MQRC_NONE
	}
	if msg.hops++; msg.hops > maxHops && msg.targetQMgr == "" {
		msg.targetQMgr = m.name
	}
	reason := m.deliver(r.now, r.out, msg)
	if reason == mqi.MQRC_NONE {
		return channel.Delivered, reason
	}
	if !final && slices.Contains(temporary, reason) {
		return channel.Retry, reason
	}
	if m.undeliverable(r.now, r.out, msg, reason, r.def.Str("USEDLQ") != "NO") == mqi.MQRC_NONE {
		logf(r.out, "AMQ9544W", "Message not put to destination queue: channel '%s', queue '%s', reason %s. It is on the dead-letter queue, or discarded if its sender asked for that.", r.key.channel, msg.targetQ, reason)
		return channel.Delivered, reason
	}
	if cluster && m.deliverHere(r.now, r.out, msg) == mqi.MQRC_NONE {
		return channel.Delivered, reason
	}
	return channel.Refused, reason
}

// deliverHere puts a message that is not fixed to the queue's own instance
// although the algorithm would have none, because it prefers instances of a
// higher rank that take nothing. The other end of it is a channel that stops, and
// with it the news that those instances are back: for ever, if they wait in the
// same channel.
func (m *Machine) deliverHere(now time.Time, fx *Effects, msg *message) mqi.Reason {
	q := m.localBase(msg.targetQ)
	if msg.targetQMgr != "" || q == nil || !m.catalog.queues[msg.targetQ].attr.put {
		return mqi.MQRC_UNKNOWN_OBJECT_NAME
	}
	own := *msg
	own.targetQ, own.targetQMgr, own.channel = "", "", ""
	return m.putMessage(now, fx, nil, q, &own)
}
