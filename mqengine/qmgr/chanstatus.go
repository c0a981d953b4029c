package qmgr

import (
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// displayChStatus is DISPLAY CHSTATUS: of channels that are active, retrying or
// stopped; with SAVED what the store has of them and of all others that ever ran.
func (m *Machine) displayChStatus(now time.Time, cmd *mqsc.Command) mqsc.Result {
	all := m.currentChannels(now)
	if _, saved := cmd.Param("SAVED"); saved {
		all = m.savedChannels(now)
	}
	var rows []row
	for _, r := range all {
		if mqsc.Generic(cmd.Name, r.values["CHANNEL"]) && wants(cmd, "XMITQ", r.values["XMITQ"]) && wants(cmd, "CONNAME", r.values["CONNAME"]) {
			rows = append(rows, r)
		}
	}
	return displayRows(cmd, object.ViewChStatus, "AMQ8417I", rows, failed("AMQ8420I"))
}

func (m *Machine) currentChannels(now time.Time) (rows []row) {
	ch := &m.cluster.channels
	for _, name := range sortedStrings(ch.senders) {
		if s := ch.senders[name]; s.machine.Status() != mqi.MQCHS_INACTIVE {
			rows = append(rows, m.senderRow(now, s))
		}
	}
	seen := map[string]bool{}
	for _, k := range sortedReceivers(ch.receivers) {
		seen[k.channel] = true
		rows = append(rows, m.receiverRow(now, ch.receivers[k]))
	}
	for _, name := range sortedStrings(ch.stopped) {
		if o := m.receivingObject(name); o != nil && !seen[name] {
			rows = append(rows, row{object: o, hidden: "SAVED", values: map[string]string{
				"CHANNEL": name, "CHLTYPE": o.Kind().String(), "CONNAME": "", "STATUS": mqi.MQCHS_STOPPED.String(), "STOPREQ": "NO", "MCASTAT": "STOPPED",
				"SSLCIPH": "", "SECPROT": "", "SSLPEER": "", "MONCHL": m.monitoringOf(o),
			}})
		}
	}
	return rows
}

func (m *Machine) senderRow(now time.Time, s *sender) row {
	st, status := s.machine.Stats(), s.machine.Status()
	r := m.channelRow(now, s.def, st, status, s.security, s.local)
	v := r.values
	v["CHANNEL"], v["CHLTYPE"], v["CONNAME"], v["RQMNAME"] = s.name, s.def.Kind().String(), conname(s.addr), m.partnerName(now, s)
	v["XMITQ"], v["SUBSTATE"] = s.queue.name, s.subState(st, status)
	v["INDOUBT"], v["CURMSGS"] = yesOrNo(st.InDoubt > 0), strconv.Itoa(st.InDoubt)
	v["XQMSGSA"], v["BYTSSENT"], v["BYTSRCVD"] = strconv.Itoa(len(s.backlog.all())), count(st.Bytes), "0"
	v["SHORTRTS"], v["LONGRTS"] = strconv.Itoa(st.ShortLeft), strconv.Itoa(st.LongLeft)
	unitIDs(v, m.qmid, s.name, st)
	if s.addr == "" {
		v["CONNAME"] = s.def.Str("CONNAME") // it has not dialled yet
	}
	if v["MONCHL"] != "OFF" {
		r.pairs = map[string][2]string{"NETTIME": pair(st.NetTime), "XBATCHSZ": pair(st.BatchMsgs), "XQTIME": pair(s.waited)}
	}
	return r
}

// subState is what a sender waits for.
func (s *sender) subState(st channel.Stats, status mqi.ChannelStatus) string {
	switch {
	case !s.linked():
		return ""
	case status == mqi.MQCHS_STARTING, status == mqi.MQCHS_RETRYING:
		return "NETCONNECT"
	case status == mqi.MQCHS_BINDING:
		return "RESYNCH"
	case st.InDoubt > 0:
		return "RECEIVE"
	}
	return "MQGET"
}

func (m *Machine) receiverRow(now time.Time, r *receiver) row {
	st, status := r.machine.Stats(), r.machine.Status()
	out := m.channelRow(now, r.def, st, status, r.security, r.local)
	v := out.values
	v["CHANNEL"], v["CHLTYPE"], v["CONNAME"], v["RQMNAME"] = r.key.channel, r.def.Kind().String(), hostOnly(r.remote), st.Partner
	v["XMITQ"], v["SUBSTATE"], v["INDOUBT"], v["CURMSGS"] = "", "RECEIVE", "NO", "0"
	v["BYTSRCVD"], v["BYTSSENT"] = count(st.Bytes), "0"
	unitIDs(v, r.key.qmid, r.key.channel, st)
	if status == mqi.MQCHS_PAUSED {
		v["SUBSTATE"] = "MQPUT"
	}
	return out
}

// channelRow is what the records of both ends have.
func (m *Machine) channelRow(now time.Time, def *object.Object, st channel.Stats, status mqi.ChannelStatus, sec *channel.Security, local string) row {
	v := map[string]string{
		"STATUS": status.String(), "STOPREQ": yesOrNo(status == mqi.MQCHS_STOPPING), "MCASTAT": mcaState(status),
		"MSGS": count(st.Msgs), "BATCHES": count(st.Batches), "BUFSSENT": count(st.FramesOut), "BUFSRCVD": count(st.FramesIn),
		"BATCHSZ": strconv.Itoa(st.BatchSz), "HBINT": strconv.Itoa(int(st.HBInt / time.Second)), "MONCHL": m.monitoringOf(def),
		"SECPROT": sec.Protocol(), "SSLCIPH": "", "SSLPEER": "", "SSLCERTI": "", "LOCLADDR": conname(local),
	}
	if sec != nil {
		v["SSLCIPH"], v["SSLPEER"], v["SSLCERTI"] = object.CipherSuiteName(sec.Suite), sec.Peer.String(), sec.Issuer.String()
	}
	stamp(v, "LSTMSGDA", "LSTMSGTI", st.LastMsg, now)
	stamp(v, "CHSTADA", "CHSTATI", st.Started, now)
	return row{values: v, object: def, hidden: "SAVED"}
}

// unitIDs are the numbers that a person compares at both ends before RESOLVE CHANNEL.
func unitIDs(v map[string]string, senderQMID, channelName string, st channel.Stats) {
	v["CURSEQNO"], v["LSTSEQNO"] = count(st.LastSeq), count(st.Committed)
	v["CURLUWID"] = channel.UnitID(senderQMID, channelName, st.LastSeq)
	v["LSTLUWID"] = channel.UnitID(senderQMID, channelName, st.Committed)
}

// savedChannels are the records of channels, running or not.
func (m *Machine) savedChannels(now time.Time) (rows []row) {
	ch := &m.cluster.channels
	for _, key := range sortedStrings(ch.records) {
		kind, name, _ := strings.Cut(key, "/")
		v := map[string]string{"CHANNEL": name, "STATUS": "", "SUBSTATE": "", "INDOUBT": "NO", "CURMSGS": "0", "XMITQ": "", "CONNAME": "", "RQMNAME": ""}
		var def *object.Object
		switch kind {
		case "s":
			st, err := channel.Saved(ch.records[key])
			if err != nil {
				continue // the log told of it when the channel was to be used
			}
			if def, _ = m.senderDefinition(now, name); def == nil {
				def = object.New(object.ClusSdr, name)
			}
			if s := ch.senders[name]; s != nil {
				v["XMITQ"] = s.queue.name
			} else if q, _ := m.transmitQueue(def); q != nil {
				v["XMITQ"] = q.name
			}
			v["INDOUBT"], v["CURMSGS"] = yesOrNo(st.InDoubt > 0), strconv.Itoa(st.InDoubt)
			v["CONNAME"], v["RQMNAME"] = def.Str("CONNAME"), nameInQMID(st.PartnerQMID)
			unitIDs(v, m.qmid, name, st)
		case "r":
			last, err := channel.DecodeLast(ch.records[key])
			if err != nil {
				continue
			}
			channelName, qmid, _ := strings.Cut(name, "|")
			if def = m.receivingObject(channelName); def == nil {
				def = object.New(object.Receiver, channelName)
			}
			v["CHANNEL"], v["RQMNAME"] = channelName, nameInQMID(qmid)
			unitIDs(v, qmid, channelName, channel.Stats{LastSeq: last, Committed: last})
		default:
			continue
		}
		v["CHLTYPE"] = def.Kind().String()
		rows = append(rows, row{values: v, hidden: "CURRENT"})
	}
	return rows
}

// nameInQMID is the name with which a queue manager's identifier begins; the
// date and time of its creation are behind it.
func nameInQMID(qmid string) string {
	const stampLength = len("_2006-01-02_15.04.05")
	return qmid[:max(0, len(qmid)-stampLength)]
}

// partnerName is who answered last, else whom the cluster knows under the channel's name.
func (m *Machine) partnerName(now time.Time, s *sender) string {
	if p := s.machine.Stats().Partner; p != "" {
		return p
	}
	if rec := m.cluster.repo.Channel(now, s.name); rec != nil {
		return rec.QMgr
	}
	return ""
}

// monitoringOf is MONCHL in force.
func (m *Machine) monitoringOf(def *object.Object) string {
	word, own := m.qmgrObject().Str("MONCHL"), def.Str("MONCHL")
	switch {
	case word == "NONE":
		return "OFF"
	case own == "" || own == "QMGR":
		return word
	}
	return own
}

func mcaState(s mqi.ChannelStatus) string {
	switch s {
	case mqi.MQCHS_STOPPED:
		return "STOPPED"
	case mqi.MQCHS_RETRYING:
		return "NOT RUNNING"
	default:
		return "RUNNING"
	}
}

func count(n uint64) string { return strconv.FormatUint(n, 10) }

func pair(a channel.Average) [2]string {
	return [2]string{strconv.FormatInt(min(a.Short, maxShown), 10), strconv.FormatInt(min(a.Long, maxShown), 10)}
}
