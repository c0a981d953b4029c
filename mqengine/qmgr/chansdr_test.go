package qmgr

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// outside is a queue manager A with a sender channel to B, which is in no
// cluster with it. xmitq and channel are what the definitions have besides.
func outside(t *testing.T, xmitq, channel string) (w *clusterNet, a, b *netNode, h uint32) {
	w = newClusterNet(t)
	a, b = w.add("A"), w.add("B")
	a.ok("ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)", "DEFINE QLOCAL(XB) USAGE(XMITQ) "+xmitq,
		"DEFINE CHANNEL(A.B) CHLTYPE(SDR) CONNAME('"+conname(b.addr)+"') XMITQ(XB) "+channel, "DEFINE QREMOTE(REM) RNAME(Q) RQMNAME(B) XMITQ(XB)")
	b.ok("DEFINE QLOCAL(Q)", "DEFINE CHANNEL(A.B) CHLTYPE(RCVR)")
	h, reason := a.open("REM", mqi.MQOO_OUTPUT)
	if reason != mqi.MQRC_NONE {
		t.Fatal(reason)
	}
	return w, a, b, h
}

func TestTransmissionQueueTriggersItsChannel(t *testing.T) {
	for name, xmitq := range map[string]string{
		"TRIGDATA":         "TRIGGER TRIGTYPE(FIRST) INITQ(SYSTEM.CHANNEL.INITQ) TRIGDATA(A.B)",
		"by the XMITQ":     "TRIGGER TRIGTYPE(FIRST) INITQ(SYSTEM.CHANNEL.INITQ)",
		"USERDATA":         "TRIGGER TRIGTYPE(FIRST) INITQ(SYSTEM.CHANNEL.INITQ) PROCESS(P)",
		"EVERY":            "TRIGGER TRIGTYPE(EVERY) INITQ(SYSTEM.CHANNEL.INITQ)",
		"DEPTH":            "TRIGGER TRIGTYPE(DEPTH) TRIGDPTH(1) INITQ(SYSTEM.CHANNEL.INITQ)",
		"priority too low": "TRIGGER TRIGTYPE(FIRST) TRIGMPRI(5) INITQ(SYSTEM.CHANNEL.INITQ)",
		"no trigger":       "NOTRIGGER INITQ(SYSTEM.CHANNEL.INITQ)",
		"other queue":      "TRIGGER TRIGTYPE(FIRST) INITQ(OTHER.INITQ) TRIGDATA(A.B)",
		"channel unknown":  "TRIGGER TRIGTYPE(FIRST) INITQ(SYSTEM.CHANNEL.INITQ) TRIGDATA(NO.SUCH)",
	} {
		t.Run(name, func(t *testing.T) {
			w, a, b, h := outside(t, xmitq, "DISCINT(10)")
			a.ok("DEFINE PROCESS(P) USERDATA('A.B')", "DEFINE QLOCAL(OTHER.INITQ)")
			a.put(h, "one", true)
			w.settle()
			starts := !slices.Contains([]string{"priority too low", "no trigger", "other queue", "channel unknown"}, name)
			if got := len(b.texts("Q")) == 1; got != starts {
				t.Fatalf("started %v, want %v; log %q", got, starts, a.log)
			}
			if got := a.texts(channelInitQ); len(got) != 0 {
				t.Errorf("trigger messages %v are left", got)
			}
			if name == "channel unknown" && !slices.ContainsFunc(a.log, func(l string) bool { return strings.Contains(l, "AMQ9519E") && strings.Contains(l, "NO.SUCH") }) {
				t.Errorf("nobody is told: %q", a.log)
			}
			if !starts {
				return
			}
			// It ends by itself; what comes then starts it again, as often as that is.
			w.pass(11 * time.Second)
			if got := a.chstatus("A.B"); got != "" {
				t.Fatalf("after the disconnect interval %q", got)
			}
			if name == "DEPTH" {
				a.ok("ALTER QLOCAL(XB) TRIGGER") // the event had turned it off
			}
			a.put(h, "two", true)
			w.settle()
			if got := b.texts("Q"); len(got) != 2 {
				t.Errorf("the second time %v", got)
			}
		})
	}
}

// A message that came while the queue manager was down for its channel: the
// channel initiator finds it at the start. A stopped channel stays stopped.
func TestTriggeringAtTheStart(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		w, a, b, h := outside(t, "TRIGGER TRIGTYPE(FIRST) INITQ(OTHER.INITQ) TRIGDATA(A.B)", "")
		a.put(h, "waits", true)
		a.ok("ALTER QLOCAL(XB) INITQ(SYSTEM.CHANNEL.INITQ)")
		if stopped {
			a.ok("STOP CHANNEL(A.B)")
		}
		w.settle()
		a.crash()
		a.start()
		w.pass(time.Second)
		if got := len(b.texts("Q")) == 0; got != stopped {
			t.Errorf("stopped %v: arrived %v, channel %q", stopped, b.texts("Q"), a.chstatus("A.B"))
		}
	}
}

