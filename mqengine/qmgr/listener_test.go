package qmgr

import (
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqsc"
)

// asked tells what was asked of the network since the last time.
func (r *rig) asked() string {
	s := strings.Join(r.listens, ", ")
	r.listens = nil
	return s
}

// startListener sends START LISTENER, which is answered later.
func (r *rig) startListener(text string) uint64 {
	r.t.Helper()
	cmd, err := mqsc.Parse(text)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.m.conns[9999] == nil {
		r.connect(9999, "mqsc")
	}
	return r.send(9999, CommandReq{Command: cmd})
}

func (r *rig) result(tag uint64) string {
	reply, ok := r.replies[tag]
	if !ok {
		return "waiting"
	}
	return reply.Result.(mqsc.Result).Responses[0].ID
}

func TestListenerStartsAndStops(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE LISTENER(L1) TRPTYPE(TCP) PORT(1500) IPADDR('10.0.0.1') DESCR('the first')")
	check(t, "a definition does nothing", r.asked(), "")
	if got := r.mqsc("DISPLAY LSSTATUS(*)"); !strings.HasPrefix(got, "AMQ8147E") {
		t.Error(got)
	}
	start := r.startListener("START LISTENER(L1)")
	check(t, "asked", r.asked(), "L1 10.0.0.1:1500")
	check(t, "not before it is bound", r.result(start), "waiting")
	if got := r.mqsc("DISPLAY LSSTATUS(L1) STATUS"); !strings.Contains(got, "STATUS(STARTING)") {
		t.Error(got)
	}
	if got := r.mqsc("STOP LISTENER(L1)"); !strings.HasPrefix(got, "AMQ8148E") {
		t.Error(got)
	}
	r.step(ListenerUp{Name: "L1", Addr: "10.0.0.1:1500"})
	check(t, "started", r.result(start), "AMQ8021I")
	got := r.mqsc("DISPLAY LSSTATUS(L*) ALL WHERE(PORT EQ 1500)")
	for _, want := range []string{"LISTENER(L1)", "STATUS(RUNNING)", "PORT(1500)", "IPADDR(10.0.0.1)", "CONTROL(MANUAL)", "DESCR(the first)", "STARTDA(2026-05-04)", "BACKLOG(0)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	for text, want := range map[string]string{
		"START LISTENER(L1)":                 "AMQ8730E",
		"START LISTENER(L1) IGNSTATE(YES)":   "AMQ8021I",
		"START LISTENER(L2)":                 "AMQ8147E",
		"STOP LISTENER(L2)":                  "AMQ8147E",
		"DELETE LISTENER(L1)":                "AMQ8148E",
		"ALTER LISTENER(L1) PORT(1600)":      "AMQ8627I",
		"DISPLAY LISTENER(L1) PORT":          "AMQ8630I",
		"DISPLAY LSSTATUS(L1) PORT":          "AMQ8631I",
		"DISPLAY LSSTATUS(NONE*)":            "AMQ8147E",
		"STOP LISTENER('lower')":             "AMQ8147E",
		"DELETE LISTENER(NONE) IGNSTATE(NO)": "AMQ8147E",
	} {
		if got := r.result(r.startListener(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	check(t, "nothing of it reached the network", r.asked(), "")
	if got := r.mqsc("DISPLAY LSSTATUS(L1) PORT"); !strings.Contains(got, "PORT(1500)") {
		t.Errorf("a change took effect on a running listener: %s", got)
	}
	check(t, "stop", r.result(r.startListener("STOP LISTENER(L1)")), "AMQ8706I")
	check(t, "closed", r.asked(), "-L1")
	check(t, "twice", r.result(r.startListener("STOP LISTENER(L1)")), "AMQ8731E")
	check(t, "twice, ignored", r.result(r.startListener("STOP LISTENER(L1) IGNSTATE(YES)")), "AMQ8706I")
	again := r.startListener("START LISTENER(L1)")
	check(t, "with what was altered", r.asked(), "L1 10.0.0.1:1600")
	r.step(ListenerUp{Name: "L1", Addr: "10.0.0.1:1600"})
	check(t, "started again", r.result(again), "AMQ8021I")
	r.step(ListenerDown{Name: "L1", Reason: "the network is gone"})
	if got := r.mqsc("DISPLAY LSSTATUS(L1)"); !strings.HasPrefix(got, "AMQ8147E") {
		t.Error(got)
	}
	check(t, "deleted", r.result(r.startListener("DELETE LISTENER(L1)")), "AMQ8628I")
}

func TestListenerPortInUse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Listen = "127.0.0.1:1414"
	r.crash()
	r.define("DEFINE LISTENER(L1) PORT(1414)")
	if got := r.mqsc("DISPLAY LSSTATUS(*) PORT CONTROL"); !strings.Contains(got, "LISTENER(SYSTEM.DEFAULT.LISTENER.TCP) STATUS(RUNNING) CONTROL(QMGR) PID(0) PORT(1414)") {
		t.Error(got)
	}
	start := r.startListener("START LISTENER(L1)")
	check(t, "every address", r.asked(), "L1 :1414")
	r.step(ListenerDown{Name: "L1", Reason: "listen on :1414: address already in use"})
	res := r.replies[start].Result.(mqsc.Result)
	if text := res.Responses[0].String(); !res.Failed || !strings.Contains(text, "AMQ9218E") || !strings.Contains(text, "port number 1414") ||
		!strings.Contains(text, "address already in use") || !strings.Contains(text, "SYSTEM.DEFAULT.LISTENER.TCP") {
		t.Errorf("%v %s", res.Failed, text)
	}
	if len(r.log) == 0 || r.log[len(r.log)-1].ID != "AMQ9218E" {
		t.Errorf("the log has %v", r.log)
	}
	// The process's own address can be stopped too, and comes back where it was.
	r.mqsc("STOP LISTENER(SYSTEM.DEFAULT.LISTENER.TCP)")
	check(t, "own", r.asked(), "-SYSTEM.DEFAULT.LISTENER.TCP")
	r.startListener("START LISTENER(SYSTEM.DEFAULT.LISTENER.TCP)")
	check(t, "own again", r.asked(), "SYSTEM.DEFAULT.LISTENER.TCP 127.0.0.1:1414")
	// An application that left while its listener was being started is not answered.
	r.step(Disconnect{Conn: 9999, Abrupt: true})
	r.step(ListenerUp{Name: "SYSTEM.DEFAULT.LISTENER.TCP", Addr: "127.0.0.1:1414"})
}

// CONTROL says which listeners start with the queue manager; one that the
// creation's script started is started once more.
func TestListenerControl(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Creating = true
	r.crash()
	r.define("DEFINE LISTENER(A) PORT(1) CONTROL(QMGR)", "DEFINE LISTENER(B) PORT(2) CONTROL(STARTONLY)",
		"DEFINE LISTENER(C) PORT(3)", "DEFINE LISTENER(D) PORT(4)", "DEFINE LISTENER(E) PORT(5)")
	check(t, "C", r.result(r.startListener("START LISTENER(C)")), "AMQ8021I")
	check(t, "D", r.result(r.startListener("START LISTENER(D)")), "AMQ8021I")
	check(t, "not D", r.result(r.startListener("STOP LISTENER(D)")), "AMQ8706I")
	check(t, "E", r.result(r.startListener("START LISTENER(E)")), "AMQ8021I")
	r.define("DELETE LISTENER(E)")
	r.crash()
	check(t, "no network during the creation", r.asked(), "")
	r.cfg.Creating = false
	r.crash()
	check(t, "the first start", r.asked(), "A :1, B :2, C :3")
	r.define("DEFINE LISTENER(E) PORT(5)")
	r.crash()
	check(t, "later ones", r.asked(), "A :1, B :2")
}
