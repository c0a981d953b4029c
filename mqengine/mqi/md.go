package mqi

import "time"

// MsgId is an MQBYTE24: a message, correlation or group identifier.
type MsgId [24]byte

// IsZero reports whether the identifier is MQMI_NONE.
func (id MsgId) IsZero() bool { return id == MsgId{} }

// Message types, persistence, expiry and priority values of the MQMD
// (manual topic "MQMD - Message descriptor").
const (
	MQMT_REQUEST  int32 = 1
	MQMT_REPLY    int32 = 2
	MQMT_REPORT   int32 = 4
	MQMT_DATAGRAM int32 = 8

	MQPER_NOT_PERSISTENT       int32 = 0
	MQPER_PERSISTENT           int32 = 1
	MQPER_PERSISTENCE_AS_Q_DEF int32 = 2

	MQPRI_PRIORITY_AS_Q_DEF int32 = -1
	MQEI_UNLIMITED          int32 = -1

	MQMF_SEGMENT           int32 = 2
	MQMF_LAST_SEGMENT      int32 = 4
	MQMF_MSG_IN_GROUP      int32 = 8
	MQMF_LAST_MSG_IN_GROUP int32 = 16
)

// MD is the message descriptor (MQMD version 2). Strings carry no padding.
type MD struct {
	Report           int32
	MsgType          int32
	Expiry           int32 // tenths of a second left, MQEI_UNLIMITED for none
	Feedback         int32
	Encoding         int32
	CodedCharSetId   int32
	Format           string
	Priority         int32 // 0..9, MQPRI_PRIORITY_AS_Q_DEF on a put
	Persistence      int32
	MsgId            MsgId
	CorrelId         MsgId
	BackoutCount     int32
	ReplyToQ         string
	ReplyToQMgr      string
	UserIdentifier   string
	AccountingToken  [32]byte
	ApplIdentityData string
	PutApplType      int32
	PutApplName      string
	PutDateTime      int64 // PutDate and PutTime: Unix time in milliseconds, 0 for none
	ApplOriginData   string
	GroupId          MsgId
	MsgSeqNumber     int32
	Offset           int32
	MsgFlags         int32
	OriginalLength   int32
}

// NewMD returns the MQMD_DEFAULT of the manual.
func NewMD() MD {
	return MD{
		MsgType: MQMT_DATAGRAM, Expiry: MQEI_UNLIMITED, Priority: MQPRI_PRIORITY_AS_Q_DEF,
		Persistence: MQPER_PERSISTENCE_AS_Q_DEF, Encoding: 546, CodedCharSetId: 1208,
		MsgSeqNumber: 1, OriginalLength: -1,
	}
}

// PutDate is the MQMD PutDate, YYYYMMDD in UTC, blank if unset.
func (md *MD) PutDate() string {
	if md.PutDateTime == 0 {
		return ""
	}
	return time.UnixMilli(md.PutDateTime).UTC().Format("20060102")
}

// PutTime is the MQMD PutTime, HHMMSSTH in UTC, blank if unset.
func (md *MD) PutTime() string {
	if md.PutDateTime == 0 {
		return ""
	}
	t := time.UnixMilli(md.PutDateTime).UTC()
	return t.Format("150405") + string([]byte{byte('0' + t.Nanosecond()/100_000_000), byte('0' + t.Nanosecond()/10_000_000%10)})
}

// Property is one message property (MQSETMP): a name and a typed value.
type Property struct {
	Name  string
	Type  byte // 's' string, 'i' int64, 'f' float64, 'b' boolean, 'x' bytes; the value in big-endian or raw form
	Value []byte
}
