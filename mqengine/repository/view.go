package repository

import (
	"slices"
	"strings"
	"time"
)

// Instances gives the live records of a cluster queue (or of a queue manager
// alias of that name), sorted. The slice must not be changed.
func (r *Repository) Instances(now time.Time, name string) []*Record {
	return live(now, r.queues[name])
}

// Queues gives every live queue record, by name.
func (r *Repository) Queues(now time.Time) []*Record {
	var out []*Record
	for _, rec := range r.records {
		if rec.Kind == QueueRecord && rec.live(now) {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b *Record) int {
		if a.Name != b.Name {
			if a.Name < b.Name {
				return -1
			}
			return 1
		}
		return compareRecords(a, b)
	})
	return out
}

// Hosts gives the channels to a queue manager in a cluster.
func (r *Repository) Hosts(now time.Time, cluster, qmid string) []*Record {
	var out []*Record
	for _, rec := range r.qmgrs[cluster] {
		if rec.QMID == qmid && rec.live(now) {
			out = append(out, rec)
		}
	}
	return out
}

// QMgrs gives every live channel record of every cluster, sorted.
func (r *Repository) QMgrs(now time.Time) []*Record {
	var out []*Record
	for _, c := range sortedKeys(r.qmgrs, strings.Compare) {
		out = append(out, live(now, r.qmgrs[c])...)
	}
	return out
}

// QMgrNamed gives the live channel records of queue managers of that name.
func (r *Repository) QMgrNamed(now time.Time, name string) []*Record {
	var out []*Record
	for _, c := range sortedKeys(r.qmgrs, strings.Compare) {
		for _, rec := range r.qmgrs[c] {
			if rec.QMgr == name && rec.live(now) {
				out = append(out, rec)
			}
		}
	}
	return out
}

// Senders are the CLUSSDR definitions.
func (r *Repository) Senders() []ManualSender { return r.senders }

// Channel finds a live record by its channel's name; nil if there is none. Of
// two queue managers with one name, as after one was made anew, it is the one
// that published last.
func (r *Repository) Channel(now time.Time, name string) *Record {
	var found *Record
	for _, rec := range r.byChannel[name] {
		if rec.QMID != r.qmid && rec.live(now) && (found == nil || rec.Published > found.Published) {
			found = rec
		}
	}
	return found
}

// Knows reports whether there is any record of a cluster, also after it was left.
func (r *Repository) Knows(cluster string) bool {
	_, ok := slices.BinarySearch(r.AllClusters(), cluster)
	return ok
}

// AllClusters are the clusters of which there is any record, sorted.
func (r *Repository) AllClusters() []string {
	found := map[string]struct{}{}
	for k := range r.records {
		found[k.cluster] = struct{}{}
	}
	for _, c := range r.clusters {
		found[c] = struct{}{}
	}
	return sortedKeys(found, strings.Compare)
}

// QMIDs are the identifiers of the queue managers of a name that are known in a
// cluster, also of those whose publications have expired.
func (r *Repository) QMIDs(cluster, name string) []string {
	var out []string
	for _, rec := range r.qmgrs[cluster] {
		if rec.QMgr == name {
			out = append(out, rec.QMID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FullRepositories gives the live channels to other full repositories of a
// cluster, and the CLUSSDRs for it.
func (r *Repository) FullRepositories(now time.Time, cluster string) (channels []string) {
	for _, rec := range r.qmgrs[cluster] {
		if rec.Full && rec.QMID != r.qmid && rec.live(now) {
			channels = append(channels, rec.Name)
		}
	}
	for _, s := range r.senders {
		if slices.Contains(s.Clusters, cluster) {
			channels = append(channels, s.Channel)
		}
	}
	return channels
}

func live(now time.Time, list []*Record) []*Record {
	if !slices.ContainsFunc(list, func(rec *Record) bool { return !rec.live(now) }) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(rec *Record) bool { return !rec.live(now) })
}

// Instance finds the record of one instance; nil if there is none.
func (r *Repository) Instance(cluster, name, qmid string) *Record {
	rec := r.records[recordKey{QueueRecord, cluster, name, qmid}]
	if rec == nil || rec.Deleted {
		return nil
	}
	return rec
}

// Withdrawn reports whether a channel of that name was in a cluster and was
// taken out by its owner, or by RESET CLUSTER.
func (r *Repository) Withdrawn(name string) bool {
	if len(r.byChannel[name]) > 0 {
		return false
	}
	for k, rec := range r.records {
		if k.kind == QMgrRecord && k.name == name && rec.Deleted {
			return true
		}
	}
	return false
}
