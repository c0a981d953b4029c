package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the flags that the clients share.
type options struct {
	url     string        // the peer's address
	socket  string        // ours: the queue manager's folder
	queue   string        // queue, stream or subject
	kind    string        // rabbitmq: quorum or classic
	size    int           // bytes of a body
	clients int           // connections that put
	window  int           // puts outstanding per connection
	takers  int           // connections that get
	gets    int           // gets outstanding per connection
	run     time.Duration // how long is measured
	count   int           // rounds of a reaction test, messages of a fill
	remote  string        // reaction: folder of the queue manager that puts
	host    string        // reaction: name of the queue manager whose reader leaves
	pace    time.Duration // reaction: how long a reader stays, above the dwell of two intervals
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "suite" {
		exit(suiteMain(os.Args[2:]))
		return
	}
	for _, r := range []race{channelRace, redistributeRace} {
		if len(os.Args) > 1 && os.Args[1] == r.name {
			exit(raceMain(r, os.Args[2:]))
			return
		}
	}
	var o options
	flag.StringVar(&o.url, "url", "", "address of the peer")
	flag.StringVar(&o.socket, "socket", "", "situationd: folder of the queue manager")
	flag.StringVar(&o.queue, "queue", "BENCH.Q", "queue, stream or subject")
	flag.StringVar(&o.kind, "kind", "quorum", "rabbitmq: quorum or classic")
	flag.IntVar(&o.size, "size", 1024, "bytes of a message")
	flag.IntVar(&o.clients, "clients", 16, "connections that put")
	flag.IntVar(&o.window, "window", 1, "puts outstanding per connection")
	flag.IntVar(&o.takers, "takers", 0, "connections that get meanwhile; 0 measures puts alone")
	flag.IntVar(&o.gets, "gets", 1, "situationd: gets outstanding per connection that gets")
	flag.DurationVar(&o.run, "for", 2*time.Second, "how long to measure")
	flag.IntVar(&o.count, "count", 200, "rounds of the reaction test; messages of fill and memory; queues of sample")
	flag.StringVar(&o.remote, "remote", "", "reaction: folder of the putter's queue manager")
	flag.StringVar(&o.host, "host", "QM2", "reaction: queue manager whose reader leaves")
	flag.DurationVar(&o.pace, "pace", 300*time.Millisecond, "reaction: how long a reader stays")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, flag.Arg(0), o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, mode string, o options) error {
	switch mode {
	case "reaction":
		return reaction(ctx, o)
	case "fill":
		return fill(ctx, o)
	case "depth":
		return depth(ctx, o)
	case "sample":
		return sample(ctx, o)
	case "heap":
		return heap(ctx, o)
	}
	b, ok := brokers[mode]
	switch {
	case !ok:
		return fmt.Errorf("mode %q: want suite, channel, redistribute, situationd, rabbitmq, nats, redis, reaction, fill, depth, sample or heap", mode)
	case o.takers > 0:
		return measureFlow(ctx, mode, o, b)
	default:
		return measurePuts(ctx, mode, o, b)
	}
}
