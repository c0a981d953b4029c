package store

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// lockName is the database's own lock file. The holder of the queue manager has
// a lock of its own; this one makes a second open in any process fail cleanly.
const lockName = "LOCK"

// Sizes that keep an empty queue manager small. Memory tables start at 256 KiB
// and grow to memTable only under load.
const (
	memTable   = 16 << 20
	blockCache = 2 << 20
	openFiles  = 256
	unflushed  = 4  // memory tables' worth of data that may wait for the disk before Apply waits
	sublevels  = 24 // overlapping files that a read may have to look into before Apply waits
	closeWait  = 5 * time.Second
	blobAge    = time.Minute // so old a file of bodies is when it may be written anew without what was deleted
)

// DefaultReserve is how much disk is kept free for gets and for ending in order.
const DefaultReserve = 64 << 20

// Options says how a Pebble is opened. The zero value is good.
type Options struct {
	// FS is the file system; nil is the system's. Tests put faults into it.
	FS vfs.FS
	// Reserve is how many bytes stay free: below it Space is ErrLowSpace. 0 is
	// DefaultReserve, a negative value is no reserve.
	Reserve int64
	// MustExist refuses to create a store.
	MustExist bool
	// Log takes one line about something that an operator should know; nil drops it.
	Log func(line string)

	// Tests make them small, so that little data reaches every part of the database.
	memTable uint64
	blobAge  time.Duration
}

// Pebble is the durable Store: one pebble database in one folder.
//
// The database must never end the process, which may host other queue managers
// and the daemon: what it calls fatal fails this store only. Apply then gives
// ErrFailed, Failed is closed, and the store has to be closed.
type Pebble struct {
	dir     string
	opt     Options
	guard   *guard
	db      *pebble.DB
	lock    *pebble.Lock
	cache   *pebble.Cache
	stall   stall
	failure failure

	reading  sync.RWMutex // held shared by Body; Close waits for it
	applying sync.Mutex   // one Apply at a time; Close waits for it
	closed   bool         // written under both
	loaded   bool         // guarded by applying
	space    space
}

var _ Store = (*Pebble)(nil)

// OpenPebble opens the store in dir, or creates it. Errors name the folder.
func OpenPebble(dir string, opt Options) (*Pebble, error) {
	if opt.FS == nil {
		opt.FS = vfs.Default
	}
	if opt.Reserve == 0 {
		opt.Reserve = DefaultReserve
	}
	if opt.memTable == 0 {
		opt.memTable = memTable
	}
	if opt.blobAge == 0 {
		opt.blobAge = blobAge
	}
	p := &Pebble{dir: dir, opt: opt}
	p.failure.init(opt.Log)
	p.stall.init(&p.failure)
	p.guard = newGuard(opt.FS, p.failure.fileSystem, p.failure.get)
	if err := p.open(); err != nil {
		if failed := p.failure.get(); failed != nil && !errors.Is(err, ErrFailed) {
			err = failed // what went wrong first
		}
		return nil, fmt.Errorf("open store %s: %w", dir, errors.Join(err, p.guard.abandon()))
	}
	return p, nil
}

func (p *Pebble) open() (err error) {
	if err := makeDir(p.guard, p.dir); err != nil {
		return err
	}
	if p.lock, err = pebble.LockDirectory(p.dir, p.guard); err != nil {
		return fmt.Errorf("it is open already: %w", err)
	}
	state, err := readFormat(p.guard, p.dir)
	if err != nil {
		return err
	}
	if state != formatCurrent {
		if p.opt.MustExist {
			return ErrMissing
		}
		if err := clearUnfinished(p.guard, p.dir); err != nil {
			return err
		}
		if err := beginFormat(p.guard, p.dir); err != nil {
			return err
		}
	}
	if state == formatCurrent {
		if err := examine(p.guard, p.dir); err != nil {
			return err
		}
	}
	if err := p.openDB(state == formatCurrent); err != nil {
		if state == formatCurrent {
			err = damaged(err)
		}
		return err
	}
	if state != formatCurrent {
		return finishFormat(p.opt.FS, p.dir)
	}
	return nil
}

// openDB opens the database in a goroutine of its own: a flush that fails while
// the database opens is tried again until it works, and on a full disk it never does.
func (p *Pebble) openDB(exists bool) error {
	p.cache = pebble.NewCache(blockCache)
	defer p.cache.Unref() // the database keeps its own reference
	type answer struct {
		db  *pebble.DB
		err error
	}
	opened := make(chan answer, 1)
	o := p.options(exists)
	p.guard.opening.Store(true)
	go func() {
		var a answer
		defer func() {
			if r := recover(); r != nil {
				a.err = p.failure.set(fmt.Errorf("database panicked while opening: %v", r))
			}
			opened <- a
		}()
		a.db, a.err = pebble.Open(p.dir, o)
	}()
	select {
	case a := <-opened:
		if a.err != nil {
			return a.err
		}
		p.db = a.db
	case <-p.guard.frozen:
		return p.failure.get()
	}
	p.guard.running.Store(true)
	if err := p.failure.get(); err != nil {
		return err
	}
	return p.blobsThere()
}

