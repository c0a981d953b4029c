package qmgr

import (
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

func (r *rig) openReason(c ConnID, name, qmgr string, options int32) mqi.Reason {
	r.t.Helper()
	return r.call(c, OpenReq{OD: mqi.OD{ObjectName: name, ObjectQMgrName: qmgr}, Options: options}).Reason
}

func TestSharingRules(t *testing.T) {
	t.Parallel()
	const exclusive = mqi.MQOO_INPUT_EXCLUSIVE
	const asDefined = mqi.MQOO_INPUT_AS_Q_DEF
	for name, x := range map[string]struct {
		queue         string
		first, second int32
		want          mqi.Reason
	}{
		"shared":                     {"", in, in, 0},
		"exclusive then shared":      {"", exclusive, in, mqi.MQRC_OBJECT_IN_USE},
		"shared then exclusive":      {"", in, exclusive, mqi.MQRC_OBJECT_IN_USE},
		"exclusive then browse":      {"", exclusive, mqi.MQOO_BROWSE, 0},
		"browse then exclusive":      {"", mqi.MQOO_BROWSE, exclusive, 0},
		"exclusive then output":      {"", exclusive, out, 0},
		"default is shared":          {"", asDefined, asDefined, 0},
		"default exclusive":          {"DEFSOPT(EXCL)", asDefined, in, mqi.MQRC_OBJECT_IN_USE},
		"not shareable":              {"NOSHARE", in, in, mqi.MQRC_OBJECT_IN_USE},
		"not shareable, but browsed": {"NOSHARE", mqi.MQOO_BROWSE, in, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.define("DEFINE QLOCAL(Q) " + x.queue)
			one, two := r.connect(1, "one"), r.connect(2, "two")
			h := r.open(one, "Q", x.first)
			check(t, "second open", r.openReason(two, "Q", "", x.second), x.want)
			if x.want == mqi.MQRC_NONE {
				return
			}
			r.must(one, CloseReq{Handle: h})
			check(t, "after the close", r.openReason(two, "Q", "", x.second), mqi.MQRC_NONE)
		})
	}
}

func TestCountsOfHandles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(BASE)", "DEFINE QALIAS(ALIAS) TARGET(BASE)")
	r.step(Connect{Conn: 1, Appl: Appl{Tag: "reader", Owner: "token"}})
	c := r.connect(2, "other")
	base := r.m.localQueue("BASE").number
	counts := func() QueueCounts {
		s, _ := r.m.Status(base)
		return s.Counts
	}
	r.open(1, "ALIAS", in|out)
	before := counts()
	r.open(c, "BASE", mqi.MQOO_BROWSE)
	r.open(c, "BASE", mqi.MQOO_INQUIRE)
	r.open(c, "BASE", out)
	r.open(c, "BASE", mqi.MQOO_BROWSE|in)
	now := counts()
	check(t, "readers through the alias", len(before.Readers), 1)
	check(t, "who", before.Readers[0], Reader{Tag: "reader", Owner: "token"})
	check(t, "readers; browse only does not count", len(now.Readers), 2)
	check(t, "the earlier list is not written", len(before.Readers), 1)
	check(t, "output", now.OpProcs, 2)
	check(t, "output with an owner", len(now.OwnOut), 1)
	check(t, "touched", r.touched[base], true)
	r.step(Disconnect{Conn: 1})
	r.step(Disconnect{Conn: c})
	check(t, "nobody", len(counts().Readers)+counts().OpProcs+len(counts().OwnOut), 0)
}

