package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// Flight is an attempt that was started and whose end is not stored yet. Found
// at a start it is in doubt: the daemon ended in the middle of it.
type Flight struct {
	At      time.Time `json:"at"`
	Index   int       `json:"index"`
	Kind    kind      `json:"kind,omitempty"`
	Owner   string    `json:"owner,omitempty"`
	Changes []change  `json:"changes,omitempty"`
	Drop    []string  `json:"drop,omitempty"`
	Release []string  `json:"release,omitempty"`
	Program *Process  `json:"program,omitempty"`
	Moving  bool      `json:"moving,omitempty"`
	Guard   bool      `json:"guard,omitempty"` // a lowering being put back
}

// Progress is how far an intent has come; it is stored beside it.
type Progress struct {
	Next    int `json:"next"`    // index of the action to do
	Attempt int `json:"attempt"` // the last attempt begun of that action, 0 before the first
	// Begun counts the attempts of each action over the whole life of the intent: a
	// move that watches on and a lowering that the guard took back are begun again,
	// and the journal must be able to tell every attempt from every other.
	Begun   []int     `json:"begun,omitempty"`
	Tries   int       `json:"tries"` // failed in a row, for the backoff
	Flight  *Flight   `json:"flight,omitempty"`
	Lowered []Lowered `json:"lowered,omitempty"`
	Moved   int       `json:"moved,omitempty"` // messages, by all runs of this intent
	// Cancelled is who ended the moving of messages for this intent, blank for nobody.
	Cancelled string `json:"cancelled,omitempty"`
}

// begin counts one more attempt of an action.
func (p *Progress) begin(index int) {
	for len(p.Begun) <= index {
		p.Begun = append(p.Begun, 0)
	}
	if index == p.Next { // an older version counted this one only
		p.Begun[index] = max(p.Begun[index], p.Attempt)
	}
	p.Begun[index]++
	p.Attempt = p.Begun[index]
}

// unbegin takes back an attempt that could not be recorded.
func (p *Progress) unbegin(index int) {
	p.Begun[index]--
	p.Attempt = p.Begun[index]
}

// upcoming is the number of an action's next attempt.
func (p *Progress) upcoming(index int) int {
	begun := 0
	if index < len(p.Begun) {
		begun = p.Begun[index]
	}
	if index == p.Next {
		begun = max(begun, p.Attempt)
	}
	return begun + 1
}

// untouched says that nothing was begun.
func (p *Progress) untouched() bool { return p.Next == 0 && p.Attempt == 0 }

func (p Progress) clone() Progress {
	p.Lowered = append([]Lowered(nil), p.Lowered...)
	p.Begun = slices.Clone(p.Begun)
	if p.Flight != nil {
		f := *p.Flight
		p.Flight = &f
	}
	return p
}

// entry is an intent of the outbox. The engine's lock guards it; while running
// is set its worker alone moves it on.
type entry struct {
	in     situations.Intent
	seq    uint64 // order of arrival
	target Target
	p      Progress

	// after is how many samples were taken when it came: the one that decided it is the next.
	after uint64

	over       chan struct{} // closed when it is over; nil if nobody waits
	running    bool
	superseded string // why, blank while it stands
	told       bool   // the journal knows that it is
	interrupt  context.CancelFunc
	doing      situations.Verb // what interrupt ends
	halted     string          // why it was interrupted although the intent stands
	holds      []Hold
	blocked    blockage
	reported   string // codes of the last "blocked" line
	failure    string // of the last attempt, blank after a good one
	retryAt    time.Time
	settled    time.Time // from when on messages may move: see settleTime
	// freshAfter: only a sample asked for later counts (after a program ran, or the queue manager was lost).
	freshAfter time.Time
	// pause is how many samples were taken when the peers said no: they are asked again after the next.
	pause   uint64
	lone    lonely
	putBack bool
	move    moveMemory
}

// moveMemory keeps what the last run of moving messages found, so that a queue
// on which only unmovable messages are left is not searched at every sample.
type moveMemory struct {
	ran    bool
	last   Moved
	seen   stranded // in the sample that was looked at last
	idle   int      // runs in a row that moved nothing
	due    time.Time
	ended  time.Time // when the last run did
	report Outcome   // outcome that the journal knows
}

// stranded is what a sample says of messages that wait and of where they could go.
type stranded struct {
	seen               bool
	depth, uncommitted int
	definition         string // what of it allows or forbids moving
	ready, served      int    // other instances that could be chosen, and applications that read them
}

