//go:build integration

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestIntegration_Scripts runs sessions with Debian's prometheus and
// prometheus-alertmanager, whose programs have to be on the PATH.
func TestIntegration_Scripts(t *testing.T) {
	t.Parallel()
	p := scriptParams("testdata/integration")
	p.Cmds["hook"] = hook
	p.Cmds["alerts"] = alerts
	p.Cmds["page"] = page
	testscript.Run(t, p)
}

// hook takes the notifications of Alertmanagers: hook FILE. The environment's
// HOOK is its address; each alert told becomes a line of the file.
func hook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hook file")
	}
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var note struct{ Alerts []told }
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&note); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, a := range note.Alerts {
			fmt.Fprintf(file, "%s %s %v\n", a.Status, sortedPairs(a.Labels), a.Annotations["summary"])
		}
	}))
	ts.Defer(func() {
		server.Close()
		file.Close()
	})
	ts.Setenv("HOOK", server.URL)
}

// told is an alert as an Alertmanager tells of it.
type told struct {
	Status              any // a word to a webhook, an object in the API
	Labels, Annotations map[string]string
	StartsAt, EndsAt    time.Time
}

// alerts writes what an Alertmanager has of the situations' alerts: alerts FILE
// URL. Each line is an alert's labels and start. One that would end before it is
// sent again twice fails the script.
func alerts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: alerts file url")
	}
	client := http.Client{Timeout: 10 * time.Second}
	body, err := fetch(&client, args[1]+"/api/v2/alerts")
	ts.Check(err)
	var list []told
	ts.Check(json.Unmarshal(body, &list))
	var lines []string
	for _, a := range list {
		if left := time.Until(a.EndsAt); left < 2*time.Minute {
			ts.Fatalf("%s: without a word the alert ends in %v", args[1], left)
		}
		lines = append(lines, sortedPairs(a.Labels)+" since "+a.StartsAt.Format(time.RFC3339Nano)+"\n")
	}
	slices.Sort(lines)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines, "")), 0o600))
}

// page writes what an address answers to a file: page FILE URL.
func page(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: page file url")
	}
	client := http.Client{Timeout: 10 * time.Second}
	body, err := fetch(&client, args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), body, 0o600))
}
