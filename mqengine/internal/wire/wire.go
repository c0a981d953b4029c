package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrShort is the fault of an input that ends before its contents do.
var ErrShort = errors.New("wire: input too short")

// AppendUint appends an unsigned varint.
func AppendUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// AppendInt appends a signed (zig-zag) varint.
func AppendInt(b []byte, v int64) []byte { return binary.AppendVarint(b, v) }

// AppendString appends a length and the bytes.
func AppendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// AppendBytes appends a length and the bytes.
func AppendBytes(b, v []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(v)))
	return append(b, v...)
}

// AppendBool appends one byte.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// Reader takes values off a byte slice. The zero value reads nothing.
type Reader struct {
	b   []byte
	err error
}

// NewReader reads b; Bytes results alias it.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err is the first fault, nil if none.
func (r *Reader) Err() error { return r.err }

// Len is the number of unread bytes.
func (r *Reader) Len() int { return len(r.b) }

// Rest is everything unread; the reader is then empty.
func (r *Reader) Rest() []byte {
	b := r.b
	r.b = nil
	return b
}

// Done is Err, or a fault if input is left over.
func (r *Reader) Done() error {
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("wire: %d bytes left over", len(r.b))
	}
	return r.err
}

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

// Uint reads an unsigned varint.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail(ErrShort)
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Int reads a signed varint.
func (r *Reader) Int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail(ErrShort)
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Int32 reads a signed varint and refuses one that does not fit.
func (r *Reader) Int32() int32 {
	v := r.Int()
	if v != int64(int32(v)) {
		r.fail(fmt.Errorf("wire: %d does not fit 32 bits", v))
		return 0
	}
	return int32(v)
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.b) == 0 {
		r.fail(ErrShort)
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

// Bool reads one byte that must be 0 or 1.
func (r *Reader) Bool() bool {
	v := r.Byte()
	if v > 1 {
		r.fail(fmt.Errorf("wire: %d is not a boolean", v))
	}
	return v == 1
}

// Fail makes what is read a fault, for one who knows what may stand there.
func (r *Reader) Fail(err error) { r.fail(err) }

// Bytes reads a length and that many bytes, without copying.
func (r *Reader) Bytes() []byte {
	n := r.Uint()
	if n > uint64(len(r.b)) {
		r.fail(ErrShort)
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// String reads a length and that many bytes.
func (r *Reader) String() string { return string(r.Bytes()) }

// Fixed fills dst.
func (r *Reader) Fixed(dst []byte) {
	if len(r.b) < len(dst) {
		r.fail(ErrShort)
		return
	}
	copy(dst, r.b)
	r.b = r.b[len(dst):]
}

// Count reads a length of a list whose items take at least min bytes each, so
// that a hostile count cannot make the caller allocate more than the input.
func (r *Reader) Count(min int) int {
	n := r.Uint()
	if min < 1 {
		min = 1
	}
	if n > uint64(len(r.b)/min) {
		r.fail(ErrShort)
		return 0
	}
	return int(n)
}
