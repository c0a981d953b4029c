package actions

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/config"
	"github.com/situationd/situationd/situations"
	"pgregory.net/rapid"
)

// fakeAlertmanager is one in memory: it takes posts as the API does.
type fakeAlertmanager struct {
	mu    sync.Mutex
	posts [][]outgoing
	at    []time.Time
	down  bool
	bad   string // alertname that makes a post 400
}

func (m *fakeAlertmanager) RoundTrip(req *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return nil, errors.New("connection refused")
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var batch []outgoing
	if err := json.Unmarshal(body, &batch); err != nil {
		return nil, err
	}
	m.posts = append(m.posts, batch)
	m.at = append(m.at, time.Now())
	status := http.StatusOK
	for _, a := range batch {
		if m.bad != "" && a.Labels["alertname"] == m.bad {
			status = http.StatusBadRequest
		}
	}
	rec := httptest.NewRecorder()
	rec.WriteHeader(status)
	return rec.Result(), nil
}

// last is the newest form of an alert that was posted.
func (m *fakeAlertmanager) last(name string) *outgoing {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(m.posts) - 1; i >= 0; i-- {
		for k := range m.posts[i] {
			if m.posts[i][k].Labels["alertname"] == name {
				return &m.posts[i][k]
			}
		}
	}
	return nil
}

func (m *fakeAlertmanager) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.posts)
}

// fakeSource is what is open.
type fakeSource struct {
	mu      sync.Mutex
	open    []Alert
	unknown bool
}

func (s *fakeSource) OpenAlerts(time.Time) ([]Alert, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open, !s.unknown
}

func (s *fakeSource) set(alerts ...Alert) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = alerts
}

type memAlerts struct {
	stored []SentAlert
	saves  int
}

func (m *memAlerts) LoadAlerts() ([]SentAlert, error) { return m.stored, nil }

func (m *memAlerts) SaveAlerts(a []SentAlert) error {
	m.stored, m.saves = a, m.saves+1
	return nil
}

func alertNamed(name string, start time.Time) Alert {
	return Alert{
		Labels:      map[string]string{"alertname": name, "severity": "critical", "qmgr": "QM2", "queue": "DCQ1", "empty": "", "bad-label": "x"},
		Annotations: map[string]string{"summary": "nobody reads"}, StartsAt: start,
	}
}

func startNotifier(t *testing.T, opt NotifierOptions) (n *Notifier, stop func()) {
	t.Helper()
	n, err := NewNotifier(opt)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	synctest.Wait()
	return n, func() {
		cancel()
		must(t, <-done)
	}
}

func TestAlertLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := []*fakeAlertmanager{{}, {}}
		src := &fakeSource{}
		n, stop := startNotifier(t, NotifierOptions{Source: src, Managers: []Alertmanager{
			{URL: "http://a", Client: &http.Client{Transport: ms[0]}}, {URL: "http://b/prefix/", Client: &http.Client{Transport: ms[1]}},
		}})
		defer stop()
		opened := time.Now()
		src.set(alertNamed("MQQueueDisable", opened))
		n.Kick()
		synctest.Wait()
		for _, m := range ms {
			got := m.last("MQQueueDisable")
			want := &outgoing{
				Labels:      map[string]string{"alertname": "MQQueueDisable", "severity": "critical", "qmgr": "QM2", "queue": "DCQ1"},
				Annotations: map[string]string{"summary": "nobody reads"}, StartsAt: opened.UTC(), EndsAt: opened.Add(4 * time.Minute).UTC(),
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(outgoing{})); diff != "" {
				t.Error(diff)
			}
		}
		n.Kick() // a tick without news sends nothing
		synctest.Wait()
		if c := ms[0].count(); c != 1 {
			t.Errorf("%d posts", c)
		}
		time.Sleep(10*time.Minute + time.Second)
		if c := ms[0].count(); c != 11 {
			t.Errorf("%d posts in ten minutes, want one a minute", c)
		}
		src.set()
		closed := time.Now()
		n.Kick()
		synctest.Wait()
		got := ms[0].last("MQQueueDisable")
		if !got.EndsAt.Equal(closed) || got.Annotations["summary"] == "" || !got.StartsAt.Equal(opened) {
			t.Errorf("resolved as %+v", got)
		}
		before := ms[0].count()
		time.Sleep(time.Hour)
		if c := ms[0].count() - before; c != 15 {
			t.Errorf("resolved repeated %d times, want 15", c)
		}
		if got := ms[0].last("MQQueueDisable"); !got.EndsAt.Equal(closed) {
			t.Errorf("the repeated end is %s, want %s", got.EndsAt, closed)
		}
	})
}

func TestAlertsOverRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, src, store := &fakeAlertmanager{}, &fakeSource{}, &memAlerts{}
		opt := NotifierOptions{Source: src, Store: store, Managers: []Alertmanager{{URL: "http://a", Client: &http.Client{Transport: m}}}}
		src.set(alertNamed("A", time.Now()), alertNamed("B", time.Now()))
		_, stop := startNotifier(t, opt)
		stop()
		if m.last("A").EndsAt.Before(time.Now()) {
			t.Error("the end of the daemon resolved an alert")
		}
		src.unknown = true
		src.set()
		n, stop := startNotifier(t, opt)
		if m.last("A").EndsAt.Before(time.Now()) {
			t.Error("resolved before anything was known")
		}
		src.mu.Lock()
		src.unknown, src.open = false, []Alert{alertNamed("B", time.Now())} // A ended while the daemon was down
		src.mu.Unlock()
		n.Kick()
		synctest.Wait()
		if a, b := m.last("A"), m.last("B"); a.EndsAt.After(time.Now()) || b.EndsAt.Before(time.Now()) {
			t.Errorf("A until %s, B until %s", a.EndsAt, b.EndsAt)
		}
		saves := store.saves
		time.Sleep(5 * time.Minute)
		if store.saves != saves {
			t.Errorf("stored %d times without a change", store.saves-saves)
		}
		stop()
	})
}

func TestAlertmanagerDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up, down := &fakeAlertmanager{}, &fakeAlertmanager{down: true}
		src := &fakeSource{}
		src.set(alertNamed("A", time.Now()))
		n, stop := startNotifier(t, NotifierOptions{Source: src, Managers: []Alertmanager{
			{URL: "http://user:secret@down", Client: &http.Client{Transport: down}}, {URL: "http://up", Client: &http.Client{Transport: up}},
		}})
		defer stop()
		if up.last("A") == nil {
			t.Error("one that is down holds up the other")
		}
		time.Sleep(20 * time.Second)
		down.mu.Lock()
		down.down = false
		down.mu.Unlock()
		time.Sleep(resendLatest)
		if c := down.count(); c != 1 {
			t.Errorf("%d posts after it came up, want 1", c)
		}
		st := n.Stats()
		if st[0].Errors < 4 || st[0].Sent != 1 || st[0].Queued != 0 || st[0].Err != "" || strings.Contains(st[0].URL, "secret") {
			t.Errorf("%+v", st[0])
		}
	})
}

func TestRefusedAlertDoesNotTakeTheOthersAlong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeAlertmanager{bad: "B"}
		src := &fakeSource{}
		src.set(alertNamed("A", time.Now()), alertNamed("B", time.Now()), alertNamed("C", time.Now()))
		n, stop := startNotifier(t, NotifierOptions{Source: src, Managers: []Alertmanager{{URL: "http://a", Client: &http.Client{Transport: m}}}})
		defer stop()
		if c := m.count(); c != 4 {
			t.Errorf("%d posts, want the batch and one for each", c)
		}
		if st := n.Stats()[0]; st.Sent != 2 || st.Rejected != 1 || st.Errors != 0 {
			t.Errorf("%+v", st)
		}
		time.Sleep(30 * time.Second)
		if c := m.count(); c != 4 {
			t.Errorf("%d posts, want no repeat before the resend", c)
		}
	})
}

func TestSenderQueueIsBounded(t *testing.T) {
	t.Parallel()
	s, err := newSender(Alertmanager{URL: "http://a"}, nil)
	must(t, err)
	var many []outgoing
	for i := range alertQueue + 5 {
		many = append(many, outgoing{id: time.Duration(i).String()})
	}
	s.add(many)
	s.add(many[len(many)-3:]) // newer forms take no room
	if st := s.snapshot(); st.Queued != alertQueue || st.Dropped != 5 {
		t.Errorf("%+v", st)
	}
	batch := s.take()
	if len(batch) != alertBatch || batch[0].id != many[5].id {
		t.Errorf("%d alerts from %s", len(batch), batch[0].id)
	}
	s.add([]outgoing{{id: batch[0].id, GeneratorURL: "newer"}})
	s.giveBack(batch)
	if got := s.take(); got[0].id != batch[1].id {
		t.Errorf("the older form of %s came back", batch[0].id)
	}
}

func TestAlertNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"qmgr": true, "_x9": true, "9x": false, "bad-label": false, "": false, "ä": false} {
		if labelName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	if _, ok := cleanLabels(map[string]string{"queue": "Q"}); ok {
		t.Error("an alert without alertname was taken")
	}
	for _, url := range []string{"127.0.0.1:9093", "ftp://x", "http://", "http://a\x00"} {
		if _, err := NewNotifier(NotifierOptions{Source: &fakeSource{}, Managers: []Alertmanager{{URL: url}}}); err == nil {
			t.Errorf("%q was taken", url)
		}
	}
}

