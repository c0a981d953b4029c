package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/mqengine"
)

func newLoweredCommand(env *cliEnv) *cobra.Command {
	var (
		which  daemonFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "lowered [-o table|json|jsonl]",
		Short: "List what is out of the balancing, who did it, and what brings it back",
		Long: "Lists every attribute that the daemon lowered and that still stands, and the watched queues\n" +
			"that somebody else disabled. With the daemon down it tells what its state knows.",
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat("lowered", format); err != nil {
				return err
			}
			client, offline, err := which.findOrOpen(env)
			if err != nil {
				return err
			}
			var answer httpapi.Lowered
			if offline != nil {
				answer, err = offline.Lowered()
				err = errors.Join(err, offline.Close())
			} else {
				err = client.get(cmd.Context(), "/api/v1/lowered", &answer)
			}
			if err != nil {
				return err
			}
			return printLowered(env.Stdout, env, format, answer.Lowered)
		},
	}
	which.register(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	return cmd
}

// findOrOpen gives the running daemon, or where there is none its state.
func (f *daemonFlags) findOrOpen(env *cliEnv) (*daemonClient, *app.Offline, error) {
	if f.url != "" {
		client, err := f.find(env)
		return client, nil, err
	}
	data, err := mqengine.DataDir(f.data, env.Getenv, env.UID)
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	running, err := app.FindDaemons(data)
	if err != nil {
		return nil, nil, unreachablef("look for daemons: %w", err)
	}
	if slices.Contains(running, f.qmgr) || f.qmgr == "" && len(running) > 0 {
		client, err := f.find(env)
		return client, nil, err
	}
	name := f.qmgr
	if name == "" {
		states, err := app.FindStates(data)
		switch {
		case err != nil:
			return nil, nil, unreachablef("look for daemons: %w", err)
		case len(states) == 0:
			return nil, nil, unreachablef("no daemon runs under %s, and none has left a state", data)
		case len(states) > 1:
			return nil, nil, usagef("no daemon runs; several have left a state (%s); name one with --qmgr", strings.Join(states, ", "))
		}
		name = states[0]
	}
	dir, err := app.DaemonDir(data, name)
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	if err := app.ActAsOwner(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, failedf("%w", err)
	}
	offline, err := app.OpenOffline(data, name, hclog.NewNullLogger())
	switch {
	case errors.Is(err, app.ErrInUse):
		return nil, nil, refusedf("%w", err)
	case errors.Is(err, app.ErrNoState):
		return nil, nil, unreachablef("%w", err)
	case err != nil:
		return nil, nil, failedf("%w", err)
	}
	fmt.Fprintf(env.Stderr, "the daemon of %s does not run; this is from its state\n", name)
	return nil, offline, nil
}

func printLowered(w io.Writer, env *cliEnv, format string, list []httpapi.LoweredItem) error {
	switch format {
	case "json":
		if list == nil {
			list = []httpapi.LoweredItem{}
		}
		return writeJSON(w, list)
	case "jsonl":
		return writeLines(env, list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "nothing is lowered")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "QUEUE\tQMGR\tVALUE\tBEFORE\tSINCE\tBY\tCOMES BACK\n")
	for i := range list {
		l := &list[i]
		fmt.Fprintf(t, "%s\t%s\t%s(%s)\t%s\t%s\t%s\t%s\n", l.Name(), l.QMgr, l.Attribute, l.Value, text(l.Before), moment(l.Since), whose(l), comesBack(l))
	}
	return t.Flush()
}

func whose(l *httpapi.LoweredItem) string {
	switch l.By {
	case "other":
		return "somebody else"
	case "program":
		return "a program of " + l.Situation
	default:
		return l.Situation
	}
}

// notDone is said of what a daemon that only observes would have lowered.
const notDone = "it was not done: the daemon only observes"

func comesBack(l *httpapi.LoweredItem) string {
	switch l.Back {
	case "clear":
		return "when the situation is over, or by revert"
	case "edge":
		return "by another rule, or by revert"
	case httpapi.BackWould:
		return notDone
	default:
		return "not by the daemon"
	}
}
