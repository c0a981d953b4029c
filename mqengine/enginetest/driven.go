package enginetest

import (
	"container/heap"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// Driven is a simulated cluster whose time somebody else moves: for tests in which
// more takes part than queue managers. One goroutine uses it. What comes from
// outside at one instant comes in the order in which it is told.
type Driven struct{ s *sim }

// Weather is what a Driven cluster has to live with while it is disturbed.
type Weather struct {
	DiskMax, WireMin, WireMax, TurnDelay time.Duration
	Skew                                 time.Duration // clocks differ by up to this
	Crash                                float64       // per event of a queue manager
	CrashInRelease                       float64       // per effect that leaves the process
	DownMax                              time.Duration // until it is started again
}

// NewDriven makes an empty cluster at a time. text, if there is one, is told what happens.
func NewDriven(seed uint64, start time.Time, w Weather, text io.Writer) *Driven {
	s := newSim(seed, text, sabotage{})
	s.now, s.begin, s.calm, s.sampled = start, start, true, true
	s.cfg = config{shape: shape{modern: true}}
	s.cfg.diskMax, s.cfg.turnDelay, s.cfg.wireMin, s.cfg.wireMax = w.DiskMax, w.TurnDelay, w.WireMin, w.WireMax
	s.cfg.skew, s.cfg.crash, s.cfg.crashInRelease, s.cfg.downMax = w.Skew, w.Crash, w.CrashInRelease, w.DownMax
	return &Driven{s}
}

// Next is when something is due.
func (d *Driven) Next() (time.Time, bool) {
	if len(d.s.events) == 0 {
		return time.Time{}, false
	}
	return d.s.events[0].at, true
}

// Advance lets time pass up to a moment at which nothing was due before.
func (d *Driven) Advance(to time.Time) {
	if to.After(d.s.now) {
		d.s.now = to
	}
}

// Step lets the next thing happen; the time is then that of it.
func (d *Driven) Step() {
	e := heap.Pop(&d.s.events).(event)
	d.s.now = e.at
	if d.s.counts.Events++; d.s.counts.Events > eventsMax {
		d.s.fail("the cluster never comes to rest: %d events", eventsMax)
		return
	}
	e.do()
}

// After plans something.
func (d *Driven) After(wait time.Duration, do func()) { d.s.after(wait, do) }

// Now is the time of the cluster.
func (d *Driven) Now() time.Time { return d.s.now }

// Disturb lets queue managers crash by themselves, or stops that.
func (d *Driven) Disturb(on bool) { d.s.calm = !on }

// Failures are what the simulator itself found wrong.
func (d *Driven) Failures() []string { return d.s.failure }

// Crashes counts the crashes of queue managers, and those in the middle of a release.
func (d *Driven) Crashes() (all, inRelease int) {
	return d.s.counts.Crashes, d.s.counts.CrashesInRelease
}

// ConnName is the address of the member of a name, for CONNAME.
func ConnName(name string) string { return conname(strings.ToLower(name) + ".example:1414") }

// Add makes a queue manager and starts it.
func (d *Driven) Add(name string) *Member {
	return &Member{d.s.addNode(name, strings.ToLower(name)+".example:1414")}
}

// Member is one queue manager of a Driven cluster.
type Member struct{ n *node }

// Up reports whether it runs.
func (m *Member) Up() bool { return m.n.up }

// Crash ends it without a word; what was not synced may be lost.
func (m *Member) Crash() {
	if m.n.up {
		m.n.crash()
	}
}

// Start starts it if it is down.
func (m *Member) Start() {
	if !m.n.up {
		m.n.start()
	}
}

// Clock sets its clock forward.
func (m *Member) Clock(by time.Duration) { m.n.setClock(by) }

// Cut stops everything on the way to another member, in one direction. Quiet cuts
// are not noticed at once; others break the links.
func (m *Member) Cut(to *Member, quiet bool) {
	if !quiet {
		m.n.s.net.breakLinks(m.n, to.n, "network is unreachable")
	}
	m.n.s.net.cut(m.n, to.n)
}

// Heal opens the way again.
func (m *Member) Heal(to *Member) { m.n.s.net.heal(m.n, to.n) }

// Display gives what a DISPLAY command shows, one map per object, from outside
// of time; nothing while the queue manager is down.
func (m *Member) Display(format string, args ...any) []map[string]string {
	if !m.n.up {
		return nil
	}
	return m.n.display(fmt.Sprintf(format, args...))
}

// Session is the connection of somebody outside. Its answers come in events.
type Session struct {
	n      *node
	conn   qmgr.ConnID
	number int
	tag    uint64
	open   map[uint64]func(Answer)
	lost   func()
	watch  func()
}

// Answer is the answer to a call. Lost: the queue manager died first.
type Answer struct {
	qmgr.Reply
	Body []byte
	Lost bool
}

// Err is what the answer says against the call, nil if nothing.
func (a *Answer) Err(op, object string) error {
	switch {
	case a.Lost:
		return mqi.Errorf(op, object, mqi.MQRC_CONNECTION_BROKEN, "the queue manager died")
	case a.CompCode == mqi.MQCC_FAILED:
		return &mqi.Error{CompCode: a.CompCode, Reason: a.Reason, Op: op, Object: object, Detail: a.Detail}
	}
	return nil
}

// Connect makes a connection; nil while the queue manager is down, or if it dies in
// that moment. lost is told when it dies, after the calls that it leaves open.
func (m *Member) Connect(appl qmgr.Appl, lost func()) *Session {
	n := m.n
	if !n.up {
		return nil
	}
	n.lastConn++
	n.s.lastSession++
	c := &Session{n: n, conn: n.lastConn, number: n.s.lastSession, open: map[uint64]func(Answer){}, lost: lost}
	n.conns[c.conn] = c
	n.step(qmgr.Connect{Conn: c.conn, Appl: appl})
	if c.conn == 0 {
		return nil // it died of it
	}
	return c
}

// Call makes a call. then gets the answer, or that it is lost.
func (c *Session) Call(req qmgr.Request, then func(Answer)) {
	if c.conn == 0 {
		then(Answer{Lost: true})
		return
	}
	c.tag++
	c.open[c.tag] = then
	c.n.step(qmgr.Call{Conn: c.conn, Tag: c.tag, Request: req})
}

// Put is Call for a put with a body.
func (c *Session) Put(req qmgr.PutReq, body string, then func(Answer)) {
	if c.conn != 0 {
		req.Body = c.n.newBody([]byte(body))
	}
	c.Call(req, then)
}

// Command runs MQSC.
func (c *Session) Command(text string, then func(mqsc.Result, Answer)) {
	cmd := c.n.s.parsed(text)
	if cmd == nil {
		then(mqsc.Result{Failed: true}, Answer{Lost: true})
		return
	}
	c.Call(qmgr.CommandReq{Command: cmd}, func(ans Answer) {
		res, _ := ans.Result.(mqsc.Result)
		then(res, ans)
	})
}

// Close ends the connection: abruptly as a killed program does, or with MQDISC.
func (c *Session) Close(abrupt bool) {
	if c.conn == 0 {
		return
	}
	conn := c.conn
	c.conn = 0
	delete(c.n.conns, conn)
	c.n.step(qmgr.Disconnect{Conn: conn, Abrupt: abrupt})
	c.fail()
}

// fail answers what is open, in the order in which it was asked.
func (c *Session) fail() {
	tags := make([]uint64, 0, len(c.open))
	for tag := range c.open {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	for _, tag := range tags {
		then := c.open[tag]
		delete(c.open, tag)
		then(Answer{Lost: true})
	}
}

func (c *Session) order() int { return c.number }

func (c *Session) answered(ans answer) {
	then := c.open[ans.Tag]
	delete(c.open, ans.Tag)
	if then != nil {
		then(Answer{Reply: ans.Reply, Body: ans.body})
	}
}

func (*Session) unsent(answer) {}

func (c *Session) died() {
	c.conn = 0
	c.fail()
	if c.lost != nil {
		c.lost()
	}
}

// Watch has told called after every turn in which readers, attributes or
// instances may have changed.
func (c *Session) Watch(told func()) { c.watch = told }

// Sample gives the queues that changed after a revision, 0 for all, as far as
// their state is durable.
func (c *Session) Sample(since uint64) *mqengine.Sample { return c.n.sample(since) }

// QMID of the queue manager.
func (c *Session) QMID() string {
	for _, row := range c.n.display("DISPLAY QMGR QMID") {
		return row["QMID"]
	}
	return ""
}
