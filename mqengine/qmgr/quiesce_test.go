package qmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

const quiet = mqi.MQGMO_FAIL_IF_QUIESCING

func (r *rig) quiesce() { r.step(Quiesce{}) }

// A controlled end lets the calls fail that ask for it, and only those; it is
// over when nobody has an object open or a unit of work.
func TestQuiesce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)", "DEFINE QLOCAL(EMPTY)")
	c := r.connect(1, "app")
	r.connect(2, "idle")
	h, empty := r.open(c, "Q", inOut), r.open(c, "EMPTY", in)
	r.put(c, h, "one")
	wait := mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: 60_000, MaxLength: -1}
	stubborn := r.send(c, GetReq{Handle: empty, GMO: wait})
	wait.Options |= quiet
	polite := r.send(c, GetReq{Handle: empty, GMO: wait})
	r.quiesce()
	check(t, "a wait that asks for it", r.answer(polite), "2161")
	check(t, "another one", r.answer(stubborn), "waiting")
	check(t, "it shows", strings.Contains(r.mqsc("DISPLAY QMSTATUS STATUS"), "STATUS(QUIESCING)"), true)

	check(t, "a get", r.getWith(c, GetReq{Handle: h, GMO: mqi.GMO{Options: quiet, MaxLength: -1}}), "2161")
	check(t, "a put", r.call(c, r.putReq(h, "x", func(p *PutReq) { p.PMO.Options |= quiet })).Reason, mqi.MQRC_Q_MGR_QUIESCING)
	check(t, "an open", r.openReason(c, "Q", "", in|quiet), mqi.MQRC_Q_MGR_QUIESCING)
	check(t, "a move", r.call(c, MoveReq{From: "Q", To: "Q", Max: 1}).Reason, mqi.MQRC_Q_MGR_QUIESCING)
	r.put(c, h, "two", inUnit)
	check(t, "a get that does not ask", r.get(c, h, 0), "one")
	r.must(c, CommitReq{})
	check(t, "a new connection", r.openReason(r.connect(9, "late"), "Q", "", in), mqi.MQRC_Q_MGR_QUIESCING)

	r.must(c, CloseReq{Handle: empty})
	check(t, "with an open queue", r.ended, false)
	r.put(c, h, "in the unit", inUnit)
	r.must(c, CloseReq{Handle: h})
	check(t, "with a unit of work", r.ended, false)
	r.must(c, BackReq{})
	check(t, "with idle connections", r.ended, true)
	check(t, "what was committed", r.counts("Q"), "1/0")
}

// Who waits for the repository and asks to fail does, and the calls behind it go on.
func TestQuiesceEndsParkedOpens(t *testing.T) {
	t.Parallel()
	r := lonely(t)
	c := r.connect(1, "app")
	parked := r.send(c, OpenReq{OD: mqi.OD{ObjectName: "FAR"}, Options: out | quiet})
	refused := r.send(c, OpenReq{OD: mqi.OD{ObjectName: "L"}, Options: out | quiet})
	behind := r.send(c, OpenReq{OD: mqi.OD{ObjectName: "L"}, Options: inOut})
	other := r.connect(2, "other")
	stubborn := r.send(other, PutReq{OD: mqi.OD{ObjectName: "FAR"}, MD: mqi.NewMD(), Body: r.newBody("y")})
	r.quiesce()
	check(t, "the parked one", r.answer(parked), "2161")
	check(t, "one behind it that asks too", r.answer(refused), "2161")
	check(t, "one that does not", r.replies[behind].Reason, mqi.MQRC_NONE)
	check(t, "a put that does not", r.answer(stubborn), "waiting")
	r.must(c, CloseReq{Handle: r.replies[behind].Result.(OpenResult).Handle})
	check(t, "while it waits", r.ended, false)
	r.after(11 * time.Second)
	check(t, "when it has waited", r.answer(stubborn), "2189")
	check(t, "it is over", r.ended, true)
	check(t, "nothing is kept of it", len(r.bodies), 0)
}

// A queue manager that nobody uses ends at once.
func TestQuiesceOfNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.quiesce()
	check(t, "ended", r.ended, true)
}

// STOP CONN breaks a connection as its death would.
func TestStopConn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c, other := r.connect(0xA, "app"), r.connect(2, "other")
	h := r.open(c, "Q", inOut)
	r.put(c, h, "kept")
	r.put(c, h, "backed out", inUnit)
	waiting := r.send(other, GetReq{Handle: r.open(other, "Q", in), GMO: mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: mqi.MQWI_UNLIMITED, MaxLength: -1}})
	check(t, "the other's get", r.answer(waiting), "kept")
	check(t, "nobody", strings.TrimSpace(r.mqsc("STOP CONN(00000000000000FF)")), "AMQ8147E: IBM MQ object 00000000000000FF not found.")
	check(t, "another queue manager's", strings.HasPrefix(r.mqsc("STOP CONN(000000000000000A) EXTCONN(414D5143)"), "AMQ8147E"), true)
	check(t, "stopped", strings.TrimSpace(r.mqsc("STOP CONN(000000000000000a)")), "AMQ8457I: IBM MQ connection stopped.")
	if len(r.stopped) != 1 || r.stopped[0] != c {
		t.Errorf("the shell is told of %v", r.stopped)
	}
	check(t, "its calls", r.get(c, h, 0), "2018")
	check(t, "what is left", r.counts("Q"), "0/0")
}
