package repository

import (
	"cmp"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/object"
)

// Repository is one queue manager's view of its clusters.
type Repository struct {
	qmgr, qmid string

	records map[recordKey]*Record
	queues  map[string][]*Record // by queue name, of all clusters, sorted
	qmgrs   map[string][]*Record // by cluster: channels of queue managers, sorted
	hosted  map[hostKey]map[string]struct{}
	// byChannel are the channels of queue managers of all clusters by the channel's name, sorted.
	byChannel map[string][]*Record
	gone      map[goneKey][]*Record // tombstones by what they are about, sorted

	channels []OwnChannel // CLUSRCVRs
	senders  []ManualSender
	full     []string // clusters whose full repository this is, sorted
	clusters []string // clusters of the channels, sorted
	suspend  map[string]bool

	asks map[askKey]*ask
	subs map[askKey]map[string]time.Time // full repository: subscriber's QMID, until when
	sent map[sentKey]string              // what a target got: its QMID, blank before it answered

	sweepAt time.Time
}

type hostKey struct{ cluster, qmid string }

type askKey struct{ cluster, name string }

type goneKey struct {
	kind RecordKind
	askKey
}

func (r *Record) goneKey() goneKey { return goneKey{r.Kind, askKey{r.Cluster, r.subject()}} }

type sentKey struct{ cluster, channel string }

// ask is a subscription of this queue manager.
type ask struct {
	answered bool
	used     bool // since the last renewal
	renewAt  time.Time
	expires  time.Time
}

// OwnChannel is a CLUSRCVR of this queue manager and the clusters it is in.
type OwnChannel struct {
	Clusters []string
	Object   *object.Object
}

// ManualSender is a CLUSSDR definition of this queue manager.
type ManualSender struct {
	Channel, Addr string // Addr: CONNAME
	Clusters      []string
}

// New makes an empty repository. Restore what was kept, tell it what it owns, then use it.
func New(qmgr, qmid string) *Repository {
	return &Repository{
		qmgr: qmgr, qmid: qmid,
		records: map[recordKey]*Record{}, queues: map[string][]*Record{}, qmgrs: map[string][]*Record{},
		hosted: map[hostKey]map[string]struct{}{}, byChannel: map[string][]*Record{}, gone: map[goneKey][]*Record{}, suspend: map[string]bool{},
		asks: map[askKey]*ask{}, subs: map[askKey]map[string]time.Time{}, sent: map[sentKey]string{},
	}
}

// Send is a command for another queue manager: a payload for its
// SYSTEM.CLUSTER.COMMAND.QUEUE over the named channel.
type Send struct {
	Cluster, Channel string
	QMgr             string // blank while only the address is known
	Payload          []byte
}

// Effects is what has to be done.
type Effects struct {
	Sends    []Send
	Sets     []Stored
	Deletes  []string
	Answered []string // names for which the full repositories answered
	// Workload: something that the workload algorithm looks at changed.
	Workload bool
	// Channels: definitions of channels to other queue managers changed.
	Channels bool
	Log      []Log
}

// Stored is one persistent record of the repository.
type Stored struct {
	Key   string
	Value []byte
}

// Log is a line for the error log.
type Log struct{ ID, Text string }

// Reset empties the effects and keeps their memory.
func (fx *Effects) Reset() {
	clear(fx.Sends)
	clear(fx.Sets)
	*fx = Effects{
		Sends: fx.Sends[:0], Sets: fx.Sets[:0], Deletes: fx.Deletes[:0],
		Answered: fx.Answered[:0], Log: fx.Log[:0],
	}
}

// Empty reports whether there is nothing to do.
func (fx *Effects) Empty() bool {
	return len(fx.Sends)+len(fx.Sets)+len(fx.Deletes)+len(fx.Answered)+len(fx.Log) == 0 && !fx.Workload && !fx.Channels
}

// IsFull reports whether this is a full repository of the cluster.
func (r *Repository) IsFull(cluster string) bool {
	_, ok := slices.BinarySearch(r.full, cluster)
	return ok
}

// Clusters are the clusters that this queue manager is a member of: those of its CLUSRCVRs.
// The slice must not be changed.
func (r *Repository) Clusters() []string { return r.clusters }

func (r *Repository) member(cluster string) bool {
	_, ok := slices.BinarySearch(r.clusters, cluster)
	return ok
}

