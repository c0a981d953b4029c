package qmgr

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"pgregory.net/rapid"
)

// chaos drives the article's cluster through whatever can happen to it.
type chaos struct {
	t       *rapid.T
	w       *clusterNet
	handles map[*netNode]uint32
	put     []string // answered with success
	tried   int
}

func (c *chaos) node() *netNode { return rapid.SampledFrom(c.w.nodes).Draw(c.t, "node") }

// request makes a call whose answer does not have to wait for anybody.
func (c *chaos) request(n *netNode, req Request) (Reply, bool) {
	if n.m.conns[1] == nil {
		n.connect()
	}
	n.tag++
	n.step(Call{Conn: 1, Tag: n.tag, Request: req})
	r, ok := n.replies[n.tag]
	return r, ok
}

func (c *chaos) putOne(n *netNode) {
	if !n.up {
		return
	}
	if c.handles[n] == 0 {
		r, ok := c.request(n, OpenReq{OD: mqi.OD{ObjectName: "DCQ1"}, Options: putNotFixed})
		if !ok {
			c.request(n, CancelReq{Tag: n.tag})
			return
		}
		if r.Reason != mqi.MQRC_NONE {
			return
		}
		c.handles[n] = r.Result.(OpenResult).Handle
	}
	c.tried++
	text := fmt.Sprintf("%s-%d", n.name, c.tried)
	n.lastBody++
	n.bodies[n.lastBody] = []byte(text)
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	r, ok := c.request(n, PutReq{Handle: c.handles[n], MD: md, Body: BodyRef{ID: n.lastBody, Len: len(text)}})
	switch {
	case !ok:
		c.t.Fatal("a put was not answered")
	case r.Reason == mqi.MQRC_NONE:
		c.put = append(c.put, text)
	case r.Reason != mqi.MQRC_CLUSTER_PUT_INHIBITED && r.Reason != mqi.MQRC_PUT_INHIBITED && r.Reason != mqi.MQRC_Q_FULL:
		c.t.Fatalf("put at %s: %v", n.name, r.Reason)
	}
}

func (c *chaos) command(n *netNode, text string) {
	if !n.up {
		return
	}
	cmd, err := mqsc.Parse(text)
	if err != nil {
		c.t.Fatal(err)
	}
	c.request(n, CommandReq{Command: cmd})
}

func (c *chaos) crash(n *netNode) {
	if n.up {
		n.crash()
		delete(c.handles, n)
	} else {
		n.start()
	}
}

func (c *chaos) deliver(k int) {
	for range k {
		ends := c.w.ends()
		if len(ends) == 0 {
			return
		}
		c.w.deliver(rapid.SampledFrom(ends).Draw(c.t, "end"))
	}
}

// heal lets everybody live, and every message find a place.
func (c *chaos) heal() {
	c.w.cut = map[string]bool{}
	for _, n := range c.w.nodes {
		if !n.up {
			n.start()
		}
	}
	for _, n := range c.w.nodes[1:] {
		c.command(n, "ALTER QLOCAL(DCQ1) PUT(ENABLED) MAXDEPTH(5000)")
	}
	c.w.pass(30 * time.Minute)
}

// everywhere is every body that is on any queue.
func (c *chaos) everywhere() []string {
	var out []string
	for _, n := range c.w.nodes {
		for _, q := range n.m.catalog.sortedQueues() {
			if q.attr.xmit {
				continue
			}
			out = append(out, n.texts(q.name)...)
		}
	}
	return out
}

// Whatever crashes, is cut or put-inhibited: no persistent message that was
// answered is lost, and none is there twice.
func TestClusterChaos(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, qm1, qm2, qm3 := articleNet(t)
		c := &chaos{t: rt, w: w, handles: map[*netNode]uint32{}}
		actions := []struct {
			weight int
			do     func()
		}{
			{20, func() { c.putOne(qm1) }},
			{4, func() { c.putOne(c.node()) }},
			{20, func() { c.deliver(rapid.IntRange(1, 6).Draw(rt, "n")) }},
			{2, func() { c.crash(c.node()) }},
			{2, func() { c.node().cutLinks() }},
			{2, func() { w.pass(time.Second) }},
			{1, func() { w.pass(time.Minute) }},
			{2, func() {
				n := rapid.SampledFrom([]*netNode{qm2, qm3}).Draw(rt, "host")
				c.command(n, "ALTER QLOCAL(DCQ1) PUT("+rapid.SampledFrom([]string{"ENABLED", "DISABLED"}).Draw(rt, "put")+")")
			}},
			{1, func() {
				n := rapid.SampledFrom([]*netNode{qm2, qm3}).Draw(rt, "host")
				c.command(n, fmt.Sprintf("ALTER QLOCAL(DCQ1) CLWLRANK(%d)", rapid.IntRange(0, 2).Draw(rt, "rank")))
			}},
			{1, func() { c.command(qm2, "ALTER QLOCAL(DCQ1) MAXDEPTH(3)") }},
			{1, func() {
				c.command(qm1, rapid.SampledFrom([]string{"STOP", "START"}).Draw(rt, "verb")+" CHANNEL(TO.QM2)")
			}},
		}
		var wheel []int
		for i, a := range actions {
			wheel = append(wheel, slices.Repeat([]int{i}, a.weight)...)
		}
		for range rapid.IntRange(1, 120).Draw(rt, "steps") {
			actions[rapid.SampledFrom(wheel).Draw(rt, "action")].do()
		}
		c.heal()
		c.command(qm1, "START CHANNEL(TO.QM2)")
		w.pass(30 * time.Minute)
		got, want := c.everywhere(), slices.Clone(c.put)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			for _, n := range w.nodes {
				rt.Logf("%s: transmit %v, status %s\nlog %q", n.name, n.texts(sharedTransmitQ), n.show("DISPLAY CHSTATUS(*)", "CHANNEL", "CHLTYPE", "STATUS"), n.log)
			}
			rt.Fatalf("arrived\n%v\nwant\n%v", got, want)
		}
		for _, n := range w.nodes {
			if len(n.disk.bodies) > len(n.disk.messages) {
				rt.Fatalf("%s keeps %d bodies for %d messages", n.name, len(n.disk.bodies), len(n.disk.messages))
			}
		}
	})
}
