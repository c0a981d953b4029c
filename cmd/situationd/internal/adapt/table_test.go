package adapt

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/situations"
)

// plainRow is a row that shows everything its queue and the time put into it.
func plainRow(q mqengine.QueueStatus, at time.Time) situations.Row {
	age := 0
	if q.MonQ && q.Oldest != 0 {
		age = int(at.UnixMilli() - q.Oldest)
	}
	return situations.Row{Queue: q.Name, Clusters: q.Attributes.Clusters, Env: situations.Attributes{CURDEPTH: q.CurDepth, MSGAGE: age}}
}

// Whatever order changes come in, the table is what a full sample would make it,
// and no slice that was handed on changes afterwards.
func TestTable_AnyChanges_EqualAFullSample(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tab table
		queues := map[string]mqengine.QueueStatus{}
		answer := map[string]instances{}
		at := time.UnixMilli(1_000_000)
		type handed struct{ given, copied []situations.Row }
		var before []handed
		full := true
		for range rapid.IntRange(1, 20).Draw(t, "samples") {
			at = at.Add(time.Second)
			sample := &mqengine.Sample{Full: full}
			for i := range rapid.IntRange(0, 4).Draw(t, "changes") {
				name := fmt.Sprintf("Q%d", rapid.IntRange(0, 6).Draw(t, fmt.Sprint("queue", i)))
				if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
					delete(queues, name)
					sample.Deleted = append(sample.Deleted, name)
					sample.Queues = slices.DeleteFunc(sample.Queues, func(q mqengine.QueueStatus) bool { return q.Name == name })
					continue
				}
				q := mqengine.QueueStatus{Name: name, Attributes: &qmgr.QueueAttributes{}}
				q.CurDepth = rapid.IntRange(0, 9).Draw(t, "depth")
				q.MonQ, q.Oldest = rapid.Bool().Draw(t, "monq"), at.UnixMilli()-5
				if rapid.Bool().Draw(t, "clustered") {
					q.Attributes.Clusters = []string{"C1"}
				}
				queues[name] = q
				sample.Queues = slices.DeleteFunc(sample.Queues, func(q mqengine.QueueStatus) bool { return q.Name == name })
				sample.Queues = append(sample.Queues, q)
				sample.Deleted = slices.DeleteFunc(sample.Deleted, func(n string) bool { return n == name })
			}
			if full {
				sample.Queues, sample.Deleted = nil, nil
				for _, q := range queues {
					sample.Queues = append(sample.Queues, q)
				}
			}
			full = false
			tab.apply(sample, at, plainRow)
			if rapid.IntRange(0, 3).Draw(t, "answer") == 0 {
				answer = map[string]instances{"Q1": {list: []situations.Instance{{QMgr: fmt.Sprint(at.Unix())}}, known: true}}
				tab.answered(answer)
			}
			var want []situations.Row
			for _, q := range queues {
				row := plainRow(q, at)
				row.Instances, row.InstancesKnown = answer[q.Name].list, answer[q.Name].known
				want = append(want, row)
			}
			slices.SortFunc(want, func(a, b situations.Row) int { return cmp.Compare(a.Queue, b.Queue) })
			if diff := gocmp.Diff(want, tab.rows, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			for _, h := range before {
				if diff := gocmp.Diff(h.copied, h.given); diff != "" {
					t.Fatalf("rows that were handed on have changed:\n%s", diff)
				}
			}
			before = append(before, handed{tab.rows, slices.Clone(tab.rows)})
		}
	})
}
