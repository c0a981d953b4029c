package mqengine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// Every test of Conn runs for a program in the queue manager's process and for
// one at its socket: an application must not be able to tell the difference.
func TestConn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		run  func(*testing.T, func() Conn)
	}{
		{"put and get", testPutGet},
		{"syncpoint", testSyncpoint},
		{"errors name the call", testErrors},
		{"truncation", testTruncation},
		{"waiting get", testWaitingGet},
		{"cancelled get", testCancelledGet},
		{"pipelined calls", testPipelined},
		{"commands", testCommands},
		{"properties", testProperties},
		{"groups", testGroups},
		{"selection", testSelection},
		{"reports", testReports},
		{"trigger", testTrigger},
		{"browse lock", testBrowseLock},
		{"readers", testReaders},
		{"sample since", testSampleSince},
		{"watch", testWatch},
		{"move", testMove},
		{"instances", testInstances},
		{"explain", testExplain},
		{"disconnect", testDisconnect},
	}
	for _, tt := range tests {
		t.Run("in process/"+tt.name, func(t *testing.T) {
			t.Parallel()
			q := startMemory(t, foundMemory(t))
			tt.run(t, func() Conn { return connectTo(t, q) })
		})
		t.Run("socket/"+tt.name, func(t *testing.T) {
			t.Parallel()
			_, folder := startFolder(t, dataFolder(t))
			tt.run(t, func() Conn { return dialTo(t, folder) })
		})
	}
}

const outputAndInput = mqi.MQOO_OUTPUT | mqi.MQOO_INPUT_SHARED

func testPutGet(t *testing.T, connect func() Conn) {
	c := connect()
	if name, qmid := c.QMgr(); name != "QM1" || !strings.HasPrefix(qmid, "QM1_2") {
		t.Errorf("queue manager %q, QMID %q", name, qmid)
	}
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput|mqi.MQOO_BROWSE)
	body := []byte("first")
	res, err := c.Put(testContext(t), h, &Message{MD: mqi.NewMD(), Body: body}, mqi.PMO{})
	if err != nil {
		t.Fatal(err)
	}
	copy(body, "other") // the caller's buffer is the caller's again
	if res.MsgId.IsZero() || res.PutDateTime == 0 || res.ResolvedQName != "Q" || res.ResolvedQMgrName != "QM1" {
		t.Errorf("put result %+v", res)
	}
	put(t, c, h, "", 0)
	m, err := c.Get(testContext(t), h, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_BROWSE_FIRST, MaxLength: -1})
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Body) != "first" || m.Length != 5 || m.MD.MsgId != res.MsgId {
		t.Errorf("browsed %+v", m)
	}
	copy(m.Body, "YYYYY") // nor does a browser's buffer touch the message
	wantGet(t, c, h, "first", 0)
	wantGet(t, c, h, "", 0)
	wantEmpty(t, c, h)
	if _, err := c.Put1(testContext(t), mqi.OD{ObjectName: "Q"}, message("by put1"), mqi.PMO{}); err != nil {
		t.Fatal(err)
	}
	wantGet(t, c, h, "by put1", 0)
	if err := c.Close(testContext(t), h, 0); err != nil {
		t.Error(err)
	}
	if _, reason := get(t, c, h, 0); reason != mqi.MQRC_HOBJ_ERROR {
		t.Errorf("get on a closed handle gives %v", reason)
	}
}

func testSyncpoint(t *testing.T, connect func() Conn) {
	a, b := connect(), connect()
	run(t, a, "DEFINE QLOCAL(Q)")
	ha, hb := open(t, a, "Q", outputAndInput), open(t, b, "Q", outputAndInput)
	put(t, a, ha, "one", mqi.MQPMO_SYNCPOINT)
	wantEmpty(t, b, hb)
	if err := a.Commit(testContext(t)); err != nil {
		t.Fatal(err)
	}
	wantGet(t, b, hb, "one", mqi.MQGMO_SYNCPOINT)
	wantEmpty(t, a, ha)
	if err := b.Back(testContext(t)); err != nil {
		t.Fatal(err)
	}
	wantGet(t, a, ha, "one", 0)
}

