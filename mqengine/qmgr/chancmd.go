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
		return failed("AMQ9519E", name)
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

func (m *Machine) stopChannel(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	inactive := param(cmd, "STATUS") == "INACTIVE"
	mode := param(cmd, "MODE")
	if m.receivingObject(cmd.Name) != nil {
		for _, r := range m.receiversOf(cmd.Name) {
			m.runReceiver(now, fx, r, channel.Stop{})
		}
		fx.Unit.Sync = true
		if !inactive {
			m.cluster.channels.stopped[cmd.Name] = true
			m.setRecord(fx, "stop/"+cmd.Name, []byte{1})
		}
		return done("AMQ8019I")
	}
	s := m.senderNamed(now, fx, cmd.Name)
	if s == nil {
		return failed("AMQ9519E", cmd.Name)
	}
	fx.Unit.Sync = true
	m.runSender(now, fx, s, channel.Stop{Force: mode == "FORCE" || mode == "TERMINATE", Inactive: inactive})
	return done("AMQ8019I")
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
		return failed("AMQ9519E", cmd.Name)
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
		return failed("AMQ9519E", cmd.Name)
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
