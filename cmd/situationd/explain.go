package main

import "github.com/spf13/cobra"

// newExplainCommand says why a decision is what it is.
func newExplainCommand(env *cliEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say why a decision is what it is",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("explain: there is nothing called %s to explain; see situationd explain --help", args[0])
			}
			return usagef("explain: say what: %s", cmd.Commands()[0].UseLine())
		},
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(newExplainRoutingCommand(env), newExplainSituationCommand(env))
	return cmd
}
