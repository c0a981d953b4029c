package mqengine

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/workload"
)

func drawID(t *rapid.T, label string) (id mqi.MsgId) {
	copy(id[:], rapid.SliceOfN(rapid.Byte(), 0, len(id)).Draw(t, label))
	return id
}

func drawMD(t *rapid.T) mqi.MD {
	md := mqi.NewMD()
	for _, v := range mdInts(&md) {
		if rapid.Bool().Draw(t, "set") {
			*v = rapid.Int32().Draw(t, "int")
		}
	}
	for _, s := range mdStrings(&md) {
		*s = rapid.StringN(0, 12, 48).Draw(t, "text")
	}
	for _, id := range mdIds(&md) {
		*id = drawID(t, "id")
	}
	copy(md.AccountingToken[:], rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "token"))
	md.PutDateTime = rapid.Int64().Draw(t, "time")
	return md
}

func drawProps(t *rapid.T) []mqi.Property {
	var props []mqi.Property
	for range rapid.IntRange(0, 3).Draw(t, "properties") {
		props = append(props, mqi.Property{
			Name: rapid.String().Draw(t, "name"), Type: rapid.Byte().Draw(t, "type"),
			Value: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "value"),
		})
	}
	return props
}

// Every field of a descriptor survives the wire, and a default one costs one byte.
func TestMD_RoundTrip(t *testing.T) {
	t.Parallel()
	if b := appendMD(nil, &defaultMD); len(b) != 1 {
		t.Errorf("a default descriptor takes %d bytes", len(b))
	}
	rapid.Check(t, func(t *rapid.T) {
		want := drawMD(t)
		r := wire.NewReader(appendMD(nil, &want))
		var got mqi.MD
		if err := readMD(r, &got); err != nil {
			t.Fatal(err)
		}
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func drawRequest(t *rapid.T) (req qmgr.Request, body []byte) {
	name := rapid.StringN(0, 8, 48).Draw(t, "name")
	n := rapid.Int32().Draw(t, "n")
	h := rapid.Uint32().Draw(t, "handle")
	switch rapid.IntRange(0, 9).Draw(t, "request") {
	case 0:
		put := &qmgr.PutReq{Handle: h, PMO: mqi.PMO{Options: n, Context: h}, MD: drawMD(t), Props: drawProps(t)}
		if rapid.Bool().Draw(t, "put1") {
			put.Handle, put.OD = 0, mqi.OD{ObjectType: n, ObjectName: name, ObjectQMgrName: name, DynamicQName: name}
		}
		return put, rapid.SliceOfN(rapid.Byte(), 1, 99).Draw(t, "body")
	case 1:
		return &qmgr.GetReq{Handle: h, MD: drawMD(t), GMO: mqi.GMO{
			Options: n, WaitInterval: n, MatchOptions: n, MaxLength: n, Selection: name,
		}}, nil
	case 2:
		return qmgr.OpenReq{OD: mqi.OD{ObjectName: name}, Options: n, Selection: name}, nil
	case 3:
		return qmgr.CloseReq{Handle: h, Options: n}, nil
	case 4:
		return qmgr.CommitReq{}, nil
	case 5:
		return qmgr.BackReq{}, nil
	case 6:
		return qmgr.InstancesReq{Queues: []string{name, name}, Since: uint64(h), Subscribe: true}, nil
	case 8:
		return qmgr.CancelReq{Tag: rapid.Uint64().Draw(t, "tag of the call")}, nil
	case 7:
		return qmgr.ExplainReq{Queue: name, QMgr: name, Bind: n, Arriving: rapid.Bool().Draw(t, "arriving"), Moving: rapid.Bool().Draw(t, "moving")}, nil
	default:
		return qmgr.MoveReq{
			From: name, To: name, Max: int(n), After: qmgr.MoveCursor{Priority: n, Seq: uint64(h), Valid: true},
			Until: 1 << 60, Group: int(n), EvenIfBound: true, DryRun: rapid.Bool().Draw(t, "dry"),
			Skip: []qmgr.MoveKey{{MsgId: drawID(t, "id"), CorrelId: drawID(t, "id"), PutDateTime: 12345}},
		}, nil
	}
}

func TestRequest_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		req, body := drawRequest(t)
		tag := rapid.Uint64().Draw(t, "tag")
		if cancel, ok := req.(qmgr.CancelReq); ok {
			tag = cancel.Tag
		}
		b, err := appendRequest(nil, tag, req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRequest(append(b, body...))
		if err != nil {
			t.Fatal(err)
		}
		if got.tag != tag {
			t.Errorf("tag %d, want %d", got.tag, tag)
		}
		var sent any = req
		if get, ok := req.(*qmgr.GetReq); ok {
			sent = *get
		}
		var received any = got.req
		if got.put != nil {
			received = got.put
		}
		if diff := cmp.Diff(sent, received); diff != "" {
			t.Fatal(diff)
		}
		if !bytes.Equal(got.body, body) {
			t.Errorf("body %x, want %x", got.body, body)
		}
	})
}

// replyCases has every kind of result with every field set.
func replyCases() []reply {
	md := mqi.NewMD()
	md.MsgId, md.Persistence = mqi.MsgId{1, 2, 3}, mqi.MQPER_PERSISTENT
	readers := []qmgr.Reader{{Tag: "q", Owner: "token"}, {Tag: "app"}}
	return []reply{
		{tag: 1, compCode: mqi.MQCC_FAILED, reason: mqi.MQRC_Q_FULL, detail: "full"},
		{tag: 2, result: qmgr.OpenResult{Handle: 7, ResolvedQName: "Q", ResolvedQMgrName: "QM"}},
		{tag: 3, result: qmgr.PutResult{
			MsgId: mqi.MsgId{9}, CorrelId: mqi.MsgId{8}, PutDateTime: 99, Priority: 4, Persistence: 1,
			ResolvedQName: "Q", ResolvedQMgrName: "QM", GroupId: mqi.MsgId{7}, MsgSeqNumber: 2, Offset: 100, MsgFlags: 10,
		}},
		{tag: 4, compCode: mqi.MQCC_WARNING, reason: mqi.MQRC_TRUNCATED_MSG_ACCEPTED, body: []byte("body"), result: &qmgr.GetResult{
			MD: md, Props: []mqi.Property{{Name: "p", Type: 's', Value: []byte("v")}}, Length: 400, ResolvedQName: "Q",
		}},
		{tag: 5, result: mqsc.Result{Failed: true, Responses: []mqsc.Response{
			{ID: "AMQ8409I", Text: "Display Queue details.", Fields: []mqsc.Field{
				{Key: "QUEUE", Values: []string{"Q"}}, {Key: "SHARE", Bare: true}, {Key: "NAMES", Values: []string{"A", "B"}},
			}},
			{ID: "AMQ8147E", Text: "not found"},
		}}},
		{tag: 6, result: &qmgr.MoveResult{
			Moved:     []qmgr.Moved{{Key: qmgr.MoveKey{MsgId: mqi.MsgId{1}, PutDateTime: 5}, QMgr: "QM3"}},
			Addressed: 1, Bound: 2, Grouped: 3, Poison: 4, Returned: 5, Stopped: "landed here", Reason: mqi.MQRC_CLUSTER_PUT_INHIBITED,
			Next: qmgr.MoveCursor{Priority: 3, Seq: 8, Valid: true}, Horizon: 77, Depth: 6, Uncom: 7, Arrived: 10, Expired: 11, Held: 12, Dead: 13, Readers: 8, More: true,
		}},
		{tag: 7, result: &qmgr.InstancesResult{
			Revision: 4, Unchanged: true, Repository: true, Known: []bool{true, false},
			Instances: []qmgr.Instance{{
				Queue: "Q", Cluster: "C", QMgr: "QM", QMID: "QM_1", Local: true, Type: "QLOCAL", Put: true, Rank: 1, Prty: 2,
				ChlRank: 3, ChlPrty: 4, DefBind: "NOTFIXED", Suspended: true, Channel: "TO.QM", Status: mqi.MQCHS_RUNNING, Usable: true,
			}},
		}},
		{tag: 9, result: &qmgr.Explanation{
			Queue: "Q", From: "QM1", Bind: "notfixed", Workload: "modern", QMgr: "QM", Path: []string{"QALIAS(A)"}, Reason: "2268", Notes: []string{"n"},
			Steps: []workload.Step{{Step: workload.StepPut, Number: 5, Rule: "r", Candidates: []workload.Verdict{
				{QMgr: "QM2", Channel: "TO.QM2", Value: "ENABLED", Kept: true, Why: "w"},
			}}},
			Chosen: new("QM2"), Share: map[string]float64{"QM2": 0.5, "QM3": 0.5},
		}},
		{tag: 8, result: &sampleRows{
			Sample: Sample{Revision: 9, Full: true, Started: 1234, Deleted: []string{"GONE"}, Queues: []QueueStatus{
				{Name: "Q", Type: "QLOCAL", Attributes: testAttributes(), QueueCounts: qmgr.QueueCounts{
					CurDepth: 1, Uncom: 2, OpProcs: 3, OwnOut: readers, Readers: readers, LGet: 4, LPut: 5, Oldest: 6, MonQ: true,
				}},
				{Name: "A", Type: "QALIAS", Base: "Q"},
			}},
			known: []bool{false, true},
		}},
	}
}

func testAttributes() *qmgr.QueueAttributes {
	return &qmgr.QueueAttributes{
		Put: true, Get: true, Trigger: true, Share: true, ClwlRank: 1, ClwlPrty: 2, MaxDepth: 3, MaxMsgL: 4, BoThresh: 5,
		QDepthHi: 6, QDepthLo: 7, DefPrty: 8, ClwlUseQ: "a", DefBind: "b", DefPsist: "c", Usage: "d", DefType: "e",
		Cluster: "f", ClusNL: "g", Descr: "h", MonQ: "i", Clusters: []string{"j", "k"},
	}
}

func TestReply_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range replyCases() {
		b, err := appendReply(nil, &want)
		if err != nil {
			t.Fatal(err)
		}
		got, list, err := decodeAnswer(append(b, want.body...), make(interner))
		if err != nil {
			t.Errorf("%T: %v", want.result, err)
			continue
		}
		if list != nil {
			t.Errorf("%T: a reply came as events", want.result)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{}, sampleRows{})); diff != "" {
			t.Errorf("%T: %s", want.result, diff)
		}
	}
}

