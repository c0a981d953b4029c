package repository

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/object"
)

// network is several repositories and the commands on their way between them.
type network struct {
	t     testing.TB
	now   time.Time
	nodes map[string]*node
	names []string
	// wires are the commands per sender and channel, in order.
	wires map[string][]Send
}

type node struct {
	net    *network
	name   string
	repo   *Repository
	stored map[string][]byte
	member Membership
	queues map[string]*object.Object
	// clusters are those of queues that say none themselves: a namelist's.
	clusters map[string][]string
	skew     time.Duration // of its clock
	did      Effects
}

func (n *node) now() time.Time { return n.net.now.Add(n.skew) }

func (n *node) String() string   { return n.name }
func (n *node) GoString() string { return n.name } // rapid shows draws so

func newNetwork(t testing.TB) *network {
	return &network{t: t, now: time.Unix(1e9, 0), nodes: map[string]*node{}, wires: map[string][]Send{}}
}

func (w *network) add(name string) *node {
	n := &node{net: w, name: name, repo: New(name, name+"_ID"), stored: map[string][]byte{}, queues: map[string]*object.Object{}, clusters: map[string][]string{}}
	w.nodes[name] = n
	w.names = append(w.names, name)
	slices.Sort(w.names)
	return n
}

// do runs one call and carries out its effects.
func (n *node) do(f func(fx *Effects)) *Effects {
	n.did.Reset()
	f(&n.did)
	for _, s := range n.did.Sets {
		n.stored[s.Key] = s.Value
	}
	for _, k := range n.did.Deletes {
		delete(n.stored, k)
	}
	for _, s := range n.did.Sends {
		k := n.name + ">" + s.Channel
		n.net.wires[k] = append(n.net.wires[k], s)
	}
	return &n.did
}

func rcvr(name, cluster, addr string) *object.Object {
	o := object.New(object.ClusRcvr, name)
	mustSet(o, "CLUSTER", cluster)
	mustSet(o, "CONNAME", addr)
	return o
}

func queue(name, cluster string) *object.Object {
	o := object.New(object.QLocal, name)
	mustSet(o, "CLUSTER", cluster)
	return o
}

func mustSet(o *object.Object, k, v string) {
	if err := o.Set(k, v); err != nil {
		panic(err)
	}
}

// join makes a node a member of C1 with one CLUSSDR (or none).
func (n *node) join(to string, full bool) {
	n.member.Channels = []OwnChannel{{Clusters: []string{"C1"}, Object: rcvr("TO."+n.name, "C1", n.name+"(1414)")}}
	if to != "" {
		n.member.Senders = append(n.member.Senders, ManualSender{Channel: "TO." + to, Addr: to + "(1414)", Clusters: []string{"C1"}})
	}
	if full {
		n.member.Full = []string{"C1"}
	}
	n.update()
}

func (n *node) update() {
	m := n.member
	m.Channels, m.Senders, m.Full = slices.Clone(m.Channels), slices.Clone(m.Senders), slices.Clone(m.Full)
	n.do(func(fx *Effects) { n.repo.SetMembership(n.now(), m, fx) })
}

func (n *node) define(o *object.Object) {
	n.share(o, o.Str("CLUSTER"))
}

// share defines a queue in clusters, as CLUSTER or CLUSNL do.
func (n *node) share(o *object.Object, clusters ...string) {
	n.queues[o.Name], n.clusters[o.Name] = o, clusters
	n.do(func(fx *Effects) { n.repo.SetQueue(n.now(), o.Name, o, clusters, fx) })
}

func (n *node) drop(name string) {
	delete(n.queues, name)
	n.do(func(fx *Effects) { n.repo.SetQueue(n.now(), name, nil, nil, fx) })
}

func (n *node) ask(name string) (k Known) {
	n.do(func(fx *Effects) { k = n.repo.Ask(n.now(), name, fx) })
	return k
}

// restart gives a new life from what was stored.
func (n *node) restart() {
	n.repo = New(n.name, n.name+"_ID")
	for k, v := range n.stored {
		if ok, err := n.repo.Restore(k, v); !ok || err != nil {
			n.net.t.Fatalf("restore %s: %v %v", k, ok, err)
		}
	}
	n.repo.Begin(n.member)
	n.update()
	for _, name := range sortedKeys(n.queues, strings.Compare) {
		n.share(n.queues[name], n.clusters[name]...)
	}
	for _, name := range n.repo.OwnQueues() {
		if n.queues[name] == nil {
			n.drop(name)
		}
	}
}

