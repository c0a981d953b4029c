package mqengine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockPatience is how long the lock is tried for: a look at it by another
// command holds it for an instant.
const lockPatience = 200 * time.Millisecond

// InUseError tells that another process holds a queue manager's folder.
type InUseError struct {
	QMgr string
	PID  int // 0 if unknown
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("queue manager %s is in use by another process", e.QMgr)
	}
	return fmt.Sprintf("queue manager %s is in use by process %d", e.QMgr, e.PID)
}

// folderLock is the exclusive right to a queue manager's folder. The kernel
// takes it back when the process dies, however it dies.
type folderLock struct {
	f      *os.File
	before string // what the file said of the last holder
}

// lockFolder takes the lock and notes the process in it.
func lockFolder(folder, name string) (*folderLock, error) {
	f, err := os.OpenFile(lockPath(folder), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("lock queue manager %s: %w", name, err)
	}
	deadline := time.Now().Add(lockPatience)
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock queue manager %s: %w", name, err), f.Close())
		}
		if time.Now().After(deadline) {
			held := readHolder(f)
			return nil, errors.Join(&InUseError{QMgr: name, PID: held.pid}, f.Close())
		}
		<-time.After(lockPatience / 20)
	}
	l := &folderLock{f: f, before: firstLine(f)}
	if err := l.stillThere(folder); err != nil {
		return nil, errors.Join(fmt.Errorf("lock queue manager %s: %w", name, err), f.Close())
	}
	if err := l.note(fmt.Sprintf("starting %d", os.Getpid())); err != nil {
		return nil, errors.Join(fmt.Errorf("lock queue manager %s: %w", name, err), f.Close())
	}
	return l, nil
}

// stillThere guards against a deletion between the opening of the file and the lock on it.
func (l *folderLock) stillThere(folder string) error {
	own, err := l.f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Stat(lockPath(folder))
	if err != nil {
		return err
	}
	if !os.SameFile(own, now) {
		return errors.New("the folder was replaced meanwhile; try again")
	}
	return nil
}

// running notes that the queue manager can be used.
func (l *folderLock) running() error { return l.note(fmt.Sprintf("pid %d", os.Getpid())) }

// quiescing notes that a controlled end has begun.
func (l *folderLock) quiescing() error { return l.note(fmt.Sprintf("quiescing %d", os.Getpid())) }

// note replaces what the lock file says.
func (l *folderLock) note(line string) error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt([]byte(line+"\n"), 0)
	return err
}

// giveBack releases the lock of a start that failed: the queue manager is as it
// was. A file that says nothing is that of one that was never started.
func (l *folderLock) giveBack() error {
	return errors.Join(l.note(cmp.Or(l.before, "ended")), l.f.Close())
}

// release gives the lock back; normally says that the end was orderly.
func (l *folderLock) release(normally bool) error {
	var err error
	if normally {
		err = l.note("ended")
	}
	return errors.Join(err, l.f.Close())
}

// holder is what a lock file says: of its present holder, or of the last one.
type holder struct {
	pid      int
	starting bool // not ready yet
	quiesces bool // a controlled end has begun
	ended    bool // the last holder ended in order
}

func readHolder(f *os.File) holder {
	var h holder
	word, pid, _ := strings.Cut(firstLine(f), " ")
	h.pid, _ = strconv.Atoi(pid) // 0, unknown, for whatever else is there
	h.starting, h.quiesces, h.ended = word == "starting", word == "quiescing", word == "ended"
	return h
}

// firstLine is what a lock file says; blank if there is nothing, or nothing that can be read.
func firstLine(f *os.File) string {
	line := make([]byte, 64)
	n, err := f.ReadAt(line, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	text, _, _ := strings.Cut(string(line[:n]), "\n")
	return text
}

// lookAtLock tells whether somebody holds the lock now, and what the file says.
func lookAtLock(folder string) (running bool, h holder, err error) {
	f, err := os.Open(lockPath(folder))
	if errors.Is(err, os.ErrNotExist) {
		return false, holder{ended: true}, nil // created and never started
	}
	if err != nil {
		return false, holder{}, err
	}
	defer f.Close()
	h = readHolder(f)
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil:
		return false, h, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, h, nil
	default:
		return false, h, fmt.Errorf("look at %s: %w", lockPath(folder), err)
	}
}
