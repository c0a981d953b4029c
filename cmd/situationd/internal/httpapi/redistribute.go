package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Redistributor is what a person asks of a daemon about moving messages.
type Redistributor interface {
	// Foresee says what a run would move now, where to, and what would stay.
	Foresee(ctx context.Context, queue string, evenIfBound bool) (Forecast, error)
	// Redistribute begins a run. How it stands is asked of Redistribution, which
	// answers when it is over, or after wait.
	Redistribute(ctx context.Context, by string, r RedistributeRequest) (Redistribution, error)
	Redistribution(ctx context.Context, id string, wait time.Duration) (Redistribution, error)
	// CancelRedistribute ends whatever moves messages of a queue.
	CancelRedistribute(by string, r CancelRequest) (Cancelled, error)
}

// Errors of a Redistributor beside those of an Operator.
var (
	ErrBusy        = errors.New("busy")
	ErrUnavailable = errors.New("not available")
)

// RedistributeRequest asks that the messages of a queue are moved, once.
type RedistributeRequest struct {
	Queue       string `json:"queue"`
	EvenIfBound bool   `json:"even_if_bound"`
	Rate        int    `json:"rate"`    // messages a second, 0 for no limit
	Limit       int    `json:"limit"`   // messages, 0 for all that are there
	Timeout     string `json:"timeout"` // a duration, "" for none
}

// CancelRequest names the queue whose messages are to stay.
type CancelRequest struct {
	Queue string `json:"queue"`
}

// Cancelled says for whom the messages were moved: people, and situations.
type Cancelled struct {
	Queue string   `json:"queue"`
	Moved []string `json:"moved_for"`
}

// Redistribution is how a person's run stands. Once it is over start + arrived is
// moved + expired + taken + remaining.
type Redistribution struct {
	Queue     string         `json:"queue"`
	QMgr      string         `json:"qmgr"`
	ID        string         `json:"id"` // of its lines in the journal
	By        string         `json:"by"`
	State     string         `json:"state"`  // waiting to begin, moving, or the outcome
	Reason    string         `json:"reason"` // what it waits for, or why it ended
	Over      bool           `json:"over"`
	Start     int            `json:"start"`     // depth when it began
	Arrived   int            `json:"arrived"`   // meanwhile
	Moved     int            `json:"moved"`     //
	Expired   int            `json:"expired"`   // meanwhile
	Taken     int            `json:"taken"`     // by others, meanwhile; 0 until it is over
	Remaining int            `json:"remaining"` // depth at the last look
	Uncommit  int            `json:"uncommitted"`
	To        map[string]int `json:"to"` // moved messages by queue manager
	Skipped   Left           `json:"skipped"`
	Rate      float64        `json:"rate"` // messages a second
	// Early: it ended before it had looked at all messages that were there.
	Early     bool `json:"early"`
	InDoubt   bool `json:"in_doubt"`
	Unreached bool `json:"unreachable"` // the queue manager does not answer
}

// Left counts messages that stay where they are, by reason.
type Left struct {
	Addressed int `json:"addressed"`
	Bound     int `json:"bound"`
	Grouped   int `json:"grouped"`
	Poison    int `json:"poison"`
	Returned  int `json:"returned"`
}

// Forecast is what a run would do.
type Forecast struct {
	Queue string `json:"queue"`
	QMgr  string `json:"qmgr"`
	// Prevented is why no run would begin, null if one would.
	Prevented *Prevention        `json:"prevented"`
	Depth     int                `json:"depth"`
	Move      int                `json:"move"` // messages that may move
	To        map[string]int     `json:"to"`   // of these, by queue manager
	Share     map[string]float64 `json:"share"`
	Skipped   Left               `json:"skipped"`
	Uncommit  int                `json:"uncommitted"`
	Expired   int                `json:"expired"`
}

// Prevention is what keeps a run from beginning.
type Prevention struct {
	Outcome string `json:"outcome"` // refused, waiting, reader
	Reason  string `json:"reason"`
}

// longestWait bounds how long a question about a run may wait for its end.
const longestWait = 5 * time.Second

// forecasts bounds how many are made at one time: each looks at a whole queue.
const forecasts = 2

// redistribute adds the routes of a Redistributor.
func (a *api) redistribute(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/redistribute", a.foresee)
	mux.HandleFunc("GET /api/v1/redistribute/run", a.redistribution)
	mux.HandleFunc("POST /api/v1/redistribute", func(w http.ResponseWriter, r *http.Request) {
		change(a, w, r, func(by string, q RedistributeRequest) (Redistribution, error) {
			return a.daemon.Redistribute(r.Context(), by, q)
		})
	})
	mux.HandleFunc("POST /api/v1/redistribute/cancel", func(w http.ResponseWriter, r *http.Request) {
		change(a, w, r, a.daemon.CancelRedistribute)
	})
}

func (a *api) foresee(w http.ResponseWriter, r *http.Request) {
	even, err := boolean(r, "even_if_bound")
	if err != nil {
		a.answer(w, nil, err)
		return
	}
	select {
	case a.foreseeing <- struct{}{}:
		defer func() { <-a.foreseeing }()
	default:
		a.answer(w, nil, fmt.Errorf("%w: other queues are being looked through; try again", ErrBusy))
		return
	}
	forecast, err := a.daemon.Foresee(r.Context(), r.URL.Query().Get("queue"), even)
	a.answer(w, forecast, err)
}

func boolean(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%w: %s is true or false, not %q", ErrBadRequest, name, text)
	}
	return yes, nil
}

func (a *api) redistribution(w http.ResponseWriter, r *http.Request) {
	var wait time.Duration
	if text := r.URL.Query().Get("wait"); text != "" {
		var err error
		if wait, err = time.ParseDuration(text); err != nil || wait < 0 || wait > longestWait {
			a.answer(w, nil, fmt.Errorf("%w: wait is a duration up to %v, not %q", ErrBadRequest, longestWait, text))
			return
		}
	}
	run, err := a.daemon.Redistribution(r.Context(), r.URL.Query().Get("id"), wait)
	a.answer(w, run, err)
}
