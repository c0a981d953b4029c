package adapt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/situations"
)

// subscribeEvery is how often the subscriptions of the watched cluster queues
// are used again, which is what keeps them alive at the repositories.
const subscribeEvery = time.Minute

// Source makes observations of a queue manager. Sample is for one caller at a
// time, the runner; Latest may be asked by anybody.
type Source struct {
	link  *Link
	qmgr  string
	owner string // the daemon's token
	watch atomic.Pointer[func(*situations.Row) bool]
	// groups says which groups beside queues are to be sampled; nil for none.
	groups atomic.Pointer[func(situations.Group) bool]
	// readers is what a peer says of an instance of its own, at a time; nil without peers.
	readers func(queue, qmgr, qmid string, at time.Time) (int, bool)

	latest atomic.Pointer[Latest]

	mu    sync.Mutex
	conn  mqengine.Conn // whose revisions the fields below are of
	table table

	matched *func(*situations.Row) bool // that asked was made by
	asked   []string                    // cluster queues of the last Instances call
	askRev  uint64
	askAt   time.Time
	answer  map[string]instances
	repos   bool
	others  []situations.Row
}

// instances is what the repository says of one cluster queue.
type instances struct {
	list  []situations.Instance
	known bool
}

// Latest is the last good look at the queue manager, for status and metrics.
type Latest struct {
	Observation *situations.Observation
	Queues      []mqengine.QueueStatus // as the queue manager counts, sorted by name
	// Stale: the queue manager has not answered since.
	Stale bool
}

// NewSource makes a Source for the queue manager behind link.
func NewSource(link *Link, qmgrName, owner string) *Source {
	return &Source{link: link, qmgr: qmgrName, owner: owner}
}

// SetWatch says which rows the situations in force look at; the daemon's queue
// manager subscribes to those that are clustered.
func (s *Source) SetWatch(match func(*situations.Row) bool) { s.watch.Store(&match) }

// SetGroups says which groups beside queues anybody wants to know of. It is asked
// with every sample.
func (s *Source) SetGroups(want func(situations.Group) bool) { s.groups.Store(&want) }

// SetReaders says who knows the readers of other instances at first hand. To be
// called before the first sample.
func (s *Source) SetReaders(know func(queue, qmgr, qmid string, at time.Time) (int, bool)) {
	s.readers = know
}

// firstHand are the rows with the readers that peers know of. The table's own
// are left as they are.
func (s *Source) firstHand(at time.Time) []situations.Row {
	if s.readers == nil {
		return s.table.rows
	}
	rows := slices.Clone(s.table.rows)
	for i := range rows {
		if len(rows[i].Instances) < 2 {
			continue
		}
		rows[i].Instances = slices.Clone(rows[i].Instances)
		for j := range rows[i].Instances {
			if in := &rows[i].Instances[j]; !in.Local {
				in.Readers, in.ReadersKnown = s.readers(rows[i].Queue, in.QMgr, in.QMID, at)
			}
		}
	}
	return rows
}

// Changes makes the Source a situations.Changer.
func (s *Source) Changes() <-chan struct{} { return s.link.Changes() }

// Latest is nil before the first good sample.
func (s *Source) Latest() *Latest { return s.latest.Load() }

// Sample looks at the queue manager once.
func (s *Source) Sample(ctx context.Context) (*situations.Observation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Now()
	conn, connected, err := s.link.Conn()
	if err != nil {
		s.stale()
		return nil, err
	}
	if conn != s.conn {
		s.forget(conn)
	}
	if err := s.take(ctx, conn, at); err != nil {
		s.stale()
		s.link.Check(conn, err)
		s.forget(nil) // what was answered half must not be built on
		return nil, err
	}
	_, qmid := conn.QMgr()
	obs := &situations.Observation{
		QMgr: s.qmgr, QMID: qmid, At: at, Connected: connected,
		Complete: s.table.full, Repository: s.repos, Rows: s.firstHand(at), Others: s.others,
	}
	if s.table.started != 0 {
		obs.Started = time.UnixMilli(s.table.started)
	}
	s.latest.Store(&Latest{Observation: obs, Queues: s.table.queues})
	return obs, nil
}

func (s *Source) stale() {
	if last := s.latest.Load(); last != nil && !last.Stale {
		s.latest.Store(&Latest{Observation: last.Observation, Queues: last.Queues, Stale: true})
	}
}

func (s *Source) forget(conn mqengine.Conn) {
	s.conn, s.table = conn, table{}
	s.asked, s.askRev, s.answer, s.repos, s.matched = nil, 0, nil, false, nil
}

// take asks for what changed since the last sample, and for the instances of
// the watched cluster queues.
func (s *Source) take(ctx context.Context, conn mqengine.Conn, at time.Time) error {
	sample, err := conn.Sample(ctx, s.table.revision)
	if err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	if s.table.started != sample.Started {
		s.askAt = time.Time{} // a queue manager that restarted is subscribed anew
	}
	s.table.apply(sample, at, s.row)
	if err := s.askInstances(ctx, conn, at); err != nil {
		return err
	}
	s.others, err = s.askOthers(ctx, at)
	if err != nil {
		return fmt.Errorf("channels and queue manager: %w", err)
	}
	return nil
}

