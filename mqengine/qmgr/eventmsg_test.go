package qmgr

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// readEvent takes a PCF event apart by its structures' own lengths: command,
// reason, then parameters in order.
func readEvent(t *testing.T, b string) string {
	t.Helper()
	long := func(at int) int { return int(int32(binary.LittleEndian.Uint32([]byte(b[at:])))) }
	if len(b) < 36 || long(0) != 7 || long(4) != 36 || long(8) != 1 || long(16) != 1 || long(20) != 1 || long(24) != 1 {
		t.Fatalf("no header of an event: %q", b)
	}
	out := fmt.Sprintf("%d %d:", long(12), long(28))
	at := 36
	for range long(32) {
		switch long(at) {
		case 3:
			out += fmt.Sprintf(" %d=%d", long(at+8), long(at+12))
		case 4:
			out += fmt.Sprintf(" %d=%s", long(at+8), strings.TrimRight(b[at+20:at+20+long(at+16)], " "))
		default:
			t.Fatalf("structure %d at %d", long(at), at)
		}
		at += long(at + 4)
	}
	equal(t, "length", at, len(b))
	return out
}

func (r *rig) events(t *testing.T, c ConnID, queue string) string {
	t.Helper()
	h := r.open(c, queue, in)
	defer r.must(c, CloseReq{Handle: h})
	var out []string
	for {
		tag := r.send(c, getReq(h, 0))
		if r.answer(tag) == "2033" {
			return strings.Join(out, "\n")
		}
		md := r.replies[tag].Result.(*GetResult).MD
		check(t, "format", md.Format, "MQEVENT")
		check(t, "who", md.PutApplName, "QM1")
		out = append(out, readEvent(t, r.texts[tag]))
	}
}

// TestDepthEvents: high, low and full, each once until its counterpart came.
func TestDepthEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("ALTER QMGR PERFMEV(ENABLED)", "DEFINE QLOCAL(Q) MAXDEPTH(10) QDEPTHHI(50) QDEPTHLO(20) QDPHIEV(ENABLED)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	put := func(n int) {
		for range n {
			r.put(c, h, "x")
		}
	}
	get := func(n int) {
		for range n {
			r.get(c, h, mqi.MQGMO_SYNCPOINT)
		}
		r.must(c, CommitReq{})
	}
	r.after(7 * time.Second)
	put(4)
	check(t, "below", r.events(t, c, perfmEventQ), "")
	put(3)
	check(t, "high, once", r.events(t, c, perfmEventQ), "45 2224: 2015=QM1 2002=Q 35=7 36=5 37=5 38=0")
	get(2)
	put(2)
	check(t, "not again", r.events(t, c, perfmEventQ), "")
	put(3)
	check(t, "full", r.call(c, r.putReq(h, "x")).Reason, mqi.MQRC_Q_FULL)
	check(t, "full", r.call(c, r.putReq(h, "x")).Reason, mqi.MQRC_Q_FULL)
	check(t, "full, once", r.events(t, c, perfmEventQ), "45 2053: 2015=QM1 2002=Q 35=0 36=10 37=7 38=2")
	get(9)
	check(t, "low, once", r.events(t, c, perfmEventQ), "45 2225: 2015=QM1 2002=Q 35=0 36=10 37=0 38=8")
	put(5)
	check(t, "high again", r.events(t, c, perfmEventQ), "45 2224: 2015=QM1 2002=Q 35=0 36=5 37=4 38=1")
	r.define("ALTER QMGR PERFMEV(DISABLED)")
	get(10)
	check(t, "off", r.events(t, c, perfmEventQ), "")
	r.define("ALTER QMGR PERFMEV(ENABLED)", "ALTER QLOCAL(Q) QDPHIEV(DISABLED) QDPLOEV(DISABLED) QDPMAXEV(DISABLED)")
	put(10)
	check(t, "full", r.call(c, r.putReq(h, "x")).Reason, mqi.MQRC_Q_FULL)
	get(10)
	check(t, "none", r.events(t, c, perfmEventQ), "")
}

// TestInhibitEvents: a put and a get that are not allowed.
func TestInhibitEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) PUT(DISABLED) GET(DISABLED)", "DEFINE QALIAS(A) TARGET(Q2) PUT(DISABLED)", "DEFINE QLOCAL(Q2)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	check(t, "put", r.call(c, r.putReq(h, "x")).Reason, mqi.MQRC_PUT_INHIBITED)
	check(t, "INHIBTEV is off", r.events(t, c, qmgrEventQ), "")
	r.define("ALTER QMGR INHIBTEV(ENABLED)")
	check(t, "put", r.call(c, r.putReq(h, "x")).Reason, mqi.MQRC_PUT_INHIBITED)
	check(t, "get", r.get(c, h, 0), "2016")
	check(t, "alias", r.call(c, r.putReq(r.open(c, "A", out), "x")).Reason, mqi.MQRC_PUT_INHIBITED)
	check(t, "events", r.events(t, c, qmgrEventQ), strings.Join([]string{
		"44 2051: 2015=QM1 2016=Q 1=6 3024=app", "44 2016: 2015=QM1 2016=Q 1=6 3024=app", "44 2051: 2015=QM1 2016=A 1=6 3024=app",
	}, "\n"))
}

// TestEventQueuesHaveNoEvents: a full event queue is not told of on itself.
func TestEventQueuesHaveNoEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("ALTER QMGR PERFMEV(ENABLED)", "ALTER QLOCAL("+perfmEventQ+") MAXDEPTH(1) QDPHIEV(ENABLED)",
		"DEFINE QLOCAL(Q) MAXDEPTH(1) QDPHIEV(ENABLED)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	before := len(r.log)
	r.put(c, h, "x")
	check(t, "full", r.call(c, r.putReq(h, "x")).Reason, mqi.MQRC_Q_FULL)
	check(t, "one event", r.counts(perfmEventQ), "1/0")
	check(t, "the other is logged", len(r.log)-before, 1)
}

// TestDepthSwitchesStartAnew: the switch that an event turned off is on again
// after a restart, and the definition never showed it off.
func TestDepthSwitchesStartAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("ALTER QMGR PERFMEV(ENABLED)", "DEFINE QLOCAL(Q) MAXDEPTH(4) QDEPTHHI(50) QDPHIEV(ENABLED)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", out)
	r.put(c, h, "x", persistent)
	r.put(c, h, "x", persistent)
	check(t, "an event", r.counts(perfmEventQ), "1/0")
	check(t, "the definition", strings.Contains(r.mqsc("DISPLAY QLOCAL(Q) QDPHIEV"), "QDPHIEV(ENABLED)"), true)
	r.crash()
	c = r.connect(1, "app")
	r.put(c, r.open(c, "Q", out), "x")
	check(t, "another event", r.counts(perfmEventQ), "1/0") // the first was not persistent
}
