package repository

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Receive takes a command of another queue manager's repository. Commands may
// come late, twice or out of order: only records with a higher number than the
// known one count.
func (r *Repository) Receive(now time.Time, payload []byte, fx *Effects) error {
	c, err := Decode(payload, now)
	if err != nil {
		return err
	}
	if c.FromQMID == r.qmid {
		return fmt.Errorf("repository: a command of our own came back over cluster %s", c.Cluster)
	}
	if !r.member(c.Cluster) {
		if r.farewell(now, c, fx) {
			return nil
		}
		fx.Log = append(fx.Log, Log{"AMQ9409I", fmt.Sprintf("A repository command of queue manager '%s' for cluster '%s' is ignored: this queue manager is not in it.", c.FromQMgr, c.Cluster)})
		return nil
	}
	news, joined := r.apply(now, c, fx)
	switch {
	case r.IsFull(c.Cluster):
		r.serve(now, c, news, joined, fx)
	case c.Op == OpRequest:
		r.tellAgain(c, fx)
	case c.Op == OpTold:
		// Whoever sent it waits for nothing: this is the one place where it can be seen.
		fx.Log = append(fx.Log, Log{"AMQ9432W", fmt.Sprintf("Query received by a non-repository queue manager: '%s' takes this one for a full repository of cluster '%s'; its CLUSSDR has to lead to one.", c.FromQMgr, c.Cluster)})
	}
	r.reach(now, c.Cluster, fx)
	if c.Op == OpAnswer {
		r.answered(c, fx)
	}
	return nil
}

// apply takes the records that are newer; joined are queue managers not known before.
// A publisher whose own record here has a higher number than what it says, or is
// another one of that number, has been restored from a backup, and hears of it: it
// goes on from there.
func (r *Repository) apply(now time.Time, c *Command, fx *Effects) (news []*Record, joined []string) {
	var ahead []*Record
	for _, rec := range c.Records {
		old := r.records[rec.key()]
		if rec.QMID == r.qmid {
			r.aboutUs(now, rec, old, fx)
			continue
		}
		if !rec.supersedes(old) {
			if (old.Seq > rec.Seq || rec.contradicts(old)) && c.FromQMID == rec.QMID && r.IsFull(c.Cluster) {
				ahead = append(ahead, old)
			}
			continue
		}
		if old == nil && rec.Deleted && !r.IsFull(c.Cluster) {
			continue
		}
		if rec.Kind == QMgrRecord && !rec.Deleted && !r.knows(rec.Cluster, rec.QMID) {
			joined = append(joined, rec.QMID)
		}
		r.keep(now, rec, fx)
		news = append(news, rec)
		r.demoted(now, rec, fx)
		if rec.Kind == QMgrRecord && rec.Deleted && !rec.Forced && !r.knows(rec.Cluster, rec.QMID) {
			news = append(news, r.left(now, rec, fx)...)
		}
	}
	if to, ok := r.targetOf(c.Cluster, c.FromQMID); ok && len(ahead) > 0 {
		r.send(now, to, &Command{Op: OpPublish, Cluster: c.Cluster, Records: ahead}, fx)
	}
	return news, joined
}

// demoted: of a full repository everybody hears, of any other queue manager only
// who asked. A partial repository that goes on knowing one asks from here on, as
// REFRESH CLUSTER does for what it keeps, or it would never hear that it left.
func (r *Repository) demoted(now time.Time, rec *Record, fx *Effects) {
	if rec.Kind == QMgrRecord && rec.wasFull && !rec.Full && !rec.Deleted && !r.IsFull(rec.Cluster) {
		r.ask(now, askKey{rec.Cluster, rec.QMgr}, fx)
	}
}

// knows reports whether a channel of that queue manager is known in the cluster.
func (r *Repository) knows(cluster, qmid string) bool {
	return slices.ContainsFunc(r.qmgrs[cluster], func(rec *Record) bool { return rec.QMID == qmid })
}

