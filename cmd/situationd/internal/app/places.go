package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/situationd/situationd/mqengine"
)

// ErrInUse is wrapped when another daemon stands beside the queue manager already.
var ErrInUse = errors.New("in use by another daemon")

// Links are the commands that programs started by the daemon find on their PATH.
var Links = []string{"runmqsc", "q", "strmqm", "crtmqm", "endmqm", "dspmq", "dltmqm"}

// DaemonDir is the folder of the daemon of a queue manager.
func DaemonDir(data, qmgr string) (string, error) {
	folder, err := mqengine.FolderName(qmgr)
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "daemon", folder), nil
}

// SocketPath is the socket of a daemon in its folder.
func SocketPath(dir string) string { return filepath.Join(dir, "daemon.sock") }

// lock is the exclusive right to a daemon's folder; the kernel takes it back
// when the process dies.
type lock struct{ file *os.File }

func lockDir(dir, qmgr string) (*lock, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("lock the daemon's folder: %w", err)
	}
	err = lockPatiently(file)
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer file.Close()
		text := make([]byte, 32)
		n, _ := file.ReadAt(text, 0) // the process number is a help, nothing more
		return nil, fmt.Errorf("queue manager %s: %w (process %s)", qmgr, ErrInUse, strings.TrimSpace(string(text[:n])))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the daemon's folder: %w", err), file.Close())
	}
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the daemon's folder: %w", err), file.Close())
	}
	return &lock{file}, nil
}

func (l *lock) Close() error { return l.file.Close() }

// lockPatiently tries for a moment: a command that looks whether the daemon
// runs holds the lock for an instant.
func lockPatiently(file *os.File) error {
	const tries, pause = 20, 10 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := 1; ; i++ {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		busy := errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR)
		if !busy || i == tries {
			return err
		}
		<-tick.C
	}
}

// makeLinks fills bin with links to this program under the names of the commands
// that it stands for, and removes what else is there of an older version.
func makeLinks(dir string) (string, error) {
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the own program: %w", err)
	}
	for _, name := range Links {
		link := filepath.Join(bin, name)
		if target, err := os.Readlink(link); err == nil && target == self {
			continue
		}
		// A link is replaced in one step: a program may be looking it up right now.
		fresh := link + ".new"
		if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if err := os.Symlink(self, fresh); err != nil {
			return "", err
		}
		if err := os.Rename(fresh, link); err != nil {
			return "", err
		}
	}
	return bin, nil
}

// maxSocketPath is what a socket address has room for.
const maxSocketPath = 107

// shortPath gives a path of the same socket that an address has room for, and
// what must be closed after it was used.
func shortPath(path string) (short string, release func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	short = filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), filepath.Base(path))
	return short, func() { dir.Close() }, nil
}

// listenSocket binds daemon.sock. The caller holds the folder's lock, so a
// socket that is there already is a dead daemon's.
func listenSocket(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	short, release, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := net.Listen("unix", short)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if ul, ok := l.(*net.UnixListener); ok {
		ul.SetUnlinkOnClose(false) // the short path may be another file's by then
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{Listener: l, path: path}, nil
}

type socket struct {
	net.Listener
	path string
}

func (s *socket) Close() error {
	err := s.Listener.Close()
	if rm := os.Remove(s.path); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

// DialSocket connects to a daemon's socket.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	short, release, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer release()
	var d net.Dialer
	return d.DialContext(ctx, "unix", short)
}

// Answers says whether what holds a daemon's folder is a daemon: a command that
// does its work while none runs holds it, too, and has no socket.
func Answers(ctx context.Context, data, qmgr string) error {
	dir, err := DaemonDir(data, qmgr)
	if err != nil {
		return err
	}
	conn, err := DialSocket(ctx, SocketPath(dir))
	switch {
	case err == nil:
		return conn.Close()
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ECONNREFUSED):
		pid, _ := os.ReadFile(filepath.Join(dir, "lock")) // a help, nothing more
		return fmt.Errorf("queue manager %s: %w (process %s), which does not answer as one: a command of this kind, or a daemon that starts or ends; try again",
			qmgr, ErrInUse, strings.TrimSpace(string(pid)))
	default:
		return nil // whoever asks it hears why
	}
}

// FindDaemons names the queue managers whose daemons run, by their locks.
func FindDaemons(data string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(data, "daemon"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var running []string
	for _, entry := range entries {
		dir := filepath.Join(data, "daemon", entry.Name())
		if runs(dir) {
			running = append(running, unfolder(entry.Name()))
		}
	}
	return running, nil
}

// unfolder is the queue manager's name of a folder's.
func unfolder(name string) string { return strings.NewReplacer("&", "/", "~", "%").Replace(name) }

// runs tells whether somebody holds the lock of a daemon's folder.
func runs(dir string) bool {
	file, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
