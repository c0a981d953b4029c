package qmgr

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/situationd/situationd/mqengine/mqi"
)

// idSource makes message identifiers: "AMQ ", eight characters of the queue
// manager's name, four bytes that tell queue managers of one name apart, and a
// counter whose start differs between starts of the queue manager.
type idSource struct {
	prefix  [16]byte
	counter uint64
}

func newIDSource(name, qmid string, seed uint64) idSource {
	s := idSource{counter: seed}
	copy(s.prefix[:], "AMQ         ")
	copy(s.prefix[4:12], name)
	h := fnv.New32a()
	_, _ = h.Write([]byte(qmid)) // a hash never fails
	binary.BigEndian.PutUint32(s.prefix[12:], h.Sum32())
	return s
}

func (s *idSource) next() (id mqi.MsgId) {
	s.counter++
	copy(id[:], s.prefix[:])
	binary.BigEndian.PutUint64(id[16:], s.counter)
	return id
}
