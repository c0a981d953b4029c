package killtest

import (
	"encoding/binary"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
)

// Kinds of points at which a daemon is killed.
const (
	pointState   = "state"   // before a transaction is written, and before its end is synced
	pointJournal = "journal" // before a line is written, and before it is synced
	pointCommand = "command" // before an ALTER is sent, and before it is read back
	pointMove    = "move"    // before a unit of work of moving messages is sent
	pointProgram = "program" // before a program begins, and before what it starts begins
	pointPost    = "post"    // before a webhook or an alert is posted
)

// point is a moment in the life of a daemon: before it does one thing more.
type point struct{ kind, what string }

// pointOf tells which point a system call is, if it is one. Samples, answers to
// people, logs and what the runtime writes are none.
func pointOf(c *proctest.Call, metaLast *bool) (p point, ok bool) {
	base := filepath.Base(c.File)
	switch {
	case c.Number == unix.SYS_EXECVE:
		// The test binary becomes the daemon with one itself.
		return point{pointProgram, base}, !c.Own
	case !c.Own:
	case base == "state.db" && c.Number == unix.SYS_PWRITE64:
		*metaLast = c.At <= 4096 // one of the two pages that say which transaction is the last
	case base == "state.db":
		if *metaLast {
			return point{pointState, "committed"}, true
		}
		return point{pointState, "pages written"}, true
	case base == "actions.jsonl" && c.Number == unix.SYS_PWRITE64:
		var line struct{ Action, Result string }
		err := json.Unmarshal(c.Data, &line)
		verb, _, _ := strings.Cut(line.Action, " ")
		return point{pointJournal, verb + " " + line.Result}, err == nil
	case base == "actions.jsonl":
		return point{pointJournal, "written"}, true
	case strings.HasPrefix(c.File, "socket:") && strings.HasPrefix(string(c.Data), "POST "):
		_, path, _ := strings.Cut(string(c.Data), " ")
		path, _, _ = strings.Cut(path, " ")
		return point{pointPost, path}, true
	case strings.HasPrefix(c.File, "socket:"):
		return requestOf(c.Data)
	}
	return point{}, false
}

// requestOf finds a request to the queue manager that changes something, or
// looks whether it changed, among the frames that are written: four bytes of
// length, the kind, a tag and what is asked.
func requestOf(data []byte) (p point, ok bool) {
	const kindCommand, kindMove = 9, 10
	for len(data) > 5 {
		length := int(binary.BigEndian.Uint32(data))
		frame := data[4:min(4+length, len(data))]
		data = data[4+len(frame):]
		switch {
		case len(frame) == 0:
			return p, false
		case frame[0] == kindMove:
			return point{pointMove, "unit of work"}, true
		case frame[0] == kindCommand && strings.Contains(string(frame), "ALTER Q"):
			return point{pointCommand, "ALTER"}, true
		case frame[0] == kindCommand && strings.Contains(string(frame), "DISPLAY QLOCAL("):
			return point{pointCommand, "DISPLAY"}, true
		}
	}
	return p, false
}

// killer ends a daemon at the n-th point after it was armed.
type killer struct {
	mu       sync.Mutex
	armed    bool
	n        int // 0: never
	seen     []point
	at       point
	died     chan struct{} // closed when it was killed
	metaLast bool
}

func newKiller(n int) *killer { return &killer{n: n, died: make(chan struct{})} }

func (k *killer) arm() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.armed = true
}

func (k *killer) judge(c proctest.Call) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := pointOf(&c, &k.metaLast)
	if !ok || !k.armed {
		return false
	}
	k.seen = append(k.seen, p)
	if len(k.seen) != k.n {
		return false
	}
	k.at = p
	close(k.died)
	return true
}

// struck tells whether the daemon was killed.
func (k *killer) struck() bool {
	select {
	case <-k.died:
		return true
	default:
		return false
	}
}

// spawn starts a command that it may kill.
func (k *killer) spawn(t *testing.T, cmd *exec.Cmd) *proctest.Process {
	t.Helper()
	// A goroutine is stopped between two calls without a signal in the middle of one.
	cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1")
	return proctest.SpawnStopped(t, cmd, k.judge)
}
