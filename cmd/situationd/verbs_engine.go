package main

import "github.com/spf13/cobra"

// engineVerbs are the commands of embedded queue managers.
func engineVerbs(_ *cliEnv) []*cobra.Command {
	return nil
}
