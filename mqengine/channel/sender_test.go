package channel

import (
	"slices"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// connected makes a pair with changed defaults.
func connected(t *testing.T, change func(*SenderParams, *ReceiverParams)) *pair {
	p, rp := defaults()
	if change != nil {
		change(&p, &rp)
	}
	return newPair(t, p, rp)
}

// settle delivers frames until nothing is on its way; no time passes.
func (w *pair) settle() {
	for range 10000 {
		if !w.advance() {
			return
		}
	}
	w.t.Fatalf("the channel never rests: %d frames for the receiver, %d for the sender", len(w.toR), len(w.toS))
}

func (w *pair) want(status mqi.ChannelStatus) {
	w.t.Helper()
	if got := w.sender.Status(); got != status {
		w.t.Fatalf("status %v, want %v", got, status)
	}
}

func TestTriggerAndDisconnect(t *testing.T) {
	w := connected(t, func(p *SenderParams, _ *ReceiverParams) { p.DiscInt = 100 })
	w.want(mqi.MQCHS_INACTIVE)
	w.putOne()
	w.want(mqi.MQCHS_STARTING)
	w.connect()
	w.want(mqi.MQCHS_BINDING)
	w.settle()
	w.want(mqi.MQCHS_RUNNING)
	w.pass(99 * time.Second)
	w.want(mqi.MQCHS_RUNNING)
	w.pass(time.Second)
	w.want(mqi.MQCHS_INACTIVE)
	if w.receiver != nil {
		t.Fatal("the receiver did not end")
	}
	w.putOne()
	w.settle()
	w.exactlyOnce()
}

// TestHeldBatchOutlivesDisconnectInterval: while BATCHINT holds a batch, DISCINT
// is no deadline. One that has passed and has no effect would be ticked without end.
func TestHeldBatchOutlivesDisconnectInterval(t *testing.T) {
	w := connected(t, func(p *SenderParams, _ *ReceiverParams) { p.DiscInt, p.HBInt, p.BatchInt = 10, 0, 60_000 })
	w.putOne()
	w.settle()
	w.pass(11 * time.Second)
	w.want(mqi.MQCHS_RUNNING)
	if left := w.sender.NextDeadline().Sub(w.now); left != 49*time.Second {
		t.Fatalf("the next deadline is in %v", left)
	}
	w.pass(49 * time.Second)
	w.settle()
	w.exactlyOnce()
	w.pass(10 * time.Second)
	w.want(mqi.MQCHS_INACTIVE)
}

func TestHeartbeats(t *testing.T) {
	w := connected(t, func(p *SenderParams, rp *ReceiverParams) { p.HBInt, rp.HBInt, p.DiscInt = 5, 10, 0 })
	w.putOne()
	w.settle()
	for range 20 {
		w.pass(10 * time.Second)
		if len(w.toR) != 1 {
			t.Fatalf("%d frames instead of one heartbeat", len(w.toR))
		}
		w.settle()
		w.want(mqi.MQCHS_RUNNING)
	}
	// The partner falls silent: after twice the interval the link is given up.
	w.pass(10 * time.Second)
	w.toR = nil
	w.pass(10 * time.Second)
	w.want(mqi.MQCHS_RETRYING)
}

func TestRetries(t *testing.T) {
	w := connected(t, func(p *SenderParams, _ *ReceiverParams) {
		p.ShortRty, p.ShortTmr, p.LongRty, p.LongTmr = 2, 60, 1, 1200
		p.Addrs = []string{"h(1)", "h(2)"}
	})
	refuse := func(times int) {
		t.Helper()
		for range times {
			if !w.dialled {
				t.Fatal("no dial")
			}
			w.dialled = false
			w.stepSender(LinkDown{Reason: "refused"})
		}
		if w.dialled {
			t.Fatal("one dial too many")
		}
	}
	w.putOne()
	refuse(2) // both addresses, then wait
	w.want(mqi.MQCHS_RETRYING)
	if !w.sfx.Failed {
		t.Fatal("the first failure is not told")
	}
	for _, soon := range []time.Duration{1, 2, 4, 8, 16, 32} {
		w.pass(soon*time.Second - time.Millisecond)
		if w.dialled {
			t.Fatal("too early")
		}
		w.pass(time.Millisecond)
		refuse(2)
	}
	w.pass(59 * time.Second)
	if w.dialled {
		t.Fatal("too early")
	}
	w.pass(time.Second)
	refuse(2)
	if w.sfx.Failed {
		t.Fatal("a failure of a channel that had failed is told again")
	}
	w.pass(60 * time.Second)
	refuse(2)
	w.pass(60 * time.Second)
	if w.dialled {
		t.Fatal("a short retry too many")
	}
	w.pass(1140 * time.Second)
	refuse(2)
	w.want(mqi.MQCHS_STOPPED)
	w.stepSender(Wake{})
	w.want(mqi.MQCHS_STOPPED)
	w.stepSender(Start{})
	w.settle()
	w.want(mqi.MQCHS_RUNNING)
	w.exactlyOnce()
}

func TestKickEndsTheWait(t *testing.T) {
	w := connected(t, nil)
	w.putOne()
	w.cut()
	w.want(mqi.MQCHS_RETRYING)
	w.stepSender(Kick{})
	w.settle()
	w.want(mqi.MQCHS_RUNNING)
}

func TestWindowAndBatchSize(t *testing.T) {
	w := connected(t, func(p *SenderParams, _ *ReceiverParams) { p.BatchSz = 5 })
	for range 32 {
		w.put++
		w.out.messages = append(w.out.messages, w.put)
	}
	w.stepSender(Wake{})
	w.connect()
	w.deliverToReceiver()
	w.deliverToSender() // accepted
	if len(w.toR) != Window {
		t.Fatalf("%d batches on their way, want %d", len(w.toR), Window)
	}
	for _, b := range w.toR {
		if f := decode(w.t, b); len(f.Messages) != 5 {
			t.Fatalf("a batch of %d", len(f.Messages))
		}
	}
	w.settle()
	w.exactlyOnce()
	if st := w.sender.Stats(); st.Msgs != 32 || st.Batches != 7 || st.InDoubt != 0 || st.LastSeq != 32 {
		t.Fatalf("counted %+v", st)
	}
	// A session counts for itself, as at the receiver; the sequence goes on.
	w.cut()
	w.stepSender(Kick{})
	w.settle()
	w.putOne()
	w.settle()
	if st := w.sender.Stats(); st.Msgs != 1 || st.Batches != 1 || st.FramesIn != 2 || st.FramesOut != 2 || st.LastSeq != 33 {
		t.Fatalf("the next session counted %+v", st)
	}
}

func TestBatchInterval(t *testing.T) {
	w := connected(t, func(p *SenderParams, _ *ReceiverParams) { p.BatchInt = 200 })
	w.putOne()
	w.settle()
	if len(w.in.got) != 0 {
		t.Fatal("sent before the batch interval was over")
	}
	w.putOne()
	w.pass(199 * time.Millisecond)
	w.settle()
	if len(w.in.got) != 0 {
		t.Fatal("sent before the batch interval was over")
	}
	w.pass(time.Millisecond)
	if len(w.toR) != 1 {
		t.Fatalf("%d batches, want one", len(w.toR))
	}
	w.settle()
	w.exactlyOnce()
}

func TestQuiesceWaitsForConfirmation(t *testing.T) {
	w := connected(t, nil)
	w.putOne()
	w.settle()
	w.putOne() // on its way
	w.stepSender(Stop{})
	w.want(mqi.MQCHS_STOPPING)
	w.putOne() // stays
	w.settle()
	w.want(mqi.MQCHS_STOPPED)
	if len(w.in.got) != 2 || len(w.sender.InDoubt()) != 0 {
		t.Fatalf("arrived %v, in doubt %v", w.in.got, w.sender.InDoubt())
	}
}

func TestUndeliverableMessageEndsTheChannel(t *testing.T) {
	w := connected(t, func(_ *SenderParams, rp *ReceiverParams) { rp.MRRty, rp.MRTmr = 2, 1000 })
	tries := 0
	w.fail = func(_ uint64, final bool) Outcome {
		tries++
		if final {
			return Refused
		}
		return Retry
	}
	w.putOne()
	w.settle()
	if w.receiver.Status() != mqi.MQCHS_PAUSED {
		t.Fatalf("receiver %v", w.receiver.Status())
	}
	w.pass(time.Second)
	w.pass(time.Second)
	if tries != 3 {
		t.Fatalf("%d attempts, want 3", tries)
	}
	w.want(mqi.MQCHS_RETRYING)
	if !slices.Equal(w.out.messages, []uint64{1}) {
		t.Fatalf("the message left the sender: %v", w.out.messages)
	}
	w.fail = nil
	w.pass(59 * time.Second)
	if w.dialled {
		t.Fatal("a refused message is tried again before SHORTTMR")
	}
	w.pass(time.Second)
	w.settle()
	w.exactlyOnce()
}

func TestPartnerWithAnotherIdentity(t *testing.T) {
	w := connected(t, nil)
	w.putOne()
	w.settle()
	w.putOne()
	w.toR = nil
	w.cut() // one message in doubt with QM2_ID
	w.rparams.QMID = "QM2_REBUILT"
	w.in, w.rdisk = inbox{}, disk[inbox]{versions: []inbox{{}}}
	w.pass(time.Second)
	w.settle()
	w.want(mqi.MQCHS_RETRYING)
	if len(w.in.got) != 0 {
		t.Fatal("a message in doubt went to a stranger")
	}
	w.sfx.Reset()
	if !w.sender.Resolve(false, &w.sfx) {
		t.Fatal("RESOLVE refused")
	}
	for _, pos := range w.sfx.Released {
		delete(w.locked, pos)
	}
	w.stepSender(Start{})
	w.settle()
	w.want(mqi.MQCHS_RUNNING)
	if !slices.Equal(w.in.got, []uint64{2}) {
		t.Fatalf("arrived %v", w.in.got)
	}
}
