package actions

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// Alert is an open alert as its source has it. Labels are identity: a value
// that changes from sample to sample belongs into annotations.
type Alert struct {
	Labels       map[string]string
	Annotations  map[string]string
	StartsAt     time.Time
	GeneratorURL string
}

// AlertSource tells which alerts are open now, also while what they are about is
// unknown. known is false while that cannot be said, for instance before the
// stored state was read: then nothing is resolved.
type AlertSource interface {
	OpenAlerts(now time.Time) (open []Alert, known bool)
}

// SentAlert is an alert as it was sent, kept until it has been resolved for 15 minutes.
type SentAlert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	StartsAt     time.Time         `json:"starts_at"`
	GeneratorURL string            `json:"generator_url,omitempty"`
	ResolvedAt   time.Time         `json:"resolved_at,omitzero"`

	sent time.Time
}

// AlertStore keeps alerts over restarts, so that one that ended while the daemon
// was down is resolved and not left to time out.
type AlertStore interface {
	LoadAlerts() ([]SentAlert, error)
	SaveAlerts([]SentAlert) error
}

// Alerts are sent again on a clock of their own, however seldom the queue manager
// is sampled: an Alertmanager that forgot everything knows of them a minute later.
const (
	resendEvery  = time.Minute
	resolvedFor  = 15 * time.Minute
	endsAfter    = 4 // times resendEvery
	nameLabel    = "alertname"
	severityName = "severity"
)

// SituationAlerts are the open alerts of situations. link makes the address of
// an item's page; nil for none.
func SituationAlerts(open []situations.OpenAlert, link func(situations.Key) string) []Alert {
	out := make([]Alert, 0, len(open))
	for i := range open {
		o := &open[i]
		a := Alert{Labels: o.Labels, Annotations: maps.Clone(o.Annotations), StartsAt: o.StartsAt}
		if a.Annotations == nil {
			a.Annotations = map[string]string{}
		}
		if o.Blind {
			a.Annotations["blind"] = "no good sample for three intervals or more; this is what was known before"
		}
		if o.Flapping {
			a.Annotations["flapping"] = "this item changes too often; lowering is held"
		}
		if link != nil {
			a.GeneratorURL = link(o.Key)
		}
		out = append(out, a)
	}
	return out
}

// alertTable knows what was sent and says what to send. Pure.
type alertTable struct{ m map[string]*SentAlert }

func newAlertTable(stored []SentAlert) *alertTable {
	t := &alertTable{m: make(map[string]*SentAlert, len(stored))}
	for i := range stored {
		s := stored[i]
		t.m[fingerprint(s.Labels)] = &s
	}
	return t
}

// fingerprint is the identity of a label set.
func fingerprint(labels map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		b.WriteString(strconv.Quote(k) + strconv.Quote(labels[k]))
	}
	return b.String()
}

// cleanLabels drops labels that an Alertmanager drops or refuses: empty values
// and names it cannot have. ok is false if no name of the alert is left.
func cleanLabels(labels map[string]string) (clean map[string]string, ok bool) {
	clean = make(map[string]string, len(labels))
	for k, v := range labels {
		if v != "" && labelName(k) {
			clean[k] = v
		}
	}
	return clean, clean[nameLabel] != ""
}

func labelName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// outgoing is an alert as Alertmanager's API takes it.
type outgoing struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`

	id string
}

// step takes what is open and gives what to send now; changed says that the set
// of open and resolved alerts is another one, which has to be stored.
func (t *alertTable) step(now time.Time, open []Alert, known bool) (send []outgoing, changed bool) {
	seen := make(map[string]bool, len(open))
	for i := range open {
		labels, ok := cleanLabels(open[i].Labels)
		if !ok {
			continue
		}
		id := fingerprint(labels)
		seen[id] = true
		s := t.m[id]
		if s == nil || !s.ResolvedAt.IsZero() {
			s = &SentAlert{Labels: labels}
			t.m[id] = s
			changed = true
		}
		s.Annotations, s.StartsAt = open[i].Annotations, open[i].StartsAt
		s.GeneratorURL = open[i].GeneratorURL
	}
	for _, id := range slices.Sorted(maps.Keys(t.m)) {
		s := t.m[id]
		if known && !seen[id] && s.ResolvedAt.IsZero() {
			s.ResolvedAt, s.sent = now, time.Time{}
			changed = true
		}
		if !s.ResolvedAt.IsZero() && now.Sub(s.ResolvedAt) > resolvedFor {
			delete(t.m, id)
			changed = true
			continue
		}
		if s.sent.IsZero() || now.Sub(s.sent) >= resendEvery || now.Before(s.sent) {
			s.sent = now
			send = append(send, s.outgoing(id, now))
		}
	}
	return send, changed
}

func (s *SentAlert) outgoing(id string, now time.Time) outgoing {
	o := outgoing{
		Labels: s.Labels, Annotations: s.Annotations, StartsAt: s.StartsAt.UTC(),
		EndsAt: now.Add(endsAfter * resendEvery).UTC(), GeneratorURL: s.GeneratorURL, id: id,
	}
	if !s.ResolvedAt.IsZero() {
		o.EndsAt = s.ResolvedAt.UTC()
	}
	if o.EndsAt.Before(o.StartsAt) { // the clock was set back; an end before the start is refused, and one in the future is none
		o.StartsAt = o.EndsAt
	}
	return o
}

// next is how long until something is due again.
func (t *alertTable) next(now time.Time) time.Duration {
	wait := resendEvery
	for _, s := range t.m {
		wait = min(wait, max(s.sent.Add(resendEvery).Sub(now), 0))
	}
	return wait
}

func (t *alertTable) all() []SentAlert {
	out := make([]SentAlert, 0, len(t.m))
	for _, s := range t.m {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b SentAlert) int { return cmp.Compare(fingerprint(a.Labels), fingerprint(b.Labels)) })
	return out
}