// news says that what was not possible when it was as before may be now; idle:
// it was that nothing could move.
func (is stranded) news(was stranded, idle bool) bool {
	switch {
	case !was.seen:
		return false
	case is.ready > was.ready || is.served > was.served || is.definition != was.definition:
		return true
	default:
		return idle && is != was
	}
}

func (en *entry) action() *situations.Action {
	if en.p.Next >= len(en.in.Actions) {
		return nil
	}
	return &en.in.Actions[en.p.Next]
}

// mover is the index of a redistribute that is done once and watches on, or -1.
func (en *entry) mover() int {
	if en.byHand() || en.p.Cancelled != "" {
		return -1
	}
	for i := range min(en.p.Next, len(en.in.Actions)) {
		if a := &en.in.Actions[i]; a.Verb == situations.VerbRedistribute && !a.Never {
			return i
		}
	}
	return -1
}

// finished says that nothing is left to do or to watch over.
func (en *entry) finished() bool {
	return en.p.Next >= len(en.in.Actions) && en.mover() < 0 && len(en.p.Lowered) == 0
}

// busy says that an action of the intent is still to be done or under way.
func (en *entry) busy() bool { return en.running || en.p.Next < len(en.in.Actions) }

// opposes says that a newer intent sets an attribute otherwise than this one
// did or wants to: the last edge wins.
func (en *entry) opposes(newer *situations.Intent) bool {
	for i := range en.in.Actions {
		if !en.wants(i) {
			continue
		}
		for j := range newer.Actions {
			if en.in.Actions[i].Opposes(&newer.Actions[j]) {
				return true
			}
		}
	}
	return false
}

// wants says that an action is still to be done, or stands as a lowering, or
// that messages are moved because of it.
func (en *entry) wants(i int) bool {
	if i >= en.p.Next || en.mover() >= 0 {
		return true
	}
	for _, l := range en.p.Lowered {
		if l.Action == i {
			return true
		}
	}
	return false
}

// inherit takes over from an older intent of the same situation what stands.
func (en *entry) inherit(old *entry) {
	for _, l := range old.p.Lowered {
		if l.Action < len(en.in.Actions) && l.Action < len(old.in.Actions) &&
			en.in.Actions[l.Action].Verb == old.in.Actions[l.Action].Verb &&
			en.in.Actions[l.Action].Value == old.in.Actions[l.Action].Value {
			en.p.Lowered = append(en.p.Lowered, l)
		}
	}
	en.p.Moved += old.p.Moved
	en.p.Cancelled = old.p.Cancelled
}

// need is how many other instances a lowering of the intent must leave.
func (en *entry) need(action int, row *situations.Row) int {
	return needed(&en.in.Actions[action], &en.in.Guard, row)
}

// id names an action of the intent in the journal; its attempts share it.
func (en *entry) id(index int) string { return fmt.Sprintf("%s.%d", en.in.ID, index) }

// describe is an action in the journal's words.
func describe(a *situations.Action, row *situations.Row) string {
	switch a.Verb {
	case situations.VerbRedistribute, situations.VerbRevert:
		return string(a.Verb)
	case situations.VerbExec, situations.VerbMQSC, situations.VerbWebhook:
		args, err := arguments(a, row)
		if err != nil {
			return a.String()
		}
		return string(a.Verb) + " " + strings.Join(args, " ")
	case situations.VerbEvent:
		return "event " + situations.Expand(a.Value, row)
	default:
		return a.String()
	}
}

// arguments expands what an action hands on: the command, the address, or every
// argument but the program's own name, which decides what is allowed to run and
// so does not depend on a sample.
func arguments(a *situations.Action, row *situations.Row) ([]string, error) {
	switch a.Verb {
	case situations.VerbMQSC:
		text, err := situations.ExpandMQSC(a.Value, row)
		return []string{text}, err
	case situations.VerbWebhook:
		text, err := situations.ExpandAddress(a.Value, row)
		return []string{text}, err
	default:
	}
	if len(a.Args) == 0 {
		return nil, errors.New("no program is named")
	}
	rest, err := situations.ExpandArgs(a.Args[1:], row)
	if err != nil {
		return nil, err
	}
	return append([]string{a.Args[0]}, rest...), nil
}

const (
	backoffFirst = time.Second
	backoffMost  = time.Minute
)

// backoff is the wait after so many failures in a row.
func backoff(a *situations.Action, tries int) time.Duration {
	if a.Retry > 0 {
		return a.Retry
	}
	d := backoffFirst
	for i := 1; i < tries && d < backoffMost; i++ {
		d *= 2
	}
	return min(d, backoffMost)
}
