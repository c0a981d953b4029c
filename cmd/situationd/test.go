package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/situations"
)

func newTestCommand(env *cliEnv) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "test [-o text|json|jsonl] FILE...",
		Short: "Run rule tests on a virtual clock, with the daemon's own code",
		Args:  atLeast(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if format != "text" {
				if err := checkFormat("test", format); err != nil || format == "table" {
					return usagef("test: -o is text, json or jsonl, not %q", format)
				}
			}
			reports, err := runTests(env, args)
			if err != nil {
				return err
			}
			return printReports(env, format, reports)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, json or jsonl")
	return cmd
}

// runRuleTests runs one rule-test file. The report is nil if the problems kept it from running.
func runRuleTests(name string, text []byte) (*situations.TestReport, []situations.Problem, error) {
	var broken error
	report, problems := situations.RunTests(situations.File{Name: name, Data: text}, situations.TestOptions{
		Read: readFile,
		Actor: func(qmgr string, grace time.Duration) situations.Actor {
			actor, err := adapt.NewTestActor(qmgr, grace)
			if err != nil {
				broken = err
			}
			return actor
		},
	})
	return report, problems, broken
}

// runTests runs every file. Problems of the files are told on stdout, as check does.
func runTests(env *cliEnv, names []string) ([]*situations.TestReport, error) {
	reports := []*situations.TestReport{}
	wrong := false
	for _, name := range names {
		text, err := readFile(name)
		if err != nil {
			return nil, usagef("test: %w", err)
		}
		if kindOf(text) != testFile {
			return nil, usagef("test: %s holds no tests; check it with situationd check", name)
		}
		report, problems, err := runRuleTests(name, text)
		if err != nil {
			return nil, failedf("test: %w", err)
		}
		if len(problems) > 0 {
			if _, err := env.Stderr.Write(situations.FormatText(problems)); err != nil {
				return nil, failedf("test: %w", err)
			}
		}
		if report == nil {
			wrong = true
			continue
		}
		reports = append(reports, report)
	}
	if wrong {
		return nil, exitSilently(exitFailed)
	}
	return reports, nil
}

func printReports(env *cliEnv, format string, reports []*situations.TestReport) error {
	passed := true
	for _, report := range reports {
		passed = passed && report.Passed()
	}
	var err error
	switch format {
	case "json":
		err = writeJSON(env.Stdout, reports)
	case "jsonl":
		for _, report := range reports {
			for _, test := range report.Tests {
				if err = writeJSONLine(env.Stdout, test); err != nil {
					break
				}
			}
		}
	default:
		err = writeReports(env, reports)
	}
	if err != nil {
		return failedf("test: %w", err)
	}
	if !passed {
		return exitSilently(exitFailed)
	}
	return nil
}

func writeReports(env *cliEnv, reports []*situations.TestReport) error {
	tests, failed, checked := 0, 0, 0
	for _, report := range reports {
		for _, test := range report.Tests {
			tests++
			checked += test.Checked
			word := "ok  "
			if len(test.Failures) > 0 {
				failed++
				word = "FAIL"
			}
			if _, err := fmt.Fprintf(env.Stdout, "%s  %s: %s (%d expectations)\n", word, report.File, test.Name, test.Checked); err != nil {
				return err
			}
			for i := range test.Failures {
				if _, err := fmt.Fprint(env.Stdout, test.Failures[i].String()); err != nil {
					return err
				}
			}
		}
	}
	_, err := fmt.Fprintf(env.Stdout, "%d tests, %d expectations, %d tests failed\n", tests, checked, failed)
	return err
}
