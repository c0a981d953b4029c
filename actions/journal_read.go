package actions

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Page is a part of the journal, oldest line first, as the lines stand in the file.
type Page struct {
	Lines []json.RawMessage
	Next  string // give it as after to go on; blank at the end
}

const (
	maxPage = 10000
	maxLine = 1 << 20
)

// ErrCursor is wrapped when a cursor is not one, or its file was rotated away.
var ErrCursor = errors.New("the journal has no such place any more; start without one")

// ReadJournal reads up to limit lines after a cursor ("" for the oldest kept).
// It needs no open Journal, and skips lines that are not JSON, such as one that
// is just being written.
func ReadJournal(path, after string, limit int) (Page, error) {
	limit = min(max(limit, 1), maxPage)
	files, err := journalFiles(path)
	if err != nil {
		return Page{}, err
	}
	start, offset := 0, int64(0)
	if after != "" {
		if start, offset, err = find(files, after); err != nil {
			return Page{}, err
		}
	}
	page := Page{Lines: []json.RawMessage{}}
	for i := start; i < len(files); i++ {
		full, end, err := readLines(files[i].path, offset, limit, &page.Lines)
		if err != nil {
			return Page{}, err
		}
		if full {
			page.Next = fmt.Sprintf("%s:%d", files[i].mark, end)
			return page, nil
		}
		offset = 0
	}
	return page, nil
}

// TailJournal reads the last n lines.
func TailJournal(path string, n int) ([]json.RawMessage, error) {
	n = min(max(n, 1), maxPage)
	files, err := journalFiles(path)
	if err != nil {
		return nil, err
	}
	out := []json.RawMessage{}
	for i := len(files) - 1; i >= 0 && len(out) < n; i-- {
		lines, err := tailLines(files[i].path, n-len(out))
		if err != nil {
			return nil, err
		}
		out = append(lines, out...)
	}
	return out, nil
}

// journalFile is one file of the journal. Its mark is a digest of its first
// line, which stays the same when the file is renamed.
type journalFile struct{ path, mark string }

// journalFiles lists the files that have lines, oldest first.
func journalFiles(path string) ([]journalFile, error) {
	var out []journalFile
	for i := journalKept; i >= 0; i-- {
		name := path
		if i > 0 {
			name = rotated(path, i)
		}
		mark, err := markOf(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
		out = append(out, journalFile{path: name, mark: mark})
	}
	return out, nil
}

func markOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxLine)).ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	h := fnv.New64a()
	h.Write(line)
	return strconv.FormatUint(h.Sum64(), 16), nil
}

func find(files []journalFile, cursor string) (index int, offset int64, err error) {
	mark, at, ok := strings.Cut(cursor, ":")
	offset, perr := strconv.ParseInt(at, 10, 64)
	if !ok || perr != nil || offset < 0 {
		return 0, 0, fmt.Errorf("%q: %w", cursor, ErrCursor)
	}
	for i, f := range files {
		if f.mark == mark {
			return i, offset, nil
		}
	}
	return 0, 0, fmt.Errorf("%q: %w", cursor, ErrCursor)
}

// readLines appends whole lines from offset on until there are limit in all;
// full says that there may be more, and end where they start.
func readLines(path string, offset int64, limit int, out *[]json.RawMessage) (full bool, end int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, 0, nil // rotated away just now
	}
	if err != nil {
		return false, 0, fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return false, 0, fmt.Errorf("journal: %w", err)
	}
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		if len(*out) >= limit {
			_, err := r.Peek(1)
			return err == nil, offset, nil
		}
		line, err := r.ReadBytes('\n')
		if err != nil { // the end, or a line that is just being written
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, offset, err
		}
		offset += int64(len(line))
		if json.Valid(line) {
			*out = append(*out, json.RawMessage(line[:len(line)-1]))
		}
	}
}

func tailLines(path string, n int) ([]json.RawMessage, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	end, err = lastLineEnd(f, end)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var out []json.RawMessage
	for end > 0 && len(out) < n {
		start, err := lastLineEnd(f, end-1)
		if err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
		if size := end - start; size <= maxLine {
			line := make([]byte, size-1)
			if _, err := f.ReadAt(line, start); err != nil && !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("journal: %w", err)
			}
			if json.Valid(line) {
				out = append(out, line)
			}
		}
		end = start
	}
	slices.Reverse(out)
	return out, nil
}
