package store

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// handle closes a file once its last user is done, so that an abandoned store
// can close files that somebody is reading.
type handle struct {
	file   vfs.File
	mu     sync.Mutex
	users  int
	closed bool
}

// enter reports whether the file can be used; leave must follow.
func (h *handle) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.users++
	return true
}

func (h *handle) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users--; h.closed && h.users == 0 {
		// Nobody is left to tell, and what was written was synced or is lost.
		_ = h.file.Close()
	}
}

// Close closes the file now, or when the last user leaves.
func (h *handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	if h.users > 0 {
		return nil
	}
	return h.file.Close()
}

// guardFile is a file of a guard.
type guardFile struct {
	handle
	g    *guard
	path string
}

var _ vfs.File = (*guardFile)(nil)

// use runs one operation on the file. Only an abandoned store has users of closed files.
func (f *guardFile) use(op func() error) error {
	if !f.enter() {
		f.g.hold()
	}
	defer f.leave()
	return op()
}

func (f *guardFile) write(op string, run func() error) (done bool, err error) {
	return f.g.write(op, f.path, func() error { return f.use(run) })
}

// read runs an operation that does not change the file.
func (f *guardFile) read(op string, run func() error) error {
	err := f.use(run)
	if err != nil {
		err = f.g.unreadable(op, f.path, err)
	}
	return err
}

func (f *guardFile) Write(b []byte) (n int, err error) {
	done, err := f.write("write", func() (err error) { n, err = f.file.Write(b); return err })
	if err == nil && !done {
		n = len(b)
	}
	return n, err
}

func (f *guardFile) WriteAt(b []byte, off int64) (n int, err error) {
	done, err := f.write("write", func() (err error) { n, err = f.file.WriteAt(b, off); return err })
	if err == nil && !done {
		n = len(b)
	}
	return n, err
}

func (f *guardFile) Sync() error {
	_, err := f.write("sync", f.file.Sync)
	return err
}

func (f *guardFile) SyncData() error {
	_, err := f.write("sync", f.file.SyncData)
	return err
}

func (f *guardFile) SyncTo(n int64) (full bool, err error) {
	_, err = f.write("sync", func() (err error) { full, err = f.file.SyncTo(n); return err })
	return full, err
}

// Preallocate only makes later writes faster: not every file system can.
func (f *guardFile) Preallocate(off, n int64) error {
	if f.g.err() == nil {
		_ = f.use(func() error { return f.file.Preallocate(off, n) })
	}
	return nil
}

func (f *guardFile) Read(b []byte) (n int, err error) {
	err = f.read("read", func() (err error) { n, err = f.file.Read(b); return err })
	return n, err
}

func (f *guardFile) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.read("read", func() (err error) { n, err = f.file.ReadAt(b, off); return err })
	return n, err
}

// Stat of a log that is used again is part of what must not fail.
func (f *guardFile) Stat() (info vfs.FileInfo, err error) {
	err = f.read("stat", func() (err error) { info, err = f.file.Stat(); return err })
	if err == nil || isTable(f.path) || !f.g.running.Load() {
		return info, err
	}
	_ = f.g.fail("stat", f.path, err)
	return vfs.NewMemFile(nil).Stat()
}

// Prefetch is a hint.
func (f *guardFile) Prefetch(off, n int64) error {
	return f.use(func() error { return f.file.Prefetch(off, n) })
}

func (f *guardFile) Fd() uintptr { return f.file.Fd() }

func (f *guardFile) Close() error {
	if !f.g.untrack(&f.handle) {
		return nil
	}
	return f.handle.Close()
}