func testErrors(t *testing.T, connect func() Conn) {
	c := connect()
	_, _, err := c.Open(testContext(t), mqi.OD{ObjectName: "NO.SUCH"}, mqi.MQOO_OUTPUT)
	var e *mqi.Error
	if !errors.As(err, &e) || e.Reason != mqi.MQRC_UNKNOWN_OBJECT_NAME || e.Op != "MQOPEN" || e.Object != "NO.SUCH" || e.CompCode != mqi.MQCC_FAILED {
		t.Errorf("open gives %#v", err)
	}
	run(t, c, "DEFINE QLOCAL(Q) PUT(DISABLED)")
	h := open(t, c, "Q", mqi.MQOO_OUTPUT)
	_, err = c.Put(testContext(t), h, message("x"), mqi.PMO{})
	if !errors.Is(err, mqi.MQRC_PUT_INHIBITED) || !strings.Contains(err.Error(), "MQPUT Q: MQRC_PUT_INHIBITED (2051)") {
		t.Errorf("put gives %v", err)
	}
	if _, err := c.Put(testContext(t), 0, message("x"), mqi.PMO{}); !errors.Is(err, mqi.MQRC_HOBJ_ERROR) {
		t.Errorf("put to handle 0 gives %v", err)
	}
	if _, err := c.Put(testContext(t), 99, message("x"), mqi.PMO{}); !errors.Is(err, mqi.MQRC_HOBJ_ERROR) {
		t.Errorf("put to handle 99 gives %v", err)
	}
}

func testTruncation(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	put(t, c, h, "0123456789", 0)
	m, err := c.Get(testContext(t), h, mqi.NewMD(), mqi.GMO{MaxLength: 4})
	if !errors.Is(err, mqi.MQRC_TRUNCATED_MSG_FAILED) {
		t.Fatalf("got %+v, %v", m, err)
	}
	m, err = c.Get(testContext(t), h, mqi.NewMD(), mqi.GMO{MaxLength: 4, Options: mqi.MQGMO_ACCEPT_TRUNCATED_MSG})
	if !errors.Is(err, mqi.MQRC_TRUNCATED_MSG_ACCEPTED) || m == nil || string(m.Body) != "0123" || m.Length != 10 {
		t.Fatalf("got %+v, %v", m, err)
	}
	wantEmpty(t, c, h)
}

func testWaitingGet(t *testing.T, connect func() Conn) {
	a, b := connect(), connect()
	run(t, a, "DEFINE QLOCAL(Q)")
	ha, hb := open(t, a, "Q", mqi.MQOO_INPUT_SHARED), open(t, b, "Q", mqi.MQOO_OUTPUT)
	got := make(chan string, 1)
	go func() {
		m, err := a.Get(testContext(t), ha, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: mqi.MQWI_UNLIMITED, MaxLength: -1})
		if err != nil {
			got <- err.Error()
			return
		}
		got <- string(m.Body)
	}()
	put(t, b, hb, "at last", 0)
	if s := <-got; s != "at last" {
		t.Errorf("the waiting get gives %q", s)
	}
	_, err := a.Get(testContext(t), ha, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: 20, MaxLength: -1})
	if !errors.Is(err, mqi.MQRC_NO_MSG_AVAILABLE) {
		t.Errorf("a wait that ends gives %v", err)
	}
}

func testCancelledGet(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	ctx, cancel := context.WithCancel(testContext(t))
	ended := make(chan error, 1)
	go func() {
		_, err := c.Get(ctx, h, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: mqi.MQWI_UNLIMITED, MaxLength: -1})
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled get gives %v", err)
	}
	put(t, c, h, "still here", 0)
	wantGet(t, c, h, "still here", 0)
}

