package channel

import (
	"fmt"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
)

// ReceiverParams are the attributes of the definition that count, in MQSC's units.
type ReceiverParams struct {
	Name         string
	HBInt        int // seconds
	MRRty, MRTmr int // attempts; milliseconds
	MaxMsgL      int
	BatchSz      int
	QMgr, QMID   string
}

// maxAhead is how far a partner's numbers can be ahead of ours when a link
// begins: by what it sent and did not see confirmed. Of these some may be missing,
// since nonpersistent messages do not outlive a restart; those that it sends for
// the first time follow each other. A jump is a partner with another history, or
// somebody who says that he is the partner: taken as it comes it would make us
// throw away what the real one sends under the numbers in between.
const maxAhead = Window * 9999

// maxHBInt is MQ's bound of HBINT in seconds, for what a partner says.
const maxHBInt = 999999

// Outcome is what became of a message that arrived.
type Outcome int

// The outcomes. Refused is answered only to a final attempt: neither the
// destination nor the dead-letter queue takes the message.
const (
	Delivered Outcome = iota
	Retry
	Refused
)

// Sink takes the messages that arrive. Deliver is called within Step; what it
// does must become durable in the same unit as the Step's record. With final
// there is no later attempt, so what cannot be delivered goes to the
// dead-letter queue.
type Sink interface {
	Deliver(m *Message, final bool) (Outcome, mqi.Reason)
}

// Receiver is the receiving end of one link.
type Receiver struct {
	p      ReceiverParams
	sink   Sink
	status mqi.ChannelStatus
	stats  Stats

	last     uint64 // last committed sequence number of this partner
	reach    uint64 // up to it numbers may be missing, see maxAhead
	number   uint64 // last batch received on this link
	pending  []*Frame
	at       int // next message of pending[0]
	attempts int // made for that message
	retryAt  time.Time
	lastIn   time.Time
	hb       time.Duration
	version  int       // of the frames on this link
	endBy    time.Time // asked to end: what is under way may take until then
}

// quiesceWithin is how long a receiver that has to end waits for the sender to finish.
const quiesceWithin = 10 * time.Second

// DecodeLast reads a receiver's record: the last committed sequence number.
func DecodeLast(record []byte) (uint64, error) {
	if record == nil {
		return 0, nil
	}
	r := wire.NewReader(record)
	last := r.Uint()
	if err := r.Done(); err != nil {
		return 0, fmt.Errorf("channel: damaged record of a receiver: %w", err)
	}
	return last, nil
}

// NewReceiver answers a Hello that names a channel which takes it. last is the
// last committed sequence number of that partner.
func NewReceiver(now time.Time, p ReceiverParams, sink Sink, hello *Frame, last uint64, fx *Effects) *Receiver {
	r := &Receiver{p: p, sink: sink, last: last, status: mqi.MQCHS_RUNNING, lastIn: now}
	r.version = min(hello.Version, ProtocolVersion)
	r.stats = Stats{Partner: hello.QMgr, PartnerQMID: hello.QMID, Started: now}
	if hello.Reset && hello.Seq > 0 {
		r.last = hello.Seq - 1
		fx.Record, fx.Sync = wire.AppendUint(nil, r.last), true
	}
	r.reach = min(hello.Seq, r.last+maxAhead)
	hb := max(min(hello.HBInt, maxHBInt), p.HBInt)
	if hello.HBInt == 0 || p.HBInt == 0 {
		hb = 0
	}
	r.hb = time.Duration(hb) * time.Second
	fx.Frames = append(fx.Frames, &Frame{
		Kind: FrameAccept, Version: r.version, BatchSz: p.BatchSz, Channel: p.Name, QMgr: p.QMgr, QMID: p.QMID,
		Seq: r.last, HBInt: hb, MaxMsgL: p.MaxMsgL,
	})
	return r
}