// What is longer than either end allows does not stop what is behind it.
func TestTooLongForTheChannel(t *testing.T) {
	for _, deadQ := range []bool{true, false} {
		w, a, b, h := outside(t, "", "MAXMSGL(100)")
		b.ok("ALTER CHANNEL(A.B) CHLTYPE(RCVR) MAXMSGL(10)")
		if !deadQ {
			a.ok("ALTER QMGR DEADQ(' ')")
		}
		for _, text := range []string{"short", "eleven long", "after"} {
			a.put(h, text, true)
		}
		a.ok("START CHANNEL(A.B)")
		w.pass(time.Second)
		if deadQ {
			if got := b.texts("Q"); !slices.Equal(got, []string{"short", "after"}) {
				t.Errorf("arrived %v", got)
			}
			if got := a.texts("SYSTEM.DEAD.LETTER.QUEUE"); !slices.Equal(got, []string{"eleven long"}) {
				t.Errorf("dead letters %v", got)
			}
			if msg := a.m.localQueue("SYSTEM.DEAD.LETTER.QUEUE").next(headOfQueue); msg.dead.reason != mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL {
				t.Errorf("reason %v", msg.dead.reason)
			}
			continue
		}
		if got := a.chstatus("A.B"); got != "A.B SDR B STOPPED" {
			t.Errorf("without a dead-letter queue the channel is %q", got)
		}
		if got := a.texts("XB"); !slices.Contains(got, "eleven long") || len(got)+len(b.texts("Q")) != 3 {
			t.Errorf("left %v, arrived %v", got, b.texts("Q"))
		}
		a.ok("ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)", "START CHANNEL(A.B)")
		w.pass(time.Second)
		if got := b.texts("Q"); !slices.Equal(got, []string{"short", "after"}) {
			t.Errorf("with one arrived %v", got)
		}
	}
}

// Fast messages are lost with the link, others are not; and nobody takes twice.
func TestNonpersistentSpeed(t *testing.T) {
	for _, tc := range []struct {
		speed string
		want  int
	}{{"FAST", 0}, {"NORMAL", 1}} {
		w, a, b, h := outside(t, "", "NPMSPEED("+tc.speed+")")
		a.ok("START CHANNEL(A.B)")
		w.settle()
		a.lastBody++
		a.bodies[a.lastBody] = []byte("under way")
		md := mqi.NewMD()
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
		a.step(Call{Conn: 1, Tag: 1 << 20, Request: PutReq{Handle: h, MD: md, Body: BodyRef{ID: a.lastBody, Len: 9}}})
		a.cutLinks()
		w.pass(time.Minute)
		if got := b.texts("Q"); len(got) != tc.want {
			t.Errorf("NPMSPEED(%s): arrived %v", tc.speed, got)
		}
	}
}

// An orderly end of either queue manager does not lose what is under way, fast
// messages neither; what was not sent stays, and the channel goes on after the restart.
func TestOrderlyEndOfChannels(t *testing.T) {
	for _, ends := range []string{"A", "B"} {
		w, a, b, h := outside(t, "", "")
		a.ok("START CHANNEL(A.B)")
		w.settle()
		send := func(text string, persistence int32) {
			a.lastBody++
			a.bodies[a.lastBody] = []byte(text)
			md := mqi.NewMD()
			md.Persistence = persistence
			a.tag++
			a.step(Call{Conn: 1, Tag: a.tag, Request: PutReq{Handle: h, MD: md, Body: BodyRef{ID: a.lastBody, Len: len(text)}}})
		}
		send("fast", mqi.MQPER_NOT_PERSISTENT)
		send("sure", mqi.MQPER_PERSISTENT)
		node := map[string]*netNode{"A": a, "B": b}[ends]
		node.step(EndChannels{})
		if node.fx.ChannelsEnded {
			t.Fatalf("%s does not wait for what is under way", ends)
		}
		send("late", mqi.MQPER_PERSISTENT)
		ended := false
		for range 100 {
			for _, end := range w.ends() {
				w.deliver(end)
				ended = ended || node.fx.ChannelsEnded
			}
		}
		if !ended {
			t.Fatalf("%s never hears that its channels have ended: A %q, B %q", ends, a.chstatus("*"), b.chstatus("*"))
		}
		got := b.texts("Q")
		slices.Sort(got)
		want := []string{"fast", "sure"}
		if ends == "B" {
			want = []string{"fast", "late", "sure"} // A had not heard of it yet
		}
		if !slices.Equal(got, want) {
			t.Errorf("the end of %s: arrived %v, want %v", ends, got, want)
		}
		node.crash() // nothing is left to lose
		node.start()
		w.pass(time.Minute)
		if got := b.texts("Q"); !slices.Contains(got, "late") || !slices.Contains(got, "sure") {
			t.Errorf("the end of %s: after the restart %v, channel %q", ends, got, a.chstatus("A.B"))
		}
	}
}

