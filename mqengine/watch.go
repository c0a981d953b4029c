package mqengine

import (
	"context"
	"sync"
)

// watchBatch is how many events travel in one frame.
const watchBatch = 1024

// watchHub tells watchers of changes.
type watchHub struct {
	mu       sync.Mutex
	watchers map[*watcher]struct{}
	closed   bool
}

// watcher is one subscription: what its reader has not taken yet, merged per
// queue, so that it is never longer than the list of queues.
type watcher struct {
	hub  *watchHub
	wake chan struct{} // one token: something is pending, or the hub closed

	mu      sync.Mutex
	pending map[string]ChangeKind
	order   []string
	closed  bool
}

func newWatchHub() *watchHub { return &watchHub{watchers: make(map[*watcher]struct{})} }

// subscribe adds a watcher; nil once the hub is closed.
func (h *watchHub) subscribe() *watcher {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	w := &watcher{hub: h, wake: make(chan struct{}, 1), pending: make(map[string]ChangeKind)}
	h.watchers[w] = struct{}{}
	return w
}

// watched reports whether anybody listens.
func (h *watchHub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers) > 0
}

// tell merges changes into every watcher's pending ones. It never blocks.
func (h *watchHub) tell(list []Change) {
	if len(list) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		w.merge(list)
	}
}

// close ends every watcher.
func (h *watchHub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for w := range h.watchers {
		w.end()
	}
	clear(h.watchers)
}

func (w *watcher) merge(list []Change) {
	w.mu.Lock()
	for _, c := range list {
		if _, ok := w.pending[c.Queue]; !ok {
			w.order = append(w.order, c.Queue)
		}
		w.pending[c.Queue] |= c.Kind
	}
	w.mu.Unlock()
	w.signal()
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) end() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
}

// cancel ends the subscription from the reader's side.
func (w *watcher) cancel() {
	w.hub.mu.Lock()
	delete(w.hub.watchers, w)
	w.hub.mu.Unlock()
	w.end()
}

// take gives up to watchBatch pending changes; false once the watcher has ended.
func (w *watcher) take(into []Change) ([]Change, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.order), watchBatch)
	for _, queue := range w.order[:n] {
		into = append(into, Change{Queue: queue, Kind: w.pending[queue]})
		delete(w.pending, queue)
	}
	rest := copy(w.order, w.order[n:])
	clear(w.order[rest:])
	w.order = w.order[:rest]
	if rest > 0 {
		w.signal()
	}
	return into, !w.closed
}

// stream sends the watcher's changes to out until the watcher or ctx ends. It closes out.
func (w *watcher) stream(ctx context.Context, out chan<- Change) {
	defer close(out)
	defer w.cancel()
	var list []Change
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		var open bool
		list, open = w.take(list[:0])
		for _, c := range list {
			select {
			case out <- c:
			case <-ctx.Done():
				return
			}
		}
		if !open {
			return
		}
	}
}
