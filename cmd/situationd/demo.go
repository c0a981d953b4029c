package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/demo"
)

func newDemoCommand(env *cliEnv) *cobra.Command {
	options := demo.Options{Out: env.Stdout, Version: appVersion(), Program: os.Args[0]}
	var format string
	cmd := &cobra.Command{
		Use:   "demo [--rules FILE] [--speed N] [--keep] [-o text|jsonl]",
		Short: "Run the main job from start to end on this machine",
		Long: "Starts three queue managers of a cluster on loopback TCP in a temporary folder, two of them\n" +
			"hosted by daemons; puts and reads messages, stops a reader, and checks that its instance leaves\n" +
			"the balancing, that its messages are read elsewhere, and that everything is put back.",
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch format {
			case "text", "table":
			case "jsonl":
				options.JSONL = true
			default:
				return usagef("demo: -o is text or jsonl, not %q", format)
			}
			if !(options.Speed > 0 && options.Speed <= demo.MaxSpeed) { // what is not a number is neither
				return usagef("demo: --speed is a number above 0 and at most %d, not %v", demo.MaxSpeed, options.Speed)
			}
			options.Hurry = !cmd.Flags().Changed("speed")
			if options.Rules != "" {
				if _, err := readFile(options.Rules); err != nil {
					return usagef("demo: %w", err)
				}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			err := demo.Run(ctx, options)
			switch {
			case err == nil:
				return nil
			case errors.Is(err, demo.ErrFailed):
				return exitSilently(exitFailed)
			case ctx.Err() != nil:
				return failedf("demo: interrupted")
			default:
				var rules *app.RulesError
				if errors.As(err, &rules) {
					return startError(env, rules)
				}
				return failedf("demo: %w", err)
			}
		},
	}
	cmd.Flags().StringVar(&options.Rules, "rules", "", "another rule file than examples/rules.yaml")
	cmd.Flags().Float64Var(&options.Speed, "speed", 1, "divide every duration by this number; not given, rules with long intervals are hurried")
	cmd.Flags().BoolVar(&options.Keep, "keep", false, "leave the cluster running, and print commands to try")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or jsonl")
	return cmd
}
