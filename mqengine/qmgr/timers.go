package qmgr

import "time"

// timed is what a timer wakes.
type timed interface {
	timeout(m *Machine, now time.Time, fx *Effects)
}

// timer is a deadline of the machine. It is embedded in what waits.
type timer struct {
	what timed
	when int64 // Unix nanoseconds
	born uint64
	pos  int // index in the heap plus one; 0 is not in it
}

// timers is a heap of deadlines; those of the same time fire in the order in which they were set.
type timers struct {
	heap []*timer
	born uint64
}

func (t *timers) set(x *timer, when int64) {
	t.stop(x)
	t.born++
	x.when, x.born = when, t.born
	t.heap = append(t.heap, x)
	x.pos = len(t.heap)
	t.up(len(t.heap) - 1)
}

func (t *timers) stop(x *timer) {
	if x.pos == 0 {
		return
	}
	i, last := x.pos-1, len(t.heap)-1
	x.pos = 0
	moved := t.heap[last]
	t.heap[last] = nil
	t.heap = t.heap[:last]
	if i == last {
		return
	}
	t.heap[i] = moved
	moved.pos = i + 1
	t.up(i)
	t.down(moved.pos - 1)
}

// next is the earliest deadline; nil if there is none.
func (t *timers) next() *timer {
	if len(t.heap) == 0 {
		return nil
	}
	return t.heap[0]
}

func (t *timers) less(i, j int) bool {
	a, b := t.heap[i], t.heap[j]
	return a.when < b.when || a.when == b.when && a.born < b.born
}

func (t *timers) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.heap[i].pos, t.heap[j].pos = i+1, j+1
}

func (t *timers) up(i int) {
	for i > 0 && t.less(i, (i-1)/2) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (t *timers) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if child+1 < len(t.heap) && t.less(child+1, child) {
			child++
		}
		if !t.less(child, i) {
			return
		}
		t.swap(i, child)
		i = child
	}
}
