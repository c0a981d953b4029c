package actions

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// MovedMessage is an entry of the ledger of moved messages: an opaque key and
// when the message moved.
type MovedMessage struct {
	Key []byte
	At  time.Time
}

// LoadLedger gives the entries of a queue that are not older than since, and
// removes the others.
func (db *DB) LoadLedger(queue string, since time.Time) ([]MovedMessage, error) {
	var out []MovedMessage
	err := db.update("read the ledger", func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketLedger).Bucket([]byte(queue))
		if b == nil {
			return nil
		}
		var old [][]byte
		err := b.ForEach(func(k, v []byte) error {
			if len(v) != 8 {
				return fmt.Errorf("ledger of %s: %w", queue, ErrDamaged)
			}
			at := time.UnixMilli(int64(binary.BigEndian.Uint64(v)))
			if at.Before(since) {
				old = append(old, slices.Clone(k))
			} else {
				out = append(out, MovedMessage{Key: slices.Clone(k), At: at})
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(out) == 0 {
			return tx.Bucket(bucketLedger).DeleteBucket([]byte(queue))
		}
		for _, k := range old {
			if err := b.Delete(k); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// AppendLedger adds entries of a queue.
func (db *DB) AppendLedger(queue string, entries []MovedMessage) error {
	if len(entries) == 0 {
		return nil
	}
	return db.update("write the ledger", func(tx *bolt.Tx) error {
		b, err := tx.Bucket(bucketLedger).CreateBucketIfNotExists([]byte(queue))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := b.Put(e.Key, binary.BigEndian.AppendUint64(nil, uint64(e.At.UnixMilli()))); err != nil {
				return err
			}
		}
		return nil
	})
}

// LoadAlerts gives what SaveAlerts stored last.
func (db *DB) LoadAlerts() ([]SentAlert, error) {
	var out []SentAlert
	err := db.view("read alerts", func(tx *bolt.Tx) error {
		data := tx.Bucket(bucketAlerts).Get(keyAlerts)
		if data == nil {
			return nil
		}
		if err := json.Unmarshal(data, &out); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil
	})
	return out, err
}

// SaveAlerts stores which alerts are open, and which were resolved lately.
func (db *DB) SaveAlerts(alerts []SentAlert) error {
	return db.update("write alerts", func(tx *bolt.Tx) error {
		return putJSON(tx.Bucket(bucketAlerts), keyAlerts, alerts)
	})
}
