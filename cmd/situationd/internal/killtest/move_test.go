package killtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine/mqi"
)

// brokenExit is what a shell sees of MQRC_CONNECTION_BROKEN: 2009 mod 256.
const brokenExit = int(mqi.MQRC_CONNECTION_BROKEN) % 256

// strand puts a round's messages on QM2's instance with q, as an application on
// QM2 would, and takes the instance out of the balancing.
func (c *trio) strand(t *testing.T, queue string, ids []string) {
	t.Helper()
	qm2 := c.qm[1]
	qm2.MQSC(t, "ALTER QLOCAL("+queue+") PUT(ENABLED)")
	put := proctest.Do(t, program.Command(t, qm2.Data, "q", "-o"+queue, "-mQM2"), strings.Join(ids, "\n")+"\n")
	if put.Exit != 0 {
		t.Fatalf("q -o%s exits %d: %s", queue, put.Exit, put.Stderr)
	}
	qm2.MQSC(t, "ALTER QLOCAL("+queue+") PUT(DISABLED)")
	if n := len(content(t, qm2, queue)); n < len(ids) {
		t.Fatalf("%d messages were put on QM2, %d are there", len(ids), n)
	}
}

// killMidway starts the article's redistribution by hand and kills QM2 when the
// queue has come down to depth. It reports whether the kill hit the middle: some
// messages had moved for good, some had not.
func (c *trio) killMidway(t *testing.T, queue string, unit, depth int) bool {
	t.Helper()
	qm2, before := c.qm[1], len(content(t, c.qm[1], queue))
	conn, err := qm2.Dial(t.Context(), "watcher")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan proctest.Outcome, 1)
	mover := program.Command(t, qm2.Data, "q", "-I"+queue, "-mQM2", "-o"+queue, fmt.Sprintf("-p%d", unit))
	go func() { ended <- proctest.Do(t, mover, "") }()
	for now, early := before, false; now > depth && !early; {
		s, err := conn.Sample(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Queues {
			if s.Queues[i].Name == queue {
				now = s.Queues[i].CurDepth
			}
		}
		early = len(ended) > 0
	}
	qm2.Kill()
	out := <-ended
	qm2.Start(t)
	left := len(content(t, qm2, queue))
	hit := left > 0 && left < before
	if want := []int{0, brokenExit}; !slices.Contains(want, out.Exit) || left > 0 && out.Exit == 0 {
		t.Errorf("q of which the queue manager was killed exits %d with %d of %d messages left: %s", out.Exit, left, before, out.Stderr)
	}
	return hit
}

// finishMove redistributes what is left, as the person at the keyboard would.
func (c *trio) finishMove(t *testing.T, queue string) {
	t.Helper()
	proctest.WaitFor(t, "QM2's instance empty", func() (bool, error) {
		out := proctest.Do(t, program.Command(t, c.qm[1].Data, "q", "-I"+queue, "-mQM2", "-o"+queue, "-p50"), "")
		if out.Exit != 0 {
			return false, fmt.Errorf("q exits %d: %s", out.Exit, out.Stderr)
		}
		return len(content(t, c.qm[1], queue)) == 0, nil
	})
}

// gather reads everything on the queue of a member with q.
func (c *trio) gather(t *testing.T, i int, queue string) []string {
	t.Helper()
	out := proctest.Do(t, program.Command(t, c.qm[i].Data, "q", "-I"+queue, "-m"+c.qm[i].Name, "-p50"), "")
	if out.Exit != 0 {
		t.Fatalf("q -I%s -m%s exits %d: %s", queue, c.qm[i].Name, out.Exit, out.Stderr)
	}
	return strings.Fields(out.Stdout)
}

// settled waits until QM2 has nothing on its way to others.
func (c *trio) settled(t *testing.T) {
	t.Helper()
	proctest.WaitFor(t, "QM2's transmission queue empty", func() (bool, error) {
		ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
		defer cancel()
		conn, err := c.qm[1].Dial(ctx, "watcher")
		if err != nil {
			return false, err
		}
		defer conn.Disconnect(ctx)
		depth, err := proctest.Show(ctx, conn, "DISPLAY QSTATUS("+xmitQ+") CURDEPTH UNCOM", "CURDEPTH")
		if err != nil || depth != "0" {
			return false, fmt.Errorf("CURDEPTH(%s): %w", depth, err)
		}
		uncom, err := proctest.Show(ctx, conn, "DISPLAY QSTATUS("+xmitQ+") CURDEPTH UNCOM", "UNCOM")
		return uncom == "NO" || uncom == "0", err
	})
}

