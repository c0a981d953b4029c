package store

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// ErrDamaged is part of the error for a store whose files are not what the
// database wrote: Rescue tells what is lost, Salvage goes on without it.
var ErrDamaged = errors.New("the store is damaged")

// damageError is an error of the database in one line.
type damageError struct{ cause error }

func (e *damageError) Error() string {
	if strings.HasPrefix(e.cause.Error(), ErrDamaged.Error()) {
		return strings.ReplaceAll(e.cause.Error(), "\n", "; ")
	}
	return ErrDamaged.Error() + ": " + strings.ReplaceAll(e.cause.Error(), "\n", "; ")
}

func (e *damageError) Unwrap() []error { return []error{ErrDamaged, e.cause} }

// damaged marks the errors that mean damage; the disk's own (no space, no
// right, input/output error) are not: the files may be as they were.
func damaged(err error) error {
	var disk syscall.Errno
	switch {
	case err == nil, errors.Is(err, ErrDamaged), errors.Is(err, ErrFormat), errors.Is(err, ErrMissing), errors.Is(err, ErrClosed):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, io.ErrUnexpectedEOF), pebble.IsCorruptionError(err):
		return &damageError{err}
	case errors.As(err, &disk):
		return err
	case errors.Is(err, pebble.ErrDBDoesNotExist), databaseSays(err):
		return &damageError{err}
	}
	return err
}

// databaseSays knows the words of errors that have no mark.
func databaseSays(err error) bool {
	text := err.Error()
	for _, words := range []string{
		"size mismatch", "panicked while opening", "panicked while loading", "corrupt",
		"could not open manifest", "error when loading manifest", "parsing format major version", "unknown format major version",
		"is not pristine", "comparer name", "invalid table", "bad magic",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
