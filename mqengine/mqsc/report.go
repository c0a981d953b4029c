package mqsc

import (
	"fmt"
	"io"
)

// Exit codes of runmqsc.
const (
	ExitOK     = 0
	ExitFailed = 10 // a command failed or had a syntax error
	ExitNotRun = 20 // nothing was run: no queue manager, wrong options
)

// Banner is the first line of a report. Tools that read reports skip it.
const Banner = "situationd: MQSC of an embedded queue manager"

// Printer writes a report in the layout of runmqsc and counts as it goes. The
// first error of the writer sticks: Err tells it.
type Printer struct {
	w      io.Writer
	echo   bool
	err    error
	read   int
	syntax int
	failed int
}

// NewPrinter writes to w; echo repeats the commands.
func NewPrinter(w io.Writer, echo bool) *Printer { return &Printer{w: w, echo: echo} }

func (p *Printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// Header is the banner and the line that names the queue manager.
func (p *Printer) Header(qmgr string) {
	p.printf("%s\nStarting MQSC for queue manager %s.\n\n\n", Banner, qmgr)
}

// Echo repeats an item's lines and counts its command; END is not counted.
func (p *Printer) Echo(it Item) {
	if it.Number > 0 && !it.End {
		p.read++
	}
	if !p.echo {
		return
	}
	for _, l := range it.Lines {
		if l.Number > 0 {
			p.printf("%6d : %s\n", l.Number, l.Text)
		} else {
			p.printf("       : %s\n", l.Text)
		}
	}
}

// Result prints what the queue manager answered, and counts a failure.
func (p *Printer) Result(r Result) {
	if r.Failed {
		p.failed++
	}
	p.Responses(r.Responses...)
}

// Remote prints what another queue manager's command server answered, and counts
// a failure. Its text is not believed to be fit for a terminal.
func (p *Printer) Remote(failed bool, text string) {
	if failed {
		p.failed++
	}
	p.printf("%s", printable(text, '\n'))
}

// SyntaxError prints and counts a command that did not parse.
func (p *Printer) SyntaxError(e *Error) {
	p.syntax++
	p.Responses(e.Responses()...)
}

// Responses prints replies without counting anything.
func (p *Printer) Responses(rs ...Response) {
	for _, r := range rs {
		if p.err == nil {
			_, p.err = p.w.Write(r.AppendText(nil))
		}
	}
}

// Summary prints the closing lines. With verify nothing was run, so the line
// about processing is left out.
func (p *Printer) Summary(verify bool) {
	switch p.read {
	case 0:
		p.printf("No MQSC commands read.\n")
	case 1:
		p.printf("One MQSC command read.\n")
	default:
		p.printf("%d MQSC commands read.\n", p.read)
	}
	switch p.syntax {
	case 0:
		p.printf("No commands have a syntax error.\n")
	case 1:
		p.printf("One command has a syntax error.\n")
	default:
		p.printf("%d commands have a syntax error.\n", p.syntax)
	}
	if verify {
		return
	}
	switch p.failed {
	case 0:
		p.printf("All valid MQSC commands were processed.\n")
	case 1:
		p.printf("One valid MQSC command could not be processed.\n")
	default:
		p.printf("%d valid MQSC commands could not be processed.\n", p.failed)
	}
}

// ExitCode is ExitFailed if a command failed or had a syntax error, else ExitOK.
func (p *Printer) ExitCode() int {
	if p.failed > 0 || p.syntax > 0 {
		return ExitFailed
	}
	return ExitOK
}

// Counts are the commands read, those with a syntax error and those that failed.
func (p *Printer) Counts() (read, syntax, failed int) { return p.read, p.syntax, p.failed }

// Err is the first error of the writer.
func (p *Printer) Err() error { return p.err }
