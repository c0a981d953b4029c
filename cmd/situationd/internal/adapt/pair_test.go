package adapt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/situations"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/redistribute"
)

// pair is two queue managers on disk with real channels between them, each with
// an instance of DCQ1 in cluster C1.
type pair struct {
	qm2, qm3 *mqengine.QueueManager
	c2, c3   mqengine.Conn // applications of nobody's: what they open does not count as a reader
	link     *Link         // of QM2's daemon
	ledger   *redistribute.Ledger
}

func newPair(t *testing.T, attributes string) *pair {
	t.Helper()
	p := &pair{qm2: onDisk(t, "QM2"), qm3: onDisk(t, "QM3"), ledger: redistribute.NewLedger(0, nil)}
	p.c2, p.c3 = appl(t, p.qm2, token), appl(t, p.qm3, token)
	address := func(q *mqengine.QueueManager) string {
		host, port, _ := strings.Cut(q.Addr(), ":")
		return host + "(" + port + ")"
	}
	mqscRun(t, p.c2, "ALTER QMGR REPOS(C1)")
	mqscRun(t, p.c2, fmt.Sprintf("DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CLUSTER(C1) CONNAME('%s') SHORTTMR(1)", address(p.qm2)))
	mqscRun(t, p.c3, fmt.Sprintf("DEFINE CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) CLUSTER(C1) CONNAME('%s') SHORTTMR(1)", address(p.qm3)))
	mqscRun(t, p.c3, fmt.Sprintf("DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSSDR) CLUSTER(C1) CONNAME('%s') SHORTTMR(1)", address(p.qm2)))
	for _, c := range []mqengine.Conn{p.c2, p.c3} {
		mqscRun(t, c, "DEFINE QLOCAL(DCQ1) CLUSTER(C1) DEFBIND(NOTFIXED) MAXDEPTH(999999) "+attributes)
	}
	p.link = NewLink(LinkOptions{
		Dial: func(ctx context.Context) (mqengine.Conn, error) {
			return p.qm2.Connect(ctx, qmgr.Appl{Tag: "situationd", Owner: token})
		},
		Retry: func() time.Duration { return 10 * time.Millisecond }, Logger: hclog.NewNullLogger(), Up: func() {},
	})
	run(t, p.link)
	return p
}

// onDisk creates and starts a queue manager that listens on loopback.
func onDisk(t *testing.T, name string) *mqengine.QueueManager {
	t.Helper()
	ctx, data := context.Background(), t.TempDir()
	if err := mqengine.Create(ctx, mqengine.CreateOptions{Data: data, Name: name}); err != nil {
		t.Fatal(err)
	}
	folder, err := mqengine.Folder(data, name)
	if err != nil {
		t.Fatal(err)
	}
	q, err := mqengine.Start(ctx, mqengine.Options{Name: name, Folder: folder, Listen: "127.0.0.1:0", Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			if log, err := os.ReadFile(filepath.Join(folder, "errors", "AMQERR01.LOG")); err == nil {
				t.Logf("%s says:\n%s", name, log[max(0, len(log)-4000):])
			}
		}
	})
	return q
}

func mqscRun(t *testing.T, conn mqengine.Conn, text string) {
	t.Helper()
	cmd, bad := mqsc.Parse(text)
	if bad != nil {
		t.Fatalf("%s: %v", text, bad)
	}
	res, err := conn.Command(context.Background(), cmd)
	if err != nil || res.Failed {
		t.Fatalf("%s: %+v, %v", text, res, err)
	}
}

// lower takes QM2's instance out of the balancing and waits until its daemon
// sees the other one.
func (p *pair) lower(t *testing.T) {
	t.Helper()
	mqscRun(t, p.c2, "ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	p.elsewhere(t, "another instance", func(in *qmgr.Instance) bool { return in.Usable })
}

// elsewhere waits until QM2's daemon sees another instance for which ok holds.
func (p *pair) elsewhere(t *testing.T, what string, ok func(*qmgr.Instance) bool) {
	t.Helper()
	eventually(t, what, func() bool {
		res, err := p.c2.Instances(context.Background(), qmgr.InstancesReq{Queues: []string{"DCQ1"}, Subscribe: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range res.Instances {
			if in := &res.Instances[i]; !in.Local && ok(in) {
				return true
			}
		}
		return false
	})
}

// move is one run as the daemon's rule with put: DISABLED orders it.
func (p *pair) move(t *testing.T, change func(*actions.Order)) actions.Moved {
	t.Helper()
	o := actions.Order{
		Queue: "DCQ1", Base: "DCQ1", Type: "QLOCAL",
		Lever: actions.LeverOf([]situations.Action{{Verb: situations.VerbPut, Value: "DISABLED"}}, false),
	}
	if change != nil {
		change(&o)
	}
	m := NewMover(p.link, p.ledger).Move(t.Context(), o, func() error { return nil }, func(actions.Moved) {})
	if got := m.Moved + m.Expired + m.Taken + m.Remaining; got != m.Start+m.Arrived {
		t.Errorf("the report does not add up: %+v", m)
	}
	return m
}

// content browses a queue to its end.
func content(t *testing.T, conn mqengine.Conn, queue string) []*mqengine.Message {
	t.Helper()
	ctx := context.Background()
	h := open(t, conn, queue, mqi.MQOO_BROWSE)
	defer func() { _ = conn.Close(ctx, h, 0) }()
	var out []*mqengine.Message
	for {
		m, err := conn.Get(ctx, h, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_BROWSE_NEXT, MaxLength: -1})
		if err != nil {
			if mqi.ReasonOf(err) != mqi.MQRC_NO_MSG_AVAILABLE {
				t.Fatal(err)
			}
			return out
		}
		out = append(out, m)
	}
}

// depth is CURDEPTH.
func depth(t *testing.T, conn mqengine.Conn, queue string) int {
	t.Helper()
	return status(t, conn, queue).CurDepth
}

func status(t *testing.T, conn mqengine.Conn, queue string) mqengine.QueueStatus {
	t.Helper()
	s, err := conn.Sample(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Queues {
		if s.Queues[i].Name == queue {
			return s.Queues[i]
		}
	}
	t.Fatalf("no queue %s", queue)
	return mqengine.QueueStatus{}
}

// arrived waits until everything that left QM2 is at QM3: what a channel is
// sending is no more in the depth, and not committed yet.
func (p *pair) arrived(t *testing.T) {
	t.Helper()
	eventually(t, "an empty transmission queue", func() bool {
		q := status(t, p.c2, "SYSTEM.CLUSTER.TRANSMIT.QUEUE")
		return q.CurDepth == 0 && q.Uncom == 0
	})
}
