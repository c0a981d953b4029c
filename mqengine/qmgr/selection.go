package qmgr

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"github.com/situationd/situationd/mqengine/mqi"
	sel "github.com/situationd/situationd/mqengine/selector"
)

// mqmdPrefix are the fields of the descriptor in a selection string.
const mqmdPrefix = "Root.MQMD."

// usrPrefix is the folder of properties that an application makes without naming one.
const usrPrefix = "usr."

// selectionOf reads the selection string of an MQOPEN.
func selectionOf(text string) (*sel.Selector, mqi.Reason) {
	s, err := sel.Compile(text)
	switch {
	case len(text) > sel.MaxLength:
		return nil, mqi.MQRC_SELECTION_STRING_ERROR
	case err != nil:
		return nil, mqi.MQRC_SELECTOR_SYNTAX_ERROR
	}
	return s, mqi.MQRC_NONE
}

// Property implements selector.Source.
func (msg *message) Property(name string) sel.Value {
	if field, ok := strings.CutPrefix(name, mqmdPrefix); ok {
		return msg.field(field)
	}
	plain := strings.TrimPrefix(name, usrPrefix)
	for i := range msg.props {
		if strings.TrimPrefix(msg.props[i].Name, usrPrefix) == plain {
			return propertyValue(&msg.props[i])
		}
	}
	return msg.jmsField(name)
}

// propertyValue reads a property. Numbers come in the width they were written with.
func propertyValue(p *mqi.Property) sel.Value {
	v := p.Value
	switch p.Type {
	case 's':
		return sel.Value{Kind: sel.String, Str: string(v)}
	case 'x':
		return sel.Value{Kind: sel.Bytes, Str: string(v)}
	case 'b':
		if len(v) == 1 {
			return sel.Value{Kind: sel.Bool, Bool: v[0] != 0}
		}
	case 'i':
		switch len(v) {
		case 1:
			return wholeValue(int64(int8(v[0])))
		case 2:
			return wholeValue(int64(int16(binary.BigEndian.Uint16(v))))
		case 4:
			return wholeValue(int64(int32(binary.BigEndian.Uint32(v))))
		case 8:
			return wholeValue(int64(binary.BigEndian.Uint64(v)))
		}
	case 'f':
		switch len(v) {
		case 4:
			return sel.Value{Kind: sel.Float, Float: float64(math.Float32frombits(binary.BigEndian.Uint32(v)))}
		case 8:
			return sel.Value{Kind: sel.Float, Float: math.Float64frombits(binary.BigEndian.Uint64(v))}
		}
	}
	return sel.Value{}
}

func wholeValue(n int64) sel.Value  { return sel.Value{Kind: sel.Int, Int: n} }
func textValue(s string) sel.Value  { return sel.Value{Kind: sel.String, Str: s} }
func bytesValue(b []byte) sel.Value { return sel.Value{Kind: sel.Bytes, Str: string(b)} }

// field is a field of the descriptor by its IBM name.
func (msg *message) field(name string) sel.Value {
	md := &msg.md
	switch name {
	case "Report":
		return wholeValue(int64(md.Report))
	case "MsgType":
		return wholeValue(int64(md.MsgType))
	case "Feedback":
		return wholeValue(int64(md.Feedback))
	case "Encoding":
		return wholeValue(int64(md.Encoding))
	case "CodedCharSetId":
		return wholeValue(int64(md.CodedCharSetId))
	case "Priority":
		return wholeValue(int64(md.Priority))
	case "Persistence":
		return wholeValue(int64(md.Persistence))
	case "BackoutCount":
		return wholeValue(int64(md.BackoutCount))
	case "PutApplType":
		return wholeValue(int64(md.PutApplType))
	case "MsgSeqNumber":
		return wholeValue(int64(md.MsgSeqNumber))
	case "Offset":
		return wholeValue(int64(md.Offset))
	case "MsgFlags":
		return wholeValue(int64(md.MsgFlags))
	case "OriginalLength":
		return wholeValue(int64(md.OriginalLength))
	case "MsgId":
		return bytesValue(md.MsgId[:])
	case "CorrelId":
		return bytesValue(md.CorrelId[:])
	case "GroupId":
		return bytesValue(md.GroupId[:])
	case "AccountingToken":
		return bytesValue(md.AccountingToken[:])
	}
	return textFieldOf(md, name)
}

// textFieldOf is one of the descriptor's character fields.
func textFieldOf(md *mqi.MD, name string) sel.Value {
	switch name {
	case "Format":
		return textValue(md.Format)
	case "ReplyToQ":
		return textValue(md.ReplyToQ)
	case "ReplyToQMgr":
		return textValue(md.ReplyToQMgr)
	case "UserIdentifier":
		return textValue(md.UserIdentifier)
	case "ApplIdentityData":
		return textValue(md.ApplIdentityData)
	case "PutApplName":
		return textValue(md.PutApplName)
	case "PutDate":
		return textValue(md.PutDate())
	case "PutTime":
		return textValue(md.PutTime())
	case "ApplOriginData":
		return textValue(md.ApplOriginData)
	}
	return sel.Value{}
}

// jmsField maps the header fields of JMS to the descriptor, as MQ does.
func (msg *message) jmsField(name string) sel.Value {
	md := &msg.md
	switch name {
	case "JMSPriority":
		return wholeValue(int64(md.Priority))
	case "JMSTimestamp":
		return wholeValue(md.PutDateTime)
	case "JMSDeliveryMode":
		if msg.persistent() {
			return textValue("PERSISTENT")
		}
		return textValue("NON_PERSISTENT")
	case "JMSMessageID":
		return textValue("ID:" + hex.EncodeToString(md.MsgId[:]))
	case "JMSCorrelationID":
		if md.CorrelId.IsZero() {
			return sel.Value{}
		}
		return textValue("ID:" + hex.EncodeToString(md.CorrelId[:]))
	}
	return sel.Value{}
}
