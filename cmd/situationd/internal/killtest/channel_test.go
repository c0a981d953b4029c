package killtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine/mqi"
)

const xmitQ = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"

// trio is the article's cluster: messages are put on QM1 and read on QM2 and QM3.
// Every link goes through the proxy of whoever is dialled.
type trio struct {
	qm    [3]*proctest.QMgr
	front [3]*proctest.Proxy
}

// layout is how a trio is made: who is a full repository, and how its channels are.
type layout struct {
	name     string
	full     []int // members, from 0
	channels string
	// cross: every member has a queue of its own, to which the others put.
	cross bool
}

// layouts: the putter's queue manager knows the others first hand, shares that
// with a reader's, or has to ask; channels with long and short batches, and such
// that end when they have nothing to do.
var layouts = []layout{
	{name: "putter full", full: []int{0}},
	{name: "two full", full: []int{0, 1}, channels: " BATCHSZ(5)"},
	{name: "putter partial", full: []int{1}, channels: " DISCINT(1)"},
}

func newTrio(t *testing.T, queue string) *trio {
	t.Helper()
	return newTrioOf(t, queue, layouts[0])
}

func newTrioOf(t *testing.T, queue string, l layout) *trio {
	t.Helper()
	c, data := &trio{}, dataFolder(t)
	for i := range c.front {
		c.front[i] = proctest.NewProxy(t)
	}
	for i := range c.qm {
		name := fmt.Sprintf("QM%d", i+1)
		c.qm[i] = proctest.NewQMgr(t, &program, data, name, c.commands(i, queue, l), c.front[i])
		c.qm[i].Start(t)
	}
	if !l.cross {
		c.waitKnown(t)
	}
	return c
}

// commands define a member. Its channels try again every second.
func (c *trio) commands(i int, queue string, l layout) string {
	channel := func(to int, kind string) string {
		return fmt.Sprintf("DEFINE CHANNEL(TO.QM%d) CHLTYPE(%s) CONNAME('%s') CLUSTER(C1) SHORTTMR(1)%s\n", to+1, kind, c.front[to].ConnName(), l.channels)
	}
	text := logs + channel(i, "CLUSRCVR")
	if slices.Contains(l.full, i) {
		text = "ALTER QMGR REPOS(C1)\n" + text
	}
	for _, full := range l.full {
		if full != i {
			text += channel(full, "CLUSSDR")
			break // to the first other one; the rest it learns
		}
	}
	if l.cross {
		return text + fmt.Sprintf("DEFINE QLOCAL(%s) CLUSTER(C1) DEFBIND(NOTFIXED) DEFPSIST(YES) MAXDEPTH(999999999)\n", crossQ(i))
	}
	if i == 0 {
		return text
	}
	return text + queue
}

