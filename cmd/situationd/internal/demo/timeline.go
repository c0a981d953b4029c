package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// timeline prints what happens as it happens. It is safe for concurrent use.
type timeline struct {
	mu    sync.Mutex
	out   io.Writer
	jsonl bool
	begin time.Time
	err   error // of the first line that could not be written
}

// line is one event in the form of JSON lines.
type line struct {
	Time     string   `json:"time"`
	ElapsedS float64  `json:"elapsed_s"`
	Event    string   `json:"event"`
	QMgr     string   `json:"qmgr"`
	Text     string   `json:"text"`
	OK       *bool    `json:"ok,omitempty"`
	Failed   []string `json:"failed,omitempty"`
}

func newTimeline(out io.Writer, jsonl bool) *timeline {
	return &timeline{out: out, jsonl: jsonl, begin: time.Now()}
}

// say prints one event: a word for programs, a sentence for people.
func (t *timeline) say(event, qmgr, format string, args ...any) {
	t.write(line{Event: event, QMgr: qmgr, Text: fmt.Sprintf(format, args...)})
}

func (t *timeline) write(l line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	l.Time, l.ElapsedS = now.UTC().Format(time.RFC3339Nano), float64(now.Sub(t.begin).Milliseconds())/1000
	var err error
	if t.jsonl {
		err = json.NewEncoder(t.out).Encode(l)
	} else {
		_, err = fmt.Fprintf(t.out, "%6.1fs  %-4s %s\n", l.ElapsedS, l.QMgr, l.Text)
	}
	if t.err == nil {
		t.err = err
	}
}

// plain prints text for people only.
func (t *timeline) plain(format string, args ...any) {
	if t.jsonl {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := fmt.Fprintf(t.out, format, args...); t.err == nil {
		t.err = err
	}
}

// result prints the last line.
func (t *timeline) result(failed []string) {
	ok := len(failed) == 0
	if t.jsonl {
		text := "ok"
		if !ok {
			text = "failed"
		}
		t.write(line{Event: "result", Text: text, OK: &ok, Failed: failed})
		return
	}
	for _, f := range failed {
		t.plain("did not hold: %s\n", f)
	}
	if ok {
		t.plain("demo: ok\n")
	} else {
		t.plain("demo: failed\n")
	}
}
