package mqengine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// leftoverAge is how old a work folder must be before others may take it for
// left behind: its maker needs an instant from making it to locking it.
const leftoverAge = time.Minute

// workFolder makes a folder beside those of the queue managers for what is being
// made or removed there, and holds it until release. A process that is killed
// leaves the folder behind and its lock not, so the next one can tell.
func workFolder(data, purpose string) (dir string, release func() error, err error) {
	if err := sweep(data, time.Now()); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(qmgrsDir(data), workPrefix+purpose); err != nil {
		return "", nil, err
	}
	f, err := os.Open(dir)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("hold %s: %w", dir, err), f.Close(), os.RemoveAll(dir))
	}
	return dir, f.Close, nil
}

// sweep removes the work folders that killed processes left behind. One that
// cannot be removed costs disk and nothing else, so it stops nobody.
func sweep(data string, now time.Time) error {
	entries, err := os.ReadDir(qmgrsDir(data))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), workPrefix) || !e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < leftoverAge {
			continue // gone meanwhile, or too young to tell
		}
		sweepOne(filepath.Join(qmgrsDir(data), e.Name()))
	}
	return nil
}

func sweepOne(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil { // else its maker is at work
		_ = os.RemoveAll(dir)
	}
}
