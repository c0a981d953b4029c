package channel

import (
	"fmt"
	"math"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// frame takes a frame of the receiver.
func (s *Sender) frame(now time.Time, fx *Effects, f *Frame) {
	switch f.Kind {
	case FrameAccept:
		s.accept(now, fx, f)
	case FrameConfirm:
		s.confirm(now, fx, f)
	case FrameRefuse:
		s.drop(now, fx, "the other end refused: "+f.Reason)
	case FrameClose:
		s.rejected = f.Code != 0
		s.drop(now, fx, "the other end closed: "+f.Reason)
	case FrameHeartbeat:
		s.send(now, fx, &Frame{Kind: FrameHeartbeatAck})
	case FrameHeartbeatAck:
		s.probed = time.Time{}
	case FrameQuiesce:
		if s.accepted && s.leave == nil {
			s.leave = f
			s.renewed(now, fx)
		}
	default:
		s.drop(now, fx, fmt.Sprintf("the other end sent a frame of kind %d", f.Kind))
	}
}

// accept is the receiver's welcome. Its last committed number settles every
// message in doubt: up to it they arrived, after it they did not.
func (s *Sender) accept(now time.Time, fx *Effects, f *Frame) {
	if s.accepted || s.status != mqi.MQCHS_BINDING {
		s.drop(now, fx, "the other end accepted twice")
		return
	}
	if f.Version < 1 || f.Version > ProtocolVersion {
		s.drop(now, fx, fmt.Sprintf("the other end speaks version %d", f.Version))
		return
	}
	if s.mismatch = !s.agree(now, fx, f); s.mismatch {
		return
	}
	s.settle(fx, f.Seq)
	s.dropGone()
	s.accepted, s.status = true, mqi.MQCHS_RUNNING
	s.retries, s.soon, s.addr = 0, 0, 0
	s.hb = time.Duration(min(f.HBInt, maxHBInt)) * time.Second
	s.peer = limits{f.BatchSz, f.MaxMsgL}
	s.lastMsg = now
	s.stats.Partner, s.stats.Started = f.QMgr, now
	s.setFlags(false, true)
	fx.log("AMQ9002I", fmt.Sprintf("Channel '%s' to queue manager '%s' is running.", s.p.Name, f.QMgr))
}

// agree compares both sides' numbers; false if the link was given up.
func (s *Sender) agree(now time.Time, fx *Effects, f *Frame) bool {
	if s.st.partner != f.QMID {
		if s.st.partner != "" && len(s.st.window) > 0 {
			s.drop(now, fx, fmt.Sprintf("messages are in doubt with %s, but %s answers; RESOLVE CHANNEL decides", s.st.partner, f.QMID))
			return false
		}
		s.st.partner, s.wrote = f.QMID, true
		s.st.next, s.st.confirmed, s.st.reset = f.Seq+1, f.Seq, false
		return true
	}
	if s.st.reset {
		s.st.reset, s.wrote = false, true
		s.st.confirmed = s.st.next - 1
	}
	if f.Seq < s.st.confirmed || f.Seq >= s.st.next {
		fx.log("AMQ9526E", fmt.Sprintf("Message sequence number error for channel '%s': the receiver has %d, the sender expects %d to %d; RESET CHANNEL at the sender sets both.",
			s.p.Name, f.Seq, s.st.confirmed, s.st.next-1))
		s.drop(now, fx, "message sequence number error")
		return false
	}
	return true
}

// settle removes everything up to seq from the window and from the queue.
func (s *Sender) settle(fx *Effects, seq uint64) {
	n := 0
	for n < len(s.st.window) && s.st.window[n].seq <= seq {
		fx.Removed = append(fx.Removed, s.st.window[n].pos)
		n++
	}
	if n > 0 {
		s.st.window = append(s.st.window[:0], s.st.window[n:]...)
		s.resend = max(0, s.resend-n)
		s.wrote = true
	}
	if seq > s.st.confirmed {
		s.st.confirmed, s.wrote = seq, true
	}
}

// dropGone forgets messages that are no longer on the queue (nonpersistent ones that expired with a restart).
func (s *Sender) dropGone() {
	kept := s.st.window[:0]
	for _, e := range s.st.window {
		if _, ok := s.q.Item(e.pos); ok {
			kept = append(kept, e)
		}
	}
	if len(kept) != len(s.st.window) {
		s.st.window, s.wrote = kept, true
	}
}

func (s *Sender) confirm(now time.Time, fx *Effects, f *Frame) {
	if !s.accepted || len(s.open) == 0 || f.Batch != s.open[0].number || f.Seq >= s.st.next {
		s.drop(now, fx, fmt.Sprintf("the other end confirmed batch %d, which it does not have", f.Batch))
		return
	}
	s.stats.Batches++
	s.stats.Msgs += uint64(s.open[0].messages)
	s.stats.BatchMsgs.Add(int64(s.open[0].messages))
	s.stats.NetTime.Add(now.Sub(s.open[0].at).Microseconds())
	s.stats.LastMsg = now
	s.lastMsg = now
	s.open = append(s.open[:0], s.open[1:]...)
	s.settle(fx, f.Seq)
	if s.status == mqi.MQCHS_STOPPING && len(s.open) == 0 {
		s.finish(now, fx, s.stopTo, "stopped by a command")
	}
	s.renewed(now, fx)
}

// pump sends as long as the window has room: first again what is in doubt, then what waits.
func (s *Sender) pump(now time.Time, fx *Effects) {
	for s.accepted && s.status == mqi.MQCHS_RUNNING && !s.renew && s.leave == nil && len(s.open) < Window {
		if s.resend < len(s.st.window) {
			s.again(now, fx)
			continue
		}
		if !s.q.Ready() {
			s.holdUntil = time.Time{}
			return
		}
		if s.p.BatchInt > 0 && !s.held(now) {
			return
		}
		if !s.answers(now, fx) {
			return
		}
		items := s.q.Take(s.batchSz(), s.limit(), s.longest())
		if len(items) == 0 {
			return
		}
		s.batch(now, fx, items)
	}
}

// held reports whether the batch interval, which waits for company, is over.
func (s *Sender) held(now time.Time) bool {
	if s.holdUntil.IsZero() {
		s.holdUntil = now.Add(time.Duration(s.p.BatchInt) * time.Millisecond)
	}
	if now.Before(s.holdUntil) {
		return false
	}
	s.holdUntil = time.Time{}
	return true
}

// answers reports whether the receiver was heard within BATCHHB; if not it is
// asked first, so that nothing gets in doubt on a link that is dead.
func (s *Sender) answers(now time.Time, fx *Effects) bool {
	if s.p.BatchHB == 0 || len(s.open) > 0 || now.Sub(s.lastIn) < s.batchHB() {
		return true
	}
	if s.probed.IsZero() {
		s.probed = now
		s.send(now, fx, &Frame{Kind: FrameHeartbeat})
	}
	return false
}

func (s *Sender) batchHB() time.Duration { return time.Duration(s.p.BatchHB) * time.Millisecond }

// batchSz is BATCHSZ as both ends agree.
func (s *Sender) batchSz() int {
	if s.peer.batchSz > 0 {
		return max(1, min(s.p.BatchSz, s.peer.batchSz))
	}
	return max(1, s.p.BatchSz)
}

// longest is MAXMSGL as both ends agree, of which 0 is no limit.
func (s *Sender) longest() int {
	longest := math.MaxInt
	for _, n := range []int{s.p.MaxMsgL, s.peer.maxMsgL} {
		if n > 0 {
			longest = min(longest, n)
		}
	}
	return longest
}

func (s *Sender) limit() int {
	if s.p.BatchLim > 0 {
		return min(s.p.BatchLim*1000, batchBytes)
	}
	return batchBytes
}

// batch sends new messages: those that must arrive get a number and are in
// doubt from now on; fast nonpersistent ones are gone from here.
func (s *Sender) batch(now time.Time, fx *Effects, items []Item) {
	f := s.newBatch(len(items))
	for i := range items {
		it := &items[i]
		m := Message{Persistent: it.Persistent, Header: it.Header, Body: it.Body}
		if it.Persistent || !s.p.NPMFast {
			m.Seq = s.st.next
			s.st.next++
			s.st.window = append(s.st.window, entry{seq: m.Seq, pos: it.Pos, persistent: it.Persistent})
			s.wrote, fx.Sync = true, true
		} else {
			fx.Removed = append(fx.Removed, it.Pos)
		}
		s.stats.Bytes += uint64(it.Body.Len)
		f.Messages = append(f.Messages, m)
	}
	s.resend = len(s.st.window)
	s.open = append(s.open, sent{number: f.Batch, messages: len(items), at: now})
	s.lastMsg = now
	s.send(now, fx, f)
}

// again sends messages in doubt once more, under the numbers they had.
func (s *Sender) again(now time.Time, fx *Effects) {
	f := s.newBatch(s.batchSz())
	bytes := 0
	for s.resend < len(s.st.window) && len(f.Messages) < s.batchSz() && bytes < s.limit() {
		e := s.st.window[s.resend]
		s.resend++
		if it, ok := s.q.Item(e.pos); ok {
			f.Messages = append(f.Messages, Message{Seq: e.seq, Persistent: it.Persistent, Header: it.Header, Body: it.Body})
			bytes += it.Body.Len
		}
	}
	s.open = append(s.open, sent{number: f.Batch, messages: len(f.Messages), at: now})
	s.lastMsg = now
	s.send(now, fx, f)
}

func (s *Sender) newBatch(n int) *Frame {
	s.number++
	return &Frame{Kind: FrameBatch, Batch: s.number, Messages: make([]Message, 0, n)}
}

// Reset is RESET CHANNEL SEQNUM at the sender: both sides start from seq with
// the next link. It is refused (false) while messages are in doubt or a link is up.
func (s *Sender) Reset(seq uint64, fx *Effects) bool {
	if len(s.st.window) > 0 || s.linked || seq == 0 {
		return false
	}
	s.st.next, s.st.reset = seq, true
	fx.Record = s.st.encode()
	return true
}

// Resolve is RESOLVE CHANNEL: messages in doubt are taken as arrived (commit)
// or as not arrived. It is refused (false) while a link is up or nothing is in doubt.
func (s *Sender) Resolve(commit bool, fx *Effects) bool {
	if s.linked || len(s.st.window) == 0 {
		return false
	}
	w := s.st.window
	if commit {
		s.settle(fx, w[len(w)-1].seq)
	} else {
		for _, e := range w {
			fx.Released = append(fx.Released, e.pos)
		}
		s.st.next = w[0].seq
		s.st.window = nil
	}
	s.wrote = false
	fx.Record = s.st.encode()
	return true
}
