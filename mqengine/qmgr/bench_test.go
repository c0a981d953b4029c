package qmgr

import (
	"fmt"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/store"
)

// benchMachine has a queue with depth messages and a connection that has it open as handle 1.
func benchMachine(b *testing.B, persistence int32, depth int) (*rig, func(i int)) {
	b.Helper()
	r := newRig(b)
	r.define("DEFINE QLOCAL(Q) MAXDEPTH(999999999)")
	r.connect(1, "bench")
	r.open(1, "Q", inOut)
	fx, body := &r.fx, store.BodyID(1<<30)
	put := PutReq{Handle: 1, MD: mqi.NewMD()}
	put.MD.Persistence = persistence
	put.MD.Format = "MQSTR"
	var get Event = Call{Conn: 1, Request: getReq(1, 0)}
	pair := func(i int) {
		body++
		put.Body = BodyRef{ID: body, Len: 1024}
		r.m.Step(r.now, Call{Conn: 1, Request: put}, fx)
		if i >= depth {
			r.m.Step(r.now, get, fx)
		}
		if n := len(fx.Replies); n > 0 && fx.Replies[n-1].CompCode != mqi.MQCC_OK {
			b.Fatal(fx.Replies[n-1].Reason)
		}
		fx.Reset()
	}
	for i := range depth {
		pair(i)
	}
	return r, pair
}

func BenchmarkPutGet(b *testing.B) {
	for _, p := range []struct {
		name        string
		persistence int32
		depth       int
	}{
		{"nonpersistent", mqi.MQPER_NOT_PERSISTENT, 0},
		{"persistent", mqi.MQPER_PERSISTENT, 0},
		{"persistent,depth=100000", mqi.MQPER_PERSISTENT, 100_000},
	} {
		b.Run(p.name, func(b *testing.B) {
			_, pair := benchMachine(b, p.persistence, p.depth)
			b.ReportAllocs()
			i := p.depth
			for b.Loop() {
				pair(i)
			}
		})
	}
}

func BenchmarkGetByCorrelId(b *testing.B) {
	r := newRig(b)
	r.define("DEFINE QLOCAL(Q) MAXDEPTH(999999999)")
	r.connect(1, "bench")
	r.open(1, "Q", inOut)
	const depth = 10_000
	put, get := PutReq{Handle: 1, MD: mqi.NewMD()}, getReq(1, 0)
	get.GMO.MatchOptions = mqi.MQMO_MATCH_CORREL_ID
	n := uint32(0)
	one := func() {
		n++
		put.MD.CorrelId = mqi.MsgId{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
		r.m.Step(r.now, Call{Conn: 1, Request: put}, &r.fx)
	}
	for range depth {
		one()
	}
	r.fx.Reset()
	b.ReportAllocs()
	for b.Loop() {
		one()
		get.MD.CorrelId = put.MD.CorrelId
		r.m.Step(r.now, Call{Conn: 1, Request: get}, &r.fx)
		r.fx.Reset()
	}
}

// BenchmarkRestore measures what a restart costs per message, without the store.
func BenchmarkRestore(b *testing.B) {
	msg := &message{md: mqi.NewMD(), body: BodyRef{ID: 1 << 41, Len: 100}, origin: "QM1_2026-05-04_10.00.00"}
	msg.md.Persistence, msg.md.PutApplName, msg.md.UserIdentifier = mqi.MQPER_PERSISTENT, "application", "user"
	header := appendHeader(nil, msg)
	m := New(Config{Name: "QM1"})
	seq := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		seq++
		if _, err := m.RestoreMessage(uint32(seq%10), seq, header); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDefine10000Queues(b *testing.B) {
	for b.Loop() {
		r := newRig(b)
		for i := range 10_000 {
			r.mqsc(fmt.Sprintf("DEFINE QLOCAL(APP.%d) CLUSTER(C1) DEFBIND(NOTFIXED)", i))
		}
	}
}
