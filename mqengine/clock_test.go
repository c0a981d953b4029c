package mqengine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

func TestClock_SystemClockIsSet_NeverGoesBackAndAgreesAgain(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const s = time.Second
	for name, test := range map[string]struct {
		passed, wall, want time.Duration
	}{
		"in step":              {10 * s, 10 * s, 10 * s},
		"set forward":          {10 * s, time.Hour, time.Hour},
		"set back an hour":     {10 * s, -time.Hour, 9 * s},
		"set back a bit":       {10 * s, 9500 * time.Millisecond, 9500 * time.Millisecond},
		"set back, no time":    {0, -time.Hour, 0},
		"a little ahead still": {10 * s, 9 * s, 9 * s},
	} {
		if got := steady(noon, test.passed, noon.Add(test.wall)); !got.Equal(noon.Add(test.want)) {
			t.Errorf("%s: it shows %v after noon, want %v", name, got.Sub(noon), test.want)
		}
	}
	// Set back by a minute: after ten minutes the two agree.
	shown := noon
	for i := range 600 {
		last := shown
		shown = steady(shown, s, noon.Add(time.Duration(i+1)*s-time.Minute))
		if !shown.After(last) {
			t.Fatalf("second %d: it went from %v to %v", i, last, shown)
		}
	}
	if want := noon.Add(9 * time.Minute); !shown.Equal(want) {
		t.Errorf("after ten minutes it shows %v, want %v", shown, want)
	}
}

func TestClock_Reads_WithTheSystem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := newClock(start)
		<-time.After(time.Minute)
		if got := c.now(); !got.Equal(start.Add(time.Minute)) {
			t.Errorf("after a minute it shows %v, want %v", got, start.Add(time.Minute))
		}
		if got := c.until(start.Add(2 * time.Minute)); got != time.Minute {
			t.Errorf("until two minutes after the start: %v, want a minute", got)
		}
	})
}

// While the system's clock is behind, events and deadlines have one time: a
// deadline that an event sets by the system's clock would be over at once.
func TestActor_SystemClockIsBehind_EventsHaveTheClocksTime(t *testing.T) {
	t.Parallel()
	s := foundMemory(t)
	var numbers bodyNumbers
	m := qmgr.New(qmgr.Config{Name: "QM1", StartTime: time.Now(), NewBody: numbers.next})
	if _, err := s.Load(restorer{m}); err != nil {
		t.Fatal(err)
	}
	a := newActor(m, newMailbox(), s, 1<<20)
	var fx qmgr.Effects
	m.Start(time.Now(), &fx)
	ahead := time.Now().Add(time.Hour)
	a.clock.shown = ahead
	od := mqi.OD{ObjectName: "SYSTEM.DEFAULT.LOCAL.QUEUE"}
	a.items = []item{
		{event: qmgr.Connect{Conn: 1, Appl: qmgr.Appl{Tag: "test"}}},
		{event: qmgr.Call{Conn: 1, Tag: 1, Request: qmgr.PutReq{OD: od, MD: mqi.NewMD()}}},
	}
	fx.Reset()
	a.step(&fx)
	if len(fx.Replies) != 1 {
		t.Fatalf("%d replies", len(fx.Replies))
	}
	put, ok := fx.Replies[0].Result.(qmgr.PutResult)
	if !ok || put.PutDateTime < ahead.UnixMilli() {
		t.Errorf("put %+v, %v: the clock had shown %d before", put, fx.Replies[0].Reason, ahead.UnixMilli())
	}
}
