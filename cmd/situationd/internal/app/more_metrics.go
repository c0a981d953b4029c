package app

import "github.com/situationd/situationd/cmd/situationd/internal/httpapi"

// moreFamilies are the metrics of the actions and the alerts.
func (a *App) moreFamilies() []httpapi.Family {
	stats := a.engine.Stats()
	done := httpapi.Family{Name: "situationd_actions_total", Help: "Attempts by action and result.", Kind: httpapi.Counter, Labels: []string{"action", "result"}}
	for _, c := range stats.Counts {
		done.Add(float64(c.N), string(c.Verb), string(c.Result))
	}
	held := httpapi.Family{Name: "situationd_actions_held", Help: "Actions that a guard holds, by guard.", Labels: []string{"guard"}}
	for code, n := range stats.Held {
		held.Add(float64(n), code)
	}
	families := []httpapi.Family{
		done, held,
		single("situationd_moved_messages_total", "Messages moved to other instances.", httpapi.Counter, float64(stats.Moved)),
		single("situationd_state_errors_total", "Failed writes of the daemon's state.", httpapi.Counter, float64(stats.StoreErrors)),
		single("situationd_intents", "Intents that are not finished.", httpapi.Gauge, float64(stats.Waiting)),
		single("situationd_claims", "Values of ours that will be given back.", httpapi.Gauge, float64(stats.Claims)),
		single("situationd_journal_lines_total", "Lines written to the journal.", httpapi.Counter, float64(a.journal.Lines())),
		single("situationd_journal_lost_lines_total", "Lines that could not be written to the journal.", httpapi.Counter, float64(a.journal.Lost())),
		single("situationd_journal_writable", "1 if the journal can be written, whatever on_failure says.", httpapi.Gauge, httpapi.Truth(a.journal.Ready())),
	}
	if a.notifier == nil {
		return families
	}
	sent := httpapi.Family{Name: "situationd_alerts_sent_total", Help: "Alerts that the Alertmanager took.", Kind: httpapi.Counter, Labels: []string{"alertmanager"}}
	failed := httpapi.Family{Name: "situationd_alert_posts_failed_total", Help: "Posts of alerts that failed.", Kind: httpapi.Counter, Labels: sent.Labels}
	dropped := httpapi.Family{Name: "situationd_alerts_dropped_total", Help: "Alerts pushed out of a full queue.", Kind: httpapi.Counter, Labels: sent.Labels}
	rejected := httpapi.Family{Name: "situationd_alerts_rejected_total", Help: "Alerts that the Alertmanager refused.", Kind: httpapi.Counter, Labels: sent.Labels}
	for _, m := range a.notifier.Stats() {
		sent.Add(float64(m.Sent), m.URL)
		failed.Add(float64(m.Errors), m.URL)
		dropped.Add(float64(m.Dropped), m.URL)
		rejected.Add(float64(m.Rejected), m.URL)
	}
	return append(families, sent, failed, dropped, rejected)
}

func single(name, help string, kind httpapi.Kind, value float64) httpapi.Family {
	f := httpapi.Family{Name: name, Help: help, Kind: kind}
	f.Add(value)
	return f
}
