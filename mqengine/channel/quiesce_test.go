package channel

import (
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// A receiver that has to end lets the sender finish what is under way, and the
// sender begins nothing new.
func TestQuiesceLosesNothing(t *testing.T) {
	for _, code := range []struct {
		name string
		stop Stop
		wait time.Duration // until the sender calls again
	}{{"for now", Stop{Keep: true}, time.Second}, {"by command", Stop{}, time.Minute}} {
		t.Run(code.name, func(t *testing.T) {
			w := connected(t, func(p *SenderParams, _ *ReceiverParams) { p.BatchSz = 1 })
			w.putOne()
			w.settle()
			for range Window {
				w.putOne()
			}
			if len(w.toR) != Window {
				t.Fatalf("%d batches under way", len(w.toR))
			}
			w.stepReceiver(code.stop)
			if got := w.receiver.Status(); got != mqi.MQCHS_STOPPING {
				t.Fatalf("the receiver is %v", got)
			}
			w.deliverToSender() // it learns of it before anything is confirmed
			w.putOne()
			w.settle()
			if w.receiver != nil || len(w.in.got) != 1+Window || len(w.sender.InDoubt()) != 0 {
				t.Fatalf("arrived %v, in doubt %v, receiver %v", w.in.got, w.sender.InDoubt(), w.receiver)
			}
			w.want(mqi.MQCHS_RETRYING)
			w.pass(code.wait - time.Millisecond)
			if w.dialled {
				t.Fatal("it calls too early")
			}
			w.pass(time.Millisecond)
			w.settle()
			w.exactlyOnce()
		})
	}
}

// A sender that does not answer is not waited for long, and a second stop does not ask again.
func TestQuiesceIsBounded(t *testing.T) {
	w := connected(t, nil)
	w.putOne()
	w.settle()
	w.stepReceiver(Stop{Keep: true})
	w.stepReceiver(Stop{Keep: true})
	if len(w.toS) != 1 {
		t.Fatalf("%d frames", len(w.toS))
	}
	w.toS = nil
	if at := w.receiver.NextDeadline(); at.Sub(w.now) != quiesceWithin {
		t.Fatalf("the deadline is in %v", at.Sub(w.now))
	}
	w.pass(quiesceWithin)
	if w.receiver != nil {
		t.Fatal("the receiver still waits")
	}
}

// A sender of version 1 does not know the question: the link is closed.
func TestQuiesceOfAnOldSender(t *testing.T) {
	w := connected(t, nil)
	w.putOne()
	w.settle()
	w.receiver.version = 1
	w.stepReceiver(Stop{Keep: true})
	if w.receiver != nil {
		t.Fatal("the receiver waits for an answer that will not come")
	}
	w.pass(time.Second)
	w.putOne()
	w.settle()
	w.exactlyOnce()
}

// The end of a queue manager is none of the channel: its record goes on to say
// that it was in use, and the next life starts it.
func TestStopThatIsKept(t *testing.T) {
	w := connected(t, nil)
	w.putOne()
	w.settle()
	w.putOne()
	w.stepSender(Stop{Keep: true})
	w.want(mqi.MQCHS_STOPPING)
	w.settle()
	w.want(mqi.MQCHS_INACTIVE)
	if len(w.sender.InDoubt()) != 0 || len(w.in.got) != 2 {
		t.Fatalf("in doubt %v, arrived %v", w.sender.InDoubt(), w.in.got)
	}
	w.startSender()
	if !w.sender.WasActive() {
		t.Fatal("the channel is forgotten")
	}
	w.settle()
	w.stepSender(Stop{})
	w.want(mqi.MQCHS_STOPPED)
	w.stepSender(Stop{Keep: true})
	w.want(mqi.MQCHS_STOPPED)
	w.startSender()
	w.want(mqi.MQCHS_STOPPED)
}

// With BATCHHB a link that has been silent is tried before anything gets in doubt on it.
func TestBatchHeartbeat(t *testing.T) {
	w := connected(t, func(p *SenderParams, _ *ReceiverParams) { p.BatchHB = 1000 })
	w.putOne()
	w.settle()
	w.putOne() // heard of just now
	if f := decode(w.t, w.toR[0]); f.Kind != FrameBatch {
		t.Fatalf("a frame of kind %v", f.Kind)
	}
	w.settle()
	w.pass(2 * time.Second)
	w.putOne()
	w.putOne()
	if f := decode(w.t, w.toR[0]); len(w.toR) != 1 || f.Kind != FrameHeartbeat {
		t.Fatalf("%d frames, the first of kind %v", len(w.toR), f.Kind)
	}
	w.settle()
	w.exactlyOnce()
	w.pass(2 * time.Second)
	w.putOne()
	w.toR = nil // nobody is there
	w.pass(999 * time.Millisecond)
	w.want(mqi.MQCHS_RUNNING)
	w.pass(time.Millisecond)
	w.want(mqi.MQCHS_RETRYING)
	if len(w.sender.InDoubt()) != 0 {
		t.Fatalf("in doubt %v", w.sender.InDoubt())
	}
	w.pass(time.Second)
	w.settle()
	w.exactlyOnce()
}

// Both ends agree on the smaller batch and on the shorter message.
func TestLimitsAreAgreed(t *testing.T) {
	w := connected(t, func(p *SenderParams, rp *ReceiverParams) {
		p.BatchSz, rp.BatchSz, p.MaxMsgL, rp.MaxMsgL = 5, 2, 1000, 500
	})
	for range 5 {
		w.put++
		w.out.messages = append(w.out.messages, w.put)
	}
	w.stepSender(Wake{})
	w.connect()
	w.deliverToReceiver()
	w.deliverToSender()
	if f := decode(w.t, w.toR[0]); len(f.Messages) != 2 {
		t.Errorf("a batch of %d", len(f.Messages))
	}
	if got := w.sender.longest(); got != 500 {
		t.Errorf("longest message %d", got)
	}
	w.settle()
	w.exactlyOnce()
	if st := w.sender.Stats(); st.BatchSz != 2 {
		t.Errorf("BATCHSZ %d", st.BatchSz)
	}
}

// What an operator compares before RESOLVE CHANNEL.
func TestUnitIDsOfBothEnds(t *testing.T) {
	w := connected(t, func(p *SenderParams, _ *ReceiverParams) { p.BatchSz = 1 })
	ids := func() (current, last string) {
		at, err := DecodeLast(w.in.record)
		if err != nil {
			t.Fatal(err)
		}
		st, err := Saved(w.out.record)
		if err != nil {
			t.Fatal(err)
		}
		return UnitID(w.params.QMID, w.params.Name, st.LastSeq), UnitID(w.params.QMID, w.params.Name, at)
	}
	w.putOne()
	w.settle()
	if current, last := ids(); current != last || len(last) != 16 {
		t.Fatalf("nothing in doubt: %s and %s", current, last)
	}
	w.putOne()
	w.putOne()
	if current, last := ids(); current == last {
		t.Fatalf("in doubt and not there: %s and %s", current, last)
	}
	w.deliverToReceiver()
	if current, last := ids(); current == last {
		t.Fatalf("one of two is there: %s and %s", current, last)
	}
	w.deliverToReceiver()
	w.toS = nil
	w.cut()
	if current, last := ids(); current != last {
		t.Fatalf("in doubt and there: %s and %s", current, last)
	}
	if UnitID("A", "C", 1) == UnitID("B", "C", 1) {
		t.Error("units of two senders have one name")
	}
}

// A partner of version 1 reads our hello, and we its answer.
func TestVersionsUnderstandEachOther(t *testing.T) {
	w := connected(t, nil)
	w.putOne()
	w.connect()
	hello := decode(w.t, w.toR[0])
	old := encode(hello)
	if old[1] != ProtocolVersion {
		t.Fatalf("version %d", old[1])
	}
	old[1] = 1 // the form is the same in both
	if f := decode(w.t, old); f.Version != 1 || f.Channel != hello.Channel || f.Seq != hello.Seq {
		t.Fatalf("read as %+v", f)
	}
	w.toR[0] = old
	w.deliverToReceiver()
	if f := decode(w.t, w.toS[0]); f.Version != 1 || f.BatchSz != 0 {
		t.Fatalf("answered %+v", f)
	}
	w.settle()
	w.exactlyOnce()
}
