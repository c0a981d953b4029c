package adapt

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// What moved and came back stays, also for the daemon's next life, until the
// ledger's time is over. A message that looks the same and never moved goes.
func TestLedger_OutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	p := newPair(t, "DEFPSIST(YES)")
	state := filepath.Join(t.TempDir(), "state.db")
	life := func(ttl time.Duration, do func()) {
		db, err := actions.OpenDB(state)
		if err != nil {
			t.Fatal(err)
		}
		p.ledger = NewLedger(ttl, db)
		do()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	put := func(n int) {
		h := open(t, p.c2, "DCQ1", mqi.MQOO_OUTPUT|mqi.MQOO_BIND_NOT_FIXED)
		for i := range n {
			m := mqengine.Message{MD: mqi.NewMD(), Body: []byte(fmt.Sprint(i))}
			if _, err := p.c2.Put(t.Context(), h, &m, mqi.PMO{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.c2.Close(t.Context(), h, 0); err != nil {
			t.Fatal(err)
		}
	}
	const n = 120
	put(n)
	p.lower(t)
	life(0, func() {
		if m := p.move(t, nil); m.Outcome != actions.MoveEmpty || m.Moved != n {
			t.Fatalf("%+v", m)
		}
	})
	p.arrived(t)
	// Nobody reads at QM3 either: its daemon sends them back.
	mqscRun(t, p.c2, "ALTER QLOCAL(DCQ1) PUT(ENABLED)")
	mqscRun(t, p.c3, "ALTER QLOCAL(DCQ1) PUT(DISABLED)")
	eventually(t, "all of them back", func() bool {
		if _, err := p.c3.Move(t.Context(), qmgr.MoveReq{From: "DCQ1", To: "DCQ1", Max: 1000}); err != nil {
			t.Fatal(err)
		}
		return depth(t, p.c2, "DCQ1") == n
	})
	put(5)
	mqscRun(t, p.c3, "ALTER QLOCAL(DCQ1) PUT(ENABLED)")
	p.lower(t)
	for range 2 {
		life(0, func() {
			m := p.move(t, nil)
			if m.Outcome != actions.MoveLeft || m.Skipped.Returned != n || m.Remaining != n {
				t.Errorf("they came back: %+v", m)
			}
		})
	}
	p.arrived(t)
	if got := depth(t, p.c3, "DCQ1"); got != 5 {
		t.Errorf("%d are at QM3, want the 5 that never moved", got)
	}
	life(time.Nanosecond, func() { // as if the time was over
		if m := p.move(t, nil); m.Outcome != actions.MoveEmpty || m.Moved != n {
			t.Errorf("after the ledger's time: %+v", m)
		}
	})
}
