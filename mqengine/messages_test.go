package mqengine

import (
	"bytes"
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

// putMessage puts one message as it is.
func putMessage(t testing.TB, c Conn, h Handle, msg *Message, options int32) mqi.MsgId {
	t.Helper()
	res, err := c.Put(testContext(t), h, msg, mqi.PMO{Options: options})
	if err != nil {
		t.Fatal(err)
	}
	return res.MsgId
}

// testGroups: segments are cut by the queue manager and put together again, with bodies of both kinds.
func testGroups(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q) MAXMSGL(1000)")
	h := open(t, c, "Q", outputAndInput)
	long := strings.Repeat("segmented ", 250)
	for _, persistence := range []int32{mqi.MQPER_NOT_PERSISTENT, mqi.MQPER_PERSISTENT} {
		msg := message(long)
		msg.MD.Persistence, msg.MD.MsgFlags = persistence, mqi.MQMF_SEGMENTATION_ALLOWED
		putMessage(t, c, h, msg, 0)
		if st, _ := statusOf(t, c, "Q"); st.CurDepth != 3 {
			t.Errorf("%d segments, want 3", st.CurDepth)
		}
		wantGet(t, c, h, long, mqi.MQGMO_COMPLETE_MSG)
	}
	group := message("first")
	group.MD.MsgFlags = mqi.MQMF_MSG_IN_GROUP
	res, err := c.Put(testContext(t), h, group, mqi.PMO{Options: mqi.MQPMO_LOGICAL_ORDER})
	if err != nil || res.GroupId.IsZero() || res.MsgSeqNumber != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err = c.Put(testContext(t), h, message("outside"), mqi.PMO{})
	if mqi.ReasonOf(err) != mqi.MQRC_INCOMPLETE_GROUP || res.MsgId.IsZero() {
		t.Errorf("a put that leaves a group: %+v, %v", res, err)
	}
	if _, reason := get(t, c, h, mqi.MQGMO_ALL_MSGS_AVAILABLE|mqi.MQGMO_LOGICAL_ORDER); reason != mqi.MQRC_NONE {
		t.Errorf("the message outside: %v", reason)
	}
	if _, reason := get(t, c, h, mqi.MQGMO_ALL_MSGS_AVAILABLE); reason != mqi.MQRC_NO_MSG_AVAILABLE {
		t.Errorf("half a group: %v", reason)
	}
}

// testSelection: a selection string travels with the open.
func testSelection(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q)")
	od := mqi.OD{ObjectName: "Q", SelectionString: "colour = 'red' AND Root.MQMD.Format = 'MQSTR'"}
	red, _, err := c.Open(testContext(t), od, mqi.MQOO_INPUT_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, c, "Q", mqi.MQOO_OUTPUT)
	put(t, c, h, "plain", 0)
	msg := message("selected")
	msg.MD.Format = "MQSTR"
	msg.Props = []mqi.Property{{Name: "colour", Type: 's', Value: []byte("red")}}
	putMessage(t, c, h, msg, 0)
	wantGet(t, c, red, "selected", 0)
	wantEmpty(t, c, red)
	od.SelectionString = "colour = "
	if _, _, err = c.Open(testContext(t), od, mqi.MQOO_INPUT_SHARED); mqi.ReasonOf(err) != mqi.MQRC_SELECTOR_SYNTAX_ERROR {
		t.Errorf("a wrong selection string: %v", err)
	}
}

// testReports: what the queue manager composes arrives byte for byte, also after
// the message it is about is gone.
func testReports(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(Q)")
	run(t, c, "DEFINE QLOCAL(REPLY)")
	h, reply := open(t, c, "Q", outputAndInput), open(t, c, "REPLY", mqi.MQOO_INPUT_SHARED)
	long := strings.Repeat("0123456789", 30)
	msg := message(long)
	msg.MD.Report, msg.MD.ReplyToQ = mqi.MQRO_COA_WITH_FULL_DATA|mqi.MQRO_COD_WITH_DATA, "REPLY"
	id := putMessage(t, c, h, msg, 0)
	wantGet(t, c, h, long, 0)
	for _, want := range []struct {
		feedback int32
		body     string
	}{{mqi.MQFB_COA, long}, {mqi.MQFB_COD, long[:100]}} {
		rep, err := c.Get(testContext(t), reply, mqi.NewMD(), mqi.GMO{MaxLength: -1})
		if err != nil {
			t.Fatal(err)
		}
		if rep.MD.Feedback != want.feedback || string(rep.Body) != want.body || rep.MD.CorrelId != id || rep.MD.MsgType != mqi.MQMT_REPORT {
			t.Errorf("report %+v, want feedback %d with %d bytes", rep.MD, want.feedback, len(want.body))
		}
	}
}

// testTrigger: a trigger message is 684 bytes that no application put.
func testTrigger(t *testing.T, connect func() Conn) {
	c := connect()
	run(t, c, "DEFINE QLOCAL(INIT)")
	run(t, c, "DEFINE QLOCAL(Q) TRIGGER TRIGTYPE(FIRST) INITQ(INIT) TRIGDATA('x')")
	monitor := open(t, c, "INIT", mqi.MQOO_INPUT_SHARED)
	put(t, c, open(t, c, "Q", mqi.MQOO_OUTPUT), "work", 0)
	m, err := c.Get(testContext(t), monitor, mqi.NewMD(), mqi.GMO{MaxLength: -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Body) != 684 || !bytes.HasPrefix(m.Body, []byte("TM  \x01\x00\x00\x00Q ")) || m.MD.Format != mqi.MQFMT_TRIGGER {
		t.Errorf("trigger message of %d bytes, format %q: %q", len(m.Body), m.MD.Format, m.Body[:min(len(m.Body), 20)])
	}
}

// testBrowseLock: UNLOCK gives no message and no error.
func testBrowseLock(t *testing.T, connect func() Conn) {
	c, d := connect(), connect()
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", mqi.MQOO_BROWSE|mqi.MQOO_OUTPUT)
	put(t, c, h, "one", 0)
	wantGet(t, c, h, "one", mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK)
	g := open(t, d, "Q", mqi.MQOO_INPUT_SHARED)
	wantEmpty(t, d, g)
	wantGet(t, c, h, "", mqi.MQGMO_UNLOCK)
	wantGet(t, d, g, "one", 0)
}
