package killtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine/mqi"
)

// crossQ is the queue that member i has.
func crossQ(i int) string { return fmt.Sprintf("CROSS.Q%d", i+1) }

// crossing is the cluster whose members all put to all others.
var crossing = layout{name: "crossing", full: []int{0, 1}, channels: " BATCHSZ(20)", cross: true}

// Messages cross between three queue managers in all six directions while any of
// them is killed and links are cut: ten thousand and fifty blows in the long
// form. What was put is what is read, each once.
func TestKill_MessagesCross(t *testing.T) {
	t.Parallel()
	r := chance(t)
	blows, messages := 4, int64(400)
	if *rounds > 0 {
		blows, messages = *rounds, 200*int64(*rounds)
	}
	c := newTrioOf(t, "", crossing)
	c.waitCrossing(t)
	book, traffic := newBook(), &flow{most: 2000}
	putters, getters := newCrew(t, book, traffic), newCrew(t, book, traffic)
	for from := range c.qm {
		for to := range c.qm {
			if from != to {
				p := &putter{crew: putters, name: fmt.Sprintf("p%d%d", from+1, to+1), queue: crossQ(to), plain: (from+to)%2 == 0, r: rand.New(rand.NewPCG(r.Uint64(), 2))}
				putters.work(c.qm[from], p.name, p.session)
			}
		}
		g := &getter{crew: getters, m: c.qm[from], queue: crossQ(from), r: rand.New(rand.NewPCG(r.Uint64(), 3))}
		getters.work(g.m, "getter", g.session)
	}
	b := c.storm(t, r, blows)
	if t.Failed() {
		return
	}
	proctest.WaitFor(t, "enough messages have crossed", func() (bool, error) {
		if n := traffic.got.Load(); n < messages {
			return false, fmt.Errorf("%d of %d", n, messages)
		}
		return true, nil
	})
	putters.stopNow()
	proctest.WaitFor(t, "the cluster drained", c.crossed)
	getters.stopNow()
	t.Logf("%d kills, %d cuts of %d links, %d freezes; %d hit a channel in doubt", b.kills, b.cuts, b.links, b.freezes, b.inDoubt)
	var puts []string
	reads := map[string][]string{}
	for _, m := range c.qm {
		puts = append(puts, logged(t, m, putLog)...)
		reads[m.Name] = logged(t, m, readLog)
	}
	v := book.judge(puts, reads, nil)
	v.report(t)
	if v.read < int(messages) {
		t.Errorf("%d messages crossed, %d are asked for", v.read, messages)
	}
}

// storm strikes the cluster until there were enough blows.
func (c *trio) storm(t *testing.T, r *rand.Rand, blowsWanted int) (b blows) {
	for b.kills+b.cuts < blowsWanted && !t.Failed() {
		pause(between(r, 50*time.Millisecond, 300*time.Millisecond))
		if r.IntN(8) == 0 {
			c.freeze(t, r, &b)
		}
		c.blow(t, r, &b)
	}
	return b
}

// waitCrossing waits until every member can put to the queues of the others.
func (c *trio) waitCrossing(t *testing.T) {
	t.Helper()
	for from := range c.qm {
		conn, err := c.qm[from].Dial(t.Context(), "opener")
		if err != nil {
			t.Fatal(err)
		}
		for to := range c.qm {
			proctest.WaitFor(t, fmt.Sprintf("%s known on %s", crossQ(to), c.qm[from].Name), func() (bool, error) {
				h, _, err := conn.Open(t.Context(), mqi.OD{ObjectName: crossQ(to)}, mqi.MQOO_OUTPUT)
				if err != nil {
					return false, err
				}
				return true, conn.Close(t.Context(), h, 0)
			})
		}
		if err := conn.Disconnect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// crossed reports whether nothing is on its way or waits any more.
func (c *trio) crossed() (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	defer cancel()
	for i, m := range c.qm {
		for _, name := range []string{xmitQ, crossQ(i)} {
			if err := empty(ctx, m, name); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
