package store

// WithMemTable makes the memory tables small.
func (o Options) WithMemTable(size uint64) Options {
	o.memTable = size
	return o
}

// Unflushed is how many memory tables' worth of data may wait.
const Unflushed = unflushed

// Stalled tells whether an Apply is held back.
func (p *Pebble) Stalled() bool {
	p.stall.mu.Lock()
	defer p.stall.mu.Unlock()
	return p.stall.waiting
}
