package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/crypto/bcrypt"
)

// fakeDaemon answers what its fields say.
type fakeDaemon struct {
	status   Status
	notReady error
	reload   func(by string) (string, error)
	lines    []json.RawMessage
	asked    []string // of the Operator
	refuse   error
}

func (d *fakeDaemon) Hold(by string, r HoldRequest) (Held, error) {
	d.asked = append(d.asked, fmt.Sprintf("hold %s %s %s by %s", r.Queue, r.For, r.Reason, by))
	return Held{Queue: r.Queue, By: by}, d.refuse
}

func (d *fakeDaemon) Release(by string, r ReleaseRequest) (Released, error) {
	d.asked = append(d.asked, fmt.Sprintf("release %s%s by %s", r.Queue, r.Situation, by))
	return Released{}, d.refuse
}

func (d *fakeDaemon) Lowered() Lowered { return Lowered{} }

func (d *fakeDaemon) Revert(_ context.Context, by string, r RevertRequest) (Reverted, error) {
	d.asked = append(d.asked, fmt.Sprintf("revert %s %v by %s", r.Queue, r.All, by))
	return Reverted{}, d.refuse
}

func (d *fakeDaemon) Explain(situation, queue string) ([]Explanation, error) {
	return []Explanation{{Situation: situation, Queue: queue}}, d.refuse
}

// TestHandler_Operator: who may change something, what is no request, and what
// an answer's code says.
func TestHandler_Operator(t *testing.T) {
	t.Parallel()
	anna := func(*http.Request) (string, bool) { return "anna", true }
	for _, c := range []struct {
		who    caller
		method string
		path   string
		body   string
		refuse error
		code   int
		want   string
	}{
		{anna, "POST", "/api/v1/hold", `{"queue":"Q","for":"2h","reason":"why"}`, nil, 200, `"by":"anna"`},
		{anna, "POST", "/api/v1/release", `{"queue":"Q"}`, nil, 200, `"holds":null`},
		{anna, "POST", "/api/v1/revert", `{"all":true}`, nil, 200, `"left":null`},
		{nobody, "POST", "/api/v1/hold", `{"queue":"Q"}`, nil, 403, `"error":"only over daemon.sock`},
		{nobody, "POST", "/api/v1/release", `{"queue":"Q"}`, nil, 403, `"error"`},
		{nobody, "POST", "/api/v1/revert", `{"all":true}`, nil, 403, `"error"`},
		{anna, "POST", "/api/v1/hold", `{"quue":"Q"}`, nil, 400, `unknown field`},
		{anna, "POST", "/api/v1/hold", ``, nil, 400, `it is empty; a JSON object is wanted`},
		{anna, "POST", "/api/v1/hold", `[]`, nil, 400, `as it should be: a JSON object is wanted, not array`},
		{anna, "POST", "/api/v1/hold", `{"queue":7}`, nil, 400, `as it should be: queue may not be number`},
		{anna, "POST", "/api/v1/hold", `{"queue":"Q"}{"queue":"R"}`, nil, 400, `something follows the JSON object`},
		{anna, "POST", "/api/v1/hold", `{"queue":"Q"}}`, nil, 400, `something follows the JSON object`},
		{anna, "POST", "/api/v1/hold", strings.Repeat(" ", 1<<20), nil, 400, `"error"`},
		{anna, "GET", "/api/v1/hold", ``, nil, 405, ``},
		{anna, "POST", "/api/v1/hold", `{"queue":"Q"}`, fmt.Errorf("%w: not so", ErrBadRequest), 400, `"error":"not so"`},
		{anna, "POST", "/api/v1/release", `{"queue":"Q"}`, fmt.Errorf("%w: gone", ErrNotFound), 404, `"error":"gone"`},
		{anna, "POST", "/api/v1/revert", `{"queue":"Q"}`, fmt.Errorf("%w: no", ErrRefused), 403, `"error":"no"`},
		{anna, "POST", "/api/v1/revert", `{"queue":"Q"}`, errors.New("disk"), 500, `"error":"disk"`},
		{anna, "POST", "/api/v1/redistribute", `{"queue":"Q","rate":5,"timeout":"1m","even_if_bound":true}`, nil, 200, `"by":"anna"`},
		{anna, "POST", "/api/v1/redistribute/cancel", `{"queue":"Q"}`, nil, 200, `"queue":"Q"`},
		{nobody, "POST", "/api/v1/redistribute", `{"queue":"Q"}`, nil, 403, `"error"`},
		{nobody, "POST", "/api/v1/redistribute/cancel", `{"queue":"Q"}`, nil, 403, `"error"`},
		{anna, "POST", "/api/v1/redistribute", `{"queue":"Q"}`, fmt.Errorf("%w: bert does", ErrBusy), 409, `"error":"bert does"`},
		{anna, "POST", "/api/v1/redistribute", `{"queue":"Q"}`, fmt.Errorf("%w: 2059", ErrUnavailable), 503, `"error":"2059"`},
		{anna, "POST", "/api/v1/redistribute", `{"queue":"Q","rate":"fast"}`, nil, 400, `"error"`},
		{nobody, "GET", "/api/v1/redistribute?queue=Q&even_if_bound=true", ``, nil, 200, `"queue":"Q"`},
		{nobody, "GET", "/api/v1/redistribute?queue=Q&even_if_bound=perhaps", ``, nil, 400, `is true or false`},
		{nobody, "GET", "/api/v1/redistribute/run?id=7&wait=1s", ``, nil, 200, `"id":"7"`},
		{nobody, "GET", "/api/v1/redistribute/run?id=7&wait=1h", ``, nil, 400, `a duration up to 5s`},
		{nobody, "GET", "/api/v1/redistribute/run?id=7&wait=-1s", ``, nil, 400, `a duration`},
		{nobody, "GET", "/api/v1/redistribute/run?id=8", ``, fmt.Errorf("%w: no such run", ErrNotFound), 404, `no such run`},
		{nobody, "GET", "/api/v1/lowered", ``, nil, 200, `{"lowered":[]}`},
		{nobody, "GET", "/api/v1/explain/situation?name=S&queue=Q", ``, nil, 200, `"situation":"S"`},
	} {
		daemon := &fakeDaemon{refuse: c.refuse}
		handler := NewHandler(daemon, http.NotFoundHandler(), c.who, hclog.NewNullLogger())
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		if answer.Code != c.code || !strings.Contains(answer.Body.String(), c.want) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body[:min(len(c.body), 40)], answer.Code, answer.Body.String())
		}
		if c.code == 403 && c.refuse == nil && len(daemon.asked) > 0 {
			t.Errorf("%s was done for nobody", c.path)
		}
	}
}

