package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// suite is one run of everything.
type suite struct {
	situationd, nats string
	dir              string
	rounds           int
	warm             time.Duration
	run, counted     time.Duration
	messages, queues int
	peers            []string
	out              io.Writer // tables
	talk             io.Writer // what happens
}

// part is one measurement of the suite, by the name that -only takes.
type part struct {
	name string
	run  func(*suite, context.Context) error
}

func parts() []part {
	list := []part{}
	for _, sh := range shapes() {
		list = append(list, part{sh.name, func(s *suite, ctx context.Context) error { return s.compare(ctx, sh) }})
	}
	return append(list,
		part{"sample", (*suite).sampling},
		part{"restart", (*suite).restarts},
		part{"memory", (*suite).memory})
}

func suiteMain(args []string) error {
	s := &suite{out: os.Stdout, talk: os.Stderr}
	flags := flag.NewFlagSet("bench suite", flag.ContinueOnError)
	flags.StringVar(&s.situationd, "situationd", "situationd", "the binary to measure")
	flags.StringVar(&s.nats, "nats", "nats-server", "NATS' server")
	flags.StringVar(&s.dir, "dir", os.TempDir(), "folder on the disk to measure")
	flags.IntVar(&s.rounds, "rounds", 5, "interleaved rounds of each comparison, restarts of the recovery")
	flags.DurationVar(&s.run, "for", 2*time.Second, "how long each is measured in a round")
	flags.DurationVar(&s.warm, "warm-up", 2*time.Second, "how long 16 clients put before")
	flags.DurationVar(&s.counted, "count-for", 500*time.Millisecond, "how long its syncs are counted then; 0 does not count")
	flags.IntVar(&s.messages, "messages", 1_000_000, "messages of the recovery")
	flags.IntVar(&s.queues, "queues", 50_000, "queues of the sample")
	names := partNames()
	only := flags.String("only", strings.Join(names, ","), "what to measure")
	peers := flags.String("peers", "", "contenders by name; blank for all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.rounds < 1 || s.run <= 0 || s.warm <= 0 || s.messages < 1 || s.queues < 1 {
		return errors.New("suite: -rounds, -for, -warm-up, -messages and -queues must be positive")
	}
	if *peers != "" {
		s.peers = strings.Split(*peers, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if s.dir, err = os.MkdirTemp(s.dir, "bench"); err != nil {
		return err
	}
	err = s.all(ctx, strings.Split(*only, ","))
	return errors.Join(err, os.RemoveAll(s.dir))
}

func partNames() (names []string) {
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

func (s *suite) all(ctx context.Context, only []string) error {
	for _, name := range only {
		if !slices.Contains(partNames(), name) {
			return fmt.Errorf("suite: -only %s: want some of %s", name, strings.Join(partNames(), ","))
		}
	}
	fmt.Fprintf(s.out, "%s, %d cores, %s/%s; %s\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, s.versions())
	var errs []error
	for _, p := range parts() {
		if !slices.Contains(only, p.name) {
			continue
		}
		if err := p.run(s, ctx); err != nil { // the others may be well
			errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// versions asks every program of its version.
func (s *suite) versions() string {
	var list []string
	for _, cmd := range [][]string{{s.situationd, "version"}, {s.nats, "--version"}, {"redis-server", "--version"},
		{"dpkg-query", "-W", "-f", "rabbitmq-server ${Version}", "rabbitmq-server"}} {
		text, err := exec.Command(cmd[0], cmd[1:]...).Output()
		if err == nil {
			line, _, _ := strings.Cut(string(text), "\n")
			list = append(list, line)
		}
	}
	return strings.Join(list, "; ")
}

// folder makes a fresh one for a server.
func (s *suite) folder() (string, error) { return os.MkdirTemp(s.dir, "") }

// shape is how clients put and get in a comparison, and what is asked of us.
type shape struct {
	name, title     string
	clients, window int
	flow            bool
	goals           map[string]goal
}

func shapes() []shape {
	return []shape{
		{"G1", "G1: durable puts of 1 KiB, 16 clients with one outstanding", 16, 1, false,
			map[string]goal{"rabbitmq-quorum": {1.7, 2}, "nats": {3.5, 4}, "redis": {0.8, 1}}},
		{"G2a", "G2: durable puts of 1 KiB, one client with one outstanding", 1, 1, false,
			map[string]goal{"rabbitmq-quorum": {1.5, 2}, "rabbitmq-classic": {1.5, 2}, "nats": {1, 1.2}}},
		{"G2b", "G2: durable puts of 1 KiB, 16 clients with 64 outstanding each", 16, 64, false,
			map[string]goal{"rabbitmq-quorum": {2, 3}}},
		{"G3", "G3: got a second while 16 clients put, one outstanding", 16, 1, true,
			map[string]goal{"rabbitmq-quorum": {2, 2.5}}},
	}
}

// compare runs the rounds of a shape. Every other round goes backwards, so that
// what drifts meets all alike.
func (s *suite) compare(ctx context.Context, sh shape) error {
	list := s.taking(sh)
	columns := make([]column, len(list))
	for i, c := range list {
		columns[i].name = c.name
		columns[i].err = c.there(s)
	}
	if columns[0].err != nil {
		return columns[0].err
	}
	for n := range s.rounds {
		for i := range list {
			if n%2 == 1 {
				i = len(list) - 1 - i
			}
			if columns[i].err != nil || list[i].name == lazyName && n > 0 {
				continue
			}
			r, err := s.round(ctx, sh, list[i])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				columns[i].err = err
				fmt.Fprintf(s.talk, "%s %s: %v\n", sh.name, list[i].name, err)
				continue
			}
			columns[i].rounds = append(columns[i].rounds, r)
			fmt.Fprintf(s.talk, "%s round %d %s: %.0f a second, p50 %.2f ms, p99 %.2f ms, %d syncs for %d answers, at least %d needed%s\n",
				sh.name, n+1, list[i].name, r.perSecond, r.p50/1000, r.p99/1000, r.syncs, r.answers, r.needed, note(r))
		}
	}
	printColumns(s.out, sh.title, columns, sh.goals)
	return errors.Join(columns[0].err, honest(columns, s.counted > 0))
}

func note(r round) string {
	text := ""
	if r.void() {
		text += ", void"
	}
	if r.busy {
		text += ", others were busy"
	}
	return text
}

// honest fails a comparison whose count of syncs finds nothing where it must, or something with us.
func honest(columns []column, counting bool) error {
	if !counting {
		return nil
	}
	if v := columns[0].valid(); len(v) < len(columns[0].rounds) {
		return fmt.Errorf("%s answered before its sync", columns[0].name)
	}
	for _, c := range columns {
		if c.name == lazyName && len(c.valid()) > 0 {
			return fmt.Errorf("%s must be void in every round: the count of syncs finds nothing", c.name)
		}
	}
	return nil
}

// taking are those that take part. With a large window few syncs are needed, and
// the lazy one has as many by chance.
func (s *suite) taking(sh shape) []contender {
	return slices.DeleteFunc(contenders(), func(c contender) bool {
		return c.name == lazyName && sh.window > 1 || s.peers != nil && c.name != "situationd" && !slices.Contains(s.peers, c.name)
	})
}

// round measures one contender with a fresh server, and then counts its syncs.
func (s *suite) round(ctx context.Context, sh shape, c contender) (r round, err error) {
	dir, err := s.folder()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := c.start(ctx, s, dir)
	if err != nil {
		return r, err
	}
	defer server.stop()
	if r.busy, err = machineBusy(ctx); err != nil {
		return r, err
	}
	warm := shape{clients: 16, window: 1}
	if _, err := s.client(ctx, warm, c, server, s.warm); err != nil {
		return r, fmt.Errorf("warm up: %w", err)
	}
	fields, err := s.client(ctx, sh, c, server, s.run)
	if err != nil {
		return r, err
	}
	r.perSecond, r.p50, r.p99 = number(fields, "per_second"), number(fields, "p50_us"), number(fields, "p99_us")
	if s.counted <= 0 {
		return r, nil
	}
	r.syncs, err = countSyncs(ctx, server, dir, func() error {
		fields, err = s.client(ctx, sh, c, server, s.counted)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("count syncs: %w", err)
	}
	puts, gets := int(number(fields, "puts")), int(number(fields, "gets"))
	r.counted, r.answers, r.needed = true, puts, syncsNeeded(puts, sh.clients*sh.window)
	if c.syncedGets {
		r.answers, r.needed = puts+gets, max(r.needed, syncsNeeded(gets, c.gets))
	}
	return r, nil
}

func (s *suite) client(ctx context.Context, sh shape, c contender, server *server, run time.Duration) (map[string]string, error) {
	args := append([]string{"-clients", strconv.Itoa(sh.clients), "-window", strconv.Itoa(sh.window), "-for", run.String()}, server.args...)
	if sh.flow {
		args = append(args, "-takers", "1")
		if c.name == "situationd" {
			args = append(args, "-gets", strconv.Itoa(c.gets))
		}
	}
	return runClient(ctx, run+flowWarmUp+2*setUpMax+drainMax, append(args, server.mode)...)
}

// busyShare is the share of the machine above which others disturb a round.
const busyShare = 0.2

// machineBusy looks for a moment, while the server has nothing to do, how much
// of the machine is used.
func machineBusy(ctx context.Context) (bool, error) {
	used, all, err := cpuTimes()
	if err != nil {
		return false, err
	}
	select {
	case <-time.After(250 * time.Millisecond):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	used2, all2, err := cpuTimes()
	return all2 > all && float64(used2-used)/float64(all2-all) > busyShare, err
}

// cpuTimes are the ticks that the machine worked, and all of them.
func cpuTimes() (used, all int64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, word := range strings.Fields(line) {
		n, err := strconv.ParseInt(word, 10, 64)
		switch {
		case i == 0: // "cpu"
		case err != nil:
			return 0, 0, fmt.Errorf("/proc/stat: %q", line)
		case i > 8: // guests are in user time already
		default:
			all += n
			if i != 4 && i != 5 { // idle, and waiting for a disk
				used += n
			}
		}
	}
	return used, all, nil
}

// size of a folder's files in bytes.
func diskUsed(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			total += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	})
	return total, err
}