func testPipelined(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q) MAXDEPTH(100000)")
	h := open(t, c, "Q", outputAndInput)
	var wg sync.WaitGroup
	const callers, each = 300, 5 // more callers than calls may be outstanding
	for range callers {
		wg.Go(func() {
			for range each {
				if _, err := c.Put(testContext(t), h, message("x"), mqi.PMO{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if st, _ := statusOf(t, c, "Q"); st.CurDepth != callers*each {
		t.Errorf("depth %d, want %d", st.CurDepth, callers*each)
	}
}

func testCommands(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL('lower.case') DESCR('it''s quoted') MAXDEPTH(7)")
	res := run(t, c, "DISPLAY QLOCAL('lower.case') DESCR MAXDEPTH")
	text := ""
	for _, f := range res.Responses[0].Fields {
		text += f.Key + "=" + strings.Join(f.Values, ",") + ";"
	}
	if !strings.Contains(text, "DESCR=it's quoted;") || !strings.Contains(text, "MAXDEPTH=7;") {
		t.Errorf("DISPLAY gives %s", text)
	}
}

func testProperties(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	msg := message("with properties")
	msg.Props = []mqi.Property{{Name: "colour", Type: 's', Value: []byte("red")}, {Name: "n", Type: 'i', Value: make([]byte, 8)}}
	msg.MD.ReplyToQ, msg.MD.Format, msg.MD.CorrelId = "REPLY", "MQSTR", mqi.MsgId{7}
	if _, err := c.Put(testContext(t), h, msg, mqi.PMO{}); err != nil {
		t.Fatal(err)
	}
	m, err := c.Get(testContext(t), h, mqi.NewMD(), mqi.GMO{MaxLength: -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Props) != 2 || m.Props[0].Name != "colour" || string(m.Props[0].Value) != "red" ||
		m.MD.ReplyToQ != "REPLY" || m.MD.Format != "MQSTR" || m.MD.CorrelId != (mqi.MsgId{7}) {
		t.Errorf("got %+v", m)
	}
}

func testReaders(t *testing.T, connect func() Conn) {
	a, b := connect(), connect()
	run(t, a, "DEFINE QLOCAL(Q)")
	h := open(t, b, "Q", mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT)
	st, ok := statusOf(t, a, "Q")
	if !ok || len(st.Readers) != 1 || st.Readers[0] != (qmgr.Reader{Tag: "test", Owner: "owner"}) || st.OpProcs != 1 {
		t.Errorf("status %+v, %v", st, ok)
	}
	if err := b.Close(testContext(t), h, 0); err != nil {
		t.Fatal(err)
	}
	if st, _ := statusOf(t, a, "Q"); len(st.Readers) != 0 {
		t.Errorf("readers after the close: %v", st.Readers)
	}
}

func testSampleSince(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(ONE)")
	run(t, c, "DEFINE QLOCAL(TWO) MAXDEPTH(10)")
	first, err := c.Sample(testContext(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Full || first.Started == 0 || len(first.Queues) < 3 {
		t.Fatalf("the first sample is full: %v, of %d queues", first.Full, len(first.Queues))
	}
	put(t, c, open(t, c, "TWO", mqi.MQOO_OUTPUT), "x", 0)
	run(t, c, "DELETE QLOCAL(ONE)")
	second, err := c.Sample(testContext(t), first.Revision)
	if err != nil {
		t.Fatal(err)
	}
	if second.Full || len(second.Queues) != 1 || len(second.Deleted) != 1 || second.Deleted[0] != "ONE" {
		t.Fatalf("the second sample is %+v", second)
	}
	// Attributes are there although they did not change.
	if two := second.Queues[0]; two.Name != "TWO" || two.CurDepth != 1 || two.Attributes == nil || two.Attributes.MaxDepth != 10 {
		t.Errorf("TWO is %+v", two)
	}
	third, err := c.Sample(testContext(t), second.Revision)
	if err != nil || len(third.Queues) != 0 || third.Started != first.Started {
		t.Errorf("the third sample is %+v, %v", third, err)
	}
	// Another connection goes on where this one stopped, and still gets attributes.
	other, err := connect().Sample(testContext(t), first.Revision)
	if err != nil || len(other.Queues) != 1 || other.Queues[0].Attributes == nil {
		t.Errorf("another connection's sample is %+v, %v", other, err)
	}
}

func testWatch(t *testing.T, connect func() Conn) {
	c, w := connect(), connect()
	run(t, c, "DEFINE QLOCAL(Q) MAXDEPTH(10) QDEPTHHI(20) QDEPTHLO(10)")
	ctx, cancel := context.WithCancel(testContext(t))
	changes, err := w.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	queue := "Q"
	expect := func(what string, kind ChangeKind) {
		t.Helper()
		timeout := time.NewTimer(within)
		defer timeout.Stop()
		for {
			select {
			case ch, ok := <-changes:
				if !ok {
					t.Fatalf("%s: the watch ended", what)
				}
				if ch.Queue == queue && ch.Kind&kind != 0 {
					return
				}
			case <-timeout.C:
				t.Fatalf("%s: no event", what)
			}
		}
	}
	h := open(t, c, "Q", outputAndInput)
	expect("an open for input", ReadersChanged)
	run(t, c, "ALTER QLOCAL(Q) PUT(ENABLED) CLWLRANK(3)")
	expect("an alter", AttributesChanged)
	put(t, c, h, "1", 0)
	put(t, c, h, "2", 0)
	expect("depth up", DepthHigh)
	wantGet(t, c, h, "1", 0)
	expect("depth down", DepthLow)
	if err := c.Close(testContext(t), h, 0); err != nil {
		t.Fatal(err)
	}
	expect("a close", ReadersChanged)
	queue = "FULL"
	run(t, c, "DEFINE QLOCAL(FULL) MAXDEPTH(2) QDEPTHHI(50)")
	expect("a definition", AttributesChanged)
	h = open(t, c, "FULL", mqi.MQOO_OUTPUT)
	put(t, c, h, "1", 0)
	expect("half full", DepthHigh)
	put(t, c, h, "2", 0)
	expect("full", DepthHigh)
	cancel()
	for range changes { //nolint:revive // the watch ends by closing its channel
	}
}

func testMove(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q)")
	put(t, c, open(t, c, "Q", mqi.MQOO_OUTPUT), "stays", 0)
	// Nobody else has the queue, so nothing moves, and the result says why.
	res, err := c.Move(testContext(t), qmgr.MoveReq{From: "Q", To: "Q", Max: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Moved) != 0 || res.Depth != 1 {
		t.Errorf("moved %+v", res)
	}
}

func testInstances(t *testing.T, connect func() Conn) {
	c := connect()
	res, err := c.Instances(testContext(t), qmgr.InstancesReq{Queues: []string{"A", "B"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Known) != 2 {
		t.Errorf("instances %+v", res)
	}
}

func testDisconnect(t *testing.T, connect func() Conn) {
	a, b := connect(), connect()
	run(t, a, "DEFINE QLOCAL(Q)")
	ha, hb := open(t, a, "Q", outputAndInput), open(t, b, "Q", mqi.MQOO_OUTPUT)
	put(t, b, hb, "committed by MQDISC", mqi.MQPMO_SYNCPOINT)
	if err := b.Disconnect(testContext(t)); err != nil {
		t.Fatal(err)
	}
	wantGet(t, a, ha, "committed by MQDISC", 0)
	if _, err := b.Put(testContext(t), hb, message("x"), mqi.PMO{}); !errors.Is(err, mqi.MQRC_HCONN_ERROR) {
		t.Errorf("put after MQDISC gives %v", err)
	}
	if err := b.Disconnect(testContext(t)); err != nil {
		t.Errorf("a second MQDISC gives %v", err)
	}
}

func testExplain(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q)")
	e, err := c.Explain(testContext(t), qmgr.ExplainReq{Queue: "Q"})
	if err != nil || e.Chosen == nil || *e.Chosen != "QM1" || e.From != "QM1" || e.Steps == nil || e.Share["QM1"] != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	_, err = c.Explain(testContext(t), qmgr.ExplainReq{Queue: "NONE"})
	var failed *mqi.Error
	if !errors.As(err, &failed) || failed.Reason != mqi.MQRC_UNKNOWN_OBJECT_NAME || !strings.Contains(failed.Detail, "QM1 has no queue NONE") {
		t.Errorf("unknown queue: %v", err)
	}
	run(t, c, "ALTER QLOCAL(Q) PUT(DISABLED)")
	if e, err = c.Explain(testContext(t), qmgr.ExplainReq{Queue: "Q"}); err != nil || e.Chosen != nil || e.Reason != mqi.MQRC_PUT_INHIBITED.Error() {
		t.Errorf("disabled: %+v, %v", e, err)
	}
}
