package killtest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine/mqi"
)

// ward is the article's cluster with a daemon that looks after QM2.
type ward struct {
	*trio
	queue  string
	config string
	daemon *proctest.Process
	hosted string // address of the queue manager's listener if the daemon hosts it
}

const moveRules = `version: 1
defaults: {sample: 300ms, distribution: [QM2]}
situations:
  - availability: {name: ByPut, queue: DCQ1, cluster: C1, by: put}
`

// execRules are the article's: two scripts of two commands.
const execRules = `version: 1
defaults: {sample: 300ms, distribution: [QM2]}
situations:
  - name: MQQueueDisable
    watch: {queue: DCQ1, cluster: C1}
    formula: IPPROCS == 0
    actions:
      - exec: ["DIR/queueDisable.sh", "${QUEUE}", "${QMGR}"]
  - name: MQQueueEnable
    watch: {queue: DCQ1, cluster: C1}
    formula: IPPROCS > 0
    actions:
      - exec: ["DIR/queueEnable.sh", "${QUEUE}", "${QMGR}"]
`

const disableScript = `#!/bin/sh
echo "ALTER QL($1) PUT(DISABLED)" | runmqsc "$2" || exit
exec q "-I$1" "-m$2" "-o$1" -p1
`

const enableScript = `#!/bin/sh
echo "ALTER QL($1) PUT(ENABLED)" | runmqsc "$2"
`

// newWard starts the cluster and the daemon.
func newWard(t *testing.T, rules string, hosted bool) *ward {
	t.Helper()
	w := &ward{trio: newTrio(t, dcq1), queue: "DCQ1"}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("rules.yaml", strings.ReplaceAll(rules, "DIR", dir), 0o600)
	write("queueDisable.sh", disableScript, 0o700)
	write("queueEnable.sh", enableScript, 0o700)
	connect := "connect: local"
	if hosted {
		w.qm[1].Stop(t)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		w.hosted = l.Addr().String()
		l.Close()
		w.front[1].Point(w.hosted)
		connect = fmt.Sprintf("connect: hosted, hosted: {listen: %q}", w.hosted)
	}
	write("d2.yaml", fmt.Sprintf("queue_manager: {name: QM2, %s}\nrules: [rules.yaml]\ndata: %q\nexec: {allow: [.]}\n",
		connect, w.qm[1].Data), 0o600)
	w.config = filepath.Join(dir, "d2.yaml")
	w.run(t)
	return w
}

func (w *ward) run(t *testing.T) {
	t.Helper()
	w.daemon = proctest.Spawn(t, program.Command(t, w.qm[1].Data, "situationd", "run", "--config", w.config))
}

// is waits until the instance on QM2 has a value of PUT.
func (w *ward) is(t *testing.T, put string) {
	t.Helper()
	proctest.WaitFor(t, "PUT("+put+") on QM2", func() (bool, error) {
		conn, err := w.qm[1].Dial(t.Context(), "watcher")
		if err != nil {
			return false, err
		}
		defer conn.Disconnect(t.Context())
		value, err := proctest.Show(t.Context(), conn, "DISPLAY QLOCAL("+w.queue+") PUT", "PUT")
		return value == put, err
	})
}

