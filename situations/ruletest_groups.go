package situations

import (
	"reflect"
	"slices"
)

// complete adds to a sample what every queue manager has: an answer without any
// queue or channel would tell nothing.
func (w *world) complete(obs *Observation, qmgr string) {
	if len(obs.Rows) == 0 {
		obs.Rows = append(obs.Rows, Row{Queue: "SYSTEM.DEFAULT.LOCAL.QUEUE", Type: "QLOCAL", System: true, Env: Attributes{QMGR: qmgr}})
	}
	slices.SortFunc(obs.Others, func(a, b Row) int { return compareItems(a.Queue, b.Queue) })
	sender := GroupChannel.Item("SYSTEM.DEF.SENDER")
	if i, found := slices.BinarySearchFunc(obs.Others, sender, func(r Row, item string) int { return compareItems(r.Queue, item) }); !found {
		row := Row{Queue: sender, Type: "SDR", System: true, Env: ChannelAttributes{QMGR: qmgr, STATUS: "INACTIVE"}}
		obs.Others = slices.Insert(obs.Others, i, row)
	}
}

// otherRow gives what a channel or queue manager has, as MQ has it unless the test says otherwise.
func (w *world) otherRow(q *testQueue) Row {
	row := Row{Queue: q.queue}
	if q.cluster != "" {
		row.Clusters = []string{q.cluster}
	}
	if q.group == GroupChannel {
		a := w.channelDefaults(q)
		row.Type = a.CHLTYPE
		w.fillRow(q, &row, reflect.ValueOf(&a).Elem())
		a.STATUS = q.set[AttrStatus]
		a.CLWLWGHT, a.CLWLRANK, a.CLWLPRTY = number0(q.set[AttrWeight]), number0(q.set[AttrRank]), number0(q.set[AttrPriority])
		row.Type, row.Env = a.CHLTYPE, a
		return row
	}
	a := QMgrAttributes{
		QMGR: q.qmgr, QMID: q.qmgr, CLUSTER: q.cluster, STATUS: "RUNNING", CHINIT: "RUNNING", CMDSERV: "RUNNING", CONNS: 1,
		QMTYPE: "NORMAL", REPOSITORY: "REACHABLE", CLWLUSEQ: "LOCAL", CLWLMRUC: 999999999, MAXMSGL: 4194304,
		MONQ: "OFF", MONCHL: "OFF", PERFMEV: "DISABLED",
	}
	w.fillRow(q, &row, reflect.ValueOf(&a).Elem())
	a.SUSPEND = q.set[AttrSuspend]
	if a.SUSPEND == Yes {
		row.Suspended = row.Clusters
	}
	row.Env = a
	return row
}

// channelDefaults is a channel as MQ makes it by itself: in a cluster the sender
// that the repository knows of, else one that is defined. Others a test says.
func (w *world) channelDefaults(q *testQueue) ChannelAttributes {
	a := ChannelAttributes{
		CHANNEL: q.name, QMGR: q.qmgr, CLUSTER: q.cluster, CHLTYPE: "SDR", INDOUBT: No, INSTANCES: 1,
		BATCHSZ: 50, SHORTRTY: 10, LONGRTY: 999999999, DISCINT: 6000, SHORTRTS: 10, LONGRTS: 999999999, MONCHL: "QMGR",
	}
	if q.cluster == "" {
		return a
	}
	a.CHLTYPE, a.DEFTYPE, a.QMTYPE, a.SUSPEND = "CLUSSDR", "CLUSSDRA", "NORMAL", No
	a.XMITQ = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
	return a
}
