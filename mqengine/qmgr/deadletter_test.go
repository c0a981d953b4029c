package qmgr

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
)

// A dead letter says why it is one and where it should have gone, whatever the
// reason, also after a crash.
func TestDeadLetter_SaysWhyAndWhere(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		queue, qmgr, at string // at: the queue manager that the header names
		why             mqi.Reason
	}{
		{"OFF", "QM1", "QM1", mqi.MQRC_PUT_INHIBITED},
		{"OFF", "", "QM1", mqi.MQRC_PUT_INHIBITED},
		{"AOFF", "QM1", "QM1", mqi.MQRC_PUT_INHIBITED},
		{"FULL", "QM1", "QM1", mqi.MQRC_Q_FULL},
		{"SHORT", "QM1", "QM1", mqi.MQRC_MSG_TOO_BIG_FOR_Q},
		{"NONE", "QM1", "QM1", mqi.MQRC_UNKNOWN_OBJECT_NAME},
		{"NOBASE", "QM1", "QM1", mqi.MQRC_UNKNOWN_ALIAS_BASE_Q},
		{"X", "QM8", "QM8", mqi.MQRC_UNKNOWN_REMOTE_Q_MGR},
	} {
		r := newRig(t)
		r.define("ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)", "DEFINE QLOCAL(L)", "DEFINE QLOCAL(OFF) PUT(DISABLED)", "DEFINE QLOCAL(FULL) MAXDEPTH(0)",
			"DEFINE QLOCAL(SHORT) MAXMSGL(3)", "DEFINE QALIAS(AOFF) TARGET(L) PUT(DISABLED)", "DEFINE QALIAS(NOBASE) TARGET(MISSING)")
		check(t, x.queue, r.arrive(x.queue, x.qmgr, nil), -x.why)
		r.crash()
		c := r.connect(1, "app")
		tag := r.send(c, getReq(r.open(c, "SYSTEM.DEAD.LETTER.QUEUE", in), 0))
		text := r.texts[tag]
		check(t, x.queue+": reason", mqi.Reason(binary.LittleEndian.Uint32([]byte(text[8:]))), x.why)
		check(t, x.queue+": queue", strings.TrimSpace(text[12:60]), x.queue)
		check(t, x.queue+": queue manager", strings.TrimSpace(text[60:108]), x.at)
		check(t, x.queue+": contents", text[172:], "arrived")
	}
}
