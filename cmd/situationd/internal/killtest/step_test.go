package killtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// way is a way to write the article's rule, and what comes of it.
type way struct {
	name string
	rule string
	// attr is what tells a lowered instance from one that is not; blank: nothing is lowered.
	attr, lowered, found string
	moves                bool
	// onIdle and onRead are the actions that the journal has as done after each edge, their beginnings.
	onIdle, onRead []string
	hook, alert    bool
}

var ways = []way{
	{
		name: "put", attr: "PUT", lowered: "DISABLED", found: "ENABLED", moves: true, alert: true,
		rule:   "  - availability: {name: S, queue: Q, cluster: C1, by: put, alert: {severity: critical}}\n",
		onIdle: []string{"put DISABLED", "redistribute"}, onRead: []string{"revert"},
	},
	{
		name: "rank", attr: "CLWLRANK", lowered: "0", found: "5", moves: true,
		rule:   whenIdle("{rank: 0}, {redistribute: true}", "revert"),
		onIdle: []string{"rank 0", "redistribute"}, onRead: []string{"revert"},
	},
	{
		name: "priority", attr: "CLWLPRTY", lowered: "0", found: "5", moves: true,
		rule:   whenIdle("{priority: 0, useq: any}, {redistribute: true}", "revert"),
		onIdle: []string{"priority 0", "redistribute"}, onRead: []string{"revert"},
	},
	{
		name: "exec", attr: "PUT", lowered: "DISABLED", found: "ENABLED", moves: true,
		rule:   whenIdle(`{exec: [DIR/idle.sh, "${QUEUE}", "${QMGR}"]}`, `[{exec: [DIR/read.sh, "${QUEUE}", "${QMGR}"]}]`),
		onIdle: []string{"exec DIR/idle.sh"}, onRead: []string{"exec DIR/read.sh"},
	},
	{
		name: "mqsc", attr: "PUT", lowered: "DISABLED", found: "ENABLED",
		rule:   whenIdle(`{mqsc: "ALTER QLOCAL(${QUEUE}) PUT(DISABLED)"}`, `[{mqsc: "ALTER QLOCAL(${QUEUE}) PUT(ENABLED)"}]`),
		onIdle: []string{"mqsc ALTER"}, onRead: []string{"mqsc ALTER"},
	},
	{
		name: "webhook", hook: true,
		rule:   whenIdle(`{webhook: "HTTP/idle"}`, `[{webhook: "HTTP/read"}]`),
		onIdle: []string{"webhook HTTP/idle"}, onRead: []string{"webhook HTTP/read"},
	},
}

func whenIdle(do, undo string) string {
	return "  - name: S\n    watch: {queue: Q}\n    formula: IPPROCS == 0\n    actions: [" + do + "]\n    on_clear: " + undo + "\n"
}

// The scripts of the exec way. One that begins while another one is at work says
// so; one that was ended and that nobody has waited for yet is not at work.
const (
	scriptHead = `#!/bin/sh
if [ -s DIR/pid ] && grep -q ') [^Z]' "/proc/$(cat DIR/pid)/stat" 2>/dev/null; then echo overlap >>DIR/ran; fi
echo $$ >DIR/pid
echo begun >>DIR/ran
`
	idleScript = scriptHead + `echo "ALTER QL($1) PUT(DISABLED)" | runmqsc "$2" || exit
exec q "-I$1" "-m$2" "-o$1" -p1
`
	readScript = scriptHead + `echo "ALTER QL($1) PUT(ENABLED)" | runmqsc "$2"
`
)

// stage is two queue managers with an instance of Q each, and who is posted to.
type stage struct {
	way
	qm2, qm3 *proctest.QMgr
	dir      string
	server   *httptest.Server

	mu    sync.Mutex
	hooks map[string]int // webhooks by id
	fired int            // alerts posted
}

const stageQ = "DEFINE QLOCAL(Q) CLUSTER(C1) DEFBIND(NOTFIXED) DEFPSIST(YES) CLWLRANK(5) CLWLPRTY(5)\n"

