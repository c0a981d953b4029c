package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/situationd/situationd/situations"
)

// Entry is one line of the journal. Every key but channel and attribute is always there; null
// is unknown. What was done to a channel has its name there and an empty queue;
// what was done to the queue manager itself has neither.
type Entry struct {
	Time       time.Time       `json:"time"`
	ID         string          `json:"id"`
	Attempt    int             `json:"attempt"`
	Situation  string          `json:"situation"`
	QMgr       string          `json:"qmgr"`
	Queue      string          `json:"queue"`
	Channel    string          `json:"channel,omitempty"`
	Edge       situations.Edge `json:"edge"`
	Action     string          `json:"action"`
	By         string          `json:"by"`
	Before     *string         `json:"before"`
	After      *string         `json:"after"`
	Result     Result          `json:"result"`
	Reason     string          `json:"reason"`
	SeenBy     []string        `json:"seen_by"`
	Moved      int             `json:"moved"`
	Remaining  int             `json:"remaining"`
	DurationMS int64           `json:"duration_ms"`
	// Attribute is what before and after begin with where the action does not say so.
	Attribute string `json:"attribute,omitempty"`
}

const (
	journalSize = 100 << 20
	journalKept = 5
	probeEvery  = time.Second
)

// Journal is the file of what was done: JSON lines, appended, never changed.
// Full files are renamed to .1 (the youngest) up to .5.
type Journal struct {
	path string
	size int64 // at which it is rotated

	// bad says that err is set or the file closed, readable without waiting for a sync.
	bad atomic.Bool

	mu     sync.Mutex
	file   *os.File
	at     int64 // where the next line goes: the end of the last whole line
	err    error // of the last write; nil when the journal can be written
	probed time.Time
	lines  uint64
	lost   uint64
}

// OpenJournal opens or creates a journal. A line that a crash cut short is taken off.
func OpenJournal(path string) (*Journal, error) { return openJournal(path, journalSize) }

func openJournal(path string, size int64) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{path: path, size: size, file: f}
	if err := j.mend(); err != nil {
		f.Close()
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, nil
}

// mend finds the end of the last whole line and cuts off what follows.
func (j *Journal) mend() error {
	end, err := j.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	at, err := lastLineEnd(j.file, end)
	if err != nil {
		return err
	}
	if at < end {
		if err := j.file.Truncate(at); err != nil {
			return err
		}
	}
	j.at = at
	return nil
}

// lastLineEnd is the position after the last newline before end.
func lastLineEnd(r io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, 4<<10)
	for end > 0 {
		n := min(int64(len(buf)), end)
		if _, err := r.ReadAt(buf[:n], end-n); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

// Append writes one line; with sync it is on disk when Append returns.
func (j *Journal) Append(e Entry, sync bool) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	line = append(line, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return errors.New("journal: closed")
	}
	if err := j.follow(); err != nil {
		return j.fail(err)
	}
	if j.at > 0 && j.at+int64(len(line)) > j.size {
		if err := j.rotate(); err != nil {
			return j.fail(err)
		}
	}
	if _, err := j.file.WriteAt(line, j.at); err != nil {
		j.file.Truncate(j.at) //nolint:errcheck // half a line is cut off again at the next write or open
		return j.fail(err)
	}
	if sync {
		if err := j.file.Sync(); err != nil {
			return j.fail(err)
		}
	}
	j.at += int64(len(line))
	j.lines++
	j.settle(nil)
	return nil
}

// follow sees to it that the open file is the one at the journal's path. Somebody
// may have moved the file or its folder away: lines in a file that nobody finds
// are not a journal.
func (j *Journal) follow() error {
	here, err := j.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(j.path); err == nil && os.SameFile(here, there) {
		return nil
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return err
	}
	old, at := j.file, j.at
	j.file = f
	if err := j.mend(); err != nil {
		j.file, j.at = old, at
		return errors.Join(err, f.Close())
	}
	return errors.Join(old.Close(), syncDir(filepath.Dir(j.path)))
}

// settle notes whether the journal can be written.
func (j *Journal) settle(err error) {
	j.err = err
	j.bad.Store(err != nil)
}

func (j *Journal) fail(err error) error {
	j.lost++
	j.settle(err)
	j.probed = time.Now()
	return fmt.Errorf("journal %s: %w", j.path, err)
}

// Ready says whether the journal can be written, without waiting for one who
// writes. After a failure it tries now and then, so that a full disk that has
// room again is noticed.
func (j *Journal) Ready() bool {
	if !j.bad.Load() {
		return true
	}
	if !j.mu.TryLock() {
		return false
	}
	defer j.mu.Unlock()
	if j.file == nil || time.Since(j.probed) < probeEvery {
		return false
	}
	j.probed = time.Now()
	err := j.follow()
	if err == nil {
		err = j.probe()
	}
	j.settle(err)
	return err == nil
}

// probe writes a block behind the last line and cuts it off again.
func (j *Journal) probe() error {
	if _, err := j.file.WriteAt(make([]byte, 4096), j.at); err != nil {
		j.file.Truncate(j.at) //nolint:errcheck // the next probe or line overwrites it
		return err
	}
	return errors.Join(j.file.Sync(), j.file.Truncate(j.at))
}

// Err is why the journal cannot be written, nil if it can.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Lines is the number of lines written since the journal was opened.
func (j *Journal) Lines() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines
}

// Lost is the number of lines that could not be written since then.
func (j *Journal) Lost() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lost
}

// rotate renames the files on by one and starts a new one. The old file stays
// in use until the new one is there, so a failure loses nothing.
func (j *Journal) rotate() error {
	if err := j.file.Sync(); err != nil {
		return err
	}
	for i := journalKept - 1; i >= 1; i-- {
		if err := os.Rename(rotated(j.path, i), rotated(j.path, i+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(j.path, rotated(j.path, 1)); err != nil {
		return err
	}
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		// The old file goes on under its own name.
		return errors.Join(err, os.Rename(rotated(j.path, 1), j.path))
	}
	old := j.file
	j.file, j.at = f, 0
	return errors.Join(old.Close(), syncDir(filepath.Dir(j.path)))
}

func rotated(path string, n int) string { return fmt.Sprintf("%s.%d", path, n) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Close syncs and closes the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Sync()
	err = errors.Join(err, j.file.Close())
	j.file = nil
	j.bad.Store(true)
	return err
}
