package httpapi

import "time"

// Counts are the daemon's own numbers since it started.
type Counts struct {
	Version, Commit, GoVersion string
	SamplesOK, SamplesFailed   uint64
	SampleSeconds              float64 // of the last one
	LastSample                 time.Time
	ReloadOK                   bool // the last reload
	ReloadAt                   time.Time
	More                       []Family // of the rooms that count for themselves
}

// states and the order in which they are shown.
var states = []string{"inactive", "pending", "open", "recovering"}

// OwnFamilies are the metrics of the daemon itself.
func OwnFamilies(s Status, c Counts) []Family {
	one := func(name, help string, kind Kind, value float64) Family {
		f := Family{Name: "situationd_" + name, Help: help, Kind: kind}
		f.Add(value)
		return f
	}
	info := Family{Name: "situationd_build_info", Help: "The version that runs, always 1.", Labels: []string{"version", "commit", "goversion"}}
	info.Add(1, c.Version, c.Commit, c.GoVersion)
	samples := Family{Name: "situationd_samples_total", Help: "Samples taken of the queue manager.", Kind: Counter, Labels: []string{"result"}}
	samples.Add(float64(c.SamplesOK), "ok")
	samples.Add(float64(c.SamplesFailed), "failed")
	families := []Family{
		info, samples,
		one("observe_only", "1 if the daemon decides and changes nothing.", Gauge, Truth(s.Observe)),
		one("ready", "1 once rules are loaded and the queue manager was sampled.", Gauge, Truth(s.Ready)),
		one("rules_situations", "Situations in force on this queue manager.", Gauge, float64(s.Rules.Situations)),
		one("config_last_reload_successful", "1 if the last reading of the files worked.", Gauge, Truth(c.ReloadOK)),
		one("config_last_reload_success_timestamp_seconds", "When the files in force were read.", Gauge, seconds(c.ReloadAt)),
	}
	if !c.LastSample.IsZero() {
		families = append(families,
			one("last_sample_timestamp_seconds", "When the queue manager last answered.", Gauge, seconds(c.LastSample)),
			one("last_sample_duration_seconds", "How long it took to answer.", Gauge, c.SampleSeconds))
	}
	families = append(families, itemFamilies(s)...)
	families = append(families, jobFamilies(s)...)
	return append(families, c.More...)
}

// itemFamilies count the items by state and name those that are decided. An item
// that is unknown and not open has no sample of its own.
func itemFamilies(s Status) []Family {
	count := map[string]int{}
	unknown, held := 0, 0
	labels := []string{"situation", "qmgr", "queue"}
	open := Family{Name: "situationd_item_open", Help: "1 while the situation is open for the item.", Labels: labels}
	for i := range s.Items {
		item := &s.Items[i]
		count[item.State]++
		if len(item.Held) > 0 {
			held++
		}
		isOpen := item.State == "open" || item.State == "recovering"
		if item.Verdict == "unknown" {
			unknown++
			if !isOpen {
				continue
			}
		}
		open.Add(Truth(isOpen), item.Situation, item.QMgr, item.Name())
	}
	items := Family{Name: "situationd_items", Help: "Items of all situations by state.", Labels: []string{"state"}}
	for _, state := range states {
		items.Add(float64(count[state]), state)
	}
	unknowns := Family{Name: "situationd_items_unknown", Help: "Items whose last sample decided nothing."}
	unknowns.Add(float64(unknown))
	holds := Family{Name: "situationd_items_held", Help: "Items with an action that a guard holds."}
	holds.Add(float64(held))
	put := Family{Name: "situationd_cluster_queue_put_enabled", Help: "1 if the instance is put-enabled, as this queue manager sees it.", Labels: []string{"queue", "cluster", "qmgr"}}
	for i := range s.Queues {
		if q := &s.Queues[i]; q.Put != nil && q.Cluster != "" {
			put.Add(Truth(*q.Put == "ENABLED"), q.Queue, q.Cluster, q.QMgr)
		}
	}
	return []Family{items, unknowns, holds, open, put}
}

func jobFamilies(s Status) []Family {
	remaining := Family{Name: "situationd_redistribution_remaining_messages", Help: "Messages that a running redistribution has still to move.", Labels: []string{"qmgr", "queue"}}
	for _, job := range s.Jobs {
		remaining.Add(float64(job.Remaining), job.QMgr, job.Queue)
	}
	return []Family{remaining}
}

// Truth is how a metric says yes or no.
func Truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
