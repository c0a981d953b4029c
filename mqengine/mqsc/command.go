package mqsc

import "github.com/situationd/situationd/mqengine/object"

// Command is one parsed and checked MQSC command, words canonical: synonyms
// resolved, unquoted text folded, attributes of the right kind and range.
type Command struct {
	Verb string // DEFINE ALTER DELETE DISPLAY CLEAR START STOP PING RESET RESOLVE REFRESH SUSPEND RESUME
	Noun string // QLOCAL ... QUEUE QCLUSTER QSTATUS CHANNEL CHSTATUS CLUSQMGR CLUSTER QMGR QMSTATUS CONN NAMELIST PROCESS LISTENER LSSTATUS
	// Kind is set where the noun (and CHLTYPE) names a kind of object; KindNone for QUEUE, CHANNEL of DISPLAY, statuses.
	Kind object.Kind
	Name string // may end in * for DISPLAY and REFRESH CLUSTER
	// Params are the keywords with values (DEFINE, ALTER, selectors of DISPLAY such as TYPE(HANDLE)), in the order typed.
	Params []Param
	// Show are the attributes a DISPLAY asks for, in the order typed.
	Show []string
	// All is ALL; Replace, Purge, Force as typed; Like is LIKE's object.
	All, Replace, Purge, Force bool
	Like                       string
	Where                      *Where
	// Absent says what this queue manager lacks for a command that MQ has; it is refused
	// when it is run. Its Params are words as typed.
	Absent string
	Text   string // as typed, for the echo
}

// Param is KEYWORD(VALUE), or a bare KEYWORD such as TRIGGER with no values.
type Param struct {
	Keyword string
	Values  []string
}

// Where is WHERE(KEYWORD OP VALUE).
type Where struct {
	Keyword, Op, Value string
}

// Param finds a parameter by keyword.
func (c *Command) Param(keyword string) (Param, bool) {
	for _, p := range c.Params {
		if p.Keyword == keyword {
			return p, true
		}
	}
	return Param{}, false
}

// Result is what a queue manager answers to one command.
type Result struct {
	Failed    bool // "could not be processed"
	Responses []Response
}

// Response is one reply message: its id and text, and for DISPLAY one object's attributes.
type Response struct {
	ID     string // AMQ8409I
	Text   string // "Display Queue details."
	Fields []Field
}

// Field is one cell of a DISPLAY: KEY(VALUE), KEY(V1,V2 ...) or a bare word.
type Field struct {
	Key    string
	Values []string // one; several for lists; none with Bare
	Bare   bool     // CURRENT, SHARE, NOTRIGGER
}
