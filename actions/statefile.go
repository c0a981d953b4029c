package actions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// errReplaced tells that another file was put in the state's place.
var errReplaced = errors.New("another file is in its place: a state is changed while its daemon does not run; start the daemon again")

// follow sees to it that the open file is the one at the state's path. Who
// removes the file of a running daemon takes its name only: the state is still
// there, and is written anew. What is in another file nobody here knows.
func (db *DB) follow() error {
	db.mu.RLock()
	removed, err := db.removed()
	db.mu.RUnlock()
	if err != nil || !removed {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if removed, err = db.removed(); err != nil || !removed {
		return err // somebody else has written it meanwhile
	}
	return guarded(db.rewrite)
}

// removed says that no file is at the state's path. The lock is held.
func (db *DB) removed() (bool, error) {
	there, err := os.Stat(db.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err == nil && !os.SameFile(db.file, there):
		return false, errReplaced
	}
	return false, err
}

// rewrite makes the file again, whole or not at all.
func (db *DB) rewrite() error {
	fresh := db.path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := db.bolt.View(func(tx *bolt.Tx) error { return tx.CopyFile(fresh, 0o640) }); err != nil {
		return fmt.Errorf("it was removed, and cannot be written anew: %w", err)
	}
	b, err := bolt.Open(fresh, 0o640, &bolt.Options{Timeout: dbWait, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	file, err := os.Stat(fresh)
	if err == nil {
		err = errors.Join(b.Sync(), os.Rename(fresh, db.path), syncDir(filepath.Dir(db.path)))
	}
	if err != nil {
		return errors.Join(err, b.Close())
	}
	old := db.bolt
	db.bolt, db.file = b, file
	return old.Close()
}
