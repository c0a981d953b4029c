package main

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

func newExplainSituationCommand(env *cliEnv) *cobra.Command {
	var (
		which  daemonFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "situation NAME [QUEUE]",
		Short: "Say why a situation is as it is: the formula with its values, since when, what holds it",
		Long: "NAME is a situation, or an availability's name for both of its situations. Without QUEUE all\n" +
			"of its items are explained.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return usagef("explain situation takes a name and perhaps a queue; usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat("explain situation", format); err != nil {
				return err
			}
			client, err := which.find(env)
			if err != nil {
				return err
			}
			query := url.Values{"name": {args[0]}}
			if len(args) == 2 {
				query.Set("queue", args[1])
			}
			var answer struct {
				Items []httpapi.Explanation `json:"items"`
			}
			if err := client.get(cmd.Context(), "/api/v1/explain/situation?"+query.Encode(), &answer); err != nil {
				return err
			}
			switch format {
			case "json":
				return writeJSON(env.Stdout, answer.Items)
			case "jsonl":
				return writeLines(env, answer.Items)
			}
			return printExplanations(env, answer.Items)
		},
	}
	which.register(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	return cmd
}

func printExplanations(env *cliEnv, list []httpapi.Explanation) error {
	var b bytes.Buffer
	for i := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		x := &list[i]
		fmt.Fprintf(&b, "%s of %s on %s: %s, %s since %s\n", x.Situation, x.Name(), x.QMgr, x.State, x.Verdict, moment(x.Since))
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		explainFormula(t, "formula", &x.Formula)
		if x.Recovery != nil {
			explainFormula(t, "recovery", x.Recovery)
		}
		for _, line := range explainLines(x) {
			fmt.Fprintf(t, "  %s\t%s\n", line[0], oneLine(line[1]))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	_, err := b.WriteTo(env.Stdout)
	return err
}

func explainFormula(t *tabwriter.Writer, name string, f *httpapi.ExplainedFormula) {
	fmt.Fprintf(t, "  %s\t%s\tis %s\n", name, oneLine(f.Text), f.Result)
	for _, p := range f.Parts {
		values := p.Values
		if values == "" {
			values = p.Text
		}
		fmt.Fprintf(t, "  \t  %s\t%s\t%s\n", oneLine(p.Text), oneLine(values), p.Result)
	}
}

// explainLines are what there is to say besides the conditions.
func explainLines(x *httpapi.Explanation) [][2]string {
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	add("sampled", moment(x.Sampled))
	if x.Opened != nil {
		add("opened", moment(x.Opened))
	}
	add("progress", x.Progress)
	if x.Acted != nil {
		add("acted", moment(x.Acted))
	}
	add("intent", x.Intent)
	for _, h := range x.Held {
		add("held", h.Guard+": "+h.Reason)
	}
	add("failure", x.Failure)
	for _, r := range x.Remarks {
		add("remark", r)
	}
	for i := range x.Lowered {
		l := &x.Lowered[i]
		what := fmt.Sprintf("%s(%s), found %s, since %s, by %s", l.Attribute, l.Value, text(l.Before), moment(l.Since), strings.TrimSpace(whose(l)))
		if l.Back == httpapi.BackWould {
			what += "; " + notDone
		}
		add("lowered", what)
	}
	return out
}
