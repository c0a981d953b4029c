package qmgr

import (
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/repository"
	"github.com/situationd/situationd/mqengine/workload"
)

// routeRequest asks where a message for a cluster name goes.
type routeRequest struct {
	Name string // queue; blank when only the queue manager matters
	QMgr string // queue manager that was named, already through the aliases; blank to choose
	Bind bindType
	// Open: asked by MQOPEN. With bindNotFixed only existence counts, and nothing is chosen.
	Open bool
	// Deadline: the time that an open may wait for the repository is over; routeWait is no answer.
	Deadline bool
	// FromCluster: the message came in over a cluster channel.
	FromCluster bool
	// Peek: nothing will be put, so the choice must not count for the next one.
	Peek bool
	// Through: asked for what an alias or a definition of our own stands for, which must not be another one.
	Through bool
	// Choice, if set, is told how the choice was made; nothing counts then either.
	Choice *choice
}

// choice is what is kept of a choice for whoever wants it explained.
type choice struct {
	req   workload.Request
	cands []workload.Candidate
	trace workload.Trace
}

// choose makes the choice, and keeps it if it is to be explained.
func (rq *routeRequest) choose(req *workload.Request, cands []workload.Candidate) (winner int, reason mqi.Reason) {
	if rq.Choice == nil {
		return workload.Choose(req, cands, nil)
	}
	*rq.Choice = choice{req: *req, cands: slices.Clone(cands)}
	return workload.Choose(req, cands, &rq.Choice.trace)
}

// count counts a message that goes to the candidate that was chosen.
func (m *Machine) count(rq *routeRequest, c *workload.Candidate) {
	if !rq.Peek && rq.Choice == nil {
		m.cluster.counters.Bump(c)
	}
}

// routeStatus says what route found.
type routeStatus uint8

const (
	// routeFailed: Reason says why.
	routeFailed routeStatus = iota
	// routeLocal: Queue is the local queue.
	routeLocal
	// routeTransmit: put to XmitQ with Channel, TargetQ and TargetQMgr.
	routeTransmit
	// routeWait: the full repositories were asked; resumeOpens tells when they answered.
	routeWait
)

// routeResult is route's answer.
type routeResult struct {
	Status      routeStatus
	Queue       *queue // routeLocal
	Channel     string // routeTransmit: the cluster sender; blank on an ordinary transmission queue
	XmitQ       *queue // routeTransmit
	TargetQ     string // queue name at the destination
	TargetQMgr  string // queue manager chosen
	Gateway     bool   // the queue manager that was named is an alias at the one chosen
	DefBind     bindType
	DefPersist  bool // defaults of the instance, for puts that ask for the queue's
	DefPriority int32
	Reason      mqi.Reason
}

// route resolves a name through the cluster.
func (m *Machine) route(now time.Time, fx *Effects, rq routeRequest) routeResult {
	if rq.QMgr != "" && rq.QMgr != m.name {
		return m.routeAddressed(now, fx, rq)
	}
	own := m.catalog.queues[rq.Name]
	if own != nil && (rq.QMgr != "" || !own.attr.clustered() || m.cluster.repo == nil) {
		return m.routeOwn(now, fx, rq, own)
	}
	if m.cluster.repo == nil {
		return routeResult{Reason: mqi.MQRC_UNKNOWN_OBJECT_NAME}
	}
	known := m.ask(now, fx, rq.Name)
	if own != nil && m.elsewhere(own) {
		m.ask(now, fx, own.attr.target)
	}
	cands, local := m.candidates(now, rq, own)
	switch {
	case len(cands) == 0 && own != nil:
		return m.routeOwn(now, fx, rq, own) // an alias without its base
	case len(cands) == 0:
		return m.routeUnknown(now, rq, known)
	}
	return m.routeChosen(now, fx, rq, own, cands, local)
}

// ask makes sure that the full repositories are asked for a name.
func (m *Machine) ask(now time.Time, fx *Effects, name string) (known repository.Known) {
	m.withRepository(now, fx, func(rx *repository.Effects) { known = m.cluster.repo.Ask(now, name, rx) })
	return known
}

// routeUnknown: nothing can be chosen from.
func (m *Machine) routeUnknown(now time.Time, rq routeRequest, known repository.Known) routeResult {
	switch {
	case known == repository.KnownNo && !rq.Deadline:
		return routeResult{Status: routeWait}
	case known == repository.KnownNo:
		return routeResult{Reason: mqi.MQRC_CLUSTER_RESOLUTION_ERROR}
	case len(m.cluster.repo.Instances(now, rq.Name)) > 0:
		// There are instances, but no way to any of them.
		return routeResult{Reason: mqi.MQRC_NO_DESTINATIONS_AVAILABLE}
	}
	return routeResult{Reason: mqi.MQRC_UNKNOWN_OBJECT_NAME}
}

// candidates gathers the instances of a queue with the routes to them; local
// is the index of our own, -1 if there is none. The slice is good until the next call.
func (m *Machine) candidates(now time.Time, rq routeRequest, own *queue) (cands []workload.Candidate, local int) {
	c := &m.cluster
	cands, local = c.cands[:0], -1
	if own != nil && !(rq.FromCluster && m.baseless(now, own)) {
		local = 0
		cands = append(cands, m.localCandidate(now, own))
	}
	for _, rec := range c.repo.Instances(now, rq.Name) {
		if rec.QMID == m.qmid || rec.QMgrAlias() || !m.inCluster(rec.Cluster) {
			continue
		}
		for _, host := range c.repo.Hosts(now, rec.Cluster, rec.QMID) {
			cands = m.addWay(now, cands, rec, host, (*Machine).candidate)
		}
	}
	c.cands = cands
	return cands, local
}

