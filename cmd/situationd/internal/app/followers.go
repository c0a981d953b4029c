package app

import (
	"sync"
	"time"
)

// followTime is how soon somebody who follows a run asks again.
const followTime = time.Second

// followers are the runs of redistribute of which somebody asks again and again how
// they stand. A daemon that ends answers once more for each run; where two people
// follow one run, the second may find the daemon gone.
type followers struct {
	mu     sync.Mutex
	until  map[string]time.Time // by run: when who was told that it goes on has asked again
	change chan struct{}        // closed, and made anew, when one was told the end
}

func newFollowers() *followers {
	return &followers{until: map[string]time.Time{}, change: make(chan struct{})}
}

// told notes what was said of a run.
func (f *followers) told(id string, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.latest(now)
	if !over {
		f.until[id] = now.Add(followTime)
		return
	}
	delete(f.until, id)
	close(f.change)
	f.change = make(chan struct{})
}

// latest is when nobody is expected any more. Who has not come is forgotten.
func (f *followers) latest(now time.Time) (latest time.Time) {
	for id, until := range f.until {
		if !now.Before(until) {
			delete(f.until, id)
		} else if until.After(latest) {
			latest = until
		}
	}
	return latest
}

// wait returns when everybody was told the end of his run, or has not come.
func (f *followers) wait() {
	for {
		f.mu.Lock()
		now := time.Now()
		latest, change := f.latest(now), f.change
		f.mu.Unlock()
		if latest.IsZero() {
			return
		}
		timer := time.NewTimer(latest.Sub(now))
		select {
		case <-change:
		case <-timer.C:
		}
		timer.Stop()
	}
}
