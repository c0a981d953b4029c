package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A long run tells how far it is, at most every two seconds, and once at its
// end; a short one and one whose talk nobody reads says nothing.
func TestQProgress(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	now := start
	clock := func() time.Time { return now }
	var out bytes.Buffer
	p := newQProgress(&out, true, start)
	for done := 1; done <= 6400; done++ {
		now = start.Add(time.Duration(done) * time.Millisecond)
		p.step(done, clock)
	}
	p.end(6400, now)
	want := []string{
		"q: 2048 messages in 2s, 1000 a second", "q: 4096 messages in 4s, 1000 a second",
		"q: 6144 messages in 6s, 1000 a second", "q: 6400 messages in 6s, 1000 a second", "",
	}
	if got := strings.Split(out.String(), "\n"); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("said %q, want %q", got, want)
	}
	out.Reset()
	for _, p := range []qProgress{newQProgress(&out, false, start), newQProgress(&out, true, now)} {
		p.step(64, clock)
		p.end(64, now)
	}
	if out.Len() > 0 {
		t.Errorf("a short run, or one that nobody asked, said %q", out.String())
	}
}