func TestNamesThatDoNotResolve(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(L)", "DEFINE QLOCAL(X) USAGE(XMITQ)",
		"DEFINE QALIAS(NOBASE) TARGET(MISSING)", "DEFINE QALIAS(A1) TARGET(L)", "DEFINE QALIAS(A2) TARGET(A1)",
		"DEFINE QREMOTE(R1) RNAME(Q) RQMNAME(QM9) XMITQ(NOPE)", "DEFINE QREMOTE(R2) RNAME(Q) RQMNAME(QM9) XMITQ(L)",
		"DEFINE QREMOTE(R3) RNAME(Q) RQMNAME(QM9) XMITQ(X)", "DEFINE QREMOTE(R4) RNAME(NOPE) RQMNAME(QM1)")
	c := r.connect(1, "app")
	for _, x := range []struct {
		name, qmgr string
		options    int32
		want       mqi.Reason
	}{
		{"L", "", in, 0},
		{"L", "QM1", inOut, 0},
		{"NONE", "", in, mqi.MQRC_UNKNOWN_OBJECT_NAME},
		{"NONE", "QM1", out, mqi.MQRC_UNKNOWN_OBJECT_NAME},
		{"NONE", "", out, mqi.MQRC_UNKNOWN_OBJECT_NAME},
		{"L", "QM9", in, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE},
		{"L", "QM9", out, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR},
		{"NOBASE", "", in, mqi.MQRC_UNKNOWN_ALIAS_BASE_Q},
		{"NOBASE", "", out, mqi.MQRC_UNKNOWN_ALIAS_BASE_Q},
		{"A2", "", in, mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR},
		{"A2", "", out, mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR},
		{"R1", "", out, mqi.MQRC_UNKNOWN_XMIT_Q},
		{"R2", "", out, mqi.MQRC_XMIT_Q_USAGE_ERROR},
		{"R3", "", out, 0},
		{"R3", "", in, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE},
		{"R4", "", out, mqi.MQRC_UNKNOWN_OBJECT_NAME},
		{"L", "", 0, mqi.MQRC_OPTIONS_ERROR},
		{"L", "", in | mqi.MQOO_INPUT_EXCLUSIVE, mqi.MQRC_OPTIONS_ERROR},
		{"L", "", out | mqi.MQOO_BIND_NOT_FIXED | mqi.MQOO_BIND_ON_OPEN, mqi.MQRC_OPTIONS_ERROR},
		{"L", "", out | 1<<30, mqi.MQRC_OPTIONS_ERROR},
	} {
		check(t, x.name+"@"+x.qmgr, r.openReason(c, x.name, x.qmgr, x.options), x.want)
	}
	check(t, "object type", r.call(c, OpenReq{OD: mqi.OD{ObjectType: 3}, Options: out}).Reason, mqi.MQRC_OBJECT_TYPE_ERROR)
	check(t, "queue manager", r.call(c, OpenReq{OD: mqi.OD{ObjectType: 5}, Options: mqi.MQOO_INQUIRE}).Reason, mqi.MQRC_NONE)
	check(t, "queue manager", r.call(c, OpenReq{OD: mqi.OD{ObjectType: 5}, Options: out}).Reason, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
}

func TestTransmissionQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(QM9) USAGE(XMITQ)", "DEFINE QLOCAL(DEF) USAGE(XMITQ)",
		"DEFINE QREMOTE(ORDERS) RNAME(IN) RQMNAME(QM9) DEFPSIST(YES)", "DEFINE QREMOTE(OTHER) RNAME(' ') RQMNAME(QM9)")
	c := r.connect(1, "app")
	result := r.put(c, r.open(c, "ORDERS", out), "one")
	check(t, "resolved", result.ResolvedQName+"@"+result.ResolvedQMgrName, "IN@QM9")
	check(t, "persistence of the definition", result.Persistence, mqi.MQPER_PERSISTENT)
	r.must(c, PutReq{OD: mqi.OD{ObjectName: "IN2", ObjectQMgrName: "OTHER"}, MD: mqi.NewMD(), Body: r.newBody("two")})
	check(t, "both on the queue named like the queue manager", r.counts("QM9"), "2/0")
	check(t, "unknown", r.call(c, PutReq{OD: mqi.OD{ObjectName: "Q", ObjectQMgrName: "QM8"}, MD: mqi.NewMD()}).Reason,
		mqi.MQRC_UNKNOWN_REMOTE_Q_MGR)
	r.define("ALTER QMGR DEFXMITQ(DEF)")
	r.must(c, PutReq{OD: mqi.OD{ObjectName: "Q", ObjectQMgrName: "QM8"}, MD: mqi.NewMD()})
	check(t, "default transmission queue", r.counts("DEF"), "1/0")
	for _, x := range []struct {
		queue, target string
		addressed     bool
	}{{"QM9", "IN@QM9", true}, {"DEF", "Q@QM8", true}} {
		msg := r.m.localQueue(x.queue).firstAvailable()
		check(t, x.queue, msg.targetQ+"@"+msg.targetQMgr, x.target)
		check(t, x.queue, msg.addressed, x.addressed)
		check(t, x.queue, msg.origin, r.m.QMID())
	}
	r.define("ALTER QREMOTE(ORDERS) PUT(DISABLED)")
	check(t, "every definition on the path counts", r.call(c, r.putReq(1, "no")).Reason, mqi.MQRC_PUT_INHIBITED)
	r.define("ALTER QREMOTE(ORDERS) PUT(ENABLED)", "ALTER QLOCAL(QM9) PUT(DISABLED)")
	check(t, "also the transmission queue", r.call(c, r.putReq(1, "no")).Reason, mqi.MQRC_PUT_INHIBITED)
}

