package transport

import "sync"

// Budget bounds the bytes of long frames that the links of one listener receive
// at the same time. A frame waits for its share, in the order in which they
// began; meanwhile nothing more of it is read, so that the other side waits too.
// The zero value and nil have no limit.
type Budget struct {
	mu    sync.Mutex
	size  int
	taken int
	queue []*share
}

// share is what one frame asked for.
type share struct {
	bytes int
	ready chan struct{} // closed when it is granted
}

// NewBudget makes a budget. A frame longer than the whole of it goes alone.
func NewBudget(size int) *Budget { return &Budget{size: size} }

// take waits for a share; false if done was closed before it was granted.
func (b *Budget) take(bytes int, done <-chan struct{}) bool {
	if b == nil || b.size == 0 {
		return true
	}
	s := b.ask(bytes)
	select {
	case <-s.ready:
		return true
	default:
	}
	select {
	case <-s.ready:
		return true
	case <-done:
		b.leave(s)
		return false
	}
}

// ask queues up for a share, which may be granted at once.
func (b *Budget) ask(bytes int) *share {
	s := &share{bytes, make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, s)
	b.grant()
	return s
}

// fits: what is too long for the budget is not refused, but nothing is beside it.
func (b *Budget) fits(bytes int) bool { return b.taken == 0 || b.taken+bytes <= b.size }

// give returns a share.
func (b *Budget) give(bytes int) {
	if b == nil || b.size == 0 || bytes == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= bytes
	b.grant()
}

// grant serves those who wait, as far as it goes.
func (b *Budget) grant() {
	for len(b.queue) > 0 && b.fits(b.queue[0].bytes) {
		b.taken += b.queue[0].bytes
		close(b.queue[0].ready)
		b.queue = b.queue[1:]
	}
}

// leave takes a share back that nobody waits for any more.
func (b *Budget) leave(s *share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.queue {
		if b.queue[i] == s {
			b.queue = append(b.queue[:i], b.queue[i+1:]...)
			b.grant()
			return
		}
	}
	b.taken -= s.bytes // it was granted at the same moment
	b.grant()
}
