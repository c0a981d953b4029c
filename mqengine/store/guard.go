package store

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guard stands between the database and its file system. The first write, sync,
// rename or background read that fails makes the store fail for good: after a
// failed sync the system may have dropped what it could not write, so trying
// again can report success for bytes that are gone. From then on nothing reaches
// the disk any more, as if the process had ended at that moment.
//
// The database is not told so: on its way out of an error it may panic in a
// goroutine of its own, or unlock what is not locked, and either ends the whole
// process. Instead log, manifest and folder seem to be written, so that Apply
// comes back; whoever writes or reads a table is held for good. Nobody is misled:
// Apply and Body look at the failure before they answer. A database that was
// held is never closed, its files are; that costs its memory and no time.
type guard struct {
	vfs.FS
	fail func(op, path string, err error) error // notes the failure, returns err
	err  func() error                           // not nil once the store has failed

	opening atomic.Bool // the database opens, in a goroutine that can be held
	running atomic.Bool // opening is over: errors are kept from the database
	nowhere *vfs.MemFS  // takes the files that are created after a failure

	mu        sync.Mutex
	open      map[io.Closer]struct{}
	abandoned bool
	frozen    chan struct{} // closed when somebody is held
	freeze    sync.Once
}

func newGuard(fs vfs.FS, fail func(op, path string, err error) error, err func() error) *guard {
	return &guard{
		FS: fs, fail: fail, err: err, nowhere: vfs.NewMem(),
		open: map[io.Closer]struct{}{}, frozen: make(chan struct{}),
	}
}

// write runs one operation that changes the file system. done is false if it
// was not carried out although there is no error.
func (g *guard) write(op, path string, f func() error) (done bool, err error) {
	if err = g.err(); err == nil {
		if err = f(); err == nil {
			return true, nil
		}
		err = g.fail(op, path, err)
	}
	switch {
	case isTable(path):
		g.hold() // also while opening: a flush that gets an error begins again at once
	case g.running.Load():
		return false, nil
	case g.opening.Load():
		g.hold() // a compaction may be under way, and the database would clean up under it
	}
	return false, err
}

func isTable(path string) bool {
	return strings.HasSuffix(path, ".sst") || isBlob(path)
}

func isBlob(path string) bool { return strings.HasSuffix(path, ".blob") }

// hold does not return.
func (g *guard) hold() {
	g.freeze.Do(func() { close(g.frozen) })
	select {}
}

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
	gf := &guardFile{handle: handle{file: f}, g: g, path: path}
	if err := g.track(&gf.handle); err != nil {
		return nil, err
	}
	return gf, nil
}

// create runs an operation that gives a new file, or a file that goes nowhere.
func (g *guard) create(op, path string, open func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	done, err := g.write(op, path, func() (err error) { f, err = open(); return err })
	if err == nil && !done {
		f, err = g.nowhere.Create("nowhere", vfs.WriteCategoryUnspecified)
	}
	if err != nil {
		return nil, err
	}
	return g.file(f, path)
}

func (g *guard) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return g.create("create", name, func() (vfs.File, error) { return g.FS.Create(name, c) })
}

func (g *guard) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return g.create("reuse", to, func() (vfs.File, error) { return g.FS.ReuseForWrite(from, to, c) })
}

func (g *guard) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return g.create("open", name, func() (vfs.File, error) { return g.FS.OpenReadWrite(name, c, o...) })
}

// Open holds whoever opens a table once the store has failed: the database looks
// at a damaged one again and again without a pause, for as long as the process lives.
func (g *guard) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if isTable(name) && g.running.Load() && g.err() != nil {
		g.hold()
	}
	f, err := g.FS.Open(name, o...)
	if err != nil {
		return nil, g.unreadable("open", name, err)
	}
	if isBlob(name) {
		if err := checkBlobFoot(f); err != nil {
			_ = g.fail("open", name, err)
			_ = f.Close() // only read
			g.hold()      // also while opening: the database would panic
		}
	}
	return g.file(f, name)
}

// unreadable deals with a read that failed.
func (g *guard) unreadable(op, path string, err error) error {
	if errors.Is(err, io.EOF) || !isTable(path) || !g.running.Load() {
		return err
	}
	_ = g.fail(op, path, err)
	g.hold()
	return err
}

func (g *guard) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return g.file(f, name)
}

func (g *guard) Rename(from, to string) error {
	_, err := g.write("rename", from, func() error { return g.FS.Rename(from, to) })
	return err
}

func (g *guard) Link(from, to string) error {
	_, err := g.write("link", from, func() error { return g.FS.Link(from, to) })
	return err
}

func (g *guard) MkdirAll(dir string, perm os.FileMode) error {
	_, err := g.write("create folder", dir, func() error { return g.FS.MkdirAll(dir, perm) })
	return err
}

// Remove may fail: a file too many loses nothing, and the database tries again
// at the next start. After a failure nothing is removed: the database believes
// that it wrote elsewhere what the file holds.
func (g *guard) Remove(name string) error {
	if g.running.Load() && g.err() != nil {
		return nil
	}
	return g.FS.Remove(name)
}

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
