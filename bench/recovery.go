package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// fill puts o.count messages over o.clients connections with o.window
// outstanding, and prints how many were answered.
func fill(ctx context.Context, o options) error {
	putters, err := connectAll(ctx, o, o.clients, situationdPutter)
	defer func() {
		for _, p := range putters {
			p.end()
		}
	}()
	if err != nil {
		return err
	}
	var done atomic.Int64
	errs, wg := make([]error, len(putters)*o.window), newGroup(o.count)
	start := time.Now()
	for i := range errs {
		p := putters[i%len(putters)]
		wg.Go(func() {
			for wg.next() && ctx.Err() == nil {
				if errs[i] = p.put(); errs[i] != nil {
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	fmt.Printf("fill puts=%d per_second=%.0f\n", done.Load(), float64(done.Load())/time.Since(start).Seconds())
	return errors.Join(append(errs, ctx.Err())...)
}

// depth prints the queue's depth as an application sees it.
func depth(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeout(ctx, setUpMax)
	defer cancel()
	conn, err := mqengine.Dial(ctx, o.socket, "", qmgr.Appl{Tag: "bench"})
	if err != nil {
		return err
	}
	all, err := conn.Sample(ctx, 0)
	if err == nil {
		at := slices.IndexFunc(all.Queues, func(q mqengine.QueueStatus) bool { return q.Name == o.queue })
		if at < 0 {
			err = mqi.Errorf("SAMPLE", o.queue, mqi.MQRC_UNKNOWN_OBJECT_NAME, "")
		} else {
			fmt.Printf("depth curdepth=%d\n", all.Queues[at].CurDepth)
		}
	}
	return errors.Join(err, conn.Disconnect(ctx))
}

// restarts is G8: a queue manager with a million messages is killed and started.
func (s *suite) restarts(ctx context.Context) (err error) {
	dir, err := s.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := startSituationd(ctx, s, dir)
	if err != nil {
		return err
	}
	defer func() { server.stop() }()
	fields, err := runClient(ctx, 10*time.Minute, append(server.args, "-window", "64", "-count", strconv.Itoa(s.messages), "fill")...)
	if err != nil {
		return err
	}
	var warm, cold []float64
	for n := range 2 * s.rounds {
		server.stop()
		from := &warm
		if n%2 == 1 {
			from = &cold
			if err := forget(dir); err != nil {
				return err
			}
		}
		start := time.Now()
		if server, err = s.strmqm(ctx, dir); err != nil {
			return err
		}
		took := time.Since(start)
		seen, err := runClient(ctx, setUpMax, append(server.args, "depth")...)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.talk, "restart %d after kill -9: %v, depth %s\n", n+1, took, seen["curdepth"])
		if seen["curdepth"] != fields["puts"] {
			return fmt.Errorf("depth %s after the restart, %s puts were answered", seen["curdepth"], fields["puts"])
		}
		*from = append(*from, took.Seconds())
	}
	used, err := diskUsed(dir)
	if err != nil {
		return err
	}
	rss, err := resident(server.process.cmd.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\n### G8: kill -9 with %s messages of 1 KiB, start to `ready`; depths exact every time\n\n", fields["puts"])
	fmt.Fprintf(s.out, "| | seconds: min / median / max | goal (stretch) | |\n|---|---|---|---|\n")
	printSeconds := func(name string, list []float64) {
		slices.Sort(list)
		m := median(list)
		fmt.Fprintf(s.out, "| %s | %.2f / **%.2f** / %.2f | 2.5 (1) | %s |\n", name, list[0], m, list[len(list)-1], atMost(m, 2.5, 1))
	}
	printSeconds("files in the page cache", warm)
	printSeconds("files dropped from it", cold)
	fmt.Fprintf(s.out, "\n%d MiB on disk, VmRSS %d MiB after the last start.\n", used>>20, rss>>10)
	return nil
}

// atMost is the verdict where less is better.
func atMost(value, must, stretch float64) string {
	switch {
	case value <= stretch:
		return "beyond stretch"
	case value <= must:
		return "met"
	}
	return "MISSED"
}

// forget drops the files of a folder from the page cache.
func forget(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		// What is not on the disk yet cannot be dropped.
		err = errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
		return errors.Join(err, f.Close())
	})
}
