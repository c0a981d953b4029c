package qmgr

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

// arrive delivers a message as a channel does and settles its effects.
func (r *rig) arrive(queue, qmgr string, change func(*message)) mqi.Reason {
	msg := &message{md: mqi.NewMD(), body: r.newBody("arrived"), bind: bindOnOpen, targetQ: queue, targetQMgr: qmgr, channel: "TO.QM1", fromCluster: true}
	msg.md.Priority, msg.md.Persistence = 0, mqi.MQPER_PERSISTENT
	if change != nil {
		change(msg)
	}
	reason := r.m.deliver(r.now, &r.fx, msg)
	if reason != mqi.MQRC_NONE {
		reason2 := r.m.deadLetter(r.now, &r.fx, msg, reason)
		if reason2 == mqi.MQRC_NONE {
			reason = -reason
		}
	}
	r.settle()
	return reason
}

func TestArrivals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(L)", "DEFINE QLOCAL(OFF) PUT(DISABLED)", "DEFINE QLOCAL(FULL) MAXDEPTH(0)", "DEFINE QLOCAL(QM9) USAGE(XMITQ)",
		"DEFINE QALIAS(A) TARGET(L)", "DEFINE QALIAS(AOFF) TARGET(L) PUT(DISABLED)", "DEFINE QALIAS(NOBASE) TARGET(MISSING)",
		"DEFINE QREMOTE(R) RNAME(Q) RQMNAME(QM9)", "DEFINE QREMOTE(OTHERNAME) RNAME(' ') RQMNAME(QM1)",
		"DEFINE QREMOTE(GATE) RNAME(' ') RQMNAME(QM9)", "DEFINE QREMOTE(ANY) RNAME(' ') RQMNAME(' ')")
	for _, x := range []struct {
		queue, qmgr, lands string
		want               mqi.Reason
	}{
		{"L", "QM1", "L", 0},
		{"L", "", "L", 0},
		{"A", "QM1", "L", 0},
		{"A", "", "L", 0},
		{"R", "QM1", "QM9", 0},
		{"L", "OTHERNAME", "L", 0},
		{"L", "ANY", "L", 0},
		{"X", "GATE", "QM9", 0},
		{"X", "QM9", "QM9", 0},
		{"OFF", "QM1", "", mqi.MQRC_PUT_INHIBITED},
		{"AOFF", "QM1", "", mqi.MQRC_PUT_INHIBITED},
		{"FULL", "", "", mqi.MQRC_Q_FULL},
		{"NONE", "QM1", "", mqi.MQRC_UNKNOWN_OBJECT_NAME},
		{"NONE", "", "", mqi.MQRC_UNKNOWN_OBJECT_NAME},
		{"NOBASE", "QM1", "", mqi.MQRC_UNKNOWN_ALIAS_BASE_Q},
		{"X", "QM8", "", mqi.MQRC_UNKNOWN_REMOTE_Q_MGR},
	} {
		before := map[string]int{}
		for _, q := range []string{"L", "QM9"} {
			before[q] = r.m.localQueue(q).depth
		}
		check(t, x.queue+"@"+x.qmgr, r.arrive(x.queue, x.qmgr, nil), x.want)
		for _, q := range []string{"L", "QM9"} {
			want := 0
			if q == x.lands {
				want = 1
			}
			check(t, x.queue+"@"+x.qmgr+" on "+q, r.m.localQueue(q).depth-before[q], want)
		}
	}
	msg := r.m.localQueue("L").firstAvailable()
	check(t, "the transmission header is gone", msg.targetQ+msg.targetQMgr+msg.channel, "")
	msg = r.m.localQueue("QM9").firstAvailable()
	check(t, "sent on", msg.targetQ+"@"+msg.targetQMgr, "Q@QM9")
}

func TestDeadLetterQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	check(t, "there is no dead-letter queue by default", r.arrive("NONE", "QM1", nil), mqi.MQRC_UNKNOWN_OBJECT_NAME)
	r.define("ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)")
	check(t, "dead letter", r.arrive("NONE", "QM1", nil), -mqi.MQRC_UNKNOWN_OBJECT_NAME)
	r.crash()
	c := r.connect(1, "app")
	h := r.open(c, "SYSTEM.DEAD.LETTER.QUEUE", in)
	tag := r.send(c, getReq(h, 0))
	text, res := r.texts[tag], r.replies[tag].Result.(*GetResult)
	equal(t, "length", len(text), 172+len("arrived"))
	check(t, "length told", res.Length, len(text))
	check(t, "format", res.MD.Format, "MQDEAD")
	check(t, "body", text[172:], "arrived")
	check(t, "header", text[:8], "DLH \x01\x00\x00\x00")
	check(t, "reason", binary.LittleEndian.Uint32([]byte(text[8:])), 2085)
	check(t, "queue", text[12:60], fmt.Sprintf("%-48s", "NONE"))
	check(t, "queue manager", text[60:108], fmt.Sprintf("%-48s", "QM1"))
	check(t, "format of the message", text[116:124], "        ")
	check(t, "who", text[128:156], fmt.Sprintf("%-28s", "QM1"))
	check(t, "when", text[156:172], "2026050410000000")
	r.define("ALTER QMGR DEADQ(MISSING)")
	check(t, "the dead-letter queue is missing", r.arrive("NONE", "QM1", nil), mqi.MQRC_UNKNOWN_OBJECT_NAME)
	r.define("ALTER QMGR DEADQ(SYSTEM.CLUSTER.TRANSMIT.QUEUE)")
	check(t, "a transmission queue is none", r.arrive("NONE", "QM1", nil), mqi.MQRC_UNKNOWN_OBJECT_NAME)
}

// TestLockedMessages: a channel's batch is in doubt until it is confirmed.
func TestLockedMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	r.put(c, h, "first", persistent)
	r.put(c, h, "second", persistent)
	q := r.m.localQueue("Q")
	msg := q.firstAvailable()
	check(t, "lock", r.m.lockMessage(&r.fx, q, msg), true)
	check(t, "twice", r.m.lockMessage(&r.fx, q, msg), false)
	r.settle()
	check(t, "counts", r.counts("Q"), "1/1")
	r.m.unlockMessage(r.now, &r.fx, q, msg)
	r.settle()
	check(t, "back in its place", r.get(c, h, 0), "first")
	check(t, "gone", r.m.lockMessage(&r.fx, q, msg), false)
	msg = q.firstAvailable()
	r.m.lockMessage(&r.fx, q, msg)
	r.m.removeMessage(&r.fx, q, msg)
	r.m.removeMessage(&r.fx, q, msg) // a second confirmation does no harm
	r.settle()
	check(t, "counts", r.counts("Q"), "0/0")
	headers, bodies := stored(r)
	check(t, "store", headers+bodies+len(r.bodies), 0)
}
