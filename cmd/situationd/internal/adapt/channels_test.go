package adapt

import (
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/situations"
)

type fields = map[string]string

func depths(m map[string]int) func(string) (int, bool) {
	return func(name string) (int, bool) { n, ok := m[name]; return n, ok }
}

// channelOf gives the row and the attributes of one channel.
func channelOf(t *testing.T, rows []situations.Row, name string) (situations.Row, situations.ChannelAttributes) {
	t.Helper()
	i := slices.IndexFunc(rows, func(r situations.Row) bool { return r.Queue == situations.GroupChannel.Item(name) })
	if i < 0 {
		t.Fatalf("no row of %s in %d", name, len(rows))
	}
	return rows[i], rows[i].Env.(situations.ChannelAttributes)
}

func missing(r situations.Row, names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(r.Missing, n) })
}

// TestChannelRows: a channel that is defined, one that the cluster made, one that
// is both; with status rows and without.
func TestChannelRows(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	status := func(name, status string) fields {
		return fields{"CHANNEL": name, "STATUS": status, "SUBSTATE": "MQGET", "INDOUBT": "NO", "MSGS": "4", "BATCHES": "1",
			"CURMSGS": "0", "SHORTRTS": "8", "LONGRTS": "999999999", "XQMSGSA": "3", "XMITQ": "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
			"LSTMSGDA": "2026-11-30", "LSTMSGTI": "11.59.30", "CHSTADA": "2026-11-30", "CHSTATI": "11.58.00", "RQMNAME": "QM1", "XQTIME": "17,9", "NETTIME": " , "}
	}
	received := status("TO.QM2", "RUNNING")
	received["SHORTRTS"], received["LONGRTS"], received["XQMSGSA"] = " ", " ", " "
	other := status("TO.QM2", "STOPPED")
	other["SHORTRTS"], other["LONGRTS"], other["XQMSGSA"], other["RQMNAME"] = " ", " ", " ", "QM5"
	d := &displayed{
		channels: []fields{
			{"CHANNEL": "S1", "CHLTYPE": "SDR", "XMITQ": "XQ", "SHORTRTY": "10", "LONGRTY": "999999999", "DISCINT": "6000", "BATCHSZ": "50", "MONCHL": "QMGR"},
			{"CHANNEL": "TO.QM1", "CHLTYPE": "CLUSSDR", "CLUSTER": "C1", "DESCR": "ours", "CLWLWGHT": "10"},
			{"CHANNEL": "TO.QM2", "CHLTYPE": "CLUSRCVR", "CLUSTER": "", "CLWLWGHT": "50", "CLWLRANK": "1", "CLWLPRTY": "2"},
			{"CHANNEL": "SYSTEM.DEF.RECEIVER", "CHLTYPE": "RCVR"},
		},
		cluster: []fields{
			{"CHANNEL": "TO.QM1", "CLUSQMGR": "QM1", "CLUSTER": "C1", "DEFTYPE": "CLUSSDRB", "QMTYPE": "REPOS", "SUSPEND": "NO", "CLWLWGHT": "70", "SHORTRTY": "10", "LONGRTY": "999999999", "XMITQ": "SYSTEM.CLUSTER.TRANSMIT.QUEUE"},
			{"CHANNEL": "TO.QM2", "CLUSQMGR": "QM2", "CLUSTER": "C2", "DEFTYPE": "CLUSRCVR", "QMTYPE": "NORMAL", "SUSPEND": "NO"},
			{"CHANNEL": "TO.QM2", "CLUSQMGR": "QM2", "CLUSTER": "C1", "DEFTYPE": "CLUSRCVR", "QMTYPE": "NORMAL", "SUSPEND": "YES"},
			{"CHANNEL": "TO.QM3", "CLUSQMGR": "QM3", "CLUSTER": "C1", "DEFTYPE": "CLUSSDRA", "QMTYPE": "NORMAL", "SUSPEND": "YES", "XMITQ": "SYSTEM.CLUSTER.TRANSMIT.QUEUE"},
		},
		status: []fields{status("TO.QM1", "RUNNING"), received, other, status("UNKNOWN", "RUNNING")},
	}
	rows := d.channelRows("QM2", depths(map[string]int{"XQ": 12, "SYSTEM.CLUSTER.TRANSMIT.QUEUE": 3}), at)
	if !slices.IsSortedFunc(rows, func(a, b situations.Row) int { return slices.Compare([]string{a.Queue}, []string{b.Queue}) }) || len(rows) != 5 {
		t.Fatalf("%d rows, or not in order", len(rows))
	}

	row, env := channelOf(t, rows, "TO.QM1")
	if env.STATUS != "RUNNING" || env.DEFTYPE != "CLUSSDRB" || env.QMTYPE != "REPOS" || env.CLWLWGHT != 70 || env.DESCR != "ours" || env.CHLTYPE != "CLUSSDR" {
		t.Errorf("defined and known: %+v", env)
	}
	if env.LSTMSGAGE != 30 || env.CHSTAAGE != 120 || env.RETRIES != 2 || env.XQMSGSA != 3 || env.XQTIME != 17 || !missing(row, "NETTIME") {
		t.Errorf("its status: %+v, missing %v", env, row.Missing)
	}
	// Nobody has a status of it: it is INACTIVE, and what is only of an active one has no value.
	row, env = channelOf(t, rows, "S1")
	if env.STATUS != "INACTIVE" || env.INDOUBT != "NO" || env.INSTANCES != 0 || env.XQMSGSA != 12 || env.DISCINT != 6000 {
		t.Errorf("inactive: %+v", env)
	}
	if !missing(row, "LSTMSGAGE", "CHSTAAGE", "SHORTRTS", "LONGRTS", "RETRIES", "CLWLWGHT") || missing(row, "XQMSGSA") || env.DEFTYPE != "" {
		t.Errorf("missing of an inactive sender: %v", row.Missing)
	}
	// Its transmission queue holds messages, and nobody says whose.
	row, env = channelOf(t, rows, "TO.QM3")
	if env.CHLTYPE != "CLUSSDR" || env.SUSPEND != "YES" || env.STATUS != "INACTIVE" || !missing(row, "XQMSGSA") || row.Type != "CLUSSDR" {
		t.Errorf("made by the cluster: %+v, missing %v", env, row.Missing)
	}
	// Two instances: sums, and no value where they differ.
	row, env = channelOf(t, rows, "TO.QM2")
	if env.STATUS != "" || env.INSTANCES != 2 || env.MSGS != 8 || env.CHLTYPE != "CLUSRCVR" || env.SUSPEND != "" || env.CLWLWGHT != 50 {
		t.Errorf("two instances: %+v", env)
	}
	if !slices.Equal(row.Clusters, []string{"C1", "C2"}) || !missing(row, "XQMSGSA", "SHORTRTS", "RETRIES", "STATUS", "RQMNAME") || missing(row, "SUBSTATE") {
		t.Errorf("clusters %v, missing %v", row.Clusters, row.Missing)
	}
	if row, _ := channelOf(t, rows, "SYSTEM.DEF.RECEIVER"); !row.System {
		t.Error("a system channel is not marked as one")
	}
}

