package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Rescuer takes what Rescue can read. Its errors end the rescue.
type Rescuer interface {
	Record(key string, value []byte) error
	// BodyOf tells which body a header names, 0 for none. An error counts the message as lost.
	BodyOf(header []byte) (BodyID, error)
	// Message gets a message that is whole.
	Message(queue uint32, seq uint64, header []byte, id BodyID, body []byte) error
}

// Gap is a range of keys of one space in which something cannot be read. What
// lies in it is lost: of an older write that can be read nobody knows whether it
// was deleted since, and a message that was got must not come back.
type Gap struct {
	Space       Space
	First, Last []byte // of the key, without its space
}

// Position splits the key of a message.
func (Gap) Position(key []byte) (queue uint32, seq uint64) {
	var b [messageKeyLen - 1]byte
	copy(b[:], key)
	return binary.BigEndian.Uint32(b[:]), binary.BigEndian.Uint64(b[4:])
}

// Findings is what a rescue found.
type Findings struct {
	Faults            []string       // of files, a line each
	Nothing           bool           // not even the table of contents can be read
	Gaps              []Gap          // what lies there is lost
	Records, Messages int            // whole
	Bodies            map[uint32]int // messages by queue whose body cannot be read
	Headers           map[uint32]int // messages by queue whose header says nothing
	epoch             uint64
}

// Whole reports whether nothing is wrong.
func (f *Findings) Whole() bool {
	return len(f.Faults)+len(f.Gaps)+len(f.Bodies)+len(f.Headers) == 0 && !f.Nothing
}

// rescue reads a store past what is damaged in it.
type rescue struct {
	db       *pebble.DB
	found    *Findings
	to       Rescuer
	panicked bool // the database did: it cannot be closed any more
}

// Rescue reads everything in the store that can be read, bodies too, and changes
// nothing. The folder must not be open elsewhere.
func Rescue(dir string, opt Options, to Rescuer) (_ *Findings, err error) {
	if opt.FS == nil {
		opt.FS = vfs.Default
	}
	found := &Findings{Bodies: map[uint32]int{}, Headers: map[uint32]int{}}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("rescue store %s: database panicked: %v", dir, r)
		}
	}()
	if state, err := readFormat(opt.FS, dir); err != nil || state != formatCurrent {
		if err == nil {
			err = ErrMissing
		}
		return nil, fmt.Errorf("rescue store %s: %w", dir, err)
	}
	if found.Faults, err = checkClean(opt.FS, dir); err != nil {
		return nil, fmt.Errorf("rescue store %s: %w", dir, err)
	}
	db, err := openDamaged(opt.FS, dir, found)
	if err != nil {
		return nil, fmt.Errorf("rescue store %s: %w", dir, err)
	}
	if db == nil {
		found.Nothing = true
		return found, nil
	}
	r := &rescue{db: db, found: found, to: to}
	if err = r.all(); err != nil {
		err = fmt.Errorf("rescue store %s: %w", dir, err)
	}
	if r.panicked {
		return found, err // a reader of a damaged store is not around for long
	}
	return found, errors.Join(err, db.Close())
}

