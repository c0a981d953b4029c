package repository

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/object"
)

// Membership is what this queue manager has of channels and roles.
type Membership struct {
	Channels []OwnChannel
	Senders  []ManualSender
	Full     []string
	// InUse reports whether messages wait for a channel to another queue manager, or are in doubt on it.
	InUse func(channel string) bool
}

func (m Membership) inUse(channel string) bool { return m.InUse != nil && m.InUse(channel) }

// SetMembership tells of every CLUSRCVR, CLUSSDR and repository role there is,
// after any of them changed.
func (r *Repository) SetMembership(now time.Time, m Membership, fx *Effects) {
	wasFull, before := r.full, r.clusters
	r.leave(now, m, fx)
	r.setMembership(m)
	fx.Channels = true
	for _, c := range r.clusters {
		if !slices.Contains(before, c) {
			r.forgetOthers(c, fx)
			r.restamp(now, c, fx)
		}
	}
	r.publishChannels(now, fx)
	for _, c := range wasFull {
		if r.member(c) && !r.IsFull(c) {
			// What it knew of others is not kept up to date any more; it asks like everybody else.
			r.Refresh(now, c, false, m.inUse, fx)
		}
	}
	for _, c := range r.Clusters() {
		if r.IsFull(c) && !slices.Contains(wasFull, c) {
			r.requestAll(now, c, fx)
		}
		r.reach(now, c, fx)
	}
}

// leave says farewell to the clusters that this queue manager has no channel in
// any more, while it still knows whom to tell.
func (r *Repository) leave(now time.Time, m Membership, fx *Effects) {
	stays := map[string]bool{}
	for _, ch := range m.Channels {
		for _, c := range ch.Clusters {
			stays[c] = true
		}
	}
	for _, c := range r.clusters {
		if stays[c] {
			continue
		}
		var gone []*Record
		for _, rec := range r.qmgrs[c] {
			if rec.QMID == r.qmid {
				gone = append(gone, r.tombstone(now, rec, fx))
			}
		}
		r.publish(now, gone, fx)
		r.unmarkCluster(c, fx)
		if r.suspend[c] {
			// SUSPEND QMGR is a state of a member; whoever joins again is not suspended.
			delete(r.suspend, c)
			fx.Deletes = append(fx.Deletes, prefixSuspend+c)
		}
	}
}

// forgetOthers drops what is left of an earlier membership of a cluster that
// is joined now: nobody has kept it up to date.
func (r *Repository) forgetOthers(cluster string, fx *Effects) {
	for _, k := range sortedKeys(r.records, compareKeys) {
		if k.cluster == cluster && k.qmid != r.qmid {
			r.forget(r.records[k], fx)
		}
	}
	for _, k := range sortedKeys(r.asks, compareAsks) {
		if a := r.asks[k]; k.cluster == cluster && a.answered {
			a.answered = false
			fx.Sets = append(fx.Sets, storeAsk(k, a))
		}
	}
}

// restamp renews our queues' records in a cluster that was joined: since it was
// left, the full repositories have newer tombstones for them.
func (r *Repository) restamp(now time.Time, cluster string, fx *Effects) {
	for _, rec := range r.ownRecords(cluster) {
		if rec.Kind == QueueRecord && !rec.Deleted {
			again := *rec
			r.stamp(now, &again, fx)
		}
	}
}

// Suspend is SUSPEND QMGR and RESUME QMGR for one cluster; false if nothing changed.
func (r *Repository) Suspend(now time.Time, cluster string, on bool, fx *Effects) bool {
	if r.suspend[cluster] == on {
		return false
	}
	if on {
		r.suspend[cluster] = true
		fx.Sets = append(fx.Sets, Stored{prefixSuspend + cluster, []byte{1}})
	} else {
		delete(r.suspend, cluster)
		fx.Deletes = append(fx.Deletes, prefixSuspend+cluster)
	}
	r.publishChannels(now, fx)
	return true
}

// publishChannels brings the records of this queue manager's own channels up to date.
func (r *Repository) publishChannels(now time.Time, fx *Effects) {
	var news []*Record
	want := map[recordKey]bool{}
	for _, ch := range r.channels {
		for _, c := range ch.Clusters {
			rec := &Record{
				Kind: QMgrRecord, Cluster: c, QMID: r.qmid, QMgr: r.qmgr, Name: ch.Object.Name,
				Full: r.IsFull(c), Suspended: r.suspend[c], Object: advertised(ch.Object, c),
			}
			want[rec.key()] = true
			if r.ownChanged(rec) {
				news = append(news, r.stamp(now, rec, fx))
			}
		}
	}
	var gone []*Record
	for k, rec := range r.records {
		if k.kind == QMgrRecord && k.qmid == r.qmid && !rec.Deleted && !want[k] {
			gone = append(gone, rec)
		}
	}
	slices.SortFunc(gone, compareRecords)
	for _, rec := range gone {
		news = append(news, r.tombstone(now, rec, fx))
	}
	r.publish(now, news, fx)
}