// backup is what a queue manager is restored from.
type backup struct {
	stored   map[string][]byte
	member   Membership
	queues   map[string]*object.Object
	clusters map[string][]string
}

func (n *node) backup() backup {
	m := n.member
	m.Channels, m.Senders, m.Full = slices.Clone(m.Channels), slices.Clone(m.Senders), slices.Clone(m.Full)
	return backup{maps.Clone(n.stored), m, maps.Clone(n.queues), maps.Clone(n.clusters)}
}

// restore starts from a backup, perhaps with a clock that is behind.
func (n *node) restore(b backup, skew time.Duration) {
	n.stored, n.member, n.queues, n.clusters = maps.Clone(b.stored), b.member, maps.Clone(b.queues), maps.Clone(b.clusters)
	n.skew = skew
	n.restart()
}

func (n *node) refresh(cluster string, repos bool) {
	n.do(func(fx *Effects) { n.repo.Refresh(n.now(), cluster, repos, n.member.inUse, fx) })
}

// pending are the wires that hold something.
func (w *network) pending() []string {
	return slices.DeleteFunc(sortedKeys(w.wires, strings.Compare), func(k string) bool { return len(w.wires[k]) == 0 })
}

// deliver takes the command at i off a wire.
func (w *network) deliver(wire string, i int) {
	s := w.wires[wire][i]
	w.wires[wire] = slices.Delete(w.wires[wire], i, i+1)
	w.receive(s)
}

func (w *network) receive(s Send) {
	to := w.nodes[strings.TrimPrefix(s.Channel, "TO.")]
	if to == nil {
		w.t.Fatalf("command over %s, which nobody has", s.Channel)
	}
	to.do(func(fx *Effects) {
		if err := to.repo.Receive(to.now(), s.Payload, fx); err != nil {
			w.t.Fatal(err)
		}
	})
}

// settle delivers until nothing is on its way.
func (w *network) settle() {
	for range 100000 {
		p := w.pending()
		if len(p) == 0 {
			return
		}
		w.deliver(p[0], 0)
	}
	w.t.Fatal("commands go on for ever")
}

// sees gives the instances of a queue as a node sees them: QMgr:PUT.
func (n *node) sees(name string) string {
	var out []string
	for _, rec := range n.repo.Instances(n.net.now, name) {
		out = append(out, rec.QMgr+":"+rec.Object.Str("PUT"))
	}
	return strings.Join(out, " ")
}

