package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// reclaimMargin is what has to be free beside the tables that a reclaim writes.
	reclaimMargin = 4 << 20
	// reclaimStep is how much of the tables is written anew at a time: the old ones
	// go after the new ones are there.
	reclaimStep = 2 << 20
	// garbageTables is from how many memory tables' worth of growth on garbage is
	// looked for, garbageShare the share of what is used that it has to be.
	garbageTables = 4
	garbageShare  = 0.5
	// reclaimRest is how long the disk rests after a compaction, in times of what that took.
	reclaimRest = 10
)

// reclaims give back the place of what was deleted. The database does it where
// newer keys come over older ones, and those of a queue never do: what is left at
// the lower end of a queue that is filled and drained would stay for ever. And
// while puts are refused little more is written. The fields are under space.mu.
type reclaims struct {
	flushedAt   int64     // space.written at the last flush
	compactedAt int64     // and at the last compaction
	rest        time.Time // no compaction before
	lookedAt    int64     // and at the last look for garbage
	usedAfter   uint64    // what the tables took after the last compaction
	busy        bool
	running     sync.WaitGroup
	stop        context.CancelFunc // of the one under way

	came, went atomic.Int64 // headers and bodies since the last compaction
}

// count notes what a unit brings and takes away.
func (r *reclaims) count(u *Unit) {
	came, went := 0, 0
	for i := range u.Ops {
		switch u.Ops[i].Kind {
		case OpSetMessage, OpSetBody:
			came++
		case OpDeleteMessage, OpDeleteBody:
			went++
		case OpSetRecord, OpDeleteRecord: // few, and written over in place
		}
	}
	r.came.Add(int64(came))
	r.went.Add(int64(went))
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
	s.flushedAt = written
	p.beginReclaim(func(ctx context.Context) (bool, error) { return compact, p.runReclaim(ctx, compact) })
}

// reclaimGarbage, under the lock, lets the deletions meet what they delete when
// the tables have grown by half since that was done last, and not only by what
// is there. So the work is in proportion to what is written.
func (p *Pebble) reclaimGarbage() {
	s := &p.space
	written, least := s.written.Load(), int64(garbageTables*p.opt.memTable)
	if s.busy || written-s.lookedAt < least/4 || p.failure.get() != nil {
		return
	}
	if 4*s.went.Load() < s.came.Load() {
		return // most of it is there
	}
	s.lookedAt = written
	limit := s.usedAfter + max(uint64(least), uint64(garbageShare*float64(s.usedAfter)))
	p.beginReclaim(func(ctx context.Context) (bool, error) {
		if p.used() < limit {
			return false, nil
		}
		return true, p.runReclaim(ctx, true)
	})
}

// beginReclaim, under the lock, starts work of which there is one at a time. It
// asks the database in a goroutine of its own, because a database that has
// panicked may not answer. work reports whether it compacted.
func (p *Pebble) beginReclaim(work func(context.Context) (bool, error)) {
	s := &p.space
	s.busy = true
	written := s.written.Load()
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	s.running.Go(func() {
		began := time.Now()
		came, went := s.came.Load(), s.went.Load()
		compacted, used, err := p.carryOut(ctx, work)
		if err != nil && ctx.Err() == nil {
			_ = p.failure.set(damaged(err))
		}
		now := time.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy, s.at = false, time.Time{} // the next look is a new one
		if compacted {
			s.compactedAt, s.usedAfter, s.rest = written, used, now.Add(reclaimRest*now.Sub(began))
			s.came.Add(-came)
			s.went.Add(-went)
		}
	})
}

// carryOut does the work, and gives what the tables take after a compaction.
func (p *Pebble) carryOut(ctx context.Context, work func(context.Context) (bool, error)) (compacted bool, used uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("database panicked: %v", r)
		}
	}()
	if compacted, err = work(ctx); compacted && err == nil {
		used = p.used()
	}
	return compacted, used, err
}

// used is what tables and files of bodies take.
func (p *Pebble) used() uint64 {
	m := p.db.Metrics()
	return m.Table.Local.LiveSize + m.BlobFiles.Local.LiveSize
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

func (p *Pebble) runReclaim(ctx context.Context, compact bool) error {
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
