package mqengine

import (
	"context"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// within is how long a test waits for something that happens in milliseconds.
const within = 10 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// dataFolder is a data folder with a short name, as the path of a socket is bounded.
func dataFolder(t testing.TB) string { return t.TempDir() }

// startMemory starts a queue manager on a store in memory.
func startMemory(t testing.TB, s *store.Memory) *QueueManager {
	t.Helper()
	q, err := Start(testContext(t), Options{Name: "QM1", Store: s, Network: nowhere{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(context.Background()) }) // tests that care look at it themselves
	return q
}

// foundMemory is a store in memory with a new queue manager in it.
func foundMemory(t testing.TB) *store.Memory {
	t.Helper()
	s := store.NewMemory()
	if err := found(s, "QM1"); err != nil {
		t.Fatal(err)
	}
	return s.Reopen()
}

// startFolder creates and starts a queue manager in a folder.
func startFolder(t testing.TB, data string) (q *QueueManager, folder string) {
	t.Helper()
	if err := Create(testContext(t), CreateOptions{Data: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	folder, err := Folder(data, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	return restartFolder(t, folder), folder
}

func restartFolder(t testing.TB, folder string) *QueueManager {
	t.Helper()
	q, err := Start(testContext(t), Options{Name: "QM1", Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(context.Background()) })
	return q
}

func connectTo(t testing.TB, q *QueueManager) Conn {
	t.Helper()
	c, err := q.Connect(testContext(t), qmgr.Appl{Tag: "test", Owner: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

func dialTo(t testing.TB, folder string) Conn {
	t.Helper()
	c, err := Dial(testContext(t), folder, "QM1", qmgr.Appl{Tag: "test", Owner: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

// run carries out a command that must succeed.
func run(t testing.TB, c Conn, text string) mqsc.Result {
	t.Helper()
	cmd, bad := mqsc.Parse(text)
	if bad != nil {
		t.Fatal(bad)
	}
	res, err := c.Command(testContext(t), cmd)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if res.Failed {
		t.Fatalf("%s: %s", text, responsesText(res.Responses))
	}
	return res
}

func open(t testing.TB, c Conn, queue string, options int32) Handle {
	t.Helper()
	h, _, err := c.Open(testContext(t), mqi.OD{ObjectName: queue}, options)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func message(body string) *Message {
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	return &Message{MD: md, Body: []byte(body)}
}

func put(t testing.TB, c Conn, h Handle, body string, options int32) qmgr.PutResult {
	t.Helper()
	res, err := c.Put(testContext(t), h, message(body), mqi.PMO{Options: options})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// get gives the next message's body, or the reason why there is none.
func get(t testing.TB, c Conn, h Handle, options int32) (string, mqi.Reason) {
	t.Helper()
	m, err := c.Get(testContext(t), h, mqi.NewMD(), mqi.GMO{Options: options, MaxLength: -1})
	if err != nil {
		return "", mqi.ReasonOf(err)
	}
	return string(m.Body), mqi.MQRC_NONE
}

func wantGet(t testing.TB, c Conn, h Handle, want string, options int32) {
	t.Helper()
	if got, reason := get(t, c, h, options); got != want || reason != mqi.MQRC_NONE {
		t.Fatalf("got %q, %v; want %q", got, reason, want)
	}
}

func wantEmpty(t testing.TB, c Conn, h Handle) {
	t.Helper()
	if got, reason := get(t, c, h, 0); reason != mqi.MQRC_NO_MSG_AVAILABLE {
		t.Fatalf("got %q, %v; want an empty queue", got, reason)
	}
}

// statusOf samples one queue; false if it is not there.
func statusOf(t testing.TB, c Conn, queue string) (QueueStatus, bool) {
	t.Helper()
	s, err := c.Sample(testContext(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range s.Queues {
		if q.Name == queue {
			return q, true
		}
	}
	return QueueStatus{}, false
}

// eventually polls a condition until it holds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("after %v it is still not so: %s", within, what)
		}
		<-poll.C
	}
}
