package storetest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/store"
)

// Model is what a store must hold: the plainest possible implementation.
type Model struct {
	Records  map[string]string
	Messages map[[2]uint64]string
	Bodies   map[store.BodyID]string
}

// NewModel makes an empty one.
func NewModel() Model {
	return Model{map[string]string{}, map[[2]uint64]string{}, map[store.BodyID]string{}}
}

// Clone is an independent copy.
func (m Model) Clone() Model {
	return Model{maps.Clone(m.Records), maps.Clone(m.Messages), maps.Clone(m.Bodies)}
}

// Apply does what a unit says.
func (m Model) Apply(u *store.Unit) {
	for _, op := range u.Ops {
		message := [2]uint64{uint64(op.Queue), op.Seq}
		switch op.Kind {
		case store.OpSetRecord:
			m.Records[op.Key] = string(op.Value)
		case store.OpDeleteRecord:
			delete(m.Records, op.Key)
		case store.OpSetMessage:
			m.Messages[message] = string(op.Value)
		case store.OpDeleteMessage:
			delete(m.Messages, message)
		case store.OpSetBody:
			m.Bodies[op.Body] = string(op.Value)
		case store.OpDeleteBody:
			delete(m.Bodies, op.Body)
		}
	}
}

// Equal compares with what a store was seen to hold, bodies included.
func (m Model) Equal(c *Contents, s store.Store) error {
	if !maps.Equal(m.Records, c.Records) {
		return fmt.Errorf("records %v, want %v", c.Records, m.Records)
	}
	if !maps.Equal(m.Messages, c.Messages) {
		return fmt.Errorf("messages %v, want %v", c.Messages, m.Messages)
	}
	for _, id := range slices.Sorted(maps.Keys(m.Bodies)) {
		got, err := s.Body(id)
		if err != nil {
			return fmt.Errorf("body %d: %w", id, err)
		}
		if string(got) != m.Bodies[id] {
			return fmt.Errorf("body %d has %d bytes, want %d, or others", id, len(got), len(m.Bodies[id]))
		}
	}
	return nil
}

// Script makes random units as a queue manager does: messages with bodies are
// put, rewritten, moved and removed, whole units at a time.
type Script struct {
	rng  *rand.Rand
	next store.BodyID
	seq  uint64
	held map[[2]uint64]store.BodyID
}

// NewScript begins with an empty store whose first free body number follows last.
func NewScript(rng *rand.Rand, last store.BodyID) *Script {
	return &Script{rng: rng, next: last, held: map[[2]uint64]store.BodyID{}}
}

// Unit makes the next unit.
func (s *Script) Unit() *store.Unit {
	u := &store.Unit{Sync: s.rng.IntN(3) == 0}
	for range 1 + s.rng.IntN(5) {
		s.op(u)
	}
	return u
}

func (s *Script) op(u *store.Unit) {
	keys := slices.SortedFunc(maps.Keys(s.held), func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	kind := s.rng.IntN(10)
	if len(keys) == 0 && kind > 4 {
		kind = 0
	}
	switch {
	case kind < 4:
		s.next++
		SetBody(u, s.next, bytes.Repeat([]byte{byte(s.next)}, s.rng.IntN(3000)))
		s.put(u, s.next)
	case kind == 4:
		u.SetRecord(fmt.Sprint("k", s.rng.IntN(4)), []byte(fmt.Sprint(s.rng.Uint32())))
	case kind == 5:
		u.DeleteRecord(fmt.Sprint("k", s.rng.IntN(4)))
	case kind == 6:
		key := keys[s.rng.IntN(len(keys))]
		u.SetMessage(uint32(key[0]), key[1], Header(s.held[key], fmt.Sprint("again", s.rng.Uint32())))
	case kind == 7:
		key := keys[s.rng.IntN(len(keys))]
		u.DeleteMessage(uint32(key[0]), key[1])
		s.put(u, s.held[key])
		delete(s.held, key)
	default:
		key := keys[s.rng.IntN(len(keys))]
		u.DeleteMessage(uint32(key[0]), key[1])
		u.DeleteBody(s.held[key])
		delete(s.held, key)
	}
}

func (s *Script) put(u *store.Unit, id store.BodyID) {
	s.seq++
	key := [2]uint64{uint64(s.rng.IntN(3)), s.seq}
	s.held[key] = id
	u.SetMessage(uint32(key[0]), key[1], Header(id, fmt.Sprint("put", s.seq)))
}

// crashKeepsPrefix: after a crash the store holds exactly the first n units for
// some n, and every unit that was synced is among them.
func crashKeepsPrefix(t *rapid.T, d Disk) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Load(NewContents())
	if err != nil {
		t.Fatal(err)
	}
	states := []Model{NewModel()}
	synced := 0
	script := NewScript(rng, last)
	for i := range rapid.IntRange(0, 40).Draw(t, "units") {
		u := script.Unit()
		if err := s.Apply(u); err != nil {
			t.Fatal(err)
		}
		next := states[i].Clone()
		next.Apply(u)
		states = append(states, next)
		if u.Sync {
			synced = i + 1
		}
	}
	d.Crash(rng)
	if s, err = d.Open(); err != nil {
		t.Fatalf("open after the crash: %v", err)
	}
	c := NewContents()
	if _, err := s.Load(c); err != nil {
		t.Fatalf("load after the crash: %v", err)
	}
	if err := MatchPrefix(states, synced, c, s); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// MatchPrefix checks that the store holds one of the states from the given one on.
func MatchPrefix(states []Model, from int, c *Contents, s store.Store) error {
	var first error
	for _, m := range states[from:] {
		err := m.Equal(c, s)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return fmt.Errorf("the store holds none of the %d possible states: after the last sync: %w", len(states)-from, first)
}
