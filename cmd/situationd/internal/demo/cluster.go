package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/examples"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// cluster is the demo's machines: a queue manager that only puts, and two
// daemons that host one each.
type cluster struct {
	dir     string // the data folder
	qm1     *mqengine.QueueManager
	daemons map[string]*app.App
	wait    sync.WaitGroup
	stop    context.CancelFunc

	mu   sync.Mutex
	ends map[string]error // of daemons that ended by themselves
}

// freePorts finds ports that nobody listens on.
func freePorts(n int) ([]int, error) {
	var ports []int
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		held = append(held, l)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// channels are the commands of a member: its own receiver, and a sender to a
// full repository.
func channels(name string, port int, repository string, repositoryPort int) string {
	return fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSRCVR) TRPTYPE(TCP) CONNAME('127.0.0.1(%d)') CLUSTER(%s)\n", name, port, clusterName) +
		fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSSDR) TRPTYPE(TCP) CONNAME('127.0.0.1(%d)') CLUSTER(%s)\n", repository, repositoryPort, clusterName)
}

const (
	fullRepository = "ALTER QMGR REPOS(" + clusterName + ")\n"
	instance       = "DEFINE QLOCAL(" + queueName + ") CLUSTER(" + clusterName + ") DEFBIND(NOTFIXED) DEFPSIST(YES)\n"
)

