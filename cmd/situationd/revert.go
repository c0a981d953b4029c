package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// revertTimeout bounds giving back with the daemon down.
const revertTimeout = 30 * time.Second

func newRevertCommand(env *cliEnv) *cobra.Command {
	var (
		which  daemonFlags
		ask    httpapi.RevertRequest
		format string
	)
	cmd := &cobra.Command{
		Use:   "revert QUEUE | --all",
		Short: "Give back what the daemon lowered: the values found before",
		Long: "Only what still has the value that the daemon gave it is changed. What its rules wanted of\n" +
			"these queues ends; they act again at their next edge. It works with the daemon down, too, and\n" +
			"starts a hosted queue manager for that moment.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat("revert", format); err != nil {
				return err
			}
			switch {
			case len(args) == 1 && !ask.All:
				ask.Queue = args[0]
			case len(args) == 0 && ask.All:
			default:
				return usagef("revert takes a queue, or --all; usage: %s", cmd.UseLine())
			}
			client, offline, err := which.findOrOpen(env)
			if err != nil {
				return err
			}
			var answer httpapi.Reverted
			if offline != nil {
				answer, err = revertOffline(cmd.Context(), offline, ask.Queue)
			} else {
				err = client.post(cmd.Context(), "/api/v1/revert", ask, &answer)
			}
			if err != nil {
				return err
			}
			return printReverted(env, format, &answer)
		},
	}
	which.register(cmd)
	cmd.Flags().BoolVar(&ask.All, "all", false, "everything that the daemon lowered")
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	return cmd
}

func revertOffline(ctx context.Context, offline *app.Offline, queue string) (httpapi.Reverted, error) {
	ctx, cancel := context.WithTimeout(ctx, revertTimeout)
	defer cancel()
	answer, err := offline.Revert(ctx, person(), queue)
	err = errors.Join(err, offline.Close())
	switch {
	case errors.Is(err, app.ErrUnreachable):
		return answer, unreachablef("%w", err)
	case err != nil:
		return answer, failedf("%w", err)
	}
	return answer, nil
}

// person is who calls the program, as the journal names him.
func person() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	if u.Username == "" {
		return "uid " + u.Uid
	}
	return u.Username
}

func printReverted(env *cliEnv, format string, answer *httpapi.Reverted) error {
	switch format {
	case "json", "jsonl":
		write := writeJSON
		if format == "jsonl" {
			write = writeJSONLine
		}
		if err := write(env.Stdout, answer); err != nil {
			return err
		}
	default:
		if len(answer.Reverted) == 0 {
			fmt.Fprintln(env.Stdout, "nothing is lowered")
		}
		for i := range answer.Reverted {
			l := &answer.Reverted[i]
			if !stands(answer.Left, l) {
				fmt.Fprintf(env.Stdout, "%s on %s: %s(%s)\n", l.Name(), l.QMgr, l.Attribute, text(l.Before))
			}
		}
	}
	if len(answer.Left) == 0 {
		return nil
	}
	reason := ""
	if answer.Reason != "" {
		reason = ": " + answer.Reason
	}
	return failedf("revert: %s still stand%s", plural(len(answer.Left), "change"), reason)
}

func stands(left []httpapi.LoweredItem, l *httpapi.LoweredItem) bool {
	for i := range left {
		if left[i].QMgr == l.QMgr && left[i].Name() == l.Name() && left[i].Attribute == l.Attribute {
			return true
		}
	}
	return false
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
