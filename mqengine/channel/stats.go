package channel

import (
	"fmt"
	"hash/fnv"
	"time"
)

// Stats is what DISPLAY CHSTATUS shows besides the definition.
type Stats struct {
	Msgs, Batches, Bytes uint64
	FramesIn, FramesOut  uint64
	LastMsg, Started     time.Time
	LastSeq              uint64 // sent or received
	Committed            uint64 // known to be committed at the receiver
	Partner              string // queue manager at the other end
	PartnerQMID          string
	InDoubt              int // messages sent and not confirmed
	HBInt                time.Duration
	BatchSz              int
	// ShortLeft and LongLeft are the attempts that a retrying sender has left.
	ShortLeft, LongLeft int
	// Averages, short and long: messages of a batch, time until a batch is confirmed.
	BatchMsgs, NetTime Average
}

// Average is a short and a long moving average.
type Average struct {
	Short, Long int64
	any         bool
}

// Add takes a value in.
func (a *Average) Add(v int64) {
	if !a.any {
		a.Short, a.Long, a.any = v, v, true
		return
	}
	a.Short += (v - a.Short) / 4
	a.Long += (v - a.Long) / 64
}

// Stats gives the counters.
func (s *Sender) Stats() Stats {
	st := s.stats
	st.InDoubt, st.LastSeq, st.Committed, st.PartnerQMID = len(s.st.window), s.st.next-1, s.st.confirmed, s.st.partner
	st.HBInt, st.BatchSz = s.hb, s.batchSz()
	st.ShortLeft = max(0, s.p.ShortRty-s.retries)
	st.LongLeft = max(0, s.p.LongRty-max(0, s.retries-s.p.ShortRty))
	return st
}

// Saved is what a sender's record says of it.
func Saved(record []byte) (Stats, error) {
	st, err := decodeState(record)
	if err != nil {
		return Stats{}, err
	}
	return Stats{InDoubt: len(st.window), LastSeq: st.next - 1, Committed: st.confirmed, PartnerQMID: st.partner}, nil
}

// UnitID names the unit of work that ends with a message: what the sender of
// that QMID shows of the last message in doubt equals what the receiver shows of
// the last it has committed, if that one is it. A person compares them before RESOLVE CHANNEL.
func UnitID(senderQMID, channel string, seq uint64) string {
	if seq == 0 {
		return "0000000000000000"
	}
	h := fnv.New32a()
	// Writing to a hash does not fail.
	_, _ = h.Write([]byte(senderQMID + "|" + channel))
	return fmt.Sprintf("%08X%08X", h.Sum32(), uint32(seq))
}
