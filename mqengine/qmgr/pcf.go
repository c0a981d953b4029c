package qmgr

import (
	"encoding/binary"

	"github.com/situationd/situationd/mqengine/mqi"
)

// Parameters (MQCA_*, MQIA_*, MQCACF_*) of events.
const (
	pcfApplType       int32 = 1
	pcfTimeSinceReset int32 = 35
	pcfHighDepth      int32 = 36
	pcfEnqueued       int32 = 37
	pcfDequeued       int32 = 38
	pcfBaseObjectName int32 = 2002
	pcfQMgrName       int32 = 2015
	pcfQName          int32 = 2016
	pcfApplName       int32 = 3024
)

// Structures of PCF (MQCFT_*) and their fixed lengths.
const (
	pcfInteger int32 = 3
	pcfString  int32 = 4
	pcfEvent   int32 = 7

	pcfHeaderLen  = 36
	pcfIntegerLen = 16
	pcfStringLen  = 20
	pcfCountAt    = 32
)

// pcf is an event message in the programmable command format.
type pcf struct{ b []byte }

// newPCF begins an event: an MQCFH, whose count of parameters grows.
func newPCF(command int32, reason mqi.Reason) *pcf {
	e := &pcf{b: make([]byte, 0, 256)}
	for _, v := range [...]int32{
		pcfEvent, pcfHeaderLen, 1, command, 1, 1 /* MQCFC_LAST */, int32(mqi.MQCC_WARNING), int32(reason), 0,
	} {
		e.b = appendLong(e.b, v)
	}
	return e
}

func (e *pcf) count() {
	n := binary.LittleEndian.Uint32(e.b[pcfCountAt:])
	binary.LittleEndian.PutUint32(e.b[pcfCountAt:], n+1)
}

// number appends an MQCFIN; what does not fit is cut to the greatest MQLONG.
func (e *pcf) number(parameter int32, v int64) {
	e.count()
	for _, v := range [...]int32{pcfInteger, pcfIntegerLen, parameter, int32(min(v, 1<<31-1))} {
		e.b = appendLong(e.b, v)
	}
}

// text appends an MQCFST of a fixed length, which is a multiple of four.
func (e *pcf) text(parameter int32, s string, length int) {
	e.count()
	for _, v := range [...]int32{pcfString, int32(pcfStringLen + length), parameter, nativeCCSID, int32(length)} {
		e.b = appendLong(e.b, v)
	}
	e.b = appendField(e.b, s, length)
}

func (e *pcf) bytes() []byte { return e.b }
