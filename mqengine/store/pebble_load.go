package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// errTwice is a caller's mistake: body numbers are only promised to a store's first load.
var errTwice = errors.New("store: loaded before")

// Load visits records and headers and gives the bodies' numbers a new epoch. It
// does not read a body: a million messages are there in half a second.
func (p *Pebble) Load(v Visitor) (maxBody BodyID, err error) {
	p.applying.Lock()
	defer p.applying.Unlock()
	switch {
	case p.closed:
		return 0, ErrClosed
	case p.loaded:
		return 0, errTwice
	case p.failure.get() != nil:
		return 0, p.failure.get()
	}
	p.loaded = true
	if maxBody, err = p.nextEpoch(); err != nil {
		return 0, p.harmed(fmt.Errorf("store %s: load: %w", p.dir, err))
	}
	if err = p.eachRecord(v); err == nil {
		err = p.eachMessage(v, maxBody)
	}
	if err != nil {
		return 0, p.harmed(fmt.Errorf("store %s: load: %w", p.dir, err))
	}
	p.space.begin(p.used())
	return maxBody, nil
}

func (p *Pebble) eachRecord(v Visitor) error {
	return p.scan(SpaceRecord, func(key []byte, it *pebble.Iterator) error {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		return v.Record(string(key[1:]), bytes.Clone(value))
	})
}

func (p *Pebble) eachMessage(v Visitor, maxBody BodyID) error {
	return p.scan(SpaceMessage, func(key []byte, it *pebble.Iterator) error {
		if len(key) != messageKeyLen {
			return fmt.Errorf("message key of %d bytes", len(key))
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		queue, seq := binary.BigEndian.Uint32(key[1:]), binary.BigEndian.Uint64(key[5:])
		id, err := v.Message(queue, seq, bytes.Clone(value))
		if err == nil && id > maxBody {
			err = &damageError{fmt.Errorf("message %d of queue %d names body %d, which was never given", seq, queue, id)}
		}
		return err
	})
}

// scan calls f with every key of a space. The key is only valid in the call.
func (p *Pebble) scan(s Space, f func(key []byte, it *pebble.Iterator) error) error {
	lower, upper := s.bounds()
	it, err := p.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		err = f(it.Key(), it)
	}
	return errors.Join(err, it.Error(), it.Close())
}

// nextEpoch makes sure that no number given before this load is given again,
// without writing a counter while messages flow.
func (p *Pebble) nextEpoch() (BodyID, error) {
	var epoch uint64
	value, closer, err := p.db.Get(epochKey)
	switch {
	case err == nil:
		var n int
		if epoch, n = binary.Uvarint(value); n <= 0 {
			err = errors.New("epoch is not a number")
		}
		err = errors.Join(err, closer.Close())
	case errors.Is(err, pebble.ErrNotFound):
		err = nil
	}
	if err != nil {
		return 0, err
	}
	epoch++
	if epoch >= 1<<(64-epochShift) {
		return 0, errors.New("body numbers are used up")
	}
	if err := p.db.Set(epochKey, binary.AppendUvarint(nil, epoch), pebble.Sync); err != nil {
		return 0, p.failure.set(err)
	}
	return BodyID(epoch << epochShift), p.failure.get()
}
