package qmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// A message that is taken off a queue and finds no other place goes back,
// whatever the queue's limits have become: refusing it there would lose it.
func TestBoundMessageThatNobodyTakesStays(t *testing.T) {
	t.Parallel()
	w, qm1, _, qm3 := articleNet(t)
	qm1.ok("STOP CHANNEL(TO.QM3)")
	qm1.ok("ALTER QMGR DEADQ(' ')")
	qm1.connect()
	r := qm1.call(OpenReq{OD: mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: "QM3"}, Options: mqi.MQOO_OUTPUT})
	qm1.put(r.Result.(OpenResult).Handle, "bound", true)
	qm1.ok("ALTER QLOCAL(" + sharedTransmitQ + ") PUT(DISABLED)")
	qm1.step(Space{Low: true})
	qm3.ok("ALTER CHANNEL(TO.QM3) CHLTYPE(CLUSRCVR) CLUSTER(' ')")
	w.pass(time.Second)
	if got := qm1.texts(sharedTransmitQ); !slices.Equal(got, []string{"bound"}) {
		t.Errorf("waiting: %v", got)
	}
	qm1.crash()
	qm1.start()
	if got := qm1.texts(sharedTransmitQ); !slices.Equal(got, []string{"bound"}) {
		t.Errorf("after a restart: %v", got)
	}
}

// A move away from a full disk is what makes room: it writes headers only.
func TestMoveGoesOnBelowTheDiskReserve(t *testing.T) {
	t.Parallel()
	w, qm2, qm3 := stranded(t, 10, "PUT(DISABLED)")
	qm2.step(Space{Low: true})
	check(t, "moved", len(qm2.move(MoveReq{}).Moved), 10)
	w.pass(time.Second)
	check(t, "arrived", len(qm3.texts("DCQ1")), 10)
}
