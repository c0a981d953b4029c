package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// redistributeFlags are what redistribute is told.
type redistributeFlags struct {
	which  daemonFlags
	config string
	file   *config.Config // that config names
	format string
	dryRun bool
	cancel bool
	ask    httpapi.RedistributeRequest
}

func newRedistributeCommand(env *cliEnv) *cobra.Command {
	f := &redistributeFlags{}
	cmd := &cobra.Command{
		Use:   "redistribute QUEUE [--dry-run | --cancel] [--rate N] [--limit N] [--timeout D] [-o table|json|jsonl]",
		Short: "Move the messages of a queue that nobody reads to its other instances",
		Long: "Moves what lies on this instance of a cluster queue to instances that can be chosen, in units of\n" +
			"work, and says what stayed and why: messages that were addressed to this queue manager or bound\n" +
			"on open, that are part of a group which is not all here, that were backed out too often, that moved\n" +
			"before and came back. It is done once, bounded by the depth at the start. It is refused where it\n" +
			"would be in vain or somebody forbids it: a reader is there, no other instance can be chosen,\n" +
			"messages would land here again, a person holds the queue, a rule says redistribute: never.\n\n" +
			"The daemon does it, and a queue has one such run at a time. Without a daemon the command does it\n" +
			"itself, with the daemon's state, ledger and journal. The first interrupt ends the run at the end of\n" +
			"its unit of work; a run of a daemon goes on if the command is killed, and --cancel ends it.",
		Example: "  situationd redistribute DCQ1 --dry-run\n  situationd redistribute DCQ1 --rate 500 --timeout 10m\n  situationd redistribute DCQ1 --cancel",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.ask.Queue = args[0]
			if err := f.check(); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	f.which.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "the daemon file: its queue manager, data folder, and without a daemon its rules")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would move, where to, and what would stay and why; move nothing")
	flags.BoolVar(&f.cancel, "cancel", false, "end what moves messages of this queue, also a rule's until its next edge")
	flags.IntVar(&f.ask.Rate, "rate", 0, "messages a second at most, 0 for no limit")
	flags.IntVar(&f.ask.Limit, "limit", 0, "messages at most, 0 for all that are there; a group goes whole or waits for another run")
	flags.BoolVar(&f.ask.EvenIfBound, "even-if-bound", false, "also messages that were bound to this instance when their queue was opened")
	flags.StringVar(&f.ask.Timeout, "timeout", "", "how long the run may last, 30s or 10m; it ends at the end of a unit of work")
	flags.StringVarP(&f.format, "output", "o", "table", "table, json or jsonl")
	return cmd
}

func (f *redistributeFlags) check() error {
	if err := checkFormat("redistribute", f.format); err != nil {
		return err
	}
	switch {
	case f.ask.Queue == "":
		return usagef("redistribute: the queue's name is empty")
	case f.dryRun && f.cancel:
		return usagef("redistribute: --dry-run and --cancel are two things; give one of them")
	case (f.dryRun || f.cancel) && (f.ask.Rate != 0 || f.ask.Limit != 0 || f.ask.Timeout != ""):
		return usagef("redistribute: --rate, --limit and --timeout are of a run")
	case f.cancel && f.ask.EvenIfBound:
		return usagef("redistribute: --even-if-bound is not of --cancel")
	case f.config != "" && (f.which.qmgr != "" || f.which.url != ""):
		return usagef("redistribute: --config names the queue manager already; leave out --qmgr and --url")
	}
	if _, err := app.MoveWish("", f.ask); err != nil {
		return usagef("redistribute: %s", httpapi.Text(err))
	}
	return nil
}

