package qmgr

import (
	"errors"
	"fmt"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/store"
)

// headerVersion is the first byte of a message header. Everything behind it is
// that version's business: a field added later needs a new version, which still
// reads this one.
const headerVersion = 1

// Bits of a header: which parts follow, and facts that need no part.
const (
	headerPersistent = 1 << iota
	headerAddressed
	headerFromCluster
	headerBody
	headerGroup    // group, segment and report fields of MQMD
	headerIdentity // accounting token, identity and origin data
	headerReply    // reply-to queue, feedback
	headerProps
	headerTransmission
	headerPayload
	headerDead
	headerExpiry
	headerHops
	headerHead
	headerAll = 1<<iota - 1
)

// Limits of what a header may hold; a put is checked against them, so that what
// was accepted can always be read back.
const (
	maxProperties    = 1000
	maxPropertyBytes = 1 << 20
	maxBodyLen       = 1<<31 - 1
)

var errNoHeader = errors.New("message header: empty")

func (msg *message) headerFlags() uint64 {
	var f uint64
	set := func(bit uint64, on bool) {
		if on {
			f |= bit
		}
	}
	md := &msg.md
	set(headerPersistent, msg.persistent())
	set(headerAddressed, msg.addressed)
	set(headerFromCluster, msg.fromCluster)
	set(headerBody, msg.body.ID != 0)
	set(headerGroup, md.Report != 0 || !md.GroupId.IsZero() || md.MsgSeqNumber != 1 || md.Offset != 0 || md.MsgFlags != 0 || md.OriginalLength != -1)
	set(headerIdentity, md.AccountingToken != [32]byte{} || md.ApplIdentityData != "" || md.ApplOriginData != "")
	set(headerReply, md.ReplyToQ != "" || md.ReplyToQMgr != "" || md.Feedback != 0)
	set(headerProps, len(msg.props) > 0)
	set(headerTransmission, msg.targetQ != "" || msg.targetQMgr != "" || msg.channel != "")
	set(headerPayload, msg.payload != nil)
	set(headerDead, msg.dead != nil)
	set(headerExpiry, msg.expiresAt != 0)
	set(headerHops, msg.hops != 0)
	set(headerHead, len(msg.head) > 0)
	return f
}

// headerSize is at least as long as appendHeader will make it.
func (msg *message) headerSize() int {
	n := 420 + len(msg.md.Format) + len(msg.md.ReplyToQ) + len(msg.md.ReplyToQMgr) + len(msg.md.UserIdentifier) +
		len(msg.md.ApplIdentityData) + len(msg.md.ApplOriginData) + len(msg.md.PutApplName) + len(msg.origin) +
		len(msg.targetQ) + len(msg.targetQMgr) + len(msg.channel) + len(msg.payload) + len(msg.head)
	for i := range msg.props {
		n += 12 + len(msg.props[i].Name) + len(msg.props[i].Value)
	}
	if msg.dead != nil {
		n += 50 + len(msg.dead.destQ) + len(msg.dead.destQMgr) + len(msg.dead.putBy)
	}
	return n
}

// appendHeader appends the message's stored form. The body comes first, so that
// headerBodyID need not read on.
func appendHeader(b []byte, msg *message) []byte {
	md, f := &msg.md, msg.headerFlags()
	b = append(b, headerVersion)
	b = wire.AppendUint(b, f)
	if f&headerBody != 0 {
		b = wire.AppendUint(b, uint64(msg.body.ID))
		b = wire.AppendUint(b, uint64(msg.body.Len))
	}
	b = append(b, byte(msg.bind), msg.lane)
	b = append(b, md.MsgId[:]...)
	b = append(b, md.CorrelId[:]...)
	for _, v := range [...]int32{
		md.MsgType, md.Encoding, md.CodedCharSetId, md.Priority, md.BackoutCount, md.PutApplType,
	} {
		b = wire.AppendInt(b, int64(v))
	}
	b = wire.AppendInt(b, md.PutDateTime)
	b = wire.AppendInt(b, msg.arrived)
	if f&headerExpiry != 0 {
		b = wire.AppendInt(b, msg.expiresAt)
	}
	for _, s := range [...]string{md.Format, md.UserIdentifier, md.PutApplName, msg.origin} {
		b = wire.AppendString(b, s)
	}
	return appendHeaderParts(b, msg, f)
}

