package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// salvageUnit is how many bytes go into one unit of a salvage.
const salvageUnit = 1 << 20

// Salvage copies what can be read of the damaged store in from to a new store in
// into, which must not exist. more adds to the last unit what the caller finds
// missing. The damaged store is left as it is.
func Salvage(from, into string, opt Options, to Rescuer, more func(*Unit)) (*Findings, error) {
	if opt.FS == nil {
		opt.FS = vfs.Default
	}
	if _, err := opt.FS.Stat(into); err == nil {
		return nil, fmt.Errorf("salvage into %s: it exists", into)
	}
	opt.Reserve, opt.MustExist = -1, false
	p, err := OpenPebble(into, opt)
	if err != nil {
		return nil, err
	}
	s := &salvager{Rescuer: to, store: p}
	found, err := Rescue(from, opt, s)
	if err == nil {
		more(&s.unit)
		err = s.finish(found.epoch)
	}
	return found, errors.Join(err, p.Close())
}

// salvager writes what is rescued.
type salvager struct {
	Rescuer
	store *Pebble
	unit  Unit
	bytes int
}

func (s *salvager) Record(key string, value []byte) error {
	if err := s.Rescuer.Record(key, value); err != nil {
		return err
	}
	s.unit.SetRecord(key, value)
	return s.grown(len(key) + len(value))
}

func (s *salvager) Message(queue uint32, seq uint64, header []byte, id BodyID, body []byte) error {
	if err := s.Rescuer.Message(queue, seq, header, id, body); err != nil {
		return err
	}
	s.unit.SetMessage(queue, seq, header)
	if id != 0 {
		s.unit.SetBody(id)
		s.unit.Ops[len(s.unit.Ops)-1].Value = body
	}
	return s.grown(len(header) + len(body))
}

func (s *salvager) grown(bytes int) error {
	if s.bytes += bytes; s.bytes < salvageUnit {
		return nil
	}
	s.bytes = 0
	err := s.store.Apply(&s.unit)
	s.unit.Reset()
	return err
}

// finish writes the rest, and goes on with the numbers of bodies where the old store was.
func (s *salvager) finish(epoch uint64) error {
	if err := s.store.db.Set(epochKey, binary.AppendUvarint(nil, epoch), pebble.NoSync); err != nil {
		return err
	}
	s.unit.Sync = true
	return s.store.Apply(&s.unit)
}
