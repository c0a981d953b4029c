package main

import (
	"context"
	"errors"
	"math/rand/v2"
)

// bodyOf makes a body that cannot be compressed: disks would have less to do.
func bodyOf(size int) []byte {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	return body
}

// putter is one connection that is ready to put.
type putter struct {
	put func() error // one durable put, answered
	// send begins a put; wait returns with its answer. nil: a window is so many calls of put at once.
	send func() (wait func() error, err error)
	// batch makes n puts and waits for all answers: what Redis' clients do fastest.
	batch func(n int) error
	end   func()
}

// taker is one connection that is ready to get.
type taker struct {
	// take is one destructive get, answered or acknowledged. Ours may be called several times at once.
	take func(ctx context.Context) error
	end  func()
}

// broker connects clients and makes what they put to. ctx bounds that, and not
// what they do then.
type broker struct {
	putter func(ctx context.Context, o options) (putter, error)
	taker  func(ctx context.Context, o options) (taker, error)
}

var brokers = map[string]broker{
	"situationd": {situationdPutter, situationdTaker},
	"rabbitmq":   {rabbitPutter, rabbitTaker},
	"nats":       {natsPutter, natsTaker},
	"redis":      {redisPutter, redisTaker},
}

// connectAll connects n clients one after the other. With an error it gives those that are.
func connectAll[T any](ctx context.Context, o options, n int, connect func(context.Context, options) (T, error)) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, setUpMax)
	defer cancel()
	var list []T
	for range n {
		one, err := connect(ctx, o)
		if err != nil {
			return list, err
		}
		list = append(list, one)
	}
	return list, nil
}

// ended tells the end of a measurement from a fault.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
