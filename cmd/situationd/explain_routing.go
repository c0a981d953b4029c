package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// newExplainRoutingCommand asks a queue manager where a message would go, and why.
func newExplainRoutingCommand(env *cliEnv) *cobra.Command {
	var from, bind, format string
	var req qmgr.ExplainReq
	cmd := &cobra.Command{
		Use:   "routing QUEUE --from QM [--bind notfixed|open|group] [--qmgr QM2] [--arriving] [-o table|json|jsonl]",
		Short: "Show step by step which instance a message would go to, and why",
		Long: "explain routing asks the queue manager that a message is put on; no daemon is needed. It shows what\n" +
			"each step of the workload algorithm makes of each instance. Nothing is put, and the next choice is what\n" +
			"it would have been. It exits with 0 if it could explain, also that a put would fail, and with 1 if the\n" +
			"name leads nowhere.",
		Example: "  situationd explain routing DCQ1 --from QM1\n  situationd explain routing REPLIES --from QM2 --qmgr QM1 -o json",
		Args:    exactly(1),
	}
	data := dataFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "the queue manager that the message is put on (optional if one runs)")
	flags.StringVar(&bind, "bind", "asqdef", "how the queue is opened: open, notfixed or group; asqdef takes the instance's DEFBIND")
	flags.StringVar(&req.QMgr, "qmgr", "", "the queue manager that the putter names, as for a reply")
	flags.BoolVar(&req.Arriving, "arriving", false, "the message comes to that queue manager over a cluster channel")
	flags.StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req.Queue = args[0]
		var err error
		if req.Bind, err = bindOptionOf(bind); err != nil {
			return err
		}
		if err := checkFormat("explain routing", format); err != nil {
			return err
		}
		if req.Queue == "" {
			return usagef("explain routing: the queue's name is empty")
		}
		dir, err := env.dataDir(*data)
		if err != nil {
			return err
		}
		return engineExit(env.explainRouting(cmd.Context(), dir, from, req, format))
	}
	return cmd
}

func bindOptionOf(word string) (int32, error) {
	switch strings.ToLower(word) {
	case "asqdef":
		return 0, nil
	case "open":
		return mqi.MQOO_BIND_ON_OPEN, nil
	case "notfixed":
		return mqi.MQOO_BIND_NOT_FIXED, nil
	case "group":
		return mqi.MQOO_BIND_ON_GROUP, nil
	}
	return 0, usagef("explain routing: --bind is open, notfixed, group or asqdef, not %q", word)
}

func (e *cliEnv) explainRouting(ctx context.Context, dir, from string, req qmgr.ExplainReq, format string) error {
	conn, err := e.connect(ctx, dir, from, "explain")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Disconnect(ctx) }() // nothing to commit
	res, err := conn.Explain(ctx, req)
	if err != nil {
		var failed *mqi.Error
		if errors.As(err, &failed) && failed.Detail != "" {
			return failedf("explain routing %s: %s: %s", req.Queue, failed.Reason, failed.Detail)
		}
		return err
	}
	if format == "table" {
		return printRouting(e.Stdout, res)
	}
	for _, note := range res.Notes {
		if _, err := fmt.Fprintf(e.Stderr, "%s\n", oneLine(note)); err != nil {
			return err
		}
	}
	data := *res
	data.Notes = nil
	if format == "json" {
		return writeJSON(e.Stdout, &data)
	}
	return writeJSONLine(e.Stdout, &data)
}

// routingColumns is how many instances have a column each; of more only those that fall out are named.
const routingColumns = 6

// printRouting prints the elimination table.
func printRouting(w io.Writer, x *qmgr.Explanation) error {
	var b strings.Builder
	binds := map[string]string{"open": "bind on open", "notfixed": "bind not fixed", "group": "bind on group"}
	how := "put on"
	if x.Arriving {
		how = "arriving over a cluster channel at"
	}
	fmt.Fprintf(&b, "%s, %s %s, %s", x.Queue, how, x.From, binds[x.Bind])
	if x.QMgr != "" {
		fmt.Fprintf(&b, ", to queue manager %s", x.QMgr)
	}
	if x.Workload != "modern" {
		fmt.Fprintf(&b, ", workload %s", x.Workload)
	}
	b.WriteString("\n")
	for _, p := range x.Path {
		fmt.Fprintf(&b, "through %s\n", p)
	}
	if columns := routingTable(x); len(columns) > 0 && len(columns) <= routingColumns {
		printColumns(&b, x, columns)
	} else if len(columns) > 0 {
		printFallen(&b, x)
	}
	switch {
	case x.Chosen == nil:
		fmt.Fprintf(&b, "=> nobody: a put gets %s\n", x.Reason)
	case len(x.Share) > 1:
		fmt.Fprintf(&b, "=> %s; the next message goes to %s\n", qmgr.Shares(x.Share), *x.Chosen)
	default:
		fmt.Fprintf(&b, "=> %s gets 100 %%\n", *x.Chosen)
	}
	for _, note := range x.Notes {
		fmt.Fprintf(&b, "%s\n", oneLine(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// way is one column: a queue manager, and the channel if there are several to it.
type way struct{ qmgr, channel string }

func (w way) String() string {
	if w.channel == "" {
		return w.qmgr
	}
	return w.qmgr + "/" + w.channel
}

// routingTable gives the columns: everyone who was there at the beginning.
func routingTable(x *qmgr.Explanation) []way {
	if len(x.Steps) == 0 {
		return nil
	}
	var out []way
	for _, v := range x.Steps[0].Candidates {
		out = append(out, way{v.QMgr, v.Channel})
	}
	return out
}

func printColumns(b *strings.Builder, x *qmgr.Explanation, columns []way) {
	rows := [][]string{{"step"}}
	for _, c := range columns {
		rows[0] = append(rows[0], c.String())
	}
	for _, s := range x.Steps {
		row := []string{fmt.Sprintf("%2d %s", s.Number, s.Step)}
		for i, next := 0, 0; i < len(columns); i++ {
			cell := "-"
			if next < len(s.Candidates) && (way{s.Candidates[next].QMgr, s.Candidates[next].Channel}) == columns[i] {
				v := s.Candidates[next]
				next++
				cell = v.Value + " " + verdictWord(s.Number, v.Kept)
			}
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s  ", widths[i], cell)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// verdictWord: at the last step nobody falls out, it is another's turn.
func verdictWord(number int, kept bool) string {
	switch {
	case number == lastStep && kept:
		return "next"
	case number == lastStep:
		return ""
	case kept:
		return "keep"
	default:
		return "out"
	}
}

// lastStep is the choice by weight among those that are left.
const lastStep = 15

// printFallen prints for each step how many were left, and who fell out.
func printFallen(b *strings.Builder, x *qmgr.Explanation) {
	for _, s := range x.Steps {
		kept := 0
		var out []string
		for _, v := range s.Candidates {
			if v.Kept {
				kept++
			} else {
				out = append(out, way{v.QMgr, v.Channel}.String()+" "+v.Value)
			}
		}
		if s.Number == lastStep {
			fmt.Fprintf(b, "%2d %-17s %d left\n", s.Number, s.Step, len(s.Candidates))
			continue
		}
		fmt.Fprintf(b, "%2d %-17s %d of %d stay", s.Number, s.Step, kept, len(s.Candidates))
		const most = 8
		if n := len(out); n > most {
			out = append(out[:most], fmt.Sprintf("and %d more", n-most))
		}
		if len(out) > 0 {
			fmt.Fprintf(b, "; out: %s", strings.Join(out, ", "))
		}
		b.WriteString("\n")
	}
}
