package enginetest

import (
	"maps"
	"slices"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/internal/samples"
)

// show keeps what a turn changed until the turn is durable.
func (n *node) show(t *turn) {
	if n.shown == nil {
		return
	}
	t.cluster = n.fx.ClusterChanged
	t.shown = samples.AppendTouched(nil, n.m, n.fx.Touched)
}

// showTurn lets a turn's changes be sampled, and tells who watches.
func (n *node) showTurn(t *turn) {
	if n.shown == nil || len(t.shown) == 0 && !t.cluster {
		return
	}
	n.shown.Publish(t.shown, make([]*samples.Row, len(t.shown)))
	for _, c := range slices.SortedFunc(maps.Values(n.conns), func(a, b client) int { return a.order() - b.order() }) {
		if c, ok := c.(*Session); ok && c.watch != nil {
			c.watch()
		}
	}
}

// sample gives the queues that changed after a revision.
func (n *node) sample(since uint64) *mqengine.Sample {
	s := n.shown.Since(since)
	out := &mqengine.Sample{Revision: s.Revision, Started: s.Started, Full: s.Full, Deleted: s.Deleted}
	for _, r := range s.Rows {
		out.Queues = append(out.Queues, mqengine.QueueStatus{Name: r.Name, Type: r.Type, Base: r.Base, Attributes: r.Attributes, QueueCounts: r.Counts})
	}
	return out
}
