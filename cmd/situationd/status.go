package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// watchEvery is how often --watch asks.
const watchEvery = 500 * time.Millisecond

func newStatusCommand(env *cliEnv) *cobra.Command {
	var (
		which  daemonFlags
		format string
		watch  bool
	)
	cmd := &cobra.Command{
		Use:   "status [--watch] [-o table|json|jsonl]",
		Short: "Print what the daemon knows: situations, queues, messages being moved",
		Args:  exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat("status", format); err != nil {
				return err
			}
			client, err := which.find(env)
			if err != nil {
				return err
			}
			print := statusPrinter(env.Stdout, format)
			if !watch {
				var status httpapi.Status
				if err := client.get(cmd.Context(), "/api/v1/status", &status); err != nil {
					return err
				}
				return print(&status)
			}
			return watchStatus(cmd.Context(), client, print)
		},
	}
	which.register(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table, json or jsonl")
	cmd.Flags().BoolVar(&watch, "watch", false, "print again whenever something changed, until interrupted")
	return cmd
}

// watchStatus prints the status whenever it is another than before.
func watchStatus(ctx context.Context, client *daemonClient, print func(*httpapi.Status) error) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	var last []byte
	for {
		var status httpapi.Status
		if err := client.get(ctx, "/api/v1/status", &status); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if now := fingerprint(status); !bytes.Equal(now, last) {
			last = now
			if err := print(&status); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// fingerprint is the status without what changes by itself.
func fingerprint(s httpapi.Status) []byte {
	queues := make([]httpapi.Queue, len(s.Queues))
	copy(queues, s.Queues)
	for i := range queues {
		queues[i].AgeS = 0
	}
	s.Queues = queues
	var b bytes.Buffer
	if err := writeJSONLine(&b, s); err != nil {
		return nil // then it is printed
	}
	return b.Bytes()
}

func statusPrinter(w io.Writer, format string) func(*httpapi.Status) error {
	switch format {
	case "json":
		return func(s *httpapi.Status) error { return writeJSON(w, s) }
	case "jsonl":
		return func(s *httpapi.Status) error { return writeJSONLine(w, s) }
	default:
		return func(s *httpapi.Status) error { return writeStatusTable(w, s) }
	}
}

func writeStatusTable(w io.Writer, s *httpapi.Status) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s%s, %d situations, rules %s", s.QMgr, readiness(s.Ready), observing(s.Observe), s.Rules.Situations, orDash(short(s.Rules.Revision)))
	if !s.Rules.LoadedAt.IsZero() {
		fmt.Fprintf(&b, " of %s", s.Rules.LoadedAt.UTC().Format(time.RFC3339))
	}
	b.WriteByte('\n')
	if s.Rules.Error != "" {
		fmt.Fprintf(&b, "the last reload failed, the rules before it are in force: %s\n", oneLine(s.Rules.Error))
	}
	for i := range s.Holds {
		h := &s.Holds[i]
		until, reason := "", ""
		if h.Until != nil {
			until = " until " + moment(h.Until)
		}
		if h.Reason != "" {
			reason = ": " + h.Reason
		}
		fmt.Fprintf(&b, "held: %s by %s since %s%s%s\n", h.Queue, h.By, moment(&h.Since), until, oneLine(reason))
	}
	for _, name := range s.Breaker {
		fmt.Fprintf(&b, "the breaker of %s is open: too many items at once; situationd release --situation %s lets its actions go on\n", name, name)
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nSITUATION\tQUEUE\tSTATE\tVERDICT\tSINCE\tINTENT\tHELD\n")
	for _, i := range s.Items {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i.Situation, i.Name(), flapping(i), i.Verdict, moment(i.Since), orDash(i.Intent), orDash(strings.Join(i.Held, ",")))
	}
	t.Flush()
	fmt.Fprintf(t, "\nQUEUE\tCLUSTER\tQMGR\tSOURCE\tIPPROCS\tOPPROCS\tCURDEPTH\tPUT\tCLWLRANK\tCLWLPRTY\tAGE\n")
	for _, q := range s.Queues {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1fs\n", q.Queue, orDash(q.Cluster), q.QMgr, q.Source,
			count(q.IPProcs), count(q.OPProcs), count(q.CurDepth), text(q.Put), count(q.ClwlRank), count(q.ClwlPrty), q.AgeS)
	}
	t.Flush()
	if len(s.Jobs) > 0 {
		fmt.Fprintf(t, "\nMOVING\tQMGR\tSTATE\tMOVED\tREMAINING\tRATE\tADDRESSED\tGROUPED\tPOISON\n")
		for _, j := range s.Jobs {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%.0f/s\t%d\t%d\t%d\n", j.Queue, j.QMgr, j.State, j.Moved, j.Remaining, j.Rate,
				j.Skipped.Addressed, j.Skipped.Grouped, j.Skipped.Poison)
		}
		t.Flush()
	}
	_, err := b.WriteTo(w)
	return err
}

func readiness(ready bool) string {
	if ready {
		return "ready"
	}
	return "not ready"
}

func observing(observe bool) string {
	if observe {
		return ", OBSERVE ONLY"
	}
	return ""
}

func flapping(i httpapi.Item) string {
	if i.Flapping {
		return i.State + " (flapping)"
	}
	return i.State
}

func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func short(revision string) string {
	if len(revision) > 12 {
		return revision[:12]
	}
	return revision
}

func count(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
