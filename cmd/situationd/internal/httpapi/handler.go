package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// Daemon is what the handler asks.
type Daemon interface {
	Operator
	Redistributor
	// Status may be asked at any time, also before the queue manager answered.
	Status() Status
	// Ready is nil once rules are loaded and a first sample was taken, else why not.
	Ready() error
	// Actions gives up to limit lines of the journal after a place that an
	// earlier call gave as next, oldest first; "" is the beginning. An empty
	// next says that there is nothing more yet.
	Actions(ctx context.Context, after string, limit int) (lines []json.RawMessage, next string, err error)
	// Reload reads the files again. The text says what changed, or what is wrong.
	Reload(ctx context.Context, by string) (text string, err error)
}

// ErrBadPlace is what Actions answers to an after that it never gave out.
var ErrBadPlace = errors.New("no such place in the journal")

// Pages of /api/v1/actions.
const (
	defaultPage = 100
	largestPage = 1000
)

// caller says who is asking; ok is false for somebody who may only look.
type caller func(*http.Request) (by string, ok bool)

// api is the handler of one daemon.
type api struct {
	daemon  Daemon
	metrics http.Handler
	who     caller
	logger  hclog.Logger
	// foreseeing has room for the forecasts that are made at one time.
	foreseeing chan struct{}
}

// NewHandler builds the routes. who decides who may change something.
func NewHandler(daemon Daemon, metrics http.Handler, who caller, logger hclog.Logger) http.Handler {
	a := &api{daemon: daemon, metrics: metrics, who: who, logger: logger, foreseeing: make(chan struct{}, forecasts)}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /-/healthy", a.healthy)
	mux.HandleFunc("GET /-/ready", a.ready)
	mux.HandleFunc("POST /-/reload", a.reload)
	mux.HandleFunc("GET /api/v1/status", a.status)
	mux.HandleFunc("GET /api/v1/actions", a.actions)
	a.operate(mux)
	a.redistribute(mux)
	mux.HandleFunc("GET /{$}", a.index)
	// A page of another site must not be able to use a person's browser to change something.
	return http.MaxBytesHandler(http.NewCrossOriginProtection().Handler(mux), 64<<10)
}

func (a *api) index(w http.ResponseWriter, _ *http.Request) {
	a.text(w, http.StatusOK, "situationd\n\n/-/healthy\n/-/ready\n/-/reload (POST)\n/metrics\n/api/v1/status\n/api/v1/actions\n"+
		"/api/v1/lowered\n/api/v1/explain/situation?name=&queue=\n/api/v1/hold (POST)\n/api/v1/release (POST)\n/api/v1/revert (POST)\n"+
		"/api/v1/redistribute?queue= (GET: what would move; POST)\n/api/v1/redistribute/run?id=\n/api/v1/redistribute/cancel (POST)\n")
}

func (a *api) healthy(w http.ResponseWriter, _ *http.Request) {
	a.text(w, http.StatusOK, "situationd is healthy\n")
}

func (a *api) ready(w http.ResponseWriter, _ *http.Request) {
	if err := a.daemon.Ready(); err != nil {
		a.text(w, http.StatusServiceUnavailable, "situationd is not ready: "+err.Error()+"\n")
		return
	}
	a.text(w, http.StatusOK, "situationd is ready\n")
}

func (a *api) reload(w http.ResponseWriter, r *http.Request) {
	by, ok := a.who(r)
	if !ok {
		a.text(w, http.StatusForbidden, "reload: only over daemon.sock, or as a user of the web configuration\n")
		return
	}
	text, err := a.daemon.Reload(r.Context(), by)
	switch {
	case errors.Is(err, ErrUnavailable):
		a.text(w, http.StatusServiceUnavailable, text+"reload: "+Text(err)+"\n")
	case err != nil:
		a.text(w, http.StatusBadRequest, text+"reload: "+err.Error()+"\n")
	default:
		a.text(w, http.StatusOK, text)
	}
}

// status gives all, or with ?queue= what concerns one queue, which is what other
// daemons ask for before they lower.
func (a *api) status(w http.ResponseWriter, r *http.Request) {
	status := a.daemon.Status()
	if queue := r.URL.Query().Get("queue"); queue != "" {
		status = status.of(queue)
	}
	a.json(w, http.StatusOK, status.withLists())
}

// actionsPage is the answer of /api/v1/actions.
type actionsPage struct {
	Actions []json.RawMessage `json:"actions"`
	Next    string            `json:"next"`
}

func (a *api) actions(w http.ResponseWriter, r *http.Request) {
	limit := defaultPage
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > largestPage {
			a.fail(w, http.StatusBadRequest, fmt.Errorf("limit is a number from 1 to %d", largestPage))
			return
		}
		limit = n
	}
	lines, next, err := a.daemon.Actions(r.Context(), r.URL.Query().Get("after"), limit)
	switch {
	case errors.Is(err, ErrBadPlace):
		a.fail(w, http.StatusBadRequest, err)
		return
	case err != nil:
		a.fail(w, http.StatusInternalServerError, err)
		return
	}
	if lines == nil {
		lines = []json.RawMessage{}
	}
	a.json(w, http.StatusOK, actionsPage{Actions: lines, Next: next})
}

func (a *api) fail(w http.ResponseWriter, code int, err error) {
	a.json(w, code, map[string]string{"error": err.Error()})
}

func (a *api) json(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		a.logger.Debug("an answer was not taken", "error", err)
	}
}

func (a *api) text(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	if _, err := strings.NewReader(text).WriteTo(w); err != nil {
		a.logger.Debug("an answer was not taken", "error", err)
	}
}
