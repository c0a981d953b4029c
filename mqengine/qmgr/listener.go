package qmgr

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// listenerPrefix begins the records of listeners that a script of the creation
// started: there is no network then, the first start makes up for it.
const listenerPrefix = "listener/"

// OwnListener is what the listener of Config.Listen is called.
const OwnListener = "SYSTEM.DEFAULT.LISTENER.TCP"

// listener is a listener that runs or is being started. What it was started with
// stays in force until it is stopped, whatever becomes of the definition.
type listener struct {
	name    string
	def     *object.Object // nil for the process's own address without a definition of that name
	addr    string         // host:port that was asked for, then the one that is bound
	running bool
	started time.Time
	// Who waits for it to start; nil for the queue manager itself.
	conn *conn
	tag  uint64
}

// listeners are those that run or are being started.
type listeners struct {
	active map[string]*listener
	// wanted are those that the creation's script started.
	wanted map[string]bool
}

func (l *listeners) init() { l.active, l.wanted = map[string]*listener{}, map[string]bool{} }

// sorted are the active listeners by name.
func (l *listeners) sorted() []*listener {
	out := make([]*listener, 0, len(l.active))
	for _, a := range l.active {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *listener) int { return cmp.Compare(a.name, b.name) })
	return out
}

// startListeners starts what runs with the queue manager: its own address, which
// the shell has bound already, and the listeners with CONTROL(QMGR) or (STARTONLY).
func (m *Machine) startListeners(now time.Time, fx *Effects) {
	if m.cfg.Listen != "" {
		m.listeners.active[OwnListener] = &listener{
			name: OwnListener, def: m.objectNamed(object.Listener, OwnListener), addr: m.cfg.Listen, running: true, started: now,
		}
	}
	if m.cfg.Creating {
		return
	}
	for _, name := range sortedStrings(m.listeners.wanted) { // also one that was deleted since
		fx.Unit.DeleteRecord(listenerPrefix + name)
		fx.Unit.Sync = true
	}
	for _, def := range m.objectsOf(object.Listener) {
		if (m.listeners.wanted[def.Name] || def.Str("CONTROL") != "MANUAL") && m.listeners.active[def.Name] == nil {
			m.startListener(fx, def, nil, 0)
		}
	}
	clear(m.listeners.wanted)
}

// startListener asks the shell to bind what a definition says; c, if there is one, is answered then.
func (m *Machine) startListener(fx *Effects, def *object.Object, c *conn, tag uint64) {
	l := &listener{name: def.Name, def: def, addr: net.JoinHostPort(def.Str("IPADDR"), strconv.Itoa(def.Int("PORT"))), conn: c, tag: tag}
	if def.Name == OwnListener && m.cfg.Listen != "" {
		l.addr = m.cfg.Listen // stopped by hand: it comes back where it was
	}
	m.listeners.active[def.Name] = l
	fx.Listens = append(fx.Listens, Listen{Name: l.name, Addr: l.addr})
}

// startListenerCall is START LISTENER. It is answered when the port is bound, or is not.
func (m *Machine) startListenerCall(fx *Effects, c *conn, tag uint64, cmd *mqsc.Command) {
	def := m.objectNamed(object.Listener, cmd.Name)
	switch {
	case def == nil:
		c.ok(fx, tag, notFound(cmd.Name))
	case m.listeners.active[cmd.Name] != nil && ignoresState(cmd):
		c.ok(fx, tag, done("AMQ8021I"))
	case m.listeners.active[cmd.Name] != nil:
		c.ok(fx, tag, failed("AMQ8730E"))
	case m.cfg.Creating:
		m.listeners.wanted[cmd.Name] = true
		fx.Unit.SetRecord(listenerPrefix+cmd.Name, []byte{recordVersion})
		fx.Unit.Sync = true
		c.ok(fx, tag, done("AMQ8021I"))
	default:
		m.startListener(fx, def, c, tag)
	}
}

// stopListener is STOP LISTENER: nobody new is let in, the channels that run go on.
func (m *Machine) stopListener(fx *Effects, cmd *mqsc.Command) mqsc.Result {
	l := m.listeners.active[cmd.Name]
	switch {
	case m.listeners.wanted[cmd.Name]:
		delete(m.listeners.wanted, cmd.Name)
		fx.Unit.DeleteRecord(listenerPrefix + cmd.Name)
		fx.Unit.Sync = true
		return done("AMQ8706I")
	case l == nil && m.objectNamed(object.Listener, cmd.Name) == nil:
		return notFound(cmd.Name)
	case l == nil && ignoresState(cmd):
		return done("AMQ8706I")
	case l == nil:
		return failed("AMQ8731E")
	case !l.running:
		return failed("AMQ8148E")
	}
	delete(m.listeners.active, cmd.Name)
	fx.Unlistens = append(fx.Unlistens, cmd.Name)
	logf(fx, "AMQ5027I", "The listener '%s' has ended.", cmd.Name)
	return done("AMQ8706I")
}