// setMembership takes what the owner says and puts it into the order that searches need.
func (r *Repository) setMembership(m Membership) {
	r.channels, r.senders = m.Channels, m.Senders
	r.full = slices.Compact(slices.Sorted(slices.Values(m.Full)))
	var all []string
	for _, c := range r.channels {
		all = append(all, c.Clusters...)
	}
	slices.Sort(all)
	r.clusters = slices.Compact(all)
}

// compareRecords is the order in which records are kept and shown.
func compareRecords(a, b *Record) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.QMgr, b.QMgr), cmp.Compare(a.QMID, b.QMID), cmp.Compare(a.Name, b.Name))
}

func insert(list []*Record, rec *Record) []*Record {
	i, found := slices.BinarySearchFunc(list, rec, compareRecords)
	if found {
		// A new slice: readers may hold the old one.
		list = slices.Clone(list)
		list[i] = rec
		return list
	}
	return slices.Insert(slices.Clone(list), i, rec)
}

func remove(list []*Record, rec *Record) []*Record {
	if i, found := slices.BinarySearchFunc(list, rec, compareRecords); found {
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return list
}

// hold puts a record into the maps; the one it replaces is returned.
func (r *Repository) hold(rec *Record) *Record {
	k := rec.key()
	old := r.records[k]
	if rec.Object != nil {
		rec.Workload = workloadOf(rec.Object)
	}
	r.records[k] = rec
	rec.wasFull = old != nil && old.Full
	if old != nil && (old.Deleted != rec.Deleted || old.QMgr != rec.QMgr) {
		r.unindex(old)
	}
	r.index(rec)
	r.sweepAt = earliest(r.sweepAt, r.due(rec))
	return old
}

func (r *Repository) index(rec *Record) {
	if rec.Deleted {
		k := rec.goneKey()
		r.gone[k] = insert(r.gone[k], rec)
		return
	}
	if rec.Kind == QMgrRecord {
		r.qmgrs[rec.Cluster] = insert(r.qmgrs[rec.Cluster], rec)
		r.byChannel[rec.Name] = insert(r.byChannel[rec.Name], rec)
		return
	}
	r.queues[rec.Name] = insert(r.queues[rec.Name], rec)
	h := hostKey{rec.Cluster, rec.QMID}
	if r.hosted[h] == nil {
		r.hosted[h] = map[string]struct{}{}
	}
	r.hosted[h][rec.Name] = struct{}{}
}

func (r *Repository) unindex(rec *Record) {
	if rec.Deleted {
		k := rec.goneKey()
		if r.gone[k] = remove(r.gone[k], rec); len(r.gone[k]) == 0 {
			delete(r.gone, k)
		}
		return
	}
	if rec.Kind == QMgrRecord {
		if r.qmgrs[rec.Cluster] = remove(r.qmgrs[rec.Cluster], rec); len(r.qmgrs[rec.Cluster]) == 0 {
			delete(r.qmgrs, rec.Cluster)
		}
		if r.byChannel[rec.Name] = remove(r.byChannel[rec.Name], rec); len(r.byChannel[rec.Name]) == 0 {
			delete(r.byChannel, rec.Name)
		}
		return
	}
	if r.queues[rec.Name] = remove(r.queues[rec.Name], rec); len(r.queues[rec.Name]) == 0 {
		delete(r.queues, rec.Name)
	}
	h := hostKey{rec.Cluster, rec.QMID}
	delete(r.hosted[h], rec.Name)
	if len(r.hosted[h]) == 0 {
		delete(r.hosted, h)
	}
}

// forget removes a record for good.
func (r *Repository) forget(rec *Record, fx *Effects) {
	r.unindex(rec)
	delete(r.records, rec.key())
	fx.Deletes = append(fx.Deletes, rec.key().stored())
}

// keep holds a record and writes it.
func (r *Repository) keep(now time.Time, rec *Record, fx *Effects) {
	old := r.hold(rec)
	r.compareInstances(rec, old, fx)
	fx.Sets = append(fx.Sets, Stored{rec.key().stored(), storeRecord(rec, now)})
	if !sameWorkload(old, rec) {
		fx.Workload = true
	}
	if rec.Kind == QMgrRecord {
		fx.Channels = true
	}
}

// subject is the name whose routes the record is about.
func (r *Record) subject() string {
	if r.Kind == QMgrRecord {
		return r.QMgr
	}
	return r.Name
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// sortedKeys gives a map's keys in order, so that effects never depend on Go's map order.
func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compare)
	return keys
}

func compareAsks(a, b askKey) int {
	return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.name, b.name))
}