func newStage(t *testing.T, w way) *stage {
	t.Helper()
	s := &stage{way: w, dir: t.TempDir(), hooks: map[string]int{}}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.server.Close)
	data, front := dataFolder(t), [2]*proctest.Proxy{proctest.NewProxy(t), proctest.NewProxy(t)}
	channel := func(to int, kind string) string {
		return fmt.Sprintf("DEFINE CHANNEL(TO.QM%d) CHLTYPE(%s) CONNAME('%s') CLUSTER(C1) SHORTTMR(1)\n", to+2, kind, front[to].ConnName())
	}
	s.qm2 = proctest.NewQMgr(t, &program, data, "QM2", "ALTER QMGR REPOS(C1)\n"+channel(0, "CLUSRCVR")+stageQ, front[0])
	s.qm3 = proctest.NewQMgr(t, &program, data, "QM3", channel(1, "CLUSRCVR")+channel(0, "CLUSSDR")+stageQ, front[1])
	s.qm2.Start(t)
	s.qm3.Start(t)
	proctest.WaitFor(t, "QM3's instance known", func() (bool, error) {
		return len(s.qm2.MQSC(t, "DISPLAY QUEUE(Q) TYPE(QCLUSTER)")) >= 2, nil
	})
	s.write(t, "rules.yaml", "version: 1\ndefaults: {sample: {every: 100ms, on_change: true}}\nsituations:\n"+w.rule)
	s.write(t, "idle.sh", idleScript)
	s.write(t, "read.sh", readScript)
	s.write(t, "d2.yaml", fmt.Sprintf("queue_manager: {name: QM2}\nrules: [rules.yaml]\ndata: %q\nexec: {allow: [.]}\nmqsc: {allow: [ALTER]}\n"+
		"startup_grace: 100ms\nalertmanagers: [{url: HTTP}]\n", data))
	return s
}

// fill puts the test's own places into a text.
func (s *stage) fill(text string) string {
	return strings.NewReplacer("DIR", s.dir, "HTTP", s.server.URL).Replace(text)
}

func (s *stage) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(s.fill(text)), 0o700); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) serve(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := r.Header.Get("Idempotency-Key"); id != "" {
		s.hooks[id]++
	} else {
		s.fired++
	}
}

func (s *stage) alerts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fired
}

func (s *stage) folder() string { return filepath.Join(s.qm2.Data, "daemon", "QM2") }

