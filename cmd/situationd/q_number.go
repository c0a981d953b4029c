package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// qCommand is a line that begins with #: #[!]times[/size[/delay[/commit]]], with
// the text behind a blank after #!.
type qCommand struct {
	text   string
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
	if strings.HasPrefix(spec, "c") || strings.HasPrefix(spec, "p") {
		return c, fmt.Errorf("%s: #%c comes with a later release", line, spec[0])
	}
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

// body is the text of one message of a size: cut, or filled up with blanks.
func (c *qCommand) body(size int) string {
	switch {
	case size <= 0:
		return c.text
	case size < len(c.text):
		return c.text[:size]
	}
	return c.text + strings.Repeat(" ", size-len(c.text))
}
