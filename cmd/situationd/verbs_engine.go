package main

import "github.com/spf13/cobra"

// engineVerbs are the commands of embedded queue managers.
func engineVerbs(env *cliEnv) []*cobra.Command {
	return []*cobra.Command{
		newStrmqmCommand(env),
		newCrtmqmCommand(env),
		newEndmqmCommand(env),
		newDspmqCommand(env),
		newDltmqmCommand(env),
		newMqscCommand(env),
		newQCommand(env),
		newExplainCommand(env),
	}
}