func TestChanges_RoundTrip(t *testing.T) {
	t.Parallel()
	want := []Change{{Queue: "Q", Kind: ReadersChanged | DepthHigh}, {Kind: ClusterChanged}}
	_, got, err := decodeAnswer(appendChanges(nil, 5, want), make(interner))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHello_RoundTrip(t *testing.T) {
	t.Parallel()
	h := hello{Version: 1, QMgr: "QM1", Tag: "app", Owner: "token"}
	got, err := decodeHello(append(h.encode(), "a later version's addition"...))
	if err != nil || got != h {
		t.Errorf("hello %+v, %v", got, err)
	}
	w := welcome{Version: 1, QMgr: "QM1", QMID: "QM1_2026"}
	if got, err := decodeWelcome(w.encode()); err != nil || got != w {
		t.Errorf("welcome %+v, %v", got, err)
	}
	f := refusal{Reason: mqi.MQRC_Q_MGR_NAME_ERROR, Text: "no"}
	if _, err := decodeWelcome(f.encode()); mqi.ReasonOf(err) != f.Reason {
		t.Errorf("refusal gives %v", err)
	}
}

func TestDecode_Malformed_Refused(t *testing.T) {
	t.Parallel()
	for name, frame := range map[string][]byte{
		"empty":                 {},
		"unknown kind":          {200, 1},
		"no tag":                {byte(kindGet)},
		"short put":             {byte(kindPut), 1, 1},
		"rest after commit":     {byte(kindCommit), 1, 0},
		"unknown field":         append([]byte{byte(kindGet), 1, 1, 0, 0, 0, 0, 0}, wire.AppendUint(nil, mdEnd)...),
		"more skips than bytes": {byte(kindMove), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f},
	} {
		if _, err := decodeRequest(frame); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, frame := range map[string][]byte{
		"empty":           {},
		"unknown kind":    {byte(kindHello)},
		"completion code": {byte(kindReply), 1, 9, 0, 0, 0},
		"result kind":     {byte(kindReply), 1, 0, 0, 0, 99},
	} {
		if _, _, err := decodeAnswer(frame, make(interner)); err == nil {
			t.Errorf("answer, %s: accepted", name)
		}
	}
}

// sampleFrames has one valid frame at least of each kind that a client sends after its hello.
func sampleFrames(tb testing.TB) (frames [][]byte) {
	tb.Helper()
	command, bad := mqsc.Parse("DISPLAY QLOCAL(*) WHERE(CURDEPTH GT 0)")
	if bad != nil {
		tb.Fatal(bad)
	}
	for _, req := range []qmgr.Request{
		&qmgr.PutReq{OD: mqi.OD{ObjectName: "Q"}, MD: mqi.NewMD()}, &qmgr.GetReq{Handle: 1, MD: mqi.NewMD()},
		&qmgr.PutReq{Handle: 1, MD: mqi.NewMD(), Props: []mqi.Property{{Name: "p", Type: 'i', Value: make([]byte, 8)}}},
		qmgr.OpenReq{OD: mqi.OD{ObjectName: "Q"}, Options: mqi.MQOO_BROWSE, Selection: "p > 1"}, qmgr.CloseReq{Handle: 1, Options: 2},
		qmgr.CommitReq{}, qmgr.BackReq{}, qmgr.CancelReq{Tag: 3}, qmgr.CommandReq{Command: command},
		qmgr.MoveReq{From: "Q", Skip: make([]qmgr.MoveKey, 1)}, qmgr.InstancesReq{Queues: []string{"Q"}},
		qmgr.ExplainReq{Queue: "Q", QMgr: "QM2", Arriving: true},
	} {
		b, err := appendRequest(nil, 3, req)
		if err != nil {
			tb.Fatal(err)
		}
		frames = append(frames, b)
	}
	return append(frames, wire.AppendBool(wire.AppendUint(appendHead(nil, kindSample, 3), 7), true),
		appendHead(nil, kindWatch, 3), appendHead(nil, kindDisconnect, 3),
		EndMode{Controlled: true, Within: time.Minute}.append(appendHead(nil, kindEnd, 3)))
}

// The seeds of the fuzzer, and those of the hostile session, leave no kind out.
func TestSampleFrames_EveryKind(t *testing.T) {
	t.Parallel()
	seen := map[kind]bool{kindHello: true}
	for _, frame := range sampleFrames(t) {
		c, err := decodeRequest(frame)
		if err != nil {
			t.Errorf("%x: %v", frame, err)
		}
		seen[c.kind] = true
	}
	for k := range kindWelcome {
		_, err := decodeRequest([]byte{byte(k), 1})
		if known := !errors.Is(err, errUnknownKind); known && !seen[k] {
			t.Errorf("there is no frame of kind %d", k)
		}
	}
}

// Whatever a client sends is refused or means the same when it is sent again.
func FuzzDecodeRequest(f *testing.F) {
	for _, frame := range sampleFrames(f) {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		c, err := decodeRequest(frame)
		if err != nil {
			return
		}
		if c.kind == kindEnd {
			again, err := decodeRequest(c.end.append(appendHead(nil, kindEnd, c.tag)))
			if err != nil || again.end != c.end {
				t.Errorf("an end as %+v comes back as %+v, %v", c.end, again.end, err)
			}
		}
		if c.req == nil && c.put == nil {
			return
		}
		req := c.req
		switch q := c.req.(type) {
		case qmgr.GetReq:
			req = &q
		case nil:
			req = c.put
		}
		again, err := appendRequest(nil, c.tag, req)
		if err != nil {
			t.Fatal(err)
		}
		c2, err := decodeRequest(append(again, c.body...))
		if err != nil {
			t.Fatalf("%x decodes but %x does not: %v", frame, again, err)
		}
		if diff := cmp.Diff(c.put, c2.put); diff != "" {
			t.Error(diff)
		}
		if _, isCommand := c.req.(qmgr.CommandReq); !isCommand {
			if diff := cmp.Diff(c.req, c2.req); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// A row says at most once what becomes of its attributes, and nothing that this
// version does not know.
func TestRowBits(t *testing.T) {
	t.Parallel()
	for bits := range 256 {
		row := appendRow(nil, &QueueStatus{Name: "Q", Attributes: &qmgr.QueueAttributes{}}, false)
		if bits&rowAttributes == 0 {
			row = appendRow(nil, &QueueStatus{Name: "Q"}, false)
		}
		row[0] = byte(bits)
		r := wire.NewReader(row)
		known := newSharedParts().readRow(r, new(QueueStatus))
		good := bits < 8 && bits&3 != 3
		if err := r.Done(); good != (err == nil) || good && known != (bits&rowKnown != 0) {
			t.Errorf("bits %#x: %v, known %v", bits, err, known)
		}
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	for _, rep := range replyCases() {
		b, err := appendReply(nil, &rep)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(b, rep.body...))
	}
	f.Add(appendChanges(nil, 5, []Change{{Queue: "Q", Kind: ReadersChanged}}))
	f.Fuzz(func(t *testing.T, frame []byte) {
		rep, list, err := decodeAnswer(frame, make(interner))
		if err != nil || list != nil {
			return
		}
		b, err := appendReply(nil, &rep)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := decodeAnswer(append(b, rep.body...), make(interner))
		if err != nil {
			t.Fatalf("%x decodes but %x does not: %v", frame, b, err)
		}
		if diff := cmp.Diff(rep, again, cmp.AllowUnexported(reply{}, sampleRows{})); diff != "" {
			t.Error(diff)
		}
	})
}
