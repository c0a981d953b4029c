package qmgr

import (
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// receivingObject is the CLUSRCVR or RCVR of that name; nil if there is none.
func (m *Machine) receivingObject(name string) *object.Object {
	if o := m.objectNamed(object.ClusRcvr, name); o != nil {
		return o
	}
	return m.objectNamed(object.Receiver, name)
}

// receiversOf are the inbound links of one receiving channel.
func (m *Machine) receiversOf(name string) (out []*receiver) {
	for _, k := range sortedReceivers(m.cluster.channels.receivers) {
		if k.channel == name {
			out = append(out, m.cluster.channels.receivers[k])
		}
	}
	return out
}

func (m *Machine) startChannel(now time.Time, fx *Effects, name string) mqsc.Result {
	if m.receivingObject(name) != nil {
		delete(m.cluster.channels.stopped, name)
		m.deleteRecord(fx, "stop/"+name)
		fx.Unit.Sync = true
		return done("AMQ8018I")
	}
	s := m.senderNamed(now, fx, name)
	if s == nil || s.forgotten {
		return m.noSender(now, name)
	}
	if q, _ := m.transmitQueue(s.def); q == nil || !q.attr.xmit {
		// It would run, and take nothing.
		return m.noSender(now, name)
	}
	switch s.machine.Status() {
	case mqi.MQCHS_STOPPED, mqi.MQCHS_INACTIVE, mqi.MQCHS_RETRYING, mqi.MQCHS_STOPPING:
		m.runSender(now, fx, s, channel.Start{})
		fx.Unit.Sync = true
		return done("AMQ8018I")
	default:
		return failed("AMQ9514E", name)
	}
}

// noSender says why there is no sending channel of that name to act on.
func (m *Machine) noSender(now time.Time, name string) mqsc.Result {
	def, _ := m.senderDefinition(now, name)
	switch {
	case def == nil && m.catalog.find(spaceOf(object.SvrConn), name) != nil:
		return failedText("AMQ9512E", "A channel of type "+m.catalog.find(spaceOf(object.SvrConn), name).Kind().String()+" cannot be used this way.")
	case def == nil:
		return failed("AMQ9519E", name)
	case def.Kind() == object.Sender:
		return failedText("AMQ8147E", "Channel '"+name+"' has no transmission queue: "+def.Str("XMITQ")+" is not a local queue with USAGE(XMITQ).")
	}
	return failedText("AMQ9526E", "Channel '"+name+"' cannot be used: its record is damaged; the error log tells more.")
}

// stopChannel is STOP CHANNEL. QMNAME and CONNAME pick instances of a receiving
// channel, which as in MQ are ended and not kept from coming back.
func (m *Machine) stopChannel(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	status, partner, address := param(cmd, "STATUS"), param(cmd, "QMNAME"), param(cmd, "CONNAME")
	picks := partner != "" || address != ""
	if picks && status == "STOPPED" {
		return failedText("AMQ8416E", "STATUS(STOPPED) is for the whole channel: it does not go with QMNAME and CONNAME.")
	}
	stop := channel.Stop{Inactive: status == "INACTIVE" || picks}
	if mode := param(cmd, "MODE"); mode == "FORCE" || mode == "TERMINATE" {
		stop.Force = true
	}
	if m.receivingObject(cmd.Name) != nil {
		return m.stopReceivers(now, fx, cmd.Name, stop, func(r *receiver) bool {
			return (partner == "" || r.machine.Stats().Partner == partner) && (address == "" || sameAddress(address, r.remote))
		}, picks)
	}
	s := m.senderNamed(now, fx, cmd.Name)
	switch {
	case s == nil:
		return m.noSender(now, cmd.Name)
	case picks && (partner != "" && m.partnerName(now, s) != partner || address != "" && !sameAddress(address, s.addr)),
		picks && s.machine.Status() == mqi.MQCHS_INACTIVE:
		return failed("AMQ9533W", cmd.Name)
	}
	fx.Unit.Sync = true
	m.runSender(now, fx, s, stop)
	return done("AMQ8019I")
}

// stopReceivers ends the instances of a receiving channel that are picked.
func (m *Machine) stopReceivers(now time.Time, fx *Effects, name string, stop channel.Stop, picked func(*receiver) bool, some bool) mqsc.Result {
	ended := 0
	for _, r := range m.receiversOf(name) {
		if picked(r) {
			m.runReceiver(now, fx, r, stop)
			ended++
		}
	}
	if some && ended == 0 {
		return failed("AMQ9533W", name)
	}
	fx.Unit.Sync = true
	if !stop.Inactive {
		m.cluster.channels.stopped[name] = true
		m.setRecord(fx, "stop/"+name, []byte{1})
	}
	return done("AMQ8019I")
}

// sameAddress compares a CONNAME with host:port; without a port only the host counts.
func sameAddress(conname, addr string) bool {
	host, _, port := strings.Cut(conname, "(")
	if !port {
		return strings.TrimSpace(host) == hostOnly(addr)
	}
	list := addresses(conname)
	return len(list) == 1 && list[0] == addr
}

// resetChannel is RESET CHANNEL SEQNUM: at the sender both ends start from it
// with the next link, at the receiver only this end.
func (m *Machine) resetChannel(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	seq := uint64(1)
	if v := param(cmd, "SEQNUM"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			return failedText("AMQ8412E", "SEQNUM("+v+"): "+err.Error())
		}
		seq = n
	}
	if m.receivingObject(cmd.Name) != nil {
		if len(m.receiversOf(cmd.Name)) > 0 {
			return failed("AMQ9514E", cmd.Name)
		}
		prefix := "r/" + cmd.Name + "|"
		for _, key := range sortedStrings(m.cluster.channels.records) {
			if strings.HasPrefix(key, prefix) {
				m.setRecord(fx, key, wire.AppendUint(nil, seq-1))
			}
		}
		fx.Unit.Sync = true
		return done("AMQ8023I")
	}
	s := m.senderNamed(now, fx, cmd.Name)
	if s == nil {
		return m.noSender(now, cmd.Name)
	}
	s.fx.Reset()
	if !s.machine.Reset(seq, &s.fx) {
		if s.linked() {
			return failed("AMQ9514E", cmd.Name)
		}
		return failed("AMQ9507E", cmd.Name)
	}
	m.afterSender(now, fx, s, s.machine.Status())
	fx.Unit.Sync = true
	return done("AMQ8023I")
}

