package store

import "sync"

// stall holds Apply back while the disk does not keep up with the memory
// tables, or compaction not with the flushes. The database has a stall of its
// own, but a failed flush would leave a writer in it for ever; this one ends
// when the store fails.
type stall struct {
	failure *failure
	mu      sync.Mutex
	moved   sync.Cond
	// dirty: a table was begun, flushed or compacted since the last look. Looking
	// costs some microseconds, so Apply looks only then.
	dirty   bool
	waiting bool // an Apply is held back
}

func (s *stall) init(f *failure) {
	s.failure, s.moved.L = f, &s.mu
	f.hook = s.changed
}

// changed is called by the database's events and when the store fails.
func (s *stall) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty = true
	s.moved.Broadcast()
}

// wait returns when full says no, or when the store has failed.
func (s *stall) wait(full func() bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := s.failure.get(); err != nil {
			return err
		}
		if !s.dirty {
			return nil
		}
		s.dirty = false
		s.mu.Unlock() // the database's lock comes before ours
		busy := full()
		s.mu.Lock()
		if !busy {
			continue
		}
		for !s.dirty && s.failure.get() == nil {
			s.waiting = true
			s.moved.Wait()
		}
		s.waiting, s.dirty = false, true
	}
}
