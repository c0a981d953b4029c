package redistribute

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"
)

// LedgerStore keeps the ledger over restarts. Keys are opaque.
type LedgerStore interface {
	// LoadLedger gives the entries of a queue that are not older than since and forgets the others.
	LoadLedger(queue string, since time.Time) ([]LedgerEntry, error)
	AppendLedger(queue string, entries []LedgerEntry) error
}

// LedgerEntry is one stored entry.
type LedgerEntry struct {
	Key []byte
	At  time.Time
}

// ledgerMost bounds the entries kept per queue; beyond it the oldest are forgotten.
const ledgerMost = 100_000

// Ledger remembers for a while which messages moved off a queue. A message that
// came back within that time is not moved again, else it would go round in a
// circle between instances that nobody reads.
type Ledger struct {
	ttl   time.Duration
	store LedgerStore // nil: lives only as long as the process

	mu     sync.Mutex
	queues map[string]*pages
}

// pages are the entries of one queue. order has them by time, oldest first; a
// key may stand in it more than once, its time in at is the last.
type pages struct {
	at     map[Key]time.Time
	order  []turn
	unsent []LedgerEntry
	// stale counts the turns forgotten here that the store may still have.
	stale int
}

type turn struct {
	key Key
	at  time.Time
}

// NewLedger makes a ledger; ttl 0 means 10 minutes.
func NewLedger(ttl time.Duration, store LedgerStore) *Ledger {
	if ttl <= 0 {
		ttl = LedgerTTL
	}
	return &Ledger{ttl: ttl, store: store, queues: map[string]*pages{}}
}

// open gives the entries of a queue, read from the store the first time.
func (l *Ledger) open(queue string, now time.Time) (*pages, error) {
	if p := l.queues[queue]; p != nil {
		return p, nil
	}
	p := &pages{at: map[Key]time.Time{}}
	if l.store != nil {
		stored, err := l.store.LoadLedger(queue, now.Add(-l.ttl))
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		slices.SortFunc(stored, func(a, b LedgerEntry) int { return a.At.Compare(b.At) })
		for _, e := range stored {
			if k, ok := decodeKey(e.Key); ok {
				p.add(k, e.At)
			}
		}
	}
	l.queues[queue] = p
	return p, nil
}

func (p *pages) add(k Key, at time.Time) {
	p.at[k] = at
	p.order = append(p.order, turn{k, at})
	for len(p.order) > ledgerMost {
		p.forget()
	}
}

// forget drops the oldest turn, and its key unless it moved again later.
func (p *pages) forget() {
	t := p.order[0]
	p.order = p.order[1:]
	p.stale++
	if p.at[t.key].Equal(t.at) {
		delete(p.at, t.key)
	}
}

// Known lists the keys of messages that moved off a queue within the ledger's
// time, oldest first.
func (l *Ledger) Known(queue string, now time.Time) ([]Key, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := l.open(queue, now)
	if err != nil {
		return nil, err
	}
	for len(p.order) > 0 && now.Sub(p.order[0].at) > l.ttl {
		p.forget()
	}
	if len(p.order) == 0 {
		p.at, p.order = map[Key]time.Time{}, nil // give the memory back
	}
	if err := l.prune(queue, p, now); err != nil {
		return nil, err
	}
	out := make([]Key, 0, len(p.at))
	for _, t := range p.order {
		if p.at[t.key].Equal(t.at) {
			out = append(out, t.key)
		}
	}
	return out, nil
}

// prune has the store forget too once most of what it has is too old: it is read
// but once in a daemon's life, and would else grow with every message that moves.
func (l *Ledger) prune(queue string, p *pages, now time.Time) error {
	if l.store == nil || p.stale <= len(p.at) {
		return nil
	}
	if _, err := l.store.LoadLedger(queue, now.Add(-l.ttl)); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	p.stale = 0
	return nil
}

// Note enters messages whose commit was answered.
func (l *Ledger) Note(queue string, sent []Sent, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := l.open(queue, now)
	if err != nil {
		return err
	}
	for i := range sent {
		p.add(sent[i].Key, now)
		if l.store != nil {
			p.unsent = append(p.unsent, LedgerEntry{Key: encodeKey(sent[i].Key), At: now})
		}
	}
	return nil
}

// Flush stores what was noted.
func (l *Ledger) Flush(queue string) error {
	if l.store == nil {
		return nil
	}
	l.mu.Lock()
	p := l.queues[queue]
	if p == nil || len(p.unsent) == 0 {
		l.mu.Unlock()
		return nil
	}
	entries := p.unsent
	p.unsent = nil
	l.mu.Unlock()
	if err := l.store.AppendLedger(queue, entries); err != nil {
		l.mu.Lock()
		p.unsent = append(entries, p.unsent...)
		l.mu.Unlock()
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

const keySize = 24 + 24 + 8

func encodeKey(k Key) []byte {
	b := make([]byte, 0, keySize)
	b = append(b, k.MsgID[:]...)
	b = append(b, k.CorrelID[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(k.PutDateTime))
}

func decodeKey(b []byte) (k Key, ok bool) {
	if len(b) != keySize {
		return k, false
	}
	copy(k.MsgID[:], b)
	copy(k.CorrelID[:], b[24:])
	k.PutDateTime = int64(binary.BigEndian.Uint64(b[48:]))
	return k, true
}
