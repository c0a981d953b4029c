package mqengine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
)

// Bounds of what one kind of message may fill the error log with: strangers at
// the port, or a thousand messages for a full queue, must not push out the line
// that tells of something else.
const (
	quotaLines = 50
	quotaEvery = time.Minute
)

// quota counts the messages of each id in the present minute of that id.
type quota map[string]*quotaCount

type quotaCount struct {
	since    time.Time
	lines    int
	leftOut  int
	lastText string // of those that were left out
}

// admit reports whether an entry may be written. before is a line that is due
// about entries that were left out, or nil.
func (q quota) admit(now time.Time, e qmgr.LogEntry) (ok bool, before *qmgr.LogEntry) {
	c := q[e.ID]
	if c == nil {
		c = &quotaCount{since: now}
		q[e.ID] = c
	}
	if passed := now.Sub(c.since); passed >= quotaEvery || passed < 0 {
		before = c.summary(e.ID)
		*c = quotaCount{since: now}
	}
	if c.lines++; c.lines <= quotaLines {
		return true, before
	}
	c.leftOut++
	c.lastText = e.Text
	return false, before
}

// summary is the line about what was left out, nil if nothing was.
func (c *quotaCount) summary(id string) *qmgr.LogEntry {
	if c.leftOut == 0 {
		return nil
	}
	return &qmgr.LogEntry{ID: id, Text: fmt.Sprintf("%d more of these messages were left out since %s, the last: %s",
		c.leftOut, c.since.UTC().Format(time.TimeOnly), c.lastText)}
}

// due gives the lines about what was left out in minutes that are over, or in
// all of them.
func (q quota) due(now time.Time, all bool) []qmgr.LogEntry {
	var list []qmgr.LogEntry
	for _, id := range slices.Sorted(maps.Keys(q)) {
		c := q[id]
		if !all && now.Sub(c.since) < quotaEvery {
			continue
		}
		if s := c.summary(id); s != nil {
			list = append(list, *s)
		}
		delete(q, id)
	}
	return list
}