// A channel of one name to two queue managers has no value where they differ,
// whichever of them is told of last, but where its status knows better.
func TestChannelRows_WhereTheEndsDiffer(t *testing.T) {
	t.Parallel()
	one := fields{
		"CHANNEL": "SHARED", "CLUSQMGR": "QM1", "CLUSTER": "C1", "DEFTYPE": "CLUSSDRA", "QMTYPE": "REPOS", "SUSPEND": "NO", "CONNAME": "a(1)", "XMITQ": "X1", "MONCHL": "QMGR",
		"CLWLWGHT": "50", "CLWLRANK": "0", "CLWLPRTY": "0", "BATCHSZ": "50", "SHORTRTY": "10", "LONGRTY": "9", "DISCINT": "6000",
	}
	other := fields{
		"CHANNEL": "SHARED", "CLUSQMGR": "QM3", "CLUSTER": "C1", "DEFTYPE": "CLUSSDRA", "QMTYPE": "NORMAL", "SUSPEND": "NO", "CONNAME": "b(1)", "XMITQ": "X3", "MONCHL": "OFF",
		"CLWLWGHT": "70", "CLWLRANK": "0", "CLWLPRTY": "1", "BATCHSZ": "50", "SHORTRTY": "20", "LONGRTY": "9", "DISCINT": "6000",
	}
	running := fields{"CHANNEL": "SHARED", "STATUS": "RETRYING", "SHORTRTS": "8", "LONGRTS": "9", "XMITQ": "X3", "RQMNAME": "QM3"}
	for _, cluster := range [][]fields{{one, other}, {other, one}, {one, other, one}} {
		d := &displayed{cluster: cluster}
		row, env := channelOf(t, d.channelRows("QM2", depths(nil), time.Now()), "SHARED")
		if !missing(row, "CONNAME", "XMITQ", "RQMNAME", "CLWLWGHT", "CLWLPRTY", "SHORTRTY") || env.QMTYPE != "" || env.MONCHL != "" {
			t.Errorf("where they differ: %+v, missing %v", env, row.Missing)
		}
		if env.SUSPEND != "NO" || env.DEFTYPE != "CLUSSDRA" || env.BATCHSZ != 50 || env.LONGRTY != 9 || missing(row, "CLWLRANK") || missing(row, "BATCHSZ") || missing(row, "CLUSTER") {
			t.Errorf("where they agree: %+v, missing %v", env, row.Missing)
		}
		d.status = []fields{running}
		row, env = channelOf(t, d.channelRows("QM2", depths(nil), time.Now()), "SHARED")
		if env.XMITQ != "X3" || env.RQMNAME != "QM3" || missing(row, "XMITQ") || missing(row, "RQMNAME") || !missing(row, "RETRIES") {
			t.Errorf("with a status: %+v, missing %v", env, row.Missing)
		}
	}
	if one["QMTYPE"] != "REPOS" {
		t.Error("the answer was changed")
	}
}

