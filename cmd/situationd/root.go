package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// links are the names that the binary answers to besides its own, and the verb
// that each stands for.
var links = map[string]string{
	"runmqsc": "mqsc",
	"q":       "q",
	"strmqm":  "strmqm",
	"crtmqm":  "crtmqm",
	"endmqm":  "endmqm",
	"dspmq":   "dspmq",
	"dltmqm":  "dltmqm",
}

// laterVerbs are part of the contract but not of this release.
var laterVerbs = []string{
	"cluster", "consumers",
	"replay", "import", "schema",
}

// run is the process as a function: args[0] is the name it was called by.
func run(ctx context.Context, args []string, env *cliEnv) int {
	name, words := "situationd", []string(nil)
	verbs := []string{}
	if len(args) > 0 {
		words = args[1:]
		if verb, ok := links[filepath.Base(args[0])]; ok {
			name = filepath.Base(args[0])
			env.Link = name
			words = append([]string{verb}, words...)
			verbs = []string{name, verb}
		}
	}
	root := newRoot(env)
	root.SetArgs(words)
	err := root.ExecuteContext(ctx)
	code, say := exitCode(err)
	if say {
		text := oneLine(err.Error())
		for _, verb := range verbs { // a verb names itself; called through its link it is named already
			text = strings.TrimPrefix(text, verb+": ")
		}
		fmt.Fprintf(env.Stderr, "%s: %s\n", name, text)
	}
	return code
}

// lineMax is the longest line of an error, in characters.
const lineMax = 2000

// oneLine keeps the promise that an error is one line that a person can read:
// also where a library's text has several, or where a name or a file that is
// quoted in it holds what a terminal would obey, or has no end.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	line := []rune(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text))
	if len(line) > lineMax {
		half := lineMax/2 - 1
		return string(line[:half]) + " ... " + string(line[len(line)-half:])
	}
	return string(line)
}

// flagError says what an option takes instead of which function did not like the value.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	takes := map[string]string{"int": "a whole number", "duration": "a duration such as 30s or 5m", "bool": "true or false"}
	f := bad.GetFlag()
	what, ok := takes[f.Value.Type()]
	if !ok {
		return err
	}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand
	}
	return fmt.Errorf("%s takes %s, not %q", name, what, bad.GetValue())
}

func newRoot(env *cliEnv) *cobra.Command {
	root := &cobra.Command{
		Use:   "situationd VERB",
		Short: "Takes queue instances that nobody reads out of an IBM MQ cluster's balancing",
		Long: "situationd samples the queues of a queue manager, evaluates situations and acts once\n" +
			"when one becomes true. Start with: situationd demo",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s: %w; see %s --help", verbOf(cmd), flagError(err), cmd.CommandPath())
	})
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownVerb(root, args[0])
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		cmd.SetOut(env.Stderr)
		_ = cmd.Help() // writes to stderr; there is nobody to tell if that fails
		return exitSilently(exitUsage)
	}
	root.AddCommand(houseVerbs(env)...)
	root.AddCommand(engineVerbs(env)...)
	for _, verb := range laterVerbs {
		root.AddCommand(laterVerb(verb))
	}
	return root
}

func unknownVerb(root *cobra.Command, typed string) error {
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(typed); len(near) > 0 && len(near[0]) > root.SuggestionsMinimumDistance {
		return usagef("there is no verb %s; did you mean %s?", typed, near[0])
	}
	return usagef("there is no verb %s; see situationd --help", typed)
}

func laterVerb(verb string) *cobra.Command {
	return &cobra.Command{
		Use:                verb,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return usagef("%s: this verb comes with a later release", verb)
		},
	}
}

// exactly is a check of positional arguments that exits 2 with the usage line.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s takes %s; usage: %s", verbOf(cmd), arguments(n), cmd.UseLine())
		}
		return nil
	}
}

// verbOf is what was typed behind the program's name: explain routing.
func verbOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// atLeast is the same with a lower bound.
func atLeast(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return usagef("%s takes at least %s; usage: %s", verbOf(cmd), arguments(n), cmd.UseLine())
		}
		return nil
	}
}

func arguments(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "one argument"
	default:
		return fmt.Sprintf("%d arguments", n)
	}
}
