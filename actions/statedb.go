package actions

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/situationd/situationd/situations"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// DB is state.db, what a daemon must know after a restart: the situations' items,
// the outbox with its progress, claims, dwell times, moved messages and alerts.
// It is the StateStore of package situations and the Store of the Engine. One
// tick is one transaction.
type DB struct {
	path string

	mu   sync.RWMutex // held for writing while the file is followed
	bolt *bolt.DB
	file os.FileInfo
}

// ErrInUse is wrapped when another process has the state open.
var ErrInUse = errors.New("another daemon uses it")

// ErrDamaged is wrapped when the file cannot be read as a state.
var ErrDamaged = errors.New("damaged; move it away to start without a state")

const (
	dbVersion = 1
	dbWait    = 300 * time.Millisecond
)

var (
	bucketMeta     = []byte("meta")
	bucketItems    = []byte("items")
	bucketOutbox   = []byte("outbox")
	bucketProgress = []byte("progress")
	bucketClaims   = []byte("claims")
	bucketRaised   = []byte("raised")
	bucketLedger   = []byte("ledger")
	bucketAlerts   = []byte("alerts")
	bucketOut      = []byte("out")
	keyVersion     = []byte("version")
	keyFresh       = []byte("fresh") // until Restore
	keyBudget      = []byte("budget")
	keyHolds       = []byte("holds")
	keyTripped     = []byte("tripped")
	keyAlerts      = []byte("sent")
)

// OpenDB opens or creates a state.
func OpenDB(path string) (*DB, error) {
	db := &DB{path: path}
	err := guarded(func() error {
		b, err := bolt.Open(path, 0o640, &bolt.Options{Timeout: dbWait, FreelistType: bolt.FreelistMapType})
		if err != nil {
			return err
		}
		db.bolt = b
		if db.file, err = os.Stat(path); err != nil {
			return err
		}
		return b.Update(db.prepare)
	})
	if err == nil {
		return db, nil
	}
	if db.bolt != nil {
		guarded(db.bolt.Close) //nolint:errcheck // the first error is the one to tell
	}
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		err = ErrInUse
	case errors.Is(err, syscall.EFBIG), errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		err = ErrDamaged
	}
	return nil, fmt.Errorf("state %s: %w", path, err)
}

// guarded turns the panics of a damaged file, and the faults of one that was
// cut short, into an error.
func guarded(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w (%v)", ErrDamaged, r)
		}
	}()
	return f()
}

func (db *DB) prepare(tx *bolt.Tx) error {
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return err
	}
	if v := meta.Get(keyVersion); v == nil {
		err := errors.Join(meta.Put(keyVersion, binary.BigEndian.AppendUint32(nil, dbVersion)), meta.Put(keyFresh, []byte{1}))
		if err != nil {
			return err
		}
	} else if len(v) != 4 {
		return ErrDamaged
	} else if n := binary.BigEndian.Uint32(v); n != dbVersion {
		return fmt.Errorf("has format %d, this program knows %d; use the version that wrote it", n, dbVersion)
	}
	for _, name := range [][]byte{bucketItems, bucketOutbox, bucketProgress, bucketClaims, bucketRaised, bucketLedger, bucketAlerts, bucketOut} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return nil
}

// Note keeps a word about the daemon, for those who come while it does not run.
func (db *DB) Note(name, value string) error {
	return db.update("note "+name, func(tx *bolt.Tx) error {
		meta, key := tx.Bucket(bucketMeta), []byte("note "+name)
		if string(meta.Get(key)) == value {
			return nil
		}
		return meta.Put(key, []byte(value))
	})
}

// Noted is what Note kept, empty for nothing.
func (db *DB) Noted(name string) (value string, err error) {
	err = db.view("read "+name, func(tx *bolt.Tx) error {
		value = string(tx.Bucket(bucketMeta).Get([]byte("note " + name)))
		return nil
	})
	return value, err
}

// Close closes the file.
func (db *DB) Close() error {
	err := db.follow() // the last chance to keep it
	return errors.Join(err, guarded(db.bolt.Close))
}

