package situations

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// mistake is what is wrong with a value, with the way to write it.
type mistake struct{ message, help string }

func (m *mistake) Error() string { return m.message }

var (
	plainNumber  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	spelledUnits = regexp.MustCompile(`^([0-9]+) ?(ms|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|M|S|H|D)$`)
	dayPart      = regexp.MustCompile(`^([0-9]+)d(.*)$`)
	samplesText  = regexp.MustCompile(`^([0-9]+) ?samples?$`)
)

// parseDuration reads 90s, 5m, 1h30m, 100ms or 2d.
func parseDuration(s string) (time.Duration, *mistake) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, wrongDuration(s)
	}
	if plainNumber.MatchString(s) {
		return 0, &mistake{s + " has no unit", fmt.Sprintf("write %ss or %sm", s, s)}
	}
	days := time.Duration(0)
	rest := s
	if m := dayPart.FindStringSubmatch(s); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > 999 {
			return 0, &mistake{s + " is longer than 999 days", ""}
		}
		days, rest = time.Duration(n)*24*time.Hour, m[2]
	}
	d := time.Duration(0)
	if rest != "" {
		var err error
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, wrongDuration(s)
		}
	}
	d += days
	switch {
	case d < 0 || strings.HasPrefix(rest, "-"):
		return 0, &mistake{s + " is negative", ""}
	case d > MaxSample:
		return 0, &mistake{s + " is longer than 999 days", ""}
	}
	return d, nil
}

// ParseDuration reads a duration as the rule files have it.
func ParseDuration(s string) (time.Duration, error) {
	d, bad := parseDuration(s)
	if bad != nil {
		return 0, bad
	}
	return d, nil
}

func wrongDuration(s string) *mistake {
	if m := spelledUnits.FindStringSubmatch(s); m != nil {
		unit := strings.ToLower(m[2][:1])
		if m[2] == "ms" {
			unit = "ms"
		}
		if m[1]+unit == s { // well written, and beyond what a duration can be
			return &mistake{s + " is longer than 999 days", ""}
		}
		return &mistake{s + " is not a duration", "write " + m[1] + unit}
	}
	if s == "" {
		return &mistake{"a duration is missing", "write 90s, 5m or 1h30m"}
	}
	return &mistake{s + " is not a duration", "write 90s, 5m or 1h30m"}
}

// maxSamples bounds what `for` may ask.
const maxSamples = 10000

// parsePersistence reads "2 samples" or a duration.
func parsePersistence(s string) (Persistence, *mistake) {
	s = strings.TrimSpace(s)
	if m := samplesText.FindStringSubmatch(s); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > maxSamples {
			return Persistence{}, &mistake{fmt.Sprintf("%s: a number of samples is 1 to %d", s, maxSamples), ""}
		}
		return Persistence{Samples: n}, nil
	}
	if plainNumber.MatchString(s) {
		return Persistence{}, &mistake{s + " has no unit", fmt.Sprintf("write %s samples or %ss", s, s)}
	}
	d, bad := parseDuration(s)
	if bad != nil {
		if bad.help == "" || bad.help == "write 90s, 5m or 1h30m" {
			bad.help = "write 2 samples or 90s"
		}
		return Persistence{}, bad
	}
	return Persistence{Samples: 1, Duration: d}, nil
}

// parseSample reads the text form of a sample: an interval or a cron line.
func parseSample(s string, loc *time.Location) (Schedule, *mistake) {
	s = strings.TrimSpace(s)
	if isCron(s) {
		sched, err := ParseCron(s, loc)
		if err != nil {
			return Schedule{}, &mistake{s + ": " + err.Error(), `write "*/5 * * * *" or 5m`}
		}
		return sched, nil
	}
	d, bad := parseDuration(s)
	if bad != nil {
		return Schedule{}, bad
	}
	if d < MinSample {
		return Schedule{}, &mistake{fmt.Sprintf("%s is too short; the least interval is %s", s, formatDuration(MinSample)), ""}
	}
	return Schedule{Every: d}, nil
}

// isCron tells a cron line from an interval: it has fields.
func isCron(s string) bool {
	return strings.HasPrefix(s, "@") || strings.Contains(s, "TZ=") || strings.ContainsAny(s, "*") || len(strings.Fields(s)) > 2
}
