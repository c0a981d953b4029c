package store

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// openDamaged opens the database of a damaged store for reading, with as much of
// its logs as is whole. Nil: it cannot be opened. What had to be left out is among the faults.
func openDamaged(fs vfs.FS, dir string, found *Findings) (*pebble.DB, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	v := &view{FS: fs, dir: dir, names: names, instead: map[string][]byte{}}
	v.findManifest(found)
	db, first := v.open()
	if first == nil {
		return db, nil
	}
	cuts, err := v.damagedLogs()
	if err != nil {
		return nil, err
	}
	// From the newest on: a log that is damaged may be one that is not needed any more.
	for _, cut := range slices.Backward(cuts) {
		v.cutLogs(cut)
		if db, err := v.open(); err == nil {
			found.Faults = append(found.Faults, fmt.Sprintf(
				"%s is damaged from byte %d on: the changes that follow are lost, what was got since may come back", cut.name, cut.size))
			return db, nil
		}
	}
	found.Faults = append(found.Faults, (&damageError{first}).Error())
	return nil, nil
}

// view shows a folder for reading only, with some files left out or replaced.
type view struct {
	vfs.FS
	dir     string
	names   []string
	instead map[string][]byte
}

func (v *view) open() (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("database panicked while opening: %v", r)
		}
	}()
	return pebble.Open(v.dir, &pebble.Options{
		FS: v, ReadOnly: true, DisableConsistencyCheck: true, DisableAutomaticCompactions: true, DisableTableStats: true,
		FormatMajorVersion: pebble.FormatValueSeparation, Logger: silence{},
	})
}

// silence drops what the database says: the reader meets each fault itself.
type silence struct{}

func (silence) Infof(string, ...any)  {}
func (silence) Errorf(string, ...any) {}
func (silence) Fatalf(string, ...any) {}

// findManifest makes up for a marker that is gone: the newest manifest is meant.
func (v *view) findManifest(found *Findings) {
	const marker = "marker.manifest."
	newest := ""
	for _, name := range v.names {
		if strings.HasPrefix(name, marker) {
			return
		}
		if strings.HasPrefix(name, "MANIFEST-") {
			newest = max(newest, name)
		}
	}
	if newest == "" {
		return
	}
	v.replace(marker+"999999."+newest, nil)
	if len(found.Faults) == 0 {
		found.Faults = append(found.Faults, "the marker of the manifest is missing; "+newest+" is taken")
	}
}

func (v *view) replace(name string, content []byte) {
	if content == nil {
		content = []byte{}
	}
	v.instead[name] = content
	if !slices.Contains(v.names, name) {
		v.names = append(v.names, name)
	}
}

// logCut says how much of a log is whole.
type logCut struct {
	name string
	num  wal.NumWAL
	size int64
}

// damagedLogs are the logs that do not end where a log may end.
func (v *view) damagedLogs() ([]logCut, error) {
	logs, err := wal.Scan(wal.Dir{FS: v, Dirname: v.dir})
	if err != nil {
		return nil, err
	}
	var cuts []logCut
	for i, log := range logs {
		size, err := wholePart(log)
		if errors.Is(err, io.EOF) || errors.Is(err, record.ErrUnexpectedEOF) && i == len(logs)-1 {
			continue
		}
		_, path := log.SegmentLocation(0)
		cuts = append(cuts, logCut{name: v.PathBase(path), num: log.Num, size: size})
	}
	return cuts, nil
}

// wholePart reads a log to its end, or to where it cannot be read.
func wholePart(log wal.LogicalLog) (size int64, err error) {
	r := log.OpenForRead()
	defer func() { _ = r.Close() }() // only read
	for {
		_, offset, err := r.NextRecord()
		if err != nil {
			return offset.Physical, err
		}
	}
}

// cutLogs shows a log up to its damage, and none of those after it.
func (v *view) cutLogs(cut logCut) {
	content, err := readAll(v.FS, v.PathJoin(v.dir, cut.name))
	if err != nil || int64(len(content)) < cut.size {
		content = nil
	} else {
		content = content[:cut.size]
	}
	v.replace(cut.name, content)
	v.names = slices.DeleteFunc(v.names, func(name string) bool {
		return strings.HasSuffix(name, ".log") && name > cut.name && len(name) >= len(cut.name)
	})
}

func readAll(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

func (v *view) List(dir string) ([]string, error) {
	if dir != v.dir {
		return v.FS.List(dir)
	}
	return slices.Clone(v.names), nil
}

func (v *view) Open(path string, o ...vfs.OpenOption) (vfs.File, error) {
	if content, ok := v.instead[v.PathBase(path)]; ok {
		return vfs.NewMemFile(content), nil
	}
	f, err := v.FS.Open(path, o...)
	if err != nil || !isBlob(path) {
		return f, err
	}
	// An error without the mark of corruption: at that one the database would panic.
	if bad := checkBlobFoot(f); bad != nil {
		return nil, errors.Join(errBlobFoot, f.Close())
	}
	return f, nil
}

func (v *view) Stat(path string) (vfs.FileInfo, error) {
	if content, ok := v.instead[v.PathBase(path)]; ok {
		return vfs.NewMemFile(content).Stat()
	}
	return v.FS.Stat(path)
}

// Lock does nothing: a view changes nothing, the queue manager's own lock is
// held, and a database that panicked would never give this one back.
func (v *view) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