// aboutUs: somebody has a record of ours that we have not, or a newer one:
// from a life before a restore, or a RESET CLUSTER. What was in an earlier life
// is over, and ours wins by being published again with a higher number. What a
// RESET CLUSTER removed stays away until REFRESH CLUSTER.
func (r *Repository) aboutUs(now time.Time, rec, old *Record, fx *Effects) {
	switch {
	case old == nil && rec.Deleted, old != nil && rec.Seq <= old.Seq && !rec.contradicts(old):
		return
	case old == nil:
		r.hold(rec)
		r.publish(now, []*Record{r.tombstone(now, rec, fx)}, fx)
		return
	}
	mine := *old
	mine.Seq = rec.Seq // the next number comes after it
	r.keep(now, &mine, fx)
	switch {
	case rec.Forced && rec.Kind == QMgrRecord && !old.Deleted:
		fx.Log = append(fx.Log, Log{"AMQ9412W", fmt.Sprintf("'%s' of this queue manager was removed from cluster '%s' at a full repository; REFRESH CLUSTER brings it back.", rec.Name, rec.Cluster)})
	case old.Deleted:
		r.publish(now, []*Record{r.tombstone(now, &mine, fx)}, fx)
	default:
		again := mine
		r.publish(now, []*Record{r.stamp(now, &again, fx)}, fx)
	}
}

// farewell answers a full repository that has records of ours in a cluster that
// this queue manager is not in; false if it has none, or there is no way to it.
func (r *Repository) farewell(now time.Time, c *Command, fx *Effects) bool {
	to, ok := r.targetOf(c.Cluster, c.FromQMID)
	if !ok {
		return false
	}
	var news []*Record
	for _, rec := range c.Records {
		if rec.QMID == r.qmid && !rec.Deleted {
			r.hold(rec)
			news = append(news, r.tombstone(now, rec, fx))
		}
	}
	if len(news) > 0 {
		r.send(now, to, &Command{Op: OpPublish, Cluster: c.Cluster, Records: news}, fx)
	}
	return len(news) > 0
}

// left drops the queues of a queue manager that has no channel in the cluster any more.
func (r *Repository) left(now time.Time, rec *Record, fx *Effects) (news []*Record) {
	names := sortedKeys(r.hosted[hostKey{rec.Cluster, rec.QMID}], strings.Compare)
	for _, name := range names {
		gone := *r.records[recordKey{QueueRecord, rec.Cluster, name, rec.QMID}]
		gone.Deleted, gone.Forced, gone.Object = true, true, nil
		gone.Expires = now.Add(tombstoneOf)
		r.keep(now, &gone, fx)
		news = append(news, &gone)
	}
	return news
}

// serve is what a full repository does with a command besides taking it.
func (r *Repository) serve(now time.Time, c *Command, news []*Record, joined []string, fx *Effects) {
	if len(news) > 0 {
		r.spread(now, c.Cluster, news, c.FromQMID, fx)
	}
	if c.Op == OpSubscribe {
		r.subscribe(now, c, fx)
	}
	for _, qmid := range joined {
		r.welcome(now, c.Cluster, qmid, qmid == c.FromQMID && c.Op != OpRequest, fx)
	}
	to, ok := r.targetOf(c.Cluster, c.FromQMID)
	switch {
	case !ok:
	case c.Op == OpRequest:
		r.send(now, to, &Command{Op: OpPublish, Cluster: c.Cluster, Records: r.allRecords(now, c.Cluster)}, fx)
	case c.Op == OpSubscribe:
		r.answer(now, to, c.Names, fx)
	case c.Op == OpTold:
		r.told(now, to, c, fx)
	}
}

// told answers a member that has just told everything, for the first time or
// again. It may know the way here only from its CLUSSDR, after REFRESH CLUSTER
// REPOS(YES) or a restore from before it joined: it hears who the full
// repositories are, and which other records of its own there are.
func (r *Repository) told(now time.Time, to target, c *Command, fx *Effects) {
	records := r.fullRecords(now, c.Cluster)
	if c.Count != r.countOf(c.Cluster, c.FromQMID) {
		records = append(records, r.recordsOf(c.Cluster, c.FromQMID)...)
	}
	r.send(now, to, &Command{Op: OpPublish, Cluster: c.Cluster, Records: records}, fx)
}

