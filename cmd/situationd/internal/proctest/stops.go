package proctest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Call is a system call that a process is about to make, before anything of it
// happened.
type Call struct {
	// Number is one of stoppedCalls.
	Number int
	// Own is true for the process that was started, false for what it started.
	Own bool
	// File is what is written or synced, or the program to run: a path, or a word
	// such as socket:[4711].
	File string
	// Data is what is written, its beginning, and At where in the file.
	Data []byte
	At   int64
}

// stoppedCalls are how a process changes the world outside of it: files, sockets, programs.
var stoppedCalls = []int{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_EXECVE}

// dataSeen is how much of what is written a judge sees.
const dataSeen = 64 << 10

// stopsVariable tells a test binary that it is to become another program.
const stopsVariable = "PROCTEST_STOPS"

// BecomeStopped is called first in TestMain of a package that uses SpawnStopped.
// In the process that SpawnStopped started it does not return.
func BecomeStopped() {
	if os.Getenv(stopsVariable) == "" {
		return
	}
	runtime.LockOSThread() // the filter is this thread's, and execve keeps it
	err := becomeStopped()
	fmt.Fprintln(os.Stderr, "stops:", err)
	os.Exit(3)
}

func becomeStopped() error {
	if err := os.Unsetenv(stopsVariable); err != nil {
		return err
	}
	listener, err := installFilter()
	if err != nil {
		return err
	}
	const toParent = 3 // the first of ExtraFiles
	if err := unix.Sendmsg(toParent, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
		return err
	}
	if err := errors.Join(unix.Close(listener), unix.Close(toParent)); err != nil {
		return err
	}
	return syscall.Exec(os.Args[1], os.Args[2:], os.Environ())
}

// installFilter has the kernel ask the holder of the descriptor before each of the calls.
func installFilter() (listener int, err error) {
	const load, jumpEqual, give = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{{Code: load, K: 0}} // the call's number
	for i, number := range stoppedCalls {
		filter = append(filter, unix.SockFilter{Code: jumpEqual, K: uint32(number), Jt: uint8(len(stoppedCalls) - i)})
	}
	filter = append(filter,
		unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: give, K: unix.SECCOMP_RET_USER_NOTIF})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("prctl: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// Once it was asked about, a call waits for the answer whatever signal comes: else it would be asked about twice.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return 0, fmt.Errorf("seccomp: %w", errno)
	}
	return int(fd), nil
}

// SpawnStopped is Spawn of a process that asks before it writes, syncs or starts
// a program: judge says whether it is killed there, with kill -9, so that the
// call is never made. What the process itself started lives on. judge is called
// by one goroutine, and not after the process and all its children ended. Where
// the kernel does not have this the test is skipped.
func SpawnStopped(tb testing.TB, cmd *exec.Cmd, judge func(Call) (kill bool)) *Process {
	tb.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "stops"), os.NewFile(uintptr(pair[1]), "stops")
	defer ours.Close()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Args = append([]string{self, cmd.Path}, cmd.Args...)
	cmd.Path = self
	cmd.Env = append(cmd.Env, stopsVariable+"=1")
	cmd.ExtraFiles = []*os.File{theirs}
	p := Spawn(tb, cmd)
	theirs.Close()
	listener, err := receive(ours)
	if err != nil {
		<-p.ended
		tb.Skipf("the kernel does not let a test stop a process: %v: %s", err, p.stderr.String())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer unix.Close(listener)
		serveStops(listener, p, judge)
	}()
	tb.Cleanup(func() {
		p.Kill()
		<-done
	})
	return p
}

// receive takes the descriptor that the other end sends.
func receive(from *os.File) (fd int, err error) {
	conn, err := net.FileConn(from)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, fmt.Errorf("a pair of sockets is a %T", conn)
	}
	data, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := uc.ReadMsgUnix(data, rights)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return 0, fmt.Errorf("no descriptor was sent: %w", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return fds[0], nil
}

// notice and answer are the kernel's seccomp_notif and seccomp_notif_resp.
type notice struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	error int32
	flags uint32
}

// serveStops answers until nobody is left who asks.
func serveStops(listener int, p *Process, judge func(Call) bool) {
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			if poll[0].Revents != 0 {
				return
			}
			continue
		}
		var n notice
		if control(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) != 0 {
			continue // who asked is gone already
		}
		if judge(callOf(&n, p.cmd.Process.Pid)) {
			p.Kill()
		}
		a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		control(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // who asked may be gone
	}
}

func control(fd int, request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	return errno
}

// callOf looks at the process that asks.
func callOf(n *notice, own int) Call {
	proc := "/proc/" + strconv.Itoa(int(n.pid))
	_, err := os.Stat("/proc/" + strconv.Itoa(own) + "/task/" + strconv.Itoa(int(n.pid)))
	c := Call{Number: int(n.nr), Own: err == nil}
	if c.Number == unix.SYS_EXECVE {
		path := memory(proc, n.args[0], 4096)
		for i, b := range path {
			if b == 0 {
				path = path[:i]
				break
			}
		}
		c.File = string(path)
		return c
	}
	c.File, _ = os.Readlink(proc + "/fd/" + strconv.FormatUint(n.args[0], 10)) // blank if it is gone
	if c.Number == unix.SYS_WRITE || c.Number == unix.SYS_PWRITE64 {
		c.Data = memory(proc, n.args[1], int(min(n.args[2], dataSeen)))
		c.At = int64(n.args[3])
	}
	return c
}

// memory is what a process has at an address, as far as it has anything there.
func memory(proc string, at uint64, size int) []byte {
	f, err := os.Open(proc + "/mem")
	if err != nil {
		return nil
	}
	defer f.Close()
	buf := make([]byte, size)
	n, _ := f.ReadAt(buf, int64(at)) // what could be read is all that is wanted
	return buf[:n]
}