func (db *DB) update(what string, f func(*bolt.Tx) error) error {
	err := db.follow()
	if err == nil {
		db.mu.RLock()
		err = guarded(func() error { return db.bolt.Update(f) })
		db.mu.RUnlock()
	}
	if err != nil {
		return fmt.Errorf("state %s: %s: %w", db.path, what, err)
	}
	return nil
}

func (db *DB) view(what string, f func(*bolt.Tx) error) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	err := guarded(func() error { return db.bolt.View(f) })
	if err != nil {
		return fmt.Errorf("state %s: %s: %w", db.path, what, err)
	}
	return nil
}

// Load gives the records of all items.
func (db *DB) Load() ([]situations.ItemRecord, error) {
	var out []situations.ItemRecord
	err := db.view("read items", func(tx *bolt.Tx) error {
		return tx.Bucket(bucketItems).ForEach(func(k, v []byte) error {
			parts := strings.Split(string(k), "\x00")
			if len(parts) != 3 {
				return fmt.Errorf("item %q: %w", k, ErrDamaged)
			}
			out = append(out, situations.ItemRecord{
				Key:  situations.Key{Situation: parts[0], QMgr: parts[1], Queue: parts[2]},
				Data: slices.Clone(v),
			})
			return nil
		})
	})
	return out, err
}

// Commit records one tick: changed items and the intents that it decided.
func (db *DB) Commit(_ context.Context, changes []situations.ItemChange, intents []situations.Intent) error {
	return db.update("record a tick", func(tx *bolt.Tx) error {
		items, outbox := tx.Bucket(bucketItems), tx.Bucket(bucketOutbox)
		for _, c := range changes {
			key := join(c.Key.Situation, c.Key.QMgr, c.Key.Queue)
			if err := putOrDelete(items, key, c.Data); err != nil {
				return err
			}
		}
		if err := renameStored(tx, changes); err != nil {
			return err
		}
		return putIntents(outbox, intents)
	})
}

// putIntents adds to the outbox, in order.
func putIntents(outbox *bolt.Bucket, intents []situations.Intent) error {
	for i := range intents {
		data, err := encodeIntent(&intents[i])
		if err != nil {
			return fmt.Errorf("intent %s: %w", intents[i].ID, err)
		}
		seq, err := outbox.NextSequence()
		if err != nil {
			return err
		}
		if err := outbox.Put([]byte(intents[i].ID), append(binary.BigEndian.AppendUint64(nil, seq), data...)); err != nil {
			return err
		}
	}
	return nil
}

func putOrDelete(b *bolt.Bucket, key, data []byte) error {
	if data == nil {
		return b.Delete(key)
	}
	return b.Put(key, data)
}

func join(parts ...string) []byte { return []byte(strings.Join(parts, "\x00")) }

// storedIntent is an intent as it is written.
type storedIntent struct {
	Intent situations.Intent
	// Env is where an older version kept the attributes of a queue. The row has them now.
	Env *situations.Attributes `json:",omitempty"`
}

func encodeIntent(in *situations.Intent) ([]byte, error) {
	s := storedIntent{Intent: *in}
	// The instances and readers of that moment decide nothing any more.
	s.Intent.Row.Instances, s.Intent.Row.Readers = nil, nil
	return json.Marshal(s)
}

func decodeIntent(data []byte) (situations.Intent, error) {
	var s storedIntent
	if err := json.Unmarshal(data, &s); err != nil {
		return situations.Intent{}, err
	}
	if s.Env != nil {
		s.Intent.Row.Env = *s.Env
	}
	return s.Intent, nil
}

