package transport_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/transport"
)

// raw connects to a listener without our framing and gives what its first Receive says.
func raw(t *testing.T, send string, closeAfter bool) (answer []byte, err error) {
	t.Helper()
	opt := options
	opt.DialTimeout = 100 * time.Millisecond
	opt.MaxFrame = 1 << 20
	l := listen(t, transport.TCP(opt), "127.0.0.1:0")
	received := make(chan error, 1)
	go func() {
		link, err := l.Accept()
		if err == nil {
			_, err = link.Receive()
			_ = link.Close()
		}
		received <- err
	}()
	nc, err := net.Dial("tcp", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, send); err != nil {
		t.Fatal(err)
	}
	if closeAfter {
		if err := nc.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	answer, _ = io.ReadAll(nc)
	return answer, <-received
}

const preface = "SITDC\x00\x00\x01"

func TestAccept_ForeignBytes_RefusedWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		send string
		end  bool
		want error
	}{
		"HTTP":             {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", false, transport.ErrForeign},
		"TLS":              {"\x16\x03\x01\x02\x00\x01\x00", false, transport.ErrForeign},
		"one wrong byte":   {"S1", false, transport.ErrForeign},
		"other protocol":   {"SITDL\x00\x00\x01", false, transport.ErrForeign},
		"newer version":    {"SITDC\x00\x00\x02", false, transport.ErrVersion},
		"reserved byte":    {"SITDC\x01\x00\x01", false, transport.ErrVersion},
		"nothing":          {"", true, io.EOF},
		"silence":          {"", false, os.ErrDeadlineExceeded},
		"half and silence": {"SITD", false, os.ErrDeadlineExceeded},
		"half a preface":   {"SITDC", true, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := raw(t, test.send, test.end)
			if !errors.Is(err, test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("receive: %v, want one line with %v", err, test.want)
			}
			if len(answer) > 0 {
				t.Errorf("a stranger got %q", answer)
			}
		})
	}
}

func TestReceive_BrokenFrames_OneError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		send string
		want error
	}{
		"too long":      {preface + "\x7f\xff\xff\xff", transport.ErrTooLong},
		"largest":       {preface + "\xff\xff\xff\xff", transport.ErrTooLong},
		"half a length": {preface + "\x00\x00", io.ErrUnexpectedEOF},
		"half a frame":  {preface + "\x00\x00\x00\x05abc", io.ErrUnexpectedEOF},
		"no frame":      {preface, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := raw(t, test.send, true); !errors.Is(err, test.want) {
				t.Errorf("receive: %v, want %v", err, test.want)
			}
		})
	}
}

func TestDial_ForeignServer_RefusedWithOneLine(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"web server": "HTTP/1.1 400 Bad Request\r\n\r\n", "closes at once": "", "newer": "SITDC\x00\x00\x09",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				nc, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.ReadFull(nc, make([]byte, len(preface)))
				_, _ = io.WriteString(nc, answer)
				_ = nc.Close()
			}()
			_, err = transport.TCP(options).Dial(t.Context(), l.Addr().String())
			if err == nil || strings.Contains(err.Error(), "\n") || !errors.Is(err, transport.ErrForeign) && !errors.Is(err, transport.ErrVersion) {
				t.Errorf("dial: %v", err)
			}
		})
	}
}

// longDir is a folder whose name does not fit a socket address.
func longDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("a", 100), strings.Repeat("b", 100))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestUnix_SocketFile_ModeCredentialsAndRemoval(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"short": t.TempDir(), "long": longDir(t)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "qm.sock")
			net := transport.Unix(options)
			l := listen(t, net, path)
			info, err := os.Stat(path)
			if err != nil || info.Mode() != os.ModeSocket|0o660 {
				t.Errorf("the file is %v, %v, want a socket with 0660", info.Mode(), err)
			}
			_, far := connect(t, net, l)
			peer, ok := far.Peer()
			if !ok || peer.PID != os.Getpid() || peer.UID != os.Getuid() || peer.GID != os.Getgid() {
				t.Errorf("peer is %+v, %v", peer, ok)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file is still there: %v", err)
			}
		})
	}
}

func TestUnix_StaleSocket_IsReplaced(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"short": t.TempDir(), "long": longDir(t)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "qm.sock")
			leaveSocket(t, dir, "qm.sock")
			net := transport.Unix(options)
			if _, err := net.Dial(t.Context(), path); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("dial: %v, want connection refused", err)
			}
			connect(t, net, listen(t, net, path))
		})
	}
}

// leaveSocket makes the file that a killed process leaves.
func leaveSocket(t *testing.T, dir, name string) {
	t.Helper()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUnix_AnotherFile_IsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "qm.sock")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transport.Unix(options).Listen(path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("listen: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

func TestUnix_ReplacedSocket_IsNotRemovedByItsFormerOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "qm.sock")
	net := transport.Unix(options)
	first, err := net.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second := listen(t, net, path)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	connect(t, net, second)
}

func TestUnix_BadPaths_OneLine(t *testing.T) {
	t.Parallel()
	net := transport.Unix(options)
	long := filepath.Join(t.TempDir(), strings.Repeat("n", 120))
	missing := filepath.Join(t.TempDir(), "no", "folder", "qm.sock")
	for _, path := range []string{long, missing} {
		_, dialErr := net.Dial(t.Context(), path)
		_, listenErr := net.Listen(path)
		for _, err := range []error{dialErr, listenErr} {
			if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
				t.Errorf("%q", err)
			}
		}
	}
}
