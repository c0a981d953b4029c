package situations

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Bounds of a sampling interval. Below the least a queue manager would do little
// else; the greatest is Tivoli's.
const (
	MinSample  = 100 * time.Millisecond
	MaxSample  = 999 * 24 * time.Hour
	warnSample = 5 * time.Second
)

// Schedule says when a situation is sampled. The zero value never is.
type Schedule struct {
	// Every is the interval, 0 with a cron line.
	Every time.Duration
	// OnChange asks for a sample also when the queue manager reports a change.
	OnChange bool
	// Cron is the line as written, empty with an interval.
	Cron string
	next cron.Schedule
	loc  *time.Location
}

// ParseCron compiles a cron line of five fields or a descriptor such as @hourly.
// A time zone belongs in the file's timezone key, so a zone prefix is refused
// (the parser under this would panic on some of them).
func ParseCron(line string, loc *time.Location) (s Schedule, err error) {
	defer func() {
		if recover() != nil {
			s, err = Schedule{}, errors.New("this is not a cron line")
		}
	}()
	line = strings.TrimSpace(line)
	if loc == nil {
		loc = time.UTC
	}
	if strings.Contains(line, "TZ=") {
		return Schedule{}, errors.New("a cron line has no time zone here; the file's timezone key sets it")
	}
	if rest, ok := strings.CutPrefix(line, "@every"); ok {
		d, derr := time.ParseDuration(strings.TrimSpace(rest))
		if derr != nil || d < time.Second || d > MaxSample {
			return Schedule{}, errors.New("@every wants an interval of at least a second, like @every 5m")
		}
		return Schedule{Every: d}, nil
	}
	if n := len(strings.Fields(line)); n != 5 && !strings.HasPrefix(line, "@") {
		return Schedule{}, fmt.Errorf("a cron line has five fields, minute hour day month weekday; this has %d", n)
	}
	sched, perr := cron.ParseStandard(line)
	if perr != nil {
		return Schedule{}, errors.New(cronSentence(perr.Error()))
	}
	s = Schedule{Cron: line, next: sched, loc: loc}
	// 2000 was a leap year, so whatever day exists at all is found from here.
	if s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, loc), time.Time{}).IsZero() {
		return Schedule{}, errors.New("no day in the calendar fits this cron line")
	}
	return s, nil
}

// cronSentence puts the parser's words into ours.
func cronSentence(msg string) string {
	for _, cut := range []string{": strconv.", "strconv."} {
		if i := strings.Index(msg, cut); i > 0 {
			msg = msg[:i]
		}
	}
	switch {
	case strings.HasPrefix(msg, "failed to parse int from "):
		return strings.TrimPrefix(msg, "failed to parse int from ") + " is not a number"
	case strings.HasPrefix(msg, "unrecognized descriptor"):
		return "this is not one of @hourly, @daily, @weekly, @monthly and @yearly"
	}
	return msg
}

// Next is the first time after t at which a sample is due, zero for never. An
// interval is counted from anchor, the start of whoever samples, so that the
// daemons of a cluster do not all act in the same instant and situations with
// the same interval see the same sample.
func (s *Schedule) Next(t, anchor time.Time) (next time.Time) {
	if s.next != nil {
		defer func() {
			if recover() != nil {
				next = time.Time{}
			}
		}()
		n := s.next.Next(t.In(s.loc))
		if !n.After(t) {
			return time.Time{}
		}
		return n
	}
	if s.Every <= 0 {
		return time.Time{}
	}
	gone := t.Sub(anchor)
	if gone < 0 { // the clock went back behind the start
		return t.Add(s.Every)
	}
	return anchor.Add((gone/s.Every + 1) * s.Every)
}

// Interval is the time between samples around t: what "two intervals" means there.
func (s *Schedule) Interval(t time.Time) time.Duration {
	if s.next == nil {
		return s.Every
	}
	a := s.Next(t, time.Time{})
	b := s.Next(a, time.Time{})
	if a.IsZero() || b.IsZero() {
		return MaxSample
	}
	return b.Sub(a)
}

// ticks counts the samples that were due after from, up to and including to, but
// no further than limit.
func (s *Schedule) ticks(from, to, anchor time.Time, limit int) int {
	n := 0
	for t := s.Next(from, anchor); n < limit && !t.IsZero() && !t.After(to); t = s.Next(t, anchor) {
		n++
	}
	return n
}

// same reports whether two schedules are due at the same times.
func (s *Schedule) same(o *Schedule) bool {
	return s.Every == o.Every && s.Cron == o.Cron && s.zone() == o.zone()
}

func (s *Schedule) zone() string {
	if s.loc == nil {
		return ""
	}
	return s.loc.String()
}

// String is the schedule as a rule file would have it.
func (s *Schedule) String() string {
	switch {
	case s.Cron != "":
		return s.Cron
	case s.OnChange:
		return "{every: " + formatDuration(s.Every) + ", on_change: true}"
	}
	return formatDuration(s.Every)
}

// formatDuration writes a duration as people do: 5m, not 5m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
