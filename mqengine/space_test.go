package mqengine

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/store"
)

// filling is a store whose reserve is reached after so many bytes of bodies.
type filling struct {
	*store.Memory
	written atomic.Int64
	most    atomic.Int64
}

func (f *filling) Apply(u *store.Unit) error {
	for i := range u.Ops {
		if op := &u.Ops[i]; op.Kind == store.OpSetBody {
			f.written.Add(int64(len(op.Value)))
		}
	}
	return f.Memory.Apply(u)
}

func (f *filling) Space() error {
	if f.written.Load() > f.most.Load() {
		return store.ErrLowSpace
	}
	return nil
}

// Putters that are faster than the look once a second must not write through the
// reserve: puts are refused soon after it is reached, gets go on, and puts are
// taken again when there is room.
func TestQueueManager_DiskFillsUpFast_PutsAreRefusedWithinTheReserve(t *testing.T) {
	t.Parallel()
	s := &filling{Memory: foundMemory(t)}
	s.most.Store(20 << 20)
	q, err := Start(testContext(t), Options{Name: "QM1", Store: s, Network: nowhere{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(testContext(t)) })
	c := connectTo(t, q)
	run(t, c, "DEFINE QLOCAL(Q) MAXDEPTH(1000000)")
	h := open(t, c, "Q", mqi.MQOO_OUTPUT|mqi.MQOO_INPUT_SHARED)
	body := strings.Repeat("x", 256<<10)
	for err == nil && s.written.Load() < 500<<20 {
		_, err = c.Put(testContext(t), h, message(body), mqi.PMO{})
	}
	if !errors.Is(err, mqi.MQRC_Q_SPACE_NOT_AVAILABLE) {
		t.Fatalf("after %d bytes: %v, want 2056", s.written.Load(), err)
	}
	// What is counted between two looks, and what was under way.
	if over := s.written.Load() - s.most.Load(); over > spaceBytes+4*turnBytes {
		t.Errorf("%d bytes were written beyond the reserve", over)
	}
	wantGet(t, c, h, body, 0)
	s.most.Store(1 << 40)
	eventually(t, "puts are accepted again", func() bool {
		_, err := c.Put(testContext(t), h, message(body), mqi.PMO{})
		return err == nil
	})
}

// Room is what is left of it, as a look at the disk would tell.
func (f *filling) Room() int64 { return f.most.Load() - f.written.Load() }

// A unit of work that the disk would not hold is refused while it is put: the
// commit of what was taken works.
func TestQueueManager_UnitLargerThanTheDisk_PutsAreRefused(t *testing.T) {
	t.Parallel()
	s := &filling{Memory: foundMemory(t)}
	s.most.Store(20 << 20)
	q, err := Start(testContext(t), Options{Name: "QM1", Store: s, Network: nowhere{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(testContext(t)) })
	c := connectTo(t, q)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	eventually(t, "the disk was looked at", func() bool { return q.actor.space.room.Load() > 0 })
	n := 0
	for ; err == nil && n < 100; n++ {
		_, err = c.Put(testContext(t), h, message(strings.Repeat("x", 1<<20)), mqi.PMO{Options: mqi.MQPMO_SYNCPOINT})
	}
	if !errors.Is(err, mqi.MQRC_Q_SPACE_NOT_AVAILABLE) || n > 11 {
		t.Errorf("after %d MiB: %v, want 2056 after 10", n, err)
	}
	if err := c.Commit(testContext(t)); err != nil {
		t.Error(err)
	}
	if st, _ := statusOf(t, c, "Q"); st.CurDepth != n-1 {
		t.Errorf("depth %d, %d were taken", st.CurDepth, n-1)
	}
}

// unsure is a store whose disk does not tell how full it is.
type unsure struct {
	*store.Memory
	err error
}

func (u *unsure) Space() error { return u.err }

// A disk that does not answer is not one that has room again.
func TestQueueManager_DiskDoesNotTell_StaysAsItWas(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	s := &unsure{Memory: foundMemory(t)}
	q := &QueueManager{store: s, mailbox: newMailbox(), actor: &actor{space: newSpaceGauge()}}
	q.errorLog = openErrorLog("", hclog.New(&hclog.LoggerOptions{Output: &said}))
	for _, err := range []error{store.ErrLowSpace, errors.New("statfs: input/output error")} {
		s.err = err
		q.lookAtDisk()
	}
	if !q.actor.space.low.Load() || !strings.Contains(said.String(), "input/output error") || strings.Contains(said.String(), "enough") {
		t.Errorf("low is %v, and the log says\n%s", q.actor.space.low.Load(), said.String())
	}
	s.err = nil
	if q.lookAtDisk(); q.actor.space.low.Load() || !strings.Contains(said.String(), "enough") {
		t.Errorf("with room again low is %v, and the log says\n%s", q.actor.space.low.Load(), said.String())
	}
}
