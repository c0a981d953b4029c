package qmgr

import (
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
	pairs  map[string][2]string
	object *object.Object // attributes that the row takes from a definition
	hidden string         // a bare word that does not hold for it
}

func (r *row) field(a *object.Attr) mqsc.Field {
	if a.Type == object.Flag {
		return mqsc.Field{Key: a.Keyword, Bare: true}
	}
	if v, ok := r.pairs[a.Keyword]; ok {
		return mqsc.Field{Key: a.Keyword, Values: v[:]}
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
		r.add(wanted, func(a *object.Attr) (mqsc.Field, bool) { return rows[i].field(a), a.Keyword != rows[i].hidden })
	}
	return r.or(none)
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

func yesOrNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}
