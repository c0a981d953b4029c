package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// sampleEvery is how often samples are taken beside the puts: ten times as often as the shipped rules.
const sampleEvery = 100 * time.Millisecond

// sample hosts the queue manager in o.socket's folder in this process, as a
// daemon does, and samples all its queues while clients put over its socket: for
// o.run without samples, and for o.run with.
func sample(ctx context.Context, o options) error {
	qm, err := mqengine.Start(ctx, mqengine.Options{Name: "BENCH", Folder: o.socket})
	if err != nil {
		return err
	}
	err = sampleHosted(ctx, o, qm)
	return errors.Join(err, qm.Stop(context.WithoutCancel(ctx)))
}

func sampleHosted(ctx context.Context, o options, qm *mqengine.QueueManager) error {
	conn, err := qm.Connect(ctx, qmgr.Appl{Tag: "bench.sampler"})
	if err != nil {
		return err
	}
	defer conn.Disconnect(context.WithoutCancel(ctx))
	putters, err := connectAll(ctx, o, o.clients, situationdPutter)
	defer func() {
		for _, p := range putters {
			p.end()
		}
	}()
	if err != nil {
		return err
	}
	var with, without []time.Duration
	var full, changed []time.Duration
	seen := 0
	for range 3 { // in turn, so that what drifts meets both alike
		if err := loaded(ctx, o, putters, &without, func(context.Context) error { return nil }); err != nil {
			return err
		}
		err := loaded(ctx, o, putters, &with, func(ctx context.Context) error { return sampleAll(ctx, conn, &full, &changed, &seen) })
		if err != nil {
			return err
		}
	}
	for _, list := range [][]time.Duration{with, without, full, changed} {
		if len(list) == 0 {
			return errors.New("sample: nothing was measured")
		}
		slices.Sort(list)
	}
	fmt.Printf("sample queues=%d samples=%d full_p50_us=%d full_p99_us=%d full_max_us=%d changed_p50_us=%d changed_p99_us=%d", seen, len(full),
		at(full, 50).Microseconds(), at(full, 99).Microseconds(), full[len(full)-1].Microseconds(), at(changed, 50).Microseconds(), at(changed, 99).Microseconds())
	fmt.Printf(" puts_without=%d puts_with=%d p50_without_us=%d p50_with_us=%d p99_without_us=%d p99_with_us=%d\n", len(without), len(with),
		at(without, 50).Microseconds(), at(with, 50).Microseconds(), at(without, 99).Microseconds(), at(with, 99).Microseconds())
	return nil
}

// loaded runs the putters for o.run and beside them do, until it ends.
func loaded(ctx context.Context, o options, putters []putter, latencies *[]time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, o.run)
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- do(ctx) }()
	all, err := putAll(ctx, o, putters)
	*latencies = append(*latencies, all...)
	return errors.Join(err, <-failed)
}

// sampleAll takes a full sample and one of what changed, again and again.
func sampleAll(ctx context.Context, conn mqengine.Conn, full, changed *[]time.Duration, seen *int) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		start := time.Now()
		all, err := conn.Sample(context.WithoutCancel(ctx), 0)
		if err != nil {
			return err
		}
		*full, *seen = append(*full, time.Since(start)), len(all.Queues)
		start = time.Now()
		if _, err := conn.Sample(context.WithoutCancel(ctx), all.Revision); err != nil {
			return err
		}
		*changed = append(*changed, time.Since(start))
	}
}

// sampling is G7.
func (s *suite) sampling(ctx context.Context) (err error) {
	dir, err := s.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	script := filepath.Join(dir, "q.mqsc")
	f, err := os.Create(script)
	if err != nil {
		return err
	}
	text := []byte("DEFINE QLOCAL(BENCH.Q) DEFPSIST(YES) MAXDEPTH(99999999)\n")
	for i := range s.queues {
		text = fmt.Appendf(text, "DEFINE QLOCAL(APP.QUEUE.%d)\n", i)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	created, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(created, s.situationd, "crtmqm", "BENCH", "--data", dir, "--mqsc", script).CombinedOutput(); err != nil {
		return fmt.Errorf("crtmqm: %w: %s", err, out)
	}
	fields, err := runClient(ctx, 10*s.run+2*setUpMax, "-socket", filepath.Join(dir, "qmgrs", "BENCH"), "-for", s.run.String(), "sample")
	if err != nil {
		return err
	}
	ms := func(key string) float64 { return number(fields, key) / 1000 }
	fmt.Fprintf(s.out, "\n### G7: sample of %s hosted queues every %v while 16 clients put\n\n", fields["queues"], sampleEvery)
	fmt.Fprintf(s.out, "| | p50, p99 | goal (stretch) | |\n|---|---|---|---|\n")
	fmt.Fprintf(s.out, "| all queues (%s samples) | %.2f, %.2f ms | 10 (5) | %s |\n", fields["samples"], ms("full_p50_us"), ms("full_p99_us"), atMost(ms("full_p50_us"), 10, 5))
	fmt.Fprintf(s.out, "| those that changed since | %.2f, %.2f ms | | |\n", ms("changed_p50_us"), ms("changed_p99_us"))
	fmt.Fprintf(s.out, "| a put, without samples | %.2f, %.2f ms; %s puts | | |\n", ms("p50_without_us"), ms("p99_without_us"), fields["puts_without"])
	fmt.Fprintf(s.out, "| a put, with samples | %.2f, %.2f ms; %s puts, %.1f %% | puts not held up | |\n", ms("p50_with_us"), ms("p99_with_us"), fields["puts_with"],
		100*number(fields, "puts_with")/max(1, number(fields, "puts_without")))
	return nil
}
