//go:build integration

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// These tests run Debian's prometheus and prometheus-alertmanager on loopback.
// .ci/run installs them; without them the suite fails, since it was asked for.

const alertRules = `version: 1
defaults: {sample: 100ms}
situations:
  - name: NobodyReads
    watch: {queue: Q}
    formula: IPPROCS == 0
    alert: {severity: critical, summary: "${QUEUE} on ${QMGR} has no consumer, ${CURDEPTH} messages waiting"}
`

// freeAddress is a loopback address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// program runs a program until the test ends, and waits until ready answers 200.
func (w *world) program(ready, name string, args ...string) *exec.Cmd {
	w.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		w.t.Fatalf("%v; install it with .ci/packages %s", err, name)
	}
	var log bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended before
		_ = cmd.Wait()
		if w.t.Failed() {
			w.t.Logf("%s:\n%s", name, log.String())
		}
	})
	w.eventually(name+" is ready", func() bool {
		answer, err := http.Get(ready)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return cmd
}

// receiver is where an Alertmanager sends its notifications.
type receiver struct {
	mu   sync.Mutex
	seen []notification
}

type notification struct {
	Status string
	Alerts []struct {
		Status              string
		Labels, Annotations map[string]string
	}
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	var n notification
	if json.NewDecoder(req.Body).Decode(&n) == nil {
		r.mu.Lock()
		r.seen = append(r.seen, n)
		r.mu.Unlock()
	}
}

// count counts the alerts of a name that were told with a status.
func (r *receiver) count(status string) (n int, summary string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, note := range r.seen {
		for _, a := range note.Alerts {
			if a.Status == status && a.Labels["alertname"] == "NobodyReads" {
				n++
				summary = a.Annotations["summary"]
			}
		}
	}
	return n, summary
}

// alertmanager starts one and gives its address.
func (w *world) alertmanager(name, hook string) (address string, cmd *exec.Cmd) {
	w.t.Helper()
	address = freeAddress(w.t)
	w.write(name+".yml", fmt.Sprintf(`route: {receiver: test, group_wait: 100ms, group_interval: 1s}
receivers:
  - name: test
    webhook_configs: [{url: %q, send_resolved: true}]
`, hook))
	cmd = w.program("http://"+address+"/-/ready", "prometheus-alertmanager",
		"--config.file="+name+".yml", "--storage.path="+filepath.Join(w.dir, name), "--web.listen-address="+address,
		"--web.external-url=http://"+address+"/", "--cluster.listen-address=")
	return "http://" + address, cmd
}

// gettable is an alert as /api/v2/alerts shows it.
type gettable struct {
	Labels, Annotations map[string]string
	StartsAt, EndsAt    time.Time
}

func alertsOf(t *testing.T, base string) []gettable {
	t.Helper()
	answer, err := http.Get(base + "/api/v2/alerts")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var list []gettable
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

func (w *world) openReader(qm *mqengine.QueueManager) mqengine.Conn {
	w.t.Helper()
	ctx := context.Background()
	conn, err := qm.Connect(ctx, qmgr.Appl{Tag: "reader"})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := conn.Open(ctx, mqi.OD{ObjectName: "Q"}, mqi.MQOO_INPUT_SHARED); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

func TestIntegration_Alertmanager_AlertAppearsStaysAndResolves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, alertRules)
	var notes receiver
	hook := httptest.NewServer(&notes)
	t.Cleanup(hook.Close)
	first, _ := w.alertmanager("am1", hook.URL)
	second, dying := w.alertmanager("am2", hook.URL)
	w.write("situationd.yaml", hostedFile+fmt.Sprintf("alertmanagers: [{url: %q}, {url: %q}]\n", first, second))
	d := w.start(Options{})

	for _, base := range []string{first, second} { // every one of them gets it
		w.eventually("the alert at "+base, func() bool { return len(alertsOf(t, base)) == 1 })
	}
	alert := alertsOf(t, first)[0]
	if alert.Labels["qmgr"] != "QM2" || alert.Labels["queue"] != "Q" || alert.Labels["severity"] != "critical" {
		t.Errorf("labels: %v", alert.Labels)
	}
	if got := alert.Annotations["summary"]; got != "Q on QM2 has no consumer, 0 messages waiting" {
		t.Errorf("summary: %s", got)
	}
	if left := time.Until(alert.EndsAt); left < 2*time.Minute {
		t.Errorf("without a word it would end in %v, before it is sent again twice", left)
	}
	w.eventually("a notification", func() bool { n, _ := notes.count("firing"); return n >= 2 })

	// One of them dies; a restart of the daemon keeps the alert and its start.
	if err := dying.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	d = w.start(Options{})
	w.eventually("a sample after the restart", func() bool { return d.Ready() == nil })
	again := alertsOf(t, first)
	if len(again) != 1 || !again[0].StartsAt.Equal(alert.StartsAt) {
		t.Errorf("after a restart: %+v, want it to have started at %v", again, alert.StartsAt)
	}
	if n, _ := notes.count("resolved"); n != 0 {
		t.Errorf("%d alerts were resolved while the situation was open", n)
	}

	conn := w.openReader(d.hosted)
	w.eventually("the alert is resolved", func() bool { n, _ := notes.count("resolved"); return n == 1 })
	if _, summary := notes.count("resolved"); !strings.Contains(summary, "has no consumer") {
		t.Errorf("the resolved notification has no summary: %q", summary)
	}
	w.eventually("no alert is left", func() bool { return len(alertsOf(t, first)) == 0 })
	if err := conn.Disconnect(context.Background()); err != nil {
		t.Error(err)
	}
	w.eventually("it is told anew", func() bool { return len(alertsOf(t, first)) == 1 })
}

// query gives the first value of an instant query, "" for none.
func query(t *testing.T, base, expr string) string {
	t.Helper()
	_, body := get(t, base+"/api/v1/query?query="+url.QueryEscape(expr))
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if len(answer.Data.Result) == 0 {
		return ""
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1])
}

func TestIntegration_Prometheus_ScrapesAndPromtoolIsContent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, alertRules)
	d := w.start(Options{})
	w.eventually("ready", func() bool { return d.Ready() == nil })
	address := freeAddress(t)
	w.write("prom.yml", fmt.Sprintf(`global: {scrape_interval: 200ms}
scrape_configs:
  - job_name: situationd
    static_configs: [{targets: [%q]}]
`, d.Addr()))
	w.program("http://"+address+"/-/ready", "prometheus",
		"--config.file=prom.yml", "--storage.tsdb.path="+filepath.Join(w.dir, "tsdb"), "--web.listen-address="+address)
	base := "http://" + address
	for expr, want := range map[string]string{
		`up`: "1",
		`situationd_item_open{situation="NobodyReads",queue="Q"}`:        "1",
		`ibmmq_queue_depth{queue="Q"}`:                                   "0",
		`ibmmq_queue_depth * 100 / ibmmq_queue_attribute_max_depth >= 0`: "0",
	} {
		w.eventually(expr+" is "+want, func() bool { return query(t, base, expr) == want })
	}
	_, page := get(t, "http://"+d.Addr()+"/metrics")
	cmd := exec.Command("promtool", "check", "metrics")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func TestIntegration_PromtoolTestsTheRulesOnTheDaemon(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"check", "rules", prometheusRules},
		{"test", "rules", prometheusTests},
	} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
