package mqsc

import (
	"errors"
	"fmt"
	"strings"

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

// Responses is how a report shows the error: AMQ8405I with the segment, as MQ
// does, then the message that says what is wrong.
func (e *Error) Responses() []Response {
	return []Response{Reply("AMQ8405I", e.Segment), {ID: e.ID, Text: e.Text}}
}

// Reply makes a response of a message id and its inserts.
func Reply(id string, inserts ...string) Response {
	return Response{ID: id, Text: mqi.AMQ(id, inserts...)}
}

// The messages of syntax errors. MQ prints AMQ8405I for all of them; the second
// message is the one of its list whose text fits the fault best.
const (
	idParser    = "AMQ8410E" // brackets, apostrophes, characters
	idDuplicate = "AMQ8411E"
	idRange     = "AMQ8412E"
	idLength    = "AMQ8413E"
	idMissing   = "AMQ8421E"
	idName      = "AMQ8424E"
	idValue     = "AMQ8425E"
	idVerb      = "AMQ8426I"
	idKeyword   = "AMQ8427I" // unknown noun or keyword: MQ shows the syntax of the command
)

// maxSegment bounds how much of a command an error repeats.
const maxSegment = 2000

// fail makes an error at a span of the command.
func (p *parser) fail(id string, at word, format string, args ...any) *Error {
	detail := fmt.Sprintf(format, args...)
	text := mqi.AMQ(id, detail)
	if id == idVerb || id == idKeyword {
		text = detail
	}
	segment := p.text[:at.end]
	if len(segment) > maxSegment {
		segment = segment[:maxSegment] + "..."
	}
	return &Error{ID: id, Text: text, Token: clip(p.text[at.pos:at.end]), Segment: strings.TrimSpace(strings.ToValidUTF8(segment, "?")), Pos: at.pos}
}

// failValid is fail with a list of words that would be right; the nearest comes first in the sentence.
func (p *parser) failValid(id string, at word, valid []string, format string, args ...any) *Error {
	msg := fmt.Sprintf(format, args...)
	if near := nearest(at.text, valid); near != "" {
		msg += "; did you mean " + near + "?"
	} else {
		msg += "."
	}
	e := p.fail(id, at, "%s Valid here: %s", msg, strings.Join(valid, ", "))
	e.Valid = valid
	return e
}

// missing is an error about something that is not there, at the end of the command.
func (p *parser) missing(valid []string, format string, args ...any) *Error {
	e := p.fail(idMissing, word{pos: len(p.text), end: len(p.text)}, format, args...)
	e.Valid = valid
	return e
}

// badValue turns a fault of the attribute table into a syntax error.
func (p *parser) badValue(at word, a *object.Attr, err error) *Error {
	id, value := idValue, at.text
	var ve *object.ValueError
	if errors.As(err, &ve) {
		switch ve.Fault {
		case object.FaultCount:
			value = ve.Value
		case object.FaultRange:
			id = idRange
		case object.FaultLength:
			id = idLength
		case object.FaultName:
			id = idName
		default: // the value itself is wrong
		}
	}
	e := p.fail(id, at, "%s(%s): %s is needed", a.Keyword, clip(value), a.Want())
	if a.Type == object.Enum {
		e.Valid = a.Values
	}
	return e
}

func clip(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

// nearest finds the word with the fewest edits, if few enough to be a slip.
func nearest(typed string, words []string) string {
	if len(typed) > 24 {
		return ""
	}
	typed = strings.ToUpper(typed)
	best, found := 3, ""
	for _, w := range words {
		if d := edits(typed, w); d < best && 2*d < len(w) {
			best, found = d, w
		}
	}
	return found
}

// edits is the number of characters to insert, delete or replace.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, diag+1, row[j]+1)
		}
	}
	return row[len(b)]
}
