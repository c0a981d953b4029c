package actions

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/situationd/situationd/situations"
	bolt "go.etcd.io/bbolt"
)

// renameStored moves what is stored of items whose situation was renamed: their
// intents, how far those have come, and what they hold.
func renameStored(tx *bolt.Tx, changes []situations.ItemChange) error {
	was := map[situations.Key]situations.Key{} // old to new
	for _, c := range changes {
		if c.Was != "" {
			was[situations.Key{Situation: c.Was, QMgr: c.Key.QMgr, Queue: c.Key.Queue}] = c.Key
		}
	}
	if len(was) == 0 {
		return nil
	}
	if err := renameIntents(tx, was); err != nil {
		return err
	}
	claims := tx.Bucket(bucketClaims)
	for from, to := range was {
		stored := map[string][]byte{} // a bucket must not change while it is walked through
		prefix, at := join(from.QMgr, from.Queue, ""), claims.Cursor()
		for id, data := at.Seek(prefix); bytes.HasPrefix(id, prefix); id, data = at.Next() {
			stored[string(id)] = slices.Clone(data)
		}
		for id, data := range stored {
			var c Claim
			if err := json.Unmarshal(data, &c); err != nil {
				return fmt.Errorf("claim %q: %w", id, ErrDamaged)
			}
			if i := c.holder(from.Situation); i >= 0 {
				c.Holders[i].Owner = to.Situation
				if err := putJSON(claims, []byte(id), c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func renameIntents(tx *bolt.Tx, was map[situations.Key]situations.Key) error {
	outbox, progress := tx.Bucket(bucketOutbox), tx.Bucket(bucketProgress)
	type renamed struct {
		id, data []byte
		from, to situations.Key
	}
	var list []renamed // a bucket must not change while it is walked through
	err := outbox.ForEach(func(k, v []byte) error {
		if len(v) < 8 {
			return fmt.Errorf("intent %q: %w", k, ErrDamaged)
		}
		in, err := decodeIntent(v[8:])
		if err != nil {
			return fmt.Errorf("intent %q: %w: %w", k, ErrDamaged, err)
		}
		to, ok := was[in.Key]
		if !ok {
			return nil
		}
		from := in.Key
		in.Key = to
		data, err := encodeIntent(&in)
		list = append(list, renamed{slices.Clone(k), append(binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(v)), data...), from, to})
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range list {
		if err := outbox.Put(r.id, r.data); err != nil {
			return err
		}
		data := progress.Get(r.id)
		if data == nil {
			continue
		}
		var p Progress
		if err := json.Unmarshal(data, &p); err != nil {
			return fmt.Errorf("progress of %q: %w: %w", r.id, ErrDamaged, err)
		}
		if p.Flight != nil && p.Flight.Owner == r.from.Situation {
			p.Flight.Owner = r.to.Situation
			if err := putJSON(progress, r.id, p); err != nil {
				return err
			}
		}
	}
	return nil
}
