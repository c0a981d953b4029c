package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/situations"
)

func newAttributesCommand(env *cliEnv) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "attributes [queue|channel|qmgr] [-o table|json|jsonl]",
		Short: "List every name that a formula may use, of one kind of item or of all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat("attributes", format); err != nil {
				return err
			}
			groups := situations.Groups()
			if len(args) == 1 && slices.Contains(groups, situations.Group(args[0])) {
				groups = []situations.Group{situations.Group(args[0])}
			} else if len(args) > 0 {
				return usagef("attributes: this version knows those of queue, channel and qmgr; usage: %s", cmd.UseLine())
			}
			var table []situations.Attribute
			for _, g := range groups {
				table = append(table, situations.AttributeTable(g)...)
			}
			return printAttributes(env, format, table)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	return cmd
}

func printAttributes(env *cliEnv, format string, table []situations.Attribute) error {
	for i := range table {
		if table[i].Values == nil {
			table[i].Values = []string{}
		}
	}
	switch format {
	case "json":
		return writeJSON(env.Stdout, table)
	case "jsonl":
		for _, a := range table {
			if err := writeJSONLine(env.Stdout, a); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for i, a := range table {
		if i > 0 && a.Group != table[i-1].Group {
			fmt.Fprintln(t)
		}
		if i == 0 || a.Group != table[i-1].Group {
			fmt.Fprintf(t, "NAME\tTYPE\tUNIT OR VALUES\tFROM\tMEANING OF A %s'S\n", strings.ToUpper(string(a.Group)))
		}
		unit := a.Unit
		if len(a.Values) > 0 {
			unit = strings.Join(a.Values, "|")
		}
		doc := a.Doc
		if a.Monitoring {
			doc += " (needs " + monitor(a.Group) + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", a.Name, a.Type, orDash(unit), a.Command, doc)
	}
	return t.Flush()
}

// monitor is the attribute that has a group's figures collected.
func monitor(g situations.Group) string {
	if g == situations.GroupChannel {
		return "MONCHL"
	}
	return "MONQ"
}
