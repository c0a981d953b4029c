package qmgr

import (
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

// Bind on group: all messages of a group go to one instance, and the next group
// may go to another.
func TestBindOnGroup_AGroupGoesOneWay(t *testing.T) {
	t.Parallel()
	_, qm1, _, _ := articleNet(t)
	h, reason := qm1.open("DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_ON_GROUP)
	check(t, "open", reason, mqi.MQRC_NONE)
	ways := map[string]int{}
	for range 4 {
		first := ""
		for i := range 3 {
			md := mqi.NewMD()
			md.MsgFlags = mqi.MQMF_MSG_IN_GROUP
			if i == 2 {
				md.MsgFlags = mqi.MQMF_LAST_MSG_IN_GROUP
			}
			res := qm1.call(PutReq{Handle: h, MD: md, PMO: mqi.PMO{Options: mqi.MQPMO_LOGICAL_ORDER}}).Result.(PutResult)
			if i == 0 {
				first = res.ResolvedQMgrName
				ways[first]++
			}
			check(t, "message of the group", res.ResolvedQMgrName, first)
		}
	}
	check(t, "groups at QM2", ways["QM2"], 2)
	check(t, "groups at QM3", ways["QM3"], 2)
}
