package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/repository"
	"github.com/situationd/situationd/mqengine/workload"
)

// routeAddressed finds the way to a queue manager that was named: its channels,
// or if it is in no cluster of ours a clustered alias of that name at a gateway.
func (m *Machine) routeAddressed(now time.Time, fx *Effects, rq routeRequest) routeResult {
	if m.cluster.repo == nil {
		return routeResult{Reason: mqi.MQRC_UNKNOWN_REMOTE_Q_MGR}
	}
	known := m.ask(now, fx, rq.QMgr)
	cands := m.qmgrCandidates(now, rq.QMgr)
	gateway := len(cands) == 0
	if gateway {
		cands = m.gatewayCandidates(now, rq.QMgr)
	}
	if len(cands) == 0 {
		switch {
		case known == repository.KnownNo && !rq.Deadline:
			return routeResult{Status: routeWait}
		case known == repository.KnownNo:
			return routeResult{Reason: mqi.MQRC_CLUSTER_RESOLUTION_ERROR}
		}
		return routeResult{Reason: mqi.MQRC_UNKNOWN_REMOTE_Q_MGR}
	}
	req := m.workloadRequest(nil, rq.FromCluster)
	winner, reason := rq.choose(&req, cands)
	xmitQ := m.localQueue(sharedTransmitQ)
	switch {
	case winner < 0:
		return routeResult{Reason: reason}
	case xmitQ == nil:
		return routeResult{Reason: mqi.MQRC_UNKNOWN_XMIT_Q}
	}
	m.count(&rq, &cands[winner])
	res := routeResult{
		Status: routeTransmit, Channel: cands[winner].Channel, XmitQ: xmitQ, TargetQ: rq.Name, TargetQMgr: rq.QMgr,
		Gateway: gateway, DefBind: bindOnOpen,
	}
	if !gateway {
		return res
	}
	if rec := m.cluster.repo.Instance(cands[winner].Cluster, rq.QMgr, cands[winner].QMID); rec != nil {
		res.DefBind = bindOf(rec.Workload.DefBind)
	}
	if rq.Bind == bindOnOpen {
		// Bound to the gateway itself, which does not pass it on.
		res.TargetQMgr = cands[winner].QMgr
	}
	return res
}

func (m *Machine) qmgrCandidates(now time.Time, qmgr string) []workload.Candidate {
	c := &m.cluster
	cands := c.cands[:0]
	for _, host := range c.repo.QMgrNamed(now, qmgr) {
		if host.QMID != m.qmid && m.inCluster(host.Cluster) {
			cands = m.addWay(now, cands, host, host, (*Machine).qmgrCandidate)
		}
	}
	c.cands = cands
	return cands
}

func (m *Machine) gatewayCandidates(now time.Time, alias string) []workload.Candidate {
	c := &m.cluster
	cands := c.cands[:0]
	for _, rec := range c.repo.Instances(now, alias) {
		if !rec.QMgrAlias() || rec.QMID == m.qmid || !m.inCluster(rec.Cluster) {
			continue
		}
		for _, host := range c.repo.Hosts(now, rec.Cluster, rec.QMID) {
			cands = m.addWay(now, cands, rec, host, (*Machine).qmgrCandidate)
		}
	}
	c.cands = cands
	return cands
}

func (m *Machine) qmgrCandidate(rec, host *repository.Record) workload.Candidate {
	c := m.candidate(rec, host)
	c.Put, c.Alias, c.QRank, c.QPrty = true, true, 0, 0
	return c
}
