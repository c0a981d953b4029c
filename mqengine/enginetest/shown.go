package enginetest

import (
	"maps"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine"
)

// shownQueues is what can be sampled of one queue manager: the state of its queues
// as far as it is durable, with revisions as the shell has them.
type shownQueues struct {
	started  int64
	revision uint64
	queues   map[uint32]shownQueue
	gone     map[string]uint64 // when a name was deleted last
}

type shownQueue struct {
	number uint32
	gone   bool
	rev    uint64
	status mqengine.QueueStatus
}

func newShownQueues(started time.Time) *shownQueues {
	ms := started.UnixMilli()
	return &shownQueues{started: ms, revision: uint64(ms) << 20, queues: map[uint32]shownQueue{}, gone: map[string]uint64{}}
}

// show keeps what a turn changed until the turn is durable.
func (n *node) show(t *turn) {
	if n.shown == nil {
		return
	}
	t.cluster = n.fx.ClusterChanged
	touched := slices.Clone(n.fx.Touched)
	slices.Sort(touched)
	for _, number := range slices.Compact(touched) {
		st, ok := n.m.Status(number)
		q := shownQueue{number: number, gone: !ok}
		if ok {
			q.status = mqengine.QueueStatus{Name: st.Name, Type: st.Type, Base: st.Base, Attributes: st.Attributes, QueueCounts: st.Counts}
		}
		t.shown = append(t.shown, q)
	}
}

// release lets a turn's changes be sampled, and tells who watches.
func (s *shownQueues) release(n *node, t *turn) {
	if s == nil || len(t.shown) == 0 && !t.cluster {
		return
	}
	s.revision++
	for _, q := range t.shown {
		q.rev = s.revision
		if old, ok := s.queues[q.number]; ok && q.gone {
			s.gone[old.status.Name] = s.revision
		}
		if q.gone {
			delete(s.queues, q.number)
		} else {
			s.queues[q.number] = q
		}
	}
	for _, c := range slices.SortedFunc(maps.Values(n.conns), func(a, b client) int { return a.order() - b.order() }) {
		if c, ok := c.(*Session); ok && c.watch != nil {
			c.watch()
		}
	}
}

func (s *shownQueues) sample(since uint64) *mqengine.Sample {
	out := &mqengine.Sample{Revision: s.revision, Started: s.started}
	if out.Full = since < uint64(s.started)<<20 || since > s.revision; out.Full {
		since = 0
	}
	for _, number := range slices.Sorted(maps.Keys(s.queues)) {
		if q := s.queues[number]; q.rev > since {
			out.Queues = append(out.Queues, q.status)
		}
	}
	if !out.Full {
		for _, name := range slices.Sorted(maps.Keys(s.gone)) {
			if s.gone[name] > since {
				out.Deleted = append(out.Deleted, name)
			}
		}
	}
	return out
}