// names are the ids of a round.
func names(round, n int, kind string) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s%d-%05d", kind, round, i)
	}
	return ids
}

// once compares what was read with what was put.
func once(t *testing.T, put, read []string) {
	t.Helper()
	seen := map[string]int{}
	for _, id := range read {
		seen[id]++
	}
	var lost, twice int
	for _, id := range put {
		switch n := seen[id]; {
		case n == 0:
			lost++
		case n > 1:
			twice++
		}
		delete(seen, id)
	}
	if lost+twice+len(seen) > 0 {
		t.Errorf("%d bodies put: %d lost, %d read twice, %d that nobody put", len(put), lost, twice, len(seen))
	}
}

func TestKill_RedistributionByHandMovesEachMessageOnce(t *testing.T) {
	t.Parallel()
	r := chance(t)
	c := newTrio(t, dcq1)
	var put, read []string
	want := roundsOr(2)
	hits, kills := 0, 0
	for ; hits < want && kills < 4*want; kills++ {
		unit, n := 1, 100
		if kills%2 == 1 {
			unit, n = 50, 600
		}
		ids := names(kills, n, "m")
		put = append(put, ids...)
		c.strand(t, "DCQ1", ids)
		if c.killMidway(t, "DCQ1", unit, n/8+r.IntN(3*n/4)) {
			hits++
		}
		c.finishMove(t, "DCQ1")
		if t.Failed() {
			return
		}
	}
	c.settled(t)
	read = append(c.gather(t, 1, "DCQ1"), c.gather(t, 2, "DCQ1")...)
	t.Logf("%d kills of QM2 during q -I -o, %d hit the middle; %d bodies put, %d read", kills, hits, len(put), len(read))
	once(t, put, read)
	if hits < want {
		t.Errorf("only %d of %d kills hit the middle", hits, kills)
	}
}

const volatileQ = "DEFINE QLOCAL(DCQ1) CLUSTER(C1) DEFBIND(NOTFIXED) DEFPSIST(NO) MAXDEPTH(999999999)\n"

// Nonpersistent messages do not survive their queue manager; that is MQ's, and
// who redistributes them has to know. Persistent ones on the same queue do.
func TestKill_RestartLosesWhatIsNotPersistent(t *testing.T) {
	t.Parallel()
	r := chance(t)
	c := newTrioOf(t, volatileQ, layouts[1])
	qm2 := c.qm[1]
	kept, volatile := names(0, 200, "k"), names(0, 200, "v")
	if out := proctest.Do(t, program.Command(t, qm2.Data, "q", "-oDCQ1", "-mQM2", "-ap"), strings.Join(kept, "\n")); out.Exit != 0 {
		t.Fatalf("q -ap exits %d: %s", out.Exit, out.Stderr)
	}
	c.strand(t, "DCQ1", volatile) // last, so that a kill in the middle finds some of them
	c.killMidway(t, "DCQ1", 1, 50+r.IntN(300))
	onQM2 := content(t, qm2, "DCQ1")
	for _, body := range onQM2 {
		if body[0] == 'v' {
			t.Errorf("the nonpersistent message %s outlived its queue manager", body)
		}
	}
	c.finishMove(t, "DCQ1")
	c.settled(t)
	read := append(c.gather(t, 1, "DCQ1"), c.gather(t, 2, "DCQ1")...)
	isKept := func(id string) bool { return id[0] == 'k' }
	reads := slices.DeleteFunc(slices.Clone(read), func(id string) bool { return !isKept(id) })
	once(t, kept, reads)
	others := slices.DeleteFunc(read, isKept)
	slices.Sort(others)
	if n := len(slices.Compact(slices.Clone(others))); n != len(others) {
		t.Errorf("%d nonpersistent messages were read, %d of them twice", len(others), len(others)-n)
	}
	if len(others) == len(volatile) {
		t.Errorf("the kill lost no message that it should lose: %d of %d were read", len(others), len(volatile))
	}
	t.Logf("%d of %d nonpersistent messages moved before the kill, the others are gone; %d persistent ones all there",
		len(others), len(volatile), len(reads))
}
