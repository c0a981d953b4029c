package main

import "github.com/spf13/cobra"

// houseVerbs are the verbs of the daemon and of the program itself.
func houseVerbs(env *cliEnv) []*cobra.Command {
	return []*cobra.Command{
		newDemoCommand(env),
		newRunCommand(env),
		newCheckCommand(env),
		newTestCommand(env),
		newStatusCommand(env),
		newActionsCommand(env),
		newHoldCommand(env),
		newReleaseCommand(env),
		newLoweredCommand(env),
		newRevertCommand(env),
		newRedistributeCommand(env),
		newAttributesCommand(env),
		newVersionCommand(env),
		newCompletionCommand(env),
		newManCommand(env),
	}
}
