package store

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// spaceMaxAge and spaceStep bound how old an answer of Space may be: in time, and in bytes written since.
	spaceMaxAge = 250 * time.Millisecond
	spaceStep   = 4 << 20
)

// space is what a Pebble knows of its disk.
type space struct {
	mu sync.Mutex
	at time.Time
	is error
	// room is how many bytes may be written before the reserve is reached; 0: not known, or none.
	room int64
	// unseen are the bytes written since the last look, unflushed those that are in
	// the log and not in tables yet: to flush them takes as much again, before the log goes.
	unseen, unflushed atomic.Int64
	written           atomic.Int64 // in all
	reclaims
}

// begin takes what is there at the start as free of garbage.
func (s *space) begin(used uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usedAfter = used
}

// wrote counts what Apply wrote.
func (s *space) wrote(bytes int) {
	s.written.Add(int64(bytes))
	s.unseen.Add(int64(bytes))
	s.unflushed.Add(int64(bytes))
}

// flushed counts tables that were written. The database's sizes are not quite ours.
func (s *space) flushed(bytes uint64) {
	for {
		now := s.unflushed.Load()
		if s.unflushed.CompareAndSwap(now, max(0, now-int64(bytes))) {
			return
		}
	}
}

// Space asks the file system, when the last answer is old or much was written since.
func (p *Pebble) Space() error {
	p.reading.RLock()
	defer p.reading.RUnlock()
	if p.closed {
		return ErrClosed
	}
	s := &p.space
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) < spaceMaxAge && s.unseen.Load() < spaceStep {
		return s.is
	}
	s.unseen.Store(0)
	s.at, s.is, s.room = time.Now(), nil, 0
	p.reclaimGarbage()
	if p.opt.Reserve < 0 {
		return nil
	}
	usage, err := p.opt.FS.GetDiskUsage(p.dir)
	unflushed := uint64(s.unflushed.Load())
	switch keep := uint64(p.opt.Reserve) + unflushed; {
	case err != nil:
		s.is = fmt.Errorf("store %s: free space: %w", p.dir, err)
	case usage.AvailBytes < keep:
		s.is = fmt.Errorf("%w: %d bytes free under %s, %d are kept", ErrLowSpace, usage.AvailBytes, p.dir, keep)
		p.reclaim(usage.AvailBytes, true)
	case usage.AvailBytes < keep+uint64(p.opt.Reserve): // before puts have to be refused
		s.room = int64(usage.AvailBytes - keep)
		p.reclaim(usage.AvailBytes, false)
	default:
		s.room = int64(min(usage.AvailBytes-keep, math.MaxInt64))
	}
	return s.is
}

// Room is how many bytes could be written before Space is ErrLowSpace when that
// was looked at last; 0 if it is not known, or none.
func (p *Pebble) Room() int64 {
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	return p.space.room
}
