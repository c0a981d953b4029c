package enginetest

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// inFlightMax is how many frames may be on their way in one direction: a window
// of four batches with what belongs to it is far less.
const inFlightMax = 64

// network carries frames between nodes: in order, late, or not at all.
type network struct {
	s     *sim
	links []*link // open ones, oldest first
	ends  map[endKey]*linkEnd
	down  map[way]bool // nothing gets through
	slow  map[way]bool
	shut  map[*node]bool // nobody gets a new link to it
	doubt map[string]*doubt
	// longest is the longest that something was on its way.
	longest time.Duration
	// What was sent: messages in batches, and bytes of frames.
	messages, bytes int
}

type endKey struct {
	node *node
	link qmgr.LinkID
}

// way is one direction between two nodes.
type way struct{ from, to *node }

// link is one connection.
type link struct {
	ends   [2]*linkEnd
	broken bool // nothing more is sent
	loud   bool // both ends learn of it although nothing goes through
}

// linkEnd is one side of it: what is on its way to that side.
type linkEnd struct {
	l      *link
	side   int
	node   *node
	id     qmgr.LinkID
	queue  []arrival
	last   time.Time
	closed bool // this side was told, or said itself, that the link is gone
	name   string
}

// arrival is a frame, or the news that the link is gone.
type arrival struct {
	sent time.Time
	at   time.Time
	data []byte
	down string
}

// doubt is what a sending channel does not know yet.
type doubt struct {
	sent, confirmed uint64
	open            bool // a link broke while sent was ahead
}

func (w *network) init(s *sim) {
	w.s, w.ends, w.doubt = s, map[endKey]*linkEnd{}, map[string]*doubt{}
	w.down, w.slow, w.shut = map[way]bool{}, map[way]bool{}, map[*node]bool{}
}

func (e *linkEnd) other() *linkEnd { return e.l.ends[1-e.side] }

// dial connects, or fails, after a while.
func (w *network) dial(n *node, d qmgr.Dial) {
	w.s.note(n, "dial", uint64(d.Link))
	i := slices.IndexFunc(w.s.nodes, func(to *node) bool { return to.addr == d.Addr })
	if i < 0 { // nobody is there yet
		n.later(w.delay(n, n), func() { n.step(qmgr.LinkDown{Link: d.Link, Reason: "connection refused"}) })
		return
	}
	to := w.s.nodes[i]
	n.later(w.delay(n, to)+w.delay(to, n), func() {
		if !to.up || w.shut[to] || w.down[way{n, to}] || w.down[way{to, n}] {
			n.step(qmgr.LinkDown{Link: d.Link, Reason: "connection refused"})
			return
		}
		to.lastLink++
		l := &link{}
		l.ends[0] = &linkEnd{l: l, side: 0, node: n, id: d.Link, last: w.s.now}
		l.ends[1] = &linkEnd{l: l, side: 1, node: to, id: ^qmgr.LinkID(0) - to.lastLink, last: w.s.now}
		w.links = append(w.links, l)
		w.ends[endKey{n, d.Link}], w.ends[endKey{to, l.ends[1].id}] = l.ends[0], l.ends[1]
		w.s.printf("%s connects to %s", n.name, to.name)
		to.step(qmgr.LinkAccepted{Link: l.ends[1].id, Remote: n.addr})
		if n.up {
			n.step(qmgr.LinkUp{Link: d.Link})
		}
	})
}

func (w *network) delay(from, to *node) time.Duration {
	if w.s.broken.tossesCoins && rand.IntN(100) == 0 {
		return w.s.cfg.wireMax
	}
	d := w.s.between(w.s.cfg.wireMin, w.s.cfg.wireMax)
	if w.slow[way{from, to}] {
		d *= slowFactor
	}
	return d
}

// send puts a frame on its way.
func (w *network) send(n *node, f outFrame) {
	w.s.counts.Frames++
	e := w.ends[endKey{n, f.link}]
	if e == nil || e.l.broken {
		return
	}
	w.messages += len(f.frame.Messages)
	w.bytes += len(f.data)
	w.watchSent(e, f.frame)
	to := e.other()
	w.arrive(to, arrival{data: f.data})
	if len(to.queue) > inFlightMax {
		w.s.fail("%d frames are on their way from %s to %s: the window has no bound", len(to.queue), n.name, to.node.name)
	}
}

// arrive plans the arrival of something at one end, behind all before it.
func (w *network) arrive(to *linkEnd, a arrival) {
	a.sent, a.at = w.s.now, w.s.now.Add(w.delay(to.other().node, to.node))
	if a.at.Before(to.last) {
		a.at = to.last
	}
	to.last = a.at
	to.queue = append(to.queue, a)
	w.s.at(a.at, func() { w.deliver(to) })
}

// deliver hands over what is due at one end, unless the network stands still.
func (w *network) deliver(to *linkEnd) {
	if to.closed || !to.node.up || w.down[way{to.other().node, to.node}] && !to.l.loud {
		return
	}
	for len(to.queue) > 0 && !to.queue[0].at.After(w.s.now) && !to.closed && to.node.up {
		a := to.queue[0]
		to.queue = to.queue[1:]
		if a.down != "" {
			w.told(to, a.down)
			return
		}
		w.longest = max(w.longest, w.s.now.Sub(a.sent))
		w.hand(to, a.data)
	}
}

