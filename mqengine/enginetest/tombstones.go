package enginetest

import (
	"strings"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/repository"
	"github.com/situationd/situationd/mqengine/store"
)

// tombstones watches what repositories write, to count how often a definition
// was withdrawn and how often that took an instance from somebody else.
type tombstones map[recordAt]bool // true: live

type recordAt struct {
	node *node
	key  string
}

const recordPrefix = repository.Prefix + "rec/"

// wrote looks at what a queue manager writes.
func (t tombstones) wrote(n *node, ops []store.Op) {
	for i := range ops {
		op := &ops[i]
		if op.Kind != store.OpSetRecord || !strings.HasPrefix(op.Key, recordPrefix) {
			continue
		}
		k := recordAt{n, op.Key}
		qmid, deleted := tombstone(op.Value)
		switch {
		case !deleted:
			t[k] = true
			continue
		case strings.HasPrefix(qmid, n.name+"_"):
			n.s.counts.Tombstones++
		case t[k]:
			n.s.counts.TombstonesUsed++
		}
		t[k] = false
	}
}

// tombstone reads the beginning of a stored record: when it ends, its kind and
// names, its number, and whether it is deleted.
func tombstone(value []byte) (qmid string, deleted bool) {
	r := wire.NewReader(value)
	r.Int()
	r.Byte()
	r.Bytes()
	qmid = string(r.Bytes())
	r.Bytes()
	r.Bytes()
	r.Uint()
	return qmid, r.Bool() && r.Err() == nil
}
