package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// qSeparator stands between messages of which more than the text is printed.
const qSeparator = "--------------------------------------------------------------------------------\n"

// print writes one message, with what -d and -v2 ask for, in one write.
func (r *qRun) print(msg *mqengine.Message) error {
	if r.quiet {
		return nil
	}
	var out bytes.Buffer
	d := &r.detail
	if d.level > 0 {
		out.WriteString(qSeparator)
	}
	if r.verbose >= 2 {
		fmt.Fprintf(&out, "MsgId: %X\n", msg.MD.MsgId[:])
	}
	if d.length {
		fmt.Fprintf(&out, "Length: %d\n", max(msg.Length, len(msg.Body)))
	}
	if d.md {
		describeMD(&out, &msg.MD, d.level)
	}
	if d.properties {
		listProperties(&out, msg.Props)
	}
	switch {
	case d.noBody:
	case d.hex:
		out.WriteString(hex.Dump(msg.Body))
	default:
		r.printText(&out, msg.Body)
	}
	_, err := r.env.Stdout.Write(out.Bytes())
	return err
}

// printText writes a message as a line: of a # command its length, and the checksum if it has one.
func (r *qRun) printText(out *bytes.Buffer, body []byte) {
	if !r.noCommands && bytes.HasPrefix(body, []byte("#")) {
		fmt.Fprintf(out, "(%d bytes) ", len(body))
		if bytes.HasPrefix(body, []byte("#c")) {
			fmt.Fprintf(out, "[Chk.%d] ", checksum(body))
			body, _, _ = bytes.Cut(body, []byte{0})
		}
		body = bytes.TrimRight(body, " \x00") // what a size added
	}
	out.Write(body)
	if !bytes.HasSuffix(body, []byte("\n")) || !r.newline {
		out.WriteByte('\n')
	}
}

// checksum is the sum of the bytes, each from -128 to 127.
func checksum(body []byte) int64 {
	var sum int64
	for _, b := range body {
		sum += int64(int8(b))
	}
	return sum
}

// describeMD writes a message descriptor: what says what the message is, from
// the second level on where it comes from, on the third groups and reports.
func describeMD(out *bytes.Buffer, md *mqi.MD, level int) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-17s:"+format+"\n", append([]any{name}, args...)...)
	}
	line("MsgType", "%s", qMsgType(md.MsgType))
	line("Format", "'%s'", md.Format)
	line("Persistence", "%d", md.Persistence)
	line("Priority", "%d", md.Priority)
	line("Expiry", "%s", qExpiry(md.Expiry))
	line("MsgId", "%X", md.MsgId[:])
	line("CorrelId", "%X", md.CorrelId[:])
	line("ReplyToQ", "'%s'", md.ReplyToQ)
	line("ReplyToQMgr", "'%s'", md.ReplyToQMgr)
	line("BackoutCount", "%d", md.BackoutCount)
	line("Feedback", "%s", qFeedback(md.Feedback))
	if level >= 2 {
		line("UserIdentifier", "'%s'", md.UserIdentifier)
		line("PutApplType", "%d", md.PutApplType)
		line("PutApplName", "'%s'", md.PutApplName)
		line("PutDate", "%s", md.PutDate())
		line("PutTime", "%s", md.PutTime())
		line("Encoding", "%d", md.Encoding)
		line("CodedCharSetId", "%d", md.CodedCharSetId)
		line("ApplIdentityData", "'%s'", md.ApplIdentityData)
		line("ApplOriginData", "'%s'", md.ApplOriginData)
		line("AccountingToken", "%X", md.AccountingToken[:])
	}
	if level >= 3 {
		line("Report", "%08X", uint32(md.Report))
		line("GroupId", "%X", md.GroupId[:])
		line("MsgSeqNumber", "%d", md.MsgSeqNumber)
		line("Offset", "%d", md.Offset)
		line("MsgFlags", "%08X", uint32(md.MsgFlags))
		line("OriginalLength", "%d", md.OriginalLength)
	}
}

func qMsgType(t int32) string {
	if word := map[int32]string{
		mqi.MQMT_DATAGRAM: "Datagram", mqi.MQMT_REQUEST: "Request", mqi.MQMT_REPLY: "Reply", mqi.MQMT_REPORT: "Report",
	}[t]; word != "" {
		return word
	}
	return strconv.Itoa(int(t))
}

func qExpiry(e int32) string {
	if e == mqi.MQEI_UNLIMITED {
		return "Unlimited"
	}
	return strconv.Itoa(int(e))
}

// qFeedback is a feedback code, with its name if it is one of a report or a reason.
func qFeedback(f int32) string {
	switch f {
	case mqi.MQFB_NONE:
		return "0"
	case mqi.MQFB_COA:
		return "259 MQFB_COA"
	case mqi.MQFB_COD:
		return "260 MQFB_COD"
	case mqi.MQFB_EXPIRATION:
		return "258 MQFB_EXPIRATION"
	}
	return fmt.Sprintf("%d %s", f, mqi.Reason(f).String())
}

// listProperties writes properties, each on a line.
func listProperties(out *bytes.Buffer, props []mqi.Property) {
	for i := range props {
		fmt.Fprintf(out, "  %-12s:%s\n", props[i].Name, propertyText(&props[i]))
	}
}

// propertyText is a property's value as a person reads it.
func propertyText(p *mqi.Property) string {
	number := func() uint64 {
		if len(p.Value) != 8 {
			return 0
		}
		return binary.BigEndian.Uint64(p.Value)
	}
	switch p.Type {
	case 's':
		return "'" + string(p.Value) + "'"
	case 'i':
		return strconv.FormatInt(int64(number()), 10)
	case 'f':
		return strconv.FormatFloat(math.Float64frombits(number()), 'g', -1, 64)
	case 'b':
		if len(p.Value) == 1 && p.Value[0] != 0 {
			return "TRUE"
		}
		return "FALSE"
	}
	return fmt.Sprintf("X'%X'", p.Value)
}
