package qmgr

import (
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// A message can be had until its life is over and never after, by whatever kind
// of get; what expired leaves nothing behind.
func TestExpiry_ToTheMillisecond(t *testing.T) {
	t.Parallel()
	const life = 2 * time.Second
	for name, get := range map[string]func(*rig, ConnID, uint32) string{
		"get":    func(r *rig, c ConnID, h uint32) string { return r.get(c, h, 0) },
		"unit":   func(r *rig, c ConnID, h uint32) string { return r.get(c, h, mqi.MQGMO_SYNCPOINT) },
		"browse": func(r *rig, c ConnID, h uint32) string { return r.get(c, h, mqi.MQGMO_BROWSE_FIRST) },
		"by id": func(r *rig, c ConnID, h uint32) string {
			req := getReq(h, 0)
			req.GMO.MatchOptions, req.MD.CorrelId = mqi.MQMO_MATCH_CORREL_ID, mqi.MsgId{7}
			return r.getWith(c, req)
		},
	} {
		for _, early := range []time.Duration{time.Millisecond, 0, -time.Millisecond} {
			r := newRig(t)
			r.define("DEFINE QLOCAL(Q)")
			c := r.connect(1, "app")
			h := r.open(c, "Q", inOut|mqi.MQOO_BROWSE)
			r.put(c, h, "short", persistent, func(req *PutReq) { req.MD.Expiry, req.MD.CorrelId = 20, mqi.MsgId{7} })
			r.now = r.now.Add(life - early) // no tick: the get itself has to see it
			want := "2033"
			if early > 0 {
				want = "short"
			}
			check(t, name+" "+early.String(), get(r, c, h), want)
			if early > 0 {
				continue
			}
			r.settle()
			headers, bodies := stored(r)
			check(t, name+": left in the store", headers+bodies+len(r.bodies), 0)
			check(t, name+": left on the queue", r.counts("Q"), "0/0")
		}
	}
}
