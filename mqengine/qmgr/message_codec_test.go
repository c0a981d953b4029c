package qmgr

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/store"
)

var sameMessage = cmp.AllowUnexported(message{}, deadLetter{}, indexLinks{})

// drawMessage makes any message that can be on a queue.
func drawMessage(t *rapid.T) *message {
	text := func(name string) string { return rapid.StringMatching(`[ -~]{0,20}`).Draw(t, name) }
	id := func(name string) (id mqi.MsgId) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 0, 24).Draw(t, name))
		return id
	}
	number := func(name string) int32 { return rapid.Int32().Draw(t, name) }
	msg := &message{
		md: mqi.MD{
			Report: number("report"), MsgType: number("type"), Expiry: mqi.MQEI_UNLIMITED, Feedback: number("feedback"),
			Encoding: number("encoding"), CodedCharSetId: number("ccsid"), Format: text("format"), Priority: number("priority"),
			Persistence: rapid.Int32Range(0, 1).Draw(t, "persistence"), MsgId: id("msgid"), CorrelId: id("correlid"),
			BackoutCount: number("backout"), ReplyToQ: text("replyq"), ReplyToQMgr: text("replyqm"), UserIdentifier: text("user"),
			ApplIdentityData: text("identity"), PutApplType: number("appltype"), PutApplName: text("appl"),
			PutDateTime: rapid.Int64().Draw(t, "putdate"), ApplOriginData: text("origin data"), GroupId: id("group"),
			MsgSeqNumber: number("seqno"), Offset: number("offset"), MsgFlags: number("flags"), OriginalLength: number("length"),
		},
		bind: bindType(rapid.IntRange(0, 3).Draw(t, "bind")), lane: uint8(rapid.IntRange(0, 9).Draw(t, "lane")),
		addressed: rapid.Bool().Draw(t, "addressed"), fromCluster: rapid.Bool().Draw(t, "from cluster"), origin: text("origin"),
		expiresAt: rapid.Int64Range(0, 1<<50).Draw(t, "expires"), arrived: rapid.Int64().Draw(t, "arrived"),
		targetQ: text("target"), targetQMgr: text("target qm"), channel: text("channel"),
	}
	copy(msg.md.AccountingToken[:], rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "token"))
	if rapid.Bool().Draw(t, "has body") {
		msg.body = BodyRef{ID: store.BodyID(rapid.Uint64Min(1).Draw(t, "body")), Len: rapid.IntRange(0, maxBodyLen).Draw(t, "len")}
	} else {
		msg.payload = rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
	}
	for range rapid.IntRange(0, 3).Draw(t, "properties") {
		msg.props = append(msg.props, mqi.Property{Name: text("name"), Type: 's', Value: []byte(text("value"))})
	}
	if head := rapid.SliceOf(rapid.Byte()).Draw(t, "head"); len(head) > 0 {
		msg.head = head
	}
	if rapid.Bool().Draw(t, "dead") {
		msg.dead = &deadLetter{reason: mqi.Reason(number("reason")), destQ: text("dead q"), destQMgr: text("dead qm"), putBy: text("dead by"), at: rapid.Int64().Draw(t, "at")}
	}
	return msg
}

func TestHeaderComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		msg := drawMessage(t)
		header := appendHeader(nil, msg)
		if len(header) > msg.headerSize() {
			t.Fatalf("%d bytes, more than the %d foreseen", len(header), msg.headerSize())
		}
		got, err := decodeHeader(header, &interner{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(msg, got, sameMessage); diff != "" {
			t.Fatal(diff)
		}
		if id := headerBodyID(header); id != msg.body.ID {
			t.Fatalf("body %d, want %d", id, msg.body.ID)
		}
	})
}

func TestTransmissionHeaderCarriesWhatRemains(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sent := time.UnixMilli(1_000_000)
	msg := &message{md: mqi.NewMD(), targetQ: "Q", targetQMgr: "QM2", channel: "TO.QM2", body: BodyRef{ID: 5, Len: 3}, lane: 4, expiresAt: 1_005_000}
	header := transmissionHeader(sent, msg)
	// The other host's clock is an hour ahead.
	there := sent.Add(time.Hour)
	got, err := r.m.receivedMessage(there, header, BodyRef{ID: 77, Len: 3})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "expiry", got.expiresAt-there.UnixMilli(), 5000)
	check(t, "body", got.body.ID, 77)
	check(t, "target", got.targetQ+"@"+got.targetQMgr+" "+got.channel, "Q@QM2 ")
	check(t, "the message is not changed", msg.expiresAt, 1_005_000)
	msg.expiresAt = 999_000
	got, err = r.m.receivedMessage(there, transmissionHeader(sent, msg), BodyRef{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "an expired message does not live for ever", got.expired(there.UnixMilli()+1), true)
}

func FuzzDecodeHeader(f *testing.F) {
	full := &message{
		md: mqi.NewMD(), body: BodyRef{ID: 1 << 40, Len: 5}, targetQ: "Q", channel: "TO.QM2", expiresAt: 1,
		props: []mqi.Property{{Name: "n", Type: 's', Value: []byte("v")}}, dead: &deadLetter{reason: 2085, destQ: "Q"},
	}
	f.Add(appendHeader(nil, full))
	f.Add(appendHeader(nil, &message{payload: []byte("command")}))
	f.Add(appendHeader(nil, &message{head: []byte("TM  "), dead: &deadLetter{reason: 2053, putBy: "QM1"}}))
	f.Add([]byte{})
	f.Add([]byte{headerVersion, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, header []byte) {
		msg, err := decodeHeader(header, &interner{})
		if err != nil {
			return
		}
		again, err := decodeHeader(appendHeader(nil, msg), &interner{})
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(msg, again, sameMessage, cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) })); diff != "" {
			t.Fatal(diff)
		}
		if headerBodyID(header) != msg.body.ID {
			t.Fatal("two opinions of the body")
		}
	})
}
