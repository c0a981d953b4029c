package store

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// failure keeps the first reason for which a store failed. It never goes away.
type failure struct {
	log  func(string)
	mu   sync.Mutex
	err  error
	done chan struct{}
	hook func() // runs once, after err is set
}

func (f *failure) init(log func(string)) {
	if log == nil {
		log = func(string) {}
	}
	f.log, f.done = log, make(chan struct{})
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// set notes the reason if it is the first, and returns the first.
func (f *failure) set(reason error) error {
	f.mu.Lock()
	first := f.err == nil
	if first {
		f.err = fmt.Errorf("%w: %w", ErrFailed, reason)
		close(f.done)
	}
	err, hook := f.err, f.hook
	f.mu.Unlock()
	if first {
		f.log(err.Error())
		if hook != nil {
			hook()
		}
	}
	return err
}

// fileSystem notes a failed operation and hands the bare error to the database.
func (f *failure) fileSystem(op, path string, err error) error {
	cause := err
	if named := (*fs.PathError)(nil); errors.As(err, &named) && named.Path == path {
		cause = named.Err // it would say operation and path once more
	}
	_ = f.set(fmt.Errorf("%s %s: %w", op, path, cause))
	return err
}

// databaseLog is what the database logs to. Its Fatalf has to return where the
// usual one ends the process: every place that calls it then goes on with an
// error or a nil, and the failure that is noted here turns both into ErrFailed.
type databaseLog struct{ f *failure }

func (l databaseLog) Infof(string, ...any) {}

func (l databaseLog) Errorf(format string, args ...any) {
	l.f.log(fmt.Sprintf("store: "+format, args...))
}

func (l databaseLog) Fatalf(format string, args ...any) {
	_ = l.f.set(fmt.Errorf(format, args...))
}

// listener takes part in the database's background work: an error of a flush or
// a compaction would be tried again for ever, so it fails the store.
func (p *Pebble) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) { _ = p.failure.set(damaged(err)) },
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			// The event's own text has a stack in it.
			_ = p.failure.set(&damageError{fmt.Errorf("%s: %w", info.Path, info.Details)})
		},
		WALCreated: func(pebble.WALCreateInfo) { p.stall.changed() },
		FlushEnd: func(info pebble.FlushInfo) {
			p.space.flushed(info.InputBytes)
			p.stall.changed()
		},
		CompactionEnd: func(pebble.CompactionInfo) { p.stall.changed() },
	}
}
