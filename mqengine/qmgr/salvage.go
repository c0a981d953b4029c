package qmgr

import (
	"fmt"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/store"
)

// Salvage follows what is taken out of a damaged store: it knows the queues by
// their numbers, and makes up for the objects without which a queue manager cannot be.
type Salvage struct {
	words   interner
	queues  map[uint32]string
	strays  map[uint32]int // messages by queue whose definition is lost
	keys    map[string]bool
	highest uint32
}

// NewSalvage begins with nothing.
func NewSalvage() *Salvage {
	return &Salvage{queues: map[uint32]string{}, strays: map[uint32]int{}, keys: map[string]bool{}}
}

// Record notes a record that can be read.
func (s *Salvage) Record(key string, value []byte) error {
	s.keys[key] = true
	r := wire.NewReader(value)
	if r.Byte() != recordVersion {
		return nil
	}
	number := r.Uint()
	if o, err := object.Decode(r.Rest()); err == nil && o.Kind().IsQueue() && number > 0 && number < 1<<32 {
		s.queues[uint32(number)] = o.Name
		s.highest = max(s.highest, uint32(number))
	}
	return nil
}

// BodyOf tells which body a message's header names.
func (s *Salvage) BodyOf(header []byte) (store.BodyID, error) {
	msg, err := decodeHeader(header, &s.words)
	if err != nil {
		return 0, err
	}
	return msg.body.ID, nil
}

// Message notes a message that is whole.
func (s *Salvage) Message(queue uint32, _ uint64, _ []byte, _ store.BodyID, _ []byte) error {
	s.highest = max(s.highest, queue)
	if s.queues[queue] == "" {
		s.strays[queue]++
	}
	return nil
}

// Strays counts the whole messages, by queue, that no application can get any
// more: the definition of their queue is lost.
func (s *Salvage) Strays() map[uint32]int { return s.strays }

// Queue is the name of a queue, or what can be said of one whose definition is lost.
func (s *Salvage) Queue(number uint32) string {
	if name := s.queues[number]; name != "" {
		return "queue " + name
	}
	return fmt.Sprintf("the queue of number %d, whose definition is lost", number)
}

// Refound adds the records of the queue manager's own object and of the system
// objects that are lost, as of a new one, and returns their names.
func (s *Salvage) Refound(now time.Time, name, qmid string, u *store.Unit) ([]string, error) {
	var fx Effects
	made, err := s.found(now, name, qmid, &fx)
	u.Ops = append(u.Ops, fx.Unit.Ops...)
	return made, err
}

// found is Refound with effects. With nothing salvaged it makes a new queue manager.
func (s *Salvage) found(now time.Time, name, qmid string, fx *Effects) (made []string, err error) {
	own := object.New(object.QMgr, name)
	if err := own.SetFixed("QMID", qmid); err != nil {
		return nil, fmt.Errorf("queue manager %s: %w", name, err)
	}
	for _, o := range append(object.SystemObjects(), own) {
		if s.keys[objectKey(o)] {
			continue
		}
		number := uint32(0)
		if o.Kind().IsQueue() {
			s.highest++
			number = s.highest
		}
		o.SetTimes(now, now)
		saveObject(fx, o, number)
		made = append(made, o.Name)
	}
	return made, nil
}
