package qmgr

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
)

// monitor reads the initiation queue and gives the names of the queues that triggered.
type monitor struct {
	*rig
	c ConnID
	h uint32
}

func newMonitor(r *rig) *monitor {
	c := r.connect(77, "runmqtrm")
	return &monitor{r, c, r.open(c, "INIT", in)}
}

func (x *monitor) triggered() string {
	var names []string
	for {
		text := x.get(x.c, x.h, 0)
		if text == "2033" {
			return strings.Join(names, " ")
		}
		names = append(names, strings.TrimSpace(text[8:56]))
	}
}

func triggerRig(t *testing.T, attributes string) (*rig, ConnID, uint32) {
	r := newRig(t)
	r.define("DEFINE QLOCAL(INIT)", "DEFINE PROCESS(P) APPLICID('/bin/worker') USERDATA('u') ENVRDATA('e')",
		"DEFINE QLOCAL(Q) TRIGGER INITQ(INIT) PROCESS(P) TRIGDATA('data') "+attributes)
	c := r.connect(1, "app")
	return r, c, r.open(c, "Q", out)
}

// TestTriggerMessage: what it says.
func TestTriggerMessage(t *testing.T) {
	t.Parallel()
	r, c, h := triggerRig(t, "TRIGTYPE(EVERY)")
	x := newMonitor(r)
	r.put(c, h, "work")
	tag := r.send(x.c, getReq(x.h, 0))
	text, md := r.texts[tag], r.replies[tag].Result.(*GetResult).MD
	equal(t, "length", len(text), 684)
	check(t, "format", md.Format, "MQTRIG")
	check(t, "who", fmt.Sprint(md.PutApplType, md.PutApplName), "7QM1")
	check(t, "structure", text[:8], "TM  \x01\x00\x00\x00")
	for _, f := range []struct {
		at, length int
		want       string
	}{{8, 48, "Q"}, {56, 48, "P"}, {104, 64, "data"}, {172, 256, "/bin/worker"}, {428, 128, "e"}, {556, 128, "u"}} {
		check(t, "field", text[f.at:f.at+f.length], fmt.Sprintf("%-*s", f.length, f.want))
	}
	check(t, "type of the program", binary.LittleEndian.Uint32([]byte(text[168:])), 6)
}

// TestTriggerFirst: from empty to not empty while nobody reads; again when the
// reader leaves work, and after TRIGINT.
func TestTriggerFirst(t *testing.T) {
	t.Parallel()
	r, c, h := triggerRig(t, "TRIGTYPE(FIRST) TRIGMPRI(2)")
	x := newMonitor(r)
	r.put(c, h, "low", priority(1))
	check(t, "priority below TRIGMPRI", x.triggered(), "")
	r.put(c, h, "uncommitted", priority(2), inUnit)
	check(t, "uncommitted", x.triggered(), "")
	r.put(c, h, "uncommitted", priority(2), inUnit)
	r.must(c, CommitReq{})
	check(t, "committed", x.triggered(), "Q")
	r.put(c, h, "more", priority(2))
	check(t, "not the first", x.triggered(), "")
	reader := r.connect(2, "reader")
	g := r.open(reader, "Q", in)
	r.drain(reader, g)
	r.put(c, h, "served", priority(2))
	check(t, "somebody reads", x.triggered(), "")
	r.must(reader, CloseReq{Handle: g})
	check(t, "the reader leaves work behind", x.triggered(), "Q")
	r.define("ALTER QMGR TRIGINT(5000)")
	r.put(c, h, "soon", priority(2))
	check(t, "before TRIGINT", x.triggered(), "")
	r.after(6 * time.Second)
	r.put(c, h, "late", priority(2))
	check(t, "after TRIGINT", x.triggered(), "Q")
	r.step(Disconnect{Conn: x.c})
	r.drain(reader, r.open(reader, "Q", in))
	r.step(Disconnect{Conn: reader})
	r.put(c, h, "nobody listens", priority(2))
	check(t, "no monitor, no message", r.counts("INIT"), "0/0")
	x = newMonitor(r)
	check(t, "the monitor comes", x.triggered(), "Q")
}

// TestTriggerEveryAndDepth: every message; a depth, once, which turns triggering off.
func TestTriggerEveryAndDepth(t *testing.T) {
	t.Parallel()
	r, c, h := triggerRig(t, "TRIGTYPE(EVERY)")
	x := newMonitor(r)
	reader := r.connect(2, "reader")
	r.open(reader, "Q", in)
	r.put(c, h, "1")
	r.put(c, h, "2")
	check(t, "every one, also with a reader", x.triggered(), "Q Q")
	r.step(Disconnect{Conn: reader})
	r.define("ALTER QLOCAL(Q) TRIGTYPE(DEPTH) TRIGDPTH(4)")
	r.put(c, h, "3")
	check(t, "three", x.triggered(), "")
	r.put(c, h, "4")
	check(t, "four", x.triggered(), "Q")
	check(t, "off", strings.Contains(r.mqsc("DISPLAY QLOCAL(Q) TRIGGER"), "NOTRIGGER"), true)
	r.put(c, h, "5")
	check(t, "off", x.triggered(), "")
	r.define("ALTER QLOCAL(Q) TRIGGER")
	r.put(c, h, "6")
	check(t, "on again", x.triggered(), "Q")
	r.define("ALTER QLOCAL(Q) TRIGGER TRIGTYPE(NONE)")
	r.put(c, h, "7")
	check(t, "none", x.triggered(), "")
}

// TestTriggerConditions: an inhibited initiation queue or a process that does not exist.
func TestTriggerConditions(t *testing.T) {
	t.Parallel()
	r, c, h := triggerRig(t, "TRIGTYPE(EVERY)")
	x := newMonitor(r)
	r.define("ALTER QLOCAL(INIT) PUT(DISABLED)")
	r.put(c, h, "1")
	r.define("ALTER QLOCAL(INIT) PUT(ENABLED)", "DELETE PROCESS(P)")
	r.put(c, h, "2")
	check(t, "nothing", x.triggered(), "")
	r.define("ALTER QLOCAL(Q) PROCESS('')")
	r.put(c, h, "3")
	check(t, "without a process", x.triggered(), "Q")
	// Trigger messages do not trigger: two initiation queues cannot feed each other.
	r.define("DEFINE QLOCAL(INIT2) TRIGGER TRIGTYPE(EVERY) INITQ(INIT)", "ALTER QLOCAL(INIT) TRIGGER TRIGTYPE(EVERY) INITQ(INIT2)")
	r.open(x.c, "INIT2", in)
	r.put(c, h, "4")
	check(t, "one", x.triggered(), "Q")
	check(t, "none", r.counts("INIT2"), "0/0")
}

// TestDepthTriggerSurvives: the queue's state and NOTRIGGER survive together.
func TestDepthTriggerSurvives(t *testing.T) {
	t.Parallel()
	r, c, h := triggerRig(t, "TRIGTYPE(DEPTH) TRIGDPTH(1)")
	newMonitor(r)
	r.put(c, h, "1", persistent)
	r.crash()
	check(t, "off", strings.Contains(r.mqsc("DISPLAY QLOCAL(Q) TRIGGER"), "NOTRIGGER"), true)
	check(t, "the message", r.counts("Q"), "1/0")
	check(t, "trigger messages are not persistent", r.counts("INIT"), "0/0")
}
