package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

const idleRules = `version: 1
defaults: {sample: 100ms}
situations:
  - name: Idle
    watch: {queue: Q}
    formula: IPPROCS == 0
    actions:
      - put: DISABLED
        allow_last: true
`

const hostedFile = `queue_manager:
  name: QM2
  connect: hosted
  hosted: {listen: none, mqsc: [qm2.mqsc]}
rules: [rules.yaml]
startup_grace: 0s
http: {listen: "127.0.0.1:0"}
`

// world is a folder with the files of one daemon.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T, daemonFile, rules string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "app") // short, for the sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{t: t, dir: dir}
	w.write("situationd.yaml", daemonFile)
	w.write("rules.yaml", rules)
	w.write("qm2.mqsc", "DEFINE QLOCAL(Q)\n")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) config() *config.Config {
	w.t.Helper()
	cfg, problems, err := config.Load(filepath.Join(w.dir, "situationd.yaml"))
	if err != nil || cfg == nil {
		w.t.Fatal(err, problems)
	}
	return cfg
}

// daemon is one that runs until its stop is called, or the test ends.
type daemon struct {
	*App
	end  func() // begins the end
	stop func() error
}

func (w *world) start(o Options) *daemon {
	w.t.Helper()
	o.Config, o.Data = w.config(), w.dir
	a, err := New(context.Background(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	ended := false
	d := &daemon{App: a, end: cancel, stop: func() error {
		if ended {
			return nil
		}
		ended = true
		cancel()
		return errors.Join(<-done, a.Close())
	}}
	w.t.Cleanup(func() {
		if err := d.stop(); err != nil {
			w.t.Error(err)
		}
	})
	return d
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			w.t.Fatalf("not in 15s: %s", what)
		}
		<-tick.C
	}
}

func (w *world) results(a *App) []string {
	w.t.Helper()
	lines, _, err := a.Actions(context.Background(), "", 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, line := range lines {
		var e struct{ Action, Result string }
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, e.Action+" "+e.Result)
	}
	return out
}

func contains(list []string, text string) bool {
	for _, s := range list {
		if s == text {
			return true
		}
	}
	return false
}

// put reads PUT of the queue, as a person would.
func (w *world) put(qm *mqengine.QueueManager) string {
	w.t.Helper()
	ctx := context.Background()
	conn, err := qm.Connect(ctx, qmgr.Appl{Tag: "person"})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Disconnect(ctx) }() // nothing is open
	cmd, bad := mqsc.Parse("DISPLAY QLOCAL(Q) PUT")
	if bad != nil {
		w.t.Fatal(bad)
	}
	result, err := conn.Command(ctx, cmd)
	if err != nil || len(result.Responses) == 0 {
		w.t.Fatal(err, result)
	}
	for _, f := range result.Responses[0].Fields {
		if f.Key == "PUT" {
			return f.Values[0]
		}
	}
	return ""
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestApp_Hosted_ActsAndShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, idleRules)
	d := w.start(Options{})
	w.eventually("put DISABLED done", func() bool { return contains(w.results(d.App), "put DISABLED done") })
	if got := w.put(d.hosted); got != "DISABLED" {
		t.Errorf("PUT(%s)", got)
	}
	base := "http://" + d.Addr()
	if code, body := get(t, base+"/-/ready"); code != 200 {
		t.Errorf("ready: %d %s", code, body)
	}
	code, body := get(t, base+"/api/v1/status")
	var status httpapi.Status
	if err := json.Unmarshal([]byte(body), &status); err != nil || code != 200 {
		t.Fatalf("status: %d %v %s", code, err, body)
	}
	if len(status.Items) != 1 || status.Items[0].State != "open" || status.Items[0].Verdict != "true" || status.Items[0].Values["IPPROCS"] != 0.0 {
		t.Errorf("items: %+v", status.Items)
	}
	code, page := get(t, base+"/metrics")
	if code != 200 {
		t.Fatalf("metrics: %d %s", code, page)
	}
	for _, want := range []string{
		`ibmmq_queue_depth{cluster="-",description="-",platform="UNIX",qmgr="QM2",queue="Q",usage="NORMAL"} 0`,
		`ibmmq_qmgr_status{description="-",platform="UNIX",qmgr="QM2"} 2`,
		`situationd_item_open{qmgr="QM2",queue="Q",situation="Idle"} 1`,
		`situationd_actions_total{action="put",result="done"} 1`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestApp_Observe_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, idleRules)
	d := w.start(Options{Observe: true})
	w.eventually("put DISABLED would", func() bool { return contains(w.results(d.App), "put DISABLED would") })
	if got := w.put(d.hosted); got != "ENABLED" || !d.Status().Observe {
		t.Errorf("PUT(%s), observe %v", got, d.Status().Observe)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	// A real run afterwards knows nothing of what would have been done.
	d = w.start(Options{})
	w.eventually("put DISABLED done", func() bool { return contains(w.results(d.App), "put DISABLED done") })
}

func TestApp_Restart_DoesNotActTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, idleRules)
	d := w.start(Options{})
	w.eventually("put DISABLED done", func() bool { return contains(w.results(d.App), "put DISABLED done") })
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	before := len(w.results(d.App))
	d = w.start(Options{})
	first := time.Time{}
	w.eventually("three samples", func() bool {
		at := d.SampledAt()
		if first.IsZero() {
			first = at
		}
		return !first.IsZero() && at.Sub(first) >= 300*time.Millisecond
	})
	if after := w.results(d.App); len(after) != before {
		t.Errorf("a restart did %v", after[before:])
	}
}

const localFile = "queue_manager: {name: QM2}\nrules: [rules.yaml]\nstartup_grace: 0s\n"

