package qmgr

import (
	"slices"
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
	res.Revision, res.Repository = c.revision, m.repositoriesReachable(now, req.Queues)
	if req.Since == c.revision {
		res.Unchanged = true
		return res
	}
	for _, name := range req.Queues {
		res.Instances = m.appendInstances(now, res.Instances, name)
	}
	return res
}

// repositoriesReachable: in every cluster of the queues of ours that are asked
// for, or where none of them is ours in any cluster, a full repository can be reached.
func (m *Machine) repositoriesReachable(now time.Time, queues []string) bool {
	var clusters []string
	for _, name := range queues {
		if q := m.catalog.queues[name]; q != nil {
			clusters = append(clusters, q.attr.public.Clusters...)
		}
	}
	slices.Sort(clusters)
	clusters = slices.DeleteFunc(slices.Compact(clusters), func(c string) bool { return !m.inCluster(c) })
	for _, c := range clusters {
		if !m.repositoryReachable(now, c) {
			return false
		}
	}
	if len(clusters) > 0 {
		return true
	}
	return slices.ContainsFunc(m.cluster.repo.Clusters(), func(c string) bool { return m.repositoryReachable(now, c) })
}

// repositoryReachable: this is a full repository of the cluster, or a channel to one is not in trouble.
func (m *Machine) repositoryReachable(now time.Time, cluster string) bool {
	return m.cluster.repo.IsFull(cluster) || slices.ContainsFunc(m.cluster.repo.FullRepositories(now, cluster), func(channel string) bool {
		return reachable(m.senderStatus(channel))
	})
}

// noteRepositories says in the log when what is known of a cluster becomes
// STALE because no full repository can be reached, and when one is there again.
// Messages are routed by what is known meanwhile.
func (m *Machine) noteRepositories(now time.Time, fx *Effects) {
	c := &m.cluster
	for _, cluster := range c.repo.Clusters() {
		switch {
		case !m.cluster.repo.IsFull(cluster) && len(m.cluster.repo.FullRepositories(now, cluster)) == 0:
			// Just joining: there is no CLUSSDR yet.
		case !m.repositoryReachable(now, cluster):
			if !c.stale[cluster] {
				c.stale[cluster] = true
				logf(fx, "AMQ9420W", "No repositories for cluster '%s' can be reached: what is known of it is STALE, and messages are routed by it.", cluster)
			}
		case c.stale[cluster] && m.repositoryRuns(now, cluster):
			delete(c.stale, cluster)
			logf(fx, "AMQ9410I", "A repository of cluster '%s' is reached again.", cluster)
		}
	}
}

// repositoryRuns: a channel to a full repository runs, rather than being tried once more.
func (m *Machine) repositoryRuns(now time.Time, cluster string) bool {
	return m.cluster.repo.IsFull(cluster) || slices.ContainsFunc(m.cluster.repo.FullRepositories(now, cluster), func(channel string) bool {
		return m.senderStatus(channel) == mqi.MQCHS_RUNNING
	})
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
