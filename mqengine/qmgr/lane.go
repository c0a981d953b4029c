package qmgr

import (
	"slices"
	"sort"
)

// chunkSize is how many messages one chunk of a lane holds. 256 entries are one
// page: small enough for ten thousand queues, large enough that a deep queue is
// a short list of chunks.
const (
	chunkSize  = 256
	smallChunk = 8
	maxSpare   = 64
)

// laneEntry is a place in a lane. The place stays when the message goes, so
// that the order of the others can be searched; msg is then nil.
type laneEntry struct {
	seq uint64
	msg *message
}

type chunk struct {
	entries []laneEntry // ascending seq
	live    int
}

// chunkPool keeps a few empty chunks, so that a busy queue allocates none.
type chunkPool struct{ spare []*chunk }

// get gives an empty chunk; the first one of a lane starts small, since most queues hold little.
func (p *chunkPool) get(first bool) *chunk {
	if n := len(p.spare); n > 0 {
		c := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return c
	}
	size := chunkSize
	if first {
		size = smallChunk
	}
	return &chunk{entries: make([]laneEntry, 0, size)}
}

func (p *chunkPool) put(c *chunk) {
	if len(p.spare) < maxSpare {
		clear(c.entries)
		c.entries, c.live = c.entries[:0], 0
		p.spare = append(p.spare, c)
	}
}

// lane is the messages of one priority in the order in which they came. Messages
// that are not available (uncommitted) keep their place in it: a backout gives
// them back by changing their state. Positions are sequence numbers, so cursors
// need no care when messages go.
type lane struct {
	chunks []*chunk
	first  int // index in chunks[0] of its first live entry
	live   int
	// from: every message before it is known not to be available. It makes the
	// next get O(1) also while a long unit of work holds the head of the queue.
	from uint64
	// Where after last stood: a scan goes on from there without searching. The
	// seq found there proves that it still is the place, so it may be stale.
	scanChunk, scanEntry int
}

// push appends a message; its seq is higher than every other in the lane.
func (l *lane) push(p *chunkPool, msg *message) {
	n := len(l.chunks)
	if n == 0 || len(l.chunks[n-1].entries) == chunkSize {
		l.chunks = append(l.chunks, p.get(n == 0))
		n++
	}
	c := l.chunks[n-1]
	c.entries = append(c.entries, laneEntry{seq: msg.seq, msg: msg})
	c.live++
	l.live++
}

// seek finds the first entry with a seq not below the given one.
func (l *lane) seek(seq uint64) (ci, ei int) {
	if len(l.chunks) == 0 {
		return 0, 0
	}
	if c := l.chunks[0]; c.entries[len(c.entries)-1].seq >= seq {
		if c.entries[l.first].seq >= seq {
			return 0, l.first
		}
		return 0, searchEntries(c.entries, seq)
	}
	ci = sort.Search(len(l.chunks), func(i int) bool {
		e := l.chunks[i].entries
		return e[len(e)-1].seq >= seq
	})
	if ci == len(l.chunks) {
		return ci, 0
	}
	return ci, searchEntries(l.chunks[ci].entries, seq)
}

func searchEntries(e []laneEntry, seq uint64) int {
	lo, hi := 0, len(e)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if e[mid].seq < seq {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// after is the first message behind seq, available or not; nil at the end.
func (l *lane) after(seq uint64) *message {
	ci, ei := l.scanChunk, l.scanEntry
	if ci < len(l.chunks) && ei < len(l.chunks[ci].entries) && l.chunks[ci].entries[ei].seq == seq {
		ei++
	} else {
		ci, ei = l.seek(seq + 1)
	}
	for ; ci < len(l.chunks); ci, ei = ci+1, 0 {
		for e := l.chunks[ci].entries; ei < len(e); ei++ {
			if e[ei].msg != nil {
				l.scanChunk, l.scanEntry = ci, ei
				return e[ei].msg
			}
		}
	}
	return nil
}

// firstAvailable is the first message that a getter could have; nil if there is none.
func (l *lane) firstAvailable() *message {
	ci, ei := l.seek(l.from)
	for ; ci < len(l.chunks); ci, ei = ci+1, 0 {
		for e := l.chunks[ci].entries; ei < len(e); ei++ {
			if msg := e[ei].msg; msg != nil && msg.available() {
				l.from = msg.seq
				return msg
			}
		}
	}
	if n := len(l.chunks); n > 0 {
		e := l.chunks[n-1].entries
		l.from = e[len(e)-1].seq + 1
	}
	return nil
}

// freed tells that the message at seq became available.
func (l *lane) freed(seq uint64) {
	if seq < l.from {
		l.from = seq
	}
}

// remove takes a message out of the lane.
func (l *lane) remove(p *chunkPool, msg *message) {
	ci, ei := l.seek(msg.seq)
	c := l.chunks[ci]
	c.entries[ei].msg = nil
	c.live--
	l.live--
	switch {
	case c.live == 0:
		l.drop(p, ci)
	case ci == 0 && ei == l.first:
		for c.entries[l.first].msg == nil {
			l.first++
		}
	case len(c.entries) >= chunkSize/4 && c.live < len(c.entries)/4:
		// Few are left of many: close the gaps so that scans do not pay for them.
		c.entries = slices.DeleteFunc(c.entries, func(e laneEntry) bool { return e.msg == nil })
		if ci == 0 {
			l.first = 0
		}
	}
}

// drop removes a chunk in which nothing lives.
func (l *lane) drop(p *chunkPool, ci int) {
	c := l.chunks[ci]
	switch {
	case len(l.chunks) == 1:
		l.chunks[0] = nil
		l.chunks, l.first, l.from = l.chunks[:0], 0, 0
	case ci == 0:
		l.chunks[0] = nil
		l.chunks, l.first = l.chunks[1:], 0
		for l.chunks[0].entries[l.first].msg == nil {
			l.first++
		}
	default:
		l.chunks = slices.Delete(l.chunks, ci, ci+1)
	}
	p.put(c)
}
