package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
)

// natsPut publishes to a JetStream file stream; the server must run with sync_interval: always.
func natsPut(ctx context.Context, o options) (session, error) {
	nc, err := nats.Connect(o.url)
	if err != nil {
		return session{}, fmt.Errorf("nats: %w", err)
	}
	js, err := jetstream.New(nc)
	if err == nil {
		_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "BENCH", Subjects: []string{"bench"},
			Storage: jetstream.FileStorage, Retention: jetstream.WorkQueuePolicy, Replicas: 1})
	}
	if err != nil {
		nc.Close()
		return session{}, fmt.Errorf("nats: stream: %w", err)
	}
	background, body := context.WithoutCancel(ctx), make([]byte, o.size)
	put := func() error {
		_, err := js.Publish(background, "bench", body)
		return err
	}
	return session{put, nc.Close}, nil
}

// redisPut appends to a stream; the server must run with appendfsync always.
func redisPut(ctx context.Context, o options) (session, error) {
	c := redis.NewClient(&redis.Options{Addr: o.url, PoolSize: o.window, Protocol: 2, DisableIdentity: true})
	end := func() { _ = c.Close() } // the puts were answered
	if err := c.Ping(ctx).Err(); err != nil {
		end()
		return session{}, fmt.Errorf("redis: %w", err)
	}
	background, body := context.WithoutCancel(ctx), make([]byte, o.size)
	put := func() error {
		return c.XAdd(background, &redis.XAddArgs{Stream: o.queue, Values: []any{"b", body}}).Err()
	}
	return session{put, end}, nil
}

// rabbitPut publishes persistent messages with confirms to a quorum queue of one member.
func rabbitPut(ctx context.Context, o options) (session, error) {
	conn, err := amqp.Dial(o.url)
	if err != nil {
		return session{}, fmt.Errorf("rabbitmq: %w", err)
	}
	end := func() { _ = conn.Close() } // the puts were answered
	ch, err := conn.Channel()
	if err == nil {
		_, err = ch.QueueDeclare(o.queue, true, false, false, false, amqp.Table{"x-queue-type": "quorum"})
	}
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		end()
		return session{}, fmt.Errorf("rabbitmq: declare: %w", err)
	}
	background, body := context.WithoutCancel(ctx), make([]byte, o.size)
	put := func() error {
		confirm, err := ch.PublishWithDeferredConfirmWithContext(background, "", o.queue, false, false,
			amqp.Publishing{DeliveryMode: amqp.Persistent, Body: body})
		if err != nil {
			return err
		}
		ok, err := confirm.WaitContext(background)
		if err == nil && !ok {
			err = errNotConfirmed
		}
		return err
	}
	// A quorum queue refuses while it elects its leader: that is before the measurement.
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for err = put(); errors.Is(err, errNotConfirmed) && ctx.Err() == nil; err = put() {
		<-again.C
	}
	if err != nil {
		end()
		return session{}, err
	}
	return session{put, end}, nil
}

var errNotConfirmed = errors.New("rabbitmq: not confirmed")