// qmgrs gives the queue managers that a node knows.
func (n *node) qmgrs() string {
	var out []string
	for _, rec := range n.repo.QMgrs(n.net.now) {
		s := rec.QMgr
		if rec.Full {
			s += "*"
		}
		if rec.Suspended {
			s += "-"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func (w *network) want(n *node, queue, instances string) {
	w.t.Helper()
	if got := n.sees(queue); got != instances {
		w.t.Errorf("%s sees %s at %q, want %q", n.name, queue, got, instances)
	}
}

// article is the usual topology: QM2 and QM3 host DCQ1, QM1 puts; the first two are full repositories.
func article(t testing.TB) (w *network, qm1, qm2, qm3 *node) {
	w = newNetwork(t)
	qm1, qm2, qm3 = w.add("QM1"), w.add("QM2"), w.add("QM3")
	qm1.join("QM2", true)
	qm2.join("QM1", true)
	qm3.join("QM1", false)
	qm2.define(queue("DCQ1", "C1"))
	qm3.define(queue("DCQ1", "C1"))
	w.settle()
	return w, qm1, qm2, qm3
}

func TestArticleTopology(t *testing.T) {
	w, qm1, qm2, qm3 := article(t)
	for _, n := range []*node{qm1, qm2, qm3} {
		w.want(n, "DCQ1", "QM2:ENABLED QM3:ENABLED")
		if got := n.qmgrs(); got != "QM1* QM2* QM3" {
			t.Errorf("%s knows %s", n.name, got)
		}
	}
	o := queue("DCQ1", "C1")
	mustSet(o, "PUT", "DISABLED")
	qm3.define(o)
	w.settle()
	for _, n := range []*node{qm1, qm2, qm3} {
		w.want(n, "DCQ1", "QM2:ENABLED QM3:DISABLED")
	}
	qm3.drop("DCQ1")
	w.settle()
	for _, n := range []*node{qm1, qm2, qm3} {
		w.want(n, "DCQ1", "QM2:ENABLED")
	}
}

func TestPartialRepositoryAsksOnFirstUse(t *testing.T) {
	w, _, _, qm3 := article(t)
	qm4 := w.add("QM4")
	qm4.join("QM1", false)
	w.settle()
	w.want(qm4, "DCQ1", "")
	if got := qm4.qmgrs(); got != "QM1* QM2* QM4" {
		t.Errorf("QM4 knows %s", got)
	}
	if k := qm4.ask("DCQ1"); k != KnownNo {
		t.Errorf("first ask: %v", k)
	}
	if k := qm4.ask("NOSUCH"); k != KnownNo {
		t.Errorf("first ask: %v", k)
	}
	w.settle()
	w.want(qm4, "DCQ1", "QM2:ENABLED QM3:ENABLED")
	if qm4.ask("DCQ1") != KnownAnswer || qm4.ask("NOSUCH") != KnownAnswer {
		t.Error("not answered")
	}
	o := queue("DCQ1", "C1")
	mustSet(o, "CLWLRANK", "5")
	qm3.define(o)
	qm3.define(queue("NOSUCH", "C1"))
	w.settle()
	w.want(qm4, "NOSUCH", "QM3:ENABLED")
	for _, rec := range qm4.repo.Instances(w.now, "DCQ1") {
		if want := map[string]int{"QM2": 0, "QM3": 5}[rec.QMgr]; rec.Object.Int("CLWLRANK") != want {
			t.Errorf("%s has rank %d", rec.QMgr, rec.Object.Int("CLWLRANK"))
		}
	}
	qm3.do(func(fx *Effects) { qm3.repo.Suspend(w.now, "C1", true, fx) })
	w.settle()
	if got := qm4.qmgrs(); got != "QM1* QM2* QM3- QM4" {
		t.Errorf("after SUSPEND QM4 knows %s", got)
	}
}

func TestRestartKeepsEverything(t *testing.T) {
	w, qm1, qm2, qm3 := article(t)
	for _, n := range []*node{qm1, qm2, qm3} {
		n.restart()
	}
	if p := w.pending(); len(p) != 0 {
		t.Errorf("a restart without changes sends %v", p)
	}
	for _, n := range []*node{qm1, qm2, qm3} {
		w.want(n, "DCQ1", "QM2:ENABLED QM3:ENABLED")
	}
	o := queue("DCQ1", "C1")
	mustSet(o, "PUT", "DISABLED")
	qm2.define(o)
	w.settle()
	w.want(qm3, "DCQ1", "QM2:DISABLED QM3:ENABLED")
}

func TestAnyOrderOfJoining(t *testing.T) {
	steps := []func(w *network){
		func(w *network) { w.nodes["QM1"].join("QM2", true) },
		func(w *network) { w.nodes["QM2"].join("QM1", true) },
		func(w *network) { w.nodes["QM3"].join("QM1", false) },
		func(w *network) { w.nodes["QM4"].join("QM2", false) },
		func(w *network) { w.nodes["QM3"].define(queue("Q", "C1")) },
		func(w *network) { w.nodes["QM4"].ask("Q") },
	}
	for i := range 720 {
		w := newNetwork(t)
		for n := range 4 {
			w.add(fmt.Sprintf("QM%d", n+1))
		}
		left := slices.Clone(steps)
		for k, f := i, len(left); f > 0; f-- {
			left[k%f](w)
			left = slices.Delete(left, k%f, k%f+1)
			k /= f
			if i%2 == 0 && safe(w) {
				w.settle()
			}
		}
		w.settle()
		w.nodes["QM4"].ask("Q")
		w.settle()
		w.want(w.nodes["QM4"], "Q", "QM3:ENABLED")
		w.want(w.nodes["QM1"], "Q", "QM3:ENABLED")
		w.want(w.nodes["QM2"], "Q", "QM3:ENABLED")
		if t.Failed() {
			t.Fatalf("order %d", i)
		}
	}
}

// safe: whoever is sent something is there to take it (a channel would retry).
func safe(w *network) bool {
	for _, n := range w.nodes {
		if len(n.member.Channels) == 0 {
			return false
		}
	}
	return true
}
