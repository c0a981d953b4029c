package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"
)

// options are the flags that all modes share.
type options struct {
	url     string        // the peer's address
	socket  string        // ours: the queue manager's folder
	queue   string        // queue, stream or subject
	size    int           // bytes of a body
	clients int           // connections
	window  int           // puts outstanding per connection
	run     time.Duration // how long puts are made
	count   int           // rounds of a reaction test
	remote  string        // reaction: folder of the queue manager that puts
	host    string        // reaction: name of the queue manager whose reader leaves
	pace    time.Duration // reaction: how long a reader stays, above the dwell of two intervals
}

// session is one connection that is ready to put.
type session struct {
	put func() error // one durable put, answered
	end func()
}

// connector connects one client and makes what it puts to. ctx bounds that, and
// not the puts.
type connector func(ctx context.Context, o options) (session, error)

func main() {
	var o options
	flag.StringVar(&o.url, "url", "", "address of the peer")
	flag.StringVar(&o.socket, "socket", "", "situationd: folder of the queue manager")
	flag.StringVar(&o.queue, "queue", "BENCH.Q", "queue, stream or subject")
	flag.IntVar(&o.size, "size", 1024, "bytes of a message")
	flag.IntVar(&o.clients, "clients", 16, "connections")
	flag.IntVar(&o.window, "window", 1, "puts outstanding per connection")
	flag.DurationVar(&o.run, "for", 2*time.Second, "how long to put")
	flag.IntVar(&o.count, "count", 200, "rounds of the reaction test")
	flag.StringVar(&o.remote, "remote", "", "reaction: folder of the putter's queue manager")
	flag.StringVar(&o.host, "host", "QM2", "reaction: queue manager whose reader leaves")
	flag.DurationVar(&o.pace, "pace", 300*time.Millisecond, "reaction: how long a reader stays")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Arg(0), o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, mode string, o options) error {
	connectors := map[string]connector{"situationd": situationdPut, "rabbitmq": rabbitPut, "nats": natsPut, "redis": redisPut}
	if connect, ok := connectors[mode]; ok {
		return measure(ctx, mode, o, connect)
	}
	if mode == "reaction" {
		return reaction(ctx, o)
	}
	return fmt.Errorf("mode %q: want situationd, rabbitmq, nats, redis or reaction", mode)
}

// setUpMax is how long the clients may take to be ready.
const setUpMax = 30 * time.Second

// measure runs the clients side by side and prints one line. Its time begins when
// all of them are connected: how long a server takes for that is not measured.
func measure(ctx context.Context, mode string, o options, connect connector) error {
	sessions, err := connectAll(ctx, o, connect)
	defer func() {
		for _, s := range sessions {
			s.end()
		}
	}()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.run)
	defer cancel()
	var wg sync.WaitGroup
	latencies, errs := make([][]time.Duration, o.clients), make([]error, o.clients)
	start := time.Now()
	for i, s := range sessions {
		wg.Go(func() { latencies[i], errs[i] = windowed(ctx, o, s.put) })
	}
	wg.Wait()
	elapsed := time.Since(start)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	all := slices.Concat(latencies...)
	slices.Sort(all)
	if len(all) == 0 {
		return fmt.Errorf("%s: no put was answered", mode)
	}
	fmt.Printf("%s clients=%d window=%d puts=%d per_second=%.0f p50_us=%d p99_us=%d\n", mode, o.clients, o.window,
		len(all), float64(len(all))/elapsed.Seconds(), at(all, 50).Microseconds(), at(all, 99).Microseconds())
	return nil
}

// connectAll connects the clients one after the other. With an error it gives those that are.
func connectAll(ctx context.Context, o options, connect connector) ([]session, error) {
	ctx, cancel := context.WithTimeout(ctx, setUpMax)
	defer cancel()
	var list []session
	for range o.clients {
		s, err := connect(ctx, o)
		if err != nil {
			return list, err
		}
		list = append(list, s)
	}
	return list, nil
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

// at is the given percentile of sorted values.
func at(sorted []time.Duration, percent int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