func (w *network) hand(to *linkEnd, data []byte) {
	n := to.node
	f, err := channel.DecodeFrame(data, channel.DefaultLimits(), n.newBody)
	if err != nil {
		w.s.fail("%s cannot read a frame: %v", n.name, err)
		return
	}
	w.s.note(n, "frame", uint64(to.id))
	w.s.noteBytes(data)
	if w.s.text != nil {
		w.s.printf("%s <- %s %s seq %d, %d messages, batch %d", n.name, to.other().node.name, frameName(f.Kind), f.Seq, len(f.Messages), f.Batch)
	}
	w.watchReceived(to, f)
	n.step(qmgr.LinkFrame{Link: to.id, Frame: f})
}

// told ends a link for one side.
func (w *network) told(e *linkEnd, reason string) {
	w.forget(e)
	w.s.note(e.node, "down", uint64(e.id))
	e.node.step(qmgr.LinkDown{Link: e.id, Reason: reason})
}

// forget takes one side off the link; the link ends with the second.
func (w *network) forget(e *linkEnd) {
	e.closed, e.queue = true, nil
	delete(w.ends, endKey{e.node, e.id})
	if e.other().closed {
		w.links = slices.DeleteFunc(w.links, func(l *link) bool { return l == e.l })
	}
}

// close is an orderly end by one side: what it sent before arrives.
func (w *network) close(n *node, id qmgr.LinkID) {
	e := w.ends[endKey{n, id}]
	if e == nil {
		return
	}
	w.watchBroken(e.l)
	e.l.broken = true
	w.forget(e)
	if !e.other().closed {
		w.arrive(e.other(), arrival{down: "closed by the other end"})
	}
}

// breakLink loses what is on its way, from some frame on, and tells both ends.
func (w *network) breakLink(l *link, reason string, loud bool) {
	w.watchBroken(l)
	l.broken, l.loud = true, loud
	for _, e := range l.ends {
		if e.closed {
			continue
		}
		e.queue = e.queue[:w.s.rng.IntN(len(e.queue)+1)]
		if !e.node.up {
			w.forget(e)
			continue
		}
		w.arrive(e, arrival{down: reason})
	}
}

// crashed takes a node off the network.
func (w *network) crashed(n *node) {
	for _, l := range slices.Clone(w.links) {
		if l.ends[0].node == n || l.ends[1].node == n {
			w.breakLink(l, "connection reset", false)
		}
	}
}

// breakLinks breaks every link between two nodes, and both notice.
func (w *network) breakLinks(a, b *node, reason string) {
	for _, l := range slices.Clone(w.links) {
		if from, to := l.ends[0].node, l.ends[1].node; from == a && to == b || from == b && to == a {
			w.breakLink(l, reason, true)
		}
	}
}

// breakInbound breaks every link that others made to a node.
func (w *network) breakInbound(to *node) {
	for _, l := range slices.Clone(w.links) {
		if l.ends[1].node == to {
			w.breakLink(l, "connection reset by peer", true)
		}
	}
}

// cut stops everything from one node to another: it is not lost, as long as
// nobody gives the link up.
func (w *network) cut(from, to *node) {
	if !w.down[way{from, to}] {
		w.down[way{from, to}] = true
		w.s.note(from, "cut"+to.name)
		w.s.printf("cut from %s to %s", from.name, to.name)
	}
}

// heal opens the way again; what stood still goes on.
func (w *network) heal(from, to *node) {
	if !w.down[way{from, to}] {
		return
	}
	w.s.note(from, "heal"+to.name)
	w.s.printf("healed from %s to %s", from.name, to.name)
	delete(w.down, way{from, to})
	for _, l := range w.links {
		for _, e := range l.ends {
			if e.node == to && e.other().node == from {
				w.s.after(w.delay(from, to), func() { w.deliver(e) })
			}
		}
	}
}

// watchSent follows the sequence numbers of a sending channel.
func (w *network) watchSent(e *linkEnd, f *channel.Frame) {
	switch f.Kind {
	case channel.FrameHello:
		e.name = e.node.name + " " + f.Channel
	case channel.FrameBatch:
		d := w.doubtOf(e.name)
		for i := range f.Messages {
			d.sent = max(d.sent, f.Messages[i].Seq)
		}
	}
}

func (w *network) watchReceived(to *linkEnd, f *channel.Frame) {
	if to.side != 0 || to.name == "" {
		return
	}
	d := w.doubtOf(to.name)
	switch f.Kind {
	case channel.FrameAccept:
		if d.open {
			w.s.counts.InDoubt++
			if f.Seq >= d.sent {
				w.s.counts.InDoubtCommitted++
			} else {
				w.s.counts.InDoubtResent++
			}
			w.s.printf("%s: in doubt up to %d, the partner has %d", to.name, d.sent, f.Seq)
		}
		*d = doubt{sent: f.Seq, confirmed: f.Seq}
	case channel.FrameConfirm:
		d.confirmed = max(d.confirmed, f.Seq)
	}
}

// watchBroken notes a window that nobody confirmed.
func (w *network) watchBroken(l *link) {
	if name := l.ends[0].name; !l.broken && name != "" {
		if d := w.doubtOf(name); d.sent > d.confirmed {
			d.open = true
		}
	}
}

func (w *network) doubtOf(name string) *doubt {
	d := w.doubt[name]
	if d == nil {
		d = &doubt{}
		w.doubt[name] = d
	}
	return d
}

func frameName(k channel.FrameKind) string {
	names := [...]string{"?", "hello", "accept", "refuse", "batch", "confirm", "heartbeat", "heartbeat ack", "close"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[0]
}
