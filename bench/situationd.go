package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// situationdPut puts persistent messages through the queue manager's socket,
// with the client that the command q uses.
func situationdPut(ctx context.Context, o options, _ int) ([]time.Duration, error) {
	conn, err := mqengine.Dial(context.WithoutCancel(ctx), o.socket, "", qmgr.Appl{Tag: "bench"})
	if err != nil {
		return nil, err
	}
	defer conn.Disconnect(context.WithoutCancel(ctx))
	h, _, err := conn.Open(context.WithoutCancel(ctx), mqi.OD{ObjectName: o.queue}, mqi.MQOO_OUTPUT)
	if err != nil {
		return nil, err
	}
	return windowed(ctx, o, func() error {
		md := mqi.NewMD()
		md.Persistence = mqi.MQPER_PERSISTENT
		_, err := conn.Put(context.WithoutCancel(ctx), h, &mqengine.Message{MD: md, Body: make([]byte, o.size)}, mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT})
		return err
	})
}

// windowed keeps o.window calls outstanding until ctx ends.
func windowed(ctx context.Context, o options, call func() error) ([]time.Duration, error) {
	latencies, errs := make([][]time.Duration, o.window), make([]error, o.window)
	loop := func(i int) {
		for ctx.Err() == nil {
			start := time.Now()
			if errs[i] = call(); errs[i] != nil {
				return
			}
			latencies[i] = append(latencies[i], time.Since(start))
		}
	}
	var wg sync.WaitGroup
	for i := range o.window - 1 {
		wg.Go(func() { loop(i + 1) })
	}
	loop(0)
	wg.Wait()
	var all []time.Duration
	for _, l := range latencies {
		all = append(all, l...)
	}
	return all, errors.Join(errs...)
}
