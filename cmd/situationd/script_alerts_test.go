package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// pager runs an Alertmanager's half of the API: pager FILE sets ALERTS to its
// address, and every alert that is posted becomes a line of FILE: firing or
// resolved, its labels by name, and its summary. What was told before is told again
// by the daemon and written again.
func pager(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pager file")
	}
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var posted []struct {
			Labels, Annotations map[string]string
			EndsAt              time.Time
		}
		if r.Method != http.MethodPost || r.URL.Path != "/api/v2/alerts" {
			http.NotFound(w, r)
			return
		}
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&posted); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, a := range posted {
			word := "firing"
			if !a.EndsAt.After(time.Now()) {
				word = "resolved"
			}
			fmt.Fprintf(file, "%s %s: %s\n", word, sortedPairs(a.Labels), a.Annotations["summary"])
		}
	}))
	ts.Defer(func() {
		server.Close()
		file.Close()
	})
	ts.Setenv("ALERTS", server.URL)
}

// sortedPairs are labels by name.
func sortedPairs(m map[string]string) string {
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, k+"="+m[k])
	}
	return strings.Join(pairs, " ")
}
