package actions

import (
	"time"

	"github.com/situationd/situationd/situations"
)

// Stored is what the engine finds at a start.
type Stored struct {
	Intents []StoredIntent // in the order in which they were decided
	Claims  []Claim
	Raised  map[Target]time.Time
	Budget  []time.Time // acts of the last minute, oldest first
	Holds   []PersonHold
	Tripped []Trip
	Out     []Out
}

// StoredIntent is an intent of the outbox with its progress.
type StoredIntent struct {
	Intent   situations.Intent
	Progress Progress
}

// Update is one transaction of the engine.
type Update struct {
	Progress  map[string]Progress // by intent ID
	Finished  []string            // intents that leave the outbox
	Claims    []Claim
	Unclaimed []Claim              // Target and Attr are set
	Raised    map[Target]time.Time // the zero time deletes
	Budget    []time.Time          // nil: as before
	// Intents are new ones that a person asked for.
	Intents []situations.Intent
	Holds   *[]PersonHold // nil: as before
	Tripped *[]Trip       // nil: as before
	Out     []Out
	// In are lowerings that are over; Target and Attr are set.
	In []Out
}

func (u *Update) empty() bool {
	return len(u.Progress)+len(u.Finished)+len(u.Claims)+len(u.Unclaimed)+len(u.Raised)+len(u.Intents)+len(u.Out)+len(u.In) == 0 &&
		u.Budget == nil && u.Holds == nil && u.Tripped == nil
}

// Store keeps the outbox, claims and dwell times over restarts. The runner's
// StateStore adds intents; the engine moves them on and removes them.
type Store interface {
	LoadActions() (Stored, error)
	SaveActions(Update) error
}

// dirty says that something waits to be stored besides what a worker stores itself.
func (e *Engine) dirty() bool {
	return len(e.claims.dirty) > 0 || len(e.finished) > 0 || len(e.unsaved) > 0 || len(e.changed) > 0 ||
		len(e.outs.dirty) > 0 || e.holds.dirty || e.breaker.dirty || len(e.asked) > 0
}

// save stores everything that changed, with the progress of the given entries.
// What cannot be stored now is logged and stored with the next save: what was
// done is done, and forgetting it would be worse than waiting.
func (e *Engine) save(entries ...*entry) {
	if err := e.trySave(entries...); err != nil {
		e.log.Error("state could not be stored", "error", err)
	}
}

// trySave stores in one transaction; for what must be on disk before something is done.
func (e *Engine) trySave(entries ...*entry) error {
	e.saving.Lock()
	defer e.saving.Unlock()
	e.mu.Lock()
	u := Update{Finished: e.finished}
	e.finished = nil
	u.Claims, u.Unclaimed = e.claims.flush()
	if len(e.unsaved) > 0 {
		u.Raised = make(map[Target]time.Time, len(e.unsaved))
		for t := range e.unsaved {
			u.Raised[t] = e.raised[t]
		}
		clear(e.unsaved)
	}
	u.Budget = e.budget.flush()
	u.Holds, u.Tripped = e.holds.flush(), e.breaker.flush()
	u.Out, u.In = e.outs.flush()
	u.Intents, e.asked = e.asked, nil
	for en := range e.changed {
		entries = append(entries, en)
	}
	clear(e.changed)
	for _, en := range entries {
		if e.entries[en.in.ID] != en {
			continue // over meanwhile
		}
		if u.Progress == nil {
			u.Progress = make(map[string]Progress, len(entries))
		}
		u.Progress[en.in.ID] = en.p.clone()
	}
	e.mu.Unlock()
	if u.empty() {
		return nil
	}
	err := e.opt.Store.SaveActions(u)
	if err == nil {
		return nil
	}
	// What could not be stored is still to be stored; nothing else will remember it.
	e.mu.Lock()
	e.finished = append(u.Finished, e.finished...)
	for t := range u.Raised {
		e.unsaved[t] = true
	}
	e.claims.redo(u.Claims, u.Unclaimed)
	for _, en := range entries {
		e.changed[en] = true
	}
	e.budget.dirty = e.budget.dirty || u.Budget != nil
	e.holds.dirty = e.holds.dirty || u.Holds != nil
	e.breaker.dirty = e.breaker.dirty || u.Tripped != nil
	e.outs.redo(u.Out, u.In)
	e.asked = append(u.Intents, e.asked...)
	e.stats.storeErrors++
	e.mu.Unlock()
	return err
}
