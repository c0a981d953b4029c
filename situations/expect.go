package situations

import (
	"slices"
	"time"
)

// expects reports whether an item of this name must exist.
func (s *Situation) expects(item string) bool {
	g, name := GroupOf(item)
	return len(s.Expect) > 0 && g == s.Watch.group() && slices.Contains(s.Expect, name)
}

// absentRow stands for an item that must exist and does not: its name is known,
// and nothing else.
func absentRow(qmgr, item string) Row {
	g, name := GroupOf(item)
	row := Row{Queue: item, Base: item, Absent: true, Env: Attributes{QUEUE: name, QMGR: qmgr}}
	if g == GroupChannel {
		row.Base, row.Env = "", ChannelAttributes{CHANNEL: name, QMGR: qmgr}
	}
	for _, name := range tableOf(g).names() {
		if name != "QUEUE" && name != "CHANNEL" && name != "QMGR" {
			row.Missing = append(row.Missing, name)
		}
	}
	return row
}

// expected makes the items of the queues that must exist: they are there before
// any sample has them.
func (b *book) expected() {
	for _, s := range b.live {
		for _, name := range s.Expect {
			name = s.Watch.group().Item(name)
			if sl := b.slot(name); sl.items[s.index] == nil {
				sl.items[s.index] = &item{sit: s, queue: name}
			}
		}
	}
}

// missed judges an item whose queue must exist and does not, or is not in the
// cluster that is watched: that is what the situation is there to tell.
func (t *tickRun) missed(sl *slot, it *item) {
	row := absentRow(t.qmgr, sl.queue)
	t.judge(sl, it, True, &row)
}

// checkWait compares the longest wait that is allowed with how long it may take
// until the situation opens: a reader that goes just after a sample is missed
// by all of the first interval.
func (l *loader) checkWait(s *Situation, at place) {
	interval := s.Schedule.longest()
	worst := time.Duration(max(s.For.Samples, 1)) * interval
	if s.For.Duration > 0 {
		worst = s.For.Duration + interval
	}
	if s.Schedule.OnChange && l.group == GroupQueue && s.For.Samples <= 1 && s.For.Duration == 0 {
		return // a change is seen at once
	}
	if worst > s.MaxWait {
		l.warn(at, "max-wait", "shorten sample or for, or sample on_change",
			"it may take %s until this is noticed, and max_wait is %s", formatDuration(worst), formatDuration(s.MaxWait))
	}
}

// longest is the longest interval: that of a cron line is the longest gap among
// its next times.
func (s *Schedule) longest() time.Duration {
	if s.next == nil {
		return s.Every
	}
	const look = 100
	longest := time.Duration(0)
	at := s.Next(testStart, time.Time{})
	for range look {
		next := s.Next(at, time.Time{})
		if next.IsZero() {
			break
		}
		longest = max(longest, next.Sub(at))
		at = next
	}
	return longest
}
