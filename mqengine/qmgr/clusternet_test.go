package qmgr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/workload"
)

// clusterNet is several queue managers on virtual time, with links between
// them that carry real frame bytes and can be cut, and stores that forget in a
// crash what was not synced.
type clusterNet struct {
	t     testing.TB
	now   time.Time
	nodes []*netNode
	// wires are frames on their way, per link end.
	links  map[netEnd]netEnd
	queues map[netEnd][]netItem // to that end
	cut    map[string]bool      // "QM1>QM2": no new links that way
	order  workload.Order
}

type netEnd struct {
	node *netNode
	link LinkID
}

type netItem struct {
	frame []byte
	down  bool
}

type netNode struct {
	net      *clusterNet
	name     string
	addr     string
	m        *Machine
	up       bool
	life     int
	fx       Effects
	bodies   map[store.BodyID][]byte
	lastBody store.BodyID
	lastIn   LinkID
	tag      uint64
	replies  map[uint64]Reply
	disk     diskState
	unsynced []store.Op
	log      []string
}

type diskState struct {
	records  map[string][]byte
	messages map[[2]uint64][]byte
	bodies   map[store.BodyID][]byte
}

func newClusterNet(t testing.TB) *clusterNet {
	return &clusterNet{
		t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		links: map[netEnd]netEnd{}, queues: map[netEnd][]netItem{}, cut: map[string]bool{},
	}
}

// add creates and starts a queue manager.
func (w *clusterNet) add(name string) *netNode {
	w.t.Helper()
	return w.addAs(name, name+"_2026-03-01_12.00.00")
}

// addAs creates a queue manager with an identifier of its own.
func (w *clusterNet) addAs(name, qmid string) *netNode {
	n := &netNode{
		net: w, name: name, addr: fmt.Sprintf("127.0.0.1:%d", 1414+len(w.nodes)),
		disk: diskState{map[string][]byte{}, map[[2]uint64][]byte{}, map[store.BodyID][]byte{}},
	}
	w.nodes = append(w.nodes, n)
	var fx Effects
	if err := Create(w.now, name, qmid, &fx); err != nil {
		w.t.Fatal(err)
	}
	n.apply(fx.Unit.Ops)
	n.start()
	return n
}

func (n *netNode) apply(ops []store.Op) {
	for _, op := range ops {
		k := [2]uint64{uint64(op.Queue), op.Seq}
		switch op.Kind {
		case store.OpSetRecord:
			n.disk.records[op.Key] = slices.Clone(op.Value)
		case store.OpDeleteRecord:
			delete(n.disk.records, op.Key)
		case store.OpSetMessage:
			n.disk.messages[k] = slices.Clone(op.Value)
		case store.OpDeleteMessage:
			delete(n.disk.messages, k)
		case store.OpSetBody:
			n.disk.bodies[op.Body] = op.Value
		case store.OpDeleteBody:
			delete(n.disk.bodies, op.Body)
		}
	}
}

// start gives the queue manager a life from what is on disk.
func (n *netNode) start() {
	n.restore()
	n.turn(func() { n.m.Start(n.net.now, &n.fx) })
}