// SetQueue tells of an own queue that is in these clusters; with o nil, or no
// clusters, of one that is in none (any more).
func (r *Repository) SetQueue(now time.Time, name string, o *object.Object, clusters []string, fx *Effects) {
	var news []*Record
	for _, rec := range r.queues[name] {
		if rec.QMID == r.qmid && (o == nil || !slices.Contains(clusters, rec.Cluster)) {
			news = append(news, r.tombstone(now, rec, fx))
		}
	}
	if o != nil {
		for _, c := range slices.Compact(slices.Sorted(slices.Values(clusters))) {
			rec := &Record{Kind: QueueRecord, Cluster: c, QMID: r.qmid, QMgr: r.qmgr, Name: name, Object: advertised(o, c)}
			if r.ownChanged(rec) {
				news = append(news, r.stamp(now, rec, fx))
			}
			// A queue manager knows the other instances of its own queues.
			r.ask(now, askKey{c, name}, fx)
		}
	}
	r.publish(now, news, fx)
}

// OwnQueues gives the names that this queue manager has published and not withdrawn.
func (r *Repository) OwnQueues() []string {
	var names []string
	for k, rec := range r.records {
		if k.kind == QueueRecord && k.qmid == r.qmid && !rec.Deleted {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r *Repository) ownChanged(rec *Record) bool {
	old := r.records[rec.key()]
	return old == nil || old.Deleted || old.Full != rec.Full || old.Suspended != rec.Suspended || !old.Object.Equal(rec.Object)
}

// stamp makes a record of ours the newest.
func (r *Repository) stamp(now time.Time, rec *Record, fx *Effects) *Record {
	rec.Published, rec.Expires = now.UnixMilli(), now.Add(Lifetime)
	rec.Seq = r.nextSeq(now, rec.key())
	r.keep(now, rec, fx)
	return rec
}

// nextSeq ascends even if what was written last is lost, as long as the clock
// does not go back further than that.
func (r *Repository) nextSeq(now time.Time, k recordKey) uint64 {
	seq := uint64(max(1, now.UnixMicro()))
	if old := r.records[k]; old != nil && old.Seq >= seq {
		seq = old.Seq + 1
	}
	return seq
}

// tombstone withdraws a record of ours.
func (r *Repository) tombstone(now time.Time, old *Record, fx *Effects) *Record {
	rec := *old
	rec.Deleted, rec.Object = true, nil
	rec.Published, rec.Expires = now.UnixMilli(), now.Add(tombstoneOf)
	rec.Seq = r.nextSeq(now, rec.key())
	r.keep(now, &rec, fx)
	if rec.Kind == QueueRecord {
		r.unask(askKey{rec.Cluster, rec.Name}, fx)
	}
	return &rec
}

// publish spreads records of ours: a full repository as it does with
// everybody's, a partial one to two full repositories.
func (r *Repository) publish(now time.Time, records []*Record, fx *Effects) {
	for _, cluster := range clustersOf(records) {
		mine := slices.DeleteFunc(slices.Clone(records), func(rec *Record) bool { return rec.Cluster != cluster })
		if r.IsFull(cluster) {
			r.spread(now, cluster, mine, "", fx)
			continue
		}
		// What was sent to a target before it answered is not sent twice: reach has just done it.
		for _, t := range r.targets(now, cluster) {
			if _, known := r.sent[t.key]; known {
				r.send(now, t, &Command{Op: OpPublish, Cluster: cluster, Records: mine}, fx)
			}
		}
		r.reach(now, cluster, fx)
	}
}

func clustersOf(records []*Record) []string {
	var out []string
	for _, rec := range records {
		out = append(out, rec.Cluster)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// target is a full repository to talk to: known by its record, or only by a CLUSSDR.
type target struct {
	key  sentKey
	qmid string // blank: not heard of yet
	qmgr string
}

// targets are the (at most two) full repositories that a partial one publishes
// to, or the full ones that a full one exchanges with: those with a CLUSSDR.
func (r *Repository) targets(now time.Time, cluster string) []target {
	if !r.member(cluster) {
		return nil
	}
	var manual, auto []target
	known := map[string]bool{}
	for _, rec := range r.qmgrs[cluster] {
		if rec.QMID == r.qmid {
			continue
		}
		t := target{sentKey{cluster, rec.Name}, rec.QMID, rec.QMgr}
		if r.hasSender(cluster, rec.Name) {
			// A CLUSSDR to a queue manager that is known not to keep a full repository is a mistake.
			known[rec.Name] = true
			if rec.Full && rec.live(now) {
				manual = append(manual, t)
			}
		} else if rec.Full && rec.live(now) {
			auto = append(auto, t)
		}
	}
	var unknown []target
	for _, s := range r.senders {
		if slices.Contains(s.Clusters, cluster) && !known[s.Channel] {
			unknown = append(unknown, target{key: sentKey{cluster, s.Channel}})
		}
	}
	if r.IsFull(cluster) {
		return append(manual, unknown...)
	}
	out := append(append(manual, auto...), unknown...)
	if n := len(manual) + len(auto); n >= 2 {
		// Two that are known are enough; one that never answered must not take a place.
		return out[:2]
	}
	return out[:min(len(out), 2)]
}

func (r *Repository) hasSender(cluster, channel string) bool {
	return slices.ContainsFunc(r.senders, func(s ManualSender) bool {
		return s.Channel == channel && slices.Contains(s.Clusters, cluster)
	})
}

// reach sees to it that every target has all that is ours: a target that is
// new gets everything once.
func (r *Repository) reach(now time.Time, cluster string, fx *Effects) {
	for _, t := range r.targets(now, cluster) {
		qmid, known := r.sent[t.key]
		if known && (qmid == t.qmid || t.qmid == "") {
			continue
		}
		r.markSent(t.key, t.qmid, fx)
		if known && qmid == "" {
			continue // the one that only had an address has answered
		}
		c := &Command{Op: OpPublish, Cluster: cluster, Records: r.ownRecords(cluster)}
		if r.IsFull(cluster) {
			c.Op, c.Records = OpRequest, r.allRecords(now, cluster)
		}
		r.send(now, t, c, fx)
		if r.IsFull(cluster) {
			continue
		}
		if names := r.askedNames(cluster); len(names) > 0 {
			r.send(now, t, &Command{Op: OpSubscribe, Cluster: cluster, Names: names}, fx)
		}
		// From before a restore the target may have more of ours.
		r.send(now, t, &Command{Op: OpTold, Cluster: cluster, Count: r.countOf(cluster, r.qmid)}, fx)
	}
}

// countOf is how many records of a queue manager there are in a cluster, without tombstones.
func (r *Repository) countOf(cluster, qmid string) int {
	n := len(r.hosted[hostKey{cluster, qmid}])
	for _, rec := range r.qmgrs[cluster] {
		if rec.QMID == qmid {
			n++
		}
	}
	return n
}

func (r *Repository) markSent(k sentKey, qmid string, fx *Effects) {
	r.sent[k] = qmid
	fx.Sets = append(fx.Sets, Stored{prefixSent + k.cluster + separator + k.channel, []byte(qmid)})
}

func (r *Repository) unmarkSent(k sentKey, fx *Effects) {
	delete(r.sent, k)
	fx.Deletes = append(fx.Deletes, prefixSent+k.cluster+separator+k.channel)
}

// unmarkCluster forgets what the targets of a cluster were sent.
func (r *Repository) unmarkCluster(cluster string, fx *Effects) {
	for _, k := range sortedKeys(r.sent, compareSent) {
		if k.cluster == cluster {
			r.unmarkSent(k, fx)
		}
	}
}

func compareSent(a, b sentKey) int {
	return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.channel, b.channel))
}

func (r *Repository) send(now time.Time, t target, c *Command, fx *Effects) {
	c.FromQMID, c.FromQMgr, c.Full = r.qmid, r.qmgr, r.IsFull(c.Cluster)
	for _, payload := range c.encode(now) {
		fx.Sends = append(fx.Sends, Send{Cluster: t.key.cluster, Channel: t.key.channel, QMgr: t.qmgr, Payload: payload})
	}
}

func (r *Repository) ownRecords(cluster string) []*Record {
	var out []*Record
	for k, rec := range r.records {
		if k.qmid == r.qmid && k.cluster == cluster {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, comparePublished)
	return out
}

// comparePublished puts channels before queues: who learns of a queue should know how to get there.
func comparePublished(a, b *Record) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	return compareRecords(a, b)
}

// TempName is the name that a full repository has in DISPLAY CLUSQMGR until it answers.
func TempName(addr string) string {
	first, _, _ := strings.Cut(addr, ",")
	return "SYSTEM.TEMPQMGR." + strings.TrimSpace(first)
}
