package qmgr

import (
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// sender is a sending channel with what it needs of the queue manager.
type sender struct {
	m       *Machine
	name    string
	def     *object.Object
	deftype string // CLUSSDR, CLUSSDRA, CLUSSDRB; blank for SDR
	machine *channel.Sender
	queue   *queue
	backlog *backlog
	taken   map[uint64]*message // sent and not confirmed
	link    LinkID
	addr    string // dialled last
	// What is known of the link that was up last.
	local    string
	security *channel.Security
	dirty    bool
	kicked   bool // dirty, and not to wait for its next attempt
	// forgotten: nothing defines the channel at present, but it has messages in
	// doubt from its last life. It waits for its definition, and they with it.
	forgotten bool
	// undefined: nothing defines the channel any more; it ends when it has nothing to do.
	undefined bool
	// stuck: the message that is next is too long for the channel, and nobody else takes it.
	stuck  bool
	waited channel.Average // XQTIME
	fx     channel.Effects

	// The Step under way, for Take and Item.
	now time.Time
	out *Effects
}

func (s *sender) linked() bool { return s.link != 0 }

// senderNamed finds the sending channel of that name or makes it; nil if nothing defines it.
func (m *Machine) senderNamed(now time.Time, fx *Effects, name string) *sender {
	ch := &m.cluster.channels
	if s := ch.senders[name]; s != nil {
		return s
	}
	def, deftype := m.senderDefinition(now, name)
	forgotten := def == nil
	if forgotten {
		if ch.records["s/"+name] == nil {
			return nil
		}
		def, deftype = object.New(object.ClusSdr, name), "CLUSSDRA"
	}
	q, takes := m.transmitQueue(def)
	if q == nil {
		return nil
	}
	s := &sender{
		m: m, name: name, def: def, deftype: deftype, queue: q, backlog: m.backlogOf(q, takes),
		taken: map[uint64]*message{}, forgotten: forgotten,
	}
	machine, err := channel.NewSender(m.senderParams(def), s, ch.records["s/"+name])
	if err != nil {
		// Without its record the channel would send twice what is in doubt.
		logf(fx, "AMQ9526E", "Channel '%s' cannot be used: %v.", name, err)
		return nil
	}
	if forgotten && len(machine.InDoubt()) == 0 {
		return nil
	}
	s.machine = machine
	s.lockInDoubt(fx)
	ch.senders[name] = s
	m.cluster.deadlineKnown = false
	return s
}

// transmitQueue is the queue that a channel of this definition takes from, nil
// if there is none, and the channel's name in the messages that it takes.
func (m *Machine) transmitQueue(def *object.Object) (q *queue, takes string) {
	if def.Kind() == object.Sender {
		return m.localQueue(def.Str("XMITQ")), ""
	}
	return m.localQueue(sharedTransmitQ), def.Name
}

// follow turns to the transmission queue that the definition means now: XMITQ
// was altered, or the queue deleted and defined again. As in MQ not while the
// channel has it open, nor while messages of it are in doubt.
func (s *sender) follow() {
	if s.linked() || len(s.taken) > 0 {
		return
	}
	if q, takes := s.m.transmitQueue(s.def); q != nil && q != s.queue {
		s.queue, s.backlog = q, s.m.backlogOf(q, takes)
	}
}

// lockInDoubt takes back the messages that the last life had sent.
func (s *sender) lockInDoubt(fx *Effects) {
	inDoubt := s.machine.InDoubt()
	if len(inDoubt) == 0 {
		return
	}
	want := make(map[uint64]bool, len(inDoubt))
	for _, pos := range inDoubt {
		want[pos] = true
	}
	for _, msg := range s.backlog.all() {
		if want[msg.seq] && s.m.lockMessage(fx, s.queue, msg) {
			s.taken[msg.seq] = msg
		}
	}
}

// senderParams reads a definition.
func (m *Machine) senderParams(o *object.Object) channel.SenderParams {
	p := channel.SenderParams{
		Name: o.Name, Type: o.Kind().String(), Addrs: addresses(o.Str("CONNAME")),
		BatchSz: o.Int("BATCHSZ"), BatchLim: o.Int("BATCHLIM"), BatchInt: o.Int("BATCHINT"), BatchHB: o.Int("BATCHHB"),
		DiscInt: o.Int("DISCINT"), HBInt: o.Int("HBINT"),
		ShortRty: o.Int("SHORTRTY"), ShortTmr: o.Int("SHORTTMR"), LongRty: o.Int("LONGRTY"), LongTmr: o.Int("LONGTMR"),
		MaxMsgL: o.Int("MAXMSGL"), NPMFast: o.Str("NPMSPEED") == "FAST", QMgr: m.name, QMID: m.qmid,
	}
	return p
}

const defaultPort = 1414

// addresses turns CONNAME into host:port, several in order: 'host(port),host2(port)'.
func addresses(conname string) []string {
	var out []string
	for part := range strings.SplitSeq(conname, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		host, rest, ok := strings.Cut(part, "(")
		port := strings.TrimSuffix(rest, ")")
		if !ok || port == "" {
			port = strconv.Itoa(defaultPort)
		}
		host = strings.TrimSpace(host)
		if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
			host = "[" + host + "]"
		}
		out = append(out, host+":"+strings.TrimSpace(port))
	}
	return out
}

