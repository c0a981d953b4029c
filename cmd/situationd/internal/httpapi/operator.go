package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Operator is what a person asks of a daemon beside looking.
type Operator interface {
	// Hold keeps everything from being done to queues, Release lets it go on.
	Hold(by string, r HoldRequest) (Held, error)
	Release(by string, r ReleaseRequest) (Released, error)
	// Lowered lists what is out, and why.
	Lowered() Lowered
	// Revert gives back what the daemon lowered; all of it if r names no queue.
	Revert(ctx context.Context, by string, r RevertRequest) (Reverted, error)
	// Explain tells why the items of a situation are as they are.
	Explain(situation, queue string) ([]Explanation, error)
}

// Errors of an Operator beside those that say that something failed.
var (
	ErrBadRequest = errors.New("bad request")
	ErrNotFound   = errors.New("not found")
	ErrRefused    = errors.New("refused")
)

// HoldRequest asks that nothing is done to a queue, or to those of a pattern.
type HoldRequest struct {
	Queue  string `json:"queue"`
	Reason string `json:"reason"`
	For    string `json:"for"` // a duration, "" until it is released
}

// ReleaseRequest ends a hold, or closes the breaker of a situation.
type ReleaseRequest struct {
	Queue     string `json:"queue"`
	Situation string `json:"situation"`
}

// RevertRequest names the queue to give back, or all of them.
type RevertRequest struct {
	Queue string `json:"queue"`
	All   bool   `json:"all"`
}

// Held is a person's hold.
type Held struct {
	Queue  string     `json:"queue"`
	By     string     `json:"by"`
	Reason string     `json:"reason"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"until"` // null: until it is released
	// Note is what the person who just made it should know, blank for nothing.
	Note string `json:"note,omitempty"`
}

// Released are the holds that ended.
type Released struct {
	Holds []Held `json:"holds"`
}

// LoweredItem is one attribute that is out of the way of messages.
type LoweredItem struct {
	QMgr      string     `json:"qmgr"`
	Queue     string     `json:"queue"`
	Channel   string     `json:"channel,omitempty"` // then queue is empty; of the queue manager itself both are
	Attribute string     `json:"attribute"`
	Value     string     `json:"value"`
	Before    *string    `json:"before"` // what comes back; null if it is not ours
	Situation string     `json:"situation"`
	Action    string     `json:"action"`
	ID        string     `json:"id"` // of the journal's lines
	Since     *time.Time `json:"since"`
	// By is rule, program (that a rule ran), or other: somebody else.
	By string `json:"by"`
	// Back says what gives it back: clear (the rule does), edge (another rule's
	// edge, or revert), nobody, or would: it was not done, the daemon only observes.
	Back string `json:"back"`
}

// BackWould is the Back of what was not done.
const BackWould = "would"

// Lowered is the answer of /api/v1/lowered.
type Lowered struct {
	Lowered []LoweredItem `json:"lowered"`
}

// Reverted is what a revert was about, and what of it still stands.
type Reverted struct {
	Reverted []LoweredItem `json:"reverted"`
	Left     []LoweredItem `json:"left"`
	Reason   string        `json:"reason"` // why something is left
}

// Explanation tells why one item is as it is.
type Explanation struct {
	Situation string            `json:"situation"`
	QMgr      string            `json:"qmgr"`
	Queue     string            `json:"queue"`
	Channel   string            `json:"channel,omitempty"`
	State     string            `json:"state"`
	Verdict   string            `json:"verdict"`
	Since     *time.Time        `json:"since"`
	Opened    *time.Time        `json:"opened"`
	Sampled   *time.Time        `json:"sampled"`
	Formula   ExplainedFormula  `json:"formula"`
	Recovery  *ExplainedFormula `json:"recovery"`
	// Progress is what is still missing for the state to change, "" for nothing.
	Progress string        `json:"progress"`
	Acted    *time.Time    `json:"acted"` // when an edge was last handed out
	Intent   string        `json:"intent"`
	Held     []ExplainHold `json:"held"`
	Failure  string        `json:"failure"` // of the last attempt
	Remarks  []string      `json:"remarks"`
	Lowered  []LoweredItem `json:"lowered"`
}

