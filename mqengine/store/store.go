package store

import "errors"

// Space is one kind of record.
type Space byte

// The spaces of a queue manager's store.
const (
	SpaceRecord  Space = 'r' // objects, channel state, repository records; key is text
	SpaceMessage Space = 'm' // message headers; key is queue number and sequence
	SpaceBody    Space = 'b' // message bodies; key is the body's number
)

// BodyID is a body's number, unique in a queue manager for its whole life. 0 is no body.
type BodyID uint64

// OpKind says what an Op does.
type OpKind byte

// The operations of a unit.
const (
	OpSetRecord OpKind = iota + 1
	OpDeleteRecord
	OpSetMessage
	OpDeleteMessage
	OpSetBody // Value is filled by the shell, which has the bytes
	OpDeleteBody
)

// Op is one write. Which fields count depends on Kind.
type Op struct {
	Kind  OpKind
	Key   string // records
	Queue uint32 // messages
	Seq   uint64 // messages
	Body  BodyID // bodies
	Value []byte
}

// Unit is what one Apply makes durable: all of it or nothing.
type Unit struct {
	Ops []Op
	// Sync asks that Apply returns only when the unit and all before it
	// survive a power failure. Without it the unit is atomic and ordered but may be lost.
	Sync bool
}

// Reset empties the unit and keeps its memory.
func (u *Unit) Reset() { clear(u.Ops); u.Ops, u.Sync = u.Ops[:0], false }

// Empty reports whether there is nothing to write.
func (u *Unit) Empty() bool { return len(u.Ops) == 0 }

// SetRecord writes a record and keeps value.
func (u *Unit) SetRecord(key string, value []byte) {
	u.Ops = append(u.Ops, Op{Kind: OpSetRecord, Key: key, Value: value})
}

// DeleteRecord removes a record; a missing one is no error.
func (u *Unit) DeleteRecord(key string) {
	u.Ops = append(u.Ops, Op{Kind: OpDeleteRecord, Key: key})
}

// SetMessage writes a header and keeps it. A header may be written again (a backout count).
func (u *Unit) SetMessage(queue uint32, seq uint64, header []byte) {
	u.Ops = append(u.Ops, Op{Kind: OpSetMessage, Queue: queue, Seq: seq, Value: header})
}

// DeleteMessage removes a header.
func (u *Unit) DeleteMessage(queue uint32, seq uint64) {
	u.Ops = append(u.Ops, Op{Kind: OpDeleteMessage, Queue: queue, Seq: seq})
}

// SetBody writes a body once; the shell fills in the bytes before Apply.
func (u *Unit) SetBody(id BodyID) { u.Ops = append(u.Ops, Op{Kind: OpSetBody, Body: id}) }

// DeleteBody removes a body that was written once.
func (u *Unit) DeleteBody(id BodyID) { u.Ops = append(u.Ops, Op{Kind: OpDeleteBody, Body: id}) }

// Errors of a store. Every error of Apply is fatal to the queue manager.
var (
	// ErrNoBody is the answer of Body for a number that is not there.
	ErrNoBody = errors.New("store: no such body")
	// ErrClosed is the answer after Close.
	ErrClosed = errors.New("store: closed")
	// ErrFailed is part of every error after the disk or the database gave up: the
	// queue manager has to end; what was acknowledged is safe.
	ErrFailed = errors.New("store: failed")
	// ErrLowSpace is the answer of Space below the disk reserve.
	ErrLowSpace = errors.New("store: disk reserve reached")
)

// Visitor gets every record and header of a store once: first the records in
// the order of their keys, then the headers by queue and sequence. Values are
// the visitor's to keep.
type Visitor interface {
	Record(key string, value []byte) error
	// Message returns the number of the body that the header names, 0 for none.
	Message(queue uint32, seq uint64, header []byte) (BodyID, error)
}

// Body is the bytes of a numbered body.
type Body struct {
	ID   BodyID
	Data []byte
}

// Store is the durable store of one queue manager. Apply is called by one
// goroutine at a time, Body, Bodies, Space and Close by any. After an error of Apply
// the store takes no more units, and every later Apply gives that error.
type Store interface {
	// Load visits what is stored, before the first Apply. No body number above
	// maxBody was ever used in this store, so the first new body is maxBody+1.
	// Bodies are not looked at: one unit holds a body and the header that names it.
	Load(v Visitor) (maxBody BodyID, err error)
	// Apply makes the unit visible at once and, with Sync, durable before it returns.
	// It keeps nothing of u.
	Apply(u *Unit) error
	// Body gives the bytes of a body; they are the caller's to keep but not to change.
	Body(id BodyID) ([]byte, error)
	// Bodies gives a body and what is stored of the next numbers after it, in their
	// order, as long as they are together no longer than size: for one who reads
	// bodies in the order in which they came. Only the first one missing is an error.
	Bodies(id BodyID, next, size int) ([]Body, error)
	// Space is nil, or ErrLowSpace while puts must be refused with 2056.
	Space() error
	// Close ends the store. What was applied without Sync may be lost.
	Close() error
}
