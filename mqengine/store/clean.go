package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The clean file is written by an end in order and removed by the next start. It
// lists the files of the store with their sizes, and sums of those whose end the
// database takes as it finds it: a log or a manifest that was cut short looks to
// it like one that a power failure ended, and it would begin anew there in
// silence. Tables and blobs have sums of their own.
const (
	cleanName    = "CLEAN"
	cleanNewName = "CLEAN.new"
	cleanHeader  = "situationd store ended in order"
	cleanMax     = 16 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cleanFile is one line of the clean file.
type cleanFile struct {
	name string
	size int64
	sum  uint32
}

// hasSum reports whether the contents count, and not only the size.
func hasSum(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "MANIFEST-")
}

// isData reports whether the file is one that the database cannot do without.
func isData(name string) bool {
	return hasSum(name) || isTable(name) || strings.HasPrefix(name, "marker.")
}

// writeClean lists the files of a store whose database was closed. Logs and
// manifests are synced first: what the list says must hold after a power failure.
func writeClean(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	var text bytes.Buffer
	fmt.Fprintln(&text, cleanHeader)
	for _, name := range names {
		if !isData(name) {
			continue
		}
		f, err := lookAt(fs, fs.PathJoin(dir, name), name, true)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s %d %08x\n", f.name, f.size, f.sum)
	}
	fmt.Fprintln(&text, "end")
	if err := writeSynced(fs, fs.PathJoin(dir, cleanNewName), text.Bytes()); err != nil {
		return err
	}
	if err := fs.Rename(fs.PathJoin(dir, cleanNewName), fs.PathJoin(dir, cleanName)); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

// lookAt gives a file's size, and its sum where that counts.
func lookAt(fs vfs.FS, path, name string, sync bool) (c cleanFile, err error) {
	c.name = name
	if !hasSum(name) {
		info, err := fs.Stat(path)
		if err == nil {
			c.size = info.Size()
		}
		return c, err
	}
	f, err := fs.Open(path)
	if err != nil {
		return c, err
	}
	sum := crc32.New(castagnoli)
	c.size, err = io.Copy(sum, f)
	c.sum = sum.Sum32()
	if err == nil && sync {
		err = f.Sync()
	}
	return c, errors.Join(err, f.Close())
}

func writeSynced(fs vfs.FS, path string, text []byte) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// checkClean compares the files with what the last end in order left, one line
// for each difference; nothing if the last end was not in order.
func checkClean(fsys vfs.FS, dir string) (faults []string, err error) {
	list, err := readClean(fsys, dir)
	if err != nil {
		return nil, err
	}
	for _, was := range list {
		is, err := lookAt(fsys, fsys.PathJoin(dir, was.name), was.name, false)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			faults = append(faults, was.name+" is missing")
		case err != nil:
			faults = append(faults, fmt.Sprintf("%s cannot be read: %v", was.name, err))
		case is.size != was.size:
			faults = append(faults, fmt.Sprintf("%s has %d bytes, it had %d", was.name, is.size, was.size))
		case is.sum != was.sum:
			faults = append(faults, was.name+" was changed")
		}
	}
	return faults, nil
}

func readClean(fsys vfs.FS, dir string) ([]cleanFile, error) {
	f, err := fsys.Open(fsys.PathJoin(dir, cleanName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	lines := bufio.NewScanner(io.LimitReader(f, cleanMax))
	if !lines.Scan() || lines.Text() != cleanHeader {
		return nil, lines.Err() // not one of ours, or damaged itself: it says nothing
	}
	var list []cleanFile
	for lines.Scan() {
		if lines.Text() == "end" {
			return list, nil
		}
		var c cleanFile
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %x", &c.name, &c.size, &c.sum); err != nil {
			return nil, nil
		}
		list = append(list, c)
	}
	return nil, lines.Err()
}

// removeClean must be durable before anything is written.
func removeClean(fsys vfs.FS, dir string) error {
	err := fsys.Remove(fsys.PathJoin(dir, cleanName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, syncDir(fsys, dir))
}

// examine looks at the files of an existing store before the database does.
func examine(fsys vfs.FS, dir string) error {
	faults, err := checkClean(fsys, dir)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return &damageError{errors.New(strings.Join(faults, "; "))}
	}
	return removeClean(fsys, dir)
}
