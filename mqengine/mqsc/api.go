package mqsc

import (
	"io"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// Error is a syntax error in one command.
type Error struct {
	ID      string   // AMQ8412E: the message that says what is wrong
	Text    string   // one sentence for a person: the offending token and what is allowed
	Token   string   // the offending token as typed; blank if something is missing
	Segment string   // the command as typed up to and including the token
	Pos     int      // byte offset of the token in the command
	Valid   []string // words that would be right here, if they can be listed
}

func (e *Error) Error() string { return e.ID + ": " + e.Text }

// Responses is how a report shows the error: AMQ8405I with the segment, then the message.
func (e *Error) Responses() []Response {
	return []Response{Reply("AMQ8405I", e.Segment), {ID: e.ID, Text: e.Text}}
}

// Reply makes a response of a message id and its inserts.
func Reply(id string, inserts ...string) Response {
	return Response{ID: id, Text: mqi.AMQ(id, inserts...)}
}

// Parse reads one complete logical command, without its terminating semicolon.
func Parse(text string) (*Command, *Error) {
	return nil, &Error{ID: "AMQ8405I"}
}

// String prints the command canonically; Parse of it gives the same command but for Text.
func (c *Command) String() string { return c.Text }

// Apply sets the parameters of a DEFINE or ALTER on o. The error names keyword and value.
func (c *Command) Apply(o *object.Object) error {
	for _, p := range c.Params {
		if err := o.Set(p.Keyword, p.Values...); err != nil {
			return err
		}
	}
	return nil
}

// Wanted picks from a DISPLAY-ordered list the attributes that this DISPLAY shows.
func (c *Command) Wanted(attrs []*object.Attr) []*object.Attr { return attrs }

// Match reports whether the field satisfies the filter. The field must be that of w.Keyword.
func (w *Where) Match(f Field) bool { return false }

// Generic reports whether name matches a pattern: a trailing * stands for anything.
func Generic(pattern, name string) bool { return pattern == name }

// Line is one raw line and how to echo it: with the command's number, or 0 for
// a continuation, comment or blank line.
type Line struct {
	Number int
	Text   string
}

// Item is a command of an input file, or the comments and blank lines between commands.
type Item struct {
	Lines  []Line
	Text   string // the logical command; blank if there are only comments
	Number int    // the command's number; 0 if there is none
	Line   int    // line in the input where the command begins, from 1
	End    bool   // END, EXIT or QUIT
	Err    *Error // the command is too long to read
}

// Reader splits an input into commands by the rules of runmqsc.
type Reader struct{ r io.Reader }

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next gives the next item; io.EOF at the end.
func (r *Reader) Next() (Item, error) { return Item{}, io.EOF }

// Printer writes a report in the layout of runmqsc and counts as it goes.
// The first error of the writer sticks.
type Printer struct{ w io.Writer }

// NewPrinter writes to w; echo repeats the commands.
func NewPrinter(w io.Writer, echo bool) *Printer { return &Printer{w: w} }

// Header is the banner and the line that names the queue manager.
func (p *Printer) Header(qmgr string) {}

// Echo repeats an item's lines, and counts its command.
func (p *Printer) Echo(it Item) {}

// Result prints what the queue manager answered, and counts a failure.
func (p *Printer) Result(r Result) {}

// SyntaxError prints and counts a command that did not parse.
func (p *Printer) SyntaxError(e *Error) {}

// Responses prints replies without counting anything (AMQ8118E before the first command).
func (p *Printer) Responses(rs ...Response) {}

// Summary prints the closing lines; with verify only the first two.
func (p *Printer) Summary(verify bool) {}

// ExitCode is 0, or 10 if a command failed or had a syntax error.
func (p *Printer) ExitCode() int { return 0 }

// Err is the first error of the writer.
func (p *Printer) Err() error { return nil }

// ExitNotRun is the exit code of a run that could not start: no queue manager, wrong options.
const ExitNotRun = 20

// ParseResponses reads runmqsc output back: every AMQ record with its fields.
// Banner, echo, summary and what it does not know are skipped.
func ParseResponses(text string) []Response { return nil }
