package config

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// Problem is one thing wrong in a file, where it is, and how to put it right.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Length   int      `json:"length"`
	Code     string   `json:"code"`
	Severity string   `json:"severity"` // error or warning
	Message  string   `json:"message"`
	Help     []string `json:"help"`
	Source   string   `json:"-"` // the line itself
}

// Error is the problem's first line, which greps and opens in an editor.
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", p.File, p.Line, p.Column, p.Severity, p.Message, p.Code)
}

// maxProblems is how many problems of a file are told at once.
const maxProblems = 20

// reader walks the nodes of one file and collects problems.
type reader struct {
	file     string
	lines    []string
	problems []Problem
}

func (r *reader) add(n *yaml.Node, severity, code, help, format string, args ...any) {
	if len(r.problems) >= maxProblems {
		return
	}
	p := Problem{File: r.file, Line: 1, Column: 1, Length: 1, Code: code, Severity: severity, Message: fmt.Sprintf(format, args...), Help: []string{}}
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
		p.Help = append(p.Help, help)
	}
	r.problems = append(r.problems, p)
}

func (r *reader) errorf(n *yaml.Node, code, help, format string, args ...any) {
	r.add(n, "error", code, help, format, args...)
}

func (r *reader) warnf(n *yaml.Node, code, help, format string, args ...any) {
	r.add(n, "warning", code, help, format, args...)
}

func (r *reader) failed() bool {
	for _, p := range r.problems {
		if p.Severity == "error" {
			return true
		}
	}
	return false
}
