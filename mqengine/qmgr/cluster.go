package qmgr

import (
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/repository"
	"github.com/situationd/situationd/mqengine/workload"
)

// clusters is what a queue manager has of clusters and channels.
type clusters struct {
	repo     *repository.Repository // nil until clusterStart
	counters *workload.Counters
	cands    []workload.Candidate // scratch of route
	records  []restored           // until clusterStart
	revision uint64               // of what instances answers
	stale    map[string]bool      // clusters of which no full repository is reached

	channels channels

	unsent     []unsentCommand // that the transmission queue did not take
	unsentSize int             // of their payloads
	unsentAt   time.Time
	lost       map[string]bool // clusters in which one was lost

	answered []string // names whose waiting opens must be tried again
	pending  bool     // clusterTick has to run at the end of this Step

	deadline      time.Time
	deadlineKnown bool
}

type restored struct {
	key   string
	value []byte
}

// commandQueue is where repositories get their commands.
const commandQueue = "SYSTEM.CLUSTER.COMMAND.QUEUE"

// clusterRecord takes back a record of the cluster or the channels; false: not one of them.
func (m *Machine) clusterRecord(key string, value []byte) bool {
	if !strings.HasPrefix(key, repository.Prefix) && !strings.HasPrefix(key, channelPrefix) {
		return false
	}
	m.cluster.records = append(m.cluster.records, restored{key, slices.Clone(value)})
	return true
}

// clusterStart runs once at the start, after every object and message is there.
func (m *Machine) clusterStart(now time.Time, fx *Effects) {
	c := &m.cluster
	c.repo = repository.New(m.name, m.qmid)
	c.counters, c.stale, c.lost = workload.NewCounters(), map[string]bool{}, map[string]bool{}
	c.channels.init()
	c.revision = 1
	for _, r := range c.records {
		if err := m.restoreCluster(r); err != nil {
			// A record that cannot be read is left out. Another queue manager's is still at the
			// full repositories, an own one is published again; a command that waited is lost.
			fx.Log = append(fx.Log, LogEntry{ID: "AMQ9422E", Text: "Repository manager error: " + err.Error()})
		}
	}
	c.records = nil
	c.repo.Begin(m.membership())
	m.restoreChannels(now, fx)
	m.withRepository(now, fx, func(rx *repository.Effects) { c.repo.SetMembership(now, m.membership(), rx) })
	m.publishQueues(now, fx, func(*queue) bool { return true })
	m.restartChannels(now, fx)
	m.clusterTick(now, fx)
}

func (m *Machine) restoreCluster(r restored) error {
	if strings.HasPrefix(r.key, unsentPrefix) {
		return m.restoreUnsent(r)
	}
	if cluster, ok := strings.CutPrefix(r.key, lostPrefix); ok {
		m.cluster.lost[cluster] = true
		return nil
	}
	if _, err := m.cluster.repo.Restore(r.key, r.value); err != nil {
		return err
	}
	if key, ok := strings.CutPrefix(r.key, channelPrefix); ok {
		m.cluster.channels.records[key] = r.value
	}
	return nil
}

// clusterDeadline is when clusterTick must be called at the latest; zero for
// never. While something is pending it has always come.
func (m *Machine) clusterDeadline() time.Time {
	c := &m.cluster
	if c.repo == nil {
		return time.Time{}
	}
	if c.pending {
		return time.Unix(0, 1)
	}
	if !c.deadlineKnown {
		c.deadline = earlier(c.repo.NextDeadline(), m.channelDeadline())
		if len(c.unsent)+len(c.lost) > 0 {
			c.deadline = earlier(c.deadline, c.unsentAt)
		}
		c.deadlineKnown = true
	}
	return c.deadline
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// clusterTick lets the deadlines of clusters and channels pass, and does what
// this Step has left for its end.
func (m *Machine) clusterTick(now time.Time, fx *Effects) {
	c := &m.cluster
	if c.repo == nil {
		return
	}
	if d := c.repo.NextDeadline(); !d.IsZero() && !d.After(now) {
		m.withRepository(now, fx, func(rx *repository.Effects) { c.repo.Tick(now, rx) })
	}
	m.sendUnsent(now, fx)
	if passed(m.channelDeadline(), now) {
		m.channelTick(now, fx)
	}
	for rounds := 0; c.pending && rounds < maxRounds; rounds++ {
		c.pending = false
		m.resumeAnswered(now, fx)
		m.runDirty(now, fx)
		m.reallocateSome(now, fx)
	}
	c.deadlineKnown = false
}

// maxRounds bounds what one Step does for its end; the rest is for the next.
const maxRounds = 16

// later asks for clusterTick at the end of this Step.
func (c *clusters) later() { c.pending, c.deadlineKnown = true, false }

func (m *Machine) resumeAnswered(now time.Time, fx *Effects) {
	c := &m.cluster
	names := c.answered
	c.answered = nil
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		m.resumeOpens(now, fx, name)
	}
}

// changed notes that what instances answers is different now.
func (m *Machine) clusterChanged(fx *Effects) {
	m.cluster.revision++
	fx.ClusterChanged = true
}

// membership is what the definitions say of clusters.
func (m *Machine) membership() repository.Membership {
	ms := repository.Membership{InUse: m.channelInUse}
	for _, o := range m.objectsOf(object.ClusRcvr) {
		if clusters := m.clustersOf(o); len(clusters) > 0 {
			ms.Channels = append(ms.Channels, repository.OwnChannel{Clusters: clusters, Object: m.reachable(o)})
		}
	}
	for _, o := range m.objectsOf(object.ClusSdr) {
		if clusters := m.clustersOf(o); len(clusters) > 0 {
			ms.Senders = append(ms.Senders, repository.ManualSender{Channel: o.Name, Addr: o.Str("CONNAME"), Clusters: clusters})
		}
	}
	q := m.qmgrObject()
	if repos := q.Str("REPOS"); repos != "" {
		ms.Full = []string{repos}
	} else if nl := q.Str("REPOSNL"); nl != "" {
		ms.Full = slices.Clone(m.catalog.names(nl))
	}
	return ms
}