// ignoresState reports whether a command succeeds also if things are as it wants them already.
func ignoresState(cmd *mqsc.Command) bool { return param(cmd, "IGNSTATE") == "YES" }

// listenerUp: the port is bound, links may come.
func (m *Machine) listenerUp(now time.Time, fx *Effects, ev ListenerUp) {
	l := m.listeners.active[ev.Name]
	if l == nil || l.running {
		return
	}
	l.running, l.addr, l.started = true, ev.Addr, now
	logf(fx, "AMQ5026I", "The listener '%s' has started on %s.", l.name, l.addr)
	m.answerStarter(fx, l, done("AMQ8021I"))
}

// listenerDown: the port could not be bound, or the listener ended by itself.
func (m *Machine) listenerDown(fx *Effects, ev ListenerDown) {
	l := m.listeners.active[ev.Name]
	if l == nil {
		return
	}
	delete(m.listeners.active, ev.Name)
	if l.running {
		logf(fx, "AMQ5027I", "The listener '%s' has ended: %s.", l.name, ev.Reason)
		return
	}
	_, port, _ := net.SplitHostPort(l.addr) // joined above
	text := fmt.Sprintf("%s: %s", mqi.AMQ("AMQ9218E", port), ev.Reason)
	if other := m.listenerOn(port); other != "" {
		text += "; listener " + other + " of this queue manager has that port"
	}
	text += "."
	logf(fx, "AMQ9218E", "Listener '%s': %s", l.name, text)
	m.answerStarter(fx, l, failedText("AMQ9218E", text))
}

// listenerOn names the running listener that has a port; blank if none has.
func (m *Machine) listenerOn(port string) string {
	for _, l := range m.listeners.sorted() {
		if _, p, err := net.SplitHostPort(l.addr); err == nil && l.running && p == port {
			return l.name
		}
	}
	return ""
}

func (m *Machine) answerStarter(fx *Effects, l *listener, res mqsc.Result) {
	if c := l.conn; c != nil && m.conns[c.id] == c {
		c.ok(fx, l.tag, res)
	}
	l.conn = nil
}

// restoreListener takes back a record of a listener that the creation started.
func (m *Machine) restoreListener(key string) bool {
	name, ok := strings.CutPrefix(key, listenerPrefix)
	if ok {
		m.listeners.wanted[name] = true
	}
	return ok
}

// displayListener is DISPLAY LSSTATUS: the listeners that run or are being started.
func (m *Machine) displayListener(now time.Time, cmd *mqsc.Command) mqsc.Result {
	r := newReport(cmd, "AMQ8631I")
	for _, l := range m.listeners.sorted() {
		if mqsc.Generic(cmd.Name, l.name) {
			r.status(object.ViewLsStatus, func(keyword string) []string { return m.listenerValue(now, l, keyword) })
		}
	}
	return r.result()
}

func (m *Machine) listenerValue(now time.Time, l *listener, keyword string) []string {
	host, port, err := net.SplitHostPort(l.addr)
	if err != nil {
		host = l.addr // a network without ports: the simulator's
	}
	switch keyword {
	case "LISTENER":
		return []string{l.name}
	case "STATUS":
		if l.running {
			return []string{"RUNNING"}
		}
		return []string{"STARTING"}
	case "PID":
		return number(m.cfg.PID)
	case "IPADDR":
		return []string{host}
	case "PORT":
		return []string{port}
	case "STARTDA":
		return clock(now, milli(l.started), dateLayout)
	case "STARTTI":
		return clock(now, milli(l.started), timeLayout)
	case "CONTROL":
		if l.name == OwnListener && m.cfg.Listen != "" {
			return []string{"QMGR"} // it began with the process
		}
	case "TRPTYPE":
		return []string{"TCP"}
	}
	if l.def == nil {
		return nil
	}
	_, values, _ := l.def.Field(keyword)
	return values
}

// milli is a time in Unix milliseconds, 0 for none.
func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
