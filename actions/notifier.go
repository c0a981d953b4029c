package actions

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/common/config"
)

// Alertmanager is one of the Alertmanagers that get every alert.
type Alertmanager struct {
	URL string // base address; /api/v2/alerts is added
	// HTTP is the client configuration in Prometheus's words; nil for the default.
	HTTP    *config.HTTPClientConfig
	Timeout time.Duration // of one post; 0 means 10s
	// Client overrides HTTP, for tests.
	Client *http.Client
}

// NotifierOptions of a Notifier. Source is required.
type NotifierOptions struct {
	Managers []Alertmanager
	Source   AlertSource
	Store    AlertStore // nil: nothing is kept over restarts
	Logger   hclog.Logger
}

// Notifier sends open alerts to every Alertmanager, again and again while they
// are open, and says when they are resolved.
type Notifier struct {
	opt     NotifierOptions
	log     hclog.Logger
	senders []*sender
	table   *alertTable
	kick    chan struct{}
	invalid atomic.Uint64
}

// NewNotifier makes a notifier and loads what was sent before.
func NewNotifier(opt NotifierOptions) (*Notifier, error) {
	if opt.Logger == nil {
		opt.Logger = hclog.NewNullLogger()
	}
	n := &Notifier{opt: opt, log: opt.Logger, kick: make(chan struct{}, 1)}
	var stored []SentAlert
	if opt.Store != nil {
		var err error
		if stored, err = opt.Store.LoadAlerts(); err != nil {
			return nil, err
		}
	}
	n.table = newAlertTable(stored)
	for i, m := range opt.Managers {
		s, err := newSender(m, opt.Logger)
		if err != nil {
			return nil, fmt.Errorf("alertmanagers[%d]: %w", i, err)
		}
		n.senders = append(n.senders, s)
	}
	return n, nil
}

func newSender(m Alertmanager, log hclog.Logger) (*sender, error) {
	u, err := url.Parse(m.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("url %q: write http://HOST:PORT or https://HOST:PORT", m.URL)
	}
	s := &sender{
		name: u.Redacted(), client: m.Client, timeout: m.Timeout, log: log,
		url:   strings.TrimSuffix(u.String(), "/") + "/api/v2/alerts",
		ready: make(chan struct{}, 1), waiting: map[string]outgoing{},
	}
	if s.timeout <= 0 {
		s.timeout = 10 * time.Second
	}
	if s.client != nil {
		return s, nil
	}
	cfg := config.DefaultHTTPClientConfig
	if m.HTTP != nil {
		cfg = *m.HTTP
	}
	if s.client, err = config.NewClientFromConfig(cfg, "alertmanager", config.WithUserAgent("situationd")); err != nil {
		return nil, err
	}
	return s, nil
}

// Kick has the open alerts looked at now; without it that happens every minute.
func (n *Notifier) Kick() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends. Open alerts are not resolved then: they time out if
// the daemon does not come back.
func (n *Notifier) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, s := range n.senders {
		wg.Go(func() { s.run(ctx) })
	}
	defer wg.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.kick:
		case <-timer.C:
		}
		now := time.Now()
		n.tick(now)
		timer.Reset(n.table.next(now))
	}
}

func (n *Notifier) tick(now time.Time) {
	open, known := n.opt.Source.OpenAlerts(now)
	send, changed := n.table.step(now, open, known)
	if changed && n.opt.Store != nil {
		if err := n.opt.Store.SaveAlerts(n.table.all()); err != nil {
			n.log.Error("alerts could not be stored", "error", err)
		}
	}
	for _, a := range open {
		if _, ok := cleanLabels(a.Labels); !ok {
			n.invalid.Add(1)
		}
	}
	for _, s := range n.senders {
		s.add(send)
	}
}

// ManagerStats are the counters of one Alertmanager.
type ManagerStats struct {
	URL      string // without a password
	Sent     uint64 // alerts that it took
	Errors   uint64 // posts that failed
	Dropped  uint64 // alerts that were pushed out of a full queue
	Rejected uint64 // alerts that it refused
	Queued   int
	Latency  time.Duration // of the last post that was answered
	Err      string        // of the last post, blank if it was taken
}

// Stats copies the counters out, in the order of the Alertmanagers.
func (n *Notifier) Stats() []ManagerStats {
	out := make([]ManagerStats, len(n.senders))
	for i, s := range n.senders {
		out[i] = s.snapshot()
	}
	return out
}

// Invalid counts looks at an open alert that has no alertname, and so cannot be sent.
func (n *Notifier) Invalid() uint64 { return n.invalid.Load() }