// waitKnown waits until every member knows both instances; a member asks when
// the queue is opened, and until it is answered one that has an instance of its
// own knows no other: who redistributes then gets 2051.
func (c *trio) waitKnown(t *testing.T) {
	t.Helper()
	for _, qm := range c.qm {
		conn, err := qm.Dial(t.Context(), "opener")
		if err != nil {
			t.Fatal(err)
		}
		proctest.WaitFor(t, "both instances known on "+qm.Name, func() (bool, error) {
			if h, _, err := conn.Open(t.Context(), mqi.OD{ObjectName: "DCQ1"}, mqi.MQOO_OUTPUT); err != nil {
				return false, err
			} else if err := conn.Close(t.Context(), h, 0); err != nil {
				return false, err
			}
			return len(qm.MQSC(t, "DISPLAY QUEUE(*) TYPE(QCLUSTER) WHERE(CLUSTER EQ C1)")) >= 2, nil
		})
		if err := conn.Disconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

const dcq1 = "DEFINE QLOCAL(DCQ1) CLUSTER(C1) DEFBIND(NOTFIXED) DEFPSIST(YES) MAXDEPTH(999999999)\n"

// blows counts what was done to a cluster.
type blows struct {
	kills, cuts int
	freezes     int
	inDoubt     int // kills and cuts that left a channel of QM1 with messages in doubt
	links       int // links that were cut
}

// inDoubt is how many messages the channels of QM1 have in doubt.
func (c *trio) inDoubt(t *testing.T) (n int) {
	t.Helper()
	for _, r := range c.qm[0].MQSC(t, "DISPLAY CHSTATUS(TO.*) CURMSGS CHLTYPE") {
		var sender bool
		var msgs int
		for _, f := range r.Fields {
			switch {
			case f.Key == "CHLTYPE" && f.Values[0] == "CLUSSDR":
				sender = true
			case f.Key == "CURMSGS":
				msgs, _ = strconv.Atoi(f.Values[0]) // digits
			}
		}
		if sender {
			n += msgs
		}
	}
	return n
}

// freeze stops one of the three for a while, as a busy host or a debugger does.
func (c *trio) freeze(t *testing.T, r *rand.Rand, b *blows) {
	b.freezes++
	m := c.qm[r.IntN(3)]
	m.Signal(t, syscall.SIGSTOP)
	pause(between(r, 50*time.Millisecond, 300*time.Millisecond))
	m.Signal(t, syscall.SIGCONT)
}

// blow kills one of the three, or cuts links, and mends it. Links stay blocked
// until it is known whether messages were in doubt, in most of the rounds; in the
// others everything comes back as fast as it can.
func (c *trio) blow(t *testing.T, r *rand.Rand, b *blows) {
	look := r.IntN(4) > 0
	victim := r.IntN(4)
	if victim == 3 {
		b.cuts++
		for i := range c.front {
			if i > 0 || r.IntN(2) == 0 {
				if look {
					b.links += c.front[i].Block()
				} else {
					b.links += c.front[i].Cut()
				}
			}
		}
	} else {
		b.kills++
		c.qm[victim].Kill()
		if look {
			c.front[1].Block()
			c.front[2].Block()
		}
		if victim > 0 {
			pause(between(r, 0, 100*time.Millisecond))
		}
		c.qm[victim].Start(t)
	}
	if look {
		if c.inDoubt(t) > 0 {
			b.inDoubt++
		}
		pause(between(r, 0, 100*time.Millisecond))
	}
	for i := range c.front {
		c.front[i].Open()
	}
}

// drained reports whether nothing is on its way or waits any more.
func (c *trio) drained(queue string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	defer cancel()
	for i, name := range []string{xmitQ, queue, queue} {
		if err := empty(ctx, c.qm[i], name); err != nil {
			return false, err
		}
	}
	return true, nil
}

// empty tells of a queue that is not, or has uncommitted messages.
func empty(ctx context.Context, m *proctest.QMgr, name string) (err error) {
	conn, err := m.Dial(ctx, "watcher")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Disconnect(ctx)) }()
	for _, key := range []string{"CURDEPTH", "UNCOM"} {
		v, err := proctest.Show(ctx, conn, "DISPLAY QSTATUS("+name+") CURDEPTH UNCOM", key)
		if err != nil || v != "0" && v != "NO" {
			return errors.Join(err, fmt.Errorf("%s of %s on %s is %s", key, name, m.Name, v))
		}
	}
	return nil
}

func TestKill_ChannelDeliversExactlyOnce(t *testing.T) {
	t.Parallel()
	r := chance(t)
	if *rounds == 0 {
		exactlyOnce(t, r, layouts[r.IntN(len(layouts))], 5)
		return
	}
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) { exactlyOnce(t, r, l, (*rounds+2)/len(layouts)) })
	}
}

// exactlyOnce kills and cuts a cluster under load and counts every message.
func exactlyOnce(t *testing.T, r *rand.Rand, l layout, rounds int) {
	c := newTrioOf(t, dcq1, l)
	book := newBook()
	traffic := &flow{most: 2000}
	putters, getters := newCrew(t, book, traffic), newCrew(t, book, traffic)
	for i := range 6 {
		p := &putter{crew: putters, name: fmt.Sprintf("p%d", i), queue: "DCQ1", plain: i%2 == 0, r: rand.New(rand.NewPCG(r.Uint64(), 2))}
		putters.work(c.qm[0], p.name, p.session)
	}
	for i := range 4 {
		g := &getter{crew: getters, m: c.qm[1+i%2], queue: "DCQ1", r: rand.New(rand.NewPCG(r.Uint64(), 3))}
		getters.work(g.m, fmt.Sprintf("g%d", i), g.session)
	}
	var b blows
	for range rounds {
		pause(between(r, 50*time.Millisecond, 400*time.Millisecond))
		if r.IntN(6) == 0 {
			c.freeze(t, r, &b)
		}
		c.blow(t, r, &b)
		if t.Failed() {
			return
		}
	}
	putters.stopNow()
	proctest.WaitFor(t, "the cluster drained", func() (bool, error) { return c.drained("DCQ1") })
	getters.stopNow()
	t.Logf("%s: %d kills, %d cuts of %d links, %d freezes; %d hit a channel in doubt", l.name, b.kills, b.cuts, b.links, b.freezes, b.inDoubt)
	book.judge(logged(t, c.qm[0], putLog), map[string][]string{
		"QM2": logged(t, c.qm[1], readLog), "QM3": logged(t, c.qm[2], readLog),
	}, nil).report(t)
}