// reachable is the CLUSRCVR with the address that others use.
func (m *Machine) reachable(o *object.Object) *object.Object {
	if o.Str("CONNAME") != "" || m.cfg.ConnName == "" {
		return o
	}
	o = o.Clone()
	if err := o.Set("CONNAME", m.cfg.ConnName); err != nil {
		return m.objectNamed(o.Kind(), o.Name)
	}
	return o
}

// clustersOf gives the clusters of an object: CLUSTER, or the names in CLUSNL.
func (m *Machine) clustersOf(o *object.Object) []string {
	if o == nil || !o.Has("CLUSTER") {
		return nil
	}
	if c := o.Str("CLUSTER"); c != "" {
		return []string{c}
	}
	if nl := o.Str("CLUSNL"); nl != "" {
		return m.catalog.names(nl)
	}
	return nil
}

// objectChanged is told of every DEFINE, ALTER and DELETE, also of QMGR. One of the two may be nil.
func (m *Machine) objectChanged(now time.Time, fx *Effects, was, is *object.Object) {
	if m.cluster.repo == nil {
		return
	}
	o := is
	if o == nil {
		o = was
	}
	switch k := o.Kind(); {
	case k.IsQueue():
		m.queueChanged(now, fx, o.Name, was, is)
	case k == object.ClusRcvr || k == object.ClusSdr || k == object.QMgr:
		m.membershipChanged(now, fx)
		if is == nil {
			m.forgetChannel(fx, o)
			m.forgetSenders(now, fx)
		}
	case k == object.Namelist:
		m.membershipChanged(now, fx)
		m.publishQueues(now, fx, func(q *queue) bool { return q.def.Has("CLUSNL") && q.def.Str("CLUSNL") == o.Name })
	case k == object.Sender:
		m.refreshSenders(now)
		if is == nil {
			m.forgetSenders(now, fx)
		}
	case is == nil && k == object.Receiver:
		m.forgetChannel(fx, o)
	}
	if o.Kind() == object.QMgr {
		// CLWLUSEQ and CLWLMRUC weigh in every choice.
		m.clusterChanged(fx)
	}
}

func (m *Machine) membershipChanged(now time.Time, fx *Effects) {
	m.withRepository(now, fx, func(rx *repository.Effects) { m.cluster.repo.SetMembership(now, m.membership(), rx) })
}

func (m *Machine) queueChanged(now time.Time, fx *Effects, name string, was, is *object.Object) {
	if len(m.clustersOf(was)) == 0 && len(m.clustersOf(is)) == 0 {
		return
	}
	m.withRepository(now, fx, func(rx *repository.Effects) {
		m.cluster.repo.SetQueue(now, name, is, m.clustersOf(is), rx)
	})
}

// publishQueues tells the repository of the queues for which which is true, and
// of those that are gone.
func (m *Machine) publishQueues(now time.Time, fx *Effects, which func(*queue) bool) {
	m.withRepository(now, fx, func(rx *repository.Effects) {
		for _, name := range m.cluster.repo.OwnQueues() {
			if m.catalog.queues[name] == nil {
				m.cluster.repo.SetQueue(now, name, nil, nil, rx)
			}
		}
		for _, q := range m.catalog.sortedQueues() {
			if q.def.Kind() == object.QModel || !which(q) {
				continue
			}
			if clusters := m.clustersOf(q.def); len(clusters) > 0 || len(m.cluster.repo.Instances(now, q.name)) > 0 {
				m.cluster.repo.SetQueue(now, q.name, q.def, clusters, rx)
			}
		}
	})
}

// withRepository makes one call of the repository and carries out what it wants.
func (m *Machine) withRepository(now time.Time, fx *Effects, call func(*repository.Effects)) {
	var rx repository.Effects
	call(&rx)
	if rx.Empty() {
		return
	}
	c := &m.cluster
	c.deadlineKnown = false
	for _, s := range rx.Sets {
		fx.Unit.SetRecord(s.Key, s.Value)
	}
	for _, k := range rx.Deletes {
		fx.Unit.DeleteRecord(k)
	}
	for _, l := range rx.Log {
		fx.Log = append(fx.Log, LogEntry{ID: l.ID, Text: l.Text})
	}
	if rx.Workload {
		c.counters.Reset()
		m.clusterChanged(fx)
	}
	if rx.Channels {
		m.refreshSenders(now)
		m.rerouteOrphans(now, fx)
		m.noteRepositories(now, fx)
		m.clusterChanged(fx)
	}
	for _, s := range rx.Sends {
		m.sendCommand(now, fx, s)
	}
	if len(rx.Answered) > 0 {
		c.answered = append(c.answered, rx.Answered...)
		m.clusterChanged(fx)
		c.later()
	}
}

// receiveCommand takes a command of another repository.
func (m *Machine) receiveCommand(now time.Time, fx *Effects, payload []byte) {
	m.withRepository(now, fx, func(rx *repository.Effects) {
		if err := m.cluster.repo.Receive(now, payload, rx); err != nil {
			rx.Log = append(rx.Log, repository.Log{ID: "AMQ9413E", Text: "Repository command format error: " + err.Error()})
		}
	})
}
