package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// defaultListen is MQ's port, on loopback: who wants others to reach the queue
// manager says so.
const defaultListen = "127.0.0.1:1414"

// strmqmRun is one run of strmqm.
type strmqmRun struct {
	env      *cliEnv
	name     string
	data     string
	listen   string
	create   bool
	salvage  bool
	files    []string
	order    string
	logLevel string
	detached bool // started by strmqm the link, which waits for the ready line
}

// newStrmqmCommand hosts a queue manager in the foreground; called through a
// link named strmqm it starts one in the background, as MQ's does.
func newStrmqmCommand(env *cliEnv) *cobra.Command {
	r := &strmqmRun{env: env}
	cmd := &cobra.Command{
		Use:   "strmqm QM [--create] [--listen HOST:PORT] [--mqsc FILE]... [--data DIR]",
		Short: "Host an embedded queue manager",
		Long: "strmqm hosts a queue manager in the foreground until SIGINT, SIGTERM or endmqm. It prints\n" +
			"`ready QM HOST:PORT` once MQSC files are applied, the listener is bound and applications can connect.\n" +
			"Called through a link named strmqm it returns then, and the queue manager goes on in the background.",
		Args: exactly(1),
	}
	data := dataFlag(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&r.create, "create", false, "create the queue manager if there is none")
	flags.BoolVar(&r.salvage, "salvage", false, "if the store is damaged, start without what is lost; the damaged store is kept beside it")
	flags.StringVar(&r.listen, "listen", defaultListen, "host:port of the channel listener; port 0 chooses one, none has none")
	flags.StringArrayVar(&r.files, "mqsc", nil, "with --create: file of MQSC commands to run once; may be repeated")
	flags.StringVar(&r.logLevel, "log", "warn", "what is logged on stderr: error, warn, info or debug")
	flags.BoolVar(&r.detached, "detached", false, "")
	if err := flags.MarkHidden("detached"); err != nil {
		panic(err) // the flag was defined in the line above
	}
	order := workloadFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		r.name, r.order = args[0], *order
		if r.data, err = env.dataDir(*data); err != nil {
			return err
		}
		if err := r.check(); err != nil {
			return err
		}
		if env.Link != "" && !r.detached {
			return r.background(cmd.Context())
		}
		return r.foreground(cmd)
	}
	return cmd
}

func (r *strmqmRun) check() error {
	if err := qmgrName("strmqm", r.name); err != nil {
		return err
	}
	if _, err := workloadOrder(r.order); err != nil {
		return err
	}
	if err := mqengine.CheckListen(r.listen); err != nil {
		return usagef("strmqm: --listen %w", err)
	}
	if hclog.LevelFromString(r.logLevel) == hclog.NoLevel {
		return usagef("strmqm: --log is error, warn, info or debug, not %q", r.logLevel)
	}
	if len(r.files) > 0 && !r.create {
		return usagef("strmqm: --mqsc files are run when a queue manager is created; add --create, or use mqsc")
	}
	return nil
}

func (r *strmqmRun) foreground(cmd *cobra.Command) error {
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	if r.create {
		if err := r.ensure(cmd); err != nil {
			return err
		}
	}
	qm, err := r.startWhole(ctx)
	if err != nil {
		return engineExit(fmt.Errorf("strmqm: %w", signalled(ctx, err)))
	}
	if err := r.ready(qm); err != nil {
		return errors.Join(err, qm.Stop(context.WithoutCancel(ctx)))
	}
	select {
	case <-qm.Done():
	case <-ctx.Done():
		if err := qm.Stop(context.WithoutCancel(ctx)); err != nil {
			return failedf("strmqm: %w", err)
		}
	}
	err = qm.Err()
	if mqengine.Damaged(err) {
		return failedf("strmqm: %w; start it with --salvage to go on without what is lost", err)
	}
	if err != nil {
		return failedf("strmqm: %w", err)
	}
	return nil
}

// ensure creates the queue manager unless it is there.
func (r *strmqmRun) ensure(cmd *cobra.Command) error {
	existed, err := r.env.create(cmd, r.data, r.name, r.files, r.order)
	if existed {
		_, err = fmt.Fprintf(r.env.Stderr, "queue manager %s exists already; --create and --mqsc have no effect\n", r.name)
	}
	return err
}

func (r *strmqmRun) start(ctx context.Context) (*mqengine.QueueManager, error) {
	info, err := mqengine.Look(r.data, r.name)
	if err != nil {
		if errors.Is(err, mqi.MQRC_Q_MGR_NAME_ERROR) {
			err = fmt.Errorf("%w; create it with --create", err)
		}
		return nil, err
	}
	order, err := workloadOrder(r.order)
	if err != nil {
		return nil, err
	}
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.LevelFromString(r.logLevel), Output: r.env.Stderr})
	return mqengine.Start(ctx, mqengine.Options{
		Name: r.name, Folder: info.Folder, Listen: r.listen, Workload: order, Logger: logger,
	})
}

// ready tells whoever waits that the queue manager can be used.
func (r *strmqmRun) ready(qm *mqengine.QueueManager) error {
	addr := qm.Addr()
	if addr == "" {
		addr = mqengine.NoListener
	}
	if _, err := fmt.Fprintf(r.env.Stdout, "ready %s %s\n", qm.Name(), addr); err != nil {
		return failedf("strmqm: %w", err)
	}
	if r.detached {
		return leaveTerminal()
	}
	return nil
}