// resolveChannel is RESOLVE CHANNEL: a person decides about the messages in doubt.
func (m *Machine) resolveChannel(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	s := m.senderNamed(now, fx, cmd.Name)
	switch {
	case s == nil:
		return m.noSender(now, cmd.Name)
	case s.linked():
		return failed("AMQ9514E", cmd.Name)
	}
	s.fx.Reset()
	s.now, s.out = now, fx
	if s.machine.Resolve(param(cmd, "ACTION") == "COMMIT", &s.fx) {
		m.afterSender(now, fx, s, s.machine.Status())
		fx.Unit.Sync = true
	}
	return done("AMQ8025I")
}

// conname is an address in the form of CONNAME: host(port).
func conname(addr string) string {
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return addr
	}
	return strings.Trim(addr[:i], "[]") + "(" + addr[i+1:] + ")"
}

// hostOnly is the address of a partner that called: its port tells nothing.
func hostOnly(addr string) string {
	if i := strings.LastIndexByte(addr, ':'); i >= 0 {
		addr = addr[:i]
	}
	return strings.Trim(addr, "[]")
}

// endChannels lets every channel finish what is under way. Their records go on
// to say that they were in use, so that the next start goes on with them.
func (m *Machine) endChannels(now time.Time, fx *Effects) {
	ch := &m.cluster.channels
	if m.cluster.repo == nil || ch.quiescing {
		return
	}
	ch.quiescing = true
	for _, name := range sortedStrings(ch.senders) {
		m.runSender(now, fx, ch.senders[name], channel.Stop{Keep: true})
	}
	for _, k := range sortedReceivers(ch.receivers) {
		m.runReceiver(now, fx, ch.receivers[k], channel.Stop{Keep: true})
	}
}

// channelsEnded reports whether an orderly end has nothing to wait for.
func (m *Machine) channelsEnded() bool {
	ch := &m.cluster.channels
	if !ch.quiescing || len(ch.receivers) > 0 {
		return false
	}
	for _, s := range ch.senders {
		if s.linked() {
			return false
		}
	}
	return true
}
