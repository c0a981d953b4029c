package qmgr

import (
	"strconv"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/repository"
)

// row is one record of a status display: its values by keyword. A keyword that
// is missing shows what the object has, else blank.
type row struct {
	values map[string]string
	object *object.Object // attributes that the row takes from a definition
}

func (r *row) field(a *object.Attr) mqsc.Field {
	if a.Type == object.Flag {
		return mqsc.Field{Key: a.Keyword, Bare: true}
	}
	if v, ok := r.values[a.Keyword]; ok {
		return mqsc.Field{Key: a.Keyword, Values: []string{v}}
	}
	if r.object != nil && r.object.Has(a.Keyword) {
		return mqsc.FieldOf(r.object, a.Keyword)
	}
	if a.Type == object.Pair {
		return mqsc.Field{Key: a.Keyword, Values: []string{"", ""}}
	}
	return mqsc.Field{Key: a.Keyword, Values: []string{""}}
}

// displayRows shows rows, or answers that there is none.
func displayRows(cmd *mqsc.Command, view object.View, id string, rows []row, none mqsc.Result) mqsc.Result {
	r, wanted := newReport(cmd, id), cmd.Wanted(view.Attrs())
	for i := range rows {
		r.add(wanted, func(a *object.Attr) (mqsc.Field, bool) { return rows[i].field(a), true })
	}
	if len(r.out.Responses) == 0 {
		return none
	}
	return r.out
}

// wants reports whether a filter keyword of a DISPLAY, if there is one, lets a value pass.
func wants(cmd *mqsc.Command, keyword, value string) bool {
	p, ok := cmd.Param(keyword)
	return !ok || len(p.Values) == 0 || mqsc.Generic(p.Values[0], value)
}

func stamp(values map[string]string, date, clock string, at, now time.Time) {
	if at.IsZero() {
		return
	}
	at = at.In(now.Location())
	values[date], values[clock] = at.Format(dateLayout), at.Format(timeLayout)
}

// displayQCluster is DISPLAY QCLUSTER: the instances that this queue manager knows.
func (m *Machine) displayQCluster(now time.Time, cmd *mqsc.Command) mqsc.Result {
	return displayRows(cmd, object.ViewQCluster, "AMQ8409I", m.clusterQueueRows(now, cmd), notFound(cmd.Name))
}

func (m *Machine) clusterQueueRows(now time.Time, cmd *mqsc.Command) []row {
	var rows []row
	for _, rec := range m.cluster.repo.Queues(now) {
		if !mqsc.Generic(cmd.Name, rec.Name) || !wants(cmd, "CLUSTER", rec.Cluster) {
			continue
		}
		v := map[string]string{
			"QUEUE": rec.Name, "TYPE": "QCLUSTER", "CLUSTER": rec.Cluster, "CLUSQMGR": rec.QMgr, "CLUSQT": rec.Type(), "QMID": rec.QMID,
		}
		stamp(v, "CLUSDATE", "CLUSTIME", time.UnixMilli(rec.Published), now)
		rows = append(rows, row{values: v, object: rec.Object})
	}
	return rows
}

// displayClusQMgr is DISPLAY CLUSQMGR.
func (m *Machine) displayClusQMgr(now time.Time, cmd *mqsc.Command) mqsc.Result {
	var rows []row
	for _, r := range m.clusQMgrRows(now) {
		v := r.values
		if mqsc.Generic(cmd.Name, v["CLUSQMGR"]) && wants(cmd, "CHANNEL", v["CHANNEL"]) && wants(cmd, "CLUSTER", v["CLUSTER"]) {
			rows = append(rows, r)
		}
	}
	return displayRows(cmd, object.ViewClusQMgr, "AMQ8441I", rows, notFound(cmd.Name))
}

func (m *Machine) clusQMgrRows(now time.Time) (rows []row) {
	known := map[[2]string]bool{}
	for _, rec := range m.cluster.repo.QMgrs(now) {
		known[[2]string{rec.Cluster, rec.Name}] = true
		rows = append(rows, m.clusQMgrRow(now, rec))
	}
	for _, s := range m.cluster.repo.Senders() {
		for _, cluster := range s.Clusters {
			if known[[2]string{cluster, s.Channel}] {
				continue
			}
			rows = append(rows, row{object: m.objectNamed(object.ClusSdr, s.Channel), values: map[string]string{
				"CLUSQMGR": repository.TempName(s.Addr), "CHANNEL": s.Channel, "CLUSTER": cluster, "DEFTYPE": "CLUSSDR",
				"QMTYPE": "NORMAL", "STATUS": m.senderStatus(s.Channel).String(), "SUSPEND": "NO", "XMITQ": sharedTransmitQ,
			}})
		}
	}
	return rows
}