func (d *fakeDaemon) Foresee(_ context.Context, queue string, evenIfBound bool) (Forecast, error) {
	d.asked = append(d.asked, fmt.Sprintf("foresee %s %v", queue, evenIfBound))
	return Forecast{Queue: queue}, d.refuse
}

func (d *fakeDaemon) Redistribute(_ context.Context, by string, r RedistributeRequest) (Redistribution, error) {
	d.asked = append(d.asked, fmt.Sprintf("redistribute %+v by %s", r, by))
	return Redistribution{Queue: r.Queue, By: by}, d.refuse
}

func (d *fakeDaemon) Redistribution(_ context.Context, id string, wait time.Duration) (Redistribution, error) {
	d.asked = append(d.asked, fmt.Sprintf("run %s %v", id, wait))
	return Redistribution{ID: id}, d.refuse
}

func (d *fakeDaemon) CancelRedistribute(by string, r CancelRequest) (Cancelled, error) {
	d.asked = append(d.asked, fmt.Sprintf("cancel %s by %s", r.Queue, by))
	return Cancelled{Queue: r.Queue}, d.refuse
}

func (d *fakeDaemon) Status() Status { return d.status }
func (d *fakeDaemon) Ready() error   { return d.notReady }
func (d *fakeDaemon) Reload(_ context.Context, by string) (string, error) {
	return d.reload(by)
}

func (d *fakeDaemon) Actions(_ context.Context, after string, limit int) ([]json.RawMessage, string, error) {
	from := 0
	if after != "" {
		if _, err := fmt.Sscanf(after, "%d", &from); err != nil || from > len(d.lines) {
			return nil, "", ErrBadPlace
		}
	}
	to := min(from+limit, len(d.lines))
	next := ""
	if to < len(d.lines) {
		next = fmt.Sprint(to)
	}
	return d.lines[from:to], next, nil
}

func nobody(*http.Request) (string, bool) { return "", false }