func (r *rescue) all() error {
	if err := r.each(spaceMeta, func(key, value []byte) error {
		if bytes.Equal(key, epochKey) {
			r.found.epoch, _ = binary.Uvarint(value)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := r.each(SpaceRecord, func(key, value []byte) error {
		r.found.Records++
		return r.to.Record(string(key[1:]), bytes.Clone(value))
	}); err != nil {
		return err
	}
	return r.each(SpaceMessage, r.message)
}

func (r *rescue) message(key, header []byte) error {
	if len(key) != messageKeyLen {
		return nil // no key of ours
	}
	queue, seq := binary.BigEndian.Uint32(key[1:]), binary.BigEndian.Uint64(key[5:])
	id, err := r.to.BodyOf(header)
	if err != nil {
		r.found.Headers[queue]++
		return nil
	}
	r.found.epoch = max(r.found.epoch, uint64(id)>>epochShift)
	var body []byte
	if id != 0 {
		if body, err = r.body(id); err != nil {
			r.found.Bodies[queue]++
			return nil
		}
	}
	r.found.Messages++
	return r.to.Message(queue, seq, bytes.Clone(header), id, body)
}

func (r *rescue) body(id BodyID) (_ []byte, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			r.panicked = true
			err = fmt.Errorf("database panicked: %v", caught)
		}
	}()
	var key [bodyKeyLen]byte
	value, closer, err := r.db.Get(appendBodyKey(key[:0], id))
	if err != nil {
		return nil, err
	}
	body := bytes.Clone(value)
	return body, closer.Close() // where the value cannot be read, the error comes here
}

// rescuerError is an error of the Rescuer and not of the store.
type rescuerError struct{ err error }

func (e *rescuerError) Error() string { return e.err.Error() }

func (e *rescuerError) Unwrap() error { return e.err }

// each visits the keys of a space in their order, and notes the gaps.
func (r *rescue) each(s Space, f func(key, value []byte) error) error {
	lower, upper := s.bounds()
	for from := lower; from != nil; {
		last, err := r.stretch(from, upper, f)
		if theirs := (*rescuerError)(nil); err == nil || errors.As(err, &theirs) {
			return err
		}
		if last != nil {
			from = append(last, 0)
		}
		next := r.beyond(from, upper)
		gap := Gap{Space: s, First: from[min(1, len(from)):], Last: upper}
		if next != nil {
			gap.Last = next
		}
		gap.Last = gap.Last[1:]
		if s != spaceMeta {
			r.found.Gaps = append(r.found.Gaps, gap)
		}
		from = next
	}
	return nil
}

// stretch visits keys until one cannot be read; last is the last that could.
func (r *rescue) stretch(from, upper []byte, f func(key, value []byte) error) (last []byte, err error) {
	it, err := r.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAfter(it, err)) }()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return last, err
		}
		if err := f(it.Key(), value); err != nil {
			return last, &rescuerError{err}
		}
		last = append(last[:0], it.Key()...)
	}
	return last, it.Error()
}

// closeAfter closes an iterator; it gives its error once more, which is known.
func closeAfter(it *pebble.Iterator, known error) error {
	if err := it.Close(); known == nil {
		return err
	}
	return nil
}

// readable reports whether the first key from there on can be read, or there is none.
func (r *rescue) readable(from, upper []byte) bool {
	it, err := r.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: upper})
	if err != nil {
		return false
	}
	if it.First() {
		_, err = it.ValueAndErr()
	}
	err = errors.Join(err, it.Error())
	return closeAfter(it, err) == nil && err == nil
}

// gapWidth is how many bytes of a key tell places apart when a gap is measured.
const gapWidth = 64

// beyond finds the end of a gap: the first place from which reading goes on. It
// goes on in steps of growing size, and then back by halves. Nil: there is none.
func (r *rescue) beyond(from, upper []byte) []byte {
	bad, end := number(from), number(upper)
	step := new(big.Int).Lsh(big.NewInt(1), 8*(gapWidth-messageKeyLen)) // one message further
	if from[0] != byte(SpaceMessage) {
		step.SetInt64(1)
	}
	good := new(big.Int)
	for {
		good.Add(bad, step)
		if good.Cmp(end) >= 0 {
			good.Set(end)
			break
		}
		if r.readable(place(good), upper) {
			break
		}
		bad.Set(good)
		step.Lsh(step, 1)
	}
	middle := new(big.Int)
	for {
		middle.Sub(good, bad).Rsh(middle, 1)
		if middle.Sign() == 0 {
			break
		}
		if middle.Add(middle, bad); r.readable(place(middle), upper) {
			good.Set(middle)
		} else {
			bad.Set(middle)
		}
	}
	if good.Cmp(end) == 0 {
		return nil
	}
	return place(good)
}

// number makes a key a number, in the same order.
func number(key []byte) *big.Int {
	var b [gapWidth]byte
	copy(b[:], key)
	return new(big.Int).SetBytes(b[:])
}

// place makes the number a key. The zeros at its end would only make it longer.
func place(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, gapWidth))
	return bytes.TrimRight(b, "\x00")
}
