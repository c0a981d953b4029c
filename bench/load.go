package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// setUpMax is how long the clients may take to be ready.
	setUpMax = 30 * time.Second
	// flowWarmUp runs before a flow is measured, so that its queue has a usual depth.
	flowWarmUp = 500 * time.Millisecond
	// drainMax is how long answers may take after the end of a measurement.
	drainMax = 20 * time.Second
)

// measurePuts runs the putters side by side and prints one line. Its time begins
// when all of them are connected: how long a server takes for that is not measured.
func measurePuts(ctx context.Context, mode string, o options, b broker) error {
	putters, err := connectAll(ctx, o, o.clients, b.putter)
	defer func() {
		for _, p := range putters {
			p.end()
		}
	}()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.run)
	defer cancel()
	start := time.Now()
	all, err := putAll(ctx, o, putters)
	elapsed := time.Since(start)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s: no put was answered", mode)
	}
	slices.Sort(all)
	fmt.Printf("%s clients=%d window=%d puts=%d per_second=%.0f p50_us=%d p99_us=%d\n", mode, o.clients, o.window,
		len(all), float64(len(all))/elapsed.Seconds(), at(all, 50).Microseconds(), at(all, 99).Microseconds())
	return nil
}

// putAll lets every putter put until ctx ends, and gives how long each put took.
func putAll(ctx context.Context, o options, putters []putter) ([]time.Duration, error) {
	latencies, errs := make([][]time.Duration, len(putters)), make([]error, len(putters))
	var wg sync.WaitGroup
	for i, p := range putters {
		wg.Go(func() {
			switch {
			case p.batch != nil && o.window > 1:
				latencies[i], errs[i] = batched(ctx, o, p.batch)
			case p.send != nil && o.window > 1:
				latencies[i], errs[i] = pipelined(ctx, o, p.send)
			default:
				latencies[i], errs[i] = windowed(ctx, o, p.put)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(o.run + flowWarmUp + drainMax):
		return nil, fmt.Errorf("puts were not answered within %v", drainMax)
	}
	return slices.Concat(latencies...), errors.Join(errs...)
}

// windowed keeps o.window calls outstanding until ctx ends.
func windowed(ctx context.Context, o options, call func() error) ([]time.Duration, error) {
	latencies, errs := make([][]time.Duration, o.window), make([]error, o.window)
	var wg sync.WaitGroup
	for i := range o.window {
		wg.Go(func() {
			for ctx.Err() == nil {
				start := time.Now()
				if errs[i] = call(); errs[i] != nil {
					return
				}
				latencies[i] = append(latencies[i], time.Since(start))
			}
		})
	}
	wg.Wait()
	return slices.Concat(latencies...), errors.Join(errs...)
}

// batched has o.window puts answered together, again and again.
func batched(ctx context.Context, o options, batch func(int) error) (latencies []time.Duration, err error) {
	for ctx.Err() == nil {
		start := time.Now()
		if err := batch(o.window); err != nil {
			return nil, err
		}
		took := time.Since(start)
		for range o.window {
			latencies = append(latencies, took)
		}
	}
	return latencies, nil
}

// pipelined has one sender keep o.window puts outstanding: what clients that
// wait for answers in order do fastest.
func pipelined(ctx context.Context, o options, send func() (func() error, error)) (latencies []time.Duration, err error) {
	type pending struct {
		wait  func() error
		start time.Time
	}
	ring := make(chan pending, o.window-1)
	var sending sync.WaitGroup
	var failed error
	sending.Go(func() {
		defer close(ring)
		for ctx.Err() == nil {
			p := pending{start: time.Now()}
			if p.wait, failed = send(); failed != nil {
				return
			}
			ring <- p
		}
	})
	for p := range ring {
		if e := p.wait(); e != nil {
			err = e // go on: the sender must not wait for ever
			continue
		}
		latencies = append(latencies, time.Since(p.start))
	}
	sending.Wait()
	return latencies, errors.Join(err, failed)
}

// measureFlow has putters and takers work on one queue and prints one line: how
// many messages were got in the measured time, and how many put.
func measureFlow(ctx context.Context, mode string, o options, b broker) error {
	putters, err := connectAll(ctx, o, o.clients, b.putter)
	defer func() {
		for _, p := range putters {
			p.end()
		}
	}()
	if err != nil {
		return err
	}
	takers, err := connectAll(ctx, o, o.takers, b.taker)
	defer func() {
		for _, t := range takers {
			t.end()
		}
	}()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, flowWarmUp+o.run)
	defer cancel()
	var taken atomic.Int64
	errs := make([]error, len(takers)*o.gets)
	var taking sync.WaitGroup
	for i := range errs {
		taking.Go(func() { errs[i] = takeAll(ctx, takers[i/o.gets], &taken) })
	}
	window := make(chan float64, 1)
	taking.Go(func() { window <- rate(ctx, o.run, &taken) })
	start := time.Now()
	all, err := putAll(ctx, o, putters)
	elapsed := time.Since(start)
	taking.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	if len(all) == 0 || taken.Load() == 0 {
		return fmt.Errorf("%s: %d puts and %d gets were answered", mode, len(all), taken.Load())
	}
	slices.Sort(all)
	fmt.Printf("%s clients=%d window=%d takers=%d puts=%d gets=%d per_second=%.0f puts_per_second=%.0f p50_us=%d p99_us=%d\n", mode, o.clients, o.window,
		o.takers, len(all), taken.Load(), <-window, float64(len(all))/elapsed.Seconds(), at(all, 50).Microseconds(), at(all, 99).Microseconds())
	return nil
}

func takeAll(ctx context.Context, t taker, taken *atomic.Int64) error {
	for {
		// A get may be answered although it was cancelled.
		if err := t.take(ctx); err != nil || ctx.Err() != nil {
			if err == nil || ended(ctx, err) {
				return nil
			}
			return err
		}
		taken.Add(1)
	}
}

// rate is what the counter gains a second, from the end of the warm-up to the end of ctx.
func rate(ctx context.Context, run time.Duration, counter *atomic.Int64) float64 {
	select {
	case <-time.After(flowWarmUp):
	case <-ctx.Done():
		return 0
	}
	was, start := counter.Load(), time.Now()
	<-ctx.Done()
	return float64(counter.Load()-was) / time.Since(start).Seconds()
}

// at is the given percentile of sorted values.
func at(sorted []time.Duration, percent int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
