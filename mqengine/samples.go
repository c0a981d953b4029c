package mqengine

import (
	"github.com/situationd/situationd/mqengine/internal/samples"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// sampleSince is a sample of the table. With attributes every row has its
// attributes; without, known marks rows whose attributes are older than since.
func sampleSince(table *samples.Table, since uint64) *sampleRows {
	s := table.Since(since)
	out := &sampleRows{Sample: Sample{Revision: s.Revision, Full: s.Full, Started: s.Started, Deleted: s.Deleted}}
	if len(s.Rows) == 0 {
		return out
	}
	out.Queues, out.known = make([]QueueStatus, len(s.Rows)), make([]bool, len(s.Rows))
	for i, r := range s.Rows {
		out.Queues[i] = QueueStatus{Name: r.Name, Type: r.Type, Base: r.Base, Attributes: r.Attributes, QueueCounts: r.Counts}
		out.known[i] = s.Known(r)
	}
	return out
}

// changeOf compares two published states of a queue.
func changeOf(old, now *samples.Row) ChangeKind {
	if old == nil || now.Gone {
		return ReadersChanged | AttributesChanged
	}
	var kind ChangeKind
	a, b := &old.QueueStatus, &now.QueueStatus
	if !sameReaders(a.Counts.Readers, b.Counts.Readers) {
		kind |= ReadersChanged
	}
	if a.Attributes != b.Attributes {
		kind |= AttributesChanged
	}
	if b.Attributes != nil {
		high := b.Attributes.MaxDepth * b.Attributes.QDepthHi / 100
		low := b.Attributes.MaxDepth * b.Attributes.QDepthLo / 100
		full := b.Attributes.MaxDepth
		if a.Counts.CurDepth < high && b.Counts.CurDepth >= high || a.Counts.CurDepth < full && b.Counts.CurDepth >= full {
			kind |= DepthHigh
		}
		if a.Counts.CurDepth > low && b.Counts.CurDepth <= low {
			kind |= DepthLow
		}
	}
	return kind
}

func sameReaders(a, b []qmgr.Reader) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
