package config

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/situationd/situationd/situations"
)

// maxProblems is how many problems of a file are told at once.
const maxProblems = 20

// reader walks the nodes of one file and collects problems, in the form that
// rule files have too.
type reader struct {
	file     string
	lines    []string
	problems []situations.Problem
}

func (r *reader) add(n *yaml.Node, severity situations.Severity, code, help, format string, args ...any) {
	if len(r.problems) >= maxProblems {
		return
	}
	p := situations.Problem{
		File: r.file, Line: 1, Column: 1, Length: 1,
		Code: code, Severity: severity, Message: bounded(fmt.Sprintf(format, args...)),
	}
	if n != nil && n.Line > 0 {
		p.Line, p.Column = n.Line, n.Column
		if n.Kind == yaml.ScalarNode && n.Value != "" && !strings.Contains(n.Value, "\n") {
			p.Length = len([]rune(n.Value))
		}
	}
	if p.Line <= len(r.lines) {
		p.Source = r.lines[p.Line-1]
	}
	if help != "" {
		p.Help = []string{help}
	}
	r.problems = append(r.problems, p)
}

// bounded keeps a message readable when what was typed is very long.
func bounded(message string) string {
	const most = 300
	if runes := []rune(message); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return message
}

func (r *reader) errorf(n *yaml.Node, code, help, format string, args ...any) {
	r.add(n, situations.SeverityError, code, help, format, args...)
}

func (r *reader) warnf(n *yaml.Node, code, help, format string, args ...any) {
	r.add(n, situations.SeverityWarning, code, help, format, args...)
}

func (r *reader) failed() bool { return situations.HasErrors(r.problems) }