// restore reads what is on disk, and does nothing with it yet.
func (n *netNode) restore() {
	n.life++
	n.up, n.bodies, n.replies, n.unsynced = true, map[store.BodyID][]byte{}, map[uint64]Reply{}, nil
	n.m = New(Config{Name: n.name, Order: n.net.order, StartTime: n.net.now, IDSeed: uint64(n.life) << 32, NewBody: func() store.BodyID {
		n.lastBody++
		return n.lastBody
	}})
	keys := make([]string, 0, len(n.disk.records))
	for k := range n.disk.records {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := n.m.RestoreRecord(k, n.disk.records[k]); err != nil {
			n.net.t.Fatal(err)
		}
	}
	ids := make([][2]uint64, 0, len(n.disk.messages))
	for k := range n.disk.messages {
		ids = append(ids, k)
	}
	slices.SortFunc(ids, func(a, b [2]uint64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, k := range ids {
		body, err := n.m.RestoreMessage(uint32(k[0]), k[1], n.disk.messages[k])
		if err != nil {
			n.net.t.Fatal(err)
		}
		n.lastBody = max(n.lastBody, body)
	}
}

// turn runs a call of the machine and does what a shell does with its effects.
func (n *netNode) turn(f func()) {
	n.fx.Reset()
	f()
	type outFrame struct {
		link  LinkID
		bytes []byte
	}
	for _, c := range n.fx.Copies {
		n.bodies[c.To] = slices.Clone(n.body(BodyRef{ID: c.From})[c.Offset : c.Offset+c.Len])
	}
	var frames []outFrame
	for _, fo := range n.fx.Frames {
		frames = append(frames, outFrame{fo.Link, channel.AppendFrame(nil, fo.Frame, n.body)})
	}
	for i := range n.fx.Unit.Ops {
		if op := &n.fx.Unit.Ops[i]; op.Kind == store.OpSetBody {
			op.Value = n.body(BodyRef{ID: op.Body})
		}
	}
	n.unsynced = append(n.unsynced, slices.Clone(n.fx.Unit.Ops)...)
	if n.fx.Unit.Sync {
		n.apply(n.unsynced)
		n.unsynced = nil
	}
	for _, id := range n.fx.Drop {
		delete(n.bodies, id)
	}
	for _, r := range n.fx.Replies {
		n.replies[r.Tag] = r
	}
	for _, l := range n.fx.Log {
		n.log = append(n.log, l.ID+" "+l.Text)
	}
	for _, f := range frames {
		if to, ok := n.net.links[netEnd{n, f.link}]; ok {
			n.net.queues[to] = append(n.net.queues[to], netItem{frame: f.bytes})
		}
	}
	dials, closes := slices.Clone(n.fx.Dials), slices.Clone(n.fx.Closes)
	for _, id := range closes {
		end := netEnd{n, id}
		if to, ok := n.net.links[end]; ok {
			delete(n.net.links, end)
			delete(n.net.links, to)
			n.net.queues[to] = append(n.net.queues[to], netItem{down: true})
			delete(n.net.queues, end)
		}
	}
	for _, d := range dials {
		n.dial(d)
	}
}

func (n *netNode) body(b BodyRef) []byte {
	if v, ok := n.bodies[b.ID]; ok {
		return v
	}
	return n.disk.bodies[b.ID]
}

func (n *netNode) dial(d Dial) {
	from := netEnd{n, d.Link}
	for _, to := range n.net.nodes {
		if to.addr == d.Addr && to.up && !n.net.cut[n.name+">"+to.name] {
			to.lastIn++
			end := netEnd{to, ^LinkID(0) - to.lastIn}
			n.net.links[from], n.net.links[end] = end, from
			to.step(LinkAccepted{Link: end.link, Remote: "127.0.0.1:40000"})
			n.step(LinkUp{Link: d.Link})
			return
		}
	}
	n.step(LinkDown{Link: d.Link, Reason: "connection refused"})
}

func (n *netNode) step(ev Event) { n.turn(func() { n.m.Step(n.net.now, ev, &n.fx) }) }

// ends are the link ends with something to deliver, in a fixed order.
func (w *clusterNet) ends() []netEnd {
	var out []netEnd
	for end, items := range w.queues {
		if len(items) > 0 {
			out = append(out, end)
		}
	}
	slices.SortFunc(out, func(a, b netEnd) int {
		return cmp.Or(strings.Compare(a.node.name, b.node.name), cmp.Compare(a.link, b.link))
	})
	return out
}

// deliver hands over the first item for an end.
func (w *clusterNet) deliver(end netEnd) {
	it := w.queues[end][0]
	if w.queues[end] = w.queues[end][1:]; len(w.queues[end]) == 0 {
		delete(w.queues, end)
	}
	if !end.node.up {
		return
	}
	if it.down {
		end.node.step(LinkDown{Link: end.link, Reason: "closed by the other end"})
		return
	}
	n := end.node
	f, err := channel.DecodeFrame(it.frame, channel.DefaultLimits(), func(b []byte) BodyRef {
		if len(b) == 0 {
			return BodyRef{}
		}
		n.lastBody++
		n.bodies[n.lastBody] = slices.Clone(b)
		return BodyRef{ID: n.lastBody, Len: len(b)}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	n.step(LinkFrame{Link: end.link, Frame: f})
}

// settle lets everything run that needs no time.
func (w *clusterNet) settle() {
	for range 200000 {
		ends := w.ends()
		if len(ends) == 0 {
			return
		}
		w.deliver(ends[0])
	}
	w.t.Fatal("the network never rests")
}

// pass lets time go by, in steps small enough for every deadline.
func (w *clusterNet) pass(d time.Duration) {
	end := w.now.Add(d)
	for {
		w.settle()
		next := end
		for _, n := range w.nodes {
			if at := n.m.NextDeadline(); n.up && !at.IsZero() && at.Before(next) {
				next = at
			}
		}
		if next.After(w.now) {
			w.now = next
		}
		for _, n := range w.nodes {
			if at := n.m.NextDeadline(); n.up && !at.IsZero() && !at.After(w.now) {
				n.step(Tick{})
			}
		}
		if !w.now.Before(end) {
			w.settle()
			return
		}
	}
}

// crash ends a queue manager as kill -9 and power loss do.
func (n *netNode) crash() {
	n.up = false
	for _, end := range w2ends(n.net.links, n) {
		to := n.net.links[end]
		delete(n.net.links, end)
		delete(n.net.links, to)
		delete(n.net.queues, end)
		n.net.queues[to] = append(n.net.queues[to], netItem{down: true})
	}
}

func w2ends(links map[netEnd]netEnd, n *netNode) (out []netEnd) {
	for end := range links {
		if end.node == n {
			out = append(out, end)
		}
	}
	slices.SortFunc(out, func(a, b netEnd) int { return cmp.Compare(a.link, b.link) })
	return out
}

// cutLinks breaks every link of a node; what is on its way is lost.
func (n *netNode) cutLinks() {
	for _, end := range w2ends(n.net.links, n) {
		to := n.net.links[end]
		delete(n.net.links, end)
		delete(n.net.links, to)
		n.net.queues[end], n.net.queues[to] = []netItem{{down: true}}, []netItem{{down: true}}
	}
}

func (n *netNode) call(req Request) Reply {
	n.net.t.Helper()
	n.tag++
	tag := n.tag
	n.step(Call{Conn: 1, Tag: tag, Request: req})
	n.net.settle()
	r, ok := n.replies[tag]
	if !ok {
		n.net.pass(11 * time.Second)
		if r, ok = n.replies[tag]; !ok {
			n.net.t.Fatalf("%s never answers %T", n.name, req)
		}
	}
	return r
}

func (n *netNode) connect() { n.step(Connect{Conn: 1, Appl: Appl{Tag: "test"}}) }

// mqsc runs commands and gives the replies of the last one.
func (n *netNode) mqsc(commands ...string) mqsc.Result {
	n.net.t.Helper()
	if n.m.conns[1] == nil {
		n.connect()
	}
	var res mqsc.Result
	for _, text := range commands {
		cmd, perr := mqsc.Parse(text)
		if perr != nil {
			n.net.t.Fatalf("%s: %v", text, perr)
		}
		res = n.call(CommandReq{Command: cmd}).Result.(mqsc.Result)
	}
	return res
}

func (n *netNode) ok(commands ...string) {
	n.net.t.Helper()
	for _, c := range commands {
		if res := n.mqsc(c); res.Failed {
			n.net.t.Fatalf("%s: %s: %v", n.name, c, res.Responses)
		}
	}
}

// show gives the fields of a DISPLAY, one record a line: "QM2 DISABLED".
func (n *netNode) show(command string, keys ...string) string {
	n.net.t.Helper()
	var out []string
	for _, r := range n.mqsc(command).Responses {
		var cells []string
		for _, k := range keys {
			for _, f := range r.Fields {
				if f.Key == k && len(f.Values) > 0 {
					cells = append(cells, f.Values[0])
				}
			}
		}
		if len(cells) > 0 {
			out = append(out, strings.Join(cells, " "))
		}
	}
	return strings.Join(out, "\n")
}

func (n *netNode) open(q string, options int32) (uint32, mqi.Reason) {
	n.net.t.Helper()
	if n.m.conns[1] == nil {
		n.connect()
	}
	r := n.call(OpenReq{OD: mqi.OD{ObjectName: q}, Options: options})
	if r.Reason != mqi.MQRC_NONE {
		return 0, r.Reason
	}
	return r.Result.(OpenResult).Handle, mqi.MQRC_NONE
}

func (n *netNode) put(h uint32, text string, persistent bool) (PutResult, mqi.Reason) {
	n.net.t.Helper()
	n.lastBody++
	n.bodies[n.lastBody] = []byte(text)
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_NOT_PERSISTENT
	if persistent {
		md.Persistence = mqi.MQPER_PERSISTENT
	}
	r := n.call(PutReq{Handle: h, MD: md, Body: BodyRef{ID: n.lastBody, Len: len(text)}})
	if r.Reason != mqi.MQRC_NONE {
		return PutResult{}, r.Reason
	}
	return r.Result.(PutResult), mqi.MQRC_NONE
}

// texts are the bodies on a local queue, in order, without getting them.
func (n *netNode) texts(name string) []string {
	q := n.m.localQueue(name)
	if q == nil {
		return nil
	}
	var out []string
	for msg := q.next(headOfQueue); msg != nil; msg = q.next(msg.position()) {
		out = append(out, string(n.body(msg.body)))
	}
	return out
}

// article is the usual topology: QM1 puts, QM2 and QM3 host DCQ1; QM1 and QM2 keep full repositories.
func articleNet(t testing.TB) (w *clusterNet, qm1, qm2, qm3 *netNode) {
	w = newClusterNet(t)
	qm1, qm2, qm3 = w.add("QM1"), w.add("QM2"), w.add("QM3")
	qm1.joins(qm2, true)
	qm2.joins(qm1, true)
	qm3.joins(qm1, false)
	qm2.ok("DEFINE QLOCAL(DCQ1) CLUSTER(C1) DEFBIND(NOTFIXED) DEFPSIST(YES)")
	qm3.ok("DEFINE QLOCAL(DCQ1) CLUSTER(C1) DEFBIND(NOTFIXED) DEFPSIST(YES)")
	w.pass(3 * time.Second)
	return w, qm1, qm2, qm3
}

// joins makes a node a member of C1 with a CLUSSDR to another.
func (n *netNode) joins(to *netNode, full bool) {
	n.net.t.Helper()
	if full {
		n.ok("ALTER QMGR REPOS(C1)")
	}
	n.ok("ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)",
		fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSRCVR) CONNAME('%s') CLUSTER(C1)", n.name, conname(n.addr)),
		fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSSDR) CONNAME('%s') CLUSTER(C1)", to.name, conname(to.addr)))
}

func parsed(t testing.TB, text string) *mqsc.Command {
	t.Helper()
	cmd, err := mqsc.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return cmd
}
