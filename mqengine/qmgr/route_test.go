package qmgr

import (
	"fmt"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/store"
)

// BenchmarkClusterPut is what the machine does for one persistent message to a
// remote instance: route, put, batch, and at the receiver the arrival; without store and network.
func BenchmarkClusterPut(b *testing.B) {
	w, qm1, qm2, qm3 := articleNet(b)
	for _, n := range []*netNode{qm2, qm3} {
		n.ok("ALTER QLOCAL(DCQ1) MAXDEPTH(999999999)")
	}
	h, _ := qm1.open("DCQ1", putNotFixed)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		md := mqi.NewMD()
		md.Persistence = mqi.MQPER_PERSISTENT
		qm1.fx.Reset()
		for range 50 {
			qm1.lastBody++
			qm1.m.Step(w.now, Call{Conn: 1, Tag: uint64(i), Request: PutReq{Handle: h, MD: md, Body: BodyRef{ID: qm1.lastBody, Len: 1024}}}, &qm1.fx)
		}
		frames := qm1.fx.Frames
		for _, fo := range frames {
			end := w.links[netEnd{qm1, fo.Link}]
			n := end.node
			for k := range fo.Frame.Messages {
				n.lastBody++
				fo.Frame.Messages[k].Body = BodyRef{ID: n.lastBody, Len: 1024}
			}
			n.fx.Reset()
			n.m.Step(w.now, LinkFrame{Link: end.link, Frame: fo.Frame}, &n.fx)
			for _, back := range n.fx.Frames {
				qm1.m.Step(w.now, LinkFrame{Link: fo.Link, Frame: back.Frame}, &qm1.fx)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/50, "ns/message")
}

func BenchmarkRoute(b *testing.B) {
	for _, hosts := range []int{2, 50} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			w := newClusterNet(b)
			qm1, qm2 := w.add("QM1"), w.add("QM2")
			qm1.joins(qm2, true)
			qm2.joins(qm1, true)
			qm2.ok("DEFINE QLOCAL(Q) CLUSTER(C1) DEFBIND(NOTFIXED)")
			for i := 3; i <= hosts+1; i++ {
				n := w.add(fmt.Sprintf("QM%d", i))
				n.joins(qm1, false)
				n.ok("DEFINE QLOCAL(Q) CLUSTER(C1) DEFBIND(NOTFIXED)")
			}
			w.settle()
			var fx Effects
			b.ReportAllocs()
			for b.Loop() {
				if r := qm1.m.route(w.now, &fx, routeRequest{Name: "Q", Bind: bindNotFixed}); r.Status != routeTransmit {
					b.Fatal(r)
				}
			}
		})
	}
	_ = store.BodyID(0)
}
