package mqengine

import (
	"fmt"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
)

// Presence bits of a message descriptor: a field travels only if it differs
// from MQMD_DEFAULT, which nearly all of them do not.
const (
	mdReport = 1 << iota
	mdMsgType
	mdExpiry
	mdFeedback
	mdEncoding
	mdCodedCharSetId
	mdFormat
	mdPriority
	mdPersistence
	mdMsgId
	mdCorrelId
	mdBackoutCount
	mdReplyToQ
	mdReplyToQMgr
	mdUserIdentifier
	mdAccountingToken
	mdApplIdentityData
	mdPutApplType
	mdPutApplName
	mdPutDateTime
	mdApplOriginData
	mdGroupId
	mdMsgSeqNumber
	mdOffset
	mdMsgFlags
	mdOriginalLength
	mdEnd
)

var defaultMD = mqi.NewMD() // never written

// mdInts are the integer fields in the order of their bits, strings and identifiers left out.
func mdInts(md *mqi.MD) [14]*int32 {
	return [14]*int32{
		&md.Report, &md.MsgType, &md.Expiry, &md.Feedback, &md.Encoding, &md.CodedCharSetId,
		&md.Priority, &md.Persistence, &md.BackoutCount, &md.PutApplType,
		&md.MsgSeqNumber, &md.Offset, &md.MsgFlags, &md.OriginalLength,
	}
}

var mdIntBits = [14]uint64{
	mdReport, mdMsgType, mdExpiry, mdFeedback, mdEncoding, mdCodedCharSetId,
	mdPriority, mdPersistence, mdBackoutCount, mdPutApplType,
	mdMsgSeqNumber, mdOffset, mdMsgFlags, mdOriginalLength,
}

func mdStrings(md *mqi.MD) [7]*string {
	return [7]*string{
		&md.Format, &md.ReplyToQ, &md.ReplyToQMgr, &md.UserIdentifier,
		&md.ApplIdentityData, &md.PutApplName, &md.ApplOriginData,
	}
}

var mdStringBits = [7]uint64{
	mdFormat, mdReplyToQ, mdReplyToQMgr, mdUserIdentifier,
	mdApplIdentityData, mdPutApplName, mdApplOriginData,
}

func mdIds(md *mqi.MD) [3]*mqi.MsgId { return [3]*mqi.MsgId{&md.MsgId, &md.CorrelId, &md.GroupId} }

var mdIdBits = [3]uint64{mdMsgId, mdCorrelId, mdGroupId}

func mdMask(md *mqi.MD) uint64 {
	var mask uint64
	ints, defaults := mdInts(md), mdInts(&defaultMD)
	for i, bit := range mdIntBits {
		if *ints[i] != *defaults[i] {
			mask |= bit
		}
	}
	for i, s := range mdStrings(md) {
		if *s != "" {
			mask |= mdStringBits[i]
		}
	}
	for i, id := range mdIds(md) {
		if !id.IsZero() {
			mask |= mdIdBits[i]
		}
	}
	if md.AccountingToken != [32]byte{} {
		mask |= mdAccountingToken
	}
	if md.PutDateTime != 0 {
		mask |= mdPutDateTime
	}
	return mask
}

// appendMD appends a message descriptor: the mask, then the integers, strings
// and identifiers that the mask names, each group in the order of its table.
func appendMD(b []byte, md *mqi.MD) []byte {
	mask := mdMask(md)
	b = wire.AppendUint(b, mask)
	for i, v := range mdInts(md) {
		if mask&mdIntBits[i] != 0 {
			b = wire.AppendInt(b, int64(*v))
		}
	}
	for i, s := range mdStrings(md) {
		if mask&mdStringBits[i] != 0 {
			b = wire.AppendString(b, *s)
		}
	}
	for i, id := range mdIds(md) {
		if mask&mdIdBits[i] != 0 {
			b = append(b, id[:]...)
		}
	}
	if mask&mdAccountingToken != 0 {
		b = append(b, md.AccountingToken[:]...)
	}
	if mask&mdPutDateTime != 0 {
		b = wire.AppendInt(b, md.PutDateTime)
	}
	return b
}

// readMD reads a descriptor into md. An unknown bit is a fault: what it stands for cannot be skipped.
func readMD(r *wire.Reader, md *mqi.MD) error {
	*md = defaultMD
	mask := r.Uint()
	if mask >= mdEnd {
		return fmt.Errorf("message descriptor with unknown fields %#x", mask)
	}
	for i, v := range mdInts(md) {
		if mask&mdIntBits[i] != 0 {
			*v = r.Int32()
		}
	}
	for i, s := range mdStrings(md) {
		if mask&mdStringBits[i] != 0 {
			*s = r.String()
		}
	}
	for i, id := range mdIds(md) {
		if mask&mdIdBits[i] != 0 {
			r.Fixed(id[:])
		}
	}
	if mask&mdAccountingToken != 0 {
		r.Fixed(md.AccountingToken[:])
	}
	if mask&mdPutDateTime != 0 {
		md.PutDateTime = r.Int()
	}
	return r.Err()
}

func appendOD(b []byte, od *mqi.OD) []byte {
	b = wire.AppendInt(b, int64(od.ObjectType))
	b = wire.AppendString(b, od.ObjectName)
	b = wire.AppendString(b, od.ObjectQMgrName)
	return wire.AppendString(b, od.DynamicQName)
}

func readOD(r *wire.Reader) mqi.OD {
	return mqi.OD{
		ObjectType: r.Int32(), ObjectName: r.String(),
		ObjectQMgrName: r.String(), DynamicQName: r.String(),
	}
}

func appendProps(b []byte, props []mqi.Property) []byte {
	b = wire.AppendUint(b, uint64(len(props)))
	for i := range props {
		b = wire.AppendString(b, props[i].Name)
		b = append(b, props[i].Type)
		b = wire.AppendBytes(b, props[i].Value)
	}
	return b
}

// readProps copies the values: the frame's memory belongs to the body.
func readProps(r *wire.Reader) []mqi.Property {
	n := r.Count(3)
	if n == 0 {
		return nil
	}
	props := make([]mqi.Property, n)
	for i := range props {
		props[i] = mqi.Property{Name: r.String(), Type: r.Byte(), Value: append([]byte(nil), r.Bytes()...)}
	}
	return props
}
