package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newManCommand(env *cliEnv) *cobra.Command {
	return &cobra.Command{
		Use:   "man [VERB]",
		Short: "Print the manual page of situationd or of one verb",
		RunE: func(cmd *cobra.Command, args []string) error {
			page := cmd.Root()
			if len(args) > 1 {
				return usagef("man takes one verb; usage: %s", cmd.UseLine())
			}
			if len(args) == 1 {
				page = findVerb(cmd.Root(), args[0])
				if page == nil {
					return unknownVerb(cmd.Root(), args[0])
				}
			}
			return writeManPage(env.Stdout, page)
		},
	}
}

func findVerb(root *cobra.Command, name string) *cobra.Command {
	for _, verb := range root.Commands() {
		if verb.Name() == name && !verb.Hidden {
			return verb
		}
	}
	return nil
}

// writeManPage prints the command's help as troff with the man macros.
func writeManPage(w io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	title := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	section := "1"
	if !cmd.HasParent() {
		section = "8"
	}
	fmt.Fprintf(&b, ".TH %s %s \"\" \"situationd %s\"\n", strings.ToUpper(title), section, readBuildInfo().Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", troff(title), troff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", troff(cmd.UseLine()))
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", troff(text))
	if cmd.HasAvailableSubCommands() {
		b.WriteString(".SH VERBS\n")
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", troff(verb.Name()), troff(verb.Short))
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { writeManFlag(&b, f) })
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", troff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0 success, 1 errors found or run failed, 2 usage or unreadable input, " +
		"4 queue manager or daemon unreachable, 5 refused.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeManFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", troff(name), troff(f.Usage))
}

// troff escapes what the formatter would take for its own.
func troff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
