package app

import (
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/situations"
)

// Status puts together what the runner, the actions and the last sample know.
func (a *App) Status() httpapi.Status {
	now := time.Now()
	runner, engine := a.runner.Snapshot(), a.engine.Snapshot()
	out := httpapi.Status{
		QMgr: a.qmgr, Ready: a.Ready() == nil, Observe: a.observe,
		Rules: httpapi.Rules{
			Revision: runner.Revision, LoadedAt: runner.LoadedAt.UTC(), Situations: runner.Situations,
			Error: a.reloads.lastError(),
		},
	}
	for i := range runner.Items {
		out.Items = append(out.Items, itemStatus(&runner.Items[i], engine.Items))
	}
	for _, p := range engine.Publish {
		out.Intents = append(out.Intents, httpapi.Wish{QMgr: p.QMgr, QMID: p.QMID, Queue: p.Queue})
	}
	for _, h := range a.engine.Holds() {
		out.Holds = append(out.Holds, heldOf(&h))
	}
	for _, t := range a.engine.Tripped() {
		out.Breaker = append(out.Breaker, t.Situation)
	}
	for i := range engine.Jobs {
		out.Jobs = append(out.Jobs, jobStatus(&engine.Jobs[i]))
	}
	if latest := a.source.Latest(); latest != nil {
		out.QMID, out.Queues = latest.Observation.QMID, queueStatus(latest, a.peers, now)
	}
	return out
}

func itemStatus(i *situations.ItemStatus, engine map[situations.Key]actions.ItemState) httpapi.Item {
	item := httpapi.Item{
		Situation: i.Key.Situation, QMgr: i.Key.QMgr, Queue: situations.QueueOf(i.Key.Queue), Channel: situations.ChannelOf(i.Key.Queue),
		State: i.Phase.String(), Verdict: i.Verdict.String(), Values: i.Values, Flapping: i.Flapping,
	}
	if !i.Since.IsZero() {
		since := i.Since.UTC()
		item.Since = &since
	}
	if state, ok := engine[i.Key]; ok {
		item.Intent, item.Held = state.Intent, state.Held
	}
	if len(i.Suppressed) > 0 && item.Intent == "" {
		item.Intent, item.Held = i.Suppressed[0].String(), append(item.Held, string(actions.HoldMaintenance))
	}
	return item
}

func jobStatus(j *actions.Job) httpapi.Job {
	by := j.By
	if by == "" {
		by = "rule"
	}
	return httpapi.Job{
		By:    by,
		Queue: j.Target.Queue, QMgr: j.Target.QMgr, Moved: j.Moved, Remaining: j.Remaining, Rate: j.Rate, State: j.State,
		Skipped: httpapi.Skipped{
			Addressed: j.Skipped.Addressed + j.Skipped.Bound, Grouped: j.Skipped.Grouped, Poison: j.Skipped.Poison,
		},
	}
}

// queueStatus lists the own queues that are clustered or watched, and every
// other instance of them that the repository knows.
func queueStatus(latest *adapt.Latest, others *peers, now time.Time) []httpapi.Queue {
	age := now.Sub(latest.Observation.At).Seconds()
	var out []httpapi.Queue
	for i := range latest.Observation.Rows {
		row := &latest.Observation.Rows[i]
		if row.System {
			continue
		}
		env, ok := row.Env.(situations.Attributes)
		if !ok {
			continue
		}
		out = append(out, httpapi.Queue{
			Queue: row.Queue, Cluster: env.CLUSTER, QMgr: latest.Observation.QMgr, Source: "own",
			IPProcs: &env.IPPROCS, OPProcs: &env.OPPROCS, CurDepth: &env.CURDEPTH,
			Put: &env.PUT, ClwlRank: &env.CLWLRANK, ClwlPrty: &env.CLWLPRTY, AgeS: age,
		})
		for j := range row.Instances {
			in := &row.Instances[j]
			if in.Local {
				continue
			}
			if q, ok := others.own(row.Queue, in.QMgr, in.QMID, now); ok {
				out = append(out, q)
				continue
			}
			put := "DISABLED"
			if in.Put {
				put = "ENABLED"
			}
			out = append(out, httpapi.Queue{
				Queue: row.Queue, Cluster: in.Cluster, QMgr: in.QMgr, Source: "repository",
				Put: &put, ClwlRank: &in.ClwlRank, ClwlPrty: &in.ClwlPrty, AgeS: age,
			})
		}
	}
	return out
}