// blobsThere counts the files of bodies: the database looks for the tables only.
func (p *Pebble) blobsThere() error {
	names, err := p.opt.FS.List(p.dir)
	if err != nil {
		return err
	}
	there := uint64(0)
	for _, name := range names {
		if isBlob(name) {
			there++
		}
	}
	if live := p.db.Metrics().BlobFiles.LiveCount; live > there {
		return p.failure.set(&damageError{fmt.Errorf("%d of %d files of message bodies are missing", live-there, live)})
	}
	return nil
}

func (p *Pebble) options(exists bool) *pebble.Options {
	o := &pebble.Options{
		FS:                 p.guard,
		Lock:               p.lock,
		Cache:              p.cache,
		ErrorIfNotExists:   exists,
		FormatMajorVersion: pebble.FormatValueSeparation,
		MaxOpenFiles:       openFiles,
		MemTableSize:       p.opt.memTable,
		// The database's own write stall cannot be interrupted when the disk is
		// gone. p.stall waits earlier; these limits are never reached.
		MemTableStopWritesThreshold: 16 * unflushed,
		L0StopWritesThreshold:       1 << 20,
		// Whoever collects them looks at a damaged table again and again without a
		// pause, and panics in a goroutine of its own when the database is closed meanwhile.
		DisableTableStats: true,
		Logger:            databaseLog{&p.failure},
		EventListener:     p.listener(),
	}
	o.Experimental.FileCacheShards = 1
	// Bodies go to files of their own when a memory table is flushed: compaction
	// then moves their keys only, and a scan of the keys does not read them.
	o.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		return pebble.ValueSeparationPolicy{
			Enabled: true, MinimumSize: 512, MaxBlobReferenceDepth: 10,
			RewriteMinimumAge: p.opt.blobAge, TargetGarbageRatio: 0.5,
		}
	}
	o.Experimental.SpanPolicyFunc = spanPolicy
	o.CompactionConcurrencyRange = func() (int, int) {
		if p.failure.get() != nil {
			// No more: one that meets a damaged table begins again at once, for ever.
			// Not 0, by which the database divides.
			return -1, -1
		}
		return 1, 1
	}
	return o
}

// spanPolicy keeps everything but bodies where the keys are: a restart reads it all.
func spanPolicy(key []byte) (policy pebble.SpanPolicy, end []byte, err error) {
	lower, end := SpaceBody.bounds()
	switch {
	case bytes.Compare(key, lower) < 0:
		return pebble.SpanPolicy{ValueStoragePolicy: pebble.ValueStorageLowReadLatency}, lower, nil
	case bytes.Compare(key, end) < 0:
		return pebble.SpanPolicy{}, end, nil
	}
	return pebble.SpanPolicy{ValueStoragePolicy: pebble.ValueStorageLowReadLatency}, nil, nil
}

// Failed is closed when the store has failed and takes nothing any more.
func (p *Pebble) Failed() <-chan struct{} { return p.failure.done }

// Err is why the store failed, nil while it has not.
func (p *Pebble) Err() error { return p.failure.get() }

// harmed fails the store if the error means damage: from then on the database
// is left alone. Closing it would pull its files from under a compaction that
// looks at the damaged one again, and panics.
func (p *Pebble) harmed(err error) error {
	if err = damaged(err); errors.Is(err, ErrDamaged) {
		return p.failure.set(err)
	}
	return err
}

// Close ends the store and lets go of its folder. The database of a store that
// has failed, or that does not end in five seconds, is left behind without its files.
func (p *Pebble) Close() error {
	p.applying.Lock()
	defer p.applying.Unlock()
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	if p.failure.get() != nil {
		return p.guard.abandon() // the failure was told already
	}
	ended := make(chan error, 1)
	go func() {
		p.endReclaim()
		ended <- p.closeDB()
	}()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	var err error
	select {
	case err = <-ended:
	case <-p.failure.done:
	case <-timer.C:
		_ = p.failure.set(errors.New("the database did not end in time"))
	}
	if failed := p.failure.get(); failed != nil {
		err = failed // what was not synced may be lost
	}
	if err == nil {
		p.listFiles()
		err = p.lock.Close()
	}
	if err = errors.Join(err, p.guard.abandon()); err != nil {
		return fmt.Errorf("close store %s: %w", p.dir, err)
	}
	return nil
}

// listFiles makes damage visible that is done until the next start. Without the
// list there is one check less.
func (p *Pebble) listFiles() {
	if err := writeClean(p.opt.FS, p.dir); err != nil {
		p.failure.log(fmt.Sprintf("store %s: the list of its files cannot be written, the next start cannot check them: %v", p.dir, err))
	}
}

func (p *Pebble) closeDB() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("database panicked while closing: %v", r)
		}
	}()
	return p.db.Close()
}