func appendHeaderParts(b []byte, msg *message, f uint64) []byte {
	md := &msg.md
	if f&headerGroup != 0 {
		b = append(b, md.GroupId[:]...)
		for _, v := range [...]int32{md.Report, md.MsgSeqNumber, md.Offset, md.MsgFlags, md.OriginalLength} {
			b = wire.AppendInt(b, int64(v))
		}
	}
	if f&headerIdentity != 0 {
		b = append(b, md.AccountingToken[:]...)
		b = wire.AppendString(b, md.ApplIdentityData)
		b = wire.AppendString(b, md.ApplOriginData)
	}
	if f&headerReply != 0 {
		b = wire.AppendString(b, md.ReplyToQ)
		b = wire.AppendString(b, md.ReplyToQMgr)
		b = wire.AppendInt(b, int64(md.Feedback))
	}
	if f&headerProps != 0 {
		b = appendProperties(b, msg.props)
	}
	if f&headerTransmission != 0 {
		b = wire.AppendString(b, msg.targetQ)
		b = wire.AppendString(b, msg.targetQMgr)
		b = wire.AppendString(b, msg.channel)
	}
	if f&headerHops != 0 {
		b = append(b, msg.hops)
	}
	if f&headerPayload != 0 {
		b = wire.AppendBytes(b, msg.payload)
	}
	if f&headerDead != 0 {
		b = wire.AppendInt(b, int64(msg.dead.reason))
		b = wire.AppendString(b, msg.dead.destQ)
		b = wire.AppendString(b, msg.dead.destQMgr)
		b = wire.AppendInt(b, msg.dead.at)
		b = wire.AppendString(b, msg.dead.putBy)
	}
	if f&headerHead != 0 {
		b = wire.AppendBytes(b, msg.head)
	}
	return b
}

func appendProperties(b []byte, props []mqi.Property) []byte {
	b = wire.AppendUint(b, uint64(len(props)))
	for i := range props {
		b = wire.AppendString(b, props[i].Name)
		b = append(b, props[i].Type)
		b = wire.AppendBytes(b, props[i].Value)
	}
	return b
}

// decodeHeader reads what appendHeader wrote. The message keeps parts of header.
func decodeHeader(header []byte, words *interner) (*message, error) {
	if len(header) == 0 {
		return nil, errNoHeader
	}
	r := wire.NewReader(header)
	if v := r.Byte(); v != headerVersion {
		return nil, fmt.Errorf("message header: format version %d is not known here: a newer release wrote it", v)
	}
	f := r.Uint()
	if f&^uint64(headerAll) != 0 {
		return nil, fmt.Errorf("message header: unknown parts %#x", f)
	}
	msg := &message{addressed: f&headerAddressed != 0, fromCluster: f&headerFromCluster != 0}
	if f&headerBody != 0 {
		id, length := r.Uint(), r.Uint()
		if id == 0 || length > maxBodyLen {
			return nil, fmt.Errorf("message header: body %d of %d bytes", id, length)
		}
		msg.body = BodyRef{ID: store.BodyID(id), Len: int(length)}
	}
	md := &msg.md
	md.MsgSeqNumber, md.OriginalLength, md.Expiry = 1, -1, mqi.MQEI_UNLIMITED
	if f&headerPersistent != 0 {
		md.Persistence = mqi.MQPER_PERSISTENT
	}
	msg.bind, msg.lane = bindType(r.Byte()), r.Byte()
	if msg.bind > bindOnGroup || msg.lane > maxPriority {
		return nil, fmt.Errorf("message header: bind %d or priority %d out of range", msg.bind, msg.lane)
	}
	r.Fixed(md.MsgId[:])
	r.Fixed(md.CorrelId[:])
	for _, p := range [...]*int32{
		&md.MsgType, &md.Encoding, &md.CodedCharSetId, &md.Priority, &md.BackoutCount, &md.PutApplType,
	} {
		*p = r.Int32()
	}
	md.PutDateTime, msg.arrived = r.Int(), r.Int()
	if f&headerExpiry != 0 {
		msg.expiresAt = r.Int()
	}
	for _, p := range [...]*string{&md.Format, &md.UserIdentifier, &md.PutApplName, &msg.origin} {
		*p = words.intern(r.Bytes())
	}
	msg.decodeParts(r, f, words)
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("message header: %w", err)
	}
	return msg, nil
}