// The saved status of channels survives, and tells an operator what RESOLVE is about.
func TestSavedChannelStatus(t *testing.T) {
	w, qm1, qm3 := inDoubt(t, true)
	const current = "DISPLAY CHSTATUS(TO.QM3) CURLUWID LSTLUWID INDOUBT CURMSGS CURSEQNO LSTSEQNO"
	const saved = "DISPLAY CHSTATUS(TO.QM3) SAVED CURLUWID LSTLUWID INDOUBT CURMSGS CURSEQNO LSTSEQNO"
	luwid := qm1.show(saved, "CURLUWID")
	if got := qm1.show(current, "CURLUWID"); got != luwid || len(luwid) != 16 {
		t.Errorf("CURLUWID %q, saved %q", got, luwid)
	}
	// QM3 has the message: its last unit is the one that is in doubt here.
	if got := strings.Split(qm3.show(saved, "LSTLUWID"), "\n"); !slices.Contains(got, luwid) {
		t.Errorf("LSTLUWID at the receiver %v, CURLUWID at the sender %s", got, luwid)
	}
	if got := qm1.show(saved, "LSTLUWID"); got == luwid {
		t.Error("the unit in doubt counts as the last one that is done")
	}
	if got := qm1.show(saved, "INDOUBT", "CURMSGS", "RQMNAME", "XMITQ"); got != "YES 1 QM3 SYSTEM.CLUSTER.TRANSMIT.QUEUE" && got != "1 YES QM3 SYSTEM.CLUSTER.TRANSMIT.QUEUE" {
		t.Errorf("saved %q", got)
	}
	for _, r := range append(qm1.mqsc(saved).Responses, qm1.mqsc(current).Responses...) {
		n := 0
		for _, f := range r.Fields {
			if f.Key == "SAVED" || f.Key == "CURRENT" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d of SAVED and CURRENT in one record: %v", n, r.Fields)
		}
	}
	qm1.crash()
	qm1.start()
	if got := qm1.show(saved, "CURLUWID"); got != luwid {
		t.Errorf("after a restart CURLUWID %q, want %q", got, luwid)
	}
	w.cut = map[string]bool{}
	w.pass(5 * time.Minute)
	if got := qm1.show(saved, "INDOUBT", "CURLUWID", "LSTLUWID"); !strings.HasPrefix(got, "NO") && !strings.HasSuffix(got, "NO") && !strings.Contains(got, " NO") {
		t.Errorf("settled %q", got)
	}
	// An inactive channel has no current status, but a saved one.
	w.pass(6001 * time.Second)
	if res := qm1.mqsc("DISPLAY CHSTATUS(TO.QM3)"); !res.Failed || res.Responses[0].ID != "AMQ8420I" {
		t.Errorf("current status of an inactive channel: %v", res.Responses)
	}
	if got := qm1.show(saved, "CHLTYPE"); got != "CLUSSDR" {
		t.Errorf("saved status of an inactive channel %q", got)
	}
}

// Averages are shown while MONCHL is on, and blank else.
func TestChannelMonitoring(t *testing.T) {
	w, a, _, h := outside(t, "", "BATCHSZ(2)")
	for range 4 {
		a.put(h, "x", true)
	}
	w.pass(3 * time.Second)
	a.ok("START CHANNEL(A.B)")
	const show = "DISPLAY CHSTATUS(A.B) MONITOR"
	if got := a.show(show, "MONCHL", "XBATCHSZ", "XQTIME"); got != "OFF  " {
		t.Errorf("off: %q", got)
	}
	a.ok("ALTER QMGR MONCHL(LOW)")
	if got := a.show(show, "MONCHL", "NETTIME", "XBATCHSZ", "XQTIME"); got != "LOW 0 2 3000000" {
		t.Errorf("on: %q", got)
	}
	a.ok("ALTER CHANNEL(A.B) CHLTYPE(SDR) MONCHL(OFF)")
	if got := a.show(show, "MONCHL"); got != "OFF" {
		t.Errorf("off for the channel: %q", got)
	}
}
