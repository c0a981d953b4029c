package mqengine

import (
	"encoding/binary"
	"fmt"

	"github.com/situationd/situationd/mqengine/mqi"
)

// An Escape command carries MQSC as text in the programmable command format:
// an MQCFH, the type of the escape as an MQCFIN, the text as an MQCFST. Its
// responses look the same and carry what runmqsc would print.

// Numbers of PCF that escapes need (MQCFT_*, MQCFC_*, MQCMD_*, MQIACF_*, MQCACF_*, MQET_*).
const (
	cfCommand   int32 = 1
	cfResponse  int32 = 2
	cfInteger   int32 = 3
	cfString    int32 = 4
	cfCommandXR int32 = 16

	cfNotLast int32 = 0
	cfLast    int32 = 1

	cmdEscape        int32 = 38
	paramEscapeType  int32 = 1017
	paramEscapeText  int32 = 3014
	escapeMQSC       int32 = 1
	cfHeaderLen            = 36
	cfIntegerLen           = 16
	cfStringLen            = 20
	maxCFParameters        = 16 // an escape has two
	formatAdmin            = "MQADMIN"
	encodingBig      int32 = 273
	encodingIntMask  int32 = 0xf
	escapeTextBorder       = 4 // strings are filled up to a multiple
)

// Reason codes of PCF (MQRCCF_*): what is wrong with a command message.
const (
	rccfHeaderType     mqi.Reason = 3001
	rccfHeaderLength   mqi.Reason = 3002
	rccfHeaderVersion  mqi.Reason = 3003
	rccfControl        mqi.Reason = 3005
	rccfParameterCount mqi.Reason = 3006
	rccfCommand        mqi.Reason = 3007
	rccfFailed         mqi.Reason = 3008
	rccfIntegerLength  mqi.Reason = 3009
	rccfStringLength   mqi.Reason = 3011
	rccfStructure      mqi.Reason = 3013
	rccfIntegerParam   mqi.Reason = 3014
	rccfStringParam    mqi.Reason = 3015
	rccfMessageLength  mqi.Reason = 3016
	rccfTooFew         mqi.Reason = 3019
	rccfEscapeType     mqi.Reason = 3054
)

// escape is one Escape command or a part of its response.
type escape struct {
	kind     int32 // cfCommand or cfResponse
	command  int32
	sequence int32 // of a response's parts, from 1
	last     bool
	compCode mqi.CompCode
	reason   mqi.Reason
	text     string
}

// encode writes it as the native encoding has it, little-endian.
func (e *escape) encode() []byte {
	control := cfNotLast
	if e.last {
		control = cfLast
	}
	padded := (len(e.text) + escapeTextBorder - 1) / escapeTextBorder * escapeTextBorder
	b := make([]byte, 0, cfHeaderLen+cfIntegerLen+cfStringLen+padded)
	for _, v := range [...]int32{
		e.kind, cfHeaderLen, 1, e.command, e.sequence, control, int32(e.compCode), int32(e.reason), 2,
		cfInteger, cfIntegerLen, paramEscapeType, escapeMQSC,
		cfString, int32(cfStringLen + padded), paramEscapeText, 1208, int32(len(e.text)),
	} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b = append(b, e.text...)
	return append(b, make([]byte, padded-len(e.text))...)
}

// decodeEscape reads an Escape command or response. The error is an *mqi.Error
// with the reason code that a command server answers with; the header is in the
// result as far as it could be read.
func decodeEscape(b []byte, encoding int32) (escape, error) {
	r := cfReader{b: b, order: binary.LittleEndian}
	if encoding&encodingIntMask == encodingBig&encodingIntMask {
		r.order = binary.BigEndian
	}
	var e escape
	if len(b) < cfHeaderLen {
		return e, cfError(rccfMessageLength, "%d bytes are no MQCFH", len(b))
	}
	length, version, control, count := int32(0), int32(0), int32(0), int32(0)
	var compCode, reason int32
	for _, v := range [...]*int32{&e.kind, &length, &version, &e.command, &e.sequence, &control, &compCode, &reason, &count} {
		*v = r.long()
	}
	e.last, e.compCode, e.reason = control == cfLast, mqi.CompCode(compCode), mqi.Reason(reason)
	switch {
	case e.kind != cfCommand && e.kind != cfCommandXR && e.kind != cfResponse:
		return e, cfError(rccfHeaderType, "type %d is neither a command nor a response", e.kind)
	case length != cfHeaderLen:
		return e, cfError(rccfHeaderLength, "the MQCFH says that it has %d bytes", length)
	case version < 1 || version > 3:
		return e, cfError(rccfHeaderVersion, "version %d", version)
	case e.kind != cfResponse && !e.last:
		return e, cfError(rccfControl, "a command of several messages")
	case e.command != cmdEscape:
		return e, cfError(rccfCommand, "command %d; only Escape (%d) with MQSC is carried out", e.command, cmdEscape)
	case compCode < 0 || compCode > int32(mqi.MQCC_FAILED) || count < 0 || count > maxCFParameters:
		return e, cfError(rccfParameterCount, "%d parameters", count)
	}
	return e, e.parameters(&r, int(count))
}

func (e *escape) parameters(r *cfReader, count int) error {
	var typed, written bool
	for range count {
		if len(r.b) < 2*4 {
			return cfError(rccfParameterCount, "the message ends before its last parameter")
		}
		kind, length := r.long(), int(r.long())
		switch kind {
		case cfInteger:
			if length != cfIntegerLen || len(r.b) < cfIntegerLen-8 {
				return cfError(rccfIntegerLength, "an integer of %d bytes", length)
			}
			param, value := r.long(), r.long()
			switch {
			case param != paramEscapeType || typed:
				return cfError(rccfIntegerParam, "parameter %d", param)
			case value != escapeMQSC:
				return cfError(rccfEscapeType, "escape type %d; MQSC is %d", value, escapeMQSC)
			}
			typed = true
		case cfString:
			if length < cfStringLen || len(r.b) < length-8 {
				return cfError(rccfStringLength, "a string of %d bytes", length)
			}
			param, _, n := r.long(), r.long(), int(r.long())
			switch {
			case n < 0 || n > length-cfStringLen:
				return cfError(rccfStringLength, "a string of %d characters in %d bytes", n, length)
			case param != paramEscapeText || written:
				return cfError(rccfStringParam, "parameter %d", param)
			}
			e.text, written = string(r.b[:n]), true
			r.b = r.b[length-cfStringLen:]
		default:
			return cfError(rccfStructure, "a parameter of type %d", kind)
		}
	}
	switch {
	case !typed || !written:
		return cfError(rccfTooFew, "an Escape has a type and a text")
	case len(r.b) != 0:
		return cfError(rccfMessageLength, "%d bytes behind the last parameter", len(r.b))
	}
	return nil
}

// cfReader reads MQLONGs. Who calls it has checked that they are there.
type cfReader struct {
	b     []byte
	order binary.ByteOrder
}

func (r *cfReader) long() int32 {
	v := int32(r.order.Uint32(r.b))
	r.b = r.b[4:]
	return v
}

func cfError(reason mqi.Reason, format string, args ...any) *mqi.Error {
	return &mqi.Error{CompCode: mqi.MQCC_FAILED, Reason: reason, Op: "PCF", Detail: fmt.Sprintf(format, args...)}
}
