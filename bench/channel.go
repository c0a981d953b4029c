package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// moving is one way in which messages that lie on a queue get to another one
// exactly once, or at least once where there is no more: fill puts them while
// nothing moves, move begins, depth counts what has arrived.
type moving struct {
	fill  func(n int) error
	move  func() error
	depth func() (int, error)
	left  func() (int, error)
	// more puts messages that go the same way, after move; nil where fill does.
	more func(n int) error
	// over ends a move when all have arrived; nil where there is nothing to end.
	over func() error
	// receiver is what has to sync for what arrives; window how many messages may wait for one sync.
	receiver *server
	window   int
	end      func()
}

// way is a contender of a comparison of ways.
type way struct {
	name  string
	start func(context.Context, string) (*moving, error)
}

// race is a comparison of our way with the shovel of RabbitMQ, which moves
// between queues of one node.
type race struct {
	name, title string
	ours        func(*suite) func(context.Context, string) (*moving, error)
	goals       map[string]goal
}

// channelRace is G4a, redistributeRace G4b.
var (
	channelRace = race{
		name: "channel", title: "G4a: %d messages of 1 KiB over a channel between two processes, beside the shovel plugin",
		ours:  func(s *suite) func(context.Context, string) (*moving, error) { return s.channelPair },
		goals: map[string]goal{"rabbitmq-quorum": {2, 3}},
	}
	redistributeRace = race{
		name: "redistribute", title: "G4b: %d messages of 1 KiB redistributed to another process, beside the shovel plugin",
		ours:  func(s *suite) func(context.Context, string) (*moving, error) { return s.stranded },
		goals: map[string]goal{"rabbitmq-quorum": {1, 2}, "rabbitmq-classic": {2, 4}},
	}
)

// raceMain measures one of them.
func raceMain(r race, args []string) error {
	s := &suite{out: os.Stdout, talk: os.Stderr}
	flags := flag.NewFlagSet("bench "+r.name, flag.ContinueOnError)
	flags.StringVar(&s.situationd, "situationd", "situationd", "the binary to measure")
	flags.StringVar(&s.dir, "dir", os.TempDir(), "folder on the disk to measure")
	flags.IntVar(&s.rounds, "rounds", 5, "interleaved rounds")
	flags.IntVar(&s.messages, "messages", 100_000, "messages of 1 KiB that are moved in a round")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.rounds < 1 || s.messages < 1000 {
		return errors.New(r.name + ": -rounds must be positive, -messages at least 1000")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if s.dir, err = os.MkdirTemp(s.dir, "bench"); err != nil {
		return err
	}
	return errors.Join(s.race(ctx, r), os.RemoveAll(s.dir))
}

func (s *suite) race(ctx context.Context, r race) error {
	ways := []way{{"situationd", r.ours(s)}, {"rabbitmq-quorum", s.shovel("quorum")}, {"rabbitmq-classic", s.shovel("classic")}}
	columns := make([]column, len(ways))
	for i, w := range ways {
		columns[i].name = w.name
		if i > 0 {
			columns[i].err = errors.Join(needs(rabbitProgram), needs("epmd"))
		}
	}
	for n := range s.rounds {
		for i := range ways {
			if n%2 == 1 {
				i = len(ways) - 1 - i
			}
			if columns[i].err != nil {
				continue
			}
			done, err := s.moveRound(ctx, ways[i].start)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				columns[i].err = err
				fmt.Fprintf(s.talk, "%s %s: %v\n", r.name, ways[i].name, err)
				continue
			}
			columns[i].rounds = append(columns[i].rounds, done)
			fmt.Fprintf(s.talk, "%s round %d %s: %.0f a second, %d syncs of the receiver for %d, at least %d needed%s\n",
				r.name, n+1, ways[i].name, done.perSecond, done.syncs, done.answers, done.needed, note(done))
		}
	}
	printColumns(s.out, fmt.Sprintf(r.title, s.messages), columns, r.goals)
	return columns[0].err
}

