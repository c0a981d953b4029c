package qmgr

import (
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// TestExpiryTravels: what is left of a message's life goes with it through a
// channel, and again when it moves to another instance.
func TestExpiryTravels(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 0, "")
	h := qm2.mustOpen("DCQ1", out|mqi.MQOO_BIND_NOT_FIXED)
	qm2.mustPut(h, "short", func(p *PutReq) { p.MD.Expiry = 300 })
	qm2.mustPut(h, "long", func(p *PutReq) { p.MD.Expiry = 6000 })
	w.pass(20 * time.Second)
	qm2.ok("ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	w.pass(time.Second)
	check(t, "moved", len(qm2.move(MoveReq{}).Moved), 2)
	w.pass(4 * time.Second)
	g := qm3.mustOpen("DCQ1", mqi.MQOO_BROWSE)
	left := func(option int32) int32 {
		res, ok := qm3.call(getReq(g, option)).Result.(*GetResult)
		if !ok {
			return 0
		}
		return res.MD.Expiry
	}
	if short := left(mqi.MQGMO_BROWSE_FIRST); short < 40 || short > 60 {
		t.Errorf("the short one has %d tenths left, want about 50", short)
	}
	if long := left(mqi.MQGMO_BROWSE_NEXT); long < 5740 || long > 5760 {
		t.Errorf("the long one has %d tenths left, want about 5750", long)
	}
	w.pass(6 * time.Second)
	if long := left(mqi.MQGMO_BROWSE_FIRST); long < 5680 || long > 5700 {
		t.Errorf("the short one expired, the next has %d tenths left, want about 5690", long)
	}
}
