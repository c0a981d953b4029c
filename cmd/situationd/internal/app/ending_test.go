package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// While a program is waited for that the daemon has begun, it answers over both its
// socket and its port. It takes on nothing that it would not do, says so at once, and
// keeps what a person wants kept.
func TestApp_Ending_AnswersAndTakesOnNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile+"exec: {allow: [.]}\n", "")
	script, release := filepath.Join(w.dir, "wait.sh"), filepath.Join(w.dir, "go")
	rules := idleRules + "      - exec: [" + script + "]\n"
	w.write("rules.yaml", rules)
	w.write("qm2.mqsc", "ALTER QMGR REPOS(C1)\nDEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CLUSTER(C1) CONNAME('127.0.0.1')\nDEFINE QLOCAL(Q) CLUSTER(C1)\n")
	w.write("wait.sh", fmt.Sprintf("#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.01; done\n", release))
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	d := w.start(Options{})
	local := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return DialSocket(ctx, SocketPath(d.dir))
	}}}
	t.Cleanup(local.CloseIdleConnections)
	ask := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://daemon"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := local.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	begun := "exec " + script + " started"
	w.eventually("the program runs", func() bool { return slices.Contains(w.results(d.App), begun) })
	revision := d.Status().Rules.Revision
	d.end()
	<-d.decided
	w.eventually("a run is refused", func() bool {
		code, text := ask("POST", "/api/v1/redistribute", `{"queue":"Q"}`)
		return code == http.StatusServiceUnavailable && strings.Contains(text, `"the daemon ends; say it again when it has ended"`)
	})

	w.write("rules.yaml", strings.Replace(rules, "name: Idle", "name: Other", 1))
	for _, c := range []struct {
		method, path, body string
		code               int
		text               string
	}{
		{"POST", "/-/reload", "", 503, "reload: the daemon ends; it reads the files at its next start"},
		{"POST", "/api/v1/revert", `{"all":true}`, 503, "the daemon ends; say it again when it has ended"},
		{"POST", "/api/v1/redistribute", `{"queue":"Q"}`, 503, "the daemon ends; say it again when it has ended"},
		{"POST", "/api/v1/redistribute/cancel", `{"queue":"Q"}`, 404, "nothing moves messages of it"},
		{"POST", "/api/v1/hold", `{"queue":"Q","reason":"patching"}`, 200, `"patching"`},
		{"GET", "/api/v1/lowered", "", 200, `"PUT"`},
		{"GET", "/api/v1/explain/situation?name=Idle", "", 200, `"Idle"`},
		{"GET", "/api/v1/actions", "", 200, `"started"`},
	} {
		if code, text := ask(c.method, c.path, c.body); code != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, text)
		}
	}
	for path, want := range map[string]string{"/-/healthy": "healthy", "/metrics": "situationd_config_last_reload_successful 1", "/api/v1/status": revision} {
		if code, text := get(t, "http://"+d.Addr()+path); code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, no %s in it", path, code, want)
		}
	}
	if slices.Contains(w.results(d.App), "exec "+script+" done") {
		t.Error("the program was not waited for: it is over")
	}

	w.write("go", "")
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(w.results(d.App), "exec "+script+" done") {
		t.Errorf("the program came to its end: %v", w.results(d.App))
	}
	d = w.start(Options{})
	if s := d.Status(); len(s.Holds) != 1 || s.Holds[0].Reason != "patching" || s.Rules.Revision == revision {
		t.Errorf("after the start: held %v, revision %s", s.Holds, s.Rules.Revision)
	}
}