// moveRound moves all messages with fresh servers, and then a tenth of them with
// the receiver's syncs counted.
func (s *suite) moveRound(ctx context.Context, start func(context.Context, string) (*moving, error)) (r round, err error) {
	dir, err := s.folder()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := start(ctx, dir)
	if err != nil {
		return r, err
	}
	defer m.end()
	if err := m.fill(s.messages); err != nil {
		return r, fmt.Errorf("fill: %w", err)
	}
	if r.busy, err = machineBusy(ctx); err != nil {
		return r, err
	}
	if err := m.move(); err != nil {
		return r, err
	}
	if r.perSecond, err = m.arrive(ctx, 0, s.messages); err != nil {
		return r, err
	}
	if m.over != nil {
		if err := m.over(); err != nil {
			return r, err
		}
	}
	// The way is open now: what is put goes at once.
	more := m.fill
	if m.more != nil {
		more = m.more
	}
	r.counted, r.answers = true, s.messages/10
	r.needed = syncsNeeded(r.answers, m.window)
	r.syncs, err = countSyncs(ctx, m.receiver, dir, func() error {
		if err := more(r.answers); err != nil {
			return err
		}
		_, err := m.arrive(ctx, s.messages, s.messages+r.answers)
		return err
	})
	return r, err
}

// arrive waits until all have arrived, and gives the rate between the first look that saw any and the last.
func (m *moving) arrive(ctx context.Context, before, all int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	var first time.Time
	begun := before
	for {
		n, err := m.depth()
		if err != nil {
			return 0, err
		}
		now := time.Now()
		if n > before && first.IsZero() {
			first, begun = now, n
		}
		if n > all {
			return 0, fmt.Errorf("%d arrived of %d", n, all)
		}
		if n == all {
			left, err := m.left()
			if err == nil && left == 0 {
				return float64(n-begun) / max(now.Sub(first).Seconds(), 1e-9), nil
			}
			if err != nil {
				return 0, err
			}
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%d of %d arrived: %w", n, all, ctx.Err())
		case <-time.After(pollStep):
		}
	}
}

// channelPair is two queue managers with a sender channel, and a remote queue on the first.
func (s *suite) channelPair(ctx context.Context, dir string) (*moving, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	scripts := map[string]string{
		"A": fmt.Sprintf("DEFINE QLOCAL(XB) USAGE(XMITQ) MAXDEPTH(99999999)\nDEFINE CHANNEL(A.B) CHLTYPE(SDR) CONNAME('127.0.0.1(%d)') XMITQ(XB)\nDEFINE QREMOTE(FAR) RNAME(BENCH.Q) RQMNAME(B) XMITQ(XB)\n", port),
		"B": "DEFINE QLOCAL(BENCH.Q) MAXDEPTH(99999999)\nDEFINE CHANNEL(A.B) CHLTYPE(RCVR)\n",
	}
	var all []*process
	m := &moving{window: 4 * 50, end: func() {
		for _, p := range all {
			p.kill()
		}
	}}
	conns := map[string]mqengine.Conn{}
	folders := map[string]string{}
	for _, name := range []string{"A", "B"} {
		script, listen := filepath.Join(dir, name+".mqsc"), "none"
		if name == "B" {
			listen = fmt.Sprintf("127.0.0.1:%d", port)
		}
		if err := os.WriteFile(script, []byte(scripts[name]), 0o600); err != nil {
			m.end()
			return nil, err
		}
		p, err := startProcess(nil, s.situationd, "strmqm", name, "--data", dir, "--create", "--mqsc", script, "--listen", listen)
		if err == nil {
			all = append(all, p)
			err = p.until(ctx, "situationd", func() bool { return p.out.contains("ready " + name) })
		}
		folders[name] = filepath.Join(dir, "qmgrs", name)
		if err == nil {
			conns[name], err = mqengine.Dial(ctx, folders[name], "", qmgr.Appl{Tag: "bench"})
		}
		if err != nil {
			m.end()
			return nil, err
		}
		if name == "B" {
			m.receiver = &server{process: p}
		}
	}
	m.fill = func(n int) error {
		_, err := runClient(ctx, 10*time.Minute, "-socket", folders["A"], "-queue", "FAR", "-window", "64", "-count", strconv.Itoa(n), "fill")
		return err
	}
	m.move = func() error {
		cmd, bad := mqsc.Parse("START CHANNEL(A.B)")
		if bad != nil {
			return bad
		}
		res, err := conns["A"].Command(ctx, cmd)
		if err == nil && res.Failed {
			err = fmt.Errorf("START CHANNEL: %v", res.Responses)
		}
		return err
	}
	m.depth = func() (int, error) { return curDepth(ctx, conns["B"], "BENCH.Q") }
	m.left = func() (int, error) { return curDepth(ctx, conns["A"], "XB") }
	return m, nil
}

