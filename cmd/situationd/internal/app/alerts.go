package app

import (
	"net/http"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/situations"
)

func (a *App) wireAlerts(state State) error {
	if len(a.config.Alertmanagers) == 0 {
		return nil
	}
	var managers []actions.Alertmanager
	for _, address := range a.config.Alertmanagers {
		m := actions.Alertmanager{URL: address}
		if a.outside != nil {
			m.Client = &http.Client{Transport: a.outside.HTTP}
		}
		managers = append(managers, m)
	}
	var err error
	a.notifier, err = actions.NewNotifier(actions.NotifierOptions{
		Managers: managers, Source: alerts{a}, Store: state, Logger: a.logger.Named("alerts"),
	})
	return err
}

// alerts gathers what is open: situations with an alert, and what is wrong with
// the daemon's own work.
type alerts struct{ app *App }

// OpenAlerts lists them. Nothing is known before the first sample, so that what
// was open before a restart is not resolved by the restart.
func (s alerts) OpenAlerts(now time.Time) ([]actions.Alert, bool) {
	open := actions.SituationAlerts(s.app.runner.Alerts(), s.app.itemLink)
	return append(open, s.app.ownAlerts(now)...), s.app.source.Latest() != nil
}

// itemLink is the address where an item can be looked at.
func (a *App) itemLink(situations.Key) string {
	if a.port == nil {
		return ""
	}
	return "http://" + a.Addr() + "/api/v1/status"
}

// ownAlerts are about what the daemon itself cannot do: judge, lower, act.
func (a *App) ownAlerts(now time.Time) []actions.Alert {
	out := actions.ActionAlerts(a.engine.Failing())
	out = append(out, actions.BlockedAlerts(a.engine.Blocked(now))...)
	for _, b := range a.runner.Blind() {
		summary := b.Key.Situation + " of " + actions.Place(b.Key) + " cannot be judged"
		if b.Key.Situation == "" {
			summary = a.qmgr + " cannot be sampled; nothing is decided"
		}
		out = append(out, actions.OwnAlert(actions.AlertBlind, b.Key, b.Since, summary, ""))
	}
	for _, f := range a.runner.FlappingItems() {
		out = append(out, actions.OwnAlert(actions.AlertFlapping, f.Key, f.Since,
			f.Key.Situation+" of "+actions.Place(f.Key)+" changes too often; lowering is held", ""))
	}
	for i := range out {
		out[i].GeneratorURL = a.itemLink(situations.Key{})
	}
	return out
}

// ownFamily counts the daemon's own alerts by name, those that stand at nothing too.
func (a *App) ownFamily(now time.Time) httpapi.Family {
	f := httpapi.Family{Name: "situationd_own_alerts", Help: "Alerts of the daemon's own that stand, by name.", Labels: []string{"alertname"}}
	count := map[string]int{}
	for _, alert := range a.ownAlerts(now) {
		count[alert.Labels["alertname"]]++
	}
	for _, name := range []string{actions.AlertBlocked, actions.AlertFailed, actions.AlertBlind, actions.AlertConflict, actions.AlertFlapping} {
		f.Add(float64(count[name]), name)
	}
	return f
}
