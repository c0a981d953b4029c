package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/situations"
)

func newAttributesCommand(env *cliEnv) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "attributes [queue] [-o table|json|jsonl]",
		Short: "List every name that a formula may use",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat("attributes", format); err != nil {
				return err
			}
			if len(args) > 1 || (len(args) == 1 && args[0] != "queue") {
				return usagef("attributes: this version knows those of a queue; usage: %s", cmd.UseLine())
			}
			return printAttributes(env, format, situations.AttributeTable())
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
	fmt.Fprintf(t, "NAME\tTYPE\tUNIT OR VALUES\tFROM\tMEANING\n")
	for _, a := range table {
		unit := a.Unit
		if len(a.Values) > 0 {
			unit = strings.Join(a.Values, "|")
		}
		doc := a.Doc
		if a.Monitoring {
			doc += " (needs MONQ)"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", a.Name, a.Type, orDash(unit), a.Command, doc)
	}
	return t.Flush()
}
