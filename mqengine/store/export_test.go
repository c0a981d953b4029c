package store

import "time"

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

// WithBlobAge sets from which age on a file of bodies may be written anew.
func (o Options) WithBlobAge(age time.Duration) Options {
	o.blobAge = age
	return o
}