func curDepth(ctx context.Context, conn mqengine.Conn, queue string) (int, error) {
	all, err := conn.Sample(ctx, 0)
	if err != nil {
		return 0, err
	}
	for _, q := range all.Queues {
		if q.Name == queue {
			return int(q.CurDepth), nil
		}
	}
	return 0, fmt.Errorf("there is no queue %s", queue)
}

// shovelPrefetch is how many messages the shovel may have that are not confirmed.
const shovelPrefetch = 1000

// shovel is RabbitMQ's plugin between two queues of a node: it acknowledges a
// message when the other queue has confirmed it.
func (s *suite) shovel(kind string) func(context.Context, string) (*moving, error) {
	return func(ctx context.Context, dir string) (*moving, error) {
		node, env, err := startRabbit(ctx, dir, kind, "[rabbitmq_shovel].\n")
		if err != nil {
			return nil, err
		}
		url := node.args[1]
		m := &moving{receiver: node, window: shovelPrefetch, end: node.stop}
		source := options{url: url, queue: "bench.from", kind: kind, size: 1024}
		conn, ch, err := rabbitChannel(options{url: url, queue: "bench.to", kind: kind})
		if err != nil {
			m.end()
			return nil, err
		}
		m.end = func() { _ = conn.Close(); node.stop() } // nothing is waited for on it
		m.fill = func(n int) error {
			// What a putter tries whether its queue is ready with counts as well.
			p, err := rabbitPutter(ctx, source)
			if err != nil {
				return err
			}
			defer p.end()
			return fillWindow(n-1, shovelPrefetch, p.send)
		}
		m.move = func() error {
			from := strings.TrimSuffix(url, "/") // to the plugin a slash is another virtual host
			text := fmt.Sprintf(`{"src-protocol":"amqp091","src-uri":%q,"src-queue":"bench.from","src-prefetch-count":%d,"dest-protocol":"amqp091","dest-uri":%q,"dest-queue":"bench.to","ack-mode":"on-confirm"}`,
				from, shovelPrefetch, from)
			ctl := exec.CommandContext(ctx, filepath.Join(filepath.Dir(rabbitProgram), "rabbitmqctl"), "set_parameter", "shovel", "bench", text)
			ctl.Env = append(os.Environ(), env...)
			if out, err := ctl.CombinedOutput(); err != nil {
				return fmt.Errorf("rabbitmqctl: %w: %s", err, out)
			}
			return nil
		}
		m.depth = func() (int, error) { return rabbitDepth(ch, "bench.to") }
		m.left = func() (int, error) { return rabbitDepth(ch, "bench.from") }
		return m, nil
	}
}

func rabbitDepth(ch *amqp.Channel, queue string) (int, error) {
	q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	return q.Messages, err
}

// fillWindow sends n messages, of which window may be without an answer.
func fillWindow(n, window int, send func() (func() error, error)) error {
	var open []func() error
	for i := range n + window {
		if i >= window && len(open) > 0 {
			if err := open[0](); err != nil {
				return err
			}
			open = open[1:]
		}
		if i < n {
			wait, err := send()
			if err != nil {
				return err
			}
			open = append(open, wait)
		}
	}
	return nil
}
