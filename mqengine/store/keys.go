package store

import "encoding/binary"

// Keys begin with their Space, so that a restart reads records and headers
// without touching a body. Numbers are big-endian: their order is the order of
// the queue.
const (
	messageKeyLen = 1 + 4 + 8
	bodyKeyLen    = 1 + 8
)

// spaceMeta holds what the store notes about itself.
const spaceMeta Space = 0

// epochKey holds how often the store was loaded.
var epochKey = []byte{byte(spaceMeta), 'e'}

// epochShift leaves 2^40 body numbers to each load and 2^24 loads to a store.
const epochShift = 40

func appendRecordKey(b []byte, key string) []byte {
	return append(append(b, byte(SpaceRecord)), key...)
}

func appendMessageKey(b []byte, queue uint32, seq uint64) []byte {
	b = append(b, byte(SpaceMessage))
	b = binary.BigEndian.AppendUint32(b, queue)
	return binary.BigEndian.AppendUint64(b, seq)
}

func appendBodyKey(b []byte, id BodyID) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(SpaceBody)), uint64(id))
}

// bounds are the first key of a space and the first after it.
func (s Space) bounds() (lower, upper []byte) {
	return []byte{byte(s)}, []byte{byte(s) + 1}
}