// Status is the state in MQ's words.
func (r *Receiver) Status() mqi.ChannelStatus {
	if !r.endBy.IsZero() && r.status != mqi.MQCHS_INACTIVE {
		return mqi.MQCHS_STOPPING
	}
	return r.status
}

// Last is the last committed sequence number.
func (r *Receiver) Last() uint64 { return r.last }

// Stats gives the counters.
func (r *Receiver) Stats() Stats {
	st := r.stats
	st.LastSeq, st.Committed, st.HBInt, st.BatchSz = r.last, r.last, r.hb, r.p.BatchSz
	return st
}

// Step takes one event.
func (r *Receiver) Step(now time.Time, ev Event, fx *Effects) {
	last := r.last
	switch ev := ev.(type) {
	case FrameIn:
		r.lastIn = now
		r.stats.FramesIn++
		r.frame(now, fx, ev.Frame)
	case LinkDown:
		r.end(fx)
	case Stop:
		r.stop(now, fx, ev)
	case Tick:
		r.tick(now, fx)
	}
	r.stats.FramesOut += uint64(len(fx.Frames))
	if r.last != last {
		fx.Record, fx.Sync = wire.AppendUint(nil, r.last), true
	}
}

// NextDeadline is when a Tick is due; zero for never.
func (r *Receiver) NextDeadline() time.Time {
	if r.status == mqi.MQCHS_INACTIVE {
		return time.Time{}
	}
	var at time.Time
	if r.hb > 0 {
		at = r.lastIn.Add(silence(r.hb))
	}
	if r.status == mqi.MQCHS_PAUSED {
		at = earliest(at, r.retryAt)
	}
	return earliest(at, r.endBy)
}

// stop ends the channel: at once, or when the sender has finished what is under
// way. What the sender does not number is nowhere else than on the link.
func (r *Receiver) stop(now time.Time, fx *Effects, ev Stop) {
	f := Frame{Kind: FrameQuiesce, Code: 1, Reason: "the channel is stopped at the receiver"}
	if ev.Keep {
		f.Code, f.Reason = 0, "the receiver has to end it for now"
	}
	if !ev.Force && r.version >= 2 && r.status != mqi.MQCHS_INACTIVE {
		if r.endBy.IsZero() {
			r.endBy = now.Add(quiesceWithin)
			fx.Frames = append(fx.Frames, &f)
		}
		return
	}
	f.Kind = FrameClose
	fx.Frames = append(fx.Frames, &f)
	fx.Close = true
	fx.log("AMQ9001I", fmt.Sprintf("Channel '%s' from '%s' ended normally: %s.", r.p.Name, r.stats.Partner, f.Reason))
	r.end(fx)
}

func (r *Receiver) tick(now time.Time, fx *Effects) {
	switch {
	case r.status != mqi.MQCHS_INACTIVE && due(r.endBy, now):
		r.stop(now, fx, Stop{Force: true, Keep: true})
	case r.status == mqi.MQCHS_PAUSED && due(r.retryAt, now):
		r.work(now, fx)
	case r.hb > 0 && r.status != mqi.MQCHS_INACTIVE && now.Sub(r.lastIn) >= silence(r.hb):
		fx.Close = true
		fx.log("AMQ9999E", fmt.Sprintf("Channel '%s' from '%s' ended: nothing was heard for %s.", r.p.Name, r.stats.Partner, silence(r.hb)))
		r.end(fx)
	}
}

// end drops what is not delivered: the sender still has it.
func (r *Receiver) end(fx *Effects) {
	at := r.at
	for _, f := range r.pending {
		for ; at < len(f.Messages); at++ {
			fx.Dropped = append(fx.Dropped, f.Messages[at].Body)
		}
		at = 0
	}
	r.pending, r.at, r.attempts = nil, 0, 0
	r.status = mqi.MQCHS_INACTIVE
}

