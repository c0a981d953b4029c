package mqi

import (
	"errors"
	"fmt"
	"strings"
)

// CompCode is an MQCC completion code.
type CompCode int32

// Completion codes.
const (
	MQCC_OK      CompCode = 0
	MQCC_WARNING CompCode = 1
	MQCC_FAILED  CompCode = 2
)

// Reason is an MQRC reason code. It is an error, so errors.Is(err, mqi.MQRC_Q_FULL) works.
type Reason int32

// Error gives the name and the number: "MQRC_Q_FULL (2053)".
func (r Reason) Error() string { return fmt.Sprintf("%s (%d)", r.String(), int32(r)) }

// Error is a failed or warned MQI call: what was tried, on which object, and why not.
type Error struct {
	CompCode CompCode
	Reason   Reason
	Op       string // MQOPEN, MQPUT, MQSC ...
	Object   string // the object's name, if the call had one
	Detail   string // one more sentence for a person, may be empty
}

// Errorf builds a failed call.
func Errorf(op, object string, r Reason, format string, args ...any) *Error {
	return &Error{CompCode: MQCC_FAILED, Reason: r, Op: op, Object: object, Detail: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Object != "" {
		b.WriteString(" " + e.Object)
	}
	b.WriteString(": " + e.Reason.Error())
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

// Unwrap lets errors.Is find the reason code.
func (e *Error) Unwrap() error { return e.Reason }

// ReasonOf finds the reason code in an error chain: MQRC_NONE for nil,
// MQRC_UNEXPECTED_ERROR if there is none.
func ReasonOf(err error) Reason {
	if err == nil {
		return MQRC_NONE
	}
	var r Reason
	if errors.As(err, &r) {
		return r
	}
	return MQRC_UNEXPECTED_ERROR
}