// strand puts messages on QM2's instance while somebody has it open who takes
// none of them, and then lets him die.
func (w *ward) strand(t *testing.T, ids []string) {
	t.Helper()
	w.is(t, "DISABLED")
	qm2 := w.qm[1]
	lazy, err := qm2.Dial(t.Context(), "lazy")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := lazy.Open(t.Context(), mqi.OD{ObjectName: w.queue}, mqi.MQOO_INPUT_SHARED); err != nil {
		t.Fatal(err)
	}
	w.is(t, "ENABLED")
	put := proctest.Do(t, program.Command(t, qm2.Data, "q", "-o"+w.queue, "-mQM2", "-p100"), strings.Join(ids, "\n")+"\n")
	if put.Exit != 0 {
		t.Fatalf("q -o%s exits %d: %s", w.queue, put.Exit, put.Stderr)
	}
	if n := len(content(t, qm2, w.queue)); n != len(ids) {
		t.Fatalf("%d messages were put on QM2, %d are there", len(ids), n)
	}
	if err := lazy.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// killMidway kills QM2 when the daemon has brought its queue down to a depth,
// and starts it again. It reports whether the kill hit the middle: some messages
// had moved for good, some had not.
func (w *ward) killMidway(t *testing.T, before, depth int) bool {
	t.Helper()
	qm2 := w.qm[1]
	conn, err := qm2.Dial(t.Context(), "watcher")
	if err != nil {
		t.Fatal(err)
	}
	proctest.WaitFor(t, "the redistribution begun", func() (bool, error) {
		for {
			s, err := conn.Sample(t.Context(), 0)
			if err != nil {
				return false, err
			}
			for i := range s.Queues {
				if q := &s.Queues[i]; q.Name == w.queue && q.CurDepth == before {
					return false, nil
				} else if q.Name == w.queue && q.CurDepth <= depth {
					return true, nil
				}
			}
		}
	})
	if w.hosted != "" {
		w.daemon.Kill()
		w.run(t)
		proctest.WaitFor(t, "QM2 up again", func() (bool, error) {
			conn, err := qm2.Dial(t.Context(), "watcher")
			if err != nil {
				return false, err
			}
			return true, conn.Disconnect(t.Context())
		})
		// Grace lasts for two samples: nothing moves yet.
		left := len(content(t, qm2, w.queue))
		return left > 0 && left < before
	}
	qm2.Kill()
	w.daemon.Signal(t, syscall.SIGSTOP) // it must not go on before the rest is counted
	qm2.Start(t)
	left := len(content(t, qm2, w.queue))
	w.daemon.Signal(t, syscall.SIGCONT)
	return left > 0 && left < before
}

// empty waits until nothing is left on QM2 or on its way from there.
func (w *ward) empty(t *testing.T) {
	t.Helper()
	proctest.WaitFor(t, "QM2's instance empty", func() (bool, error) {
		conn, err := w.qm[1].Dial(t.Context(), "watcher")
		if err != nil {
			return false, err
		}
		defer conn.Disconnect(t.Context())
		depth, err := proctest.Show(t.Context(), conn, "DISPLAY QLOCAL("+w.queue+") CURDEPTH", "CURDEPTH")
		return depth == "0", err
	})
	w.settled(t)
}

// The daemon moves stranded messages, and QM2 is killed in the middle of it,
// again and again: every persistent message is read exactly once.
func TestKill_DaemonsRedistributionMovesEachMessageOnce(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		name   string
		rules  string
		hosted bool
		n      int // messages of a round, so that a kill has time to hit the middle
	}{
		{name: "redistribute", rules: moveRules, n: 3000},
		{name: "exec", rules: execRules, n: 500},
		{name: "hosted", rules: moveRules, hosted: true, n: 3000},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			r := chance(t)
			w := newWard(t, v.rules, v.hosted)
			want := roundsOr(1)
			hits, kills := 0, 0
			var put []string
			for ; hits < want && kills < 4*want && !t.Failed(); kills++ {
				ids := names(kills, v.n, "d")
				put = append(put, ids...)
				w.strand(t, ids)
				if w.killMidway(t, v.n, v.n/8+r.IntN(3*v.n/4)) {
					hits++
				}
				w.empty(t)
			}
			w.daemon.Stop(t)
			if v.hosted {
				w.qm[1].Start(t)
			}
			read := append(w.gather(t, 1, w.queue), w.gather(t, 2, w.queue)...)
			t.Logf("%d kills of QM2 during the daemon's redistribution, %d hit the middle; %d bodies put, %d read", kills, hits, len(put), len(read))
			once(t, put, read)
			if hits < want {
				t.Errorf("only %d of %d kills hit the middle", hits, kills)
			}
		})
	}
}
