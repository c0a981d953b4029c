package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
)

// How many messages a peer may send to a consumer ahead, and give it at once.
const (
	prefetch  = 1000
	takeBatch = 100 // of Redis, which is asked and not told
)

func natsStream(ctx context.Context, o options) (*nats.Conn, jetstream.JetStream, jetstream.Stream, error) {
	nc, err := nats.Connect(o.url)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("nats: %w", err)
	}
	var stream jetstream.Stream
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(4096))
	if err == nil {
		stream, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "BENCH", Subjects: []string{"bench"},
			Storage: jetstream.FileStorage, Retention: jetstream.WorkQueuePolicy, Replicas: 1})
	}
	if err != nil {
		nc.Close()
		return nil, nil, nil, fmt.Errorf("nats: stream: %w", err)
	}
	return nc, js, stream, nil
}

// natsPutter publishes to a JetStream file stream; the server must run with sync_interval: always.
func natsPutter(ctx context.Context, o options) (putter, error) {
	nc, js, _, err := natsStream(ctx, o)
	if err != nil {
		return putter{}, err
	}
	background, body := context.WithoutCancel(ctx), bodyOf(o.size)
	put := func() error {
		_, err := js.Publish(background, "bench", body)
		return err
	}
	send := func() (func() error, error) {
		ack, err := js.PublishAsync("bench", body)
		wait := func() error {
			select {
			case <-ack.Ok():
				return nil
			case err := <-ack.Err():
				return err
			}
		}
		return wait, err
	}
	return putter{put: put, send: send, end: nc.Close}, nil
}

// natsTaker acknowledges every message; the acknowledgement itself is not confirmed.
func natsTaker(ctx context.Context, o options) (taker, error) {
	nc, _, stream, err := natsStream(ctx, o)
	if err != nil {
		return taker{}, err
	}
	var messages jetstream.MessagesContext
	consumer, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "c", AckPolicy: jetstream.AckExplicitPolicy,
		MaxAckPending: 20 * prefetch, AckWait: time.Minute})
	if err == nil {
		messages, err = consumer.Messages(jetstream.PullMaxMessages(prefetch))
	}
	if err != nil {
		nc.Close()
		return taker{}, fmt.Errorf("nats: consumer: %w", err)
	}
	take := func(ctx context.Context) error {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		return m.Ack()
	}
	return taker{take, func() { messages.Stop(); nc.Close() }}, nil
}

func redisClient(ctx context.Context, o options, pool int) (*redis.Client, error) {
	network := "tcp"
	if strings.HasPrefix(o.url, "/") {
		network = "unix"
	}
	c := redis.NewClient(&redis.Options{Network: network, Addr: o.url, PoolSize: pool, Protocol: 2, DisableIdentity: true,
		ReadTimeout: drainMax, WriteTimeout: drainMax})
	if err := c.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("redis: %w", err), c.Close())
	}
	return c, nil
}

// redisPutter appends to a stream; the server must run with appendfsync always.
// Puts that are outstanding together go as one pipeline.
func redisPutter(ctx context.Context, o options) (putter, error) {
	c, err := redisClient(ctx, o, 2)
	if err != nil {
		return putter{}, err
	}
	background, body := context.WithoutCancel(ctx), bodyOf(o.size)
	args := &redis.XAddArgs{Stream: o.queue, Values: []any{"b", body}}
	put := func() error { return c.XAdd(background, args).Err() }
	batch := func(n int) error {
		p := c.Pipeline()
		for range n {
			p.XAdd(background, args)
		}
		_, err := p.Exec(background)
		return err
	}
	return putter{put: put, batch: batch, end: func() { _ = c.Close() }}, nil // the puts were answered
}

