package qmgr

import (
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

func TestUnitOfWorkOverTwoQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(A)", "DEFINE QLOCAL(B)")
	c, other := r.connect(1, "app"), r.connect(2, "other")
	a, b := r.open(c, "A", inOut), r.open(c, "B", inOut)
	seen := r.open(other, "B", in)
	r.put(c, a, "m1", persistent)
	r.put(c, a, "m2", persistent)
	check(t, "got", r.get(c, a, mqi.MQGMO_SYNCPOINT), "m1")
	r.put(c, b, "reply", persistent, inUnit)
	check(t, "a", r.counts("A"), "1/1")
	check(t, "b counts the uncommitted put", r.counts("B"), "1/1")
	check(t, "nobody sees it", r.get(other, seen, 0), "2033")
	r.must(c, BackReq{})
	check(t, "a", r.counts("A"), "2/0")
	check(t, "b", r.counts("B"), "0/0")
	reply := r.must(c, getReq(a, mqi.MQGMO_SYNCPOINT)).Result.(*GetResult)
	check(t, "its place and backout count", reply.MD.BackoutCount, 1)
	r.put(c, b, "reply", persistent, inUnit)
	r.must(c, CommitReq{})
	check(t, "a", r.counts("A"), "1/0")
	check(t, "committed", r.get(other, seen, 0), "reply")
}

// A committed unit is there after a crash with all its parts, wherever they went:
// to a queue here, under another name, or to another queue manager.
func TestCommittedUnitSurvivesWhole(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(A)", "DEFINE QALIAS(B) TARGET(A)", "DEFINE QLOCAL(QM2) USAGE(XMITQ)",
		"DEFINE QREMOTE(FAR) RNAME(Q) RQMNAME(QM2)", "DEFINE QLOCAL(DONE)")
	c := r.connect(1, "app")
	done := r.open(c, "DONE", inOut)
	r.put(c, done, "request", persistent)
	check(t, "got", r.get(c, done, mqi.MQGMO_SYNCPOINT), "request")
	for _, name := range []string{"A", "B", "FAR"} {
		r.put(c, r.open(c, name, out), "to "+name, persistent, inUnit)
	}
	r.must(c, CommitReq{})
	r.crash()
	check(t, "local and alias", r.counts("A"), "2/0")
	check(t, "transmission queue", r.counts("QM2"), "1/0")
	check(t, "what was got", r.counts("DONE"), "0/0")
}

func TestBackoutRestoresPlaces(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	one, two := r.connect(1, "one"), r.connect(2, "two")
	h1, h2 := r.open(one, "Q", inOut), r.open(two, "Q", in)
	for _, text := range []string{"a", "b", "c", "d", "e"} {
		r.put(one, h1, text)
	}
	check(t, "one", r.get(one, h1, mqi.MQGMO_SYNCPOINT), "a")
	check(t, "two", r.get(two, h2, mqi.MQGMO_SYNCPOINT), "b")
	check(t, "one", r.get(one, h1, mqi.MQGMO_SYNCPOINT), "c")
	r.must(two, BackReq{})
	check(t, "b is back in front of d", r.get(two, h2, 0), "b")
	r.step(Disconnect{Conn: one, Abrupt: true})
	check(t, "a death backs out", r.drain(two, h2), "a c d e")
}

func TestWaitingGetJoinsTheNextUnit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	req := getReq(h, mqi.MQGMO_WAIT|mqi.MQGMO_SYNCPOINT)
	req.GMO.WaitInterval = mqi.MQWI_UNLIMITED
	tag := r.send(c, req)
	r.put(c, h, "own", inUnit)
	r.must(c, CommitReq{})
	check(t, "the commit serves the connection's own wait", r.answer(tag), "own")
	check(t, "in the next unit", r.counts("Q"), "0/1")
	r.must(c, BackReq{})
	check(t, "backed out", r.counts("Q"), "1/0")
}

func TestCommitShowsTheBestFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c, other := r.connect(1, "app"), r.connect(2, "other")
	h := r.open(c, "Q", out)
	req := getReq(r.open(other, "Q", in), mqi.MQGMO_WAIT)
	req.GMO.WaitInterval = mqi.MQWI_UNLIMITED
	tag := r.send(other, req)
	r.put(c, h, "low", inUnit, priority(1))
	r.put(c, h, "high", inUnit, priority(5))
	r.must(c, CommitReq{})
	check(t, "waiting get", r.answer(tag), "high")
}

func TestSyncpointLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)", "ALTER QMGR MAXUMSGS(3)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	r.put(c, h, "outside")
	r.put(c, h, "1", inUnit)
	r.put(c, h, "2", inUnit)
	check(t, "get", r.get(c, h, mqi.MQGMO_SYNCPOINT), "outside")
	check(t, "put", r.call(c, r.putReq(h, "4", inUnit)).Reason, mqi.MQRC_SYNCPOINT_LIMIT_REACHED)
	check(t, "get", r.get(c, h, mqi.MQGMO_SYNCPOINT), "2024")
	r.put(c, h, "outside")
	r.must(c, CommitReq{})
	check(t, "rest", r.drain(c, h), "1 2 outside")
	check(t, "no body is left behind", len(r.bodies), 0)
}

func TestSyncpointIfPersistent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	r.put(c, h, "p", persistent)
	r.put(c, h, "n")
	r.get(c, h, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT)
	r.get(c, h, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT)
	r.must(c, BackReq{})
	check(t, "only the persistent one comes back", r.drain(c, h), "p")
}

func TestWhatSurvivesACrash(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) DEFPSIST(YES)", "DEFINE QLOCAL(N)")
	c := r.connect(1, "app")
	h, n := r.open(c, "Q", inOut), r.open(c, "N", inOut)
	result := r.put(c, h, "kept", func(p *PutReq) {
		p.Props = []mqi.Property{{Name: "colour", Type: 's', Value: []byte("red")}}
		p.MD.ReplyToQ, p.MD.Format, p.MD.Report = "REPLIES", "MQSTR", 1024
	})
	check(t, "persistence by default", result.Persistence, mqi.MQPER_PERSISTENT)
	r.put(c, n, "nonpersistent")
	r.put(c, h, "uncommitted", inUnit)
	r.put(c, h, "got")
	r.put(c, h, "kept too")
	check(t, "counts", r.counts("Q"), "4/1")
	r.crash()
	check(t, "q", r.counts("Q"), "3/0")
	check(t, "n", r.counts("N"), "0/0")
	c = r.connect(1, "app")
	h = r.open(c, "Q", inOut)
	tag := r.send(c, getReq(h, mqi.MQGMO_SYNCPOINT))
	got := r.replies[tag].Result.(*GetResult)
	check(t, "text", r.texts[tag], "kept")
	check(t, "id", got.MD.MsgId, result.MsgId)
	check(t, "put time", got.MD.PutDateTime, result.PutDateTime)
	check(t, "property", string(got.Props[0].Value), "red")
	check(t, "reply-to", got.MD.ReplyToQ+"@"+got.MD.ReplyToQMgr, "REPLIES@QM1")
	check(t, "report", got.MD.Report, 1024)
	check(t, "put application", got.MD.PutApplName, "app")
	check(t, "user", got.MD.UserIdentifier, "amy")
	check(t, "a get outside the unit", r.get(c, h, 0), "got")
	r.crash()
	c = r.connect(1, "app")
	h = r.open(c, "Q", inOut)
	check(t, "the unit was lost, the get was not", r.drain(c, h), "kept kept too")
	r.crash()
	check(t, "all gone", r.counts("Q"), "0/0")
	_, bodies := stored(r)
	check(t, "bodies in the store", bodies, 0)
}

func TestBackoutCountIsHardened(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(H) DEFPSIST(YES)", "DEFINE QLOCAL(S) DEFPSIST(YES) NOHARDENBO")
	for _, x := range []struct {
		queue string
		want  int32
	}{{"H", 2}, {"S", 0}} {
		c := r.connect(1, "app")
		h := r.open(c, x.queue, inOut)
		r.put(c, h, "poison")
		for range 2 {
			r.get(c, h, mqi.MQGMO_SYNCPOINT)
			r.must(c, BackReq{})
		}
		r.crash()
		c = r.connect(1, "app")
		h = r.open(c, x.queue, in)
		check(t, x.queue, r.must(c, getReq(h, 0)).Result.(*GetResult).MD.BackoutCount, x.want)
	}
}