func TestHandler_Routes(t *testing.T) {
	t.Parallel()
	daemon := &fakeDaemon{
		status: Status{QMgr: "QM2", Items: []Item{{Situation: "S", Verdict: "unknown", State: "inactive"}}},
		lines:  []json.RawMessage{json.RawMessage(`{"id":"1"}`), json.RawMessage(`{"id":"2"}`), json.RawMessage(`{"id":"3"}`)},
		reload: func(by string) (string, error) { return "loaded by " + by + "\n", nil },
	}
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics\n") })
	handler := NewHandler(daemon, metrics, nobody, hclog.NewNullLogger())
	for _, c := range []struct {
		method, path string
		code         int
		body         string // contained in the answer
	}{
		{"GET", "/-/healthy", 200, "healthy"},
		{"HEAD", "/-/healthy", 200, ""},
		{"GET", "/-/ready", 200, "is ready"},
		{"GET", "/metrics", 200, "metrics"},
		{"POST", "/-/reload", 403, "daemon.sock"},
		{"GET", "/-/reload", 405, ""},
		{"GET", "/api/v1/status", 200, `"values":{},"held":[],"flapping":false,"intent":""}],"queues":[],"jobs":[]}`},
		{"GET", "/api/v1/status", 200, `"since":null`},
		{"GET", "/api/v1/actions", 200, `{"actions":[{"id":"1"},{"id":"2"},{"id":"3"}],"next":""}`},
		{"GET", "/api/v1/actions?limit=2", 200, `{"actions":[{"id":"1"},{"id":"2"}],"next":"2"}`},
		{"GET", "/api/v1/actions?limit=2&after=2", 200, `{"actions":[{"id":"3"}],"next":""}`},
		{"GET", "/api/v1/actions?limit=0", 400, `"error":"limit is a number from 1 to 1000"`},
		{"GET", "/api/v1/actions?after=9", 400, `"error":"no such place in the journal"`},
		{"GET", "/", 200, "/api/v1/status"},
		{"GET", "/nothing", 404, ""},
	} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(c.method, c.path, nil))
		if answer.Code != c.code || !strings.Contains(answer.Body.String(), c.body) {
			t.Errorf("%s %s: %d %s", c.method, c.path, answer.Code, answer.Body.String())
		}
	}
	daemon.notReady = errors.New("no sample yet")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("GET", "/-/ready", nil))
	if answer.Code != 503 || answer.Body.String() != "situationd is not ready: no sample yet\n" {
		t.Errorf("not ready: %d %s", answer.Code, answer.Body.String())
	}
}

// start serves with fn in the background and stops it when the test ends.
func start(t *testing.T, network, address string, fn func(ctx context.Context, l net.Listener) error) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- fn(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	return l.Addr().String()
}

func TestServeSocket_LocalUser_MayReload(t *testing.T) {
	t.Parallel()
	var by string
	daemon := &fakeDaemon{reload: func(who string) (string, error) { by = who; return "ok\n", nil }}
	dir, err := os.MkdirTemp("", "api") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "daemon.sock")
	start(t, "unix", socket, func(ctx context.Context, l net.Listener) error {
		return ServeSocket(ctx, l, daemon, http.NotFoundHandler(), hclog.NewNullLogger())
	})
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", socket)
	}}}
	defer client.CloseIdleConnections()
	answer, err := client.Post("http://daemon/-/reload", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 || by == "" {
		t.Errorf("reload over the socket: %d by %q", answer.StatusCode, by)
	}
}

func TestServePort_WebConfig_DecidesWhoMayReload(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("open"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	webConfig := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(webConfig, []byte("basic_auth_users:\n  anna: "+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckWebConfig(webConfig); err != nil {
		t.Fatal(err)
	}
	var by []string
	daemon := &fakeDaemon{reload: func(who string) (string, error) { by = append(by, who); return "ok\n", nil }}
	serve := func(config string) string {
		return start(t, "tcp", "127.0.0.1:0", func(ctx context.Context, l net.Listener) error {
			return ServePort(ctx, l, config, daemon, http.NotFoundHandler(), hclog.NewNullLogger())
		})
	}
	guarded, open := serve(webConfig), serve("")
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		address, user, password, site string
		code                          int
	}{
		{open, "", "", "", 403},
		{open, "anna", "open", "", 403}, // nobody has checked the password there
		{guarded, "", "", "", 401},
		{guarded, "anna", "wrong", "", 401},
		{guarded, "anna", "open", "", 200},
		{guarded, "anna", "open", "cross-site", 403}, // a page of another site in anna's browser
	} {
		req, err := http.NewRequest("POST", "http://"+c.address+"/-/reload", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.user != "" {
			req.SetBasicAuth(c.user, c.password)
		}
		if c.site != "" {
			req.Header.Set("Sec-Fetch-Site", c.site)
		}
		answer, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.code {
			t.Errorf("%+v: %d", c, answer.StatusCode)
		}
	}
	if len(by) != 1 || by[0] != "anna" {
		t.Errorf("reloads by %v, want one by anna", by)
	}
}
