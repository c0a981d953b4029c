package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// liveHeap is what the heap holds after a collection.
func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools let go in the first
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// group shares a number of turns among goroutines.
type group struct {
	sync.WaitGroup
	left atomic.Int64
}

func newGroup(n int) *group {
	g := new(group)
	g.left.Store(int64(n))
	return g
}

func (g *group) next() bool { return g.left.Add(-1) >= 0 }

// memoryCount is how many messages the memory is measured with.
const memoryCount = 100_000

// heap hosts a queue manager in this process and puts o.count messages: what the
// live heap grows by is theirs.
func heap(ctx context.Context, o options) error {
	qm, err := mqengine.Start(ctx, mqengine.Options{Name: "BENCH", Folder: o.socket})
	if err != nil {
		return err
	}
	err = heapHosted(ctx, o, qm)
	return errors.Join(err, qm.Stop(context.WithoutCancel(ctx)))
}

func heapHosted(ctx context.Context, o options, qm *mqengine.QueueManager) error {
	conn, err := qm.Connect(ctx, qmgr.Appl{Tag: "bench"})
	if err != nil {
		return err
	}
	defer conn.Disconnect(context.WithoutCancel(ctx))
	h, _, err := conn.Open(ctx, mqi.OD{ObjectName: o.queue}, mqi.MQOO_OUTPUT)
	if err != nil {
		return err
	}
	if err := putOne(ctx, conn, h, bodyOf(o.size)); err != nil {
		return err
	}
	before := liveHeap()
	errs := make([]error, o.window)
	group := newGroup(o.count)
	for i := range errs {
		group.Go(func() {
			for group.next() && errs[i] == nil {
				errs[i] = putOne(ctx, conn, h, bodyOf(o.size))
			}
		})
	}
	group.Wait()
	fmt.Printf("heap messages=%d bytes=%d\n", o.count, int64(liveHeap())-int64(before))
	return errors.Join(errs...)
}

// memory is what queued messages cost: live heap in one process, and VmRSS of strmqm.
func (s *suite) memory(ctx context.Context) error {
	fmt.Fprintf(s.out, "\n### Memory of %d queued messages\n\n| body | live heap | a message | VmRSS of strmqm before, after | on disk |\n|---|---|---|---|---|\n", memoryCount)
	for _, size := range []int{100, 1024} {
		if err := s.memoryOf(ctx, size); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) memoryOf(ctx context.Context, size int) (err error) {
	dir, err := s.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := startSituationd(ctx, s, dir)
	if err != nil {
		return err
	}
	defer server.stop()
	pid := server.process.cmd.Process.Pid
	before, err := resident(pid)
	if err != nil {
		return err
	}
	args := append(server.args, "-size", strconv.Itoa(size), "-window", "16", "-count", strconv.Itoa(memoryCount))
	if _, err := runClient(ctx, 5*time.Minute, append(args, "fill")...); err != nil {
		return err
	}
	after, err := resident(pid)
	if err != nil {
		return err
	}
	used, err := diskUsed(dir)
	if err != nil {
		return err
	}
	server.stop()
	hosted, err := s.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(hosted)) }()
	again, err := startSituationd(ctx, s, hosted)
	if err != nil {
		return err
	}
	again.stop()
	fields, err := runClient(ctx, 5*time.Minute, append(append(again.args, "-size", strconv.Itoa(size), "-window", "64", "-count", strconv.Itoa(memoryCount)), "heap")...)
	if err != nil {
		return err
	}
	bytes := number(fields, "bytes")
	fmt.Fprintf(s.out, "| %d bytes | %.1f MiB | %.0f bytes | %d, %d MiB | %d MiB |\n", size, bytes/(1<<20), bytes/memoryCount, before>>10, after>>10, used>>20)
	return nil
}
