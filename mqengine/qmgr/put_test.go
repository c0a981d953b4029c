package qmgr

import (
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

func TestPutIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) MAXDEPTH(2) MAXMSGL(10)", "DEFINE QLOCAL(BIG)", "ALTER QMGR MAXMSGL(40000)")
	c := r.connect(1, "app")
	q, big := r.open(c, "Q", inOut), r.open(c, "BIG", inOut)
	put := func(h uint32, text string, change ...func(*PutReq)) mqi.Reason {
		return r.call(c, r.putReq(h, text, change...)).Reason
	}
	check(t, "too big for the queue", put(q, "12345678901"), mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	check(t, "too big for the queue manager", put(big, strings.Repeat("x", 40001)), mqi.MQRC_MSG_TOO_BIG_FOR_Q_MGR)
	check(t, "expiry", put(q, "x", func(p *PutReq) { p.MD.Expiry = 0 }), mqi.MQRC_EXPIRY_ERROR)
	check(t, "priority", put(q, "x", priority(-2)), mqi.MQRC_PRIORITY_ERROR)
	check(t, "persistence", put(q, "x", func(p *PutReq) { p.MD.Persistence = 7 }), mqi.MQRC_PERSISTENCE_ERROR)
	check(t, "request without reply-to", put(q, "x", func(p *PutReq) { p.MD.MsgType = mqi.MQMT_REQUEST }), mqi.MQRC_MISSING_REPLY_TO_Q)
	check(t, "options", put(q, "x", func(p *PutReq) { p.PMO.Options = mqi.MQPMO_SYNCPOINT | mqi.MQPMO_NO_SYNCPOINT }), mqi.MQRC_OPTIONS_ERROR)
	r.put(c, q, "1")
	r.put(c, q, "2", inUnit)
	check(t, "full", put(q, "3"), mqi.MQRC_Q_FULL)
	check(t, "got under syncpoint does not count", r.get(c, q, mqi.MQGMO_SYNCPOINT), "1")
	check(t, "room", put(q, "3"), mqi.MQRC_NONE)
	r.must(c, BackReq{})
	check(t, "a backout restores above MAXDEPTH or not", r.counts("Q"), "2/0")
	r.step(Space{Low: true})
	check(t, "disk reserve", put(big, "x"), mqi.MQRC_Q_SPACE_NOT_AVAILABLE)
	check(t, "gets go on", r.get(c, q, 0), "1")
	r.step(Space{Low: false})
	check(t, "space again", put(big, "x"), mqi.MQRC_NONE)
	r.define("ALTER QLOCAL(BIG) PUT(DISABLED)")
	check(t, "inhibited", put(big, "x"), mqi.MQRC_PUT_INHIBITED)
	check(t, "bodies of refused puts are let go", len(r.bodies), 2)
}

func TestPutUnderSyncpointCommitsAfterInhibit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	r.put(c, h, "x", inUnit)
	r.define("ALTER QLOCAL(Q) PUT(DISABLED)")
	r.must(c, CommitReq{})
	check(t, "committed", r.get(c, h, 0), "x")
}

func TestIdentifiersAreUnique(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	seen := map[mqi.MsgId]bool{}
	for range 2 {
		c := r.connect(1, "app")
		h := r.open(c, "Q", out)
		for range 100 {
			got := r.put(c, h, "", func(p *PutReq) { p.PMO.Options |= mqi.MQPMO_NEW_CORREL_ID })
			if seen[got.MsgId] || seen[got.CorrelId] || got.MsgId.IsZero() || got.CorrelId.IsZero() {
				t.Fatalf("identifier %x or %x is there twice", got.MsgId, got.CorrelId)
			}
			seen[got.MsgId], seen[got.CorrelId] = true, true
		}
		r.crash()
	}
	c := r.connect(1, "app")
	h := r.open(c, "Q", out)
	own := mqi.MsgId{1, 2, 3}
	check(t, "the application's own", r.put(c, h, "", func(p *PutReq) { p.MD.MsgId = own }).MsgId, own)
	check(t, "a new one", r.put(c, h, "", func(p *PutReq) {
		p.MD.MsgId, p.PMO.Options = own, mqi.MQPMO_NEW_MSG_ID
	}).MsgId != own, true)
}

