package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine"
)

// newEndmqmCommand ends a queue manager, whichever process hosts it.
func newEndmqmCommand(env *cliEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "endmqm [-i] QM [--data DIR]",
		Short: "End an embedded queue manager",
		Long: "endmqm ends a queue manager and returns when its folder is free. A daemon that hosts it ends too.\n" +
			"Applications get MQRC_CONNECTION_BROKEN, and their units of work are backed out.",
		Args: exactly(1),
	}
	data := dataFlag(cmd)
	flags := cmd.Flags()
	immediate := flags.BoolP("immediate", "i", false, "as MQ has it; every end is immediate")
	flags.BoolP("controlled", "c", false, "as MQ has it; every end is immediate")
	flags.BoolP("wait", "w", false, "as MQ has it; endmqm always waits")
	flags.BoolP("preemptive", "p", false, "as MQ has it; every end is immediate")
	timeout := flags.Duration("timeout", time.Minute, "how long to wait for the end")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := env.dataDir(*data)
		if err != nil {
			return err
		}
		if err := qmgrName("endmqm", args[0]); err != nil {
			return err
		}
		info, err := mqengine.Look(dir, args[0])
		if err != nil {
			return engineExit(err)
		}
		if info.PID == 0 {
			return unreachablef("queue manager %s is not running", args[0])
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), *timeout)
		defer cancel()
		if err := mqengine.End(ctx, info.Folder, args[0], *immediate); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return failedf("queue manager %s has not ended after %v; process %d hosts it", args[0], *timeout, info.PID)
			}
			return engineExit(err)
		}
		_, err = fmt.Fprintf(env.Stderr, "queue manager %s ended\n", args[0])
		return err
	}
	return cmd
}