func TestChangesUnderOpenHandles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(A)", "DEFINE QLOCAL(B)", "DEFINE QALIAS(X) TARGET(A)")
	c := r.connect(1, "app")
	h := r.open(c, "X", out)
	r.define("ALTER QALIAS(X) DESCR('harmless')", "ALTER QLOCAL(A) MAXDEPTH(10)")
	r.put(c, h, "one")
	check(t, "refused", strings.TrimSpace(r.mqsc("ALTER QALIAS(X) TARGET(B)")), "AMQ8148E: IBM MQ object in use.")
	r.define("ALTER QALIAS(X) TARGET(B) FORCE")
	check(t, "forced", r.call(c, r.putReq(h, "two")).Reason, mqi.MQRC_OBJECT_CHANGED)
	r.must(c, CloseReq{Handle: h})
	r.put(c, r.open(c, "X", out), "three")
	check(t, "a", r.counts("A"), "1/0")
	check(t, "b", r.counts("B"), "1/0")
}

func TestHandleAndConnectionLimits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.MaxConns = 2
	r.crash()
	r.define("DEFINE QLOCAL(Q)", "ALTER QMGR MAXHANDS(2)")
	c := r.connect(1, "app")
	r.open(c, "Q", out)
	h := r.open(c, "Q", out)
	check(t, "third handle", r.openReason(c, "Q", "", out), mqi.MQRC_HANDLE_NOT_AVAILABLE)
	r.must(c, CloseReq{Handle: h})
	r.open(c, "Q", out)
	r.connect(3, "too many")
	check(t, "third connection", r.openReason(3, "Q", "", out), mqi.MQRC_MAX_CONNS_LIMIT_REACHED)
	check(t, "no connection", r.openReason(4, "Q", "", out), mqi.MQRC_HCONN_ERROR)
	r.step(Disconnect{Conn: 3})
	r.step(Disconnect{Conn: c})
	r.connect(3, "now")
	check(t, "a place is free", r.openReason(3, "Q", "", out), mqi.MQRC_NONE)
}

func TestDynamicQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QMODEL(TEMP) DEFTYPE(TEMPDYN) MAXDEPTH(7) SHARE DEFSOPT(SHARED)", "DEFINE QMODEL(PERM) DEFTYPE(PERMDYN) DEFPSIST(YES)")
	c, other := r.connect(1, "app"), r.connect(2, "other")
	opened := r.must(c, OpenReq{OD: mqi.OD{ObjectName: "TEMP", DynamicQName: "REPLY.*"}, Options: inOut}).Result.(OpenResult)
	name := opened.ResolvedQName
	check(t, "name", strings.HasPrefix(name, "REPLY.") && len(name) > 10, true)
	check(t, "attributes of the model", strings.Contains(r.mqsc("DISPLAY QLOCAL("+name+") MAXDEPTH DEFTYPE"), "DEFTYPE(TEMPDYN) MAXDEPTH(7)"), true)
	check(t, "no persistent messages", r.call(c, r.putReq(opened.Handle, "x", persistent)).Reason, mqi.MQRC_PERSISTENT_NOT_ALLOWED)
	h := r.open(other, name, inOut)
	r.put(other, h, "answer")
	check(t, "get", r.get(c, opened.Handle, 0), "answer")
	r.put(other, h, "uncommitted", inUnit)
	r.must(c, CloseReq{Handle: opened.Handle})
	check(t, "gone with its creator", r.get(other, h, 0), "2052")
	r.must(other, CommitReq{})
	check(t, "nothing left", len(r.bodies), 0)

	perm := r.must(c, OpenReq{OD: mqi.OD{ObjectName: "PERM", DynamicQName: "KEEP"}, Options: inOut}).Result.(OpenResult)
	r.put(c, perm.Handle, "kept")
	check(t, "twice", r.call(c, OpenReq{OD: mqi.OD{ObjectName: "PERM", DynamicQName: "KEEP"}, Options: out}).Reason, mqi.MQRC_OBJECT_ALREADY_EXISTS)
	check(t, "not empty", r.call(c, CloseReq{Handle: perm.Handle, Options: mqi.MQCO_DELETE}).Reason, mqi.MQRC_Q_NOT_EMPTY)
	r.crash()
	check(t, "permanent", r.counts("KEEP"), "1/0")
	c = r.connect(1, "app")
	r.must(c, CloseReq{Handle: r.open(c, "KEEP", in), Options: mqi.MQCO_DELETE_PURGE})
	check(t, "purged", r.openReason(c, "KEEP", "", in), mqi.MQRC_UNKNOWN_OBJECT_NAME)
}