func (msg *message) decodeParts(r *wire.Reader, f uint64, words *interner) {
	md := &msg.md
	if f&headerGroup != 0 {
		r.Fixed(md.GroupId[:])
		for _, p := range [...]*int32{&md.Report, &md.MsgSeqNumber, &md.Offset, &md.MsgFlags, &md.OriginalLength} {
			*p = r.Int32()
		}
	}
	if f&headerIdentity != 0 {
		r.Fixed(md.AccountingToken[:])
		md.ApplIdentityData, md.ApplOriginData = r.String(), r.String()
	}
	if f&headerReply != 0 {
		md.ReplyToQ, md.ReplyToQMgr = words.intern(r.Bytes()), words.intern(r.Bytes())
		md.Feedback = r.Int32()
	}
	if f&headerProps != 0 {
		msg.props = decodeProperties(r, words)
	}
	if f&headerTransmission != 0 {
		msg.targetQ, msg.targetQMgr = words.intern(r.Bytes()), words.intern(r.Bytes())
		msg.channel = words.intern(r.Bytes())
	}
	if f&headerHops != 0 {
		msg.hops = r.Byte()
	}
	if f&headerPayload != 0 {
		msg.payload = r.Bytes()
	}
	if f&headerDead != 0 {
		msg.dead = &deadLetter{reason: mqi.Reason(r.Int32())}
		msg.dead.destQ, msg.dead.destQMgr = words.intern(r.Bytes()), words.intern(r.Bytes())
		msg.dead.at = r.Int()
		msg.dead.putBy = words.intern(r.Bytes())
	}
	if f&headerHead != 0 {
		msg.head = r.Bytes()
	}
}

func decodeProperties(r *wire.Reader, words *interner) []mqi.Property {
	n := r.Count(3)
	if n == 0 {
		return nil
	}
	props := make([]mqi.Property, n)
	for i := range props {
		props[i] = mqi.Property{Name: words.intern(r.Bytes()), Type: r.Byte(), Value: r.Bytes()}
	}
	return props
}

// headerBodyID is the number of the body that a header names, 0 for none.
func headerBodyID(header []byte) store.BodyID {
	r := wire.NewReader(header)
	if r.Byte() != headerVersion || r.Uint()&headerBody == 0 {
		return 0
	}
	return store.BodyID(r.Uint())
}

// transmissionHeader is the message's header as a channel carries it: the body
// travels beside it under another number, and the expiry is what remains, since
// clocks differ between hosts.
func transmissionHeader(now time.Time, msg *message) []byte {
	out := *msg
	out.body, out.lane, out.arrived, out.channel = BodyRef{}, 0, 0, ""
	if out.expiresAt != 0 {
		// An expired message still has one millisecond to live: 0 would be for ever.
		out.expiresAt = max(out.expiresAt-now.UnixMilli(), 1)
	}
	return appendHeader(make([]byte, 0, out.headerSize()), &out)
}

// receivedMessage is the message that a transmission header and a numbered body
// make. It keeps parts of header.
func (m *Machine) receivedMessage(now time.Time, header []byte, body BodyRef) (*message, error) {
	msg, err := decodeHeader(header, &m.words)
	if err != nil {
		return nil, err
	}
	msg.body = body
	if msg.expiresAt != 0 {
		if msg.expiresAt < 0 || msg.expiresAt > maxExpiryMillis {
			return nil, fmt.Errorf("message header: %d ms left to live", msg.expiresAt)
		}
		msg.expiresAt += now.UnixMilli()
	}
	return msg, nil
}

// maxExpiryMillis is the longest life an MQMD can ask for.
const maxExpiryMillis = (1<<31 - 1) * 100

// interner keeps one copy of words that many messages share. It forgets
// everything when it is full: what is in use stays alive by its users.
type interner struct{ words map[string]string }

const maxInterned = 4096

func (w *interner) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := w.words[string(b)]; ok {
		return s
	}
	if len(b) > 64 {
		return string(b)
	}
	if w.words == nil || len(w.words) >= maxInterned {
		w.words = make(map[string]string)
	}
	s := string(b)
	w.words[s] = s
	return s
}
