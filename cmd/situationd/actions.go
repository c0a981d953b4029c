package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// actionsPageSize is how many lines one question asks for.
const actionsPageSize = 1000

func newActionsCommand(env *cliEnv) *cobra.Command {
	var (
		which  daemonFlags
		format string
		last   int
	)
	cmd := &cobra.Command{
		Use:   "actions [--last N] [-o table|json|jsonl]",
		Short: "Print what the daemon did, or would have done: its journal",
		Args:  exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat("actions", format); err != nil {
				return err
			}
			if last < 0 {
				return usagef("actions: --last is a number of lines, not %d", last)
			}
			client, err := which.find(env)
			if err != nil {
				return err
			}
			lines, err := readActions(cmd.Context(), client)
			if err != nil {
				return err
			}
			if last > 0 && len(lines) > last {
				lines = lines[len(lines)-last:]
			}
			return printActions(env, format, lines)
		},
	}
	which.register(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	cmd.Flags().IntVar(&last, "last", 0, "only the last N lines")
	return cmd
}

// readActions turns the pages of the journal until there is nothing more.
func readActions(ctx context.Context, client *daemonClient) ([]json.RawMessage, error) {
	lines := []json.RawMessage{}
	for after := ""; ; {
		var page struct {
			Actions []json.RawMessage `json:"actions"`
			Next    string            `json:"next"`
		}
		query := url.Values{"limit": {strconv.Itoa(actionsPageSize)}, "after": {after}}
		if err := client.get(ctx, "/api/v1/actions?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		lines = append(lines, page.Actions...)
		if page.Next == "" {
			return lines, nil
		}
		after = page.Next
	}
}

// actionRow is what the table shows of a line.
type actionRow struct {
	Time      string `json:"time"`
	Situation string `json:"situation"`
	QMgr      string `json:"qmgr"`
	Queue     string `json:"queue"`
	Channel   string `json:"channel"`
	Edge      string `json:"edge"`
	Action    string `json:"action"`
	By        string `json:"by"`
	Result    string `json:"result"`
	Reason    string `json:"reason"`
	Moved     int    `json:"moved"`
	Attempt   int    `json:"attempt"`
}

func printActions(env *cliEnv, format string, lines []json.RawMessage) error {
	switch format {
	case "json":
		return writeJSON(env.Stdout, lines)
	case "jsonl":
		for _, line := range lines {
			if err := writeJSONLine(env.Stdout, line); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "TIME\tSITUATION\tQUEUE\tEDGE\tACTION\tRESULT\tMOVED\tREASON\n")
	for _, line := range lines {
		var row actionRow
		if err := json.Unmarshal(line, &row); err != nil {
			return failedf("a line of the journal cannot be read: %w", err)
		}
		fmt.Fprintf(t, "%s\t%s\t%s/%s\t%s\t%s\t%s\t%d\t%s\n", row.Time, row.Situation, row.QMgr, cmp.Or(row.Queue, bracketed("CHANNEL", row.Channel), "QMGR"), row.Edge, row.Action, row.Result, row.Moved, oneLine(row.Reason))
	}
	return t.Flush()
}

// bracketed is MQSC's way to name an object, empty without a name.
func bracketed(noun, name string) string {
	if name == "" {
		return ""
	}
	return noun + "(" + name + ")"
}
