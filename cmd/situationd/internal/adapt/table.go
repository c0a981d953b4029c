package adapt

import (
	"cmp"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/situations"
)

// table is what the samples of one connection have told so far. Its slices are
// handed on and never changed afterwards: a change makes new ones, and where
// nothing changed the same ones are handed on again. With ten thousand quiet
// queues a sample then costs next to nothing.
type table struct {
	revision  uint64
	full      bool
	reordered bool // queues came, went or changed their clusters since somebody looked
	started   int64
	queues    []mqengine.QueueStatus // sorted by name
	rows      []situations.Row       // of the queues, in the same order
	aged      []int                  // rows whose ages grow although nothing happens
	answer    map[string]instances
}

// apply takes a sample in. row makes the row of a queue.
func (t *table) apply(sample *mqengine.Sample, at time.Time, row func(mqengine.QueueStatus, time.Time) situations.Row) {
	t.revision, t.started = sample.Revision, sample.Started
	if sample.Full {
		t.full = true
		t.rebuild(sample.Queues, at, row)
		return
	}
	if len(sample.Deleted) > 0 || slices.ContainsFunc(sample.Queues, func(q mqengine.QueueStatus) bool { return t.find(q.Name) < 0 }) {
		t.rebuild(t.merged(sample), at, row)
		return
	}
	if len(sample.Queues)+len(t.aged) == 0 {
		return
	}
	t.rows = slices.Clone(t.rows)
	if len(sample.Queues) > 0 {
		t.queues = slices.Clone(t.queues)
	}
	for _, q := range sample.Queues {
		i := t.find(q.Name)
		t.queues[i] = q
		fresh := row(q, at)
		t.reordered = t.reordered || !slices.Equal(fresh.Clusters, t.rows[i].Clusters)
		t.put(i, fresh)
	}
	for _, i := range t.aged {
		t.put(i, row(t.queues[i], at))
	}
	if len(sample.Queues) > 0 {
		t.noteAged()
	}
}

// find is the place of a queue, -1 if there is none of the name.
func (t *table) find(name string) int {
	i, ok := slices.BinarySearchFunc(t.queues, name, func(q mqengine.QueueStatus, name string) int { return cmp.Compare(q.Name, name) })
	if !ok {
		return -1
	}
	return i
}

// merged are the queues with the changes of a sample in place.
func (t *table) merged(sample *mqengine.Sample) []mqengine.QueueStatus {
	byName := make(map[string]mqengine.QueueStatus, len(t.queues))
	for _, q := range t.queues {
		byName[q.Name] = q
	}
	for _, name := range sample.Deleted {
		delete(byName, name)
	}
	for _, q := range sample.Queues {
		byName[q.Name] = q
	}
	queues := make([]mqengine.QueueStatus, 0, len(byName))
	for _, q := range byName {
		queues = append(queues, q)
	}
	return queues
}

func (t *table) rebuild(queues []mqengine.QueueStatus, at time.Time, row func(mqengine.QueueStatus, time.Time) situations.Row) {
	t.queues = slices.Clone(queues)
	slices.SortFunc(t.queues, func(a, b mqengine.QueueStatus) int { return cmp.Compare(a.Name, b.Name) })
	t.rows = make([]situations.Row, len(t.queues))
	for i := range t.queues {
		t.put(i, row(t.queues[i], at))
	}
	t.reordered = true
	t.noteAged()
}

// put sets a row, with what the repository last said of its queue.
func (t *table) put(i int, row situations.Row) {
	if a, ok := t.answer[row.Queue]; ok {
		row.Instances, row.InstancesKnown = a.list, a.known
	}
	t.rows[i] = row
}

func (t *table) noteAged() {
	t.aged = t.aged[:0]
	for i := range t.queues {
		if q := &t.queues[i]; q.MonQ && (q.Oldest != 0 || q.LGet != 0 || q.LPut != 0) {
			t.aged = append(t.aged, i)
		}
	}
}

// answered puts what the repository says into the rows.
func (t *table) answered(answer map[string]instances) {
	t.answer = answer
	t.rows = slices.Clone(t.rows)
	for i := range t.rows {
		a := answer[t.rows[i].Queue]
		t.rows[i].Instances, t.rows[i].InstancesKnown = a.list, a.known
	}
}
