package mqengine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine/qmgr"
)

// Bounds of the error log: AMQERR01.LOG is the current file, two older ones are kept.
const (
	errorLogMax   = 2 << 20
	errorLogFiles = 3
	errorLineMax  = 4 << 10
)

// errorLog is a queue manager's error log: one line per AMQ message. It never
// fails its caller: what cannot be written goes to the logger, once.
type errorLog struct {
	dir    string // blank: no files
	logger hclog.Logger

	mu     sync.Mutex
	file   *os.File
	size   int64
	failed bool
	quota  quota
}

func openErrorLog(dir string, logger hclog.Logger) *errorLog {
	return &errorLog{dir: dir, logger: logger, quota: make(quota)}
}

func errorLogName(dir string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("AMQERR%02d.LOG", n))
}

// write appends entries. Safe for concurrent use.
func (l *errorLog) write(entries []qmgr.LogEntry) {
	for _, e := range entries {
		l.one(e)
	}
}

func (l *errorLog) one(e qmgr.LogEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	ok, before := l.quota.admit(now, e)
	if before != nil {
		l.put(now, *before)
	}
	if ok {
		l.put(now, e)
	}
}

// tell writes what is due about messages that were left out. Somebody calls it now and then.
func (l *errorLog) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, e := range l.quota.due(now, false) {
		l.put(now, e)
	}
}

// put writes one line.
func (l *errorLog) put(now time.Time, e qmgr.LogEntry) {
	text := strings.Map(printable, e.Text)
	if len(text) > errorLineMax {
		text = strings.ToValidUTF8(text[:errorLineMax], "") + " ..."
	}
	l.logger.Log(levelOf(e.ID), text, "id", e.ID)
	if l.dir == "" {
		return
	}
	line := now.UTC().Format("2006-01-02T15:04:05.000Z") + " " + e.ID + ": " + text + "\n"
	err := l.ready(len(line))
	if err == nil {
		var n int
		n, err = l.file.WriteString(line)
		l.size += int64(n)
	}
	if err != nil && !l.failed {
		l.logger.Error("the error log cannot be written", "error", err)
	}
	l.failed = err != nil
}

// ready opens the file, or begins a new one when it is full.
func (l *errorLog) ready(n int) error {
	if l.file != nil && l.size+int64(n) > errorLogMax {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if l.file != nil {
		return nil
	}
	if err := os.MkdirAll(l.dir, 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(errorLogName(l.dir, 1), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

func (l *errorLog) rotate() error {
	err := l.file.Close()
	l.file = nil
	for n := errorLogFiles; n > 1 && err == nil; n-- {
		if err = os.Rename(errorLogName(l.dir, n-1), errorLogName(l.dir, n)); os.IsNotExist(err) {
			err = nil
		}
	}
	return err
}

func (l *errorLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, e := range l.quota.due(now, true) {
		l.put(now, e)
	}
	if l.file != nil {
		if err := l.file.Close(); err != nil {
			l.logger.Error("the error log cannot be closed", "error", err)
		}
		l.file = nil
	}
}

// levelOf goes by the severity letter of an AMQ id.
func levelOf(id string) hclog.Level {
	switch id[max(len(id)-1, 0):] {
	case "E", "S", "T":
		return hclog.Error
	case "W":
		return hclog.Warn
	}
	return hclog.Info
}

// printable keeps what a terminal would obey, and bytes that are no text, of
// other people's words out of the log.
func printable(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
		return ' '
	}
	return r
}
