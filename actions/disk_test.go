//go:build unix

package actions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/situationd/situationd/situations"
)

// onDisk is an engine over real files and programs, with an imagined queue manager.
type onDisk struct {
	t    *testing.T
	dir  string
	exec *Exec
	mu   sync.Mutex
	put  string
}

func (d *onDisk) Set(_ context.Context, _, _ string, values []Value) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put = values[0].Value
	return nil
}

func (d *onDisk) ReadBack(context.Context, string, string, []string) ([]Value, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return []Value{{Attr: attrPut, Value: d.put}}, nil
}

func (d *onDisk) observation() *situations.Observation {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &situations.Observation{
		QMgr: here.QMgr, QMID: "QM2_B", At: time.Now(), Complete: true, Repository: true,
		Rows: []situations.Row{{
			Queue: queueName, Base: queueName, Type: "QLOCAL", Clusters: []string{"C1"}, InstancesKnown: true,
			Env:       situations.Attributes{QUEUE: queueName, PUT: d.put, CLWLUSEQ: "QMGR"},
			Instances: []situations.Instance{{QMgr: "QM3", Put: true, Reachable: true}},
		}},
	}
}

// life opens everything, runs an engine, commits and dispatches the intents, and
// samples until done says so.
func (d *onDisk) life(intents []situations.Intent, done func(*Engine) bool) {
	d.t.Helper()
	db := openTestDB(d.t, filepath.Join(d.dir, "state.db"))
	defer db.Close()
	journal := openTestJournal(d.t, filepath.Join(d.dir, "actions.jsonl"), journalSize)
	defer journal.Close()
	e, err := New(Options{QMgr: here.QMgr, Manager: d, Programs: d.exec, Journal: journal, Store: db, Drain: time.Millisecond})
	must(d.t, err)
	ctx, cancel := context.WithCancel(d.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	must(d.t, db.Commit(ctx, nil, intents))
	e.Dispatch(ctx, intents)
	eventually(d.t, "the engine is done", func() bool {
		e.Observe(d.observation())
		return done(e)
	})
	cancel()
	must(d.t, <-ended)
}

// TestOnDisk lowers a queue and runs a program, is stopped in the middle of it,
// goes on after a restart, and gives back what it changed after another.
func TestOnDisk(t *testing.T) {
	t.Parallel()
	x, path := programs(t, `echo "$1" >> runs; [ -e go ] || exec sleep 60; echo moved`)
	dir := filepath.Dir(path)
	d := &onDisk{t: t, dir: dir, exec: x, put: enabled}
	runs := func() int {
		data, _ := os.ReadFile(filepath.Join(dir, "runs"))
		return strings.Count(string(data), queueName+"\n")
	}
	in := storedIntentNamed("one", time.Now())
	in.Interval = time.Minute
	in.Actions = []situations.Action{claimed(put(disabled)), {Verb: situations.VerbExec, Args: []string{path, "${QUEUE}"}}}
	d.life([]situations.Intent{in}, func(*Engine) bool { return runs() == 1 })
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o644))
	d.life(nil, func(e *Engine) bool {
		return runs() == 2 && e.Stats().Waiting == 1 && e.Stats().Running == 0 && e.Snapshot().Items[in.Key].Intent == ""
	})
	if d.put != disabled {
		t.Errorf("PUT(%s) after the restart", d.put)
	}
	back := storedIntentNamed("two", time.Now())
	back.Edge, back.Actions = closed, []situations.Action{revert}
	back.Actions[0].ClaimName = in.Actions[0].ClaimName
	d.life([]situations.Intent{back}, func(e *Engine) bool { return e.Stats().Waiting == 0 })
	if d.put != enabled {
		t.Errorf("PUT(%s) after the situation cleared", d.put)
	}
	page, err := ReadJournal(filepath.Join(dir, "actions.jsonl"), "", 100)
	must(t, err)
	var got []string
	for _, e := range decodeAll(t, page.Lines) {
		got = append(got, fmt.Sprintf("%s %s %d", strings.Fields(e.Action)[0], e.Result, e.Attempt))
	}
	want := []string{
		"put started 1", "put done 1", "exec started 1", "exec in_doubt 1", "exec started 2", "exec done 2",
		"revert started 1", "revert done 1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("journal:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