// refreshSenders brings every sender to its present definition. One that
// nothing defines any more is forgotten when it is idle.
func (m *Machine) refreshSenders(now time.Time) {
	ch := &m.cluster.channels
	for _, name := range sortedStrings(ch.senders) {
		s := ch.senders[name]
		def, deftype := m.senderDefinition(now, name)
		if def == nil {
			s.undefined = true
			if s.machine.Idle() && !s.dirty {
				delete(ch.senders, name)
			}
			continue
		}
		moved := s.undefined || s.def.Str("CONNAME") != def.Str("CONNAME")
		s.def, s.deftype, s.undefined = def, deftype, false
		s.machine.SetParams(m.senderParams(def))
		if moved && s.machine.Status() == mqi.MQCHS_RETRYING {
			// It was away or somewhere else, or is another queue manager of that name: not to be looked for in vain.
			s.kicked = true
			m.markDirty(s)
		}
		if s.forgotten {
			s.forgotten = false
			m.markDirty(s)
		}
	}
	m.cluster.deadlineKnown = false
}

// forgetSenders drops the state of senders that nothing defines any more: STOP
// CHANNEL is a state of a channel that there is, and one of the same name that
// is defined later starts anew. One with messages in doubt stays.
func (m *Machine) forgetSenders(now time.Time, fx *Effects) {
	ch := &m.cluster.channels
	for _, key := range sortedStrings(ch.records) {
		name, ok := strings.CutPrefix(key, "s/")
		if !ok {
			continue
		}
		if def, _ := m.senderDefinition(now, name); def != nil {
			continue
		}
		if s := ch.senders[name]; s != nil && !m.forgettable(s) {
			continue
		}
		if state, err := channel.NewSender(channel.SenderParams{Name: name}, nil, ch.records[key]); err != nil || len(state.InDoubt()) > 0 {
			continue
		}
		delete(ch.senders, name)
		m.deleteRecord(fx, key)
	}
	m.cluster.deadlineKnown = false
}

// forgetChannel drops the state of a receiving channel that was deleted.
func (m *Machine) forgetChannel(fx *Effects, o *object.Object) {
	if o.Kind() == object.ClusRcvr || o.Kind() == object.Receiver {
		delete(m.cluster.channels.stopped, o.Name)
		m.deleteRecord(fx, "stop/"+o.Name)
	}
}

// Take implements channel.Queue.
func (s *sender) Take(n, bytes, longest int) []channel.Item {
	items := make([]channel.Item, 0, min(n, 64))
	ms := s.now.UnixMilli()
	for size := 0; len(items) < n && (size < bytes || len(items) == 0); {
		msg := s.backlog.next()
		if msg == nil {
			break
		}
		if msg.expired(ms) {
			s.m.expire(s.now, s.out, s.queue, msg)
			continue
		}
		if msg.length() > longest && msg.payload == nil {
			if s.tooLong(msg, longest); s.stuck {
				break
			}
			continue
		}
		if !s.m.lockMessage(s.out, s.queue, msg) {
			break
		}
		s.waited.Add(max(0, ms-msg.arrived) * 1000)
		s.m.depthFell(s.now, s.queue)
		s.taken[msg.seq] = msg
		items = append(items, s.item(msg))
		size += msg.body.Len
	}
	return items
}

// tooLong sends a message that is longer than MAXMSGL of the channel to the
// dead-letter queue. Without one the channel has to stop, as in MQ.
func (s *sender) tooLong(msg *message, longest int) {
	s.m.takeMessage(s.out, s.queue, msg)
	why := mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL
	if s.m.undeliverable(s.now, s.out, msg, why, s.def.Str("USEDLQ") != "NO") == mqi.MQRC_NONE {
		logf(s.out, "AMQ9544W", "Message not sent by channel '%s': its %d bytes are more than the %d of MAXMSGL, reason %s. It is on the dead-letter queue, or discarded if its sender asked for that.",
			s.name, msg.length(), longest, why)
		return
	}
	s.m.putBack(s.now, s.out, s.queue, msg)
	s.stuck = true
	logf(s.out, "AMQ9544E", "Channel '%s' stops: a message of %d bytes is longer than the %d of MAXMSGL, and there is no dead-letter queue that takes it.", s.name, msg.length(), longest)
}

func (s *sender) item(msg *message) channel.Item {
	return channel.Item{Pos: msg.seq, Persistent: msg.persistent(), Header: transmissionHeader(s.now, msg), Body: msg.body}
}

