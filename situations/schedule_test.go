package situations

import (
	"testing"
	"time"
)

func TestSchedule_Intervals_CountFromTheAnchor(t *testing.T) {
	t.Parallel()
	anchor := time.Date(2026, 1, 1, 10, 0, 3, 0, time.UTC)
	s := Schedule{Every: 5 * time.Minute}
	cases := []struct{ from, want time.Duration }{
		{0, 5 * time.Minute},
		{time.Nanosecond, 5 * time.Minute},
		{5*time.Minute - 1, 5 * time.Minute},
		{5 * time.Minute, 10 * time.Minute},
		{17 * time.Minute, 20 * time.Minute}, // what was missed is not made up for
		{-time.Hour, -time.Hour + 5*time.Minute},
	}
	for _, c := range cases {
		if got := s.Next(anchor.Add(c.from), anchor).Sub(anchor); got != c.want {
			t.Errorf("after %s: %s, want %s", c.from, got, c.want)
		}
	}
	if got := s.ticks(anchor, anchor.Add(14*time.Minute), anchor, 10); got != 2 {
		t.Errorf("%d ticks in 14 minutes", got)
	}
	if got := s.ticks(anchor, anchor.Add(24*time.Hour), anchor, 4); got != 4 {
		t.Errorf("%d ticks, the limit is 4", got)
	}
}

func TestSchedule_Cron(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", s, zone)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	cases := []struct{ line, from, want string }{
		{"*/5 * * * *", "2026-01-01 10:02", "2026-01-01 10:05"},
		{"0 8 * * 1-5", "2026-01-02 09:00", "2026-01-05 08:00"}, // Friday to Monday
		{"0 0 29 2 *", "2026-03-01 00:00", "2028-02-29 00:00"},
		{"@daily", "2026-01-01 10:02", "2026-01-02 00:00"},
		{"30 2 * * *", "2026-03-28 03:00", "2026-03-30 02:30"}, // that hour does not exist on the 29th
	}
	for _, c := range cases {
		s, err := ParseCron(c.line, zone)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if got := s.Next(at(c.from).UTC(), time.Time{}); !got.Equal(at(c.want)) {
			t.Errorf("%s after %s: %s, want %s", c.line, c.from, got, c.want)
		}
	}
}

func TestSchedule_Cron_Refused(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "x", "* * * *", "* * * * * *", "60 * * * *", "0 0 31 2 *", "0 0 30 2 *", "TZ=0", "TZ=", "CRON_TZ=UTC", "CRON_TZ=UTC 0 0 * * *",
		"@every", "@every 1ms", "@every -5s", "@every 0s", "@reboot", "@", "*/0 * * * *", "5-1 * * * *", "* * * * 9",
	} {
		if s, err := ParseCron(line, time.UTC); err == nil {
			t.Errorf("%q is taken as %+v", line, s)
		}
	}
	s, err := ParseCron("@every 90s", time.UTC)
	if err != nil || s.Every != 90*time.Second {
		t.Errorf("@every 90s: %+v, %v", s, err)
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	good := map[string]time.Duration{
		"90s": 90 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "100ms": 100 * time.Millisecond,
		"2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "1.5s": 1500 * time.Millisecond, "0s": 0,
	}
	for s, want := range good {
		if got, bad := parseDuration(s); bad != nil || got != want {
			t.Errorf("%s: %s, %v", s, got, bad)
		}
	}
	badOnes := map[string]string{
		"5": "write 5s or 5m", "5 m": "write 5m", "5min": "write 5m", "5 minutes": "write 5m", "5M": "write 5m",
		"3 sec": "write 3s", "x": "write 90s, 5m or 1h30m", "": "write 90s, 5m or 1h30m", "-5m": "", "9999999h": "", "99999999999d": "",
	}
	for s, help := range badOnes {
		_, bad := parseDuration(s)
		if bad == nil || bad.help != help {
			t.Errorf("%q: %+v, want the help %q", s, bad, help)
		}
	}
}

func TestFormatDuration_ReadsBack(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{time.Second, 5 * time.Minute, 90 * time.Second, time.Hour, 90 * time.Minute, 100 * time.Millisecond, 25 * time.Hour, time.Hour + time.Second} {
		if got, bad := parseDuration(formatDuration(d)); bad != nil || got != d {
			t.Errorf("%s is written %s and read %s", d, formatDuration(d), got)
		}
	}
	if got := formatDuration(5 * time.Minute); got != "5m" {
		t.Errorf("five minutes are %s", got)
	}
}
