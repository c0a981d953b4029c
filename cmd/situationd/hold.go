package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

func newHoldCommand(env *cliEnv) *cobra.Command {
	var (
		which  daemonFlags
		ask    httpapi.HoldRequest
		format string
	)
	cmd := &cobra.Command{
		Use:   "hold QUEUE [--for DURATION] [--reason TEXT]",
		Short: "Keep the daemon from doing anything to a queue, until it is released",
		Long: "Nothing is done to the queue any more, lowering, raising, programs and moving of messages alike.\n" +
			"What situations want of it waits, and status shows it with the guard hold. QUEUE may be a\n" +
			"pattern in quotes, or 'CHANNEL(NAME)' and 'QMGR(NAME)'; '*' holds all. A hold survives restarts of the daemon.",
		Example: "situationd hold DCQ1 --for 2h --reason 'patching the servers'",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat("hold", format); err != nil {
				return err
			}
			client, err := which.find(env)
			if err != nil {
				return err
			}
			ask.Queue = args[0]
			var held httpapi.Held
			if err := client.post(cmd.Context(), "/api/v1/hold", ask, &held); err != nil {
				return err
			}
			if held.Note != "" {
				fmt.Fprintln(env.Stderr, "note:", oneLine(held.Note))
			}
			return printHolds(env, format, "held", []httpapi.Held{held})
		},
	}
	which.register(cmd)
	cmd.Flags().StringVar(&ask.For, "for", "", "how long, 30m or 2h; without it until it is released")
	cmd.Flags().StringVar(&ask.Reason, "reason", "", "why, for those who look")
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	return cmd
}

func newReleaseCommand(env *cliEnv) *cobra.Command {
	var (
		which  daemonFlags
		ask    httpapi.ReleaseRequest
		format string
		all    bool
	)
	cmd := &cobra.Command{
		Use:   "release QUEUE | --all | --situation NAME",
		Short: "End a hold; what waited is decided on the next sample",
		Long: "QUEUE is written as it was held. --all ends every hold. --situation lets the actions of a\n" +
			"situation go on whose breaker is open.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat("release", format); err != nil {
				return err
			}
			switch {
			case len(args) == 1 && !all && ask.Situation == "":
				ask.Queue = args[0]
			case len(args) == 0 && all && ask.Situation == "":
				ask.Queue = "*"
			case len(args) == 0 && !all && ask.Situation != "":
			default:
				return usagef("release takes a queue, --all or --situation; usage: %s", cmd.UseLine())
			}
			client, err := which.find(env)
			if err != nil {
				return err
			}
			var released httpapi.Released
			if err := client.post(cmd.Context(), "/api/v1/release", ask, &released); err != nil {
				return err
			}
			if ask.Situation != "" && format == "table" {
				_, err := fmt.Fprintf(env.Stdout, "the breaker of %s is closed\n", ask.Situation)
				return err
			}
			return printHolds(env, format, "released", released.Holds)
		},
	}
	which.register(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "end every hold")
	cmd.Flags().StringVar(&ask.Situation, "situation", "", "close the breaker of this situation")
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	return cmd
}

func printHolds(env *cliEnv, format, what string, holds []httpapi.Held) error {
	switch format {
	case "json":
		return writeJSON(env.Stdout, holds)
	case "jsonl":
		return writeLines(env, holds)
	}
	for i := range holds {
		h := &holds[i]
		text := fmt.Sprintf("%s %s by %s since %s", what, h.Queue, h.By, moment(&h.Since))
		if h.Until != nil {
			text += " until " + moment(h.Until)
		}
		if h.Reason != "" {
			text += ": " + h.Reason
		}
		if _, err := fmt.Fprintln(env.Stdout, oneLine(text)); err != nil {
			return err
		}
	}
	return nil
}

// writeLines writes a list as one JSON value in each line.
func writeLines[T any](env *cliEnv, list []T) error {
	for i := range list {
		if err := writeJSONLine(env.Stdout, list[i]); err != nil {
			return err
		}
	}
	return nil
}
