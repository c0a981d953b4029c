package actions

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// endsTail is how much of the journal's end is looked at after a restart: what
// was under way when a daemon ended is among its last lines.
const endsTail = 1 << 20

// Ends are the results of the attempts that ended, by attemptKey, as far as the
// end of the file tells.
func (j *Journal) Ends() map[string]Result {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	from := max(j.at-endsTail, 0)
	tail := make([]byte, j.at-from)
	if _, err := j.file.ReadAt(tail, from); err != nil {
		return nil // then an attempt is in doubt, as it would be without a journal
	}
	out := map[string]Result{}
	for line := range bytes.Lines(tail) {
		var e struct {
			ID      string `json:"id"`
			Attempt int    `json:"attempt"`
			Result  Result `json:"result"`
		}
		if json.Unmarshal(line, &e) != nil {
			continue // the first one may be half a line
		}
		switch e.Result {
		case resultStarted:
			// What ended before it began, a look that failed, had no number of its own.
			delete(out, attemptKey(e.ID, e.Attempt))
		case resultDone, resultFailed, resultInDoubt:
			out[attemptKey(e.ID, e.Attempt)] = e.Result
		default:
		}
	}
	return out
}

func attemptKey(id string, attempt int) string { return fmt.Sprintf("%s %d", id, attempt) }

// endOf says how the attempt under way ended if the journal knows: its last line
// was written, and that could not be noted any more.
func (e *Engine) endOf(s *step) Result {
	return e.ends[s.attempt()]
}

// readEnds asks the journal once, if anything was under way.
func (e *Engine) readEnds() {
	teller, ok := e.opt.Journal.(interface{ Ends() map[string]Result })
	if !ok {
		return
	}
	e.mu.Lock()
	open := false
	for _, en := range e.entries {
		open = open || en.p.Flight != nil
	}
	e.mu.Unlock()
	if open {
		e.ends = teller.Ends()
	}
}
