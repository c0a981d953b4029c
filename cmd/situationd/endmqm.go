package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine"
)

// Waits of endmqm.
const (
	// endmqmWithin is how long a controlled end waits for applications before it is
	// immediate, unless -w or -t says otherwise.
	endmqmWithin = 10
	// endmqmPatience is how long endmqm itself waits for an end that does not wait for applications.
	endmqmPatience = time.Minute
	// endmqmSecondsMax bounds -t.
	endmqmSecondsMax = 365 * 24 * 60 * 60
)

// endmqmRun is one run of endmqm.
type endmqmRun struct {
	env *cliEnv

	immediate, preemptive, controlled, wait bool

	seconds int
	timeout time.Duration
}

// newEndmqmCommand ends a queue manager, whichever process hosts it.
func newEndmqmCommand(env *cliEnv) *cobra.Command {
	r := &endmqmRun{env: env}
	cmd := &cobra.Command{
		Use:   "endmqm [-c | -w | -i | -p] [-t SECONDS] QM [--data DIR]",
		Short: "End an embedded queue manager",
		Long: "endmqm ends a queue manager and returns when its folder is free. A daemon that hosts it ends too.\n" +
			"-c, the default, is a controlled end: nobody new may connect, calls with FAIL_IF_QUIESCING get\n" +
			"MQRC_Q_MGR_QUIESCING, and the end waits until no application has a queue open or a unit of work,\n" +
			"but 10 seconds at most. -w waits for as long as it takes, -t says how many seconds. Then, and with\n" +
			"-i and -p, the end is immediate: applications get MQRC_CONNECTION_BROKEN, and what they did not\n" +
			"commit is backed out. An end that waits is made immediate by a second endmqm -i.",
		Args: exactly(1),
	}
	data := dataFlag(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&r.controlled, "controlled", "c", false, "wait for applications, 10 seconds at most")
	flags.BoolVarP(&r.wait, "wait", "w", false, "wait for applications as long as it takes")
	flags.BoolVarP(&r.immediate, "immediate", "i", false, "do not wait for applications")
	flags.BoolVarP(&r.preemptive, "preemptive", "p", false, "as -i: an immediate end waits for nobody here")
	flags.IntVarP(&r.seconds, "target", "t", 0, "seconds after which a controlled end is immediate")
	flags.DurationVar(&r.timeout, "timeout", 0, "how long to wait for the end itself (default 1m more than the applications have)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := env.dataDir(*data)
		if err != nil {
			return err
		}
		if err := qmgrName("endmqm", args[0]); err != nil {
			return err
		}
		return r.run(cmd, dir, args[0])
	}
	return cmd
}

// mode is how the queue manager is to end, and how long that may take.
func (r *endmqmRun) mode(cmd *cobra.Command) (mqengine.EndMode, time.Duration, error) {
	asked := cmd.Flags().Changed("target")
	ways := 0
	for _, way := range []bool{r.controlled, r.wait, r.immediate, r.preemptive} {
		if way {
			ways++
		}
	}
	switch {
	case ways > 1:
		return mqengine.EndMode{}, 0, usagef("endmqm: -c, -w, -i and -p exclude each other")
	case asked && (r.seconds < 1 || r.seconds > endmqmSecondsMax):
		return mqengine.EndMode{}, 0, usagef("endmqm: -t takes a number of seconds from 1 to %d, not %d", endmqmSecondsMax, r.seconds)
	case asked && (r.immediate || r.preemptive):
		return mqengine.EndMode{}, 0, usagef("endmqm: -t is how long applications have; -i and -p do not wait for them")
	case r.timeout < 0:
		return mqengine.EndMode{}, 0, usagef("endmqm: --timeout is a duration above zero, not %v", r.timeout)
	}
	mode := mqengine.EndMode{Controlled: !r.immediate && !r.preemptive}
	if mode.Controlled && (asked || !r.wait) {
		mode.Within = endmqmWithin * time.Second
		if asked {
			mode.Within = time.Duration(r.seconds) * time.Second
		}
	}
	patience := r.timeout
	if patience == 0 && (!mode.Controlled || mode.Within > 0) {
		patience = mode.Within + endmqmPatience
	}
	return mode, patience, nil
}

func (r *endmqmRun) run(cmd *cobra.Command, dir, name string) error {
	mode, patience, err := r.mode(cmd)
	if err != nil {
		return err
	}
	info, err := mqengine.Look(dir, name)
	if err != nil {
		return engineExit(err)
	}
	if info.PID == 0 {
		return unreachablef("queue manager %s is not running", name)
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	if mode.Controlled && r.wait {
		fmt.Fprintf(r.env.Stderr, "waiting for queue manager %s to end\n", name)
	}
	switch err := mqengine.End(ctx, info.Folder, name, mode); {
	case errors.Is(err, context.DeadlineExceeded):
		return failedf("queue manager %s has not ended after %v; process %d hosts it", name, patience, info.PID)
	case err != nil:
		return engineExit(signalled(ctx, err))
	}
	_, err = fmt.Fprintf(r.env.Stderr, "queue manager %s ended\n", name)
	return err
}
