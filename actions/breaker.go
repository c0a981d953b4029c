package actions

import (
	"fmt"
	"slices"
	"time"

	"github.com/situationd/situationd/situations"
)

// Trip is a breaker that opened: too many items of a situation became true
// within one interval to believe it.
type Trip struct {
	Situation string    `json:"situation"`
	At        time.Time `json:"at"`
	Opened    int       `json:"opened"`
	Items     int       `json:"items"`
}

// breaker counts how many items of a situation open within one interval. It is
// off by default: one dead server rightly opens many queues.
type breaker struct {
	share   int // percent; 0: off
	opened  map[string][]opening
	tripped []Trip
	dirty   bool
}

type opening struct {
	queue string
	at    time.Time
}

func newBreaker(share int, tripped []Trip) breaker {
	return breaker{share: share, opened: map[string][]opening{}, tripped: tripped}
}

// holding is why a situation's actions wait, empty if they do not.
func (b *breaker) holding(situation string) string {
	for _, t := range b.tripped {
		if t.Situation == situation {
			return fmt.Sprintf("%d of %d items opened within one interval at %s; release --situation %s lets them go on",
				t.Opened, t.Items, t.At.UTC().Format(time.RFC3339), situation)
		}
	}
	return ""
}

// opens counts one item that opened; true says that this one is too many.
func (b *breaker) opens(in *situations.Intent, items int, now time.Time) bool {
	name := in.Key.Situation
	list := slices.DeleteFunc(b.opened[name], func(o opening) bool {
		return now.Sub(o.at) >= in.Interval || o.queue == in.Key.Queue
	})
	list = append(list, opening{in.Key.Queue, now})
	b.opened[name] = list
	return len(list) > max(1, items*b.share/100) && b.holding(name) == ""
}

func (b *breaker) flush() *[]Trip {
	if !b.dirty {
		return nil
	}
	b.dirty = false
	list := slices.Clone(b.tripped)
	return &list
}

// countOpened counts what opened before anything of it is decided: else the
// first few would act before there are too many. The lock is held.
func (e *Engine) countOpened(intents []situations.Intent, now time.Time) {
	if e.breaker.share <= 0 || e.opt.Items == nil {
		return
	}
	for i := range intents {
		in := &intents[i]
		if in.Edge != situations.EdgeOpen || len(in.Actions) == 0 {
			continue
		}
		items := e.opt.Items.Count(in.Key.Situation)
		if !e.breaker.opens(in, items, now) {
			continue
		}
		t := Trip{Situation: in.Key.Situation, At: now.UTC(), Opened: len(e.breaker.opened[in.Key.Situation]), Items: items}
		e.breaker.tripped = append(e.breaker.tripped, t)
		e.breaker.dirty = true
		e.log.Warn("the breaker opened: too many items at once", "situation", t.Situation, "opened", t.Opened, "items", t.Items)
	}
}

// Tripped lists the breakers that are open.
func (e *Engine) Tripped() []Trip {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.breaker.tripped)
}

// ReleaseBreaker lets the actions of a situation go on.
func (e *Engine) ReleaseBreaker(by, situation string) error {
	e.mu.Lock()
	before := len(e.breaker.tripped)
	e.breaker.tripped = slices.DeleteFunc(e.breaker.tripped, func(t Trip) bool { return t.Situation == situation })
	found := len(e.breaker.tripped) < before
	delete(e.breaker.opened, situation)
	e.breaker.dirty = e.breaker.dirty || found
	e.mu.Unlock()
	if !found {
		return ErrNothingHeld
	}
	e.manual("release breaker of "+situation, by, "*", "", time.Now().UTC())
	return e.trySave()
}