// LoadActions gives the outbox in the order of its intents, claims and dwell times.
func (db *DB) LoadActions() (Stored, error) {
	out := Stored{Raised: map[Target]time.Time{}}
	err := db.view("read the outbox", func(tx *bolt.Tx) error {
		if err := loadOutbox(tx, &out); err != nil {
			return err
		}
		if data := tx.Bucket(bucketMeta).Get(keyBudget); data != nil {
			if err := json.Unmarshal(data, &out.Budget); err != nil {
				return fmt.Errorf("budget: %w: %w", ErrDamaged, err)
			}
		}
		if err := loadPersons(tx, &out); err != nil {
			return err
		}
		err := tx.Bucket(bucketClaims).ForEach(func(k, v []byte) error {
			var c Claim
			if err := json.Unmarshal(v, &c); err != nil {
				return fmt.Errorf("claim %q: %w", k, ErrDamaged)
			}
			out.Claims = append(out.Claims, c)
			return nil
		})
		if err != nil {
			return err
		}
		return tx.Bucket(bucketRaised).ForEach(func(k, v []byte) error {
			qmgr, queue, ok := strings.Cut(string(k), "\x00")
			var at time.Time
			if err := at.UnmarshalBinary(v); err != nil || !ok {
				return fmt.Errorf("dwell time %q: %w", k, ErrDamaged)
			}
			out.Raised[Target{QMgr: qmgr, Queue: queue}] = at
			return nil
		})
	})
	return out, err
}

func loadOutbox(tx *bolt.Tx, out *Stored) error {
	type numbered struct {
		seq uint64
		StoredIntent
	}
	var all []numbered
	progress := tx.Bucket(bucketProgress)
	err := tx.Bucket(bucketOutbox).ForEach(func(k, v []byte) error {
		if len(v) < 8 {
			return fmt.Errorf("intent %q: %w", k, ErrDamaged)
		}
		n := numbered{seq: binary.BigEndian.Uint64(v)}
		in, err := decodeIntent(v[8:])
		if err != nil {
			return fmt.Errorf("intent %q: %w: %w", k, ErrDamaged, err)
		}
		n.Intent = in
		if p := progress.Get(k); p != nil {
			if err := json.Unmarshal(p, &n.Progress); err != nil {
				return fmt.Errorf("progress of %q: %w: %w", k, ErrDamaged, err)
			}
		}
		all = append(all, n)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b numbered) int {
		if a.seq < b.seq {
			return -1
		}
		return 1
	})
	for _, n := range all {
		out.Intents = append(out.Intents, n.StoredIntent)
	}
	return nil
}

// SaveActions records what the engine did.
func (db *DB) SaveActions(u Update) error {
	return db.update("record an action", func(tx *bolt.Tx) error {
		outbox, progress := tx.Bucket(bucketOutbox), tx.Bucket(bucketProgress)
		if err := putIntents(outbox, u.Intents); err != nil {
			return err
		}
		for id, p := range u.Progress {
			if outbox.Get([]byte(id)) == nil {
				continue // its intent is not stored, so its progress would never leave again
			}
			if err := putJSON(progress, []byte(id), p); err != nil {
				return err
			}
		}
		for _, id := range u.Finished {
			if err := errors.Join(outbox.Delete([]byte(id)), progress.Delete([]byte(id))); err != nil {
				return err
			}
		}
		claims := tx.Bucket(bucketClaims)
		for _, c := range u.Claims {
			if err := putJSON(claims, claimID(&c), c); err != nil {
				return err
			}
		}
		for _, c := range u.Unclaimed {
			if err := claims.Delete(claimID(&c)); err != nil {
				return err
			}
		}
		if u.Budget != nil {
			if err := putJSON(tx.Bucket(bucketMeta), keyBudget, u.Budget); err != nil {
				return err
			}
		}
		if err := savePersons(tx, &u); err != nil {
			return err
		}
		return saveRaised(tx.Bucket(bucketRaised), u.Raised)
	})
}

func saveRaised(b *bolt.Bucket, raised map[Target]time.Time) error {
	for t, at := range raised {
		var data []byte
		if !at.IsZero() {
			var err error
			if data, err = at.MarshalBinary(); err != nil {
				return err
			}
		}
		if err := putOrDelete(b, join(t.QMgr, t.Queue), data); err != nil {
			return err
		}
	}
	return nil
}

func claimID(c *Claim) []byte { return join(c.Target.QMgr, c.Target.Queue, c.Attr) }

func putJSON(b *bolt.Bucket, key []byte, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, data)
}
