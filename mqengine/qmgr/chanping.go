package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// pingWithin is how long PING CHANNEL waits for the other end.
const pingWithin = 30 * time.Second

// ping is a PING CHANNEL under way: a link of its own over which nothing is
// sent but the question who is there. The command is answered when it ends.
type ping struct {
	conn  *conn
	tag   uint64
	name  string
	def   *object.Object
	addrs []string // still to be tried
	link  LinkID
	timer timer
}

// pingChannel begins a PING CHANNEL; the answer comes later unless it is a refusal.
func (m *Machine) pingChannel(now time.Time, fx *Effects, c *conn, tag uint64, name string) {
	def, _ := m.senderDefinition(now, name)
	switch {
	case def == nil && m.receivingObject(name) != nil:
		c.ok(fx, tag, failed("AMQ9512E", name))
		return
	case def == nil:
		c.ok(fx, tag, failed("AMQ9519E", name))
		return
	}
	if s := m.cluster.channels.senders[name]; s != nil && s.linked() {
		c.ok(fx, tag, failed("AMQ9514E", name))
		return
	}
	p := &ping{conn: c, tag: tag, name: name, def: def, addrs: addresses(def.Str("CONNAME"))}
	p.timer.what = p
	m.timers.set(&p.timer, now.Add(pingWithin).UnixNano())
	p.dial(m, fx, "the definition has no CONNAME")
}

// dial tries the next address, or gives up.
func (p *ping) dial(m *Machine, fx *Effects, why string) {
	if len(p.addrs) == 0 {
		p.end(m, fx, failedText("AMQ9558E", "The remote channel '"+p.name+"' is not currently available: "+why+"."))
		return
	}
	ch := &m.cluster.channels
	ch.lastLink++
	p.link = ch.lastLink
	ch.links[p.link] = p
	fx.Dials = append(fx.Dials, Dial{Link: p.link, Addr: p.addrs[0], CipherSpec: p.def.Str("SSLCIPH")})
	p.addrs = p.addrs[1:]
}

// end answers the command.
func (p *ping) end(m *Machine, fx *Effects, res mqsc.Result) {
	m.timers.stop(&p.timer)
	if _, ok := m.cluster.channels.links[p.link]; ok {
		fx.Closes = append(fx.Closes, p.link)
		delete(m.cluster.channels.links, p.link)
	}
	if m.conns[p.conn.id] == p.conn {
		p.conn.ok(fx, p.tag, res)
	}
}

func (p *ping) timeout(m *Machine, _ time.Time, fx *Effects) {
	p.end(m, fx, failedText("AMQ9558E", "The remote channel '"+p.name+"' is not currently available: no answer within "+pingWithin.String()+"."))
}

func (p *ping) linkUp(m *Machine, _ time.Time, fx *Effects, ev LinkUp) {
	if fault := ev.Security.Judge(p.def.Str("SSLCIPH"), p.def.Str("SSLPEER"), true); fault.ID != "" {
		p.end(m, fx, failedText(fault.ID, "Channel '"+p.name+"' cannot be used: "+fault.Text+"."))
		return
	}
	fx.Frames = append(fx.Frames, FrameOut{Link: p.link, Frame: &channel.Frame{
		Kind: channel.FrameHello, Version: channel.ProtocolVersion, Channel: p.name, Type: p.def.Kind().String(),
		QMgr: m.name, QMID: m.qmid, Ping: true,
	}})
}

func (p *ping) linkFrame(m *Machine, _ time.Time, fx *Effects, f *channel.Frame) {
	for i := range f.Messages {
		fx.dropBody(f.Messages[i].Body)
	}
	if f.Kind == channel.FrameAccept {
		p.end(m, fx, done("AMQ8020I"))
		return
	}
	p.end(m, fx, failedText("AMQ9520E", "Channel '"+p.name+"' is not available at the other end: "+f.Reason+"."))
}

func (p *ping) linkDown(m *Machine, _ time.Time, fx *Effects, ev LinkDown) {
	p.dial(m, fx, ev.Reason)
}
