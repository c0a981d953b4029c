package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Body gives the bytes of a body. A read that the disk refuses fails the store.
func (p *Pebble) Body(id BodyID) ([]byte, error) {
	return reading(p, func() ([]byte, error) { return p.body(id) })
}

// Bodies gives a body and those after it: one search for all of them, where Body
// searches for each.
func (p *Pebble) Bodies(id BodyID, next, size int) ([]Body, error) {
	return reading(p, func() ([]Body, error) { return p.bodies(id, next, size) })
}

// reading reads in a goroutine of its own, because a failed read does not come
// back. It fails the store where the database panics, as it does when a file of
// bodies is missing: it must not be called again then, not even to close it.
func reading[T any](p *Pebble, read func() (T, error)) (none T, err error) {
	p.reading.RLock()
	defer p.reading.RUnlock()
	if p.closed {
		return none, ErrClosed
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if r := recover(); r != nil {
				a.err = p.failure.set(fmt.Errorf("bodies: %w", &damageError{fmt.Errorf("database panicked: %v", r)}))
			}
			answers <- a
		}()
		a.value, a.err = read()
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-p.guard.frozen:
		return none, p.failure.get()
	}
}

func (p *Pebble) body(id BodyID) ([]byte, error) {
	var key [bodyKeyLen]byte
	value, closer, err := p.db.Get(appendBodyKey(key[:0], id))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, fmt.Errorf("body %d: %w", id, ErrNoBody)
	}
	if err != nil {
		return nil, p.harmed(fmt.Errorf("store %s: body %d: %w", p.dir, id, err))
	}
	body := append(make([]byte, 0, len(value)), value...)
	// A value that cannot be read is empty, and its error comes here.
	if err := closer.Close(); err != nil {
		return nil, p.harmed(fmt.Errorf("store %s: body %d: %w", p.dir, id, err))
	}
	return body, nil
}

func (p *Pebble) bodies(id BodyID, next, size int) (list []Body, err error) {
	it, err := p.db.NewIter(&pebble.IterOptions{
		LowerBound: appendBodyKey(nil, id), UpperBound: appendBodyKey(nil, id+BodyID(next)+1),
	})
	if err != nil {
		return nil, p.harmed(fmt.Errorf("store %s: body %d: %w", p.dir, id, err))
	}
	for ok := it.First(); ok; ok = it.Next() {
		b := Body{ID: BodyID(binary.BigEndian.Uint64(it.Key()[1:]))}
		if len(list) == 0 && b.ID != id {
			break
		}
		value := it.LazyValue()
		if size -= value.Len(); size < 0 && len(list) > 0 {
			break
		}
		var data []byte
		if data, _, err = value.Value(nil); err != nil {
			break
		}
		b.Data = append(make([]byte, 0, len(data)), data...)
		list = append(list, b)
	}
	err = errors.Join(err, it.Error(), it.Close())
	if len(list) > 0 {
		return list, nil // what cannot be read of the others is told to those who ask for it
	}
	if err != nil {
		return nil, p.harmed(fmt.Errorf("store %s: body %d: %w", p.dir, id, err))
	}
	return nil, fmt.Errorf("body %d: %w", id, ErrNoBody)
}
