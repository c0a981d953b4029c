package actions

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/situationd/situationd/situations"
)

// PersonHold is a person's word that nothing is done to some queues: everything
// that situations want of them waits, and is shown.
type PersonHold struct {
	Queue  string    `json:"queue"` // a name or pattern; * for all
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // zero: until it is released
}

// Sentence tells of the hold.
func (h *PersonHold) Sentence() string {
	s := "held by " + h.By + " since " + h.Since.UTC().Format(time.RFC3339)
	if !h.Until.IsZero() {
		s += " until " + h.Until.UTC().Format(time.RFC3339)
	}
	if h.Reason != "" {
		s += ": " + h.Reason
	}
	return s
}

// maxHolds bounds what people may hold at one time.
const maxHolds = 1000

// Errors of what a person asks for.
var (
	ErrTooMany     = errors.New("too many holds; release some")
	ErrNothingHeld = errors.New("nothing is held there")
)

// holds are the holds of people.
type holds struct {
	list  []PersonHold
	dirty bool
}

// HoldOf is the hold that covers a queue, nil if none of the list does.
func HoldOf(list []PersonHold, queue string, now time.Time) *PersonHold {
	for i := range list {
		p := &list[i]
		if !p.Until.IsZero() && !now.Before(p.Until) {
			continue
		}
		if names := situations.NewNames(p.Queue); names.Match(queue) {
			found := *p
			return &found
		}
	}
	return nil
}

func (h *holds) flush() *[]PersonHold {
	if !h.dirty {
		return nil
	}
	h.dirty = false
	list := slices.Clone(h.list)
	return &list
}

// Hold keeps everything from being done to a queue, or those of a pattern,
// until it is released or until is over (zero: no end). A run of moving messages
// that is under way ends at its unit of work; a change or a program ends by itself.
func (e *Engine) Hold(by, queue, reason string, until time.Time) error {
	now := time.Now().UTC()
	e.mu.Lock()
	e.holds.list = slices.DeleteFunc(e.holds.list, func(p PersonHold) bool { return p.Queue == queue })
	if len(e.holds.list) >= maxHolds {
		e.mu.Unlock()
		return ErrTooMany
	}
	h := PersonHold{Queue: queue, By: by, Reason: reason, Since: now, Until: until}
	e.holds.list = append(e.holds.list, h)
	e.holds.dirty = true
	names := situations.NewNames(queue)
	for _, en := range e.entries {
		if names.Match(en.target.Queue) {
			en.halt(h.Sentence())
		}
	}
	e.mu.Unlock()
	e.manual("hold", by, queue, h.Sentence(), now)
	return e.trySave()
}

// Release ends the hold of exactly this name or pattern, or with * all of them.
// What waited is decided on the next sample.
func (e *Engine) Release(by, queue string) ([]PersonHold, error) {
	now := time.Now().UTC()
	e.mu.Lock()
	var gone []PersonHold
	e.holds.list = slices.DeleteFunc(e.holds.list, func(p PersonHold) bool {
		if p.Queue != queue && queue != "*" {
			return false
		}
		gone = append(gone, p)
		return true
	})
	e.holds.dirty = e.holds.dirty || len(gone) > 0
	covering := HoldOf(e.holds.list, queue, now)
	e.mu.Unlock()
	if len(gone) == 0 {
		if covering != nil {
			return nil, fmt.Errorf("%w by this name; %s is held as %s", ErrNothingHeld, queue, covering.Queue)
		}
		return nil, ErrNothingHeld
	}
	for i := range gone {
		e.manual("release", by, gone[i].Queue, "", now)
	}
	return gone, e.trySave()
}

// Holds lists what people hold.
func (e *Engine) Holds() []PersonHold {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.holds.list)
}

// expire ends the holds whose time is over. The lock is held.
func (e *Engine) expire(now time.Time) {
	e.holds.list = slices.DeleteFunc(e.holds.list, func(p PersonHold) bool {
		over := !p.Until.IsZero() && !now.Before(p.Until)
		if over {
			e.holds.dirty = true
			e.log.Info("the time of a hold is over", "queue", p.Queue, "by", p.By)
		}
		return over
	})
}

// manual writes the line of what a person did that alters nothing itself.
func (e *Engine) manual(what, by, queue, reason string, now time.Time) {
	line := Entry{
		Time: now, ID: fmt.Sprintf("%s:%s:%s:%d", e.opt.QMgr, queue, what, now.UnixNano()), Attempt: 1,
		QMgr: e.opt.QMgr, Queue: situations.QueueOf(queue), Channel: situations.ChannelOf(queue), Edge: situations.EdgeManual, Action: what, By: by, Result: resultDone, Reason: reason,
	}
	if err := e.opt.Journal.Append(line, true); err != nil {
		e.log.Error("journal not writable", "error", err)
	}
	e.log.Info(what, "queue", queue, "by", by, "reason", reason)
}
