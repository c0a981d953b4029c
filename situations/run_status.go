package situations

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Snapshot copies out what the runner knows.
func (r *Runner) Snapshot() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book
	st := Status{
		QMgr: r.opts.QMgr, Revision: b.rules.Revision, Situations: len(b.live),
		LoadedAt: r.loadedAt, SampleErr: r.sampleErr, CommitErr: r.commitErr,
	}
	st.SampledAt = b.samples.at
	for _, sl := range b.slots {
		row := b.lastRow(sl.queue)
		for _, it := range sl.items {
			if it != nil {
				st.Items = append(st.Items, b.status(it, row))
			}
		}
	}
	return st
}

// lastRow is a queue's row in the last good sample, nil if it had none.
func (b *book) lastRow(queue string) *Row {
	rows := b.samples.rows
	if groupIndex(queue) > 0 {
		rows = b.samples.others
	}
	i, ok := slices.BinarySearchFunc(rows, queue, func(r Row, q string) int { return strings.Compare(r.Queue, q) })
	if !ok {
		return nil
	}
	return &rows[i]
}

func (b *book) status(it *item, row *Row) ItemStatus {
	out := ItemStatus{
		Key: b.key(it.sit, it.queue), Verdict: it.verdict, Since: it.since,
		Blind: it.blind >= blindAfter, Values: map[string]any{},
	}
	if row != nil && it.verdict != Gone {
		out.Values = it.sit.values(row)
	}
	if st := it.state; st != nil {
		out.Phase, out.Opened, out.Flapping, out.Acted = st.Phase, st.Opened, st.Flapping, st.Acted
		out.Disarmed, out.LastActed = st.Disarmed, st.LastActed
	}
	out.Suppressed = it.keptBack()
	return out
}

// keptBack are the actions that a maintenance window suppresses.
func (it *item) keptBack() []Action {
	switch it.suppressed {
	case EdgeOpen:
		return it.sit.Actions
	case EdgeClear:
		return it.sit.OnClear
	case "", EdgeRepeat, EdgeRetry, EdgeManual, EdgeGuard:
	}
	return nil
}

// values are what the formula and the recovery look at.
func (s *Situation) values(row *Row) map[string]any {
	out := s.Formula.Values(row)
	if s.Recovery != nil {
		maps.Copy(out, s.Recovery.Values(row))
	}
	return out
}

// LastObservation is the newest sample, nil before the first; it may be one that failed.
func (r *Runner) LastObservation() *Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// Flapping reports whether an item's condition keeps changing now.
func (r *Runner) Flapping(k Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book.flapping(k)
}

// Maintained reports whether a window of the item's situation is open in which
// it does not act.
func (r *Runner) Maintained(k Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book.maintained(k, time.Now())
}

// Count is how many items a situation has now.
func (r *Runner) Count(situation string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, sl := range r.book.slots {
		for _, it := range sl.items {
			if it != nil && it.sit.Name == situation {
				n++
			}
		}
	}
	return n
}

func (b *book) maintained(k Key, now time.Time) bool {
	it := b.find(k)
	if it == nil || len(it.sit.Maintenance) == 0 {
		return false
	}
	held, _ := it.sit.maintained(now)
	return held
}

func (b *book) flapping(k Key) bool {
	it := b.find(k)
	return it != nil && it.state != nil && it.state.Flapping
}

func (b *book) find(k Key) *item {
	i, ok := slices.BinarySearchFunc(b.slots, k.Queue, func(s *slot, q string) int { return compareItems(s.queue, q) })
	if !ok || k.QMgr != b.qmgr {
		return nil
	}
	for _, it := range b.slots[i].items {
		if it != nil && it.sit.Name == k.Situation {
			return it
		}
	}
	return nil
}

// Alerts lists the open items of situations with an alert, by queue and then in
// the order of the rules.
func (r *Runner) Alerts() []OpenAlert {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book.alerts()
}

func (b *book) alerts() []OpenAlert {
	var out []OpenAlert
	for _, sl := range b.slots {
		for _, it := range sl.items {
			if it != nil && it.state != nil && it.state.isOpen() && it.sit.Alert != nil && !it.muted {
				out = append(out, b.alert(it))
			}
		}
	}
	return out
}

func (b *book) alert(it *item) OpenAlert {
	s, st, k := it.sit, it.state, b.key(it.sit, it.queue)
	out := OpenAlert{
		Key: k, StartsAt: st.Opened, Verdict: it.verdict, Blind: it.blind >= blindAfter, Flapping: st.Flapping,
		Labels:      map[string]string{"alertname": s.Name, "severity": s.Alert.Severity, "qmgr": k.QMgr},
		Annotations: map[string]string{},
	}
	if st.Cluster != "" {
		out.Labels["cluster"] = st.Cluster
	}
	identity := Row{Queue: k.Queue}
	switch g, name := GroupOf(k.Queue); g {
	case GroupChannel:
		out.Labels["channel"] = name
		identity.Env = ChannelAttributes{CHANNEL: name, QMGR: k.QMgr, CLUSTER: st.Cluster}
	case GroupQMgr:
		identity.Env = QMgrAttributes{QMGR: k.QMgr, CLUSTER: st.Cluster}
	case GroupQueue:
		out.Labels["queue"] = name
		identity.Env = Attributes{QUEUE: name, QMGR: k.QMgr, CLUSTER: st.Cluster}
	}
	for _, l := range s.Alert.Labels {
		if v := Expand(l.Value, &identity); v != "" {
			out.Labels[l.Name] = v
		}
	}
	summary, description := st.Summary, st.Description
	if row := b.lastRow(it.queue); row != nil && it.verdict != Gone {
		summary, description = Expand(s.Alert.Summary, row), Expand(s.Alert.Description, row)
	}
	for _, a := range [][2]string{{"summary", summary}, {"description", description}, {"runbook_url", Expand(s.Alert.Runbook, &identity)}} {
		if a[1] != "" {
			out.Annotations[a[0]] = a[1]
		}
	}
	return out
}

// Blind lists what could not be judged for three samples or more.
func (r *Runner) Blind() []BlindItem {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book
	if b.samples.failed >= blindAfter {
		return []BlindItem{{Key: Key{QMgr: b.qmgr}, Since: b.samples.blindAt}}
	}
	var out []BlindItem
	for _, sl := range b.slots {
		for _, it := range sl.items {
			if it != nil && it.blind >= blindAfter {
				out = append(out, BlindItem{Key: b.key(it.sit, it.queue), Since: it.blindAt})
			}
		}
	}
	return out
}

// FlappingItems lists what changes too often now.
func (r *Runner) FlappingItems() []FlappingItem {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book
	var out []FlappingItem
	for _, sl := range b.slots {
		for _, it := range sl.items {
			if it == nil || it.state == nil || !it.state.Flapping {
				continue
			}
			since := it.flapping
			if since.IsZero() {
				since = b.anchor
			}
			out = append(out, FlappingItem{Key: b.key(it.sit, it.queue), Since: since})
		}
	}
	return out
}

// Next is when the next sample is due, zero if none ever is.
func (r *Runner) Next() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	var next time.Time
	for _, s := range r.book.live {
		if !s.next.IsZero() && (next.IsZero() || s.next.Before(next)) {
			next = s.next
		}
	}
	return next
}
