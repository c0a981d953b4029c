package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/repository"
)

// clusterCommand carries out the commands of clusters and channels; false: not one of them.
func (m *Machine) clusterCommand(now time.Time, fx *Effects, cmd *mqsc.Command) (mqsc.Result, bool) {
	if m.cluster.repo == nil {
		return mqsc.Result{}, false
	}
	switch cmd.Verb + " " + cmd.Noun {
	case "DISPLAY QCLUSTER":
		return m.displayQCluster(now, cmd), true
	case "DISPLAY CLUSQMGR":
		return m.displayClusQMgr(now, cmd), true
	case "DISPLAY CHSTATUS":
		return m.displayChStatus(now, cmd), true
	case "START CHANNEL":
		return m.startChannel(now, fx, cmd.Name), true
	case "STOP CHANNEL":
		return m.stopChannel(now, fx, cmd), true
	case "RESET CHANNEL":
		return m.resetChannel(now, fx, cmd), true
	case "RESOLVE CHANNEL":
		return m.resolveChannel(now, fx, cmd), true
	case "SUSPEND QMGR", "RESUME QMGR":
		return m.suspendQMgr(now, fx, cmd), true
	case "REFRESH CLUSTER":
		return m.refreshCluster(now, fx, cmd), true
	case "RESET CLUSTER":
		return m.resetCluster(now, fx, cmd), true
	}
	return mqsc.Result{}, false
}

// failedText is a refusal whose sentence is our own.
func failedText(id, text string) mqsc.Result {
	return mqsc.Result{Failed: true, Responses: []mqsc.Response{{ID: id, Text: text}}}
}

// param is the value of a keyword such as TYPE(HANDLE) or CLUSTER(C*); "" without one.
func param(cmd *mqsc.Command, keyword string) string {
	if p, ok := cmd.Param(keyword); ok && len(p.Values) > 0 {
		return p.Values[0]
	}
	return ""
}

// suspendQMgr is SUSPEND QMGR and RESUME QMGR: advice to the others, spread like every definition.
func (m *Machine) suspendQMgr(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	clusters := []string{param(cmd, "CLUSTER")}
	if nl := param(cmd, "CLUSNL"); nl != "" {
		if clusters = m.catalog.names(nl); clusters == nil {
			return failed("AMQ8147E", nl)
		}
	}
	on := cmd.Verb == "SUSPEND"
	for _, c := range clusters {
		if !m.inCluster(c) {
			return failedText("AMQ9419W", "No cluster-receiver channels for cluster '"+c+"': this queue manager is not in it.")
		}
	}
	fx.Unit.Sync = true
	for _, c := range clusters {
		m.withRepository(now, fx, func(rx *repository.Effects) { m.cluster.repo.Suspend(now, c, on, rx) })
		if on && param(cmd, "MODE") == "FORCE" {
			m.endClusterReceivers(now, fx, c)
		}
	}
	if on {
		return done("AMQ8557I")
	}
	return done("AMQ8556I")
}

// endClusterReceivers ends the inbound channels of a cluster; a partner that still has to call again.
func (m *Machine) endClusterReceivers(now time.Time, fx *Effects, cluster string) {
	for _, k := range sortedReceivers(m.cluster.channels.receivers) {
		r := m.cluster.channels.receivers[k]
		for _, c := range m.clustersOf(r.def) {
			if c == cluster {
				m.endReceiver(now, fx, r)
				break
			}
		}
	}
}

// refreshCluster is REFRESH CLUSTER. It is also the last step of leaving one:
// it cleans up what is known of it.
func (m *Machine) refreshCluster(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	clusters := []string{cmd.Name}
	if cmd.Name == "*" {
		clusters = m.cluster.repo.AllClusters()
	}
	for _, c := range clusters {
		if !m.cluster.repo.Knows(c) {
			return failedText("AMQ9419W", "No cluster-receiver channels for cluster '"+c+"': this queue manager is not in it.")
		}
		if param(cmd, "REPOS") == "YES" && m.cluster.repo.IsFull(c) {
			logf(fx, "AMQ9406E", "REFRESH CLUSTER REPOS(YES) command failed, this queue manager is a full repository for cluster '%s'.", c)
			return failed("AMQ9406E", c)
		}
	}
	fx.Unit.Sync = true
	for _, c := range clusters {
		m.withRepository(now, fx, func(rx *repository.Effects) {
			m.cluster.repo.Refresh(now, c, param(cmd, "REPOS") == "YES", m.channelInUse, rx)
		})
	}
	m.forgetSenders(now, fx)
	return done("AMQ8558I")
}

// channelInUse reports whether messages wait for a cluster sender, or are in doubt on it.
func (m *Machine) channelInUse(name string) bool {
	ch := &m.cluster.channels
	if s := ch.senders[name]; s != nil && len(s.taken) > 0 {
		return true
	}
	for k, b := range ch.backlogs {
		if k.channel == name && b.ready() {
			return true
		}
	}
	return false
}

// resetCluster removes a queue manager by force. A name that two have does nothing: the QMID tells them apart.
func (m *Machine) resetCluster(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	if !m.cluster.repo.IsFull(cmd.Name) {
		return failedText("AMQ8434E", "RESET CLUSTER is for a full repository: this queue manager is not one for cluster '"+cmd.Name+"'.")
	}
	qmid := param(cmd, "QMID")
	if name := param(cmd, "QMNAME"); name != "" {
		ids := m.cluster.repo.QMIDs(cmd.Name, name)
		switch len(ids) {
		case 0:
		case 1:
			qmid = ids[0]
		default:
			return failedText("AMQ8430E", "Several queue managers in the cluster are named '"+name+"': use QMID.")
		}
	}
	removed := 0
	if qmid != "" && qmid != m.qmid {
		m.withRepository(now, fx, func(rx *repository.Effects) {
			removed = m.cluster.repo.ForceRemove(now, cmd.Name, qmid, param(cmd, "QUEUES") == "YES", rx)
		})
	}
	if removed == 0 {
		return failed("AMQ8430E")
	}
	fx.Unit.Sync = true
	return done("AMQ8559I")
}
