package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// qCommand is a line that begins with #: #[!][c]times[/size[/delay[/commit]]], with
// the text behind a blank after #!.
type qCommand struct {
	text   string
	random bool // filled up with random bytes, the sum of all is told
	times  int
	size   int // 0: the text's own; negative: random up to
	delay  time.Duration
	commit int // instead of -p
}

// Bounds of a # command.
const (
	qTimesMax  = 100_000_000
	qDelayMax  = 24 * 60 * 60
	qCommitMax = 10_000
)

func parseQCommand(line string) (qCommand, error) {
	c := qCommand{text: line}
	spec := line[1:]
	if rest, ok := strings.CutPrefix(spec, "!"); ok {
		spec, c.text, _ = strings.Cut(rest, " ")
	}
	spec, c.random = strings.CutPrefix(spec, "c")
	parts := strings.Split(strings.TrimRight(spec, " "), "/")
	bounds := []struct {
		what        string
		least, most int
	}{
		{"number of messages", 1, qTimesMax}, {"size", -qLineMax, qLineMax},
		{"delay in seconds", 0, qDelayMax}, {"commit interval", 1, qCommitMax},
	}
	if len(parts) > len(bounds) {
		return c, fmt.Errorf("%s: a # line is #times/size/delay/commits; -ax puts it as a message", line)
	}
	values := [4]int{}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < bounds[i].least || n > bounds[i].most {
			return c, fmt.Errorf("%s: %q is no %s; -ax puts such a line as a message", line, p, bounds[i].what)
		}
		values[i] = n
	}
	c.times, c.size, c.delay, c.commit = values[0], values[1], time.Duration(values[2])*time.Second, values[3]
	return c, nil
}

// body is the text of one message of a size: cut, or filled up. Behind text with
// random bytes there is a zero, so that it can be told from them.
func (c *qCommand) body(size int) []byte {
	body := []byte(c.text)
	switch {
	case size <= 0:
		return body
	case size <= len(body):
		return body[:size]
	case !c.random:
		return append(body, bytes.Repeat([]byte(" "), size-len(body))...)
	}
	body = append(body, 0)
	for len(body) < size {
		body = binary.BigEndian.AppendUint64(body, rand.Uint64())
	}
	return body[:size]
}
