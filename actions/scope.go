package actions

import (
	"slices"

	"github.com/situationd/situationd/situations"
)

// noun is what a person calls an item.
func noun(item string) string {
	switch g, _ := situations.GroupOf(item); g {
	case situations.GroupChannel:
		return "channel"
	case situations.GroupQMgr:
		return "queue manager"
	default:
		return "queue"
	}
}

// receiver says that a channel is the one by which others reach this queue
// manager in a cluster.
func receiver(row *situations.Row) bool {
	env, ok := row.Env.(situations.ChannelAttributes)
	return ok && env.CHLTYPE == "CLUSRCVR"
}

// affected are the instances that a lowering takes out of the balancing: that of
// the queue itself; for the queue manager, and for the channel by which others
// reach it, every queue that it has in those clusters, watched or not. With no
// clusters named it is all that the item is in. Other channels take none of ours.
func affected(t Target, a *situations.Action, row *situations.Row, queues []situations.Row, clusters []string) []*situations.Row {
	switch g, _ := situations.GroupOf(t.Queue); g {
	case situations.GroupQueue:
		return []*situations.Row{row}
	case situations.GroupChannel:
		if !receiver(row) {
			return nil
		}
	default:
	}
	if len(clusters) == 0 {
		clusters = a.Clusters
	}
	if len(clusters) == 0 {
		clusters = row.Clusters
	}
	var out []*situations.Row
	for i := range queues {
		q := &queues[i]
		if !q.System && !q.Transmission && slices.ContainsFunc(q.Clusters, func(c string) bool { return slices.Contains(clusters, c) }) {
			out = append(out, q)
		}
	}
	return out
}

// clustersIn are the clusters that changes are about, none for most.
func clustersIn(changes []change) []string {
	var out []string
	for _, c := range changes {
		if cluster := clusterIn(c.Attr); cluster != "" {
			out = append(out, cluster)
		}
	}
	return out
}

// on is the lever as it moves the instances of a target: a channel's rank and
// priority are weighed before the queue's; suspending, stopping and a weight take
// an instance away as PUT(DISABLED) does, whatever the ranks are.
func (l Lever) on(t Target) Lever {
	g, _ := situations.GroupOf(t.Queue)
	if g == situations.GroupQueue {
		return l
	}
	if l.Verb != situations.VerbRank && l.Verb != situations.VerbPriority {
		return Lever{Lever: situations.Lever{Verb: situations.VerbPut}, V6: l.V6}
	}
	l.Channel = true
	return l
}
