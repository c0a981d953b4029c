package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/situations"
)

// fileKind is what a YAML file is for, told by its keys.
type fileKind int

const (
	ruleFile fileKind = iota
	testFile
	daemonFile
)

// kindOf looks at the keys at the top of a file. What cannot be read as YAML is
// taken for a rule file, whose reader explains what is wrong with it.
func kindOf(text []byte) fileKind {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return ruleFile
	}
	top := doc.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		switch top.Content[i].Value {
		case "queue_manager":
			return daemonFile
		case "rule_files", "tests":
			return testFile
		case "situations":
			return ruleFile
		}
	}
	return ruleFile
}

func newCheckCommand(env *cliEnv) *cobra.Command {
	var (
		format string
		print  bool
	)
	cmd := &cobra.Command{
		Use:   "check [--print] [-o text|json|jsonl|github] FILE...",
		Short: "Check rule files, rule-test files and daemon files",
		Args:  atLeast(1),
		RunE: func(_ *cobra.Command, args []string) error {
			show, ok := problemFormats[format]
			if !ok {
				return usagef("check: -o is text, json, jsonl or github, not %q", format)
			}
			var problems []situations.Problem
			findings := env.Stdout
			for _, name := range args {
				found, effective, err := checkFile(name)
				if err != nil {
					return usagef("check: %w", err)
				}
				problems = appendNew(problems, found)
				if print && !situations.HasErrors(found) {
					if _, err := env.Stdout.Write(effective); err != nil {
						return failedf("check: %w", err)
					}
					findings = env.Stderr // what is printed is a file again, and warnings have no place in it
				}
			}
			if len(problems) > 0 || format == "json" {
				if _, err := findings.Write(show(problems)); err != nil {
					return failedf("check: %w", err)
				}
			}
			return summary(env, args, problems)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, json, jsonl or github")
	cmd.Flags().BoolVar(&print, "print", false, "print each file as it is understood, defaults and short forms written out; findings then go to stderr")
	return cmd
}

// problemFormats are the forms in which problems are shown.
var problemFormats = map[string]func([]situations.Problem) []byte{
	"text":   situations.FormatText,
	"json":   situations.FormatJSON,
	"jsonl":  situations.FormatJSONLines,
	"github": situations.FormatGitHub,
}

// appendNew adds problems that are not in the list yet: several daemon files may
// name one rule file.
func appendNew(list, found []situations.Problem) []situations.Problem {
	for _, p := range found {
		known := slices.ContainsFunc(list, func(q situations.Problem) bool { return q.String() == p.String() })
		if !known {
			list = append(list, p)
		}
	}
	return list
}

// summary says on stderr how it went, and makes the exit code.
func summary(env *cliEnv, files []string, problems []situations.Problem) error {
	errs, warnings := 0, 0
	for _, p := range problems {
		if p.Severity == situations.SeverityError {
			errs++
		} else {
			warnings++
		}
	}
	fmt.Fprintf(env.Stderr, "%d files, %d errors, %d warnings\n", len(files), errs, warnings)
	if errs > 0 {
		return exitSilently(exitFailed)
	}
	return nil
}

// checkFile checks one file by what it is. The error says that it cannot be read.
func checkFile(name string) (problems []situations.Problem, effective []byte, err error) {
	text, err := readFile(name)
	if err != nil {
		return nil, nil, err
	}
	switch kindOf(text) {
	case daemonFile:
		return checkDaemonFile(name)
	case testFile:
		_, problems, err := runRuleTests(name, text) // whether they pass is the test verb's to say
		return problems, text, err
	default:
		rules, problems := situations.Load(situations.File{Name: name, Data: text})
		if rules == nil {
			return problems, nil, nil
		}
		problems = append(problems, app.CheckCommands(rules, nil)...)
		return problems, situations.Print(rules), nil
	}
}

func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", name)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	if info.Size() > 4<<20 {
		return nil, fmt.Errorf("%s is larger than 4 MiB", name)
	}
	return os.ReadFile(name)
}

// checkDaemonFile checks a daemon file and the rule files that it names.
func checkDaemonFile(name string) ([]situations.Problem, []byte, error) {
	cfg, problems, err := config.Load(name)
	if err != nil || cfg == nil {
		return problems, nil, err
	}
	files, err := cfg.RuleFiles()
	if err != nil {
		return problems, nil, err
	}
	_, found, err := app.ReadRules(files, cfg.MQSCAllow)
	if err != nil {
		return problems, nil, err
	}
	var effective bytes.Buffer
	if err := cfg.Print(&effective); err != nil {
		return problems, nil, err
	}
	return append(problems, found...), effective.Bytes(), nil
}