func TestContext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(A)", "DEFINE QLOCAL(B)")
	first, mover := r.connect(1, "first"), ConnID(2)
	r.step(Connect{Conn: mover, Appl: Appl{Tag: "mover", UserID: "root"}})
	r.put(first, r.open(first, "A", out), "x")
	from := r.open(mover, "A", in|mqi.MQOO_SAVE_ALL_CONTEXT)
	plain := r.open(mover, "B", inOut)
	to := r.open(mover, "B", out|mqi.MQOO_PASS_ALL_CONTEXT|mqi.MQOO_SET_ALL_CONTEXT)
	pass := func(p *PutReq) { p.PMO.Options, p.PMO.Context = mqi.MQPMO_PASS_ALL_CONTEXT, from }
	check(t, "nothing saved yet", r.call(mover, r.putReq(to, "x", pass)).Reason, mqi.MQRC_CONTEXT_NOT_AVAILABLE)
	check(t, "get", r.get(mover, from, 0), "x")
	check(t, "handle not opened to pass", r.call(mover, r.putReq(plain, "x", pass)).Reason, mqi.MQRC_NOT_OPEN_FOR_PASS_ALL)
	check(t, "handle that saves nothing", r.call(mover, r.putReq(to, "x", func(p *PutReq) {
		p.PMO.Options, p.PMO.Context = mqi.MQPMO_PASS_ALL_CONTEXT, plain
	})).Reason, mqi.MQRC_CONTEXT_HANDLE_ERROR)
	puts := []struct {
		name, user, appl string
		change           func(*PutReq)
	}{
		{"pass all", "amy", "first", pass},
		{"default", "root", "mover", func(*PutReq) {}},
		{"pass identity", "amy", "mover", func(p *PutReq) { p.PMO.Options, p.PMO.Context = mqi.MQPMO_PASS_IDENTITY_CONTEXT, from }},
		{"set all", "eve", "forged", func(p *PutReq) {
			p.PMO.Options = mqi.MQPMO_SET_ALL_CONTEXT
			p.MD.UserIdentifier, p.MD.PutApplName = "eve", "forged"
		}},
		{"set identity", "eve", "mover", func(p *PutReq) {
			p.PMO.Options, p.MD.UserIdentifier = mqi.MQPMO_SET_IDENTITY_CONTEXT, "eve"
		}},
		{"none", "", "", func(p *PutReq) { p.PMO.Options = mqi.MQPMO_NO_CONTEXT }},
	}
	for _, x := range puts {
		r.put(mover, to, x.name, x.change)
		md := r.must(mover, getReq(plain, 0)).Result.(*GetResult).MD
		check(t, x.name+": user", md.UserIdentifier, x.user)
		check(t, x.name+": application", md.PutApplName, x.appl)
	}
	check(t, "two contexts", r.call(mover, r.putReq(to, "x", func(p *PutReq) {
		p.PMO.Options = mqi.MQPMO_NO_CONTEXT | mqi.MQPMO_DEFAULT_CONTEXT
	})).Reason, mqi.MQRC_OPTIONS_ERROR)
}

func TestGroupsInLogicalOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	flags := []int32{mqi.MQMF_MSG_IN_GROUP, mqi.MQMF_MSG_IN_GROUP, mqi.MQMF_LAST_MSG_IN_GROUP, mqi.MQMF_LAST_MSG_IN_GROUP}
	for _, f := range flags {
		r.put(c, h, "", func(p *PutReq) { p.MD.MsgFlags, p.PMO.Options = f, mqi.MQPMO_LOGICAL_ORDER })
	}
	var ids []mqi.MsgId
	for _, want := range []int32{1, 2, 3, 1} {
		md := r.must(c, getReq(h, 0)).Result.(*GetResult).MD
		check(t, "number in the group", md.MsgSeqNumber, want)
		ids = append(ids, md.GroupId)
	}
	check(t, "one group", ids[0] == ids[1] && ids[1] == ids[2] && !ids[0].IsZero(), true)
	check(t, "another group", ids[3] != ids[0], true)
}