// ExplainedFormula is a condition and what came of each part of it.
type ExplainedFormula struct {
	Text   string         `json:"text"`
	Result string         `json:"result"`
	Parts  []ExplainedTip `json:"parts"`
}

// ExplainedTip is one comparison, as written and with values in place of names.
type ExplainedTip struct {
	Text   string `json:"text"`
	Values string `json:"values"`
	Result string `json:"result"`
}

// ExplainHold is a guard that holds an action, with the reason.
type ExplainHold struct {
	Guard  string `json:"guard"`
	Reason string `json:"reason"`
}

// operate adds the routes of an Operator.
func (a *api) operate(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/lowered", func(w http.ResponseWriter, _ *http.Request) {
		answer := a.daemon.Lowered()
		if answer.Lowered == nil {
			answer.Lowered = []LoweredItem{}
		}
		a.json(w, http.StatusOK, answer)
	})
	mux.HandleFunc("GET /api/v1/explain/situation", func(w http.ResponseWriter, r *http.Request) {
		list, err := a.daemon.Explain(r.URL.Query().Get("name"), r.URL.Query().Get("queue"))
		a.answer(w, map[string]any{"items": list}, err)
	})
	mux.HandleFunc("POST /api/v1/hold", func(w http.ResponseWriter, r *http.Request) {
		change(a, w, r, func(by string, q HoldRequest) (Held, error) { return a.daemon.Hold(by, q) })
	})
	mux.HandleFunc("POST /api/v1/release", func(w http.ResponseWriter, r *http.Request) {
		change(a, w, r, func(by string, q ReleaseRequest) (Released, error) { return a.daemon.Release(by, q) })
	})
	mux.HandleFunc("POST /api/v1/revert", func(w http.ResponseWriter, r *http.Request) {
		change(a, w, r, func(by string, q RevertRequest) (Reverted, error) { return a.daemon.Revert(r.Context(), by, q) })
	})
}

// change carries a person's wish out, if he may have one.
func change[Q, A any](a *api, w http.ResponseWriter, r *http.Request, do func(by string, q Q) (A, error)) {
	by, ok := a.who(r)
	if !ok {
		a.fail(w, http.StatusForbidden, errors.New("only over daemon.sock, or as a user of the web configuration"))
		return
	}
	var q Q
	if err := readRequest(r.Body, &q); err != nil {
		a.fail(w, http.StatusBadRequest, fmt.Errorf("the request is not as it should be: %w", err))
		return
	}
	answer, err := do(by, q)
	a.answer(w, answer, err)
}

// readRequest reads the one JSON object that a request has. What follows it would
// be left undone without a word, so it is refused.
func readRequest(body io.Reader, into any) error {
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty; a JSON object is wanted")
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("a JSON object is wanted, not %s", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s may not be %s", kind.Field, kind.Value)
	case err != nil:
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// answer turns what an Operator says into an answer.
func (a *api) answer(w http.ResponseWriter, value any, err error) {
	if err == nil {
		a.json(w, http.StatusOK, value)
		return
	}
	code := http.StatusInternalServerError
	if kind := kindOf(err); kind != nil {
		code = kinds[kind]
	}
	a.fail(w, code, errors.New(Text(err)))
}

// kinds are the codes of the errors of an Operator and a Redistributor.
var kinds = map[error]int{
	ErrBadRequest: http.StatusBadRequest, ErrNotFound: http.StatusNotFound, ErrRefused: http.StatusForbidden,
	ErrBusy: http.StatusConflict, ErrUnavailable: http.StatusServiceUnavailable,
}

func kindOf(err error) error {
	for kind := range kinds {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return nil
}

// Text is an error without the word for its kind, which a code says.
func Text(err error) string {
	if kind := kindOf(err); kind != nil {
		return strings.TrimPrefix(err.Error(), kind.Error()+": ")
	}
	return err.Error()
}

// Name is the item as holds, tests and commands name it.
func (l *LoweredItem) Name() string { return itemName(l.QMgr, l.Queue, l.Channel) }

// Name is the item as holds, tests and commands name it.
func (x *Explanation) Name() string { return itemName(x.QMgr, x.Queue, x.Channel) }