// tellAgain has the next reach publish everything to a full repository that asked for it.
func (r *Repository) tellAgain(c *Command, fx *Effects) {
	for _, k := range sortedKeys(r.sent, compareSent) {
		if k.cluster == c.Cluster && r.sent[k] == c.FromQMID {
			r.unmarkSent(k, fx)
		}
	}
}

// recordsOf is what there is of one queue manager, without tombstones.
func (r *Repository) recordsOf(cluster, qmid string) []*Record {
	var out []*Record
	for _, rec := range r.qmgrs[cluster] {
		if rec.QMID == qmid {
			out = append(out, rec)
		}
	}
	for _, name := range sortedKeys(r.hosted[hostKey{cluster, qmid}], strings.Compare) {
		out = append(out, r.records[recordKey{QueueRecord, cluster, name, qmid}])
	}
	return out
}

// welcome tells a queue manager that was not known before what it has to know:
// the full repositories, if it came to us, and what it subscribed to before
// anybody knew the way to it.
func (r *Repository) welcome(now time.Time, cluster, qmid string, here bool, fx *Effects) {
	to, ok := r.targetOf(cluster, qmid)
	if !ok {
		return
	}
	if here {
		r.send(now, to, &Command{Op: OpPublish, Cluster: cluster, Records: r.fullRecords(now, cluster)}, fx)
	}
	var names []string
	for k, who := range r.subs {
		if _, ok := who[qmid]; ok && k.cluster == cluster {
			names = append(names, k.name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		r.answer(now, to, names, fx)
	}
}

// targetOf finds the way to a known queue manager.
func (r *Repository) targetOf(cluster, qmid string) (target, bool) {
	var found *Record
	for _, rec := range r.qmgrs[cluster] {
		if rec.QMID == qmid && (found == nil || r.hasSender(cluster, rec.Name)) {
			found = rec
		}
	}
	if found == nil {
		return target{}, false
	}
	return target{sentKey{cluster, found.Name}, qmid, found.QMgr}, true
}

// fullRecords are the channels of the full repositories of a cluster.
func (r *Repository) fullRecords(now time.Time, cluster string) []*Record {
	var out []*Record
	for _, rec := range r.qmgrs[cluster] {
		if rec.Full && rec.live(now) {
			out = append(out, rec)
		}
	}
	return out
}

// allRecords is all there is of a cluster, tombstones too.
func (r *Repository) allRecords(now time.Time, cluster string) []*Record {
	var out []*Record
	for _, rec := range r.records {
		if rec.Cluster == cluster && now.Before(rec.Expires) {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, comparePublished)
	return out
}

// spread passes news on: to the full repositories to which there is a CLUSSDR,
// and to whoever subscribed, but never back to where it came from. What another
// full repository said is passed on too: it may be the only one that the
// publisher told before it fell silent. What is known already is no news, so
// each passes a record on once.
func (r *Repository) spread(now time.Time, cluster string, news []*Record, from string, fx *Effects) {
	done := map[string]bool{r.qmid: true, from: true, "": true}
	for _, t := range r.targets(now, cluster) {
		if _, known := r.sent[t.key]; !known || t.qmid != "" && t.qmid == from {
			continue // reach sends everything, or it is the source
		}
		done[t.qmid] = true
		r.send(now, t, &Command{Op: OpPublish, Cluster: cluster, Records: news}, fx)
	}
	interest := map[string][]*Record{}
	for _, rec := range news {
		for _, qmid := range r.interested(rec) {
			if !done[qmid] && qmid != rec.QMID {
				interest[qmid] = append(interest[qmid], rec)
			}
		}
	}
	for _, qmid := range sortedKeys(interest, strings.Compare) {
		if to, ok := r.targetOf(cluster, qmid); ok {
			r.send(now, to, &Command{Op: OpPublish, Cluster: cluster, Records: r.withHosts(now, interest[qmid])}, fx)
		}
	}
}

// interested are the queue managers that want to hear of a record.
func (r *Repository) interested(rec *Record) []string {
	found := map[string]struct{}{}
	add := func(name string) {
		for qmid := range r.subs[askKey{rec.Cluster, name}] {
			found[qmid] = struct{}{}
		}
	}
	add(rec.subject())
	if rec.Kind == QMgrRecord {
		for name := range r.hosted[hostKey{rec.Cluster, rec.QMID}] {
			add(name)
		}
		if rec.Full || rec.wasFull {
			// Everybody has to know the full repositories, and which one is none any more.
			for _, m := range r.qmgrs[rec.Cluster] {
				found[m.QMID] = struct{}{}
			}
		}
	}
	return sortedKeys(found, strings.Compare)
}

// withHosts puts the channels to the hosts of queues ahead of the queues.
func (r *Repository) withHosts(now time.Time, records []*Record) []*Record {
	have := map[recordKey]bool{}
	var out []*Record
	add := func(rec *Record) {
		if !have[rec.key()] {
			have[rec.key()] = true
			out = append(out, rec)
		}
	}
	for _, rec := range records {
		if rec.Kind == QMgrRecord {
			add(rec)
		}
	}
	for _, rec := range records {
		if rec.Kind != QueueRecord {
			continue
		}
		for _, m := range r.qmgrs[rec.Cluster] {
			if m.QMID == rec.QMID && !rec.Deleted && m.live(now) {
				add(m)
			}
		}
	}
	for _, rec := range records {
		add(rec)
	}
	return out
}

// subscribe notes who wants to hear of which names.
func (r *Repository) subscribe(now time.Time, c *Command, fx *Effects) {
	until := now.Add(Lifetime)
	for _, name := range c.Names {
		k := askKey{c.Cluster, name}
		if r.subs[k] == nil {
			r.subs[k] = map[string]time.Time{}
		}
		r.subs[k][c.FromQMID] = until
		fx.Sets = append(fx.Sets, storeSub(k, c.FromQMID, until))
	}
	r.sweepAt = earliest(r.sweepAt, until)
}

// answer tells a subscriber all there is of names.
func (r *Repository) answer(now time.Time, to target, names []string, fx *Effects) {
	var records []*Record
	for _, name := range names {
		records = append(records, r.about(now, askKey{to.key.cluster, name}, to.qmid)...)
	}
	r.send(now, to, &Command{Op: OpAnswer, Cluster: to.key.cluster, Names: names, Records: r.withHosts(now, records)}, fx)
}

// about are the records of a name, without those of the one who asks. The
// tombstones are among them: whoever let a subscription lapse may still have
// what was withdrawn meanwhile.
func (r *Repository) about(now time.Time, k askKey, asker string) []*Record {
	var out []*Record
	for _, rec := range r.queues[k.name] {
		if rec.Cluster == k.cluster && rec.QMID != asker && rec.live(now) {
			out = append(out, rec)
		}
	}
	for _, rec := range r.qmgrs[k.cluster] {
		if rec.QMgr == k.name && rec.QMID != asker && rec.live(now) {
			out = append(out, rec)
		}
	}
	for _, kind := range [...]RecordKind{QueueRecord, QMgrRecord} {
		for _, rec := range r.gone[goneKey{kind, k}] {
			if rec.QMID != asker && now.Before(rec.Expires) {
				out = append(out, rec)
			}
		}
	}
	return out
}

// requestAll asks the other full repositories for everything.
func (r *Repository) requestAll(now time.Time, cluster string, fx *Effects) {
	for _, t := range r.targets(now, cluster) {
		r.markSent(t.key, t.qmid, fx)
		r.send(now, t, &Command{Op: OpRequest, Cluster: cluster, Records: r.allRecords(now, cluster)}, fx)
	}
}