// redisTaker takes by a hundred, and acknowledges and deletes what it took in one answered pipeline.
func redisTaker(ctx context.Context, o options) (taker, error) {
	c, err := redisClient(ctx, o, 1)
	if err != nil {
		return taker{}, err
	}
	if err := c.XGroupCreateMkStream(ctx, o.queue, "g", "0").Err(); err != nil && !strings.Contains(err.Error(), "BUSYGROUP") {
		return taker{}, errors.Join(fmt.Errorf("redis: group: %w", err), c.Close())
	}
	ready := 0
	take := func(ctx context.Context) error {
		for ready == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			res, err := c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{o.queue, ">"}, Count: takeBatch, Block: 100 * time.Millisecond}).Result()
			if errors.Is(err, redis.Nil) {
				continue
			}
			if err != nil {
				return err
			}
			var ids []string
			for _, m := range res[0].Messages {
				ids = append(ids, m.ID)
			}
			p := c.Pipeline()
			p.XAck(ctx, o.queue, "g", ids...)
			p.XDel(ctx, o.queue, ids...)
			if _, err := p.Exec(ctx); err != nil {
				return err
			}
			ready = len(ids)
		}
		ready--
		return nil
	}
	return taker{take, func() { _ = c.Close() }}, nil
}

func rabbitChannel(o options) (*amqp.Connection, *amqp.Channel, error) {
	conn, err := amqp.Dial(o.url)
	if err != nil {
		return nil, nil, fmt.Errorf("rabbitmq: %w", err)
	}
	ch, err := conn.Channel()
	if err == nil {
		args := amqp.Table{"x-queue-type": o.kind}
		if o.kind == "classic" {
			args["x-queue-version"] = int32(1) // version 2 confirms without a sync
		}
		_, err = ch.QueueDeclare(o.queue, true, false, false, false, args)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("rabbitmq: declare: %w", err), conn.Close())
	}
	return conn, ch, nil
}

// rabbitPutter publishes persistent messages with confirms.
func rabbitPutter(ctx context.Context, o options) (putter, error) {
	conn, ch, err := rabbitChannel(o)
	if err != nil {
		return putter{}, err
	}
	end := func() { _ = conn.Close() } // the puts were answered
	if err := ch.Confirm(false); err != nil {
		end()
		return putter{}, fmt.Errorf("rabbitmq: confirms: %w", err)
	}
	background, body := context.WithoutCancel(ctx), bodyOf(o.size)
	send := func() (func() error, error) {
		confirm, err := ch.PublishWithDeferredConfirmWithContext(background, "", o.queue, false, false,
			amqp.Publishing{DeliveryMode: amqp.Persistent, Body: body})
		return func() error {
			if !confirm.Wait() {
				return errNotConfirmed
			}
			return nil
		}, err
	}
	put := func() error {
		wait, err := send()
		if err != nil {
			return err
		}
		return wait()
	}
	// A quorum queue refuses while it elects its leader: that is before the measurement.
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for err = put(); errors.Is(err, errNotConfirmed) && ctx.Err() == nil; err = put() {
		<-again.C
	}
	if err != nil {
		end()
		return putter{}, err
	}
	return putter{put: put, send: send, end: end}, nil
}

// rabbitTaker acknowledges every message; acknowledgements have no confirmation.
func rabbitTaker(_ context.Context, o options) (taker, error) {
	conn, ch, err := rabbitChannel(o)
	if err != nil {
		return taker{}, err
	}
	err = ch.Qos(prefetch, 0, false)
	var deliveries <-chan amqp.Delivery
	if err == nil {
		deliveries, err = ch.Consume(o.queue, "", false, false, false, false, nil)
	}
	if err != nil {
		return taker{}, errors.Join(fmt.Errorf("rabbitmq: consume: %w", err), conn.Close())
	}
	take := func(ctx context.Context) error {
		select {
		case d, ok := <-deliveries:
			if !ok {
				return errors.New("rabbitmq: the channel ended")
			}
			return d.Ack(false)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return taker{take, func() { _ = conn.Close() }}, nil
}

var errNotConfirmed = errors.New("rabbitmq: not confirmed")
