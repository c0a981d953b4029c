package actions

import (
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// loadPersons reads what people hold, breakers that are open, and what was lowered.
func loadPersons(tx *bolt.Tx, out *Stored) error {
	meta := tx.Bucket(bucketMeta)
	for key, into := range map[string]any{string(keyHolds): &out.Holds, string(keyTripped): &out.Tripped} {
		if data := meta.Get([]byte(key)); data != nil {
			if err := json.Unmarshal(data, into); err != nil {
				return fmt.Errorf("%s: %w: %w", key, ErrDamaged, err)
			}
		}
	}
	return tx.Bucket(bucketOut).ForEach(func(k, v []byte) error {
		var o Out
		if err := json.Unmarshal(v, &o); err != nil {
			return fmt.Errorf("lowering %q: %w: %w", k, ErrDamaged, err)
		}
		out.Out = append(out.Out, o)
		return nil
	})
}

func savePersons(tx *bolt.Tx, u *Update) error {
	meta, lowered := tx.Bucket(bucketMeta), tx.Bucket(bucketOut)
	if u.Holds != nil {
		if err := putJSON(meta, keyHolds, *u.Holds); err != nil {
			return err
		}
	}
	if u.Tripped != nil {
		if err := putJSON(meta, keyTripped, *u.Tripped); err != nil {
			return err
		}
	}
	for i := range u.Out {
		if err := putJSON(lowered, outID(&u.Out[i]), u.Out[i]); err != nil {
			return err
		}
	}
	for i := range u.In {
		if err := lowered.Delete(outID(&u.In[i])); err != nil {
			return err
		}
	}
	return nil
}

func outID(o *Out) []byte { return join(o.Target.QMgr, o.Target.Queue, o.Attr) }
