package qmgr

import (
	"encoding/binary"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/store"
)

// deadHeaderLen is the length of an MQDLH.
const deadHeaderLen = 172

// nativeEncoding and nativeCCSID are how the queue manager writes the numbers
// and the text of what it composes itself: little-endian, UTF-8.
const (
	nativeEncoding int32 = 546
	nativeCCSID    int32 = 1208
)

// BodyCopy asks the shell for a new body made of a part of another, before it
// does anything else with the bodies of a turn.
type BodyCopy struct {
	From, To    store.BodyID
	Offset, Len int
}

// copyBody makes a new body of a part of one. Without Config.NewBody there is none.
func (m *Machine) copyBody(fx *Effects, from BodyRef, offset, length int) BodyRef {
	length = min(length, from.Len-offset)
	if from.ID == 0 || length <= 0 || m.cfg.NewBody == nil {
		return BodyRef{}
	}
	to := BodyRef{ID: m.cfg.NewBody(), Len: length}
	fx.Copies = append(fx.Copies, BodyCopy{From: from.ID, To: to.ID, Offset: offset, Len: length})
	return to
}

// length is the whole length of the message as an application gets it.
func (msg *message) length() int {
	n := len(msg.head) + msg.body.Len
	if msg.dead != nil {
		n += deadHeaderLen
	}
	return n
}

// front is what the machine itself puts in front of the body: the dead-letter
// header, and what it wrote when it made the message.
func (msg *message) front() []byte {
	if msg.dead == nil {
		return msg.head
	}
	return append(msg.dead.encode(&msg.md), msg.head...)
}

// encode is the MQDLH of a message with that descriptor.
func (d *deadLetter) encode(md *mqi.MD) []byte {
	b := make([]byte, 0, deadHeaderLen)
	b = append(b, "DLH "...)
	b = appendLong(b, 1)
	b = appendLong(b, int32(d.reason))
	b = appendField(b, d.destQ, 48)
	b = appendField(b, d.destQMgr, 48)
	b = appendLong(b, md.Encoding)
	b = appendLong(b, md.CodedCharSetId)
	b = appendField(b, md.Format, 8)
	b = appendLong(b, applTypeQMgr)
	b = appendField(b, d.putBy, maxPutApplName)
	at := mqi.MD{PutDateTime: d.at}
	b = appendField(b, at.PutDate(), 8)
	return appendField(b, at.PutTime(), 8)
}

// descriptor is the message's descriptor as an application gets it: that of a
// dead letter describes the header in front of it.
func (msg *message) descriptor() mqi.MD {
	md := msg.md
	if msg.dead != nil {
		md.Format, md.Encoding, md.CodedCharSetId = mqi.MQFMT_DEAD_LETTER_HEADER, nativeEncoding, nativeCCSID
	}
	return md
}

// appendLong appends an MQLONG.
func appendLong(b []byte, v int32) []byte { return binary.LittleEndian.AppendUint32(b, uint32(v)) }

// appendField appends a character field, cut or padded with blanks to its length.
func appendField(b []byte, s string, length int) []byte {
	if len(s) > length {
		s = s[:length]
	}
	b = append(b, s...)
	for range length - len(s) {
		b = append(b, ' ')
	}
	return b
}

// cut shortens a result to what the application's buffer holds; negative is any length.
func (r *GetResult) cut(length int) {
	if length < 0 {
		return
	}
	r.Head = r.Head[:min(len(r.Head), length)]
	length -= len(r.Head)
	r.Body.Len = min(r.Body.Len, length)
	length -= r.Body.Len
	for i := range r.More {
		r.More[i].Len = min(r.More[i].Len, length)
		length -= r.More[i].Len
	}
}

// Whole puts a result's message together from bytes that body gives for a reference.
func (r *GetResult) Whole(body func(BodyRef) ([]byte, error)) ([]byte, error) {
	data, err := body(r.Body)
	if err != nil || len(r.Head) == 0 && len(r.More) == 0 {
		return data[:min(len(data), r.Body.Len)], err
	}
	out := append(make([]byte, 0, len(r.Head)+r.Body.Len), r.Head...)
	out = append(out, data[:min(len(data), r.Body.Len)]...)
	for _, ref := range r.More {
		if data, err = body(ref); err != nil {
			return nil, err
		}
		out = append(out, data[:min(len(data), ref.Len)]...)
	}
	return out, nil
}
