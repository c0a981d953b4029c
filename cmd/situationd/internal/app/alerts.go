package app

import (
	"net/http"
	"time"

	"github.com/situationd/situationd/actions"
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

// alerts gathers what is open: situations with an alert, items that cannot be
// judged, and actions that go on failing.
type alerts struct{ app *App }

// OpenAlerts lists them. Nothing is known before the first sample, so that what
// was open before a restart is not resolved by the restart.
func (s alerts) OpenAlerts(time.Time) ([]actions.Alert, bool) {
	open := actions.SituationAlerts(s.app.runner.Alerts(), s.app.itemLink)
	open = append(open, actions.ActionAlerts(s.app.engine.Failing())...)
	open = append(open, s.app.blindAlerts()...)
	return open, s.app.source.Latest() != nil
}

// itemLink is the address where an item can be looked at.
func (a *App) itemLink(situations.Key) string {
	if a.port == nil {
		return ""
	}
	return "http://" + a.Addr() + "/api/v1/status"
}

// blindAlerts are about what could not be judged for three samples or more: an
// item, or with no queue and no situation the queue manager as a whole.
func (a *App) blindAlerts() []actions.Alert {
	var out []actions.Alert
	for _, b := range a.runner.Blind() {
		alert := actions.Alert{
			Labels:   map[string]string{"alertname": "Blind", "severity": "warning", "qmgr": a.qmgr},
			StartsAt: b.Since, GeneratorURL: a.itemLink(b.Key),
		}
		if b.Key.Queue == "" {
			alert.Annotations = map[string]string{"summary": a.qmgr + " cannot be sampled; nothing is decided"}
		} else {
			alert.Labels["queue"], alert.Labels["situation"] = b.Key.Queue, b.Key.Situation
			alert.Annotations = map[string]string{"summary": b.Key.Situation + " of " + b.Key.Queue + " on " + a.qmgr + " cannot be judged"}
		}
		out = append(out, alert)
	}
	return out
}
