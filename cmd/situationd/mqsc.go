package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// mqscRun is one run of mqsc.
type mqscRun struct {
	env     *cliEnv
	data    string
	file    string
	qmgr    string
	noEcho  bool
	verify  bool
	wait    int    // seconds; 0: the commands are for the queue manager that is connected to
	local   string // with wait: the queue manager to connect to
	conn    mqengine.Conn
	remote  *mqengine.Remote
	in      io.Reader
	printer *mqsc.Printer
}

// newMqscCommand runs MQSC commands as runmqsc does.
func newMqscCommand(env *cliEnv) *cobra.Command {
	r := &mqscRun{env: env}
	cmd := &cobra.Command{
		Use:   "mqsc [-e] [-v] [-f FILE] [-w SECONDS [-m LOCALQM]] [QM]",
		Short: "Run MQSC commands from standard input or a file, as runmqsc",
		Long: "mqsc reads MQSC commands and prints the answers in runmqsc's layout. It exits with 0 if all were\n" +
			"processed, 10 if one failed or had a syntax error, 20 if nothing could be run.\n\n" +
			"With -w the commands go to the command server of a queue manager elsewhere, as messages through the\n" +
			"cluster or over channels from the local one, and SECONDS is how long to wait for each answer.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return notRun("mqsc takes one queue manager; usage: %s", cmd.UseLine())
			}
			return nil
		},
	}
	data := dataFlag(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&r.noEcho, "no-echo", "e", false, "do not repeat the commands")
	flags.BoolVarP(&r.verify, "verify", "v", false, "check the commands, run nothing")
	flags.StringVarP(&r.file, "file", "f", "", "read the commands from this file")
	flags.IntVarP(&r.wait, "wait", "w", 0, "run them on a remote queue manager, and wait so many seconds for each answer")
	flags.StringVarP(&r.local, "local", "m", "", "with -w: the local queue manager to connect to (optional if one runs)")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return notRun("mqsc: %w", flagError(err)) })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			r.qmgr = args[0]
		}
		if err := r.checkRemote(flags.Changed("wait")); err != nil {
			return err
		}
		var err error
		if r.data, err = env.dataDir(*data); err != nil {
			return notRun("%w", err)
		}
		// A signal ends the process as it ends any filter: there is no unit of work to back out.
		return r.run(cmd.Context())
	}
	return cmd
}

// notRun is the error of a run that could not begin.
func notRun(format string, args ...any) error {
	return &exitError{Code: mqsc.ExitNotRun, Err: fmt.Errorf(format, args...)}
}

func (r *mqscRun) run(ctx context.Context) error {
	r.in = r.env.Stdin
	if r.file != "" {
		f, err := os.Open(r.file)
		if err != nil {
			return notRun("mqsc: %w", err)
		}
		defer f.Close()
		r.in = f
	}
	r.printer = mqsc.NewPrinter(r.env.Stdout, !r.noEcho)
	if err := r.connect(ctx); err != nil {
		return err
	}
	if r.conn != nil {
		defer func() { _ = r.conn.Disconnect(ctx) }() // every command was its own unit of work
	}
	r.printer.Header(r.qmgr)
	broken := r.commands(ctx)
	r.printer.Summary(r.verify)
	switch {
	case errors.Is(broken, mqengine.ErrNoResponse):
		return &exitError{Code: mqsc.ExitFailed, Err: fmt.Errorf("mqsc: %w; the commands after this one were not sent", broken)}
	case broken != nil:
		return notRun("mqsc: %w", broken)
	case r.printer.Err() != nil:
		return &exitError{Code: mqsc.ExitFailed, Err: fmt.Errorf("mqsc: %w", r.printer.Err())}
	}
	return exitSilently(r.printer.ExitCode())
}

// connect connects, unless commands are only to be checked. Its failure is told
// as runmqsc tells it, with a line on stderr that says more.
func (r *mqscRun) connect(ctx context.Context) error {
	if r.verify {
		return nil
	}
	name := r.qmgr
	if r.wait > 0 {
		name = r.local
	}
	conn, err := r.env.connect(ctx, r.data, name, "runmqsc")
	if err == nil {
		r.conn = conn
		if r.wait > 0 {
			return r.openRemote(ctx)
		}
		r.qmgr, _ = conn.QMgr()
		return nil
	}
	id := "AMQ8146E"
	if errors.Is(err, mqi.MQRC_Q_MGR_NAME_ERROR) {
		id = "AMQ8118E"
	}
	r.printer.Responses(mqsc.Reply(id))
	r.printer.Summary(false)
	return notRun("%w", err)
}

// commands runs them one after the other. The error is one after which no
// further command could be run.
func (r *mqscRun) commands(ctx context.Context) error {
	reader := mqsc.NewReader(r.in)
	for {
		it, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		r.printer.Echo(it)
		switch {
		case it.End:
			return nil
		case it.Err != nil:
			r.printer.SyntaxError(it.Err)
			continue
		case it.Text == "":
			continue
		}
		cmd, bad := mqsc.Parse(it.Text)
		if bad != nil {
			r.printer.SyntaxError(bad)
			continue
		}
		if r.verify {
			continue
		}
		if err := r.command(ctx, cmd); err != nil {
			return err
		}
	}
}

// command runs one command where it is meant for.
func (r *mqscRun) command(ctx context.Context, cmd *mqsc.Command) error {
	if r.remote != nil {
		res, err := r.remote.Command(ctx, cmd)
		if errors.Is(err, mqengine.ErrNoResponse) {
			r.printer.Result(mqsc.Result{Failed: true, Responses: []mqsc.Response{mqsc.Reply("AMQ8416E")}})
		}
		if err == nil {
			r.printer.Remote(res.Failed, res.Text)
		}
		return err
	}
	res, err := r.conn.Command(ctx, cmd)
	if err == nil {
		r.printer.Result(res)
	}
	return err
}
