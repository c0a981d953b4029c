package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketMode lets the owner and its group in.
const socketMode = 0o660

// sunPathMax is the longest path that fits a socket address, without its zero.
const sunPathMax = len(syscall.RawSockaddrUnix{}.Path) - 1

// unixNet is the network of socket files.
type unixNet struct{ opt Options }

// Unix is the network of Unix sockets; addresses are paths of any length.
func Unix(opt Options) Network { return &unixNet{opt.withDefaults()} }

func (u *unixNet) Dial(ctx context.Context, path string) (Link, error) {
	return dial(ctx, u.opt, path, func(ctx context.Context) (net.Conn, error) {
		short, done, err := shortPath(path)
		if err != nil {
			return nil, err
		}
		nc, err := (&net.Dialer{Timeout: u.opt.DialTimeout}).DialContext(ctx, "unix", short)
		return nc, errors.Join(err, done())
	})
}

// DialTLS is refused: the mode of the file says who may connect.
func (u *unixNet) DialTLS(_ context.Context, path string, _ *tls.Config) (Link, error) {
	return nil, fmt.Errorf("connect to %s: %w: there is no TLS on local sockets", path, ErrHandshake)
}

// Listen binds a socket file with mode 0660. A file that a dead process left is
// replaced; one that still answers, or is no socket, is an error. Only the holder
// of the folder's lock may listen in it: that makes the test and the bind one step.
func (u *unixNet) Listen(path string) (Listener, error) {
	l, err := u.listen(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, cause(err))
	}
	return l, nil
}

func (u *unixNet) listen(path string) (_ *listener, err error) {
	short, done, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := removeStale(path, short); err != nil {
		return nil, err
	}
	// The mode is set on the socket before it has a name, so there is no moment
	// in which a wide umask lets others in; chmod then lifts a narrow one.
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		if err := c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), socketMode) }); err != nil {
			return err
		}
		return failed
	}}
	nl, err := lc.Listen(context.Background(), "unix", short)
	if err != nil {
		return nil, err
	}
	ul := nl.(*net.UnixListener)
	ul.SetUnlinkOnClose(false) // its path may be a short one that is gone by then
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, ul.Close(), os.Remove(path))
	}
	bound, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, ul.Close())
	}
	l := newListener(ul, u.opt, path)
	l.after = func(err error) error { return errors.Join(err, removeOwn(path, bound)) }
	return l, nil
}

// removeOwn removes the socket file unless another process has replaced it.
func removeOwn(path string, own os.FileInfo) error {
	now, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) || (err == nil && !os.SameFile(now, own)) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// removeStale removes a socket file that nobody listens on.
func removeStale(path, short string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return errors.New("there is a file that is not a socket; move it away")
	}
	nc, err := net.Dial("unix", short)
	if err == nil {
		return errors.Join(syscall.EADDRINUSE, nc.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// shortPath gives a name of the path that fits a socket address, and what
// releases it: the folder is opened and addressed through its descriptor.
func shortPath(path string) (short string, done func() error, err error) {
	if len(path) <= sunPathMax {
		return path, func() error { return nil }, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	short = filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), filepath.Base(path))
	if len(short) > sunPathMax {
		return "", nil, errors.Join(errors.New("the socket's file name is too long"), dir.Close())
	}
	return short, dir.Close, nil
}

// peerOf asks the kernel who is at the other end.
func peerOf(nc net.Conn) (Peer, bool) {
	uc, ok := nc.(*net.UnixConn)
	if !ok {
		return Peer{}, false
	}
	raw, err := uc.SyscallConn()
	if err != nil {
		return Peer{}, false
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || failed != nil {
		return Peer{}, false
	}
	return Peer{PID: int(cred.Pid), UID: int(cred.Uid), GID: int(cred.Gid)}, true
}
