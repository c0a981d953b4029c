package mqengine

import (
	"fmt"
	"sync/atomic"

	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// bodyReader reads back bodies that are not in memory.
type bodyReader interface {
	Body(id store.BodyID) ([]byte, error)
	Bodies(id store.BodyID, next, size int) ([]store.Body, error)
}

// bodyNumbers gives bodies their numbers. Safe for concurrent use.
type bodyNumbers struct{ last atomic.Uint64 }

func (n *bodyNumbers) next() store.BodyID { return store.BodyID(n.last.Add(1)) }

// bodyTable keeps message bodies in memory: those that are not in the store
// because they must be kept, those that are because they are likely to be
// wanted soon, up to a budget. The oldest stored ones leave first: messages that
// stay for long are the ones nobody reads. It belongs to the actor.
type bodyTable struct {
	reader bodyReader
	budget int
	// applied is the last turn whose unit is in the store; a body can be read back from then on.
	applied *atomic.Uint64

	entries map[store.BodyID]bodyEntry
	ahead   aheads
	stored  int       // bytes of bodies that are in the store too
	age     []agedRef // stored bodies by age; entries that are gone are skipped
	ageHead int
}

type bodyEntry struct {
	data   []byte
	turn   uint64 // the turn that wrote it; 0: not in the store
	pinned bool
}

type agedRef struct {
	id   store.BodyID
	turn uint64
}

func newBodyTable(reader bodyReader, budget int, applied *atomic.Uint64) *bodyTable {
	return &bodyTable{reader: reader, budget: budget, applied: applied, entries: make(map[store.BodyID]bodyEntry)}
}

// add takes in a new body. It stays until it is dropped, or written and evicted.
func (t *bodyTable) add(b numberedBody) { t.entries[b.id] = bodyEntry{data: b.data, pinned: true} }

// copyPart makes a new body of a part of another.
func (t *bodyTable) copyPart(c qmgr.BodyCopy) error {
	data, err := t.bytes(c.From)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	if c.Offset < 0 || c.Len < 0 || c.Offset+c.Len > len(data) {
		return fmt.Errorf("copy %d bytes from %d of body %d, which has %d", c.Len, c.Offset, c.From, len(data))
	}
	t.add(numberedBody{id: c.To, data: append([]byte(nil), data[c.Offset:c.Offset+c.Len]...)})
	return nil
}

// write gives the bytes for the unit of a turn that stores the body.
func (t *bodyTable) write(id store.BodyID, turn uint64) ([]byte, error) {
	e, ok := t.entries[id]
	if !ok {
		return nil, fmt.Errorf("body %d is to be written but is not in memory", id)
	}
	if e.pinned {
		t.stored += len(e.data)
		t.entries[id] = bodyEntry{data: e.data, turn: turn}
		t.age = append(t.age, agedRef{id, turn})
	}
	return e.data, nil
}

// bytes gives a body, from the store if need be.
func (t *bodyTable) bytes(id store.BodyID) ([]byte, error) {
	if id == 0 {
		return nil, nil
	}
	if e, ok := t.entries[id]; ok {
		return e.data, nil
	}
	data, err := t.ahead.read(t.reader, id)
	if err != nil {
		return nil, fmt.Errorf("body %d: %w", id, err)
	}
	return data, nil
}

// drop forgets a body that nothing refers to any more.
func (t *bodyTable) drop(id store.BodyID) {
	e, ok := t.entries[id]
	if !ok {
		return
	}
	if !e.pinned {
		t.stored -= len(e.data)
	}
	delete(t.entries, id)
}

// trim evicts the oldest stored bodies beyond the budget. Bodies whose turn is
// not applied yet stay: they could not be read back.
func (t *bodyTable) trim() {
	applied := t.applied.Load()
	for t.stored > t.budget && t.ageHead < len(t.age) {
		ref := t.age[t.ageHead]
		if e, ok := t.entries[ref.id]; ok && e.turn == ref.turn && !e.pinned {
			if ref.turn > applied {
				return
			}
			t.drop(ref.id)
		}
		t.ageHead++
	}
	t.compact()
}

// compact keeps the list of ages in proportion to what is in memory.
func (t *bodyTable) compact() {
	for t.ageHead < len(t.age) {
		ref := t.age[t.ageHead]
		if e, ok := t.entries[ref.id]; ok && e.turn == ref.turn {
			break
		}
		t.ageHead++
	}
	switch {
	case t.ageHead == len(t.age):
		t.age, t.ageHead = t.age[:0], 0
	case t.ageHead > 1024 && t.ageHead > len(t.age)/2:
		n := copy(t.age, t.age[t.ageHead:])
		t.age, t.ageHead = t.age[:n], 0
	case len(t.age) > 1024 && len(t.age) > 4*len(t.entries):
		live := t.age[:0]
		for _, ref := range t.age[t.ageHead:] {
			if e, ok := t.entries[ref.id]; ok && e.turn == ref.turn {
				live = append(live, ref)
			}
		}
		t.age, t.ageHead = live, 0
	}
}
