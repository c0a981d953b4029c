package mqengine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// disk is a file system in memory that a power failure can hit, and whose n-th
// write, sync or rename fails.
type disk struct {
	mem   *vfs.MemFS
	fs    vfs.FS
	count atomic.Int64
	at    atomic.Int64
	hook  atomic.Pointer[func()] // runs before each of them
}

func newDisk(mem *vfs.MemFS) *disk {
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 30})
	d := &disk{mem: mem}
	d.fs = errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || op.Kind == errorfs.OpFileClose {
			return nil
		}
		if hook := d.hook.Load(); hook != nil {
			(*hook)()
		}
		if d.count.Add(1) == d.at.Load() {
			return syscall.EIO
		}
		return nil
	}))
	return d
}

// start opens the store on the disk and starts the queue manager in it.
func (d *disk) start(t *testing.T, logger hclog.Logger) (*QueueManager, error) {
	t.Helper()
	s, err := store.OpenPebble("store", store.Options{FS: d.fs})
	if err != nil {
		return nil, err
	}
	return Start(testContext(t), Options{Name: "QM1", Store: s, Network: nowhere{}, Logger: logger})
}

// founded is a disk with a new queue manager that has the queues Q and LOG.
func founded(t *testing.T) *disk {
	t.Helper()
	d := newDisk(vfs.NewCrashableMem())
	s, err := store.OpenPebble("store", store.Options{FS: d.fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(found(s, "QM1"), s.Close()); err != nil {
		t.Fatal(err)
	}
	q, err := d.start(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := connectTo(t, q)
	run(t, c, "DEFINE QLOCAL(Q)")
	run(t, c, "DEFINE QLOCAL(LOG)")
	if err := q.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	return d
}

// ledger is what applications were answered. The fate of a unit whose answer
// never came is open; all of it happened or nothing.
type ledger struct {
	mu    sync.Mutex
	put   map[string]bool // answered: true
	got   map[string]bool // answered: true; asked for: false
	units [][]string      // of puts: they are there as a whole or not at all
}

func newLedger() *ledger { return &ledger{put: map[string]bool{}, got: map[string]bool{}} }

func (l *ledger) note(book map[string]bool, ids []string, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		book[id] = answered
	}
}

// work puts and gets in units of work until the end or the first error: what is
// got goes to LOG in the same unit.
func (l *ledger) work(c Conn, name string, r *rand.Rand, rounds int) error {
	ctx := context.Background()
	q, _, err := c.Open(ctx, mqi.OD{ObjectName: "Q"}, outputAndInput)
	if err != nil {
		return err
	}
	log, _, err := c.Open(ctx, mqi.OD{ObjectName: "LOG"}, mqi.MQOO_OUTPUT)
	for i := 0; err == nil && i < rounds; i++ {
		if r.IntN(2) == 0 {
			err = l.puts(ctx, c, q, fmt.Sprintf("%s.%d", name, i), r)
		} else {
			err = l.gets(ctx, c, q, log, r)
		}
	}
	return err
}

func (l *ledger) puts(ctx context.Context, c Conn, q Handle, name string, r *rand.Rand) error {
	var ids []string
	for i := range 1 + r.IntN(3) {
		id := fmt.Sprintf("%s.%d", name, i)
		if _, err := c.Put(ctx, q, message(id+strings.Repeat(" ", r.IntN(900))), mqi.PMO{Options: mqi.MQPMO_SYNCPOINT}); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if r.IntN(6) == 0 {
		return c.Back(ctx)
	}
	l.note(l.put, ids, false)
	l.mu.Lock()
	l.units = append(l.units, ids)
	l.mu.Unlock()
	err := c.Commit(ctx)
	if err == nil {
		l.note(l.put, ids, true)
	}
	return err
}

func (l *ledger) gets(ctx context.Context, c Conn, q, log Handle, r *rand.Rand) error {
	var ids []string
	for range 1 + r.IntN(3) {
		m, err := c.Get(ctx, q, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_SYNCPOINT, MaxLength: -1})
		if errors.Is(err, mqi.MQRC_NO_MSG_AVAILABLE) {
			break
		}
		if err != nil {
			return err
		}
		id := strings.TrimRight(string(m.Body), " ")
		if _, err := c.Put(ctx, log, message(id), mqi.PMO{Options: mqi.MQPMO_SYNCPOINT}); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if r.IntN(6) == 0 {
		return c.Back(ctx)
	}
	l.note(l.got, ids, false)
	err := c.Commit(ctx)
	if err == nil {
		l.note(l.got, ids, true)
	}
	return err
}

// snapshot is what was answered up to now: a power failure that comes later must keep it.
func (l *ledger) snapshot() *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := newLedger()
	for id, answered := range l.put {
		s.put[id] = answered
	}
	for id, answered := range l.got {
		s.got[id] = answered
	}
	return s
}

// balance starts the queue manager of a disk and compares. all knows everything
// that was ever asked for, l what had been answered when the disk stopped.
func (l *ledger) balance(t *testing.T, what string, mem *vfs.MemFS, all *ledger) {
	t.Helper()
	q, err := newDisk(mem).start(t, nil)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	c := connectTo(t, q)
	waiting, read := drain(t, c, "Q"), drain(t, c, "LOG")
	for id, n := range read {
		waiting[id] += n
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for id, answered := range l.put {
		if answered && waiting[id] == 0 {
			t.Errorf("%s: %s was committed and is lost", what, id)
		}
	}
	for id, answered := range l.got {
		if answered && read[id] == 0 {
			t.Errorf("%s: the get of %s was committed and forgotten", what, id)
		}
	}
	for id, n := range waiting {
		if _, asked := all.put[id]; n > 1 || !asked {
			t.Errorf("%s: %s is there %d times; was its commit asked for? %v", what, id, n, asked)
		}
	}
	for _, unit := range all.units {
		there := 0
		for _, id := range unit {
			there += min(waiting[id], 1)
		}
		if there != 0 && there != len(unit) {
			t.Errorf("%s: of the unit %v only %d are there", what, unit, there)
		}
	}
	if err := q.Stop(testContext(t)); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// drain counts the bodies on a queue.
func drain(t *testing.T, c Conn, queue string) map[string]int {
	t.Helper()
	h := open(t, c, queue, mqi.MQOO_INPUT_SHARED)
	seen := map[string]int{}
	for {
		body, reason := get(t, c, h, mqi.MQGMO_NO_SYNCPOINT)
		if reason == mqi.MQRC_NO_MSG_AVAILABLE {
			return seen
		}
		if reason != mqi.MQRC_NONE {
			t.Fatal(reason)
		}
		seen[strings.TrimRight(body, " ")]++
	}
}

// The power fails again and again under a whole queue manager at work, and the
// disk keeps nothing, or some, of what was not synced: what was committed is
// there, once, and no unit of work is there by halves.
func TestQueueManager_PowerFails_LedgerBalances(t *testing.T) {
	t.Parallel()
	d := founded(t)
	q, err := d.start(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newLedger()
	type cut struct {
		answered *ledger
		mem      *vfs.MemFS
	}
	var (
		mu   sync.Mutex
		cuts []cut
		r    = rand.New(rand.NewPCG(3, 7))
		seen int
	)
	hook := func() {
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen%3 != 0 || len(cuts) == 40 {
			return
		}
		answered := l.snapshot() // before the cut: the disk may know more
		cuts = append(cuts, cut{answered, d.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(2) * r.IntN(101), RNG: r})})
	}
	d.hook.Store(&hook)
	var crews sync.WaitGroup
	for i := range 4 {
		c := connectTo(t, q)
		crews.Go(func() {
			if err := l.work(c, fmt.Sprint(i), rand.New(rand.NewPCG(uint64(i), 7)), 120); err != nil {
				t.Error(err)
			}
		})
	}
	crews.Wait()
	if err := q.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	d.hook.Store(nil)
	for i, c := range cuts {
		c.answered.balance(t, fmt.Sprint("power failure ", i), c.mem, l)
	}
	l.balance(t, "in the end", d.mem, l)
	t.Logf("%d power failures, %d messages put", len(cuts), len(l.put))
	if len(cuts) < 15 || len(l.put) < 100 {
		t.Errorf("the run shows too little")
	}
}

// Every write, sync and rename of a run fails once: the queue manager ends with
// one line that says why, and the next start has everything that was answered.
func TestQueueManager_AnyWriteFails_EndsWithOneLineAndLedgerBalances(t *testing.T) {
	t.Parallel()
	base := founded(t)
	failed := 0
	for n := int64(1); ; n++ {
		d := newDisk(base.mem.CrashClone(vfs.CrashCloneCfg{}))
		d.at.Store(n)
		ended, _ := d.oneFault(t, n)
		if ended {
			failed++
		}
		if d.count.Load() < n || n > 400 {
			break
		}
	}
	t.Logf("%d faults ended the queue manager", failed)
	if failed < 10 {
		t.Error("the faults reach too little")
	}
}

// oneFault runs a queue manager whose n-th write fails.
func (d *disk) oneFault(t *testing.T, n int64) (ended bool, l *ledger) {
	t.Helper()
	l = newLedger()
	var lines strings.Builder
	var mu sync.Mutex
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: &lines, Mutex: &mu})
	q, err := d.start(t, logger)
	what := fmt.Sprint("write ", n)
	switch {
	case err == nil:
		var c Conn
		if c, err = q.Connect(testContext(t), qmgr.Appl{Tag: "worker"}); err == nil {
			err = l.work(c, "w", rand.New(rand.NewPCG(uint64(n), 8)), 25)
		}
		if err != nil {
			ended = true
			<-q.Done()
			if q.Err() == nil || !errors.Is(q.Err(), syscall.EIO) || strings.Contains(q.Err().Error(), "\n") {
				t.Errorf("%s: the queue manager ended with %v, want one line with the disk's reason", what, q.Err())
			}
			mu.Lock()
			if told := strings.Count(lines.String(), "[ERROR]"); told > 1 {
				t.Errorf("%s: %d lines tell of the error:\n%s", what, told, lines.String())
			}
			mu.Unlock()
		} else if err := q.Stop(testContext(t)); err != nil && !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", what, err)
		}
	case !errors.Is(err, syscall.EIO):
		t.Errorf("%s: the start gives %v", what, err)
	}
	l.snapshot().balance(t, what+", after a power failure", d.mem.CrashClone(vfs.CrashCloneCfg{}), l)
	return ended, l
}
