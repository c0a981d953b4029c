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
func natsPut(ctx context.Context, o options, _ int) ([]time.Duration, error) {
	background := context.WithoutCancel(ctx)
	nc, err := nats.Connect(o.url)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	_, err = js.CreateOrUpdateStream(background, jetstream.StreamConfig{Name: "BENCH", Subjects: []string{"bench"},
		Storage: jetstream.FileStorage, Retention: jetstream.WorkQueuePolicy, Replicas: 1})
	if err != nil {
		return nil, fmt.Errorf("nats: stream: %w", err)
	}
	body := make([]byte, o.size)
	return windowed(ctx, o, func() error {
		_, err := js.Publish(background, "bench", body)
		return err
	})
}

// redisPut appends to a stream; the server must run with appendfsync always.
func redisPut(ctx context.Context, o options, _ int) ([]time.Duration, error) {
	background := context.WithoutCancel(ctx)
	c := redis.NewClient(&redis.Options{Addr: o.url, PoolSize: o.window, Protocol: 2, DisableIdentity: true})
	defer c.Close()
	body := make([]byte, o.size)
	return windowed(ctx, o, func() error {
		return c.XAdd(background, &redis.XAddArgs{Stream: o.queue, Values: []any{"b", body}}).Err()
	})
}

// rabbitPut publishes persistent messages with confirms to a quorum queue of one member.
func rabbitPut(ctx context.Context, o options, _ int) ([]time.Duration, error) {
	background := context.WithoutCancel(ctx)
	conn, err := amqp.Dial(o.url)
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: %w", err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: %w", err)
	}
	if _, err := ch.QueueDeclare(o.queue, true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil {
		return nil, fmt.Errorf("rabbitmq: declare: %w", err)
	}
	if err := ch.Confirm(false); err != nil {
		return nil, fmt.Errorf("rabbitmq: confirm: %w", err)
	}
	body := make([]byte, o.size)
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
	for err = put(); errors.Is(err, errNotConfirmed) && ctx.Err() == nil; err = put() {
	}
	if err != nil {
		return nil, err
	}
	return windowed(ctx, o, put)
}

var errNotConfirmed = errors.New("rabbitmq: not confirmed")
