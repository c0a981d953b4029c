package actions

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// Result is how an attempt stands, in the journal's words.
type Result string

// The results.
const (
	resultStarted    Result = "started"
	resultDone       Result = "done"
	resultNoChange   Result = "no_change"
	resultBlocked    Result = "blocked"
	resultFailed     Result = "failed"
	resultSuperseded Result = "superseded"
	resultWould      Result = "would"
	resultInDoubt    Result = "in_doubt"
)

// line makes the journal's entry for a step.
func (e *Engine) line(s *step, r Result, reason string) Entry {
	en := s.en
	a, row := s.action(), &s.row
	if row.Env == nil {
		row = &en.in.Row // nothing was decided on a sample of its own
	}
	line := Entry{
		Time: time.Now().UTC(), ID: en.id(s.index), Attempt: max(en.p.Attempt, 1),
		Situation: en.in.Key.Situation, QMgr: en.in.Key.QMgr, Queue: situations.QueueOf(en.in.Key.Queue), Channel: situations.ChannelOf(en.in.Key.Queue),
		Edge: en.in.Edge, Action: describe(a, row), By: "rule", Result: r, Reason: reason,
	}
	if en.in.By != "" {
		line.By = en.in.By
	}
	if reason == "" {
		line.Reason = en.in.Reason
	}
	switch {
	case s.kind == stepPutBack:
		line.Edge = situations.EdgeGuard
	case s.again || en.p.Tries > 0:
		line.Edge = situations.EdgeRetry
	}
	changes := s.d.Changes
	if s.kind == stepPutBack {
		line.Action = givenBack(a, changes[0])
	}
	if len(changes) > 0 {
		if attr := changes[0].Attr; attr != attrOf(a.Verb) {
			line.Attribute = attr
		}
		line.Before, line.After = values(changes, func(c change) string { return c.Before }), values(changes, func(c change) string { return c.After })
	} else if v, ok := current(row, attrOf(a.Verb)); ok {
		line.Before = &v
	}
	if r != resultStarted {
		line.DurationMS = line.Time.Sub(s.at).Milliseconds()
	}
	return line
}

// givenBack is a lowering that the guard takes back, in the journal's words.
func givenBack(a *situations.Action, c change) string {
	switch baseAttr(c.Attr) {
	case attrStatus, attrSuspend:
		back := situations.Action{Verb: verbOf(c.Attr, c.After), Clusters: a.Clusters}
		return back.String()
	}
	return string(a.Verb) + " " + c.After
}

// values writes one side of changes: the first as a bare value, others with their names.
func values(changes []change, side func(change) string) *string {
	parts := make([]string, len(changes))
	for i, c := range changes {
		parts[i] = side(c)
		if i > 0 {
			parts[i] = fmt.Sprintf("%s(%s)", c.Attr, side(c))
		}
	}
	s := strings.Join(parts, " ")
	return &s
}

// journalHeld writes that the next attempt is held. It has the number that this
// attempt will have, since the lines of the last one are complete.
func (e *Engine) journalHeld(s *step, reason string) {
	line := e.line(s, resultBlocked, reason)
	line.Attempt = s.en.p.upcoming(s.index)
	e.write(line, s.action().Verb)
}

// journal writes a line that nothing waits for, and counts it.
func (e *Engine) journal(s *step, r Result, reason string) {
	e.write(e.line(s, r, reason), s.action().Verb)
}

func (e *Engine) write(line Entry, verb situations.Verb) {
	if err := e.opt.Journal.Append(line, false); err != nil {
		e.log.Error("journal not writable", "error", err)
	}
	e.mu.Lock()
	e.stats.add(verb, line.Result)
	e.mu.Unlock()
	log := e.log.Info
	if line.Result == resultFailed || line.Result == resultInDoubt {
		log = e.log.Warn
	}
	log(string(line.Result), "action", line.Action, line.about(), line.subject(), "situation", line.Situation,
		"edge", string(line.Edge), "reason", line.Reason, "id", line.ID, "attempt", line.Attempt)
}

// about and subject are what a line is of, for the log.
func (e *Entry) about() string {
	switch {
	case e.Channel != "":
		return "channel"
	case e.Queue != "":
		return "queue"
	}
	return "qmgr"
}

func (e *Entry) subject() string { return cmp.Or(e.Channel, e.Queue, e.QMgr) }

// target is what a line is of, as the engine names it.
func (e *Entry) target() Target {
	item := e.Queue
	switch {
	case e.Channel != "":
		item = situations.GroupChannel.Item(e.Channel)
	case item == "":
		item = situations.GroupQMgr.Item(e.QMgr)
	}
	return Target{QMgr: e.QMgr, Queue: item}
}

func unavailable(err error) bool { return errors.Is(err, ErrUnavailable) }