// TestManagerRow: in two clusters, suspended from one; and in none.
func TestManagerRow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	d := &displayed{
		qmgr:    fields{"QMID": "QM2_X", "DEADQ": "DLQ", "CLWLUSEQ": "LOCAL", "CLWLMRUC": "999999999", "MAXMSGL": "4194304"},
		running: fields{"STATUS": "RUNNING", "CHINIT": "RUNNING", "CMDSERV": "STOPPED", "CONNS": "7", "STARTDA": "2026-11-30", "STARTTI": "11.00.00"},
		cluster: []fields{
			{"CLUSQMGR": "QM2", "QMID": "QM2_X", "CLUSTER": "C2", "SUSPEND": "YES", "QMTYPE": "NORMAL"},
			{"CLUSQMGR": "QM2", "QMID": "QM2_X", "CLUSTER": "C1", "SUSPEND": "NO", "QMTYPE": "REPOS"},
			{"CLUSQMGR": "QM2", "QMID": "QM2_OLD", "CLUSTER": "C3", "SUSPEND": "YES", "QMTYPE": "NORMAL"}, // another of the same name
			{"CLUSQMGR": "QM1", "QMID": "QM1_X", "CLUSTER": "C1", "SUSPEND": "YES", "QMTYPE": "REPOS"},
		},
		status: []fields{{"STATUS": "RUNNING"}, {"STATUS": "RETRYING", "INDOUBT": "YES"}, {"STATUS": "STOPPED"}},
	}
	row := d.managerRow("QM2", false, depths(map[string]int{"DLQ": 5}), at)
	env := row.Env.(situations.QMgrAttributes)
	if !slices.Equal(row.Clusters, []string{"C1", "C2"}) || !slices.Equal(row.Suspended, []string{"C2"}) || env.SUSPEND != "YES" || env.QMTYPE != "REPOS" {
		t.Errorf("clusters %v, suspended %v, %+v", row.Clusters, row.Suspended, env)
	}
	if env.UPTIME != 3600 || env.CONNS != 7 || env.DEADQDEPTH != 5 || env.REPOSITORY != "STALE" || env.CMDSERV != "STOPPED" {
		t.Errorf("%+v", env)
	}
	if env.CHANNELS != 1 || env.RETRYING != 1 || env.STOPPED != 1 || env.INDOUBT != 1 || len(row.Missing) > 0 {
		t.Errorf("%+v, missing %v", env, row.Missing)
	}
	d.cluster, d.qmgr["DEADQ"], d.running["CONNS"] = nil, "GONE", ""
	row = d.managerRow("QM2", false, depths(nil), at)
	env = row.Env.(situations.QMgrAttributes)
	if env.SUSPEND != "NO" || env.REPOSITORY != "REACHABLE" || len(row.Clusters) > 0 || !missing(row, "DEADQDEPTH", "CONNS") {
		t.Errorf("in no cluster: %+v, missing %v", env, row.Missing)
	}
}
