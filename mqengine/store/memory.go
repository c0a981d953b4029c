package store

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Memory is a Store in memory with the crash semantics of the durable one: what
// was applied without a sync is lost by a crash, from the end backwards, unit by
// unit. The simulator and tests use it.
type Memory struct {
	mu      sync.Mutex
	live    contents
	durable contents
	pending []Unit // applied to live, not yet to durable
	loaded  bool
	closed  bool
	low     bool
	failed  error
}

var _ Store = (*Memory)(nil)

type messageKey struct {
	queue uint32
	seq   uint64
}

type contents struct {
	records  map[string][]byte
	messages map[messageKey][]byte
	bodies   map[BodyID][]byte
	epoch    uint64
}

// NewMemory makes an empty store.
func NewMemory() *Memory {
	return &Memory{live: newContents(), durable: newContents()}
}

func newContents() contents {
	return contents{records: map[string][]byte{}, messages: map[messageKey][]byte{}, bodies: map[BodyID][]byte{}}
}

// clone shares the values, which never change.
func (c contents) clone() contents {
	return contents{maps.Clone(c.records), maps.Clone(c.messages), maps.Clone(c.bodies), c.epoch}
}

func (c contents) apply(u *Unit) error {
	for i := range u.Ops {
		op := &u.Ops[i]
		key := messageKey{op.Queue, op.Seq}
		switch op.Kind {
		case OpSetRecord:
			c.records[op.Key] = op.Value
		case OpDeleteRecord:
			delete(c.records, op.Key)
		case OpSetMessage:
			c.messages[key] = op.Value
		case OpDeleteMessage:
			delete(c.messages, key)
		case OpSetBody:
			c.bodies[op.Body] = op.Value
		case OpDeleteBody:
			delete(c.bodies, op.Body)
		default:
			return fmt.Errorf("%w: unknown operation %d", ErrFailed, op.Kind)
		}
	}
	return nil
}

// Load visits what is there.
func (m *Memory) Load(v Visitor) (maxBody BodyID, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return 0, ErrClosed
	case m.loaded:
		return 0, errTwice
	case m.failed != nil:
		return 0, m.failed
	}
	m.loaded = true
	for _, key := range slices.Sorted(maps.Keys(m.live.records)) {
		if err := v.Record(key, bytes.Clone(m.live.records[key])); err != nil {
			return 0, fmt.Errorf("store: load: %w", err)
		}
	}
	maxBody = BodyID((m.live.epoch + 1) << epochShift)
	for _, key := range slices.SortedFunc(maps.Keys(m.live.messages), messageKey.compare) {
		id, err := v.Message(key.queue, key.seq, bytes.Clone(m.live.messages[key]))
		if err == nil && id > maxBody {
			err = fmt.Errorf("message %d of queue %d names body %d, which was never given", key.seq, key.queue, id)
		}
		if err != nil {
			return 0, fmt.Errorf("store: load: %w", err)
		}
	}
	m.live.epoch++
	// Load is synced as a whole.
	m.durable, m.pending = m.live.clone(), nil
	return maxBody, nil
}

func (k messageKey) compare(o messageKey) int {
	return cmp.Or(cmp.Compare(k.queue, o.queue), cmp.Compare(k.seq, o.seq))
}

// Apply makes the unit visible; with Sync it and all before it are durable.
func (m *Memory) Apply(u *Unit) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	if m.failed != nil {
		return m.failed
	}
	own := Unit{Ops: slices.Clone(u.Ops), Sync: u.Sync}
	for i := range own.Ops {
		own.Ops[i].Value = bytes.Clone(own.Ops[i].Value)
	}
	if err := m.live.apply(&own); err != nil {
		m.failed = err
		return err
	}
	m.pending = append(m.pending, own)
	if u.Sync {
		m.sync(len(m.pending))
	}
	return nil
}

func (m *Memory) sync(n int) {
	for i := range m.pending[:n] {
		// It went well on live.
		_ = m.durable.apply(&m.pending[i])
	}
	m.pending = slices.Delete(m.pending, 0, n)
}

// Body gives the bytes of a body.
func (m *Memory) Body(id BodyID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	body, ok := m.live.bodies[id]
	if !ok {
		return nil, fmt.Errorf("body %d: %w", id, ErrNoBody)
	}
	return bytes.Clone(body), nil
}

// Bodies gives a body and those after it.
func (m *Memory) Bodies(id BodyID, next, size int) ([]Body, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	var list []Body
	for n := id; n <= id+BodyID(next); n++ {
		data, ok := m.live.bodies[n]
		switch {
		case !ok && n == id:
			return nil, fmt.Errorf("body %d: %w", id, ErrNoBody)
		case !ok:
			continue
		}
		if size -= len(data); size < 0 && n > id {
			break
		}
		list = append(list, Body{n, bytes.Clone(data)})
	}
	return list, nil
}

// Space is ErrLowSpace after SetLow(true).
func (m *Memory) Space() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.low {
		return ErrLowSpace
	}
	return nil
}

// SetLow says what Space answers.
func (m *Memory) SetLow(low bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.low = low
}

// Fail makes every later Apply fail, as a broken disk does. A crash repairs it.
func (m *Memory) Fail(reason error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = fmt.Errorf("%w: %w", ErrFailed, reason)
}

// Close ends the store in order: nothing is lost. Reopen gives it back.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sync(len(m.pending))
	m.closed = true
	return nil
}

// Reopen is what a new process finds after Close.
func (m *Memory) Reopen() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{live: m.durable.clone(), durable: m.durable.clone()}
}

// Unsynced is the number of units that a crash may lose.
func (m *Memory) Unsynced() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.pending)
}

// SyncFirst makes the n oldest of the unsynced units durable, as a disk does some
// time after it was asked.
func (m *Memory) SyncFirst(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sync(min(n, len(m.pending)))
}

// Crash loses the unsynced units but the keep oldest, and gives what a new
// process finds. This store is closed.
func (m *Memory) Crash(keep int) *Memory {
	m.mu.Lock()
	m.sync(min(keep, len(m.pending)))
	m.pending, m.closed = nil, true
	m.mu.Unlock()
	return m.Reopen()
}

// Numbers are those of the bodies that are visible now, ascending, for checks.
func (m *Memory) Numbers() []BodyID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.live.bodies))
}

// Clone is an independent copy of what is visible now, for checks.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{live: m.live.clone(), durable: m.live.clone()}
}