// run does what is asked, by the daemon or here.
func (f *redistributeFlags) run(ctx context.Context, env *cliEnv) error {
	if err := f.readConfig(env); err != nil {
		return err
	}
	client, offline, err := f.daemonOrState(ctx, env)
	if err != nil {
		return err
	}
	if offline != nil {
		err := f.runOffline(ctx, env, offline)
		return errors.Join(err, offline.Close())
	}
	switch {
	case f.cancel:
		return f.cancelRun(ctx, env, client)
	case f.dryRun:
		var forecast httpapi.Forecast
		query := url.Values{"queue": {f.ask.Queue}, "even_if_bound": {fmt.Sprint(f.ask.EvenIfBound)}}
		if err := client.within(forecastTimeout).get(ctx, "/api/v1/redistribute?"+query.Encode(), &forecast); err != nil {
			return err
		}
		return printForecast(env.Stdout, f.format, &forecast)
	}
	return f.runByDaemon(ctx, env, client)
}

func (f *redistributeFlags) cancelRun(ctx context.Context, env *cliEnv, client *daemonClient) error {
	var answer httpapi.Cancelled
	if err := client.post(ctx, "/api/v1/redistribute/cancel", httpapi.CancelRequest{Queue: f.ask.Queue}, &answer); err != nil {
		return err
	}
	switch f.format {
	case "json":
		return writeJSON(env.Stdout, answer)
	case "jsonl":
		return writeJSONLine(env.Stdout, answer)
	}
	for _, who := range answer.Moved {
		if _, err := fmt.Fprintf(env.Stdout, "%s: what %s had moved ends at the end of its unit of work\n", answer.Queue, who); err != nil {
			return err
		}
	}
	return nil
}

const (
	// forecastTimeout is how long a queue may take to be looked through.
	forecastTimeout = 30 * time.Second
	// runWait is how long one question about a run waits for its end.
	runWait = 250 * time.Millisecond
)

// runByDaemon has the daemon do it, and follows it until it is over.
func (f *redistributeFlags) runByDaemon(ctx context.Context, env *cliEnv, client *daemonClient) error {
	var run httpapi.Redistribution
	if err := client.post(ctx, "/api/v1/redistribute", f.ask, &run); err != nil {
		return err
	}
	asking, stop := untilSignal(ctx)
	defer stop()
	progress := newMoveProgress(env.Stderr, isTerminalWriter(env.Stderr), time.Now())
	query := url.Values{"id": {run.ID}, "wait": {runWait.String()}}.Encode()
	for cancelled := false; !run.Over; {
		if !cancelled && asking.Err() != nil {
			cancelled = true
			progress.note("%v: the run ends at the end of its unit of work", context.Cause(asking))
			err := client.post(ctx, "/api/v1/redistribute/cancel", httpapi.CancelRequest{Queue: f.ask.Queue}, &httpapi.Cancelled{})
			if err != nil && !isStatus(err, http.StatusNotFound) { // then it was over by itself
				return err
			}
		}
		if err := client.get(followed(asking, ctx, cancelled), "/api/v1/redistribute/run?"+query, &run); err != nil {
			if !cancelled && asking.Err() != nil {
				continue
			}
			progress.end()
			return fmt.Errorf("%w; %d messages moved by what is known, the journal tells the rest: situationd actions", err, run.Moved)
		}
		progress.step(&run, time.Now())
	}
	progress.end()
	return f.report(env, &run)
}

// followed is the context of a question: an interrupt ends the first that is under
// way, so that it is obeyed at once, and none after it.
func followed(asking, ctx context.Context, cancelled bool) context.Context {
	if cancelled {
		return ctx
	}
	return asking
}

// report prints how a run ended, and gives it its exit code.
func (f *redistributeFlags) report(env *cliEnv, run *httpapi.Redistribution) error {
	if err := printRun(env.Stdout, f.format, run); err != nil {
		return err
	}
	switch {
	case run.Unreached:
		return unreachablef("redistribute %s: %s", run.Queue, run.Reason)
	case run.State == "refused", run.State == "waiting" && run.Moved == 0, run.State == "reader" && run.Moved == 0:
		return refusedf("redistribute %s: %s", run.Queue, run.Reason)
	case run.State == "failed", run.State == "cancelled", run.State == "waiting", run.Early:
		return failedf("redistribute %s: %s", run.Queue, run.Reason)
	}
	return nil
}