// A queue manager that does not run makes the daemon wait, not fail; nothing is
// decided meanwhile.
func TestApp_Local_WaitsForTheQueueManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t, localFile, idleRules)
	d := w.start(Options{})
	w.eventually("the reason why it is not ready", func() bool {
		err := d.Ready()
		return err != nil && strings.Contains(err.Error(), mqi.MQRC_Q_MGR_NAME_ERROR.Error())
	})
	ctx := context.Background()
	if err := mqengine.Create(ctx, mqengine.CreateOptions{Data: w.dir, Name: "QM2", MQSC: []string{filepath.Join(w.dir, "qm2.mqsc")}}); err != nil {
		t.Fatal(err)
	}
	folder, err := mqengine.Folder(w.dir, "QM2")
	if err != nil {
		t.Fatal(err)
	}
	qm, err := mqengine.Start(ctx, mqengine.Options{Name: "QM2", Folder: folder, Listen: mqengine.NoListener, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("put DISABLED done", func() bool { return contains(w.results(d.App), "put DISABLED done") })
	if got := w.put(qm); got != "DISABLED" {
		t.Errorf("PUT(%s)", got)
	}
	// It ends, and everything is unknown.
	if err := qm.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	w.eventually("the item is unknown", func() bool {
		items := d.Status().Items
		return len(items) == 1 && items[0].Verdict == "unknown" && items[0].State == "open"
	})
}

func TestApp_Reload_BadFileLeavesTheGoodOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, idleRules)
	d := w.start(Options{})
	good := d.Status().Rules.Revision
	w.write("rules.yaml", strings.Replace(idleRules, "IPPROCS", "IPROCS", 1))
	text, err := d.Reload(context.Background(), "test")
	if !errors.Is(err, ErrBadFiles) || !strings.Contains(text, "did you mean IPPROCS?") {
		t.Errorf("reload of a wrong file: %v\n%s", err, text)
	}
	if s := d.Status().Rules; s.Revision != good || s.Error == "" {
		t.Errorf("rules in force: %+v", s)
	}
	w.write("rules.yaml", strings.Replace(idleRules, "name: Idle", "name: Other", 1))
	text, err = d.Reload(context.Background(), "test")
	if err != nil || !strings.Contains(text, "added Other, removed Idle, kept none") {
		t.Errorf("reload of a right file: %v\n%s", err, text)
	}
	if s := d.Status().Rules; s.Revision == good || s.Error != "" {
		t.Errorf("rules in force: %+v", s)
	}
}

func TestNew_WhatIsWrong_IsSaidAndGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, idleRules)
	d := w.start(Options{})
	open := func() error {
		a, err := New(context.Background(), Options{Config: w.config(), Data: w.dir})
		if err == nil {
			err = errors.Join(errors.New("it started"), a.Close())
		}
		return err
	}
	if err := open(); !errors.Is(err, ErrInUse) {
		t.Errorf("a second daemon: %v", err)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w.write("situationd.yaml", strings.Replace(hostedFile, "127.0.0.1:0", taken.Addr().String(), 1))
	if err := open(); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("a port in use: %v", err)
	}
	w.write("situationd.yaml", hostedFile)
	w.write("rules.yaml", "version: 1\nsituations: 5\n")
	var rules *RulesError
	if err := open(); !errors.As(err, &rules) || len(rules.Problems) == 0 {
		t.Errorf("wrong rules: %v", err)
	}
	w.write("rules.yaml", idleRules)
	d = w.start(Options{}) // nothing of the failed starts is left
	w.eventually("ready", func() bool { return d.Ready() == nil })
}

// A data folder whose path is longer than a socket's address works all the same.
func TestApp_LongPath_SocketAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, idleRules)
	w.dir = filepath.Join(w.dir, strings.Repeat("long/", 20), strings.Repeat("x", 40))
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write("situationd.yaml", hostedFile)
	w.write("rules.yaml", idleRules)
	w.write("qm2.mqsc", "DEFINE QLOCAL(Q)\n")
	d := w.start(Options{})
	conn, err := DialSocket(context.Background(), SocketPath(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if running, err := FindDaemons(w.dir); err != nil || len(running) != 1 || running[0] != "QM2" {
		t.Errorf("daemons that run: %v, %v", running, err)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	if running, err := FindDaemons(w.dir); err != nil || len(running) != 0 {
		t.Errorf("daemons that run after the end: %v, %v", running, err)
	}
}

// A journal that cannot be written holds actions, or with on_failure: warn does not.
func TestApp_JournalFails_RefusesOrWarns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode, put string
	}{{"refuse", "ENABLED"}, {"warn", "DISABLED"}} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat("/dev/full"); err != nil {
				t.Skip("no /dev/full here: no file that is always full")
			}
			w := newWorld(t, hostedFile+"journal: {path: /dev/full, on_failure: "+c.mode+"}\n", idleRules)
			d := w.start(Options{})
			// The device cannot be synced either, which the end complains of.
			t.Cleanup(func() { _ = d.stop() })
			if c.mode == "warn" {
				w.eventually("PUT(DISABLED)", func() bool { return w.put(d.hosted) == c.put })
				_, page := get(t, "http://"+d.Addr()+"/metrics")
				if !strings.Contains(page, "\nsituationd_journal_writable 0\n") || strings.Contains(page, "\nsituationd_journal_lost_lines_total 0\n") {
					t.Error("the metrics do not say that the journal cannot be written, and lost lines")
				}
				return
			}
			w.eventually("the journal holds it", func() bool {
				items := d.Status().Items
				return len(items) == 1 && contains(items[0].Held, "journal")
			})
			if got := w.put(d.hosted); got != c.put {
				t.Errorf("PUT(%s) without a journal", got)
			}
		})
	}
}
