package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// warmUp is how many rounds are not counted.
const warmUp = 5

// reaction measures the time from the last close of a clustered queue's reader
// to the moment at which the putter's queue manager no longer routes there: a
// daemon with `on_change` must run beside the reader's queue manager.
func reaction(ctx context.Context, o options) error {
	reader, err := mqengine.Dial(ctx, o.socket, "", qmgr.Appl{Tag: "bench.reader"})
	if err != nil {
		return err
	}
	defer reader.Disconnect(context.WithoutCancel(ctx))
	watcher, err := mqengine.Dial(ctx, o.remote, "", qmgr.Appl{Tag: "bench.putter"})
	if err != nil {
		return err
	}
	defer watcher.Disconnect(context.WithoutCancel(ctx))
	changes, err := watcher.Watch(ctx)
	if err != nil {
		return err
	}
	var all []time.Duration
	for round := range o.count + warmUp {
		h, _, err := reader.Open(ctx, mqi.OD{ObjectName: o.queue}, mqi.MQOO_INPUT_SHARED)
		if err != nil {
			return err
		}
		if err := waitRoute(ctx, watcher, changes, o, true); err != nil {
			return err
		}
		select { // the daemon rightly holds a lowering that follows a raising too soon
		case <-time.After(o.pace):
		case <-ctx.Done():
			return ctx.Err()
		}
		start := time.Now()
		if err := reader.Close(ctx, h, 0); err != nil {
			return err
		}
		if err := waitRoute(ctx, watcher, changes, o, false); err != nil {
			return err
		}
		if round >= warmUp { // the first ones fall into the daemon's grace
			all = append(all, time.Since(start))
		}
	}
	slices.Sort(all)
	fmt.Printf("reaction rounds=%d p50_us=%d p99_us=%d max_us=%d\n", len(all), at(all, 50).Microseconds(), at(all, 99).Microseconds(), all[len(all)-1].Microseconds())
	return nil
}

// waitRoute waits until the putter's queue manager sees o.host's instance put-enabled, or not.
func waitRoute(ctx context.Context, conn mqengine.Conn, changes <-chan mqengine.Change, o options, enabled bool) error {
	deadline := time.After(30 * time.Second)
	for {
		res, err := conn.Instances(ctx, qmgr.InstancesReq{Queues: []string{o.queue}, Subscribe: true})
		if err != nil {
			return err
		}
		for _, in := range res.Instances {
			if in.QMgr == o.host && in.Put == enabled {
				return nil
			}
		}
		select {
		case _, ok := <-changes:
			if !ok {
				return fmt.Errorf("reaction: the watch ended")
			}
		case <-deadline:
			return fmt.Errorf("reaction: %s on %s did not become put-enabled=%v within 30 s: does a daemon with on_change run there?", o.queue, o.host, enabled)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
