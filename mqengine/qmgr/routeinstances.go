package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/repository"
	"github.com/situationd/situationd/mqengine/workload"
)

// instances answers InstancesReq.
func (m *Machine) instances(now time.Time, fx *Effects, req InstancesReq) *InstancesResult {
	c := &m.cluster
	res := &InstancesResult{Revision: c.revision, Known: make([]bool, len(req.Queues))}
	if c.repo == nil {
		return res
	}
	for i, name := range req.Queues {
		known := c.repo.Asked(name)
		if req.Subscribe {
			known = m.ask(now, fx, name)
		}
		res.Known[i] = known != repository.KnownNo
	}
	res.Revision, res.Repository = c.revision, m.repositoryReachable(now)
	if req.Since == c.revision {
		res.Unchanged = true
		return res
	}
	for _, name := range req.Queues {
		res.Instances = m.appendInstances(now, res.Instances, name)
	}
	return res
}

// repositoryReachable: this is a full repository, or a channel to one is not in trouble.
func (m *Machine) repositoryReachable(now time.Time) bool {
	channels, self := m.cluster.repo.FullRepositories(now)
	if self {
		return true
	}
	for _, ch := range channels {
		if reachable(m.senderStatus(ch)) {
			return true
		}
	}
	return false
}

func reachable(s mqi.ChannelStatus) bool {
	return s != mqi.MQCHS_RETRYING && s != mqi.MQCHS_PAUSED && s != mqi.MQCHS_STOPPED
}

// appendInstances lists the instances of one queue with what the algorithm would make of each.
func (m *Machine) appendInstances(now time.Time, out []Instance, name string) []Instance {
	own := m.catalog.queues[name]
	if own != nil && !own.attr.clustered() {
		own = nil
	}
	cands, _ := m.candidates(now, routeRequest{Name: name}, own)
	top := topRank(cands)
	for i := range cands {
		c := &cands[i]
		in := Instance{
			Queue: name, Cluster: c.Cluster, QMgr: c.QMgr, QMID: c.QMID, Local: c.Local, Put: c.Put,
			Rank: c.QRank, Prty: c.QPrty, ChlRank: c.ChlRank, ChlPrty: c.ChlPrty,
			Suspended: c.Suspended, Channel: c.Channel, Status: c.Status,
			Usable: c.Put && !c.Suspended && [2]int{c.ChlRank, c.QRank} == top && (c.Local || reachable(c.Status)),
		}
		if c.Local {
			in.Type, in.DefBind = own.def.Kind().String(), own.attr.public.DefBind
		} else if rec := m.cluster.repo.Instance(c.Cluster, name, c.QMID); rec != nil {
			in.Type, in.DefBind = rec.Type(), rec.Workload.DefBind
		}
		out = append(out, in)
	}
	return out
}

// topRank is the highest channel rank, and the highest queue rank among those that have it.
func topRank(cands []workload.Candidate) (top [2]int) {
	for i, c := range cands {
		r := [2]int{c.ChlRank, c.QRank}
		if i == 0 || r[0] > top[0] || r[0] == top[0] && r[1] > top[1] {
			top = r
		}
	}
	return top
}
