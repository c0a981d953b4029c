package adapt

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// managerRow makes the row of the queue manager itself.
func (d *displayed) managerRow(qmgr string, repository bool, depth func(string) (int, bool), at time.Time) situations.Row {
	env := situations.QMgrAttributes{
		QMGR: qmgr, QMID: d.qmgr["QMID"], DESCR: d.qmgr["DESCR"], REPOS: d.qmgr["REPOS"], DEADQ: d.qmgr["DEADQ"], DEFXMITQ: d.qmgr["DEFXMITQ"],
		CLWLUSEQ: d.qmgr["CLWLUSEQ"], MONQ: d.qmgr["MONQ"], MONCHL: d.qmgr["MONCHL"], PERFMEV: d.qmgr["PERFMEV"],
		STATUS: d.running["STATUS"], CHINIT: d.running["CHINIT"], CMDSERV: d.running["CMDSERV"], SUSPEND: "NO", REPOSITORY: "STALE",
	}
	if repository {
		env.REPOSITORY = "REACHABLE"
	}
	row := situations.Row{Queue: situations.GroupQMgr.Item(qmgr)}
	d.membership(&row, &env)
	d.census(&env)
	number := func(m map[string]string, name string, into *int) {
		n, err := strconv.Atoi(strings.TrimSpace(m[name]))
		if err != nil {
			row.Missing = append(row.Missing, name)
			return
		}
		*into = n
	}
	number(d.running, "CONNS", &env.CONNS)
	number(d.qmgr, "CLWLMRUC", &env.CLWLMRUC)
	number(d.qmgr, "MAXMSGL", &env.MAXMSGL)
	if started, ok := stampOf(d.running["STARTDA"], d.running["STARTTI"]); ok {
		env.UPTIME = max(0, int(at.Sub(started)/time.Second))
	} else {
		row.Missing = append(row.Missing, "UPTIME")
	}
	if n, ok := depth(env.DEADQ); ok {
		env.DEADQDEPTH = n
	} else if env.DEADQ != "" {
		row.Missing = append(row.Missing, "DEADQDEPTH")
	}
	row.Env = env
	return row
}

// membership is what the clusters know of this queue manager. In none it is not
// suspended, and no full repository of one can be said to be stale.
func (d *displayed) membership(row *situations.Row, env *situations.QMgrAttributes) {
	env.QMTYPE = "NORMAL"
	for _, m := range d.cluster {
		if m["CLUSQMGR"] != env.QMGR || m["QMID"] != env.QMID || slices.Contains(row.Clusters, m["CLUSTER"]) {
			continue
		}
		row.Clusters = append(row.Clusters, m["CLUSTER"])
		if m["SUSPEND"] == "YES" {
			row.Suspended, env.SUSPEND = append(row.Suspended, m["CLUSTER"]), "YES"
		}
		if m["QMTYPE"] == "REPOS" {
			env.QMTYPE = "REPOS"
		}
	}
	slices.Sort(row.Clusters)
	if len(row.Clusters) > 0 {
		env.CLUSTER = row.Clusters[0]
	} else {
		env.REPOSITORY = "REACHABLE"
	}
}

// census counts the channels by what they do.
func (d *displayed) census(env *situations.QMgrAttributes) {
	for _, m := range d.status {
		switch m["STATUS"] {
		case "RUNNING":
			env.CHANNELS++
		case "RETRYING":
			env.RETRYING++
		case "STOPPED":
			env.STOPPED++
		}
		if m["INDOUBT"] == "YES" {
			env.INDOUBT++
		}
	}
}
