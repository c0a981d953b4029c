package adapt

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/situations"
)

const token = "0123456789abcdef0123456789abcdef"

// hosted starts a queue manager of this process with the given commands.
func hosted(t *testing.T, commands string) *mqengine.QueueManager {
	t.Helper()
	data := t.TempDir()
	file := filepath.Join(data, "q.mqsc")
	if err := os.WriteFile(file, []byte(commands), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := mqengine.Create(ctx, mqengine.CreateOptions{Data: data, Name: "QM1", MQSC: []string{file}}); err != nil {
		t.Fatal(err)
	}
	folder, err := mqengine.Folder(data, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	qm, err := mqengine.Start(ctx, mqengine.Options{Name: "QM1", Folder: folder, Listen: mqengine.NoListener, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := qm.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return qm
}

// connected gives a Link that is connected to the queue manager.
func connected(t *testing.T, qm *mqengine.QueueManager) *Link {
	t.Helper()
	link := NewLink(LinkOptions{
		Dial: func(ctx context.Context) (mqengine.Conn, error) {
			return qm.Connect(ctx, qmgr.Appl{Tag: "situationd", Owner: token})
		},
		Retry: func() time.Duration { return 10 * time.Millisecond }, Logger: hclog.NewNullLogger(), Up: func() {},
	})
	run(t, link)
	return link
}

// run keeps the link until the test ends, and waits for its first connection.
func run(t *testing.T, link *Link) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { link.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	eventually(t, "a connection", func() bool { _, _, err := link.Conn(); return err == nil })
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s after 10s", what)
		}
		<-tick.C
	}
}

func sample(t *testing.T, s *Source) *situations.Observation {
	t.Helper()
	obs, err := s.Sample(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return obs
}

func row(t *testing.T, obs *situations.Observation, queue string) (situations.Row, situations.Attributes) {
	t.Helper()
	for _, r := range obs.Rows {
		if r.Queue == queue {
			return r, r.Env.(situations.Attributes)
		}
	}
	t.Fatalf("no row of %s in %d rows", queue, len(obs.Rows))
	return situations.Row{}, situations.Attributes{}
}

// appl connects an application to the queue manager.
func appl(t *testing.T, qm *mqengine.QueueManager, owner string) mqengine.Conn {
	t.Helper()
	conn, err := qm.Connect(context.Background(), qmgr.Appl{Tag: "reader", Owner: owner})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Disconnect(context.Background()) }) // the queue manager may have ended it
	return conn
}

func open(t *testing.T, conn mqengine.Conn, queue string, options int32) mqengine.Handle {
	t.Helper()
	h, _, err := conn.Open(context.Background(), mqi.OD{ObjectName: queue}, options)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestSource_OwnHandles_AreNotSeenByFormulas(t *testing.T) {
	t.Parallel()
	qm := hosted(t, "DEFINE QLOCAL(A)\n")
	source := NewSource(connected(t, qm), "QM1", token)
	theirs, ours := appl(t, qm, ""), appl(t, qm, token)
	open(t, theirs, "A", mqi.MQOO_INPUT_SHARED)
	open(t, ours, "A", mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT)
	r, env := row(t, sample(t, source), "A")
	if env.IPPROCS != 1 || env.OPPROCS != 0 || len(r.Readers) != 1 || r.Readers[0].ApplTag != "reader" {
		t.Errorf("IPPROCS %d OPPROCS %d readers %v, want 1, 0 and the application", env.IPPROCS, env.OPPROCS, r.Readers)
	}
	for _, q := range source.Latest().Queues {
		if q.Name == "A" && len(q.Readers) != 2 {
			t.Errorf("the queue manager counts %d readers, want 2", len(q.Readers))
		}
	}
}

func TestSource_Unmonitored_AgesAreMissing(t *testing.T) {
	t.Parallel()
	qm := hosted(t, "DEFINE QLOCAL(OFF)\nDEFINE QLOCAL(ON) MONQ(LOW)\n")
	source := NewSource(connected(t, qm), "QM1", token)
	off, _ := row(t, sample(t, source), "OFF")
	if len(off.Missing) != 3 {
		t.Errorf("missing without MONQ: %v", off.Missing)
	}
	conn := appl(t, qm, "")
	_, err := conn.Put1(context.Background(), mqi.OD{ObjectName: "ON"}, &mqengine.Message{MD: mqi.NewMD()}, mqi.PMO{})
	if err != nil {
		t.Fatal(err)
	}
	on, env := row(t, sample(t, source), "ON")
	if len(on.Missing) != 1 || on.Missing[0] != "LGETAGE" || env.CURDEPTH != 1 {
		t.Errorf("missing with MONQ after a put: %v, CURDEPTH %d", on.Missing, env.CURDEPTH)
	}
}

// Rows change from sample to sample, old observations do not.
func TestSource_Changes_LeaveOldObservationsAlone(t *testing.T) {
	t.Parallel()
	qm := hosted(t, "DEFINE QLOCAL(A)\nDEFINE QLOCAL(B)\n")
	link := connected(t, qm)
	source, manager := NewSource(link, "QM1", token), NewManager(link)
	first := sample(t, source)
	if !first.Complete || first.Started.IsZero() || first.Connected.IsZero() || first.QMID != qm.QMID() {
		t.Errorf("first observation: %+v", first)
	}
	ctx := context.Background()
	if err := manager.Set(ctx, "A", "QLOCAL", []actions.Value{{Attr: "PUT", Value: "DISABLED"}, {Attr: "CLWLRANK", Value: "3"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := runCommand(ctx, link, command("DELETE", "B", "QLOCAL")); err != nil {
		t.Fatal(err)
	}
	second := sample(t, source)
	if _, env := row(t, second, "A"); env.PUT != "DISABLED" || env.CLWLRANK != 3 {
		t.Errorf("after ALTER: PUT %s CLWLRANK %d", env.PUT, env.CLWLRANK)
	}
	if _, env := row(t, first, "A"); env.PUT != "ENABLED" {
		t.Error("an observation that was handed on has changed")
	}
	for _, r := range second.Rows {
		if r.Queue == "B" {
			t.Error("a deleted queue still has a row")
		}
	}
	got, err := manager.ReadBack(ctx, "A", "QLOCAL", []string{"CLWLRANK", "PUT"})
	if err != nil || len(got) != 2 || got[0] != (actions.Value{Attr: "CLWLRANK", Value: "3"}) || got[1].Value != "DISABLED" {
		t.Errorf("read back %v, %v", got, err)
	}
	if err := manager.Set(ctx, "NONE", "QLOCAL", []actions.Value{{Attr: "PUT", Value: "DISABLED"}}); err == nil {
		t.Error("a queue that does not exist was altered")
	}
}

func TestLink_QueueManagerEnds_SampleFails(t *testing.T) {
	t.Parallel()
	qm := hosted(t, "DEFINE QLOCAL(A)\n")
	source := NewSource(connected(t, qm), "QM1", token)
	sample(t, source)
	if err := qm.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "failed sample", func() bool { _, err := source.Sample(context.Background()); return err != nil })
	if latest := source.Latest(); latest == nil || !latest.Stale {
		t.Errorf("what was known is %+v, want it kept as stale", latest)
	}
}