func (m *Machine) clusQMgrRow(now time.Time, rec *repository.Record) row {
	v := map[string]string{
		"CLUSQMGR": rec.QMgr, "CHANNEL": rec.Name, "CLUSTER": rec.Cluster, "QMID": rec.QMID, "QMTYPE": "NORMAL",
		"SUSPEND": yesOrNo(rec.Suspended), "VERSION": m.qmgrObject().Str("VERSION"), "XMITQ": "",
	}
	if rec.Full {
		v["QMTYPE"] = "REPOS"
	}
	stamp(v, "CLUSDATE", "CLUSTIME", time.UnixMilli(rec.Published), now)
	if rec.QMID == m.qmid {
		v["DEFTYPE"], v["STATUS"] = "CLUSRCVR", m.receiverStatus(rec.Name).String()
	} else {
		_, v["DEFTYPE"] = m.senderDefinition(now, rec.Name)
		v["STATUS"], v["XMITQ"] = m.senderStatus(rec.Name).String(), sharedTransmitQ
	}
	return row{values: v, object: rec.Object}
}

// receiverStatus is the state of a receiving channel over all its partners.
func (m *Machine) receiverStatus(name string) mqi.ChannelStatus {
	status := mqi.MQCHS_INACTIVE
	if m.cluster.channels.stopped[name] {
		status = mqi.MQCHS_STOPPED
	}
	for _, k := range sortedReceivers(m.cluster.channels.receivers) {
		if k.channel == name {
			return m.cluster.channels.receivers[k].machine.Status()
		}
	}
	return status
}

// displayChStatus is DISPLAY CHSTATUS. Inactive channels have no record.
func (m *Machine) displayChStatus(now time.Time, cmd *mqsc.Command) mqsc.Result {
	var rows []row
	for _, r := range m.chStatusRows(now) {
		if mqsc.Generic(cmd.Name, r.values["CHANNEL"]) && wants(cmd, "XMITQ", r.values["XMITQ"]) && wants(cmd, "CONNAME", r.values["CONNAME"]) {
			rows = append(rows, r)
		}
	}
	return displayRows(cmd, object.ViewChStatus, "AMQ8417I", rows, failed("AMQ8420I"))
}

func (m *Machine) chStatusRows(now time.Time) (rows []row) {
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
			rows = append(rows, row{object: o, values: map[string]string{
				"CHANNEL": name, "CHLTYPE": o.Kind().String(), "STATUS": mqi.MQCHS_STOPPED.String(), "STOPREQ": "NO", "MCASTAT": "STOPPED",
			}})
		}
	}
	return rows
}

func (m *Machine) senderRow(now time.Time, s *sender) row {
	st, status := s.machine.Stats(), s.machine.Status()
	v := map[string]string{
		"CHANNEL": s.name, "CHLTYPE": s.def.Kind().String(), "CONNAME": conname(s.addr), "RQMNAME": m.partnerName(now, s),
		"STATUS": status.String(), "XMITQ": s.queue.name, "SUBSTATE": "", "INDOUBT": yesOrNo(st.InDoubt > 0 && !s.linked()),
		"CURMSGS": strconv.Itoa(st.InDoubt), "STOPREQ": yesOrNo(status == mqi.MQCHS_STOPPING),
		"XQMSGSA": strconv.Itoa(len(s.backlog.all())), "BYTSSENT": strconv.FormatUint(st.Bytes, 10),
	}
	if status == mqi.MQCHS_RUNNING {
		v["SUBSTATE"] = "MQGET"
	}
	channelCounts(v, st.Msgs, st.Batches, st.LastSeq)
	stamp(v, "LSTMSGDA", "LSTMSGTI", st.LastMsg, now)
	stamp(v, "CHSTADA", "CHSTATI", st.Started, now)
	v["MCASTAT"] = mcaState(status)
	return row{values: v, object: s.def}
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

func channelCounts(v map[string]string, msgs, batches, seq uint64) {
	v["MSGS"], v["BATCHES"] = strconv.FormatUint(msgs, 10), strconv.FormatUint(batches, 10)
	v["CURSEQNO"] = strconv.FormatUint(seq, 10)
}

func (m *Machine) receiverRow(now time.Time, r *receiver) row {
	st, status := r.machine.Stats(), r.machine.Status()
	v := map[string]string{
		"CHANNEL": r.key.channel, "CHLTYPE": r.def.Kind().String(), "CONNAME": hostOnly(r.remote), "RQMNAME": st.Partner,
		"STATUS": status.String(), "XMITQ": "", "SUBSTATE": "RECEIVE", "INDOUBT": "NO", "CURMSGS": "0", "STOPREQ": "NO",
		"MCASTAT": mcaState(status), "BYTSRCVD": strconv.FormatUint(st.Bytes, 10), "LSTSEQNO": strconv.FormatUint(st.LastSeq, 10),
	}
	if status == mqi.MQCHS_PAUSED {
		v["SUBSTATE"] = "MQPUT"
	}
	channelCounts(v, st.Msgs, st.Batches, st.LastSeq)
	stamp(v, "LSTMSGDA", "LSTMSGTI", st.LastMsg, now)
	stamp(v, "CHSTADA", "CHSTATI", st.Started, now)
	return row{values: v, object: r.def}
}

func yesOrNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}
