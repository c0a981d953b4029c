package store

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// errorPause slows down every write to a file system that has failed. The
// database repeats a failed flush at once and for ever; this keeps that from
// using up a processor until Close.
const errorPause = 100 * time.Millisecond

// guard stands between the database and its file system. The first write, sync
// or rename that fails makes the store fail for good: after a failed sync the
// system may have dropped what it could not write, so trying again can report
// success for bytes that are gone. From then on nothing is written any more.
//
// It also knows what is open, so that a store whose database hangs can let go
// of its files and its lock.
type guard struct {
	vfs.FS
	fail func(op, path string, err error) error // notes the failure, returns err
	err  func() error                           // not nil once the store has failed

	mu        sync.Mutex
	open      map[io.Closer]struct{}
	abandoned bool
	closing   chan struct{}
	once      sync.Once
}

func newGuard(fs vfs.FS, fail func(op, path string, err error) error, err func() error) *guard {
	return &guard{FS: fs, fail: fail, err: err, open: map[io.Closer]struct{}{}, closing: make(chan struct{})}
}

// write runs one operation that changes the file system.
func (g *guard) write(op, path string, f func() error) error {
	if err := g.err(); err != nil {
		g.pause()
		return err
	}
	if err := f(); err != nil {
		return g.fail(op, path, err)
	}
	return nil
}

// pause slows a database down that goes on with a failed store. One that was
// abandoned can never be told to end: it is held for good, which costs memory but no time.
func (g *guard) pause() {
	g.mu.Lock()
	abandoned := g.abandoned
	g.mu.Unlock()
	if abandoned {
		<-make(chan struct{})
	}
	select {
	case <-g.closing:
	case <-time.After(errorPause):
	}
}

// release ends the pauses: the store is being closed.
func (g *guard) release() { g.once.Do(func() { close(g.closing) }) }

// abandon closes everything that is still open.
func (g *guard) abandon() error {
	g.mu.Lock()
	left := make([]io.Closer, 0, len(g.open))
	for c := range g.open {
		left = append(left, c)
	}
	g.open, g.abandoned = nil, true
	g.mu.Unlock()
	var errs []error
	for _, c := range left {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

func (g *guard) track(c io.Closer) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.abandoned {
		return errors.Join(ErrClosed, c.Close())
	}
	g.open[c] = struct{}{}
	return nil
}

// untrack reports whether the caller is to close c.
func (g *guard) untrack(c io.Closer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ours := g.open[c]
	delete(g.open, c)
	return ours
}

func (g *guard) file(f vfs.File, path string) (vfs.File, error) {
	if err := g.track(f); err != nil {
		return nil, err
	}
	return &guardFile{File: f, g: g, path: path}, nil
}

func (g *guard) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = g.write("create", name, func() error { f, err = g.FS.Create(name, c); return err })
	if err != nil {
		return nil, err
	}
	return g.file(f, name)
}

func (g *guard) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = g.write("reuse", from, func() error { f, err = g.FS.ReuseForWrite(from, to, c); return err })
	if err != nil {
		return nil, err
	}
	return g.file(f, to)
}

func (g *guard) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (f vfs.File, err error) {
	err = g.write("open", name, func() error { f, err = g.FS.OpenReadWrite(name, c, o...); return err })
	if err != nil {
		return nil, err
	}
	return g.file(f, name)
}

func (g *guard) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := g.FS.Open(name, o...)
	if err != nil {
		return nil, err
	}
	return g.file(f, name)
}

func (g *guard) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return g.file(f, name)
}

func (g *guard) Rename(from, to string) error {
	return g.write("rename", from, func() error { return g.FS.Rename(from, to) })
}

func (g *guard) Link(from, to string) error {
	return g.write("link", from, func() error { return g.FS.Link(from, to) })
}

func (g *guard) MkdirAll(dir string, perm os.FileMode) error {
	return g.write("create folder", dir, func() error { return g.FS.MkdirAll(dir, perm) })
}

// Remove may fail: a file too many loses nothing, and the database tries again at the next start.
func (g *guard) Remove(name string) error { return g.FS.Remove(name) }

func (g *guard) Lock(name string) (io.Closer, error) {
	l, err := g.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	if err := g.track(l); err != nil {
		return nil, err
	}
	return &guardLock{g: g, lock: l}, nil
}

func (g *guard) Unwrap() vfs.FS { return g.FS }

type guardLock struct {
	g    *guard
	lock io.Closer
}

func (l *guardLock) Close() error {
	if !l.g.untrack(l.lock) {
		return nil
	}
	return l.lock.Close()
}

type guardFile struct {
	vfs.File
	g    *guard
	path string
}

func (f *guardFile) Write(b []byte) (n int, err error) {
	err = f.g.write("write", f.path, func() error { n, err = f.File.Write(b); return err })
	return n, err
}

func (f *guardFile) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.g.write("write", f.path, func() error { n, err = f.File.WriteAt(b, off); return err })
	return n, err
}

func (f *guardFile) Sync() error { return f.g.write("sync", f.path, f.File.Sync) }

func (f *guardFile) SyncData() error { return f.g.write("sync", f.path, f.File.SyncData) }

func (f *guardFile) SyncTo(n int64) (full bool, err error) {
	err = f.g.write("sync", f.path, func() error { full, err = f.File.SyncTo(n); return err })
	return full, err
}

func (f *guardFile) Close() error {
	if !f.g.untrack(f.File) {
		return nil
	}
	return f.File.Close()
}
