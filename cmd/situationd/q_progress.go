package main

import (
	"fmt"
	"io"
	"time"
)

// qProgressEvery is how often a long run tells how far it is.
const qProgressEvery = 2 * time.Second

// qProgress tells on standard error how far a run is: where a person looks at a
// terminal, or where --progress asks for it. The zero value says nothing.
type qProgress struct {
	out         io.Writer
	every       time.Duration
	begin, last time.Time
	told        bool
}

func newQProgress(out io.Writer, asked bool, now time.Time) qProgress {
	if !asked && !isTerminalWriter(out) {
		return qProgress{}
	}
	return qProgress{out: out, every: qProgressEvery, begin: now, last: now}
}

// isTerminalWriter reports whether a person reads what is written.
func isTerminalWriter(w io.Writer) bool {
	r, ok := w.(io.Reader)
	return ok && isTerminal(r)
}

// step is told of each message. The clock is looked at now and then only.
func (p *qProgress) step(done int, now func() time.Time) {
	if p.out == nil || done%64 != 0 {
		return
	}
	if t := now(); t.Sub(p.last) >= p.every {
		p.last, p.told = t, true
		p.say(done, t)
	}
}

// end closes a run that was told of before.
func (p *qProgress) end(done int, now time.Time) {
	if p.told {
		p.say(done, now)
	}
}

func (p *qProgress) say(done int, now time.Time) {
	d := now.Sub(p.begin)
	fmt.Fprintf(p.out, "q: %d messages in %v, %.0f a second\n", done, d.Round(time.Second), float64(done)/max(d.Seconds(), 0.001))
}
