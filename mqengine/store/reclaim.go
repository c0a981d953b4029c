package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// reclaimMargin is what has to be free beside the tables that a reclaim writes.
	reclaimMargin = 4 << 20
	// reclaimStep is how much of the tables is written anew at a time: the old ones
	// go after the new ones are there.
	reclaimStep = 2 << 20
	// reclaimRest is how long the disk rests after a compaction, in times of what that took.
	reclaimRest = 10
)

// reclaims give back the place of what was deleted. The database does it when it
// has written so much more, but while puts are refused little more is written.
// The fields are under space.mu.
type reclaims struct {
	flushedAt   int64     // space.written at the last flush
	compactedAt int64     // and at the last compaction
	rest        time.Time // no compaction before
	busy        bool
	running     sync.WaitGroup
	stop        context.CancelFunc // of the one under way
}

// reclaim, under the lock, begins to give back place if there is something to
// gain: it has the newest table written out, and if that is not enough lets the
// deletions meet what they delete.
func (p *Pebble) reclaim(avail uint64, low bool) {
	s := &p.space
	written := s.written.Load()
	flush := written != s.flushedAt
	compact := low && written != s.compactedAt && !time.Now().Before(s.rest)
	if s.busy || !flush && !compact || p.failure.get() != nil || avail < uint64(s.unflushed.Load())+reclaimMargin {
		return
	}
	s.busy, s.flushedAt = true, written
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	s.running.Go(func() {
		began := time.Now()
		err := p.runReclaim(ctx, compact)
		if err != nil && ctx.Err() == nil {
			_ = p.failure.set(err)
		}
		now := time.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy, s.at = false, time.Time{} // the next look is a new one
		if compact {
			s.compactedAt, s.rest = written, now.Add(reclaimRest*now.Sub(began))
		}
	})
}

// endReclaim stops a reclaim and waits for it.
func (p *Pebble) endReclaim() {
	p.space.mu.Lock()
	if p.space.stop != nil {
		p.space.stop()
	}
	p.space.mu.Unlock()
	p.space.running.Wait()
}

func (p *Pebble) runReclaim(ctx context.Context, compact bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("database panicked: %v", r)
		}
	}()
	flushed, err := p.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
	case <-ctx.Done():
		return ctx.Err()
	case <-p.failure.done:
		return p.failure.get()
	}
	if !compact {
		return nil
	}
	tables, err := p.db.SSTables()
	if err != nil {
		return err
	}
	steps := reclaimSteps(tables)
	for i := range len(steps) - 1 {
		if err := p.db.Compact(ctx, steps[i], steps[i+1], false); err != nil {
			return err
		}
	}
	return nil
}

// reclaimSteps cuts all keys into ranges that hold about reclaimStep of the lowest level's tables.
func reclaimSteps(levels [][]pebble.SSTableInfo) [][]byte {
	first, _ := spaceMeta.bounds()
	steps := [][]byte{first}
	var size uint64
	for _, t := range levels[len(levels)-1] {
		if size += t.Size; size < reclaimStep {
			continue
		}
		size = 0
		if start := t.Smallest.UserKey; len(start) > 0 && string(start) > string(steps[len(steps)-1]) {
			steps = append(steps, append([]byte(nil), start...))
		}
	}
	return append(steps, []byte{0xff})
}