// addWay adds a way to an instance, unless its channel is among them: in
// overlapping clusters a queue manager with one CLUSRCVR for all of them is one
// destination, and not suspended as long as it is not in one of them. Nor is it
// added if its channel leads to another queue manager of that name by now.
func (m *Machine) addWay(
	now time.Time, cands []workload.Candidate, rec, host *repository.Record,
	way func(m *Machine, rec, host *repository.Record) workload.Candidate,
) []workload.Candidate {
	if to := m.cluster.repo.Channel(now, host.Name); to != nil && to.QMID != host.QMID {
		return cands
	}
	for i := range cands {
		c := &cands[i]
		if c.Local {
			continue
		}
		if c.Cluster == rec.Cluster {
			break // they are in the order of clusters: the rest is of this one
		}
		if c.Channel == host.Name {
			if c.Suspended && !host.Suspended {
				*c = way(m, rec, host)
			}
			return cands
		}
	}
	return append(cands, way(m, rec, host))
}

func (m *Machine) inCluster(cluster string) bool {
	for _, c := range m.cluster.repo.Clusters() {
		if c == cluster {
			return true
		}
	}
	return false
}

// localCandidate is our own instance with the values of our own CLUSRCVR.
func (m *Machine) localCandidate(now time.Time, q *queue) workload.Candidate {
	c := workload.Candidate{
		QMgr: m.name, QMID: m.qmid, Cluster: q.attr.public.Clusters[0], Local: true, Put: q.attr.put,
		QRank: q.attr.public.ClwlRank, QPrty: q.attr.public.ClwlPrty, ChlWght: 50,
	}
	for i, cluster := range q.attr.public.Clusters {
		for _, host := range m.cluster.repo.Hosts(now, cluster, m.qmid) {
			w := &host.Workload
			if i == 0 || c.Suspended && !host.Suspended || c.Suspended == host.Suspended && w.Rank > c.ChlRank {
				c.Cluster, c.Suspended = cluster, host.Suspended
				c.ChlRank, c.ChlPrty, c.ChlWght, c.NetPrty = w.Rank, w.Priority, w.Weight, w.NetPriority
			}
		}
	}
	m.cluster.counters.Fill(&c)
	return c
}

// candidate is an instance elsewhere over one channel.
func (m *Machine) candidate(rec, host *repository.Record) workload.Candidate {
	c := workload.Candidate{
		QMgr: rec.QMgr, QMID: rec.QMID, Cluster: rec.Cluster, Channel: host.Name, Alias: rec.QMgrAlias(),
		Put: rec.Workload.Put, Suspended: host.Suspended, Status: m.senderStatus(host.Name),
		NetPrty: host.Workload.NetPriority, ChlRank: host.Workload.Rank, ChlPrty: host.Workload.Priority, ChlWght: host.Workload.Weight,
		QRank: rec.Workload.Rank, QPrty: rec.Workload.Priority,
	}
	m.cluster.counters.Fill(&c)
	return c
}

// workloadRequest is what the choice depends on besides the instances.
func (m *Machine) workloadRequest(own *queue, fromCluster bool) workload.Request {
	q := m.qmgrObject()
	useQ := q.Str("CLWLUSEQ")
	if own != nil && own.def.Kind() == object.QLocal {
		if mine := own.attr.public.ClwlUseQ; mine != "QMGR" && mine != "" {
			useQ = mine
		}
	}
	return workload.Request{Order: m.cfg.Order, UseAny: useQ == "ANY", FromCluster: fromCluster, MRUC: q.Int("CLWLMRUC")}
}

// routeChosen makes the choice, or at an open that binds nothing only tells the defaults.
func (m *Machine) routeChosen(now time.Time, fx *Effects, rq routeRequest, own *queue, cands []workload.Candidate, local int) routeResult {
	req := m.workloadRequest(own, rq.FromCluster)
	winner, reason := rq.choose(&req, cands)
	chosen := cands[max(winner, 0)] // copied: to go through an alias chooses again, in the same slice
	shown, alone := chosen, len(cands) == 1
	if local >= 0 {
		shown = cands[local]
	}
	look := rq
	look.Peek, look.Choice = true, nil
	res := m.routeTo(now, fx, look, own, &shown)
	bind := rq.Bind
	if bind == bindAsQDef {
		bind = res.DefBind
	}
	switch {
	case rq.Open && bind != bindOnOpen:
		return res
	case winner < 0 && local >= 0 && !shown.Put && (rq.Open || alone):
		// Bound to our own instance, disabled as all are, the open succeeds and
		// each put fails with 2051. One that is enabled was passed over by rank.
		return res
	case winner < 0:
		return routeResult{Reason: reason}
	}
	m.count(&rq, &chosen)
	defaults := res
	res = m.routeTo(now, fx, rq, own, &chosen)
	res.DefBind = defaults.DefBind
	return res
}

// routeTo is the way to one candidate.
func (m *Machine) routeTo(now time.Time, fx *Effects, rq routeRequest, own *queue, c *workload.Candidate) routeResult {
	if c.Local {
		return m.routeOwn(now, fx, rq, own)
	}
	name := rq.Name
	res := routeResult{
		Status: routeTransmit, Channel: c.Channel, XmitQ: m.localQueue(sharedTransmitQ), TargetQ: name, TargetQMgr: c.QMgr, DefBind: bindNotFixed,
	}
	if res.XmitQ == nil {
		return routeResult{Reason: mqi.MQRC_UNKNOWN_XMIT_Q}
	}
	if rec := m.cluster.repo.Instance(c.Cluster, name, c.QMID); rec != nil {
		w := &rec.Workload
		res.DefBind, res.DefPersist, res.DefPriority = bindOf(w.DefBind), w.DefPersistent, int32(w.DefPriority)
	}
	return res
}