// TestNotifierOverHTTP posts to a real server with a password.
func TestNotifierOverHTTP(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case got <- r:
		default:
		}
	}))
	defer srv.Close()
	cfg := config.DefaultHTTPClientConfig
	cfg.BasicAuth = &config.BasicAuth{Username: "u", Password: "p"}
	src := &fakeSource{}
	src.set(alertNamed("A", time.Now()))
	n, err := NewNotifier(NotifierOptions{Source: src, Managers: []Alertmanager{{URL: srv.URL + "/am", HTTP: &cfg}}})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	r := <-got
	cancel()
	must(t, <-done)
	user, password, _ := r.BasicAuth()
	if r.URL.Path != "/am/api/v2/alerts" || r.Header.Get("Content-Type") != "application/json" || user != "u" || password != "p" {
		t.Errorf("%s %s by %s", r.Method, r.URL, user)
	}
}

// TestFeed: an open alert never lapses between two posts, and whatever was sent
// as open is in the end sent as resolved.
func TestFeed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
		table := newAlertTable(nil)
		ends := map[string]time.Time{}
		open := map[string]Alert{}
		for range rapid.IntRange(1, 60).Draw(t, "ticks") {
			name := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "alert")
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				if _, ok := open[name]; !ok {
					open[name] = alertNamed(name, now)
				}
			case 1:
				delete(open, name)
			case 2:
				table = newAlertTable(table.all()) // a restart
			case 3:
				now = now.Add(-time.Hour) // the clock is set back
				for k := range ends {
					ends[k] = ends[k].Add(-time.Hour)
				}
			}
			list := make([]Alert, 0, len(open))
			for _, a := range open {
				list = append(list, a)
			}
			send, _ := table.step(now, list, true)
			for _, o := range send {
				ends[o.Labels["alertname"]] = o.EndsAt
				if o.EndsAt.Before(o.StartsAt) {
					t.Fatalf("ends at %s before its start at %s", o.EndsAt, o.StartsAt)
				}
			}
			for n := range open {
				if !ends[n].After(now) && !open[n].StartsAt.After(now) {
					t.Fatalf("%s is open and ended at %s, now %s", n, ends[n], now)
				}
			}
			for n, end := range maps.All(ends) {
				if _, ok := open[n]; !ok && end.After(now) && !end.Equal(open[n].StartsAt) {
					if s := table.m[fingerprint(mustClean(alertNamed(n, now).Labels))]; s == nil || s.ResolvedAt.IsZero() {
						t.Fatalf("%s is closed and ends at %s, now %s", n, end, now)
					}
				}
			}
			now = now.Add(max(min(table.next(now), 30*time.Second), time.Second))
		}
		if send, _ := table.step(now, nil, true); len(open) > 0 {
			resolved := map[string]bool{}
			for _, o := range send {
				if !o.EndsAt.After(now) || o.EndsAt.Equal(o.StartsAt) {
					resolved[o.Labels["alertname"]] = true
				}
			}
			for n := range open {
				if !resolved[n] {
					t.Fatalf("%s was not resolved at once", n)
				}
			}
		}
	})
}

func mustClean(labels map[string]string) map[string]string {
	clean, _ := cleanLabels(labels)
	return clean
}

func TestSourcesOfAlerts(t *testing.T) {
	t.Parallel()
	at := time.Now()
	open := []situations.OpenAlert{{
		Key: situations.Key{Situation: "S", QMgr: "QM2", Queue: "Q"}, Labels: map[string]string{"alertname": "S"},
		StartsAt: at, Blind: true, Flapping: true,
	}}
	got := SituationAlerts(open, func(k situations.Key) string { return "http://x/" + k.Queue })
	if got[0].Annotations["blind"] == "" || got[0].Annotations["flapping"] == "" || got[0].GeneratorURL != "http://x/Q" || got[0].Labels["alertname"] != "S" {
		t.Errorf("%+v", got[0])
	}
	failing := []Failure{{Key: open[0].Key, Action: "put DISABLED", Reason: "2035", Tries: 2}, {Key: open[0].Key, Action: "put DISABLED", Reason: "2035", Tries: 3, Since: at}}
	alerts := ActionAlerts(failing)
	if len(alerts) != 1 || alerts[0].Labels["alertname"] != "ActionFailed" || alerts[0].Annotations["description"] != "2035" {
		t.Errorf("%+v", alerts)
	}
}