// TestSyncsOnlyWhatMustSurvive counts the turns that wait for the disk.
func TestSyncsOnlyWhatMustSurvive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut|mqi.MQOO_BROWSE)
	count := func(what string, want int, f func()) {
		t.Helper()
		before := r.syncs
		f()
		check(t, what, r.syncs-before, want)
	}
	count("nonpersistent put and get", 0, func() { r.put(c, h, "n"); r.get(c, h, 0) })
	count("persistent put", 1, func() { r.put(c, h, "p", persistent) })
	count("browse", 0, func() { r.get(c, h, mqi.MQGMO_BROWSE_NEXT) })
	count("persistent get", 1, func() { r.get(c, h, 0) })
	count("puts in a unit", 0, func() { r.put(c, h, "p", persistent, inUnit); r.put(c, h, "p", persistent, inUnit) })
	count("its commit", 1, func() { r.must(c, CommitReq{}) })
	count("gets in a unit", 0, func() { r.get(c, h, mqi.MQGMO_SYNCPOINT) })
	count("an empty commit after it", 1, func() { r.must(c, CommitReq{}) })
	count("an empty commit", 0, func() { r.must(c, CommitReq{}) })
}

// stored counts the headers and bodies in the store.
func stored(r *rig) (headers, bodies int) {
	disk := r.disk.Clone()
	scratch := New(r.cfg)
	if _, err := disk.Load(scratch.Visitor()); err != nil {
		r.t.Fatal(err)
	}
	for _, q := range scratch.restore.queues {
		headers += q.depth
	}
	for _, id := range r.everBody {
		if _, err := r.disk.Body(id); err == nil {
			bodies++
		}
	}
	return headers, bodies
}

// What is put under syncpoint is in memory until its commit, and then on the
// disk: there is a limit to both, which a put hears of and not the commit.
func TestUnitsOfWorkAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.MaxPending = 100
	r.crash()
	r.define("DEFINE QLOCAL(Q)")
	c, other := r.connect(1, "app"), r.connect(2, "other")
	h, g := r.open(c, "Q", inOut), r.open(other, "Q", inOut)
	put := func(c ConnID, h uint32, bytes int, change ...func(*PutReq)) mqi.Reason {
		return r.call(c, r.putReq(h, strings.Repeat("x", bytes), change...)).Reason
	}
	check(t, "the first", put(c, h, 60, inUnit), mqi.MQRC_NONE)
	check(t, "too much", put(c, h, 41, inUnit), mqi.MQRC_RESOURCE_PROBLEM)
	check(t, "too much with another's", put(other, g, 41, inUnit), mqi.MQRC_RESOURCE_PROBLEM)
	check(t, "as much as there may be", put(other, g, 40, inUnit), mqi.MQRC_NONE)
	check(t, "outside syncpoint", put(c, h, 500), mqi.MQRC_NONE)
	r.must(c, CommitReq{})
	check(t, "what is committed does not count", put(c, h, 60, inUnit), mqi.MQRC_NONE)
	r.must(c, BackReq{})
	r.step(Disconnect{Conn: other, Abrupt: true})
	check(t, "nor what is backed out", put(c, h, 100, inUnit), mqi.MQRC_NONE)
	r.must(c, BackReq{})
	check(t, "the refused ones left nothing", r.counts("Q"), "2/0")

	r.step(Space{Room: 100})
	check(t, "half of the room", put(c, h, 50, inUnit, persistent), mqi.MQRC_NONE)
	check(t, "more", put(c, h, 1, inUnit, persistent), mqi.MQRC_Q_SPACE_NOT_AVAILABLE)
	check(t, "what is not written", put(c, h, 50, inUnit), mqi.MQRC_NONE)
	check(t, "outside syncpoint", put(c, h, 60, persistent), mqi.MQRC_NONE)
	r.must(c, CommitReq{})
	r.step(Space{})
	check(t, "where nobody knows", put(c, h, 100, inUnit, persistent), mqi.MQRC_NONE)
	check(t, "bodies of refused puts are let go", len(r.bodies), 6)
}
