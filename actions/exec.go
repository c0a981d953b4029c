package actions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ExecOptions say how programs are run.
type ExecOptions struct {
	// Allow lists the files and folders that programs may be run from. Empty: none.
	Allow []string
	// BinDir comes first in PATH: the links runmqsc, q and so on. Dir is the working folder.
	BinDir, Dir string
	// Data, Home and Lang are SITUATIOND_DATA, HOME and LANG; Owner is the token
	// by which a program's own handles are told from those of applications.
	Data, Home, Lang, Owner string
	// Grace is the time between TERM and KILL; 0 means 5s.
	Grace time.Duration
}

const (
	systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	// outputKept bounds what the journal says of a program's output, its end.
	outputKept = 2048
	killAfter  = 5 * time.Second
	// pipeWait is how long output is read after the program itself ended: what it
	// left in the background may keep the pipe open for ever.
	pipeWait = time.Second
)

// ErrNotAllowed is wrapped when a program may not be run.
var ErrNotAllowed = errors.New("not allowed")

// Exec runs programs from an allow list. It implements Programs.
type Exec struct{ opt ExecOptions }

// NewExec makes an Exec.
func NewExec(opt ExecOptions) *Exec {
	if opt.Grace <= 0 {
		opt.Grace = killAfter
	}
	return &Exec{opt: opt}
}

func (x *Exec) path() string {
	if x.opt.BinDir == "" {
		return systemPath
	}
	return x.opt.BinDir + ":" + systemPath
}

// attemptVariable names the attempt that a program belongs to. It is how a daemon
// that starts again finds the program that the one before had just begun.
const attemptVariable = "SITUATIOND_ATTEMPT="

// environment is all that a program gets: nothing of the daemon's own leaks into it.
func (x *Exec) environment(attempt string) []string {
	return []string{
		attemptVariable + attempt,
		"PATH=" + x.path(),
		"SITUATIOND_DATA=" + x.opt.Data,
		"HOME=" + x.opt.Home,
		"LANG=" + x.opt.Lang,
		"SITUATIOND_OWNER=" + x.opt.Owner,
	}
}

// Allowed resolves a program's name and says whether it may be run: after all
// symbolic links it is, or is below, an entry of the allow list, and neither it
// nor its folder can be written by everybody. It gives the file that was judged,
// which is the one to run.
func (x *Exec) Allowed(program string) (file string, err error) {
	name, err := x.lookUp(program)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", fmt.Errorf("exec %s: %w", program, err)
	}
	if !x.listed(real) {
		return "", fmt.Errorf("exec %s: %w: add it or its folder to exec.allow in the daemon's file", program, ErrNotAllowed)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("exec %s: %w", program, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("exec %s: %w: it is not a file", program, ErrNotAllowed)
	}
	folder, err := os.Stat(filepath.Dir(real))
	if err != nil {
		return "", fmt.Errorf("exec %s: %w", program, err)
	}
	const everybody = 0o002
	if info.Mode().Perm()&everybody != 0 {
		return "", fmt.Errorf("exec %s: %w: everybody may write the file; chmod o-w %s", program, ErrNotAllowed, real)
	}
	if folder.Mode().Perm()&everybody != 0 {
		return "", fmt.Errorf("exec %s: %w: everybody may write its folder; chmod o-w %s", program, ErrNotAllowed, filepath.Dir(real))
	}
	return real, nil
}

// lookUp finds a program without a path in the PATH that it would get itself.
func (x *Exec) lookUp(program string) (string, error) {
	if filepath.IsAbs(program) {
		return filepath.Clean(program), nil
	}
	if strings.ContainsRune(program, filepath.Separator) {
		return "", fmt.Errorf("exec %s: %w: write the whole path", program, ErrNotAllowed)
	}
	for _, dir := range strings.Split(x.path(), ":") {
		name := filepath.Join(dir, program)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return name, nil
		}
	}
	return "", fmt.Errorf("exec %s: %w", program, fs.ErrNotExist)
}

func (x *Exec) listed(real string) bool {
	for _, allow := range x.opt.Allow {
		entry, err := filepath.EvalSymlinks(allow)
		if err != nil {
			continue // an entry that does not exist allows nothing
		}
		if real == entry || strings.HasPrefix(real, strings.TrimSuffix(entry, "/")+"/") {
			return true
		}
	}
	return false
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

func (l *lastBytes) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if over := len(l.buf) - outputKept; over > 0 {
		l.buf = append(l.buf[:0], l.buf[over:]...)
		l.cut = true
	}
	return len(p), nil
}

// String is the end of the output as valid text.
func (l *lastBytes) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(l.buf), "?"))
	if l.cut {
		s = "..." + s
	}
	return s
}