func (s *stage) journal(t *testing.T) []actions.Entry {
	t.Helper()
	page, err := actions.ReadJournal(filepath.Join(s.folder(), "actions.jsonl"), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]actions.Entry, len(page.Lines))
	for i, text := range page.Lines {
		if err := json.Unmarshal(text, &lines[i]); err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

// act is one life of a rule on the stage: a reader goes and comes back while a
// daemon is killed at a point, and perhaps at another one after its restart.
type act struct {
	*stage
	kill    *killer
	second  int // point after the restart at which it is killed again, 0 for none
	daemon  *proctest.Process
	struck  []point
	expects []expectation
	posted  int // alerts before
}

func (a *act) start(t *testing.T, n int) {
	t.Helper()
	a.kill = newKiller(n)
	a.daemon = a.kill.spawn(t, program.Command(t, a.qm2.Data, "situationd", "run", "--config", filepath.Join(a.dir, "d2.yaml")))
}

// revive starts the daemon again if it was killed, after a look at what it left.
func (a *act) revive(t *testing.T) {
	t.Helper()
	if !a.kill.struck() {
		return
	}
	a.daemon.Kill()
	a.struck = append(a.struck, a.kill.at)
	a.expect(t)
	a.start(t, a.second)
	a.second = 0
	a.kill.arm()
}

// open makes the test a reader of QM2's instance that takes nothing.
func (a *act) open(t *testing.T) mqengine.Conn {
	t.Helper()
	conn, err := a.qm2.Dial(t.Context(), "lazy")
	if err == nil {
		_, _, err = conn.Open(t.Context(), mqi.OD{ObjectName: "Q"}, mqi.MQOO_INPUT_SHARED)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// play is the act; it tells at which points the daemon died.
func (s *stage) play(t *testing.T, n, second int) (struck []point) {
	t.Helper()
	a := &act{stage: s, second: second, posted: s.alerts()}
	for _, name := range []string{s.folder(), filepath.Join(s.dir, "ran"), filepath.Join(s.dir, "pid")} {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	ids := names(n, 3, "s")
	reader := a.open(t)
	put := proctest.Do(t, program.Command(t, s.qm2.Data, "q", "-oQ", "-mQM2"), strings.Join(ids, "\n")+"\n")
	if here := content(t, s.qm2, "Q"); put.Exit != 0 || len(here) != len(ids) {
		t.Fatalf("q exits %d, %d messages on QM2: %s", put.Exit, len(here), put.Stderr)
	}
	a.start(t, n)
	proctest.WaitFor(t, "the rule at work", func() (bool, error) {
		out := proctest.Do(t, program.Command(t, s.qm2.Data, "situationd", "status", "--qmgr", "QM2", "-o", "jsonl"), "")
		return strings.Contains(out.Stdout, `"IPPROCS":1`) && strings.Contains(out.Stdout, `"held":[]`), nil
	})
	a.kill.arm()
	if err := reader.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.until(t, "what an idle queue asks for", a.onIdle, a.lowered)
	if a.moves {
		a.arrived(t, ids)
	}
	reader = a.open(t)
	a.until(t, "what a reader asks for", append(slices.Clone(a.onIdle), a.onRead...), a.found)
	a.told(t)
	a.daemon.Kill()
	if err := reader.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, qm := range []*proctest.QMgr{s.qm2, s.qm3} {
		proctest.Do(t, program.Command(t, qm.Data, "q", "-IQ", "-m"+qm.Name), "")
	}
	return a.struck
}

// until waits until the journal has the actions as done and nothing as under
// way, the attribute has its value, and the alert was posted.
func (a *act) until(t *testing.T, what string, doneActions []string, value string) {
	t.Helper()
	alerts := a.posted + 1
	if a.found == value {
		alerts++
	}
	proctest.WaitFor(t, what, func() (bool, error) {
		a.revive(t)
		lines, left := a.journal(t), doneActions
		if len(openOf(lines)) > 0 {
			return false, fmt.Errorf("under way: %v", openOf(lines))
		}
		for _, l := range lines {
			i := slices.IndexFunc(left, func(begin string) bool { return strings.HasPrefix(l.Action, a.fill(begin)) })
			// What was moved when the daemon died need not be moved again.
			if i >= 0 && (l.Result == "done" || l.Result == "no_change" && l.Action == "redistribute") {
				left = slices.Delete(slices.Clone(left), i, i+1)
			}
		}
		if len(left) > 0 {
			return false, fmt.Errorf("not done: %v", left)
		}
		if a.alert && a.alerts() < alerts {
			return false, fmt.Errorf("%d alerts", a.alerts())
		}
		if a.attr == "" {
			return true, nil
		}
		got, err := a.value(t)
		return got == value, err
	})
}

func (a *act) value(t *testing.T) (string, error) {
	conn, err := a.qm2.Dial(t.Context(), "watcher")
	if err != nil {
		return "", err
	}
	defer conn.Disconnect(t.Context())
	return proctest.Show(t.Context(), conn, "DISPLAY QLOCAL(Q) PUT CLWLRANK CLWLPRTY", a.attr)
}

// arrived checks that all messages are on QM3, once.
func (a *act) arrived(t *testing.T, ids []string) {
	t.Helper()
	var there []string
	proctest.WaitFor(t, "all messages on QM3", func() (bool, error) {
		there = there[:0]
		for _, b := range content(t, a.qm3, "Q") {
			there = append(there, string(b))
		}
		return len(there) >= len(ids), nil
	})
	for _, b := range content(t, a.qm2, "Q") {
		there = append(there, string(b))
	}
	once(t, ids, there)
}
