package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// stranded is a cluster of two queue managers with an instance of a queue each.
// Messages lie on A's; they are moved to B's as a person has it done, by the verb
// redistribute without a daemon, with its ledger and journal.
func (s *suite) stranded(ctx context.Context, dir string) (*moving, error) {
	c := &strandedCluster{suite: s, dir: dir, conns: map[string]mqengine.Conn{}}
	if err := c.start(ctx); err != nil {
		c.end()
		return nil, err
	}
	m := &moving{window: 4 * 50, receiver: &server{process: c.processes["B"]}, end: c.end}
	m.fill = func(n int) error { return c.fill(ctx, n) }
	m.move = func() error { return c.move(ctx) }
	m.over = c.over
	m.more = func(n int) error {
		if err := c.command(ctx, "ALTER QLOCAL(BENCH.Q) PUT(ENABLED)"); err != nil {
			return err
		}
		if err := c.fill(ctx, n); err != nil {
			return err
		}
		if err := c.move(ctx); err != nil {
			return err
		}
		return c.over()
	}
	m.depth = func() (int, error) { return curDepth(ctx, c.conns["B"], "BENCH.Q") }
	m.left = func() (int, error) {
		here, err := curDepth(ctx, c.conns["A"], "BENCH.Q")
		if err != nil {
			return 0, err
		}
		waiting, err := curDepth(ctx, c.conns["A"], "SYSTEM.CLUSTER.TRANSMIT.QUEUE")
		return here + waiting, err
	}
	return m, nil
}

// strandedCluster is the two queue managers, and the verb while it runs.
type strandedCluster struct {
	*suite
	dir       string
	processes map[string]*process
	conns     map[string]mqengine.Conn
	verb      *exec.Cmd
	said      bytes.Buffer
}

func (c *strandedCluster) start(ctx context.Context) error {
	c.processes = map[string]*process{}
	ports := map[string]int{}
	for _, name := range []string{"A", "B"} {
		var err error
		if ports[name], err = freePort(); err != nil {
			return err
		}
	}
	for name, other := range map[string]string{"A": "B", "B": "A"} {
		text := "ALTER QMGR REPOS(C1)\n" +
			fmt.Sprintf("DEFINE CHANNEL(C1.%s) CHLTYPE(CLUSRCVR) CONNAME('127.0.0.1(%d)') CLUSTER(C1)\n", name, ports[name]) +
			fmt.Sprintf("DEFINE CHANNEL(C1.%s) CHLTYPE(CLUSSDR) CONNAME('127.0.0.1(%d)') CLUSTER(C1)\n", other, ports[other]) +
			"DEFINE QLOCAL(BENCH.Q) CLUSTER(C1) DEFBIND(NOTFIXED) MAXDEPTH(99999999)\n"
		script := filepath.Join(c.dir, name+".mqsc")
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			return err
		}
		p, err := startProcess(nil, c.situationd, "strmqm", name, "--data", c.dir, "--create", "--mqsc", script,
			"--listen", fmt.Sprintf("127.0.0.1:%d", ports[name]))
		if err != nil {
			return err
		}
		c.processes[name] = p
		if err := p.until(ctx, "situationd", func() bool { return p.out.contains("ready " + name) }); err != nil {
			return err
		}
		if c.conns[name], err = mqengine.Dial(ctx, filepath.Join(c.dir, "qmgrs", name), "", qmgr.Appl{Tag: "bench"}); err != nil {
			return err
		}
	}
	return c.known(ctx)
}

// known waits until A knows B's instance.
func (c *strandedCluster) known(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		all, err := c.conns["A"].Instances(ctx, qmgr.InstancesReq{Queues: []string{"BENCH.Q"}, Subscribe: true})
		if err != nil {
			return err
		}
		for i := range all.Instances {
			if all.Instances[i].QMgr == "B" && all.Instances[i].Usable {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("A does not know B's instance: %w", ctx.Err())
		case <-time.After(pollStep):
		}
	}
}

func (c *strandedCluster) fill(ctx context.Context, n int) error {
	_, err := runClient(ctx, 10*time.Minute, "-socket", filepath.Join(c.dir, "qmgrs", "A"), "-queue", "BENCH.Q", "-window", "64", "-count", strconv.Itoa(n), "fill")
	return err
}

func (c *strandedCluster) command(ctx context.Context, text string) error {
	cmd, bad := mqsc.Parse(text)
	if bad != nil {
		return bad
	}
	res, err := c.conns["A"].Command(ctx, cmd)
	if err == nil && res.Failed {
		err = fmt.Errorf("%s: %v", text, res.Responses)
	}
	return err
}

// move takes A's instance out of the balancing and starts the verb.
func (c *strandedCluster) move(ctx context.Context) error {
	if err := c.command(ctx, "ALTER QLOCAL(BENCH.Q) PUT(DISABLED)"); err != nil {
		return err
	}
	c.said.Reset()
	c.verb = exec.CommandContext(ctx, c.situationd, "redistribute", "BENCH.Q", "--qmgr", "A", "--data", c.dir)
	c.verb.Stdout, c.verb.Stderr = &c.said, &c.said
	return c.verb.Start()
}

// over waits for the verb's end: everything moved, or it says what did not.
func (c *strandedCluster) over() error {
	err := c.verb.Wait()
	c.verb = nil
	if err != nil {
		return fmt.Errorf("redistribute: %w: %s", err, c.said.String())
	}
	if !bytes.Contains(c.said.Bytes(), []byte(" 0 there now")) {
		return errors.New("redistribute left messages: " + c.said.String())
	}
	return nil
}

func (c *strandedCluster) end() {
	if c.verb != nil {
		_ = c.verb.Process.Kill() // it may have ended by itself
		_ = c.verb.Wait()
	}
	for _, p := range c.processes {
		p.kill()
	}
}