func (r *Receiver) frame(now time.Time, fx *Effects, f *Frame) {
	if r.status == mqi.MQCHS_INACTIVE {
		dropAll(fx, f)
		return
	}
	switch f.Kind {
	case FrameBatch:
		r.number++
		if f.Batch != r.number || len(r.pending) >= Window {
			dropAll(fx, f)
			r.refuse(fx, fmt.Sprintf("batch %d came where %d was due", f.Batch, r.number))
			return
		}
		r.pending = append(r.pending, f)
		if r.status == mqi.MQCHS_RUNNING {
			r.work(now, fx)
		}
	case FrameHeartbeat:
		fx.Frames = append(fx.Frames, &Frame{Kind: FrameHeartbeatAck})
	case FrameHeartbeatAck:
	case FrameClose:
		fx.Close = true
		fx.log("AMQ9001I", fmt.Sprintf("Channel '%s' from '%s' ended normally.", r.p.Name, r.stats.Partner))
		r.end(fx)
	default:
		r.refuse(fx, fmt.Sprintf("frame of kind %d", f.Kind))
	}
}

func dropAll(fx *Effects, f *Frame) {
	for i := range f.Messages {
		fx.Dropped = append(fx.Dropped, f.Messages[i].Body)
	}
}

// refuse ends the link with a reason.
func (r *Receiver) refuse(fx *Effects, reason string) {
	fx.Frames = append(fx.Frames, &Frame{Kind: FrameClose, Code: 1, Reason: reason})
	fx.Close = true
	fx.log("AMQ9999E", fmt.Sprintf("Channel '%s' from '%s' ended: %s.", r.p.Name, r.stats.Partner, reason))
	r.end(fx)
}

// work delivers what is pending, in order, until something has to wait.
func (r *Receiver) work(now time.Time, fx *Effects) {
	r.status = mqi.MQCHS_RUNNING
	for len(r.pending) > 0 {
		f := r.pending[0]
		for r.at < len(f.Messages) {
			if !r.one(now, fx, &f.Messages[r.at]) {
				return
			}
			r.at++
			r.attempts = 0
		}
		fx.Frames = append(fx.Frames, &Frame{Kind: FrameConfirm, Batch: f.Batch, Seq: r.last})
		r.stats.Batches++
		r.pending, r.at = append(r.pending[:0], r.pending[1:]...), 0
	}
}

// one deals with one message; false if everything behind it has to wait, or the link is over.
func (r *Receiver) one(now time.Time, fx *Effects, m *Message) bool {
	if m.Seq != 0 && m.Seq <= r.last {
		fx.Dropped = append(fx.Dropped, m.Body)
		return true
	}
	if m.Seq > max(r.last+1, r.reach) {
		fx.log("AMQ9526E", fmt.Sprintf("Message sequence number error for channel '%s' from '%s': %d came where %d was due.", r.p.Name, r.stats.Partner, m.Seq, r.last+1))
		r.refuse(fx, "message sequence number error")
		return false
	}
	final := r.attempts >= r.p.MRRty
	outcome, reason := r.sink.Deliver(m, final)
	switch {
	case outcome == Retry && !final:
		r.attempts++
		r.status = mqi.MQCHS_PAUSED
		r.retryAt = now.Add(time.Duration(max(1, r.p.MRTmr)) * time.Millisecond)
		return false
	case outcome != Delivered && m.Seq == 0:
		// MQ discards fast messages that nothing takes: the sender has no copy to keep.
		fx.Dropped = append(fx.Dropped, m.Body)
		fx.log("AMQ9544W", fmt.Sprintf("A fast nonpersistent message on channel '%s' was discarded: %s.", r.p.Name, reason))
		return true
	case outcome != Delivered:
		fx.log("AMQ9544E", fmt.Sprintf("Messages on channel '%s' could not be put to their queue: %s. The channel ends; the message stays at the sender.", r.p.Name, reason))
		r.refuse(fx, "no queue takes the message: "+reason.String())
		return false
	}
	if m.Seq != 0 {
		r.last = m.Seq
	}
	r.stats.Msgs++
	r.stats.Bytes += uint64(m.Body.Len)
	r.stats.LastMsg = now
	return true
}
