package store

import "sync"

// CommitterOptions bounds a Committer. Zero values give the defaults.
type CommitterOptions struct {
	// Queue is how many units may wait while another batch is being written;
	// Submit blocks beyond it. Default 64.
	Queue int
	// BatchBytes ends a batch that has grown this large. Default 4 MiB.
	BatchBytes int
}

// Committer is the one writer of a store. Units wait in a short queue while the
// disk works; whatever waits when it is free goes down as one batch with one
// sync, in the order of Submit. This is what lets many clients share a sync.
//
// It owns one goroutine, which Close ends and waits for.
type Committer struct {
	store Store
	opt   CommitterOptions
	queue chan submission
	done  sync.WaitGroup
	batch []submission
	unit  Unit
}

type submission struct {
	unit *Unit
	done func(error)
}

// NewCommitter starts a committer for s, which must have been loaded. From now
// on only the committer may call s.Apply.
func NewCommitter(s Store, opt CommitterOptions) *Committer {
	if opt.Queue <= 0 {
		opt.Queue = 64
	}
	if opt.BatchBytes <= 0 {
		opt.BatchBytes = 4 << 20
	}
	c := &Committer{store: s, opt: opt, queue: make(chan submission, opt.Queue)}
	c.done.Go(c.run)
	return c
}

// Submit hands a unit over, with its bodies filled in. Until done is called the
// unit belongs to the committer. done gets nil once the unit, and all before it,
// is applied, and durable if it or a later unit of its batch asked for a sync;
// an error means that the store is lost for this process and every later unit
// gets the same error. Callbacks run one at a time in the order of Submit, in
// the committer's goroutine: they must be short and must not call Submit.
// Submit may be called by one goroutine at a time, and not after Close.
func (c *Committer) Submit(u *Unit, done func(error)) {
	c.queue <- submission{u, done}
}

// Close writes what was submitted, calls the callbacks and returns. It does not close the store.
func (c *Committer) Close() {
	close(c.queue)
	c.done.Wait()
}

func (c *Committer) run() {
	for first := range c.queue {
		c.gather(first)
		err := c.store.Apply(c.fold())
		for i := range c.batch {
			c.batch[i].done(err)
		}
	}
}

// gather fills the batch with everything that waits, up to the byte limit.
func (c *Committer) gather(first submission) {
	clear(c.batch)
	c.batch = append(c.batch[:0], first)
	size := first.unit.size()
	for size < c.opt.BatchBytes {
		select {
		case next, ok := <-c.queue:
			if !ok {
				return
			}
			c.batch = append(c.batch, next)
			size += next.unit.size()
		default:
			return
		}
	}
}

// fold makes one unit of the batch. A batch of one is written as it is.
func (c *Committer) fold() *Unit {
	if len(c.batch) == 1 {
		return c.batch[0].unit
	}
	c.unit.Reset()
	for _, s := range c.batch {
		c.unit.Ops = append(c.unit.Ops, s.unit.Ops...)
		c.unit.Sync = c.unit.Sync || s.unit.Sync
	}
	return &c.unit
}

// size is roughly what the unit adds to the log.
func (u *Unit) size() int {
	n := 0
	for i := range u.Ops {
		n += 32 + len(u.Ops[i].Key) + len(u.Ops[i].Value)
	}
	return n
}