// Item implements channel.Queue.
func (s *sender) Item(pos uint64) (channel.Item, bool) {
	msg := s.taken[pos]
	if msg == nil || msg.queue != s.queue {
		return channel.Item{}, false
	}
	return s.item(msg), true
}

// Ready implements channel.Queue.
func (s *sender) Ready() bool { return s.backlog.ready() }

// runSender steps a sender and carries out what it wants.
func (m *Machine) runSender(now time.Time, fx *Effects, s *sender, ev channel.Event) {
	s.follow()
	s.fx.Reset()
	s.now, s.out = now, fx
	before := s.machine.Status()
	s.machine.Step(now, ev, &s.fx)
	m.afterSender(now, fx, s, before)
	if stop, ok := ev.(channel.Stop); ok && stop.Force {
		m.interruptReroute(s.backlog)
	}
	if s.stuck {
		s.stuck = false
		m.runSender(now, fx, s, channel.Stop{})
	}
}

func (m *Machine) afterSender(now time.Time, fx *Effects, s *sender, before mqi.ChannelStatus) {
	ch, want := &m.cluster.channels, &s.fx
	m.cluster.deadlineKnown = false
	for _, pos := range want.Removed {
		if msg := s.taken[pos]; msg != nil {
			delete(s.taken, pos)
			m.removeMessage(fx, s.queue, msg)
		}
	}
	for _, pos := range want.Released {
		if msg := s.taken[pos]; msg != nil {
			delete(s.taken, pos)
			m.unlockMessage(now, fx, s.queue, msg)
		}
	}
	if want.Record != nil {
		m.setRecord(fx, "s/"+s.name, want.Record)
	}
	fx.Unit.Sync = fx.Unit.Sync || want.Sync
	for _, f := range want.Frames {
		if s.link != 0 {
			fx.Frames = append(fx.Frames, FrameOut{Link: s.link, Frame: f})
		}
	}
	if want.Close && s.link != 0 {
		fx.Closes = append(fx.Closes, s.link)
		delete(ch.links, s.link)
		s.link = 0
	}
	unwanted := want.Dial != "" && ch.quiescing
	if want.Dial != "" && !unwanted {
		ch.lastLink++
		s.link, s.addr = ch.lastLink, want.Dial
		ch.links[s.link] = s
		fx.Dials = append(fx.Dials, Dial{Link: s.link, Addr: want.Dial, CipherSpec: s.def.Str("SSLCIPH")})
	}
	for _, l := range want.Log {
		fx.Log = append(fx.Log, LogEntry{ID: l.ID, Text: l.Text})
	}
	after := s.machine.Status()
	if after != before {
		m.clusterChanged(fx)
		m.noteRepositories(now, fx)
		if after == mqi.MQCHS_INACTIVE {
			m.triggerClose(now, fx, s.queue) // it does not have it open any more
		}
	}
	if want.Failed || after == mqi.MQCHS_STOPPED && before != mqi.MQCHS_STOPPED {
		m.rerouteLater(s.backlog)
	}
	if unwanted {
		m.runSender(now, fx, s, channel.Stop{Keep: true})
	}
	if s.undefined && after == mqi.MQCHS_RETRYING && m.forgettable(s) {
		// The queue manager that it leads to left the cluster: nobody is to be called again.
		delete(ch.senders, s.name)
		m.deleteRecord(fx, "s/"+s.name)
	}
}

// forgettable reports whether nothing would be lost with a sender.
func (m *Machine) forgettable(s *sender) bool {
	return !s.linked() && !s.dirty && len(s.taken) == 0 && s.machine.Stats().InDoubt == 0 && !s.backlog.ready()
}

func (s *sender) linkUp(m *Machine, now time.Time, fx *Effects, ev LinkUp) {
	s.local, s.security = ev.Local, ev.Security
	if fault := ev.Security.Judge(s.def.Str("SSLCIPH"), s.def.Str("SSLPEER"), true); fault.ID != "" {
		fx.Closes = append(fx.Closes, s.link)
		delete(m.cluster.channels.links, s.link)
		s.linkDown(m, now, fx, LinkDown{Link: ev.Link, Reason: fault.Text, ID: fault.ID})
		return
	}
	m.runSender(now, fx, s, channel.LinkUp{})
}

func (s *sender) linkFrame(m *Machine, now time.Time, fx *Effects, f *channel.Frame) {
	for i := range f.Messages {
		fx.dropBody(f.Messages[i].Body) // nobody sends messages to a sender
	}
	m.runSender(now, fx, s, channel.FrameIn{Frame: f})
}

func (s *sender) linkDown(m *Machine, now time.Time, fx *Effects, ev LinkDown) {
	s.link = 0
	m.runSender(now, fx, s, channel.LinkDown{Reason: ev.Reason, ID: ev.ID})
}
