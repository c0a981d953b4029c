package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Apply writes the unit as one batch.
func (p *Pebble) Apply(u *Unit) error {
	p.applying.Lock()
	defer p.applying.Unlock()
	if p.closed {
		return ErrClosed
	}
	if err := p.stall.wait(p.full); err != nil {
		return err
	}
	if u.Empty() && !u.Sync {
		return nil
	}
	return p.commit(u)
}

// full tells whether writing has to wait for the disk. It goes by size, because
// the database leaves small tables unflushed until there are enough of them.
func (p *Pebble) full() bool {
	m := p.db.Metrics()
	return m.MemTable.Size >= unflushed*p.opt.memTable || m.Levels[0].Sublevels >= sublevels
}

// commit is Apply under the lock. If the database panics, its own locks stay
// held: then it must not be called again, not even to close it.
func (p *Pebble) commit(u *Unit) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = p.failure.set(fmt.Errorf("database panicked: %v", r))
		}
	}()
	size := u.size()
	b := p.db.NewBatchWithSize(size)
	for i := range u.Ops {
		if err := addOp(b, &u.Ops[i]); err != nil {
			return p.failure.set(err)
		}
	}
	if u.Empty() {
		// A sync needs a record to wait for.
		if err := b.LogData(nil, nil); err != nil {
			return p.failure.set(err)
		}
	}
	how := pebble.NoSync
	if u.Sync {
		how = pebble.Sync
	}
	if err := p.db.Apply(b, how); err != nil {
		return p.failure.set(err)
	}
	p.space.wrote(size)
	p.space.count(u)
	// The database reports a failed sync to its log, and success here.
	if err := p.failure.get(); err != nil {
		return err
	}
	if err := b.Close(); err != nil {
		return p.failure.set(err)
	}
	return nil
}

// addOp puts one write into the batch. A body is written once and deleted once,
// which lets the two cancel out as soon as they meet on their way down.
func addOp(b *pebble.Batch, op *Op) error {
	switch op.Kind {
	case OpSetRecord:
		d := b.SetDeferred(1+len(op.Key), len(op.Value))
		appendRecordKey(d.Key[:0], op.Key)
		copy(d.Value, op.Value)
		return d.Finish()
	case OpDeleteRecord:
		d := b.DeleteDeferred(1 + len(op.Key))
		appendRecordKey(d.Key[:0], op.Key)
		return d.Finish()
	case OpSetMessage:
		d := b.SetDeferred(messageKeyLen, len(op.Value))
		appendMessageKey(d.Key[:0], op.Queue, op.Seq)
		copy(d.Value, op.Value)
		return d.Finish()
	case OpDeleteMessage:
		d := b.DeleteDeferred(messageKeyLen)
		appendMessageKey(d.Key[:0], op.Queue, op.Seq)
		return d.Finish()
	case OpSetBody:
		d := b.SetDeferred(bodyKeyLen, len(op.Value))
		appendBodyKey(d.Key[:0], op.Body)
		copy(d.Value, op.Value)
		return d.Finish()
	case OpDeleteBody:
		d := b.SingleDeleteDeferred(bodyKeyLen)
		appendBodyKey(d.Key[:0], op.Body)
		return d.Finish()
	}
	return fmt.Errorf("unknown operation %d", op.Kind)
}
