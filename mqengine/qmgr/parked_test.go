package qmgr

import (
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// lonely is a partial repository whose full ones do not answer.
func lonely(t *testing.T) *rig {
	r := newRig(t)
	r.define("DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('127.0.0.1(1500)') CLUSTER(C1)",
		"DEFINE CHANNEL(TO.FULL) CHLTYPE(CLUSSDR) CONNAME('127.0.0.1(1501)') CLUSTER(C1)", "DEFINE QLOCAL(L)")
	return r
}

func TestOpenWaitsForTheRepository(t *testing.T) {
	t.Parallel()
	r := lonely(t)
	c := r.connect(1, "app")
	tag := r.send(c, OpenReq{OD: mqi.OD{ObjectName: "FAR"}, Options: out})
	check(t, "at once", r.answer(tag), "waiting")
	behind := r.send(c, OpenReq{OD: mqi.OD{ObjectName: "L"}, Options: inOut})
	check(t, "calls are carried out in order", r.answer(behind), "waiting")
	r.after(9 * time.Second)
	check(t, "after nine seconds", r.answer(tag), "waiting")
	r.after(2 * time.Second)
	check(t, "after ten", r.answer(tag), "2189")
	check(t, "the call behind it", r.replies[behind].Reason, mqi.MQRC_NONE)
}

func TestPut1WaitsAndTheCommitBehindIt(t *testing.T) {
	t.Parallel()
	r := lonely(t)
	c, other := r.connect(1, "app"), r.connect(2, "other")
	h := r.open(c, "L", out)
	r.put(c, h, "x", inUnit)
	tag := r.send(c, PutReq{OD: mqi.OD{ObjectName: "FAR"}, MD: mqi.NewMD(), Body: r.newBody("y"), PMO: mqi.PMO{Options: mqi.MQPMO_SYNCPOINT}})
	commit := r.send(c, CommitReq{})
	check(t, "the put", r.answer(tag), "waiting")
	check(t, "the commit does not overtake it", r.answer(commit), "waiting")
	g := r.open(other, "L", in)
	check(t, "others work on", r.get(other, g, 0), "2033")
	r.send(c, CancelReq{Tag: tag})
	check(t, "cancelled", r.answer(tag), "2189")
	check(t, "committed", r.replies[commit].Reason, mqi.MQRC_NONE)
	check(t, "committed", r.get(other, g, 0), "x")
	check(t, "the body of the cancelled put is let go", len(r.bodies), 0)
}

func TestDeathOfAWaitingApplication(t *testing.T) {
	t.Parallel()
	r := lonely(t)
	c := r.connect(1, "app")
	r.send(c, PutReq{OD: mqi.OD{ObjectName: "FAR"}, MD: mqi.NewMD(), Body: r.newBody("y")})
	r.send(c, PutReq{OD: mqi.OD{ObjectName: "FAR"}, MD: mqi.NewMD(), Body: r.newBody("z")})
	r.step(Disconnect{Conn: c, Abrupt: true})
	r.after(time.Minute)
	check(t, "nothing waits any more", len(r.m.waiting), 0)
	check(t, "bodies are let go", len(r.bodies), 0)
}