// Who may delete a dynamic queue with MQCLOSE, and who has it open then.
func TestCloseDeletesDynamicQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QMODEL(TEMP) DEFTYPE(TEMPDYN) SHARE DEFSOPT(SHARED)", "DEFINE QMODEL(PERM) DEFTYPE(PERMDYN) SHARE DEFSOPT(SHARED)",
		"DEFINE QLOCAL(FIXED)", "DEFINE QALIAS(ALIAS) TARGET(KEEP)")
	c, other := r.connect(1, "app"), r.connect(2, "other")
	closeWith := func(c ConnID, h uint32, options int32) mqi.Reason {
		return r.call(c, CloseReq{Handle: h, Options: options}).Reason
	}
	for _, options := range []int32{mqi.MQCO_DELETE, mqi.MQCO_DELETE_PURGE} {
		check(t, "a predefined queue", closeWith(c, r.open(c, "FIXED", in), options), mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
		temp := r.must(c, OpenReq{OD: mqi.OD{ObjectName: "TEMP"}, Options: inOut}).Result.(OpenResult)
		theirs := r.open(other, temp.ResolvedQName, inOut)
		r.put(other, theirs, "x")
		check(t, "a temporary one of others", closeWith(other, theirs, options), mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
		check(t, "its maker", closeWith(c, temp.Handle, options), mqi.MQRC_NONE)
		check(t, "is gone", r.get(other, theirs, 0), "2052")
		check(t, "also for who closes", closeWith(other, theirs, 0), mqi.MQRC_NONE)

		perm := r.must(c, OpenReq{OD: mqi.OD{ObjectName: "PERM", DynamicQName: "KEEP"}, Options: inOut}).Result.(OpenResult)
		theirs = r.open(other, "KEEP", inOut)
		r.put(other, theirs, "x", inUnit)
		check(t, "an uncommitted message", closeWith(c, perm.Handle, options), mqi.MQRC_Q_NOT_EMPTY)
		r.must(other, BackReq{})
		check(t, "through an alias", closeWith(c, r.open(c, "ALIAS", in), options), mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
		waiting := r.send(other, GetReq{Handle: theirs, GMO: mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: mqi.MQWI_UNLIMITED, MaxLength: -1}})
		check(t, "empty", closeWith(c, perm.Handle, options), mqi.MQRC_NONE)
		check(t, "who waited on it", r.answer(waiting), "2052")
		check(t, "it is not there", r.openReason(c, "KEEP", "", in), mqi.MQRC_UNKNOWN_OBJECT_NAME)
	}
}

// A reply-to alias gives the names that travel; a queue-manager alias is no queue.
func TestReplyToAlias(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)", "DEFINE QREMOTE(ANSWERS) RNAME(REAL.Q) RQMNAME(REPLY.QM)", "DEFINE QREMOTE(HERE) RNAME(REAL.Q) RQMNAME(' ')",
		"DEFINE QREMOTE(REPLY.QM) RNAME(' ') RQMNAME(QM9)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	for asked, want := range map[[2]string][2]string{
		{"ANSWERS", ""}:      {"REAL.Q", "REPLY.QM"},
		{"HERE", ""}:         {"REAL.Q", "QM1"},
		{"ANSWERS", "QM1"}:   {"ANSWERS", "QM1"}, // named in full: as it is
		{"PLAIN", ""}:        {"PLAIN", "QM1"},
		{"REPLY.QM", ""}:     {"REPLY.QM", "QM1"},
		{"ANSWERS", "OTHER"}: {"ANSWERS", "OTHER"},
	} {
		req := r.putReq(h, "x")
		req.MD.ReplyToQ, req.MD.ReplyToQMgr = asked[0], asked[1]
		r.must(c, req)
		res := r.must(c, GetReq{Handle: h, GMO: mqi.GMO{MaxLength: -1}}).Result.(*GetResult)
		check(t, asked[0]+" at "+asked[1], [2]string{res.MD.ReplyToQ, res.MD.ReplyToQMgr}, want)
	}
	check(t, "the alias as a queue", r.openReason(c, "REPLY.QM", "", out), mqi.MQRC_REMOTE_Q_NAME_ERROR)
}
