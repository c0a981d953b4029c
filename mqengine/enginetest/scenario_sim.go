package enginetest

import (
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// simDriver plays scenarios on the simulator: without faults but those of the
// scenario, on virtual time.
type simDriver struct {
	tb      testing.TB
	s       *sim
	members map[string]*node
	callers map[string]*app
}

// patience is the virtual time that anything may take.
const patience = 10 * time.Minute

// NewSimDriver makes a simulator for one scenario; the seed decides how long
// disks and links take.
func NewSimDriver(tb testing.TB, seed uint64) Driver {
	s := newSim(seed, nil, sabotage{})
	s.cfg = config{shape: shape{modern: true}}
	s.cfg.diskMax, s.cfg.wireMin, s.cfg.wireMax = 2*time.Millisecond, 50*time.Microsecond, 3*time.Millisecond
	s.calm = true
	return &simDriver{tb: tb, s: s, members: map[string]*node{}, callers: map[string]*app{}}
}

// ConnName gives every name an address of its own.
func (d *simDriver) ConnName(name string) string { return conname(d.addr(name)) }

func (d *simDriver) addr(name string) string { return strings.ToLower(name) + ".example:1414" }

func (d *simDriver) Define(name, commands string) {
	d.tb.Helper()
	n := d.s.addNode(name, d.addr(name))
	d.members[name] = n
	d.callers[name] = d.s.addApp("scenario", n, caller{})
	for line := range strings.Lines(commands) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if res := d.Command(name, line); res.Failed {
			d.tb.Fatalf("%s: %s: %v", name, line, summary(res))
		}
	}
}

func (d *simDriver) member(name string) *node {
	n := d.members[name]
	if n == nil {
		d.tb.Fatalf("there is no member %s", name)
	}
	return n
}

// call makes one call on a member and lets time pass until it is answered.
func (d *simDriver) call(name string, req qmgr.Request) (out answer) {
	d.tb.Helper()
	n, a, done := d.member(name), d.callers[name], false
	if !n.up {
		d.tb.Fatalf("%s is down", name)
	}
	if !d.Until(func() bool { return a.conn != 0 && !a.waiting }) {
		d.tb.Fatalf("nobody gets a connection to %s", name)
	}
	a.call(req, func(ans answer) { out, done = ans, true })
	d.s.runUntil(d.s.now.Add(patience), func() bool { return done })
	d.check()
	if !done {
		d.tb.Fatalf("%s does not answer %T", name, req)
	}
	return out
}

// check tells what the simulator itself has found.
func (d *simDriver) check() {
	d.tb.Helper()
	if len(d.s.failure) > 0 {
		d.tb.Fatal(strings.Join(d.s.failure, "\n"))
	}
}

func (d *simDriver) Command(name, text string) mqsc.Result {
	d.tb.Helper()
	cmd := d.s.parsed(text)
	d.check()
	res, _ := d.call(name, qmgr.CommandReq{Command: cmd}).Result.(mqsc.Result)
	return res
}

func (d *simDriver) Put(name string, od mqi.OD, bind int32, md mqi.MD, body string) mqi.Reason {
	d.tb.Helper()
	ans := d.call(name, qmgr.OpenReq{OD: od, Options: mqi.MQOO_OUTPUT | bind})
	if ans.CompCode == mqi.MQCC_FAILED {
		return ans.Reason
	}
	h := ans.Result.(qmgr.OpenResult).Handle
	ans = d.call(name, qmgr.PutReq{Handle: h, MD: md, Body: d.member(name).newBody([]byte(body))})
	d.call(name, qmgr.CloseReq{Handle: h})
	return ans.Reason
}

func (d *simDriver) Get(name, queue string) (string, mqi.Reason) {
	d.tb.Helper()
	ans := d.call(name, qmgr.OpenReq{OD: mqi.OD{ObjectName: queue}, Options: mqi.MQOO_INPUT_SHARED})
	if ans.CompCode == mqi.MQCC_FAILED {
		return "", ans.Reason
	}
	h := ans.Result.(qmgr.OpenResult).Handle
	ans = d.call(name, qmgr.GetReq{Handle: h, GMO: mqi.GMO{Options: mqi.MQGMO_NO_SYNCPOINT, MaxLength: -1}})
	d.call(name, qmgr.CloseReq{Handle: h})
	return Letter(string(ans.body)), ans.Reason
}

// Letter is a message's text without the dead-letter header in front of it, if there is one.
func Letter(body string) string {
	if strings.HasPrefix(body, "DLH ") && len(body) >= deadHeader {
		return body[deadHeader:]
	}
	return body
}

func (d *simDriver) Kill(name string)  { d.member(name).crash() }
func (d *simDriver) Start(name string) { d.member(name).start() }
func (d *simDriver) Cut(name string)   { d.s.net.breakInbound(d.member(name)) }

func (d *simDriver) Block(name string) {
	d.s.net.shut[d.member(name)] = true
	d.Cut(name)
}

func (d *simDriver) Open(name string) { delete(d.s.net.shut, d.member(name)) }

func (d *simDriver) Until(condition func() bool) bool {
	for end := d.s.now.Add(patience); d.s.now.Before(end); {
		if condition() {
			return true
		}
		d.s.runUntil(d.s.now.Add(50*time.Millisecond), nil)
		d.check()
	}
	return false
}

// caller is an application that does what a scenario says.
type caller struct{}

func (caller) connected(*app)      {}
func (caller) died(*app)           {}
func (caller) unsent(*app, answer) {}

var _ Driver = (*simDriver)(nil)
