package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// formatVersion is the version of keys and layout that this program writes.
// What the values say has versions of its own.
const formatVersion = 1

// The format file is read before anything else is touched. It is written last
// when a store is created: a folder with only the unfinished file holds a store
// that nobody was ever told of, and is begun anew.
const (
	formatName     = "FORMAT"
	unfinishedName = "FORMAT.new"
	formatPrefix   = "situationd store format "
)

// ErrFormat is part of the error for a folder that holds something else, or the store of another version.
var ErrFormat = errors.New("store: not a store that this program can read")

// ErrMissing is the answer of OpenPebble with MustExist where there is no store.
var ErrMissing = errors.New("store: there is no store")

// formatState is what the folder holds.
type formatState int

const (
	formatEmpty formatState = iota
	formatUnfinished
	formatCurrent
)

func readFormat(fs vfs.FS, dir string) (formatState, error) {
	names, err := fs.List(dir)
	if err != nil {
		return 0, err
	}
	state, others := formatEmpty, ""
	for _, name := range names {
		switch name {
		case formatName:
			return formatCurrent, checkFormat(fs, fs.PathJoin(dir, name))
		case unfinishedName:
			state = formatUnfinished
		case lockName:
		default:
			others = name
		}
	}
	if state == formatEmpty && others != "" {
		return 0, fmt.Errorf("%w: %s holds %s but no %s file", ErrFormat, dir, others, formatName)
	}
	return state, nil
}

func checkFormat(fs vfs.FS, path string) error {
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, 256))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	number, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), formatPrefix)
	version, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil || version < 1:
		return fmt.Errorf("%w: %s says %q", ErrFormat, path, text)
	case version > formatVersion:
		return fmt.Errorf("%w: it has format %d, this program reads up to %d: use the newer program", ErrFormat, version, formatVersion)
	}
	return nil
}

// beginFormat marks the folder as a store that is being created.
func beginFormat(fs vfs.FS, dir string) error {
	f, err := fs.Create(fs.PathJoin(dir, unfinishedName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(formatPrefix + strconv.Itoa(formatVersion) + "\n"))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), syncDir(fs, dir))
}

// finishFormat says that the store is complete.
func finishFormat(fs vfs.FS, dir string) error {
	if err := fs.Rename(fs.PathJoin(dir, unfinishedName), fs.PathJoin(dir, formatName)); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

// clearUnfinished removes what a creation that was interrupted left behind.
func clearUnfinished(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == unfinishedName || name == lockName {
			continue
		}
		if err := fs.RemoveAll(fs.PathJoin(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return syncDir(fs, dir)
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// makeDir creates the folder and its parents so that a power failure cannot take them away again.
func makeDir(fs vfs.FS, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return nil
	}
	parent := fs.PathDir(dir)
	if parent != dir && parent != "." {
		if err := makeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return syncDir(fs, parent)
}
