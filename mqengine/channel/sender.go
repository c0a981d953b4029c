package channel

import (
	"cmp"
	"fmt"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// Item is a message on a transmission queue.
type Item struct {
	Pos        uint64 // its place on the queue, the key for everything that happens to it
	Persistent bool
	Header     []byte
	Body       BodyRef
}

// Queue is what a sender needs of its transmission queue. Calls are made
// within Step, by the owner of both.
type Queue interface {
	// Take locks the next messages for this channel and gives them: at most n,
	// and none after the one with which their bodies reach bytes. One that is longer
	// than longest is not for this channel; where it goes is the queue's business.
	Take(n, bytes, longest int) []Item
	// Item gives a message that was taken before, also by an earlier life of the process.
	Item(pos uint64) (Item, bool)
	// Ready reports whether Take would give something.
	Ready() bool
}

// SenderParams are the attributes of the definition that count, in MQSC's units.
type SenderParams struct {
	Name, Type         string // Type: CLUSSDR or SDR
	Addrs              []string
	BatchSz, BatchLim  int // messages; kilobytes, 0 for no limit
	BatchInt, BatchHB  int // milliseconds
	DiscInt, HBInt     int // seconds
	ShortRty, ShortTmr int
	LongRty, LongTmr   int
	MaxMsgL            int
	NPMFast            bool
	QMgr, QMID         string // who we are
}

// Window is how many batches may be unconfirmed on one link.
const Window = 4

// batchBytes bounds the bodies of one frame when BATCHLIM does not.
const batchBytes = 32 << 20

// Sender is the sending end of a channel.
type Sender struct {
	p      SenderParams
	q      Queue
	st     state
	status mqi.ChannelStatus
	stats  Stats

	linked   bool // a link exists or is being made
	accepted bool
	rejected bool // the other end closed with a fault, which will not be over in a moment
	mismatch bool // the other end has other numbers: that it is there is no reason to try at once
	wrote    bool // the record must be written at the end of this Step
	addr     int  // which address is tried
	retries  int
	soon     int // attempts made before the first that counts
	retryAt  time.Time
	stopTo   mqi.ChannelStatus // STOPPING: what comes after
	keep     bool              // STOPPING: the record goes on to say that the channel was in use
	renew    bool              // connect again when nothing is under way
	leave    *Frame            // the receiver asked to be left when nothing is under way
	peer     limits            // what the receiver takes

	number    uint64    // of the last batch on this link
	open      []sent    // batches of this link that are not confirmed
	resend    int       // entries of the window before this one were sent on this link
	holdUntil time.Time // BATCHINT: the batch being collected goes then
	probed    time.Time // BATCHHB: when the receiver was asked whether it is there
	lastIn    time.Time // last frame received
	lastOut   time.Time
	lastMsg   time.Time // for DISCINT
	hb        time.Duration
}

// limits are what a receiver says of itself, 0 for nothing.
type limits struct{ batchSz, maxMsgL int }

// sent is one batch of this link.
type sent struct {
	number   uint64
	messages int
	at       time.Time
}

// NewSender makes the sending end; record is what its last life wrote, nil for none.
func NewSender(p SenderParams, q Queue, record []byte) (*Sender, error) {
	s := &Sender{p: p, q: q, st: state{next: 1}, status: mqi.MQCHS_INACTIVE}
	if record != nil {
		st, err := decodeState(record)
		if err != nil {
			return nil, fmt.Errorf("channel %s: %w", p.Name, err)
		}
		// Nonpersistent messages did not outlive the process, so their places may belong to others now.
		kept := st.window[:0]
		for _, e := range st.window {
			if e.persistent {
				kept = append(kept, e)
			}
		}
		st.window = kept
		s.st = st
		if st.stopped {
			s.status = mqi.MQCHS_STOPPED
		}
	}
	return s, nil
}

// Status is the state in MQ's words.
func (s *Sender) Status() mqi.ChannelStatus { return s.status }

// WasActive reports whether the channel was in use when its record was written.
func (s *Sender) WasActive() bool { return s.st.active && !s.st.stopped }

// Idle reports whether nothing is in doubt and no link exists, so that the sender can be forgotten.
func (s *Sender) Idle() bool { return !s.linked && len(s.st.window) == 0 }

// InDoubt gives the positions of the messages that were sent and not confirmed.
func (s *Sender) InDoubt() []uint64 {
	pos := make([]uint64, len(s.st.window))
	for i, e := range s.st.window {
		pos[i] = e.pos
	}
	return pos
}

// SetParams takes an altered definition. It counts from the next batch; addresses from the next dial.
func (s *Sender) SetParams(p SenderParams) {
	s.p = p
	if s.addr >= len(p.Addrs) {
		s.addr = 0
	}
}

// Step takes one event.
func (s *Sender) Step(now time.Time, ev Event, fx *Effects) {
	switch ev := ev.(type) {
	case Start:
		s.start(now, fx)
	case Wake:
		s.wake(now, fx)
	case Kick:
		if s.status == mqi.MQCHS_RETRYING && !s.linked && !s.mismatch {
			s.dial(now, fx)
		}
	case LinkUp:
		s.linkUp(now, fx)
	case LinkDown:
		if s.linked {
			s.linked = false
			s.failWith(now, fx, ev.ID, ev.Reason)
		}
	case FrameIn:
		if s.linked {
			s.lastIn = now
			s.stats.FramesIn++
			s.frame(now, fx, ev.Frame)
		}
	case Stop:
		s.stop(now, fx, ev)
	case Renew:
		s.renew = s.accepted && s.status == mqi.MQCHS_RUNNING
		s.renewed(now, fx)
	case Tick:
		s.tick(now, fx)
	}
	s.pump(now, fx)
	if s.wrote {
		s.wrote = false
		fx.Record = s.st.encode()
	}
}

// NextDeadline is when a Tick is due; zero for never.
func (s *Sender) NextDeadline() time.Time {
	var at time.Time
	if s.status == mqi.MQCHS_RETRYING && !s.linked {
		at = s.retryAt
	}
	if !s.accepted {
		if s.linked && !s.lastIn.IsZero() {
			at = earliest(at, s.lastIn.Add(time.Minute))
		}
		return at
	}
	at = earliest(at, s.holdUntil)
	if !s.probed.IsZero() {
		at = earliest(at, s.probed.Add(s.batchHB()))
	}
	if s.hb > 0 {
		at = earliest(at, s.lastOut.Add(s.hb))
		at = earliest(at, s.lastIn.Add(silence(s.hb)))
	}
	if s.p.DiscInt > 0 && len(s.open) == 0 && s.holdUntil.IsZero() {
		at = earliest(at, s.lastMsg.Add(time.Duration(s.p.DiscInt)*time.Second))
	}
	return at
}

func (s *Sender) start(now time.Time, fx *Effects) {
	switch s.status {
	case mqi.MQCHS_STOPPED, mqi.MQCHS_INACTIVE:
		s.retries, s.soon, s.addr = 0, 0, 0
		s.setFlags(false, true)
		s.status = mqi.MQCHS_STARTING
		s.dial(now, fx)
	case mqi.MQCHS_STOPPING:
		// The batches that a quiesce waits for need not be the last ones.
		s.status, s.keep = mqi.MQCHS_RUNNING, false
		s.setFlags(false, true)
	case mqi.MQCHS_RETRYING:
		if !s.linked {
			s.retries, s.addr = 0, 0
			s.dial(now, fx)
		}
	default: // it runs, or is about to
	}
}

func (s *Sender) wake(now time.Time, fx *Effects) {
	if s.status == mqi.MQCHS_INACTIVE {
		s.start(now, fx)
	}
}

// setFlags changes what a restart of the queue manager should do with the channel.
func (s *Sender) setFlags(stopped, active bool) {
	if s.st.stopped != stopped || s.st.active != active {
		s.st.stopped, s.st.active = stopped, active
		s.wrote = true
	}
}

func (s *Sender) dial(now time.Time, fx *Effects) {
	s.retryAt = time.Time{}
	if len(s.p.Addrs) == 0 {
		s.fail(now, fx, "the definition has no CONNAME")
		return
	}
	s.linked, s.accepted, s.lastIn = true, false, time.Time{}
	fx.Dial = s.p.Addrs[s.addr%len(s.p.Addrs)]
}

func (s *Sender) linkUp(now time.Time, fx *Effects) {
	if !s.linked || s.accepted {
		return
	}
	s.status = mqi.MQCHS_BINDING
	s.number, s.open, s.resend = 0, s.open[:0], 0
	s.lastIn, s.probed = now, time.Time{}
	// What is counted is of this session, as at the receiver.
	s.stats.Msgs, s.stats.Batches, s.stats.Bytes, s.stats.FramesIn, s.stats.FramesOut = 0, 0, 0, 0, 0
	s.send(now, fx, &Frame{
		Kind: FrameHello, Version: ProtocolVersion, Channel: s.p.Name, Type: s.p.Type, QMgr: s.p.QMgr, QMID: s.p.QMID,
		Seq: s.st.next, HBInt: s.p.HBInt, MaxMsgL: s.p.MaxMsgL, Reset: s.st.reset,
	})
}

func (s *Sender) send(now time.Time, fx *Effects, f *Frame) {
	fx.Frames = append(fx.Frames, f)
	s.stats.FramesOut++
	s.lastOut = now
}

func (s *Sender) tick(now time.Time, fx *Effects) {
	switch {
	case s.status == mqi.MQCHS_RETRYING && !s.linked:
		if due(s.retryAt, now) {
			s.dial(now, fx)
		}
	case !s.linked:
	case !s.accepted:
		if !s.lastIn.IsZero() && now.Sub(s.lastIn) >= time.Minute {
			s.drop(now, fx, "the other end does not answer")
		}
	case s.hb > 0 && now.Sub(s.lastIn) >= silence(s.hb):
		s.drop(now, fx, fmt.Sprintf("nothing was heard for %s", silence(s.hb)))
	case !s.probed.IsZero() && now.Sub(s.probed) >= s.batchHB():
		s.drop(now, fx, fmt.Sprintf("no answer within the batch heartbeat interval of %s", s.batchHB()))
	case s.p.DiscInt > 0 && len(s.open) == 0 && !s.q.Ready() && now.Sub(s.lastMsg) >= time.Duration(s.p.DiscInt)*time.Second:
		s.finish(now, fx, mqi.MQCHS_INACTIVE, "disconnect interval")
	case s.hb > 0 && now.Sub(s.lastOut) >= s.hb:
		s.send(now, fx, &Frame{Kind: FrameHeartbeat})
	}
}

// drop ends a link that is of no use and treats it as broken.
func (s *Sender) drop(now time.Time, fx *Effects, reason string) {
	fx.Close = true
	s.linked = false
	s.fail(now, fx, reason)
}

// fail is what follows a link that could not be made or broke: the next
// address, else retry, else STOPPED when the retries are used up.
func (s *Sender) fail(now time.Time, fx *Effects, reason string) { s.failWith(now, fx, "", reason) }

// failWith is fail with the AMQ message of the reason.
func (s *Sender) failWith(now time.Time, fx *Effects, id, reason string) {
	wasUp, rejected := s.accepted, s.rejected
	s.rejected, s.renew, s.leave = false, false, nil
	s.accepted, s.holdUntil = false, time.Time{}
	s.open, s.resend = s.open[:0], 0
	if s.status == mqi.MQCHS_STOPPING {
		s.status, s.keep = s.stopTo, false
		return
	}
	if s.status == mqi.MQCHS_STOPPED || s.status == mqi.MQCHS_INACTIVE {
		return
	}
	if s.addr++; !wasUp && s.addr < len(s.p.Addrs) {
		s.dial(now, fx)
		return
	}
	s.addr = 0
	// An attempt of a channel that failed before is no new failure.
	fx.Failed = fx.Failed || wasUp || s.retries == 0 && s.soon == 0
	fx.log(cmp.Or(id, "AMQ9999E"), fmt.Sprintf("Channel '%s' ended abnormally: %s.", s.p.Name, reason))
	if wasUp {
		s.retries, s.soon = 0, 0
	}
	short := time.Duration(s.p.ShortTmr) * time.Second
	if soon := time.Second << s.soon; !rejected && soon < short && s.p.ShortRty+s.p.LongRty > 0 {
		// The other side is mostly just starting: before the waits of the
		// definition begin there are a few shorter ones that do not count.
		s.soon++
		s.retryAt = now.Add(soon)
		s.status = mqi.MQCHS_RETRYING
		return
	}
	s.retries++
	switch {
	case s.retries <= s.p.ShortRty:
		s.retryAt = now.Add(short)
	case s.retries <= s.p.ShortRty+s.p.LongRty:
		s.retryAt = now.Add(time.Duration(s.p.LongTmr) * time.Second)
	default:
		s.status = mqi.MQCHS_STOPPED
		s.setFlags(true, false)
		fx.log("AMQ9202E", fmt.Sprintf("Channel '%s' is stopped: all retries failed.", s.p.Name))
		return
	}
	s.status = mqi.MQCHS_RETRYING
}

func (s *Sender) stop(now time.Time, fx *Effects, ev Stop) {
	to := mqi.MQCHS_STOPPED
	if ev.Inactive {
		to = mqi.MQCHS_INACTIVE
	}
	if s.keep = ev.Keep; ev.Keep {
		to = mqi.MQCHS_INACTIVE
		if s.status == mqi.MQCHS_STOPPED {
			return
		}
	} else {
		s.setFlags(!ev.Inactive, false)
	}
	switch {
	case s.accepted && !ev.Force && len(s.open) > 0:
		s.status, s.stopTo = mqi.MQCHS_STOPPING, to
	case s.linked:
		s.finish(now, fx, to, "stopped by a command")
	default:
		s.status, s.retryAt, s.keep = to, time.Time{}, false
	}
}

// renewed connects again once the batches under way are confirmed, or leaves a
// receiver that asked for that.
func (s *Sender) renewed(now time.Time, fx *Effects) {
	if len(s.open) > 0 || !s.accepted {
		return
	}
	if f := s.leave; f != nil {
		s.rejected = f.Code != 0
		s.send(now, fx, &Frame{Kind: FrameClose, Reason: "as the receiver asked"})
		s.drop(now, fx, "the other end ends it: "+f.Reason)
		return
	}
	if !s.renew {
		return
	}
	s.finish(now, fx, mqi.MQCHS_INACTIVE, "the certificates changed")
	s.start(now, fx)
}

// finish ends a link in order.
func (s *Sender) finish(now time.Time, fx *Effects, to mqi.ChannelStatus, reason string) {
	if s.accepted {
		s.send(now, fx, &Frame{Kind: FrameClose, Reason: reason})
		fx.log("AMQ9001I", fmt.Sprintf("Channel '%s' ended normally: %s.", s.p.Name, reason))
	}
	fx.Close = true
	s.linked, s.accepted, s.holdUntil, s.retryAt = false, false, time.Time{}, time.Time{}
	s.open, s.resend, s.renew, s.leave = s.open[:0], 0, false, nil
	s.status = to
	if !s.keep {
		s.setFlags(to == mqi.MQCHS_STOPPED, false)
	}
	s.keep = false
}