// startCluster makes the files, starts everything, and leaves nothing running
// when it fails.
func startCluster(ctx context.Context, o *Options) (_ *cluster, err error) {
	dir, err := os.MkdirTemp("", "situationd-demo-")
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &cluster{dir: dir, daemons: map[string]*app.App{}, stop: stop, ends: map[string]error{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	rules, err := c.rules(o)
	if err != nil {
		return nil, err
	}
	scripts := map[string]string{
		putterQM: fullRepository + channels(putterQM, ports[0], deadQM, ports[1]),
		deadQM:   fullRepository + channels(deadQM, ports[1], putterQM, ports[0]) + instance,
		servedQM: channels(servedQM, ports[2], putterQM, ports[0]) + instance,
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name+".mqsc"), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if err := c.startQM1(ctx, ports[0]); err != nil {
		return nil, err
	}
	for name, port := range map[string]int{deadQM: ports[1], servedQM: ports[2]} {
		if err := c.startDaemon(running, name, port, rules, o); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// rules gives the path of the rule file.
func (c *cluster) rules(o *Options) (string, error) {
	if o.Rules != "" {
		return filepath.Abs(o.Rules)
	}
	path := filepath.Join(c.dir, "rules.yaml")
	return path, os.WriteFile(path, examples.Rules, 0o600)
}

func (c *cluster) startQM1(ctx context.Context, port int) error {
	err := mqengine.Create(ctx, mqengine.CreateOptions{
		Data: c.dir, Name: putterQM, MQSC: []string{filepath.Join(c.dir, putterQM+".mqsc")},
	})
	if err != nil {
		return err
	}
	folder, err := mqengine.Folder(c.dir, putterQM)
	if err != nil {
		return err
	}
	c.qm1, err = mqengine.Start(ctx, mqengine.Options{Name: putterQM, Folder: folder, Listen: fmt.Sprintf("127.0.0.1:%d", port)})
	return err
}

// daemonFile is what a person would write for one of the two daemons.
func daemonFile(name string, port int, rules string) string {
	return fmt.Sprintf(`queue_manager:
  name: %s
  connect: hosted
  hosted: {listen: "127.0.0.1:%d", mqsc: [%s.mqsc]}
rules: [%q]
http: {listen: "127.0.0.1:0"}
exec: {allow: [%q]}
`, name, port, name, rules, filepath.Dir(rules))
}

func (c *cluster) startDaemon(ctx context.Context, name string, port int, rules string, o *Options) error {
	path := filepath.Join(c.dir, name+".yaml")
	if err := os.WriteFile(path, []byte(daemonFile(name, port, rules)), 0o600); err != nil {
		return err
	}
	cfg, problems, err := config.Load(path)
	if err != nil {
		return err
	}
	if cfg == nil {
		return fmt.Errorf("%w: %s", app.ErrBadFiles, problems[0])
	}
	log, err := os.Create(filepath.Join(c.dir, name+".log"))
	if err != nil {
		return err
	}
	daemon, err := app.New(ctx, app.Options{
		Config: cfg, Data: c.dir, Speed: o.Speed, Version: o.Version,
		Logger: app.NewLogger(cfg.Log, hclog.LoggerOptions{Name: "situationd", Output: log}),
	})
	if err != nil {
		return errors.Join(err, log.Close())
	}
	c.daemons[name] = daemon
	c.wait.Go(func() {
		err := daemon.Run(ctx)
		err = errors.Join(err, daemon.Close(), log.Close())
		if err != nil {
			c.mu.Lock()
			c.ends[name] = err
			c.mu.Unlock()
		}
	})
	return nil
}

// failure is why a daemon ended by itself, nil while all is well.
func (c *cluster) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, err := range c.ends {
		return fmt.Errorf("the daemon of %s ended: %w", name, err)
	}
	return nil
}

// connect is how an application meets a queue manager: through its socket.
func (c *cluster) connect(ctx context.Context, name, tag string) (mqengine.Conn, error) {
	folder, err := mqengine.Folder(c.dir, name)
	if err != nil {
		return nil, err
	}
	return mqengine.Dial(ctx, folder, name, qmgr.Appl{Tag: tag})
}

// putStates is what a queue manager sees: the PUT of every instance of the
// queue, by queue manager.
func putStates(ctx context.Context, conn mqengine.Conn) (map[string]string, error) {
	cmd, bad := mqsc.Parse("DISPLAY QCLUSTER(" + queueName + ") CLUSQMGR PUT")
	if bad != nil {
		return nil, bad
	}
	result, err := conn.Command(ctx, cmd)
	if err != nil {
		return nil, err
	}
	states := map[string]string{}
	for _, r := range result.Responses {
		fields := map[string]string{}
		for _, f := range r.Fields {
			if len(f.Values) == 1 {
				fields[f.Key] = f.Values[0]
			}
		}
		if fields["CLUSQMGR"] != "" {
			states[fields["CLUSQMGR"]] = fields["PUT"]
		}
	}
	return states, nil
}

// depth is CURDEPTH of the queue at one of the daemons' queue managers.
func depth(ctx context.Context, conn mqengine.Conn) (int, error) {
	sample, err := conn.Sample(ctx, 0)
	if err != nil {
		return 0, err
	}
	for i := range sample.Queues {
		if sample.Queues[i].Name == queueName {
			return sample.Queues[i].CurDepth, nil
		}
	}
	return 0, mqi.Errorf("sample", queueName, mqi.MQRC_UNKNOWN_OBJECT_NAME, "the queue has gone")
}

// close ends everything that runs and removes the folder.
func (c *cluster) close() error {
	c.stop()
	c.wait.Wait()
	var errs []error
	if c.qm1 != nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		errs = append(errs, c.qm1.Stop(ctx))
	}
	errs = append(errs, os.RemoveAll(c.dir))
	return errors.Join(errs...)
}

// until waits for a condition and looks at the daemons meanwhile. It gives false
// when the time is over.
func (c *cluster) until(ctx context.Context, limit time.Duration, ok func() (bool, error)) (bool, error) {
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := ok()
		if done || err != nil {
			return done, err
		}
		if err := c.failure(); err != nil {
			return false, err
		}
		if time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
	}
}

// told is what a queue manager sees of the instances, in words.
func told(states map[string]string) string {
	var words []string
	for _, qmgr := range slices.Sorted(maps.Keys(states)) {
		words = append(words, "PUT("+states[qmgr]+") on "+qmgr)
	}
	if len(words) == 0 {
		return "no instance"
	}
	return strings.Join(words, " and ")
}