// askInstances subscribes to the watched cluster queues and reads what the
// repository knows of them.
func (s *Source) askInstances(ctx context.Context, conn mqengine.Conn, at time.Time) error {
	names := s.watched()
	changed := !slices.Equal(names, s.asked)
	req := qmgr.InstancesReq{Queues: names, Since: s.askRev}
	if changed {
		req.Since = 0
	}
	if changed || at.Sub(s.askAt) >= subscribeEvery {
		req.Subscribe = true
	}
	result, err := conn.Instances(ctx, req)
	if err != nil {
		return fmt.Errorf("instances of cluster queues: %w", err)
	}
	s.repos, s.askRev = result.Repository, result.Revision
	if req.Subscribe {
		s.asked, s.askAt = names, at
	}
	if result.Unchanged {
		return nil
	}
	answer := make(map[string]instances, len(names))
	for i, name := range names {
		answer[name] = instances{known: i < len(result.Known) && result.Known[i]}
	}
	for i := range result.Instances {
		in := &result.Instances[i]
		entry := answer[in.Queue]
		entry.list = append(entry.list, instance(in))
		answer[in.Queue] = entry
	}
	s.answer = answer
	s.table.answered(answer)
	return nil
}

// watched are the names of the clustered queues that the rules look at, sorted.
func (s *Source) watched() []string {
	match := s.watch.Load()
	if match == nil {
		return nil
	}
	if !s.table.reordered && match == s.matched {
		return s.asked
	}
	s.matched, s.table.reordered = match, false
	var names []string
	for i := range s.table.rows {
		if row := &s.table.rows[i]; len(row.Clusters) > 0 && (*match)(row) {
			names = append(names, row.Queue)
		}
	}
	return names
}

// row is one queue as formulas see it.
func (s *Source) row(q mqengine.QueueStatus, at time.Time) situations.Row {
	row := situations.Row{
		Queue: q.Name, Base: q.Base, Type: q.Type,
		System: strings.HasPrefix(q.Name, "SYSTEM."),
	}
	if row.Base == "" {
		row.Base = q.Name
	}
	env := situations.Attributes{
		QUEUE: q.Name, QMGR: s.qmgr, TYPE: q.Type,
		CURDEPTH: q.CurDepth, UNCOM: q.Uncom, OPPROCS: q.OpProcs,
	}
	for _, r := range q.Readers {
		if s.ours(r.Owner) {
			continue
		}
		env.IPPROCS++
		row.Readers = append(row.Readers, situations.Reader{ApplTag: r.Tag})
	}
	for _, w := range q.OwnOut {
		if s.ours(w.Owner) {
			env.OPPROCS--
		}
	}
	if a := q.Attributes; a != nil {
		definition(&env, a)
		row.Clusters = a.Clusters
		row.Dynamic = a.DefType != "" && a.DefType != "PREDEFINED"
		row.Transmission = a.Usage == "XMITQ"
	}
	row.Missing = ages(&env, &q, at)
	row.Env = env // boxed here, once for all formulas
	return row
}

func (s *Source) ours(owner string) bool { return owner != "" && owner == s.owner }

// definition copies the attributes that ALTER changes.
func definition(env *situations.Attributes, a *qmgr.QueueAttributes) {
	env.CLUSTER, env.DESCR = a.Cluster, a.Descr
	if env.CLUSTER == "" && len(a.Clusters) > 0 {
		env.CLUSTER = a.Clusters[0]
	}
	env.MAXDEPTH, env.MAXMSGL, env.BOTHRESH = a.MaxDepth, a.MaxMsgL, a.BoThresh
	env.CLWLRANK, env.CLWLPRTY, env.DEFPRTY = a.ClwlRank, a.ClwlPrty, a.DefPrty
	env.QDEPTHHI, env.QDEPTHLO = a.QDepthHi, a.QDepthLo
	env.PUT, env.GET = enabled(a.Put), enabled(a.Get)
	env.TRIGGER, env.SHARE = yes(a.Trigger), yes(a.Share)
	env.CLWLUSEQ, env.DEFBIND, env.DEFPSIST = a.ClwlUseQ, a.DefBind, a.DefPsist
	env.USAGE, env.DEFTYPE, env.MONQ = a.Usage, a.DefType, a.MonQ
}

// ages fills the attributes that need monitoring and names those without a value.
func ages(env *situations.Attributes, q *mqengine.QueueStatus, at time.Time) []string {
	if !q.MonQ {
		return []string{"MSGAGE", "LGETAGE", "LPUTAGE"}
	}
	var missing []string
	age := func(name string, unixMilli int64, into *int) {
		if unixMilli == 0 {
			missing = append(missing, name)
			return
		}
		*into = max(0, int(at.Sub(time.UnixMilli(unixMilli))/time.Second))
	}
	if q.Oldest != 0 { // an empty queue has an age of 0
		age("MSGAGE", q.Oldest, &env.MSGAGE)
	}
	age("LGETAGE", q.LGet, &env.LGETAGE)
	age("LPUTAGE", q.LPut, &env.LPUTAGE)
	return missing
}

func enabled(on bool) string {
	if on {
		return "ENABLED"
	}
	return "DISABLED"
}

func yes(on bool) string {
	if on {
		return "YES"
	}
	return "NO"
}

func instance(in *qmgr.Instance) situations.Instance {
	reachable := true
	if !in.Local {
		switch in.Status {
		case mqi.MQCHS_RETRYING, mqi.MQCHS_PAUSED, mqi.MQCHS_STOPPED:
			reachable = false
		default:
		}
	}
	return situations.Instance{
		QMgr: in.QMgr, QMID: in.QMID, Cluster: in.Cluster, Local: in.Local,
		Put: in.Put, ClwlRank: in.Rank, ClwlPrty: in.Prty, ChannelRank: in.ChlRank, ChannelPrty: in.ChlPrty,
		DefBind: in.DefBind, Suspended: in.Suspended, Reachable: reachable,
	}
}
