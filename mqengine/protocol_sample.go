package mqengine

import (
	"encoding/binary"
	"fmt"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// sampleRows is a sample as it travels: attributes only where the client does
// not have them yet, since they hardly ever change and counters always do.
type sampleRows struct {
	Sample
	// known marks rows whose attributes the client has from its last sample.
	known []bool
}

// Bits of a row.
const (
	rowAttributes = 1 << iota // attributes follow
	rowKnown                  // the client has them
	rowMonQ
	rowEnd // the first that means nothing
)

func (s *sampleRows) append(b []byte) []byte {
	b = wire.AppendUint(b, s.Revision)
	b = wire.AppendBool(b, s.Full)
	b = wire.AppendInt(b, s.Started)
	b = appendStrings(b, s.Deleted)
	b = wire.AppendUint(b, uint64(len(s.Queues)))
	for i := range s.Queues {
		b = appendRow(b, &s.Queues[i], i < len(s.known) && s.known[i])
	}
	return b
}

func readSampleRows(r *wire.Reader) *sampleRows {
	s := new(sampleRows)
	s.Revision, s.Full, s.Started = r.Uint(), r.Bool(), r.Int()
	s.Deleted = readStrings(r)
	if n := r.Count(rowMin); n > 0 {
		s.Queues, s.known = make([]QueueStatus, n), make([]bool, n)
		parts := newSharedParts()
		for i := range s.Queues {
			s.known[i] = parts.readRow(r, &s.Queues[i])
		}
	}
	return s
}

// rowMin is the least that a row takes.
const rowMin = 12

// sharedParts decodes equal parts of rows once: thousands of queues have the
// same attributes and the same readers, and both are immutable.
type sharedParts struct {
	attrs   map[string]*qmgr.QueueAttributes
	readers map[string][]qmgr.Reader
}

func newSharedParts() *sharedParts {
	return &sharedParts{attrs: make(map[string]*qmgr.QueueAttributes), readers: make(map[string][]qmgr.Reader)}
}

func appendRow(b []byte, q *QueueStatus, known bool) []byte {
	var bits byte
	switch {
	case known:
		bits |= rowKnown
	case q.Attributes != nil:
		bits |= rowAttributes
	}
	if q.MonQ {
		bits |= rowMonQ
	}
	b = append(b, bits)
	b = wire.AppendString(b, q.Name)
	b = wire.AppendString(b, q.Type)
	b = wire.AppendString(b, q.Base)
	for _, n := range [...]int64{int64(q.CurDepth), int64(q.Uncom), int64(q.OpProcs), q.LGet, q.LPut, q.Oldest} {
		b = wire.AppendInt(b, n)
	}
	b = appendReaders(b, q.Readers)
	b = appendReaders(b, q.OwnOut)
	if bits&rowAttributes != 0 {
		b = appendSized(b, func(b []byte) []byte { return appendAttributes(b, q.Attributes) })
	}
	return b
}

// appendSized appends a part with its length before it, so that a reader can
// compare it as a whole. Most parts are shorter than 128 bytes.
func appendSized(b []byte, part func([]byte) []byte) []byte {
	at := len(b)
	b = part(append(b, 0))
	n := len(b) - at - 1
	if n < 0x80 {
		b[at] = byte(n)
		return b
	}
	var head [10]byte
	size := binary.PutUvarint(head[:], uint64(n))
	b = append(b, head[:size-1]...) // room
	copy(b[at+size:], b[at+1:at+1+n])
	copy(b[at:], head[:size])
	return b
}

// readRow reports whether the client has the attributes already. An unknown bit is
// a fault: what it stands for cannot be skipped.
func (p *sharedParts) readRow(r *wire.Reader, q *QueueStatus) (known bool) {
	bits := r.Byte()
	if bits >= rowEnd || bits&rowAttributes != 0 && bits&rowKnown != 0 {
		r.Fail(fmt.Errorf("row of a sample with the bits %#x", bits))
	}
	q.MonQ = bits&rowMonQ != 0
	q.Name, q.Type, q.Base = r.String(), rowType(r.Bytes()), r.String()
	q.CurDepth, q.Uncom, q.OpProcs = int(r.Int32()), int(r.Int32()), int(r.Int32())
	q.LGet, q.LPut, q.Oldest = r.Int(), r.Int(), r.Int()
	q.Readers = p.readReaders(r)
	q.OwnOut = p.readReaders(r)
	if bits&rowAttributes != 0 {
		q.Attributes = p.readAttributes(r)
	}
	return bits&rowKnown != 0
}

func rowType(b []byte) string {
	switch string(b) {
	case "QLOCAL":
		return "QLOCAL"
	case "QALIAS":
		return "QALIAS"
	}
	return string(b)
}

func appendReaders(b []byte, list []qmgr.Reader) []byte {
	if len(list) == 0 {
		return append(b, 0)
	}
	return appendSized(b, func(b []byte) []byte {
		b = wire.AppendUint(b, uint64(len(list)))
		for i := range list {
			b = wire.AppendString(b, list[i].Tag)
			b = wire.AppendString(b, list[i].Owner)
		}
		return b
	})
}

func (p *sharedParts) readReaders(r *wire.Reader) []qmgr.Reader {
	part := r.Bytes()
	if len(part) == 0 {
		return nil
	}
	if list, ok := p.readers[string(part)]; ok {
		return list
	}
	in := wire.NewReader(part)
	list := make([]qmgr.Reader, in.Count(2))
	for i := range list {
		list[i] = qmgr.Reader{Tag: in.String(), Owner: in.String()}
	}
	p.fault(r, in)
	p.readers[string(part)] = list
	return list
}

// fault makes a part that is not sound a fault of the whole.
func (p *sharedParts) fault(r, part *wire.Reader) {
	if err := part.Done(); err != nil {
		r.Fail(err)
	}
}

// The fields of QueueAttributes by type, in the order in which they travel.
func attributeFields(a *qmgr.QueueAttributes) ([4]*bool, [8]*int, [8]*string) {
	return [4]*bool{&a.Put, &a.Get, &a.Trigger, &a.Share},
		[8]*int{&a.ClwlRank, &a.ClwlPrty, &a.MaxDepth, &a.MaxMsgL, &a.BoThresh, &a.QDepthHi, &a.QDepthLo, &a.DefPrty},
		[8]*string{&a.ClwlUseQ, &a.DefBind, &a.DefPsist, &a.Usage, &a.DefType, &a.Cluster, &a.ClusNL, &a.Descr}
}

func appendAttributes(b []byte, a *qmgr.QueueAttributes) []byte {
	bools, ints, texts := attributeFields(a)
	for _, v := range bools {
		b = wire.AppendBool(b, *v)
	}
	for _, v := range ints {
		b = wire.AppendInt(b, int64(*v))
	}
	for _, v := range texts {
		b = wire.AppendString(b, *v)
	}
	b = wire.AppendString(b, a.MonQ)
	return appendStrings(b, a.Clusters)
}

func (p *sharedParts) readAttributes(r *wire.Reader) *qmgr.QueueAttributes {
	part := r.Bytes()
	if a, ok := p.attrs[string(part)]; ok {
		return a
	}
	in := wire.NewReader(part)
	a := new(qmgr.QueueAttributes)
	bools, ints, texts := attributeFields(a)
	for _, v := range bools {
		*v = in.Bool()
	}
	for _, v := range ints {
		*v = int(in.Int32())
	}
	for _, v := range texts {
		*v = in.String()
	}
	a.MonQ = in.String()
	a.Clusters = readStrings(in)
	p.fault(r, in)
	p.attrs[string(part)] = a
	return a
}

// appendChanges appends the frame of a watch's events. The tag is the watch's.
func appendChanges(b []byte, tag uint64, list []Change) []byte {
	b = appendHead(b, kindChange, tag)
	b = wire.AppendUint(b, uint64(len(list)))
	for i := range list {
		b = append(wire.AppendString(b, list[i].Queue), byte(list[i].Kind))
	}
	return b
}

// decodeChanges reads the events of a watch after the kind byte.
func decodeChanges(r *wire.Reader) (tag uint64, list []Change, err error) {
	tag = r.Uint()
	list = make([]Change, r.Count(2))
	for i := range list {
		list[i] = Change{Queue: r.String(), Kind: ChangeKind(r.Byte())}
	}
	return tag, list, r.Done()
}
