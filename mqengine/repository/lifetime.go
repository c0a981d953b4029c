package repository

import (
	"strings"
	"time"
)

// due is when a record needs attention: one of ours to be renewed, another to
// stop being handed out, or to be forgotten.
func (r *Repository) due(rec *Record) time.Time {
	switch {
	case rec.Deleted:
		return rec.Expires
	case rec.QMID == r.qmid:
		return rec.Expires.Add(RenewAfter - Lifetime)
	}
	return rec.Expires.Add(GraceAfter)
}

// NextDeadline is when Tick is due; zero for never.
func (r *Repository) NextDeadline() time.Time { return r.sweepAt }

// Tick renews and forgets what has come to its time.
func (r *Repository) Tick(now time.Time, fx *Effects) {
	if r.sweepAt.IsZero() || now.Before(r.sweepAt) {
		return
	}
	r.sweepAt = time.Time{}
	var renew []*Record
	for _, k := range sortedKeys(r.records, compareKeys) {
		rec := r.records[k]
		switch at := r.due(rec); {
		case now.Before(at):
			r.sweepAt = earliest(r.sweepAt, at)
		case rec.QMID == r.qmid && !rec.Deleted:
			again := *rec
			renew = append(renew, r.stamp(now, &again, fx))
		default:
			r.forget(rec, fx)
			fx.Channels = fx.Channels || rec.Kind == QMgrRecord
		}
	}
	r.publish(now, renew, fx)
	r.sweepAsks(now, fx)
	r.sweepSubs(now, fx)
}

func compareKeys(a, b recordKey) int { return strings.Compare(a.stored(), b.stored()) }

// sweepAsks renews subscriptions that were used since the last time and lets the others lapse.
func (r *Repository) sweepAsks(now time.Time, fx *Effects) {
	renew := map[string][]string{}
	for _, k := range sortedKeys(r.asks, compareAsks) {
		a := r.asks[k]
		switch {
		case !now.Before(a.renewAt) && (a.used || r.records[recordKey{QueueRecord, k.cluster, k.name, r.qmid}] != nil):
			a.used = false
			renew[k.cluster] = append(renew[k.cluster], k.name)
		case !now.Before(a.expires):
			r.unask(k, fx)
		case !now.Before(a.renewAt):
			r.sweepAt = earliest(r.sweepAt, a.expires)
		default:
			r.sweepAt = earliest(r.sweepAt, a.renewAt)
		}
	}
	for _, c := range sortedKeys(renew, strings.Compare) {
		r.subscribeFor(now, c, renew[c], fx)
	}
}

func (r *Repository) sweepSubs(now time.Time, fx *Effects) {
	for _, k := range sortedKeys(r.subs, compareAsks) {
		for _, qmid := range sortedKeys(r.subs[k], strings.Compare) {
			if until := r.subs[k][qmid]; now.Before(until) {
				r.sweepAt = earliest(r.sweepAt, until)
				continue
			}
			delete(r.subs[k], qmid)
			fx.Deletes = append(fx.Deletes, keySub(k, qmid))
		}
		if len(r.subs[k]) == 0 {
			delete(r.subs, k)
		}
	}
}

// Refresh is REFRESH CLUSTER: what was learned of the cluster is dropped and
// asked again, what is ours is published again. With repos the full
// repositories are forgotten too and found again through the CLUSSDRs; false
// if that is asked of a full repository. What belongs to a channel that is in
// use is kept until it is renewed: messages wait for it.
//
// A full repository keeps the queue managers, and asks every one of them for
// what it has: the other full repository may not know it, or there is none. In
// a cluster that was left there is nobody to ask; what is left of it goes.
func (r *Repository) Refresh(now time.Time, cluster string, repos bool, inUse func(channel string) bool, fx *Effects) bool {
	full := r.IsFull(cluster)
	if repos && full {
		return false
	}
	member := r.member(cluster)
	for _, k := range sortedKeys(r.records, compareKeys) {
		rec := r.records[k]
		switch {
		case k.cluster != cluster, k.qmid == r.qmid, k.kind == QMgrRecord && (full || rec.Full && !repos && member):
		case k.kind == QMgrRecord && member && !rec.Deleted && inUse(rec.Name):
			r.ask(now, askKey{cluster, rec.QMgr}, fx)
		default:
			r.forget(rec, fx)
		}
	}
	r.refreshAsks(cluster, fx)
	fx.Workload, fx.Channels = true, true
	if !member {
		r.unmarkCluster(cluster, fx)
		return true
	}
	for _, rec := range r.ownRecords(cluster) {
		if !rec.Deleted {
			again := *rec
			r.stamp(now, &again, fx)
		}
	}
	r.TellAgain(now, cluster, fx)
	return true
}

// refreshAsks drops the subscriptions of a cluster, but for those to the names
// of our own queues and to queue managers that were kept.
func (r *Repository) refreshAsks(cluster string, fx *Effects) {
	kept := map[string]bool{}
	for _, rec := range r.qmgrs[cluster] {
		kept[rec.QMgr] = rec.QMID != r.qmid
	}
	for _, k := range sortedKeys(r.asks, compareAsks) {
		if k.cluster != cluster {
			continue
		}
		own := r.records[recordKey{QueueRecord, k.cluster, k.name, r.qmid}]
		if (own == nil || own.Deleted) && !kept[k.name] || !r.member(cluster) {
			r.unask(k, fx)
			continue
		}
		r.asks[k].answered = false
		fx.Sets = append(fx.Sets, storeAsk(k, r.asks[k]))
	}
}

// requestMembers asks every other queue manager of a cluster for what it has published.
func (r *Repository) requestMembers(now time.Time, cluster string, fx *Effects) {
	asked := map[string]bool{r.qmid: true}
	for _, rec := range r.qmgrs[cluster] {
		if asked[rec.QMID] || rec.Full {
			continue // the full repositories were asked for everything
		}
		asked[rec.QMID] = true
		if to, ok := r.targetOf(cluster, rec.QMID); ok {
			r.send(now, to, &Command{Op: OpRequest, Cluster: cluster}, fx)
		}
	}
}

// TellAgain tells everything again in a cluster, for some of it was lost before it
// was sent, or has changed altogether. A full repository has the others ask again,
// too: each says what it has and what it wants to hear of.
func (r *Repository) TellAgain(now time.Time, cluster string, fx *Effects) {
	r.unmarkCluster(cluster, fx)
	r.reach(now, cluster, fx)
	if r.IsFull(cluster) && r.member(cluster) {
		r.requestMembers(now, cluster, fx)
	}
}

// ForceRemove is RESET CLUSTER ACTION(FORCEREMOVE) at a full repository: the
// queue manager with that QMID leaves, and with queues its queues at once
// rather than with their lifetime. It returns how many records went.
func (r *Repository) ForceRemove(now time.Time, cluster, qmid string, queues bool, fx *Effects) int {
	var news []*Record
	for _, k := range sortedKeys(r.records, compareKeys) {
		rec := r.records[k]
		if k.cluster != cluster || k.qmid != qmid || rec.Deleted || k.kind == QueueRecord && !queues {
			continue
		}
		gone := *rec
		gone.Deleted, gone.Forced, gone.Object = true, true, nil
		gone.Expires = now.Add(tombstoneOf)
		news = append(news, &gone)
	}
	// Told before the channels to it are forgotten.
	r.spread(now, cluster, news, qmid, fx)
	for _, rec := range news {
		r.keep(now, rec, fx)
	}
	return len(news)
}
