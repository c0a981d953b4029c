package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// server is a broker that was started with fresh data.
type server struct {
	process *process
	mode    string   // of the client
	args    []string // where the client finds it
	also    []*process
}

func (s *server) stop() {
	s.process.kill()
	for _, p := range s.also {
		p.kill()
	}
}

// contender is one side of a comparison.
type contender struct {
	name string
	// syncedGets: a get is answered when it is durable.
	syncedGets bool
	// gets is how many messages its consumer may be given and not have acknowledged,
	// or ask for at once.
	gets  int
	start func(ctx context.Context, s *suite, dir string) (*server, error)
	// there names what is missing on this machine.
	there func(s *suite) error
}

const rabbitProgram = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// contenders are all sides; the first is ours.
func contenders() []contender {
	return []contender{
		{"situationd", true, 64, startSituationd, func(s *suite) error { return needs(s.situationd) }},
		{"rabbitmq-quorum", false, prefetch, rabbit("quorum"), func(*suite) error { return errors.Join(needs(rabbitProgram), needs("epmd")) }},
		{"rabbitmq-classic", false, prefetch, rabbit("classic"), func(*suite) error { return errors.Join(needs(rabbitProgram), needs("epmd")) }},
		{"nats", false, prefetch, natsSyncing("always"), func(s *suite) error { return needs(s.nats) }},
		{"redis", true, takeBatch, redisSyncing("always"), func(*suite) error { return needs("redis-server") }},
		lazy(),
	}
}

// lazy answers before it syncs. It takes part to show that the count of syncs
// finds that out: all its rounds must be void.
func lazy() contender {
	return contender{lazyName, false, takeBatch, redisSyncing("everysec"), func(*suite) error { return needs("redis-server") }}
}

const lazyName = "redis-everysec"

func needs(program string) error {
	_, err := exec.LookPath(program)
	return err
}

func startSituationd(ctx context.Context, s *suite, dir string) (*server, error) {
	script := filepath.Join(dir, "q.mqsc")
	if err := os.WriteFile(script, []byte("DEFINE QLOCAL(BENCH.Q) DEFPSIST(YES) MAXDEPTH(99999999)\n"), 0o600); err != nil {
		return nil, err
	}
	return s.strmqm(ctx, dir, "--create", "--mqsc", script)
}

// strmqm starts the queue manager BENCH in dir.
func (s *suite) strmqm(ctx context.Context, dir string, args ...string) (*server, error) {
	args = append([]string{"strmqm", "BENCH", "--data", dir, "--listen", "none"}, args...)
	p, err := startProcess(nil, s.situationd, args...)
	if err != nil {
		return nil, err
	}
	if err := p.until(ctx, "situationd", func() bool { return p.out.contains("ready BENCH") }); err != nil {
		p.kill()
		return nil, err
	}
	return &server{process: p, mode: "situationd", args: []string{"-socket", filepath.Join(dir, "qmgrs", "BENCH")}}, nil
}

// redisSyncing listens on a Unix socket, which is faster than its TCP.
func redisSyncing(when string) func(context.Context, *suite, string) (*server, error) {
	return func(ctx context.Context, _ *suite, dir string) (*server, error) {
		socket := filepath.Join(dir, "s")
		p, err := startProcess(nil, "redis-server", "--port", "0", "--unixsocket", socket, "--dir", dir,
			"--save", "", "--appendonly", "yes", "--appendfsync", when)
		if err != nil {
			return nil, err
		}
		if err := p.until(ctx, "redis", func() bool { return answers("unix", socket) }); err != nil {
			p.kill()
			return nil, err
		}
		return &server{process: p, mode: "redis", args: []string{"-url", socket}}, nil
	}
}

func natsSyncing(interval string) func(context.Context, *suite, string) (*server, error) {
	return func(ctx context.Context, s *suite, dir string) (*server, error) {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		address, config := fmt.Sprintf("127.0.0.1:%d", port), filepath.Join(dir, "c")
		text := fmt.Sprintf("listen: %q\njetstream { store_dir: %q, sync_interval: %s }\n", address, dir, interval)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			return nil, err
		}
		p, err := startProcess(nil, s.nats, "-c", config)
		if err != nil {
			return nil, err
		}
		if err := p.until(ctx, "nats", func() bool { return answers("tcp", address) }); err != nil {
			p.kill()
			return nil, err
		}
		return &server{process: p, mode: "nats", args: []string{"-url", "nats://" + address}}, nil
	}
}

// rabbit starts a node with a name service of its own, so that it meets no other.
func rabbit(kind string) func(context.Context, *suite, string) (*server, error) {
	return func(ctx context.Context, _ *suite, dir string) (*server, error) {
		s, _, err := startRabbit(ctx, dir, kind, "[].\n")
		return s, err
	}
}

// startRabbit is rabbit with plugins; env is how its own commands find it.
func startRabbit(ctx context.Context, dir, kind, pluginList string) (_ *server, env []string, err error) {
	var ports [3]int
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return nil, nil, err
		}
	}
	names := strconv.Itoa(ports[0])
	epmd, err := startProcess(nil, "epmd", "-port", names, "-address", "127.0.0.1")
	if err != nil {
		return nil, nil, err
	}
	if err := epmd.until(ctx, "epmd", func() bool { return answers("tcp", "127.0.0.1:"+names) }); err != nil {
		epmd.kill()
		return nil, nil, err
	}
	plugins := filepath.Join(dir, "plugins")
	if err := os.WriteFile(plugins, []byte(pluginList), 0o600); err != nil {
		epmd.kill()
		return nil, nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[1])
	env = []string{
		"RABBITMQ_NODENAME=bench" + names + "@localhost", "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		"RABBITMQ_NODE_PORT=" + strconv.Itoa(ports[1]), "RABBITMQ_DIST_PORT=" + strconv.Itoa(ports[2]),
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(dir, "mnesia"), "RABBITMQ_LOG_BASE=" + filepath.Join(dir, "log"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + plugins, "ERL_EPMD_ADDRESS=127.0.0.1", "ERL_EPMD_PORT=" + names,
		"HOME=" + dir, "ERL_CRASH_DUMP=" + filepath.Join(dir, "dump"),
	}
	p, err := startProcess(env, rabbitProgram)
	if err == nil {
		if err = p.until(ctx, "rabbitmq", func() bool { return answers("tcp", address) }); err != nil {
			p.kill()
		}
	}
	if err != nil {
		epmd.kill()
		return nil, nil, err
	}
	return &server{process: p, mode: "rabbitmq", args: []string{"-url", "amqp://guest:guest@" + address + "/", "-kind", kind}, also: []*process{epmd}}, env, nil
}
