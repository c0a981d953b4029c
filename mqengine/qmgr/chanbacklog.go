package qmgr

import (
	"cmp"
	"slices"
)

// backlogKey is a transmission queue and the cluster sender that takes from
// it; the sender of an ordinary transmission queue takes all that is blank.
type backlogKey struct {
	queue   *queue
	channel string
}

// backlog is the messages of one channel on a transmission queue that are not
// sent, in order of delivery. It finds the next batch without looking at what
// waits for others. Entries may be stale: somebody else took the message, or
// it expired; who takes from the backlog looks.
type backlog struct {
	key   backlogKey
	lanes [maxPriority + 1]fifo
}

// fifo is a queue of messages with ascending seq.
type fifo struct {
	list []*message
	head int
}

func (f *fifo) add(msg *message) {
	n := len(f.list)
	if n > f.head && f.list[n-1].seq > msg.seq {
		// Given back: to its old place.
		i, found := slices.BinarySearchFunc(f.list[f.head:], msg.seq, func(x *message, seq uint64) int { return cmp.Compare(x.seq, seq) })
		if !found {
			f.list = slices.Insert(f.list, f.head+i, msg)
		}
		return
	}
	if n > f.head && f.list[n-1] == msg {
		return
	}
	f.list = append(f.list, msg)
}

func (f *fifo) pop() {
	f.list[f.head] = nil
	f.head++
	if f.head == len(f.list) {
		f.list, f.head = f.list[:0], 0
	} else if f.head > 1024 && f.head > len(f.list)/2 {
		f.list = slices.Delete(f.list, 0, f.head)
		f.head = 0
	}
}

// add notes a message that may be sent.
func (b *backlog) add(msg *message) { b.lanes[msg.lane].add(msg) }

// waits reports whether the entry is still what it was.
func (b *backlog) waits(msg *message) bool {
	return msg.queue == b.key.queue && msg.channel == b.key.channel && msg.available()
}

// next is the first message that waits; nil if there is none. Stale entries before it are dropped.
func (b *backlog) next() *message {
	for p := maxPriority; p >= 0; p-- {
		f := &b.lanes[p]
		for f.head < len(f.list) {
			if msg := f.list[f.head]; b.waits(msg) {
				return msg
			}
			f.pop()
		}
	}
	return nil
}

func (b *backlog) ready() bool { return b.next() != nil }

// all lists what waits, in order of delivery.
func (b *backlog) all() []*message {
	var out []*message
	for p := maxPriority; p >= 0; p-- {
		f := &b.lanes[p]
		for _, msg := range f.list[f.head:] {
			if b.waits(msg) {
				out = append(out, msg)
			}
		}
	}
	return out
}

func (m *Machine) backlogOf(q *queue, channel string) *backlog {
	k := backlogKey{q, channel}
	b := m.cluster.channels.backlogs[k]
	if b == nil {
		b = &backlog{key: k}
		m.cluster.channels.backlogs[k] = b
	}
	return b
}

func sortedBacklogs(m map[backlogKey]*backlog) []backlogKey {
	keys := make([]backlogKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b backlogKey) int {
		return cmp.Or(cmp.Compare(a.queue.name, b.queue.name), cmp.Compare(a.channel, b.channel))
	})
	return keys
}
